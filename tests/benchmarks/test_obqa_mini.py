"""obqa-mini is whole, and neither its options nor its graph give the answers away (README.md beside the data)."""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom

from kgqa_bench import registry
from kgqa_bench.benchmarks.obqa_mini import FOLDER
from kgqa_bench.contracts import BenchmarkData
from kgqa_bench.domain import Item
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.text.linking import GraphLinker
from kgqa_bench.text.words import STOP_WORDS, tokens
from kgqa_bench.toolbox import NO_MODEL, Toolbox

CONCEPTNET = {
    "Antonym",
    "AtLocation",
    "CapableOf",
    "Causes",
    "CausesDesire",
    "CreatedBy",
    "DefinedAs",
    "DerivedFrom",
    "Desires",
    "DistinctFrom",
    "Entails",
    "EtymologicallyRelatedTo",
    "FormOf",
    "HasA",
    "HasContext",
    "HasFirstSubevent",
    "HasLastSubevent",
    "HasPrerequisite",
    "HasProperty",
    "HasSubevent",
    "InstanceOf",
    "IsA",
    "LocatedNear",
    "MadeOf",
    "MannerOf",
    "MotivatedByGoal",
    "NotCapableOf",
    "NotDesires",
    "NotHasProperty",
    "ObstructedBy",
    "PartOf",
    "ReceivesAction",
    "RelatedTo",
    "SimilarTo",
    "SymbolOf",
    "Synonym",
    "UsedFor",
}


@pytest.fixture(scope="module")
def data() -> BenchmarkData:
    return registry.create("benchmarks", "obqa-mini").load(None, 0)


@pytest.fixture(scope="module")
def items(data: BenchmarkData) -> tuple[Item, ...]:
    return data.items


@pytest.fixture(scope="module")
def graph() -> Graph:
    return registry.create("graphs", "obqa-mini").load(None)


@pytest.fixture(scope="module")
def rows() -> list[list[str]]:
    return [line.split("\t") for line in (FOLDER / "graph.tsv").read_text().splitlines()]


def names(item: Item) -> list[str]:
    return [option.text.replace(" ", "_") for option in item.question.options]


def right(item: Item) -> int:
    return [option.label for option in item.question.options].index(item.gold.answers[0])


def accuracy(items: Sequence[Item], score: Callable[[Item], Sequence[float]]) -> float:
    """Expected accuracy of taking the best option, drawing where several are best."""
    total = 0.0
    for item in items:
        scores = score(item)
        best = [place for place, value in enumerate(scores) if value >= max(scores) - 1e-9]
        total += (right(item) in best) / len(best)
    return total / len(items)


def assert_chance(value: float, size: int) -> None:
    low, high = binom.ppf(0.025, size, 0.25) / size, binom.ppf(0.975, size, 0.25) / size
    assert low <= value <= high


def wilson_lower(correct: int, size: int) -> float:
    share, z = correct / size, 1.959964
    spread = z * math.sqrt(share * (1 - share) / size + z * z / (4 * size * size))
    return (share + z * z / (2 * size) - spread) / (1 + z * z / size)


# -- whole ---------------------------------------------------------------------------------------------------------


def test_there_are_enough_four_option_questions(data: BenchmarkData) -> None:
    assert len(data.items) >= 60
    assert data.exemplars is not None
    solved = data.exemplars()
    assert len(solved) >= 12
    everything = [*data.items, *solved]
    assert {item.question.kind for item in everything} == {"choice"}
    assert {tuple(option.label for option in item.question.options) for item in everything} == {tuple("ABCD")}
    assert len({item.question.text for item in everything}) == len(everything)


def test_solved_questions_come_in_an_order_drawn_by_the_seed() -> None:
    def order(seed: int) -> list[str]:
        loaded = registry.create("benchmarks", "obqa_mini").load(None, seed)
        assert loaded.exemplars is not None
        return [item.question.id for item in loaded.exemplars()]

    assert order(1) == order(1) != order(2)
    assert sorted(order(1)) == sorted(order(2))


def test_answers_are_balanced_over_the_letters_and_in_no_simple_order(items: tuple[Item, ...]) -> None:
    letters = [item.gold.answers[0] for item in items]
    counts = Counter(letters)
    assert max(counts.values()) - min(counts.values()) <= 1
    assert_chance(sum(first == second for first, second in pairwise(letters)) / (len(letters) - 1), len(letters) - 1)


def test_every_option_is_an_entity_that_occurs_in_one_question_only(data: BenchmarkData, graph: Graph) -> None:
    assert data.exemplars is not None
    options = [(option.text, name) for item in [*data.items, *data.exemplars()] for option, name in _options(item)]
    assert len(set(options)) == len(options)
    for text, name in options:
        assert graph.entity_label(graph.entity(name)) == text


def _options(item: Item) -> Iterable[tuple[object, str]]:
    return zip(item.question.options, names(item), strict=True)


def test_no_question_names_one_of_its_options(items: tuple[Item, ...]) -> None:
    for item in items:
        for option in item.question.options:
            assert not re.search(rf"\b{re.escape(option.text)}s?\b", item.question.text.lower())


def test_the_graph_is_large_and_clean(rows: list[list[str]], graph: Graph) -> None:
    assert graph.num_triples == len(rows) >= 1500
    assert len({(head, relation, tail) for head, relation, tail, _ in rows}) == len(rows)
    assert rows == sorted(rows)
    for head, _, tail, confidence in rows:
        assert head != tail
        assert re.fullmatch(r"[a-z][a-z0-9_]*", head) and re.fullmatch(r"[a-z][a-z0-9_]*", tail)
        assert 0 < float(confidence) <= 1


def test_its_relations_are_conceptnets_and_read_as_words(rows: list[list[str]], graph: Graph) -> None:
    used = {relation for _, relation, _, _ in rows}
    assert used <= CONCEPTNET
    labels = {relation: graph.relation_label(graph.relation(relation)) for relation in used}
    assert all(re.fullmatch("[a-z ]+", label) for label in labels.values())
    assert labels["AtLocation"] == "is found at"
    assert labels["ReceivesAction"] == "can receive"
    assert graph.entity_label(graph.entity("polar_bear")) == "polar bear"


def test_confidences_are_spread(rows: list[list[str]]) -> None:
    values = np.array([float(row[3]) for row in rows])
    assert values.min() < 0.2
    assert values.max() > 0.95
    for low, high in [(0.0, 0.3), (0.3, 0.6), (0.6, 0.8), (0.8, 1.01)]:
        assert ((values >= low) & (values < high)).mean() > 0.02


# -- not rigged: degrees -------------------------------------------------------------------------------------------


def test_each_wrong_option_has_at_least_as_many_edges(items: tuple[Item, ...], rows: list[list[str]]) -> None:
    degree = Counter(end for head, _, tail, _ in rows for end in (head, tail))
    for item in items:
        degrees = [degree[name] for name in names(item)]
        assert min(degrees) >= degrees[right(item)] > 0


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("ends", [(0, 2), (0,), (2,)])
def test_degree_only_readers_are_at_chance(
    items: tuple[Item, ...], rows: list[list[str]], ends: tuple[int, ...], sign: int
) -> None:
    degree = Counter(row[end] for row in rows for end in ends)
    assert_chance(accuracy(items, lambda item: [sign * degree[name] for name in names(item)]), len(items))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_reader_of_confidences_alone_is_at_chance(
    items: tuple[Item, ...], rows: list[list[str]], sign: int
) -> None:
    values: dict[str, list[float]] = {}
    for head, _, tail, confidence in rows:
        for end in (head, tail):
            values.setdefault(end, []).append(float(confidence))
    score = {name: sign * float(np.mean(found)) for name, found in values.items()}
    assert_chance(accuracy(items, lambda item: [score[name] for name in names(item)]), len(items))


def test_a_reader_of_relations_alone_is_at_chance(items: tuple[Item, ...], rows: list[list[str]]) -> None:
    """How often each relation leaves and reaches an option, by a regression that has seen all other questions."""
    from sklearn.linear_model import LogisticRegression

    columns = sorted({(place, row[1]) for row in rows for place in (0, 2)})
    counts = Counter((row[place], place, row[1]) for row in rows for place in (0, 2))
    features = np.array([[counts[name, *column] for column in columns] for item in items for name in names(item)])
    value = _leave_one_question_out(
        items,
        lambda train, test: (
            LogisticRegression(C=0.1, class_weight="balanced", max_iter=2000)
            .fit(features[train], _is_right(items)[train])
            .decision_function(features[test])
        ),
    )
    assert_chance(value, len(items))


# -- not rigged: touching question and answer ----------------------------------------------------------------------


def test_at_least_half_of_the_quadruples_end_at_no_right_option(
    items: tuple[Item, ...], rows: list[list[str]]
) -> None:
    answers = {names(item)[right(item)] for item in items}
    free = [row for row in rows if row[0] not in answers and row[2] not in answers]
    assert len(free) >= len(rows) / 2


def test_at_least_half_of_the_quadruples_end_at_no_right_option_nor_at_a_concept_of_a_question(
    items: tuple[Item, ...], rows: list[list[str]], graph: Graph
) -> None:
    answers = {names(item)[right(item)] for item in items}
    concepts = {name for item in items for name in _named(item.question.text, graph)}
    free = [row for row in rows if not {row[0], row[2]} & (answers | concepts)]
    assert len(free) >= len(rows) / 2


def _named(text: str, graph: Graph) -> set[str]:
    """Entities whose label stands in the text, plural s apart; longest match first."""
    words, found, place = tokens(text), set(), 0
    while place < len(words):
        for size in (4, 3, 2, 1):
            phrase = words[place : place + size]
            forms = ["_".join(phrase), "_".join([*phrase[:-1], phrase[-1].removesuffix("s")])]
            known = [form for form in forms if graph.find_entity(form) is not None]
            if len(phrase) == size and known and not set(phrase) <= STOP_WORDS:
                found.add(known[0])
                place += size
                break
        else:
            place += 1
    return found


# -- not rigged: options -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    "property_", ["characters", "words", "frequency_in_options", "frequency_in_graph", "alphabet"]
)
def test_options_only_readers_are_at_chance(
    items: tuple[Item, ...], rows: list[list[str]], property_: str, sign: int
) -> None:
    in_options = Counter(word for item in items for name in names(item) for word in name.split("_"))
    in_graph = Counter(word for row in rows for end in (row[0], row[2]) for word in end.split("_"))
    score: dict[str, Callable[[str], float]] = {
        "characters": len,
        "words": lambda name: len(name.split("_")),
        "frequency_in_options": lambda name: max(in_options[word] for word in name.split("_")),
        "frequency_in_graph": lambda name: float(np.mean([in_graph[word] for word in name.split("_")])),
        "alphabet": lambda name: -float(sum(ord(letter) * 256.0**-place for place, letter in enumerate(name))),
    }
    value = accuracy(items, lambda item: [sign * score[property_](name) for name in names(item)])
    assert_chance(value, len(items))


@pytest.mark.parametrize(("analyzer", "size"), [("word", (1, 2)), ("char_wb", (2, 4))])
def test_a_reader_of_option_texts_alone_is_at_chance(
    items: tuple[Item, ...], analyzer: str, size: tuple[int, int]
) -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    texts = np.array([option.text for item in items for option in item.question.options])

    def predict(train: np.ndarray, test: np.ndarray) -> np.ndarray:
        vectors = TfidfVectorizer(analyzer=analyzer, ngram_range=size).fit(texts[train])
        model = LogisticRegression(class_weight="balanced")
        model.fit(vectors.transform(texts[train]), _is_right(items)[train])
        return model.decision_function(vectors.transform(texts[test]))

    assert_chance(_leave_one_question_out(items, predict), len(items))


def _is_right(items: Sequence[Item]) -> np.ndarray:
    return np.array([place == right(item) for item in items for place in range(4)])


def _leave_one_question_out(items: Sequence[Item], predict: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> float:
    question = np.repeat(np.arange(len(items)), 4)
    scores = {
        item.question.id: predict(question != place, question == place).tolist() for place, item in enumerate(items)
    }
    return accuracy(items, lambda item: scores[item.question.id])


# -- answerable in part ---------------------------------------------------------------------------------------------


@pytest.mark.local
@pytest.mark.parametrize("scorer", ["tfidf", "embedding"])
def test_retrieval_alone_beats_chance_and_does_not_solve_it(
    items: tuple[Item, ...], graph: Graph, scorer: str
) -> None:
    pytest.importorskip("sentence_transformers")
    from kgqa_bench.text.embedder import load_embedder

    embedder = load_embedder(data=None)
    linker = GraphLinker(graph, lambda: embedder)
    method = registry.create("methods", "retrieval-only", {"scorer": scorer})
    correct = 0
    for item in items:
        tools = Toolbox(
            llm=NO_MODEL,
            seed="",
            load_graph=lambda: graph,
            load_embedder=lambda: embedder,
            load_linker=lambda: linker,
        )
        predictions = asyncio.run(method.answer(item.question, tools)).predictions
        correct += bool(predictions) and predictions[0].value in item.gold.answers
    assert wilson_lower(correct, len(items)) > 0.35
    assert correct / len(items) < 0.90
