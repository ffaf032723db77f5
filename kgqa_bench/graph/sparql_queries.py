"""The queries of the SPARQL back end. Every IRI in them was checked to be one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from kgqa_bench.graph.rdf_terms import (
    ENTITY,
    LABEL,
    META_CLASSES,
    META_PREDICATES,
    OWL_AXIOM,
    REIFICATION,
    RELATION,
    TYPE,
)

Form = Literal["none", "star", "reification", "annotation"]

_PREDICATES = ", ".join(f"<{iri}>" for iri in sorted(META_PREDICATES))
_CLASSES = ", ".join(f"<{iri}>" for iri in sorted(META_CLASSES))
# triples between two IRIs that are no statements about statements
EDGE = (
    f"?h ?r ?t FILTER(isIRI(?h) && isIRI(?t) && ?r NOT IN ({_PREDICATES}) && !(?r = <{TYPE}> && ?t IN ({_CLASSES})))"
)


def entities() -> str:
    """SELECT the IRIs of all entities, ordered."""
    return (
        f"SELECT DISTINCT ?e WHERE {{ {{ SELECT (?h AS ?e) WHERE {{ {EDGE} }} }} UNION "
        f"{{ SELECT (?t AS ?e) WHERE {{ {EDGE} }} }} UNION "
        f"{{ ?e <{TYPE}> <{ENTITY}> FILTER(isIRI(?e)) }} }} ORDER BY ?e"
    )


def relations() -> str:
    """SELECT the IRIs of all relations, ordered."""
    return (
        f"SELECT DISTINCT ?e WHERE {{ {{ SELECT (?r AS ?e) WHERE {{ {EDGE} }} }} "
        f"UNION {{ ?e <{TYPE}> <{RELATION}> FILTER(isIRI(?e)) }} }} ORDER BY ?e"
    )


def labels() -> str:
    """SELECT IRI and label of all that has one, ordered."""
    return f"SELECT ?e ?l WHERE {{ ?e <{LABEL}> ?l FILTER(isIRI(?e) && isLiteral(?l)) }} ORDER BY ?e ?l"


def count_edges() -> str:
    """SELECT the number of distinct triples."""
    return f"SELECT (COUNT(*) AS ?n) WHERE {{ SELECT DISTINCT ?h ?r ?t WHERE {{ {EDGE} }} }}"


def count(query: str) -> str:
    """SELECT the number of solutions of ``query``."""
    return f"SELECT (COUNT(*) AS ?n) WHERE {{ {{ {query.removesuffix(' ORDER BY ?e')} }} }}"


def edges(form: Form, predicate: str, heads: Iterable[str] | None = None, tails: Iterable[str] | None = None) -> str:
    """SELECT head, relation, tail and confidence, ordered: all, or those with a head or a tail of the given."""
    chosen = "".join(
        f"VALUES ?{name} {{ {' '.join(f'<{iri}>' for iri in iris)} }} "
        for name, iris in (("h", heads), ("t", tails))
        if iris is not None
    )
    return (
        f"SELECT DISTINCT ?h ?r ?t ?c WHERE {{ {chosen}{EDGE} {_confidence(form, predicate)} }} ORDER BY ?h ?r ?t ?c"
    )


def has_triple(head: str, relation: str, tail: str) -> str:
    """ASK for one triple."""
    return f"ASK {{ <{head}> <{relation}> <{tail}> }}"


def _confidence(form: Form, predicate: str) -> str:
    if form == "none":
        return ""
    if form == "star":
        return f"OPTIONAL {{ << ?h ?r ?t >> <{predicate}> ?c }}"
    _kind, head, relation, tail = REIFICATION if form == "reification" else OWL_AXIOM
    return f"OPTIONAL {{ ?s <{head}> ?h ; <{relation}> ?r ; <{tail}> ?t ; <{predicate}> ?c }}"
