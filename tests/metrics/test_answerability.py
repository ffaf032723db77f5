"""What a graph has of an answer: by hand, against networkx, and on the shipped benchmark."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgqa_bench import registry
from kgqa_bench.domain import Derivation, Gold, Question, Triple
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.metrics.answerability import Answerability, answerability


def graph_of(*triples: tuple[str, str, str]) -> Graph:
    return build_graph(*(list(column) for column in zip(*triples, strict=True)), source="test")


def asked(*topics: str) -> Question:
    return Question("q", "Who?", "entities", (), topics)


@pytest.fixture
def family() -> Graph:
    return graph_of(
        ("ann", "mother", "bob"), ("bob", "father", "cid"), ("eve", "wife", "cid"), ("fay", "aunt", "gus")
    )


def test_hops_are_counted_in_either_direction(family: Graph) -> None:
    found = answerability(family, asked("ann"), Gold(("eve", "cid")))
    assert found == Answerability("all", 2, None, None, False, 3)
    assert found.facts() == {"gold_present": "all", "reachable": "2"}
    assert answerability(family, asked("ann"), Gold(("eve",))).hops == 3
    assert answerability(family, asked("ann"), Gold(("eve",)), max_hops=2).facts()["reachable"] == ">2"


def test_far_and_absent_answers(family: Graph) -> None:
    assert answerability(family, asked("ann"), Gold(("fay", "zoe"))).facts() == {
        "gold_present": "some",
        "reachable": ">3",
    }
    assert answerability(family, asked("ann"), Gold(("zoe",))).gold_present == "none"
    assert answerability(family, asked("zoe"), Gold(("ann",))).hops is None
    assert answerability(family, asked("ann"), Gold(("ann",))).hops == 0


def test_the_nearest_topic_entity_counts(family: Graph) -> None:
    assert answerability(family, asked("fay", "bob"), Gold(("cid",))).hops == 1


@pytest.mark.parametrize("question", [Question("q", "?", "boolean"), Question("q", "?", "choice")])
def test_of_options_and_truth_values_a_graph_knows_nothing(family: Graph, question: Question) -> None:
    assert answerability(family, question, Gold(("true",))) is None


def test_removed_triple(family: Graph) -> None:
    removed = Triple("ann", "grandmother", "cid")
    grounding = (Triple("ann", "mother", "bob"), Triple("bob", "father", "cid"))
    gold = Gold(("cid",), ("cid",), "cid", Derivation(1, "composition", None, removed, grounding, 2))
    # the relation's only triple is gone, and with it the relation
    found = answerability(family, asked(), gold)
    assert found == Answerability("all", 2, 2, False, True, 3)
    complete = graph_of(*(triple[:3] for triple in (*grounding, removed)))
    found = answerability(complete, asked(), gold)
    assert found.facts() == {
        "gold_present": "all", "reachable": "1", "primary_reachable": "1", "direct": "yes", "removed": "no",
    }  # fmt: skip
    hidden = complete.hide([(complete.entity("ann"), complete.relation("grandmother"), complete.entity("cid"))])
    assert answerability(hidden, asked("ann"), gold) == Answerability("all", 2, 2, False, True, 3)


triples = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 1), st.integers(0, 9)), min_size=1, max_size=14)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60)
@given(triples, st.integers(0, 9), st.sets(st.integers(0, 9), min_size=1), st.integers(0, 4))
def test_hops_agree_with_networkx(
    rows: list[tuple[int, int, int]], topic: int, gold: set[int], max_hops: int
) -> None:
    other = nx.Graph([(head, tail) for head, _, tail in rows])
    found = answerability(
        graph_of(*((f"e{head}", f"r{relation}", f"e{tail}") for head, relation, tail in rows)),
        asked(f"e{topic}"), Gold(tuple(f"e{each}" for each in sorted(gold))), max_hops,
    )  # fmt: skip
    lengths = nx.single_source_shortest_path_length(other, topic, max_hops) if topic in other else {}
    assert found.hops == min((lengths[each] for each in gold if each in lengths), default=None)
    there = [each in other for each in gold]
    assert found.gold_present == ("all" if all(there) else "some" if any(there) else "none")


def test_family_mini_on_both_graphs() -> None:
    """The builder's promise: the direct triple is gone, its grounding leads to the answer all the same."""
    source = registry.load("benchmarks", "family-mini")
    items = source().load(None, 0).items
    views = registry.load("graphs", "family-mini")
    incomplete, complete = (views(views.Settings(view=view)).load(None) for view in ("incomplete", "complete"))
    for question, gold in items:
        found = answerability(incomplete, question, gold)
        assert (found.direct, found.removed) == (False, True)
        assert found.primary_hops is not None
        assert found.primary_hops <= gold.derivation.hops
        found = answerability(complete, question, gold)
        assert (found.direct, found.removed, found.hops, found.primary_hops) == (True, False, 1, 1)
