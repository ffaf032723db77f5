from __future__ import annotations

from typing import Any

import pytest

from kgqa_bench.audit.direction import DirectionCheck, relation_noun, worded_end
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.question_sets.model import SetQuestion

# n1 and n2 are nephews of u; n1 is also one of v and w
TRIPLES = [("n1", "u"), ("n2", "u"), ("n1", "v"), ("n1", "w"), ("u", "x")]


@pytest.fixture
def graph() -> MemoryGraph:
    heads, tails = zip(*TRIPLES, strict=True)
    return build_graph(heads, ["nephew_of"] * len(heads), tails, source="test")


def asking(text: str, topic: str, answers: str, **more: Any) -> SetQuestion:
    gold = tuple(answers.split())
    known: dict[str, Any] = {"relation": "nephew_of", "asked": "head", "removed": ("n1", "nephew_of", "u")} | more
    return SetQuestion("1", text, "test", 1, topics=(topic,), answers=gold, answer_entities=gold, **known)


@pytest.mark.parametrize(
    ("topic", "answers", "asked", "verdict"),
    [
        ("u", "n1 n2", "head", "right"),
        ("u", "n2 n1 n2", "head", "right"),
        ("n1", "u v w", "tail", "right"),
        ("u", "x", "head", "other end of the relation"),
        ("u", "u v w", "head", "tails of the removed triple's head"),
        ("u", "v w n1", "head", "tails of the removed triple's head"),
        ("u", "n2", "head", "some answers missing"),
        ("u", "", "head", "some answers missing"),
        ("u", "n1 n2 x", "head", "more than asked for"),
        ("u", "n1 n2 nobody", "head", "more than asked for"),
        ("u", "n1 x", "head", "other answers"),
        ("u", "nobody", "head", "other answers"),
    ],
)
def test_verdicts(graph: MemoryGraph, topic: str, answers: str, asked: Any, verdict: str) -> None:
    question = asking("?", topic, answers, asked=asked, primary="n1")
    found = DirectionCheck(graph, stated=True).check(question)
    assert found is not None
    assert found.verdict == verdict


def test_the_wording_goes_before_the_topics_place_unless_the_set_states_it(graph: MemoryGraph) -> None:
    question = asking("Who is n1's nephew?", "n1", "u v w", asked="tail", primary="u")
    inferred = DirectionCheck(graph, stated=False).check(question)
    stated = DirectionCheck(graph, stated=True).check(question)
    assert inferred is not None and stated is not None
    assert (inferred.asked, inferred.verdict, inferred.reversed) == ("head", "other end of the relation", True)
    assert (stated.asked, stated.verdict, stated.reversed) == ("tail", "right", True)


def test_what_cannot_be_checked(graph: MemoryGraph) -> None:
    check = DirectionCheck(graph, stated=True)
    assert check.check(asking("?", "nobody", "n1")) is None
    assert check.check(asking("?", "u", "n1", relation="other")) is None
    assert check.check(asking("?", "u", "n1", asked=None)) is None


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("Who is 84's nephew?", "head"),
        ("Who are 84’s only nephews?", "head"),
        ("Who is the nephew of 84?", "head"),
        ("Who is 84 the nephew of?", "tail"),
        ("Of whom is 84 a nephew?", "tail"),
        ("Whose nephew is 84?", "tail"),
        ("Who has 84 as a nephew?", "tail"),
        ("Who is 841's nephew?", None),
        ("Who is related to 84?", None),
        ("Who is 84's nephew, and whose nephew is 84?", None),
    ],
)
def test_wordings(text: str, end: str | None) -> None:
    assert worded_end(text, "84", "nephew") == end
    assert worded_end(text, "84", None) is None


def test_nouns() -> None:
    assert relation_noun("nephew", "is the nephew of") == "nephew"
    assert relation_noun("wife_of", "wife_of") == "wife"
    assert relation_noun("/people/person/spouse", "spouse") is None
    assert worded_end("Who are 7's wives?", "7", "wife") == "head"
