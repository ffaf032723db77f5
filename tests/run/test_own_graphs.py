"""Questions that bring their own graph."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Mapping
from typing import Any

import pytest

from kgqa_bench.domain import Question
from kgqa_bench.errors import ConfigError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.run.config import RunConfig
from kgqa_bench.run.resources import Resources


class TwoGraphs:
    """A film for each question."""

    fingerprint = "f"
    facts: Mapping[str, Any] = {"questions": 2}

    def __init__(self) -> None:
        self.loaded: list[str] = []

    def load(self, question_id: str) -> Graph:
        self.loaded.append(question_id)
        return build_graph([question_id], ["directed_by"], ["Ann Lee"], source="test")


def question(name: str) -> Question:
    return Question(name, f"who directed {name}", "entities", topic_entities=(name,))


def test_each_question_has_its_own_and_it_goes_with_the_question() -> None:
    graphs = TwoGraphs()
    resources = Resources(RunConfig(method="m", benchmark="b"), "b", None, graphs)
    first, second = (resources.of(question(name)) for name in ("Film 1", "Film 2"))
    assert first.load_graph().find_entity("Film 1") is not None
    assert first.load_graph() is first.load_graph()
    assert first.load_linker() is first.load_linker()
    assert first.load_linker().link(question("Film 1")) == (first.load_graph().entity("Film 1"),)
    assert second.load_graph().find_entity("Film 1") is None
    assert graphs.loaded == ["Film 1", "Film 2"]
    seen = weakref.ref(first.load_graph())
    del first
    gc.collect()
    assert seen() is None


def test_a_graph_that_the_run_names_is_used_for_all(tmp_path: Any) -> None:
    path = tmp_path / "graph.tsv"
    path.write_text("Film 3\tdirected_by\tAnn Lee\n")
    graphs = TwoGraphs()
    resources = Resources(RunConfig(method="m", benchmark="b", graph=str(path)), "b", None, graphs)
    one, two = (resources.of(question(name)) for name in ("Film 1", "Film 3"))
    assert one.load_graph() is two.load_graph() is resources.load_graph()
    assert one.load_linker() is two.load_linker()
    assert not graphs.loaded and resources.own_graphs is None


def test_neither() -> None:
    resources = Resources(RunConfig(method="m", benchmark="b"), "b", None)
    with pytest.raises(ConfigError, match="implies none"):
        resources.of(question("q")).load_graph()
