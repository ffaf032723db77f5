"""Settings that several graph sources share."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from kgqa_bench.contracts import PluginSettings
from kgqa_bench.graph.rdf_terms import CONFIDENCE, is_iri
from kgqa_bench.graph.sources.medkgent_words import UNDIRECTED

# as in kgqa_bench.graph.build, which is not imported for the sake of a list of settings
MergeRule = Literal["max", "mean", "noisy_or", "first", "last"]


def _listed(value: Any) -> Any:
    """``facts,train`` is a list of two."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


# as in kgqa_bench.graph.sources.conceptnet
WeightMapping = Literal["ukge", "clip", "saturating", "one"]

FactsPart = Literal["facts", "train", "valid", "test"]
SplitPart = Literal["train", "valid", "test"]
FactsParts = Annotated[tuple[FactsPart, ...], Field(min_length=1), BeforeValidator(_listed)]
Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]
SplitParts = Annotated[tuple[SplitPart, ...], Field(min_length=1), BeforeValidator(_listed)]


def _checked_iri(value: str) -> str:
    if not is_iri(value):
        raise ValueError(f"{value!r} is not an IRI")
    return value


Iri = Annotated[str, AfterValidator(_checked_iri)]


class MergeSettings(PluginSettings):
    """Settings of a graph with confidences.

    Attributes:
        merge: Confidence of a triple that stands in several rows.
    """

    merge: MergeRule = "max"


class Cn15kSettings(MergeSettings):
    """Settings of CN15k.

    Attributes:
        merge: Confidence of a triple that stands in several rows.
        mapping: ``ukge``: the confidences as published; ``one``: 1 for every triple.
    """

    mapping: Literal["ukge", "one"] = "ukge"


class ConceptNetSettings(MergeSettings):
    """Settings of ConceptNet.

    Attributes:
        merge: Confidence of a triple that stands in several rows.
        part: ``dump``: the assertions dump; ``cn15k``: CN15k; ``auto``: the dump if it is there, else CN15k.
        mapping: How the dump's weights become confidences. ``ukge``: clipped to [0.1, 3], then the logarithm scaled
            to [0.1, 1]; ``clip``: min(w, 1); ``saturating``: w / (1 + w); ``one``: 1 for every triple. CN15k has
            ``ukge`` and ``one``.
    """

    part: Literal["auto", "dump", "cn15k"] = "auto"
    mapping: WeightMapping = "ukge"


class Neo4jSettings(MergeSettings):
    """Settings of a CSV export of a Neo4j database.

    Attributes:
        merge: Confidence of a triple that stands in several rows.
        confidence: The relationships' property that holds the confidence. By default ``score`` or ``confidence``;
            without either all are 1.
        undirected: Relationship types without direction, as a list or with commas between them: their triples are
            kept once where both directions are stored, with the head whose name comes first.
        aliases: The nodes' array property with further names of the entity.
    """

    confidence: str | None = None
    undirected: Names = ()
    aliases: str = "exact_keywords"


class MedKGentSettings(Neo4jSettings):
    """Settings of MedKGent.

    Attributes:
        merge: Confidence of a triple that stands in several rows.
        confidence: The relationships' property that holds the confidence.
        undirected: Relationship types without direction, as a list or with commas between them: stored both ways,
            they are kept once, with the head whose name comes first. Empty to keep both.
        aliases: The nodes' array property with further names of the entity.
    """

    confidence: str = "score"
    undirected: Names = UNDIRECTED


class RdfSettings(MergeSettings):
    """Settings of RDF files.

    Attributes:
        merge: Confidence of a triple that has several.
        confidence_predicate: IRI of the property with the confidence; by default found by its name.
        literals: ``skip`` or ``keep`` triples with a literal.
    """

    confidence_predicate: Iri | None = None
    literals: Literal["skip", "keep"] = "skip"


class SparqlSettings(PluginSettings):
    """Settings of a SPARQL endpoint.

    Attributes:
        graph: IRI of the graph to ask; by default the endpoint's default graph.
        confidence: How confidences are written: ``none`` (all are 1), ``star`` (RDF-star), ``reification``
            (rdf:Statement), ``annotation`` (owl:Axiom).
        confidence_predicate: IRI of the property with the confidence.
        page: Rows asked for at once; the endpoint must not limit its replies to fewer.
        timeout: Seconds before a query is given up.
    """

    graph: Iri | None = None
    confidence: Literal["none", "star", "reification", "annotation"] = "none"
    confidence_predicate: Iri = CONFIDENCE
    page: int = Field(default=10_000, ge=1)
    timeout: float = Field(default=60.0, gt=0)


class FactsSettings(PluginSettings):
    """Settings of a graph in the parts facts, train, valid and test.

    Attributes:
        parts: The parts that are in the graph, as a list or with commas between them.
    """

    parts: FactsParts = ("facts",)


class SplitSettings(PluginSettings):
    """Settings of a graph in the parts train, valid and test.

    Attributes:
        parts: The parts that are in the graph, as a list or with commas between them.
    """

    parts: SplitParts = ("train",)
