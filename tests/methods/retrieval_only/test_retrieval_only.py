"""Retrieval without a model, on a graph small enough to follow by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from kgqa_bench import registry
from kgqa_bench.domain import Answer, Option, Question, Triple
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.methods.retrieval_only.similarity import embedding_similarity, tfidf_similarity
from kgqa_bench.toolbox import NO_MODEL, Toolbox

ROWS = [
    ("cactus", "at_location", "desert", 0.9),
    ("cactus", "related_to", "ocean", 0.1),
    ("water", "at_location", "ocean", 1.0),
    ("cactus", "desires", "water", 0.5),
    ("office", "has_a", "desk", 1.0),
    ("sun", "causes", "heat", 0.8),
    ("sun", "causes", "light", 0.9),
    ("star", "is_a", "sun", 0.4),
]


@pytest.fixture(scope="module")
def graph() -> Graph:
    return build_graph(*map(list, zip(*ROWS, strict=True)), source="test")


class WordLinker:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def link(self, question: Question) -> tuple[int, ...]:
        assert question.options == ()  # the options are linked one by one
        words = [*question.topic_entities, *question.text.lower().rstrip("?.").split()]
        found = (self.graph.find_entity(word) for word in words)
        return tuple(dict.fromkeys(entity for entity in found if entity is not None))


@pytest.fixture
def ask(graph: Graph) -> Callable[..., Any]:
    async def run(question: Question, **settings: Any) -> tuple[Answer, Toolbox]:
        linker = WordLinker(graph)
        tools = Toolbox(NO_MODEL, "0", lambda: graph, lambda: Letters(), lambda: linker)
        return await registry.create("methods", "retrieval-only", settings).answer(question, tools), tools

    return run


class Letters:
    """Embeds a text as its counts of letters."""

    name, dimension = "letters", 26

    def encode(self, texts: Sequence[str]) -> Any:
        rows = np.array([[text.count(chr(97 + letter)) for letter in range(26)] for text in texts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def choice(stem: str, *texts: str) -> Question:
    return Question("q", stem, "choice", tuple(map(Option, "ABCD", texts)))


def values(answer: Answer) -> list[str]:
    return [prediction.value for prediction in answer.predictions]


@pytest.mark.parametrize("scorer", ["tfidf", "embedding"])
async def test_the_option_with_a_surer_fact_wins_and_the_fact_is_its_evidence(
    ask: Callable[..., Any], scorer: str
) -> None:
    question = choice("Where does a cactus grow?", "office", "ocean", "desert")
    answer, tools = await ask(question, scorer=scorer, hops=1)
    assert values(answer) == ["C", "B", "A"]
    assert answer.evidence == ((Triple("cactus", "at_location", "desert", 0.9),),)
    assert tools.trace["scores"]["A"] == 0


async def test_the_score_is_confidence_times_cosine_over_top_k(ask: Callable[..., Any]) -> None:
    question = choice("cactus", "desert", "office")
    _, tools = await ask(question, hops=1, top_k=2)
    facts, queries = ["cactus at location desert"], ["cactus desert", "cactus office"]
    cosine = tfidf_similarity(facts, queries)[0, 0]
    assert 0 < cosine < 1
    assert tools.trace["scores"]["A"] == pytest.approx(0.9 * cosine / 2, abs=1e-6)


async def test_two_hops_reach_what_one_does_not(ask: Callable[..., Any]) -> None:
    question = choice("A cactus wants it", "office", "heat")
    assert (await ask(question))[0].status == "abstained"
    star = choice("What does a star give?", "desk", "heat")
    assert (await ask(star, hops=1))[0].status == "abstained"
    answer, _ = await ask(star, hops=2)
    assert values(answer) == ["B", "A"]
    assert [triple.relation for triple in answer.evidence[0]] == ["is_a", "causes"]


async def test_nothing_linked_is_an_abstention(ask: Callable[..., Any]) -> None:
    answer, _ = await ask(choice("Why?", "because", "desert"))
    assert (answer.status, answer.predictions) == ("abstained", ())
    answer, _ = await ask(Question("e", "Why?", "entities"))
    assert (answer.status, answer.predictions) == ("abstained", ())


async def test_boolean_questions_compare_the_best_fact_with_the_threshold(ask: Callable[..., Any]) -> None:
    holds = Question("b", "The sun causes heat.", "boolean")
    answer, tools = await ask(holds)
    assert values(answer) == ["true"]
    assert answer.evidence == ((Triple("sun", "causes", "heat", 0.8),),)
    assert tools.trace["scores"]["true"] <= 0.8
    assert values((await ask(holds, threshold=0.81))[0]) == ["false"]
    nothing, _ = await ask(Question("b", "The office causes heat.", "boolean"))
    assert (values(nothing), nothing.status, nothing.evidence) == (["false"], "ok", ())


async def test_entity_questions_give_the_ends_of_the_best_relation(ask: Callable[..., Any]) -> None:
    answer, _ = await ask(Question("e", "What light does it give?", "entities", (), ("sun",)))
    assert values(answer) == ["light", "heat"]
    assert answer.evidence[0] == (Triple("sun", "causes", "light", 0.9),)


def test_similarities_have_the_shape_facts_by_queries() -> None:
    facts, queries = ["ice melts fast", "the sun"], ["ice melts", "sun", "nothing"]
    similarity = tfidf_similarity(facts, queries)
    assert similarity.shape == (2, 3)
    assert similarity[1, 1] == pytest.approx(1.0)
    assert similarity[0, 1] == 0
    letters = embedding_similarity(["ab"], ["ab", "b"], Letters())
    np.testing.assert_allclose(letters, [[1.0, 1 / math.sqrt(2)]], rtol=1e-6)
    assert tfidf_similarity([], queries).shape == embedding_similarity([], queries, Letters()).shape == (0, 3)


def test_texts_without_any_word_are_not_alike() -> None:
    assert tfidf_similarity(["the of"], ["!", "a"]).tolist() == [[0.0, 0.0]]
