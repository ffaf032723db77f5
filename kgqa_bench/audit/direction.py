"""Whether gold answers are what a question's direction asks for on the complete graph."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.question_sets.model import Asked, SetQuestion

DirectionVerdict = Literal[
    "right",
    "other end of the relation",
    "tails of the removed triple's head",
    "some answers missing",
    "more than asked for",
    "other answers",
]
VERDICTS: tuple[DirectionVerdict, ...] = (
    "right",
    "other end of the relation",
    "tails of the removed triple's head",
    "some answers missing",
    "more than asked for",
    "other answers",
)
OTHER_END: dict[Asked, Asked] = {"head": "tail", "tail": "head"}


class Direction(NamedTuple):
    """What a question asks for, and whether its gold answers are that.

    Attributes:
        asked: The end asked for: by the file, else by the wording, else by where the topic stands in the triple.
        worded: The end that the wording asks for, where it tells.
        reversed: The wording asks for the other end than file or triple.
        verdict: What the gold answers are.
        expected: How many answers the complete graph has.
    """

    asked: Asked
    worded: Asked | None
    reversed: bool
    verdict: DirectionVerdict
    expected: int


class DirectionCheck:
    """Recomputes answers on the complete graph.

    Args:
        graph: The complete graph.
        stated: The set itself states which end its questions ask for; where it does not, their wording goes before
            the end at which the topic stands in the removed triple.
    """

    def __init__(self, graph: MemoryGraph, stated: bool) -> None:
        self.graph = graph
        self.stated = stated
        self._find = cache(graph.find_entity)

    def check(self, question: SetQuestion) -> Direction | None:
        """The direction of a question; None where topic, relation or direction are not known or not in the graph."""
        if question.relation is None or question.asked is None or not question.topics:
            return None
        relation = self.graph.find_relation(question.relation)
        topic = self._find(question.topics[0])
        if relation is None or topic is None:
            return None
        worded = worded_end(question.text, question.topics[0], self._noun(relation))
        asked = question.asked if self.stated or worded is None else worded
        expected = self._answers(topic, relation, asked)
        verdict = self._verdict(question, topic, relation, asked, expected)
        return Direction(asked, worded, worded not in (None, question.asked), verdict, len(expected))

    def _verdict(
        self, question: SetQuestion, topic: int, relation: int, asked: Asked, expected: set[int]
    ) -> DirectionVerdict:
        ids = [self._find(answer) for answer in question.answer_entities]
        gold = {entity for entity in ids if entity is not None}
        strange = len(gold) < len(set(question.answer_entities))
        if gold == expected and not strange:
            return "right"
        if not strange and gold and gold == self._answers(topic, relation, OTHER_END[asked]):
            return "other end of the relation"
        head = self._find(question.removed[0]) if question.removed is not None else None
        if head is not None and not strange and gold:
            tails = self._answers(head, relation, "tail")
            primary = self._find(question.primary) if question.primary is not None else None
            if gold == tails or (primary is not None and gold == (tails - {topic}) | {primary}):
                return "tails of the removed triple's head"
        if gold < expected and not strange:
            return "some answers missing"
        if gold >= expected:
            return "more than asked for"
        return "other answers"

    def _answers(self, topic: int, relation: int, asked: Asked) -> set[int]:
        edges = self.graph.neighbours(topic, "out" if asked == "tail" else "in", relation)
        return set(edges.entities.tolist())

    def _noun(self, relation: int) -> str | None:
        return relation_noun(self.graph.relation_name(relation), self.graph.relation_label(relation))


@lru_cache(maxsize=4096)
def relation_noun(name: str, label: str) -> str | None:
    """``nephew`` of a relation that says of its head that it *is the nephew of* its tail; None of others."""
    found = re.fullmatch(r"is the (.+) of", label) or re.fullmatch(r"(.+)_of", name)
    return found[1].replace("_", " ").lower() if found else None


def worded_end(text: str, topic: str, noun: str | None) -> Asked | None:
    """The end of ``head is the NOUN of tail`` that a question about ``topic`` asks for; None where it does not tell.

    *Who is X's nephew?* and *the nephew of X* ask for the head, *Who is X the nephew of?*, *Whose nephew is X?* and
    *Who has X as a nephew?* for the tail.
    """
    if noun is None:
        return None
    name, word = rf"(?<!\w){re.escape(topic)}(?!\w)", _forms(noun)
    determiner = r"(?:(?:the|a|an|his|her|their|its|one of the) )?"
    head = (rf"{name}['’]s? (?:\w+ )?{word}", rf"{word} (?:of|to|for) {name}")
    tail = (
        rf"{name} (?:is |was |as |serves as |acts as )?{determiner}{word}",
        rf"whose {word} (?:is |was )?{name}",
        rf"as {determiner}{word} {name}",
    )
    ends: set[Asked] = set()
    if any(re.search(pattern, text, re.IGNORECASE) for pattern in head):
        ends.add("head")
    if any(re.search(pattern, text, re.IGNORECASE) for pattern in tail):
        ends.add("tail")
    return ends.pop() if len(ends) == 1 else None


def _forms(noun: str) -> str:
    """A pattern of a noun's singular and plural."""
    forms = [re.escape(noun), re.escape(noun) + "e?s"]
    if noun.endswith("fe"):
        forms.append(re.escape(noun[:-2]) + "ves")
    return rf"\b(?:{'|'.join(forms)})\b"
