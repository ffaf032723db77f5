"""Graphs in RDF: Turtle, TriG, N-Triples, N-Quads, RDF/XML, JSON-LD, N3 and TriX, perhaps gzipped.

A triple between two IRIs is an edge. Of several named graphs the union is read. Confidences stand at a statement
about the triple, in any of three forms:

- RDF-star: ``h r t {| conf 0.7 |}`` or ``<< h r t >> conf 0.7``;
- reification: a ``rdf:Statement`` with ``rdf:subject``, ``rdf:predicate``, ``rdf:object``;
- annotation: an ``owl:Axiom`` with ``owl:annotatedSource``, ``owl:annotatedProperty``, ``owl:annotatedTarget``.

A triple without confidence has 1. A statement about a triple that is not itself there makes no edge, it is counted.
Labels come from ``rdfs:label``. Triples with a blank node, whose name is not stable, are passed over and counted.
"""

from __future__ import annotations

import gzip
import math
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

import pyoxigraph as ox

from kgqa_bench.errors import ConfigError, DataError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.merging import MergeRule
from kgqa_bench.graph.rdf_terms import (
    CONFIDENCE,
    ENTITY,
    ENTITY_BASE,
    LABEL,
    META_CLASSES,
    OWL_AXIOM,
    REIFICATION,
    REIFIES,
    RELATION,
    RELATION_BASE,
    TYPE,
    default_label,
    name_of,
)
from kgqa_bench.graph.table import require_file
from kgqa_bench.storage import UNREADABLE

Literals = Literal["skip", "keep"]
Statement = tuple[str, str, str]

FORMATS = {
    ".ttl": ox.RdfFormat.TURTLE,
    ".ttls": ox.RdfFormat.TURTLE,
    ".nt": ox.RdfFormat.N_TRIPLES,
    ".nq": ox.RdfFormat.N_QUADS,
    ".trig": ox.RdfFormat.TRIG,
    ".trigs": ox.RdfFormat.TRIG,
    ".rdf": ox.RdfFormat.RDF_XML,
    ".owl": ox.RdfFormat.RDF_XML,
    ".jsonld": ox.RdfFormat.JSON_LD,
}
RDFLIB_FORMATS = {".n3": "n3", ".trix": "trix"}
# local names by which a confidence is recognised where no predicate is given
LIKELY = frozenset({"confidence", "conf", "score", "weight", "probability"})
_LONGEST_ENTITY = 1000  # bytes of a declaration; those of OWL files hold a namespace each
_ENTITY_VALUE = re.compile(rb"""<!ENTITY[^"'>]*(?:"[^"]*"|'[^']*')""")
_REFERENCE = re.compile(rb"[&%](?!#|amp;|lt;|gt;|quot;|apos;)")
_PARTS = {iri: at for form in (REIFICATION, OWL_AXIOM) for at, iri in enumerate(form[1:])}


def read_rdf(
    path: Path, *, confidence_predicate: str | None = None, literals: Literals = "skip", merge: MergeRule = "max"
) -> MemoryGraph:
    """Read a graph from RDF.

    Args:
        path: The file; its name tells the format.
        confidence_predicate: IRI of the property with the confidence. By default that of ``write_turtle``, else the
            one property at statements whose local name is confidence, conf, score, weight or probability.
        literals: ``skip`` triples with a literal, which is counted; or ``keep`` them, the literal being an entity
            called by its N-Triples form and labelled by its text.
        merge: Confidence of a triple that has several.

    Raises:
        DataNotFoundError: There is no such file.
        DataError: It is not well-formed (names the line where the parser does); a confidence is not in (0, 1]; no
            triple between two IRIs.
        ConfigError: The file's name tells no format; there are several properties that may be the confidence.
    """
    require_file(path)
    content = _Content(literals)
    try:
        for quad in _quads(path):
            content.add(quad)
    except SyntaxError as problem:
        raise DataError(
            f"not well-formed: {problem.msg}.",
            file=path,
            line=problem.lineno,
            hint="Relative IRIs need an @base in the file." if "No scheme" in str(problem.msg) else None,
        ) from problem
    except (*UNREADABLE, UnicodeDecodeError) as problem:
        raise DataError(f"the file cannot be read: {problem}.", file=path) from problem
    return content.build(path, confidence_predicate, merge)


class _Content:
    """What was read so far: edges, and what is said of statements by the nodes that stand for them."""

    def __init__(self, literals: Literals) -> None:
        self.keep = literals == "keep"
        self.edges: dict[Statement, None] = {}
        self.literal_edges: list[tuple[str, str, str, str]] = []  # subject, head, relation, tail
        self.literal_labels: dict[str, str] = {}
        self.labels: dict[str, dict[str, str]] = defaultdict(dict)
        self.declared: dict[str, list[str]] = {ENTITY: [], RELATION: []}
        self.reified: dict[str, list[Statement | None]] = defaultdict(list)
        self.parts: dict[str, list[str | None]] = {}
        self.values: dict[str, dict[str, list[str]]] = defaultdict(dict)
        self.literals = self.blank_nodes = 0

    def add(self, quad: Any) -> None:
        subject, predicate, found = str(quad.subject), quad.predicate.value, quad.object
        if predicate == REIFIES and isinstance(found, ox.Triple):
            self.reified[subject].append(_statement(found))
        elif predicate in _PARTS:
            self.parts.setdefault(subject, [None, None, None])[_PARTS[predicate]] = (
                found.value if isinstance(found, ox.NamedNode) else None
            )
        elif isinstance(found, ox.Literal):
            self._literal(quad, subject, predicate, found)
        elif predicate == TYPE and isinstance(found, ox.NamedNode) and found.value in META_CLASSES:
            if found.value in self.declared and isinstance(quad.subject, ox.NamedNode):
                self.declared[found.value].append(quad.subject.value)
        elif isinstance(quad.subject, ox.NamedNode) and isinstance(found, ox.NamedNode):
            self.edges[quad.subject.value, predicate, found.value] = None
        else:
            self.blank_nodes += 1

    def _literal(self, quad: Any, subject: str, predicate: str, found: Any) -> None:
        if predicate == LABEL and isinstance(quad.subject, ox.NamedNode):
            self.labels[quad.subject.value].setdefault(found.language or "", found.value)
            return
        self.literals += 1
        self.values[subject].setdefault(predicate, []).append(found.value)
        if self.keep and isinstance(quad.subject, ox.NamedNode):
            name = str(found)
            self.literal_labels[name] = found.value
            self.literal_edges.append((subject, quad.subject.value, predicate, name))

    def build(self, path: Path, wanted: str | None, merge: MergeRule) -> MemoryGraph:
        for subject, parts in self.parts.items():
            self.reified[subject].append(None if None in parts else cast(Statement, tuple(parts)))
        literal_edges = [row[1:] for row in self.literal_edges if row[0] not in self.reified]
        predicate = self._confidence_predicate(path, wanted)
        given: dict[Statement, list[float]] = defaultdict(list)
        unasserted = 0
        for node, statements in self.reified.items():
            for text in self.values.get(node, {}).get(predicate or "", ()):
                for statement in statements:
                    if statement in self.edges:
                        given[statement].append(_confidence(path, statement, text))
                    else:
                        unasserted += 1
        rows = [(edge, value) for edge in self.edges for value in given.get(edge, (1.0,))]
        if not rows and not literal_edges:
            raise DataError(
                "there is no triple between two IRIs.",
                file=path,
                hint="Statements about triples make no edges: write the triples too." if unasserted else None,
            )
        everything = [*(edge for edge, _value in rows), *literal_edges]
        entities = dict.fromkeys(head for head, _relation, _tail in everything)
        entities |= dict.fromkeys(tail for (_head, _relation, tail), _value in rows)
        entities |= dict.fromkeys(self.declared[ENTITY])
        relations = dict.fromkeys([*(relation for _head, relation, _tail in everything), *self.declared[RELATION]])
        nodes = [*entities, *(dict.fromkeys(tail for _head, _relation, tail in literal_edges))]
        at = {iri: position for position, iri in enumerate(nodes)}
        code = {iri: position for position, iri in enumerate(relations)}
        named = {iri: name_of(iri, ENTITY_BASE) for iri in entities} | {text: text for text in self.literal_labels}
        called = {iri: name_of(iri, RELATION_BASE) for iri in relations}
        return build_graph(
            [at[head] for head, _relation, _tail in everything],
            [code[relation] for _head, relation, _tail in everything],
            [at[tail] for _head, _relation, tail in everything],
            [value for _edge, value in rows] + [1.0] * len(literal_edges),
            source=path.name,
            merge=merge,
            entity_names=[named[iri] for iri in nodes],
            relation_names=list(called.values()),
            entity_labels={named[iri]: self._label(named[iri], iri) for iri in entities} | self.literal_labels,
            relation_labels={called[iri]: self._label(called[iri], iri) for iri in relations},
            provenance={
                "confidences": f"property {predicate}" if predicate else "all 1",
                "triples_with_confidence": len(given),
                "confidences_of_absent_triples": unasserted,
                "literals": "kept" if self.keep else "skipped",
                "literal_triples": self.literals,
                "blank_node_triples_skipped": self.blank_nodes,
            },
        )

    def _confidence_predicate(self, path: Path, wanted: str | None) -> str | None:
        if wanted is not None:
            return wanted
        found = {each for node in self.reified for each in self.values.get(node, ())}
        if CONFIDENCE in found:
            return CONFIDENCE
        likely = sorted(each for each in found if default_label(each).casefold() in LIKELY)
        if len(likely) > 1:
            raise ConfigError(
                f"{path}: several properties of statements may be the confidence: {', '.join(likely)}.",
                hint="Name one by the setting graph.confidence_predicate.",
            )
        return likely[0] if likely else None

    def _label(self, name: str, iri: str) -> str:
        return choose_label(self.labels.get(iri, {})) or default_label(name)


def choose_label(by_language: dict[str, str]) -> str | None:
    """The English label, else the one without language, else that of the first language."""
    for language in ("en", ""):
        if language in by_language:
            return by_language[language]
    return by_language[min(by_language)] if by_language else None


def checked_confidence(text: str) -> float | None:
    """A literal's text as a confidence in (0, 1], or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if not math.isnan(value) and 0.0 < value <= 1.0 else None


def _confidence(path: Path, statement: Statement, text: str) -> float:
    value = checked_confidence(text)
    if value is None:
        raise DataError(
            f"the confidence {text!r} of {' '.join(f'<{iri}>' for iri in statement)} is no number in (0, 1].",
            file=path,
            hint="Rescale the confidences to (0, 1], and leave out triples that do not hold at all.",
        )
    return value


def _statement(triple: Any) -> Statement | None:
    terms = (triple.subject, triple.predicate, triple.object)
    if not all(isinstance(term, ox.NamedNode) for term in terms):
        return None
    return terms[0].value, terms[1].value, terms[2].value


def _suffix(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def _quads(path: Path) -> Iterator[Any]:
    suffix = _suffix(path)
    if suffix in RDFLIB_FORMATS:
        return iter(ox.parse(_through_rdflib(path, RDFLIB_FORMATS[suffix]), format=ox.RdfFormat.N_QUADS))
    if suffix not in FORMATS:
        known = ", ".join([*FORMATS, *RDFLIB_FORMATS])
        raise ConfigError(f"{path}: unknown kind of RDF file.", hint=f"Name it {known} (or …gz).")
    return _parsed(path, FORMATS[suffix])


def _parsed(path: Path, kind: Any) -> Iterator[Any]:
    if kind == ox.RdfFormat.RDF_XML:
        _require_plain_entities(path)
    with _open(path) as stream:
        yield from ox.parse(stream, format=kind)


def _require_plain_entities(path: Path) -> None:
    """DataError where an XML entity is long or made of others: a few lines unfold into more than memory holds."""
    with _open(path) as stream:
        tail = b""
        while chunk := stream.read(1 << 20):
            window = tail + chunk
            for start in re.finditer(rb"<!ENTITY", window):
                declaration = window[start.start() : start.start() + _LONGEST_ENTITY]
                value = _ENTITY_VALUE.match(declaration)
                if value is None and len(declaration) < _LONGEST_ENTITY:
                    continue  # goes on in the next window
                if value is None or _REFERENCE.search(value.group()):
                    raise DataError(
                        "an XML entity is long or made of other entities.",
                        file=path,
                        hint="Write the names out, for example by converting the file to Turtle.",
                    )
            tail = window[-_LONGEST_ENTITY:]


def _through_rdflib(path: Path, kind: str) -> bytes:
    """N-Quads of a format that only rdflib reads."""
    import rdflib

    dataset = rdflib.Dataset()
    with _open(path) as stream:
        try:
            dataset.parse(stream, format=kind)
        except Exception as problem:  # each of its parsers has errors of its own
            raise DataError(f"not well-formed: {problem}.", file=path) from problem
    return cast(bytes, dataset.serialize(format="nquads", encoding="utf-8"))


def _open(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path)) if path.suffix == ".gz" else path.open("rb")
