"""What a built benchmark holds, by the labels that its files use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from kgqa_bench.domain import Triple
from kgqa_bench.horn.rule import MinedRule
from kgqa_bench.run.benchmark_folder import MOST, Named, QuestionRow, Wording

from .model import Split

__all__ = ["Certificate", "Content", "EntityLabel", "Named", "QuestionRow", "Wording"]


class Certificate(BaseModel):
    """One line of certificate.jsonl: why a removed triple still follows.

    Attributes:
        removed: The removed triple.
        rule: Number of the rule, counted from 1.
        body: The body triples, all still in the incomplete graph.
        std_confidence: The rule's standard confidence on the complete graph.
        pca_confidence: Its PCA confidence.
        twin_of: Where the triple was removed as the reverse of another removed triple, that one; rule, body and
            confidences are then the other's. Else None.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    removed: Named
    rule: int = Field(ge=0, le=MOST)
    body: tuple[Named, ...]
    std_confidence: float
    pca_confidence: float
    twin_of: Named | None = None


class EntityLabel(NamedTuple):
    """One row of labels.tsv: the label in all files, the graph's name, and the graph's label."""

    label: str
    id: str
    text: str


@dataclass(frozen=True)
class Content:
    """A built benchmark.

    Attributes:
        name: The benchmark's name.
        kg: The graph's name.
        source_fingerprint: Fingerprint of the graph it was built from, by that graph's own names.
        complete: All triples of that graph.
        removed: Those of them that the incomplete graph has not.
        rules: The rules drawn; the first has number 1.
        questions: The rows of each split.
        certificates: One for each removed triple.
        entities: All entities of the graph, also those in no triple.
        relations: All relations of the graph: their labels by name.
        settings: How it was built, JSON-able and without paths.
        figures: What the build counted, JSON-able: a mapping of what was counted to numbers.
    """

    name: str
    kg: str
    source_fingerprint: str
    complete: Sequence[Triple]
    removed: frozenset[Named]
    rules: Sequence[MinedRule]
    questions: Mapping[Split, Sequence[QuestionRow]]
    certificates: Sequence[Certificate]
    entities: Sequence[EntityLabel]
    relations: Mapping[str, str]
    settings: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)

    def incomplete(self) -> list[Triple]:
        """The triples that are left, in the order of ``complete``."""
        return [triple for triple in self.complete if triple[:3] not in self.removed]
