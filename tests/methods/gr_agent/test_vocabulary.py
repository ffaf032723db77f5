"""Relation paths as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.protocol import Step
from kgqa_bench.methods.gr_agent.vocabulary import UnknownStepError, Vocabulary

names = st.lists(st.text("^\\ab", min_size=1, max_size=4), min_size=1, max_size=6, unique=True)


@given(relations=names)
def test_every_step_has_a_token_of_its_own_that_reads_back(relations):
    size = len(relations)
    vocabulary = Vocabulary(build_graph(["x"] * size, relations, ["y"] * size, [1.0] * size, source="drawn"))
    steps = [Step(relation, inverse) for relation in range(size) for inverse in (False, True)]
    tokens = [vocabulary.step(step) for step in steps]
    assert len(set(tokens)) == len(tokens)
    assert [vocabulary.read_step(token) for token in tokens] == steps


def test_a_relation_called_like_an_inverse_is_escaped(make_graph):
    graph = make_graph([("a", "r", "b"), ("a", "^r", "b")])
    vocabulary = Vocabulary(graph)
    assert vocabulary.step(Step(graph.relation("^r"))) == "\\^r"
    assert vocabulary.step(Step(graph.relation("r"), True)) == "^r"
    assert vocabulary.step(Step(graph.relation("^r"), True)) == "^\\^r"


def test_paths_are_read_from_text_and_lists(make_graph):
    graph = make_graph([("a", "r", "b"), ("a", "x -> y", "b")])
    vocabulary = Vocabulary(graph)
    path = (Step(graph.relation("r")), Step(graph.relation("x -> y"), True))
    assert vocabulary.path(path) == "r -> ^x -> y"
    assert vocabulary.read_path(["r", "^x -> y"]) == path
    assert vocabulary.read_path("^x -> y") == path[1:]
    assert vocabulary.read_path("r->r") == (path[0], path[0])
    with pytest.raises(UnknownStepError, match="made up"):
        vocabulary.read_path("r -> made up")
