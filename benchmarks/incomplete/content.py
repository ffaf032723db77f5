"""What a built benchmark holds, by the labels that its files use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from kgqa_bench.domain import Triple, TwinStratum
from kgqa_bench.horn.rule import MinedRule, RuleSubtype, RuleType

from .model import Asked, Split

Named = tuple[str, str, str]
"""Head, relation and tail, as the files write them."""


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class QuestionRow(_Row):
    """One line of questions.SPLIT.jsonl.

    Attributes:
        id: Unique over all splits: a number with leading zeros, so that text order is number order.
        question: The wording.
        kind: Always ``entities``.
        topic_entities: The one topic.
        answer: All answers on the complete graph, sorted.
        hard_answers: Those whose direct triple is removed, sorted.
        primary: The entity at the asked end of ``removed``.
        relation: Name of the relation asked for.
        asked: The end of the triple that is asked for; the topic is the other end.
        rule: Number of the rule, counted from 1.
        rule_type: Its type.
        rule_subtype: Its subtype, "" where it has none.
        removed: The removed triple the question was made for.
        grounding: The body triples of its certificate, in the order of the rule's atoms.
        hops: Triples on the shortest way between its ends within the grounding.
        twin: The twin stratum, "" where twins are not marked.
    """

    id: str
    question: str
    kind: Literal["entities"] = "entities"
    topic_entities: tuple[str]
    answer: tuple[str, ...]
    hard_answers: tuple[str, ...]
    primary: str
    relation: str
    asked: Asked
    rule: int
    rule_type: RuleType
    rule_subtype: RuleSubtype | Literal[""]
    removed: Named
    grounding: tuple[Named, ...]
    hops: int
    twin: TwinStratum | Literal[""]


class Certificate(_Row):
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

    removed: Named
    rule: int
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
