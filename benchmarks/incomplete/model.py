"""What the steps of a build hand on: facts, groundings and questions, all by the graph's integer ids."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from kgqa_bench.domain import TwinStratum
from kgqa_bench.run.benchmark_folder import Wording

Asked = Literal["head", "tail"]
"""The end of a triple that a question asks for; its topic is the other end."""

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")


class Fact(NamedTuple):
    """A triple by ids."""

    head: int
    relation: int
    tail: int


class Grounding(NamedTuple):
    """A rule's body and head in the graph.

    Attributes:
        rule: Position of the rule in the list of rules drawn.
        head: The head triple.
        body: The body triples in the order of the rule's atoms.
    """

    rule: int
    head: Fact
    body: tuple[Fact, ...]


class Ask(NamedTuple):
    """What a question is about, without words."""

    topic: int
    relation: int
    asked: Asked

    def triple(self, answer: int) -> Fact:
        """The triple that says so directly."""
        if self.asked == "tail":
            return Fact(self.topic, self.relation, answer)
        return Fact(answer, self.relation, self.topic)


@dataclass
class Draft:
    """A question on its way.

    Attributes:
        ask: What it asks.
        grounding: That of its primary removed triple.
        primary: The entity at the asked end of that triple.
        answers: All answers on the complete graph, ascending.
        hard: Those whose direct triple is removed, ascending.
        hops: Triples on the shortest way between the two ends of the removed triple within the grounding's body.
        twin: See ``kgqa_bench.domain.Derivation``; None where twins are not marked.
        text: The question in words.
        wording: Whose words these are.
        split: Its split, once drawn.
    """

    ask: Ask
    grounding: Grounding
    primary: int
    answers: tuple[int, ...] = ()
    hard: tuple[int, ...] = ()
    hops: int = 0
    twin: TwinStratum | None = None
    text: str = ""
    wording: Wording = "template"
    split: Split | None = field(default=None)
