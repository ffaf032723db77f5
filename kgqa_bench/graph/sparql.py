"""The SPARQL back end: a graph that stays in its triple store.

Names of entities and relations are listed once, sorted as in memory, and give the ids; labels when first asked for.
Edges are asked for as they are needed, entity by entity or many at once, and those of the entities asked for last
are kept. What counts as an edge, and how confidences are written, is as in ``kgqa_bench.graph.rdf``, except that
the form of the confidences must be named, and literals are never entities.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from kgqa_bench.errors import DataError
from kgqa_bench.graph import sparql_queries as queries
from kgqa_bench.graph.algorithms import GraphAlgorithms
from kgqa_bench.graph.names import NameTable
from kgqa_bench.graph.protocol import Direction, Ids, Neighbours, Quad
from kgqa_bench.graph.rdf import checked_confidence, choose_label
from kgqa_bench.graph.rdf_terms import CONFIDENCE, ENTITY_BASE, RELATION_BASE, default_label, is_iri, name_of
from kgqa_bench.graph.sparql_client import Row, SparqlClient
from kgqa_bench.graph.store import fingerprint

_BATCH = 100  # entities asked about in one query
_Rows = list[tuple[int, int, float]]  # relation, other entity, confidence


class _Names:
    """Names in the order of their UTF-8 bytes, by id, with their IRIs."""

    def __init__(self, iris: Iterable[str], base: str) -> None:
        by_name = {name_of(iri, base): iri for iri in iris}
        self.names = sorted(by_name, key=str.encode)
        self.iris = [by_name[name] for name in self.names]
        self.ids = {name: at for at, name in enumerate(self.names)}
        self.ids_of_iris = {iri: at for at, iri in enumerate(self.iris)}


class _Endpoint:
    """What all views of one graph share: client, names, and the edges asked for last."""

    def __init__(
        self, client: SparqlClient, form: queries.Form, predicate: str, page: int | None, cached_entities: int
    ) -> None:
        self.client = client
        self.form: queries.Form = form
        self.predicate = predicate
        self.page = page
        self.cached_entities = cached_entities
        self.entities = _Names(self._listed(queries.entities()), ENTITY_BASE)
        self.relations = _Names(self._listed(queries.relations()), RELATION_BASE)
        if not self.relations.names:
            raise DataError(f"{client.source}: the graph is empty: there is no triple between two IRIs.")
        self._lock = threading.RLock()
        self._rows: dict[str, OrderedDict[int, _Rows]] = {"out": OrderedDict(), "in": OrderedDict()}

    @cached_property
    def num_triples(self) -> int:
        return self._number(queries.count_edges())

    @cached_property
    def labels(self) -> dict[str, str]:
        """Labels by IRI."""
        found: dict[str, dict[str, str]] = {}
        for entity, label in self._paged(queries.labels()):
            found.setdefault(entity.value, {}).setdefault(label.language or "", label.value)
        return {iri: choose_label(labels) or "" for iri, labels in found.items()}

    def rows(self, entity: int, direction: str) -> _Rows:
        """The edges out of or into one entity by (relation, other entity)."""
        cache = self._rows[direction]
        with self._lock:
            if entity not in cache:
                self.fetch([entity], direction)
            cache.move_to_end(entity)
            return cache[entity]

    def fetch(self, entities: Iterable[int], direction: str) -> None:
        """Ask for the edges of many entities at once; no more than can be kept."""
        cache = self._rows[direction]
        with self._lock:
            wanted = [entity for entity in islice(entities, self.cached_entities) if entity not in cache]
            for begin in range(0, len(wanted), _BATCH):
                cache.update(self._edges_at(wanted[begin : begin + _BATCH], direction))
            while len(cache) > self.cached_entities:
                cache.popitem(last=False)

    def _edges_at(self, entities: Sequence[int], direction: str) -> dict[int, _Rows]:
        found: dict[int, dict[tuple[int, int], float]] = {entity: {} for entity in entities}
        iris = [self.entities.iris[entity] for entity in entities]
        given = {"heads": iris} if direction == "out" else {"tails": iris}
        for head, relation, tail, confidence in self._quads(**given):
            near, far = (head, tail) if direction == "out" else (tail, head)
            rows = found[near]
            rows[relation, far] = max(confidence, rows.get((relation, far), 0.0))
        return {
            entity: sorted((relation, far, value) for (relation, far), value in rows.items())
            for entity, rows in found.items()
        }

    def quads(self) -> list[Quad]:
        """All edges by (head, relation, tail)."""
        found: dict[tuple[int, int, int], float] = {}
        for *triple, confidence in self._quads():
            key = (triple[0], triple[1], triple[2])
            found[key] = max(confidence, found.get(key, 0.0))
        return [Quad(*key, value) for key, value in sorted(found.items())]

    def _quads(self, **given: list[str]) -> Iterator[tuple[int, int, int, float]]:
        for head, relation, tail, confidence in self._paged(queries.edges(self.form, self.predicate, **given)):
            try:
                ids = (
                    self.entities.ids_of_iris[head.value],
                    self.relations.ids_of_iris[relation.value],
                    self.entities.ids_of_iris[tail.value],
                )
            except KeyError as problem:
                raise DataError(
                    f"{self.client.source}: {problem.args[0]!r} was not there when the graph was opened.",
                    hint="The graph must not change while it is used: open it again.",
                ) from problem
            yield *ids, 1.0 if confidence is None else self._confidence(head, relation, tail, confidence)

    def _confidence(self, head: Any, relation: Any, tail: Any, term: Any) -> float:
        value = checked_confidence(getattr(term, "value", ""))
        if value is None:
            raise DataError(
                f"{self.client.source}: the confidence {term} of {head} {relation} {tail} is no number in (0, 1].",
                hint="Rescale the confidences to (0, 1], or choose another property by graph.confidence_predicate.",
            )
        return value

    def _listed(self, query: str) -> list[str]:
        iris = [entity.value for (entity,) in self._paged(query)]
        expected = self._number(queries.count(query))
        if len(set(iris)) != expected:
            raise DataError(
                f"{self.client.source} lists {len(set(iris)):,} of {expected:,} names.",
                hint="It may limit the rows of a reply: set graph.page to that limit.",
            )
        bad = next((iri for iri in iris if not is_iri(iri)), None)
        if bad is not None:
            raise DataError(f"{self.client.source}: {bad!r} is not an IRI.")
        return iris

    def _number(self, query: str) -> int:
        ((number,),) = self.client.select(query)
        return int(number.value)

    def _paged(self, query: str) -> Iterator[Row]:
        """The solutions of an ordered query, ``page`` a request."""
        if self.page is None:
            yield from self.client.select(query)
            return
        offset = 0
        while True:
            size = 0
            for row in self.client.select(f"{query} LIMIT {self.page} OFFSET {offset}"):
                size += 1
                yield row
            if size < self.page:
                return
            offset += size


class SparqlGraph(GraphAlgorithms):
    """A graph in a triple store. ``sparql_graph`` makes one; views share its names and edges.

    The names of all entities are held in memory (and the labels, once asked for), the edges are not.
    """

    def __init__(
        self,
        endpoint: _Endpoint,
        members: frozenset[int] | None = None,
        hidden: frozenset[tuple[int, int, int]] = frozenset(),
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._members = members
        self._hidden = hidden
        self._facts = dict(facts or {})

    @property
    def num_entities(self) -> int:
        """Number of entities; ids are 0 … num_entities - 1."""
        return len(self._endpoint.entities.names)

    @property
    def num_relations(self) -> int:
        """Number of relations."""
        return len(self._endpoint.relations.names)

    @cached_property
    def num_triples(self) -> int:
        """Number of visible triples."""
        if self._members is None and not self._hidden:
            return self._endpoint.num_triples
        return sum(1 for _quad in self.quads())

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the visible quadruples and names; asks for all of them."""
        columns = list(zip(*self.quads(), strict=True)) or [(), (), (), ()]
        heads, relations, tails = (np.array(column, np.int32) for column in columns[:3])
        return fingerprint(
            NameTable.of(self._endpoint.entities.names),
            NameTable.of(self._endpoint.relations.names),
            heads,
            relations,
            tails,
            np.array(columns[3], np.float64),
        )

    @property
    def provenance(self) -> Mapping[str, Any]:
        """JSON-able facts about the endpoint and what a view hides."""
        endpoint = self._endpoint
        confidences = "all 1" if endpoint.form == "none" else f"property {endpoint.predicate} ({endpoint.form})"
        return {
            "source": endpoint.client.source,
            "back_end": "sparql",
            "confidences": confidences,
            "merge": "max",
            **self._facts,
        }

    # -- names -----------------------------------------------------------------------------------------

    def find_entity(self, name: str) -> int | None:
        """The id of the entity called ``name``, or None."""
        return self._endpoint.entities.ids.get(name)

    def find_relation(self, name: str) -> int | None:
        """The id of the relation called ``name``, or None."""
        return self._endpoint.relations.ids.get(name)

    def entity_name(self, entity: int) -> str:
        """The entity's unique name."""
        self.check_entities((entity,))
        return self._endpoint.entities.names[entity]

    def entity_label(self, entity: int) -> str:
        """The entity's label: ``rdfs:label``, else the last part of its IRI."""
        self.check_entities((entity,))
        return self._label(self._endpoint.entities, entity)

    def relation_name(self, relation: int) -> str:
        """The relation's unique name."""
        self.check_relations((relation,))
        return self._endpoint.relations.names[relation]

    def relation_label(self, relation: int) -> str:
        """The relation in words."""
        self.check_relations((relation,))
        return self._label(self._endpoint.relations, relation)

    def entity_labels(self) -> Sequence[str]:
        """The labels of all entities in id order."""
        return [self._label(self._endpoint.entities, entity) for entity in range(self.num_entities)]

    def _label(self, names: _Names, at: int) -> str:
        return self._endpoint.labels.get(names.iris[at]) or default_label(names.names[at])

    # -- edges -----------------------------------------------------------------------------------------

    def neighbours(self, entity: int, direction: Direction = "out", relation: int | None = None) -> Neighbours:
        """The edges at an entity as arrays."""
        self.check_entities((entity,))
        if relation is not None:
            self.check_relations((relation,))
        if direction not in ("out", "in", "both"):
            raise ValueError(f"no direction {direction!r}: choose out, in or both")
        rows = [
            (step, other, confidence, way == "in")
            for way in (("out", "in") if direction == "both" else (direction,))
            for step, other, confidence in self._endpoint.rows(entity, way)
            if relation in (None, step) and self._visible(entity, step, other, way)
        ]
        columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
        return Neighbours(
            np.array(columns[0], np.int32),
            np.array(columns[1], np.int32),
            np.array(columns[2], np.float64),
            np.array(columns[3], np.bool_),
        )

    def _visible(self, entity: int, relation: int, other: int, way: str) -> bool:
        if self._members is not None and not (entity in self._members and other in self._members):
            return False
        return (
            not self._hidden
            or ((entity, relation, other) if way == "out" else (other, relation, entity)) not in self._hidden
        )

    def has_triple(self, head: int, relation: int, tail: int) -> bool:
        """Whether the triple is visible."""
        self.check_entities((head, tail))
        self.check_relations((relation,))
        endpoint = self._endpoint
        return self._visible(head, relation, tail, "out") and endpoint.client.ask(
            queries.has_triple(
                endpoint.entities.iris[head], endpoint.relations.iris[relation], endpoint.entities.iris[tail]
            )
        )

    def quads(self) -> Iterator[Quad]:
        """All visible quadruples ordered by (head, relation, tail), asked for at once and not kept."""
        return (quad for quad in self._endpoint.quads() if self._visible(quad.head, quad.relation, quad.tail, "out"))

    def triples_among(self, entities: Iterable[int]) -> list[Quad]:
        """The quadruples whose head and tail both lie in the set, ordered by (head, relation, tail)."""
        members = self.check_entities(entities)
        self._endpoint.fetch(members, "out")
        return super().triples_among(members)

    def within_hops(self, entities: Iterable[int], hops: int, direction: Direction = "both") -> Ids:
        """The entities within ``hops`` steps of any of ``entities``, those included: sorted, distinct."""
        reached = np.array(sorted(set(self.check_entities(entities))), np.int32)
        for _hop in range(hops):
            for way in ("out", "in") if direction == "both" else (direction,):
                self._endpoint.fetch(reached.tolist(), way)
            further = super().within_hops(reached, 1, direction)
            if len(further) == len(reached):
                break
            reached = further
        return reached

    # -- derived graphs --------------------------------------------------------------------------------

    def subgraph(self, entities: Iterable[int], hops: int, direction: Direction = "both") -> SparqlGraph:
        """A view in which only triples among the entities within ``hops`` are visible; ids are unchanged."""
        members = frozenset(self.within_hops(entities, hops, direction).tolist())
        facts = {**self._facts, "subgraph_entities": len(members)}
        if self._members is not None:
            members &= self._members
        return SparqlGraph(self._endpoint, members, self._hidden, facts)

    def hide(self, triples: Iterable[tuple[int, int, int]]) -> SparqlGraph:
        """An overlay that hides (head, relation, tail) id triples; triples it does not have are ignored."""
        wanted = list(triples)
        self.check_entities(entity for head, _relation, tail in wanted for entity in (head, tail))
        self.check_relations(relation for _head, relation, _tail in wanted)
        seen = {triple for triple in set(wanted) if self.has_triple(*triple)}
        facts = {**self._facts, "hidden_triples": self._facts.get("hidden_triples", 0) + len(seen)}
        return SparqlGraph(self._endpoint, self._members, self._hidden | seen, facts)


def sparql_graph(
    client: SparqlClient,
    *,
    confidence: queries.Form = "none",
    confidence_predicate: str = CONFIDENCE,
    page: int | None = None,
    cached_entities: int = 10_000,
) -> SparqlGraph:
    """Open a graph in a triple store; lists its entities and relations.

    Args:
        client: Asks the queries.
        confidence: How confidences are written: ``none`` (all are 1), ``star``, ``reification``, ``annotation``.
        confidence_predicate: IRI of the property with the confidence.
        page: Rows asked for at once; None for all.
        cached_entities: How many entities' edges are kept in memory, in each direction.

    Raises:
        DataError: The store cannot be asked, is empty, or does not list all names.
    """
    if not is_iri(confidence_predicate):
        raise DataError(f"The property {confidence_predicate!r} is not an IRI.")
    return SparqlGraph(_Endpoint(client, confidence, confidence_predicate, page, cached_entities))
