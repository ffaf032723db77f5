"""How names are written as IRIs, and the vocabulary of labels and confidences in RDF.

A name that is an IRI, with any scheme, is written as it is. Any other name is percent-encoded under a base of this
program, one for entities and one for relations, so that ``42``, ``ice cream`` and ``<x>`` are names like all others
and come back as they were. So no two IRIs have the same name.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote, unquote

ENTITY_BASE = "urn:kgqa-bench:entity:"
RELATION_BASE = "urn:kgqa-bench:relation:"
CONFIDENCE = "urn:kgqa-bench:confidence"
ENTITY = "urn:kgqa-bench:Entity"
RELATION = "urn:kgqa-bench:Relation"

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
XSD = "http://www.w3.org/2001/XMLSchema#"
TYPE = f"{RDF}type"
LABEL = f"{RDFS}label"
REIFIES = f"{RDF}reifies"

# class of the statement node, and its properties for head, relation and tail
REIFICATION = (f"{RDF}Statement", f"{RDF}subject", f"{RDF}predicate", f"{RDF}object")
OWL_AXIOM = (f"{OWL}Axiom", f"{OWL}annotatedSource", f"{OWL}annotatedProperty", f"{OWL}annotatedTarget")

# statements about statements and declarations, which are no edges
META_PREDICATES = frozenset({REIFIES, *REIFICATION[1:], *OWL_AXIOM[1:]})
META_CLASSES = frozenset({ENTITY, RELATION, REIFICATION[0], OWL_AXIOM[0]})

RDF_SUFFIXES = (".ttl", ".ttls", ".nt", ".nq", ".trig", ".trigs", ".rdf", ".owl", ".jsonld", ".n3", ".trix")

_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20\x7f-\x9f<>\"{}|\\^`\s\ud800-\udfff]+")


def iri_of(name: str, base: str) -> str:
    """The IRI of a name; ``base`` is ``ENTITY_BASE`` or ``RELATION_BASE``."""
    if is_iri(name) and not name.startswith(base):
        return name
    return base + quote(name, safe="")


def name_of(iri: str, base: str) -> str:
    """The name of an IRI, the inverse of ``iri_of``. An IRI that is not under ``base`` is its own name."""
    if iri.startswith(base):
        try:
            name = unquote(iri[len(base) :], errors="strict")
        except UnicodeDecodeError:
            return iri
        if name and iri_of(name, base) == iri:
            return name
    return iri


def default_label(name: str) -> str:
    """What an entity or relation without label is called: of an IRI the last part, else the name."""
    if not _IRI.fullmatch(name):
        return name
    local = unquote(re.split(r"[/#:]", name.rstrip("/#:"))[-1], errors="replace").replace("_", " ").strip()
    return local or name


def is_rdf(path: Path) -> bool:
    """Whether a file is named like RDF."""
    return Path(path.name.removesuffix(".gz")).suffix.lower() in RDF_SUFFIXES


def is_iri(text: str) -> bool:
    """Whether ``text`` is an absolute IRI, which can stand between < and > without ending it."""
    from pyoxigraph import NamedNode

    if _IRI.fullmatch(text) is None:
        return False
    try:
        NamedNode(text)
    except ValueError:
        return False
    return True
