"""Entity linking on hand-made graphs, and on CN15k."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa_bench.domain import Option, Question
from kgqa_bench.errors import MissingDependencyError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.sources.cn15k import read_cn15k
from kgqa_bench.text.label_index import LabelIndex
from kgqa_bench.text.linking import GraphLinker, LinkerSettings
from kgqa_bench.text.types import Vectors
from kgqa_bench.text.words import STOP_WORDS, is_content, lemma, tokens


class NearWords:
    """An embedder in which two words of one group have the similarity 0.8, any others 0."""

    name = "near-words"
    dimension = 40

    def __init__(self, *groups: set[str]) -> None:
        self.groups = groups
        self.seen: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.seen += texts
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            own = 10 + sum(text.encode()) % 30
            vectors[row, own] = 1.0
            for place, group in enumerate(self.groups):
                if text in group:
                    vectors[row] = 0
                    vectors[row, place] = 0.8**0.5
                    vectors[row, own] = 0.2**0.5
        return vectors


def never() -> NearWords:
    raise AssertionError("the embedder is not needed here")


def graph_of(*names: str, labels: dict[str, str] | None = None) -> MemoryGraph:
    """A ring over the names, so that all have one PageRank."""
    return build_graph(names, ["r"] * len(names), [*names[1:], names[0]], source="test", entity_labels=labels)


def question(text: str, *topics: str, options: Sequence[str] = ()) -> Question:
    lettered = tuple(Option(letter, option) for letter, option in zip("ABCD", options, strict=False))
    return Question("q", text, "choice", lettered, topics)


@pytest.fixture
def link() -> Callable[..., list[str]]:
    def names(graph: MemoryGraph, asked: Question, **settings: object) -> list[str]:
        linker = GraphLinker(graph, never, LinkerSettings.model_validate({"fallback": False, **settings}))
        return [graph.entity_name(entity) for entity in linker.link(asked)]

    return names


THINGS = graph_of(
    "ice cream", "cream", "dog", "cat", "hot dog", "St. Louis", "the beatles", "c++", "save money", "42"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Do dogs chase a cat?", ["dog", "cat"]),
        ("CATS, and Dogs!", ["cat", "dog"]),
        ("I like ice-cream with cream", ["ice cream", "cream"]),
        ("two hot dogs", ["hot dog"]),
        ("hot, dog", ["hot dog"]),
        ("The dog's bowl; the dogs’ bowl", ["dog"]),
        ("Where is St Louis?", ["St. Louis"]),
        ("Which song did Beatles fans like?", ["the beatles"]),
        ("written in C++ or in C", ["c++"]),
        ("saving money", ["save money"]),
        ("What is the ____ of it?", []),
        ("There are 42 of them", []),
        ("", []),
        ("\ud800 dog \x00", ["dog"]),
    ],
)
def test_mentions(text: str, expected: list[str], link: Callable[..., list[str]]) -> None:
    assert link(THINGS, question(text)) == expected


def test_stop_words_alone_are_no_mentions(link: Callable[..., list[str]]) -> None:
    graph = graph_of("the", "in the", "used to", "in", "out of mind")
    assert link(graph, question("it used to be in the box, now out of mind")) == ["out of mind"]


def test_exact_words_go_before_lemmas_and_base_forms_before_other_inflections(link: Callable[..., list[str]]) -> None:
    graph = graph_of("saving", "save", "wolves", "painted")
    assert link(graph, question("saving")) == ["saving"]
    assert link(graph, question("saves")) == ["save"]
    assert link(graph, question("wolf")) == ["wolves"]
    assert link(graph, question("painting")) == ["painted"]


def test_an_inflected_longer_match_goes_before_an_exact_shorter_one(link: Callable[..., list[str]]) -> None:
    assert link(graph_of("apple", "tree", "apple tree"), question("apple trees")) == ["apple tree"]


def test_of_equal_labels_the_one_of_higher_pagerank_is_meant(link: Callable[..., list[str]]) -> None:
    graph = build_graph(
        ["x1", "x2", "x3", "bank_1"],
        ["r"] * 4,
        ["bank_2", "bank_2", "bank_2", "x1"],
        source="test",
        entity_labels={"bank_1": "bank", "bank_2": "Bank"},
    )
    assert link(graph, question("the bank")) == ["bank_2"]
    assert link(graph_of("bank_1", "bank_2", labels={"bank_1": "bank", "bank_2": "bank"}), question("bank")) == [
        "bank_1"
    ]


def test_over_general_entities_are_set_aside_where_anything_else_is_found(link: Callable[..., list[str]]) -> None:
    names = [f"n{number}" for number in range(18)]
    graph = build_graph([*names, "fog"], ["r"] * 19, ["person"] * 19, source="test")
    assert link(graph, question("a person in the fog"), hub_share=0.05) == ["fog"]
    assert link(graph, question("a person"), hub_share=0.05) == ["person"]
    assert link(graph, question("a person in the fog"), hub_share=0) == ["person", "fog"]
    assert link(graph, question("in the fog", "person"), hub_share=0.05) == ["person"]


def test_the_most_specific_stay_in_order_of_mention(link: Callable[..., list[str]]) -> None:
    graph = build_graph(["a", "b", "c", "d"], ["r"] * 4, ["bird", "bird", "oak", "wren"], source="test")
    assert link(graph, question("wren, bird, oak"), max_entities=2, hub_share=0) == ["wren", "oak"]


def test_options_only_where_asked_for(link: Callable[..., list[str]]) -> None:
    asked = question("the hot", options=["dog", "a cat", "dog"])
    assert link(THINGS, asked) == []
    assert link(THINGS, asked, options=True) == ["dog", "cat"]


# -- topic entities given by the benchmark -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        ("dog", ["dog"]),
        ("St. Louis", ["St. Louis"]),
        ("st. louis", ["St. Louis"]),
        ("Hot Dogs", ["hot dog"]),
        ("42", ["42"]),
        ("dog and cat", ["dog", "cat"]),
    ],
)
def test_given_topic_entities(topic: str, expected: list[str], link: Callable[..., list[str]]) -> None:
    assert link(THINGS, question("cream", topic)) == expected


def test_given_names_go_before_labels(link: Callable[..., list[str]]) -> None:
    graph = graph_of("m.1", "m.2", labels={"m.1": "m.2"})
    assert link(graph, question("", "m.2", "m.1", "m.2")) == ["m.2", "m.1"]


def test_a_number_is_a_name_and_never_an_id(link: Callable[..., list[str]]) -> None:
    assert link(THINGS, question("the cream", "0")) == ["cream"]


def test_aliases_are_found_after_labels() -> None:
    index = LabelIndex(["Acetylsalicylic Acid", "Pain"], [0, 1], [("aspirin", 0), ("pain", 0)])
    assert index.mentions("Does aspirin help against pain?") == [0, 1]
    assert index.find("Aspirin") == 0


def test_text_is_linked_where_no_given_entity_is_in_the_graph(link: Callable[..., list[str]]) -> None:
    assert link(THINGS, question("the cream", "revolving door")) == ["cream"]


# -- nearest labels ----------------------------------------------------------------------------------------


def test_nearest_label_where_none_is_found() -> None:
    graph = graph_of("car", "banana", "boat")
    embedder = NearWords({"automobile", "car"}, {"ship", "boat"})
    linker = GraphLinker(graph, lambda: embedder)
    assert [graph.entity_name(e) for e in linker.link(question("What ship is like an automobile?"))] == [
        "boat",
        "car",
    ]
    assert linker.link(question("What is a zebra?")) == ()
    assert linker.link(question("What is it?")) == ()
    assert [graph.entity_name(e) for e in linker.link(question("banana", "ship"))] == ["boat"]
    strict = GraphLinker(graph, lambda: embedder, LinkerSettings(fallback_similarity=0.9))
    assert strict.link(question("What ship is like an automobile?")) == ()


def test_only_the_labels_of_highest_pagerank_are_compared() -> None:
    graph = build_graph(["a", "b", "c"], ["r"] * 3, ["boat", "boat", "car"], source="test")
    embedder = NearWords({"ship", "boat"}, {"automobile", "car"})
    linker = GraphLinker(graph, lambda: embedder, LinkerSettings(fallback_labels=1))
    assert [graph.entity_name(e) for e in linker.link(question("ship or automobile"))] == ["boat"]
    assert "car" not in embedder.seen


def test_a_missing_embedder_is_said_and_only_where_it_is_needed() -> None:
    def missing() -> NearWords:
        raise MissingDependencyError("The sentence embedder", "torch", extra="local")

    linker = GraphLinker(THINGS, missing)
    assert linker.link(question("a dog")) == (THINGS.entity("dog"),)
    with pytest.raises(MissingDependencyError):
        linker.link(question("a zebra"))


# -- labels ------------------------------------------------------------------------------------------------


def test_labels_without_words_are_never_found() -> None:
    index = LabelIndex(["", "  ", "?!", "dog"], range(4))
    assert index.mentions("?! dog  ") == [3]
    assert index.find("?!") is None
    assert index.find("") is None


SOME_WORDS = ["the", "of", "dog", "dogs", "hot", "saw", "saws", "see", "7", "c++", "c", "don't"]
SOME_TEXTS = st.lists(st.sampled_from(SOME_WORDS), max_size=9).map(" ".join)


def looked_up(labels: Sequence[str], order: Sequence[int], span: Sequence[str]) -> int | None:
    """The first label that has these words; else their lemmas; else has them but for inflection and article."""
    lemmas = [lemma(word) for word in span]
    words = {entity: tokens(labels[entity]) for entity in order}
    bare = {entity: own[1:] if len(own) > 1 and own[0] == "the" else own for entity, own in words.items()}
    for wanted in (span, lemmas):
        for entity, own in words.items():
            if own and own == wanted:
                return entity
    for entity, own in bare.items():
        if own and lemmas in (own, [lemma(word) for word in own]):
            return entity
    return None


@given(
    st.lists(SOME_TEXTS, max_size=8).flatmap(
        lambda labels: st.tuples(st.just(labels), st.permutations(range(len(labels))))
    ),
    SOME_TEXTS,
)
def test_mentions_and_find_against_trying_every_span(labelled: tuple[list[str], list[int]], text: str) -> None:
    labels, order = labelled
    words, expected, start = tokens(text), {}, 0
    while start < len(words):
        end = len(words)
        while end > start:
            span = words[start:end]
            told = is_content(span[0]) if len(span) == 1 else not STOP_WORDS.issuperset(span)
            entity = looked_up(labels, order, span) if told else None
            if entity is not None:
                expected[entity] = None
                break
            end -= 1
        start = max(end, start + 1)
    index = LabelIndex(labels, order)
    assert index.mentions(text) == list(expected)
    assert index.find(text) == looked_up(labels, order, words)


def test_tokens() -> None:
    assert tokens("The T-shirt’s C# don't ______ Straße, ＡＢ") == [
        "the",
        "t",
        "shirt",
        "c#",
        "don't",
        "strasse",
        "ab",
    ]


def test_lemma_leaves_names_in_er_alone() -> None:
    assert [lemma(word) for word in ("mice", "planets", "balder", "forest")] == [
        "mouse",
        "planet",
        "balder",
        "forest",
    ]


# -- real data ---------------------------------------------------------------------------------------------


@pytest.mark.data
def test_openbookqa_on_cn15k(real_data: Path) -> None:
    graph = read_cn15k(real_data / "cn15k")
    stems = [json.loads(line)["question"]["stem"] for line in (real_data / "openbookqa/test.jsonl").open()]
    linker = GraphLinker(graph, never, LinkerSettings(fallback=False))
    linked = [linker.link(question(stem)) for stem in stems]
    counts = np.array([len(entities) for entities in linked])
    assert (counts > 0).mean() > 0.92  # the words alone; the nearest labels add most of the rest
    assert 2 <= np.median(counts) <= 6
    assert counts.max() <= 10
    by_stem = {
        stem: [graph.entity_label(entity) for entity in entities]
        for stem, entities in zip(stems, linked, strict=True)
    }
    assert by_stem["An electric car runs on electricity via"] == ["electric car", "runs", "electricity"]
    assert by_stem["What is different about birth in humans and chickens?"] == ["birth", "humans", "chickens"]
    rebuilt = GraphLinker(read_cn15k(real_data / "cn15k"), never, LinkerSettings(fallback=False))
    assert [rebuilt.link(question(stem)) for stem in stems] == linked
