"""What kind of node an entity is: graphs hold nodes that cannot stand in an answer or in a sentence.

Freebase joins several entities by nodes of its own without a name (compound value types, CVT), leaves other entities
without a name too, and its dates and numbers are nodes. Whoever shows entities to a reader asks here; nothing
else looks at how names are spelt.
"""

from __future__ import annotations

import re
from typing import Literal, Protocol

from kgqa_bench.graph.protocol import Graph

EntityKind = Literal["entity", "literal", "mediator", "unnamed"]

_RDF_LITERAL = re.compile(r'"[^\n]*"(\^\^<[^<>\s]+>|@[A-Za-z0-9-]+)?', re.DOTALL)
# domain.type.property, perhaps with slashes for dots, as FB15k-237 has them, and two of them joined over a mediator
_FREEBASE_RELATION = re.compile(r"/?[a-z0-9_]+([./][a-z0-9_]+){2,}(\.\.?/[a-z0-9_]+([./][a-z0-9_]+){2,})?")
_MACHINE_ID = re.compile(r"/?[mg][./][0-9a-z_]{2,}")
_VALUE = re.compile(
    r"[-+]?\d+([.,]\d+)*([eE][-+]?\d+)?|[-+]?\d{4}-\d\d(-\d\d)?(T[\d:.]+(Z|[-+]\d\d:\d\d)?)?|T?\d\d:\d\d(:\d\d)?|true|false"
)


class EntityKinds(Protocol):
    """Tells the kinds of a graph's entities apart."""

    def kind(self, entity: int) -> EntityKind:
        """The kind of an entity.

        ``entity``: has a name. ``literal``: a value such as a date. ``mediator``: has no name and joins others.
        ``unnamed``: has no name either, and joins none.
        """
        ...


def entity_kinds(graph: Graph) -> EntityKinds:
    """The rules for a graph: Freebase's where relations are written as Freebase's, else RDF's for literals alone."""
    relations = range(graph.num_relations)
    freebase = sum(_FREEBASE_RELATION.fullmatch(graph.relation_name(each)) is not None for each in relations)
    return FreebaseKinds(graph) if 2 * freebase > len(relations) else NamedKinds(graph)


class NamedKinds:
    """Every entity is named by what it is called; only RDF's literals (``"1967"^^<…>``) are values.

    A year that the graph has as a name, as MetaQA's ``1967``, is an entity like any other.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def kind(self, entity: int) -> EntityKind:
        """See ``EntityKinds.kind``."""
        return "literal" if _RDF_LITERAL.fullmatch(self._graph.entity_name(entity)) else "entity"


class FreebaseKinds:
    """Freebase, by spelling and place, for the graphs at hand have no types.

    A machine id (``m.0abc``, ``g.11abc``) that has no other label is without a name: a mediator where it has two or
    more neighbours. What is written as a date, number or truth value and is the head of no triple is a value: the
    film *1984* is the head of some.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def kind(self, entity: int) -> EntityKind:
        """See ``EntityKinds.kind``."""
        graph = self._graph
        name, label = graph.entity_name(entity), graph.entity_label(entity)
        if _MACHINE_ID.fullmatch(name) and label in ("", name):
            others = {each for each in graph.neighbours(entity, "both").entities.tolist() if each != entity}
            return "mediator" if len(others) > 1 else "unnamed"
        written_as_value = _VALUE.fullmatch(label) or _RDF_LITERAL.fullmatch(name)
        return "literal" if written_as_value and not len(graph.neighbours(entity, "out").entities) else "entity"
