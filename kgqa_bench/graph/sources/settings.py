"""Settings that several graph sources share."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from kgqa_bench.contracts import PluginSettings
from kgqa_bench.graph.merging import MergeRule
from kgqa_bench.graph.rdf_terms import CONFIDENCE, is_iri
from kgqa_bench.graph.sources.medkgent_words import UNDIRECTED


def _listed(value: Any) -> Any:
    """``facts,train`` is a list of two."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


WeightMapping = Literal["ukge", "clip", "saturating", "one"]

FactsPart = Literal["facts", "train", "valid", "test"]
SplitPart = Literal["train", "valid", "test"]
_PARTS = Field(min_length=1, description="The parts that are in the graph, as a list or with commas between them.")
FactsParts = Annotated[tuple[FactsPart, ...], _PARTS, BeforeValidator(_listed)]
SplitParts = Annotated[tuple[SplitPart, ...], _PARTS, BeforeValidator(_listed)]
Undirected = Annotated[
    tuple[str, ...],
    Field(
        description="Relationship types without direction, as a list or with commas between them: their triples are "
        "kept once where both directions are stored, with the head whose name comes first. Empty to keep both."
    ),
    BeforeValidator(_listed),
]


def _checked_iri(value: str) -> str:
    if not is_iri(value):
        raise ValueError(f"{value!r} is not an IRI")
    return value


Iri = Annotated[str, AfterValidator(_checked_iri)]


class MergeSettings(PluginSettings):
    """Settings of a graph with confidences."""

    merge: MergeRule = Field(default="max", description="Confidence of a triple that stands in several rows.")


class Cn15kSettings(MergeSettings):
    """Settings of CN15k."""

    mapping: Literal["ukge", "one"] = Field(
        default="ukge", description="`ukge`: the confidences as published; `one`: 1 for every triple."
    )


class DumpSettings(MergeSettings):
    """Settings of ConceptNet's assertions dump."""

    mapping: WeightMapping = Field(
        default="ukge",
        description="How the dump's weights become confidences. `ukge`: clipped to [0.1, 3], then the logarithm "
        "scaled to [0.1, 1]; `clip`: min(w, 1); `saturating`: w / (1 + w); `one`: 1 for every triple.",
    )


class ConceptNetSettings(DumpSettings):
    """Settings of ConceptNet. CN15k has the mappings ``ukge`` and ``one``."""

    part: Literal["auto", "dump", "cn15k"] = Field(
        default="auto",
        description="`dump`: the assertions dump; `cn15k`: CN15k; `auto`: the dump if it is there, else CN15k.",
    )


class Neo4jSettings(MergeSettings):
    """Settings of a CSV export of a Neo4j database."""

    confidence: str | None = Field(
        default=None,
        description="The relationships' property that holds the confidence. By default `score` or `confidence`; "
        "without either all are 1.",
    )
    undirected: Undirected = ()
    aliases: str = Field(
        default="exact_keywords", description="The nodes' array property with further names of the entity."
    )


class MedKGentSettings(Neo4jSettings):
    """Settings of MedKGent."""

    confidence: str = Field(default="score", description="The relationships' property that holds the confidence.")
    undirected: Undirected = UNDIRECTED


class RdfSettings(MergeSettings):
    """Settings of RDF files."""

    confidence_predicate: Iri | None = Field(
        default=None, description="IRI of the property with the confidence; by default found by its name."
    )
    literals: Literal["skip", "keep"] = Field(default="skip", description="What to do with triples with a literal.")


class SparqlSettings(PluginSettings):
    """Settings of a SPARQL endpoint."""

    graph: Iri | None = Field(
        default=None, description="IRI of the graph to ask; by default the endpoint's default graph."
    )
    confidence: Literal["none", "star", "reification", "annotation"] = Field(
        default="none",
        description="How confidences are written: `none` (all are 1), `star` (RDF-star), `reification` "
        "(rdf:Statement), `annotation` (owl:Axiom).",
    )
    confidence_predicate: Iri = Field(default=CONFIDENCE, description="IRI of the property with the confidence.")
    page: int = Field(
        default=10_000,
        ge=1,
        description="Rows asked for at once; the endpoint must not limit its replies to fewer.",
    )
    timeout: float = Field(default=60.0, gt=0, description="Seconds before a query is given up.")


class FactsSettings(PluginSettings):
    """Settings of a graph in the parts facts, train, valid and test."""

    parts: FactsParts = ("facts",)


class SplitSettings(PluginSettings):
    """Settings of a graph in the parts train, valid and test."""

    parts: SplitParts = ("train",)


class BuiltSettings(PluginSettings):
    """Settings of the graph of a built benchmark."""

    view: Literal["incomplete", "complete"] = Field(
        default="incomplete", description="`incomplete`: without the removed triples; `complete`: with them."
    )


class OpenkeSettings(SplitSettings, MergeSettings):
    """Settings of a folder in OpenKE's format."""
