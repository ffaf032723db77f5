"""Writing a graph as Turtle, which ``kgqa_bench.graph.rdf.read_rdf`` and any RDF tool reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pyoxigraph as ox

from kgqa_bench.errors import ConfigError
from kgqa_bench.graph.protocol import Graph, Quad
from kgqa_bench.graph.rdf_terms import (
    CONFIDENCE,
    ENTITY,
    ENTITY_BASE,
    LABEL,
    OWL_AXIOM,
    REIFICATION,
    RELATION,
    RELATION_BASE,
    TYPE,
    XSD,
    default_label,
    iri_of,
    is_iri,
)
from kgqa_bench.storage import atomic_write

Form = Literal["star", "reification", "annotation"]
_STATEMENTS = {"reification": REIFICATION, "annotation": OWL_AXIOM}


def write_turtle(graph: Graph, path: Path, *, form: Form = "star", confidence_predicate: str = CONFIDENCE) -> None:
    """Write the visible triples; read back they are the same graph.

    Entities and relations are declared, so that those without triple are kept; labels are written where they are not
    the default. A confidence of 1 is not written, for that is what a triple without confidence has.

    Args:
        graph: Any graph.
        path: The file, replaced as a whole.
        form: How a confidence is written: ``star`` (``h r t {| conf c |}``), ``reification`` (``rdf:Statement``) or
            ``annotation`` (``owl:Axiom``).
        confidence_predicate: IRI of the property.

    Raises:
        StorageError: The file cannot be written; none is left behind.
        ConfigError: An unknown form, or the property is no IRI.
    """
    if form != "star" and form not in _STATEMENTS:
        raise ConfigError(f"Unknown form {form!r} of confidences.", hint="Choose star, reification or annotation.")
    if not is_iri(confidence_predicate):
        raise ConfigError(f"{confidence_predicate!r} is not an IRI.", hint="Such as http://example.org/confidence.")
    with atomic_write(path) as stream:
        for line in _lines(graph, form, confidence_predicate):
            stream.write(line.encode())


def _lines(graph: Graph, form: Form, predicate: str) -> Iterator[str]:
    entities = [iri_of(graph.entity_name(entity), ENTITY_BASE) for entity in range(graph.num_entities)]
    relations = [iri_of(graph.relation_name(relation), RELATION_BASE) for relation in range(graph.num_relations)]
    for relation, iri in enumerate(relations):
        yield _declaration(iri, RELATION, graph.relation_name(relation), graph.relation_label(relation))
    for entity, (iri, label) in enumerate(zip(entities, graph.entity_labels(), strict=True)):
        yield _declaration(iri, ENTITY, graph.entity_name(entity), label)
    for quad in graph.quads():
        yield _triple(quad, entities[quad.head], relations[quad.relation], entities[quad.tail], form, predicate)


def _declaration(iri: str, kind: str, name: str, label: str) -> str:
    named = "" if label == default_label(name) else f" ; <{LABEL}> {ox.Literal(label)}"
    return f"<{iri}> <{TYPE}> <{kind}>{named} .\n"


def _triple(quad: Quad, head: str, relation: str, tail: str, form: Form, predicate: str) -> str:
    triple = f"<{head}> <{relation}> <{tail}>"
    if quad.confidence == 1.0:
        return f"{triple} .\n"
    confidence = f'<{predicate}> "{quad.confidence!r}"^^<{XSD}double>'
    if form == "star":
        return f"{triple} {{| {confidence} |}} .\n"
    kind, *properties = _STATEMENTS[form]
    parts = " ; ".join(f"<{part}> <{iri}>" for part, iri in zip(properties, (head, relation, tail), strict=True))
    return f"{triple} .\n[] <{TYPE}> <{kind}> ; {parts} ; {confidence} .\n"
