"""What methods share in a run: loaded when first asked for, once, by whichever thread asks first.

Methods get at these loaders, so nothing here may lead to the evaluated questions and their gold answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING

from kgqa_bench import registry
from kgqa_bench.domain import Item, Question
from kgqa_bench.errors import ConfigError
from kgqa_bench.run.config import RunConfig
from kgqa_bench.storage import data_folder

if TYPE_CHECKING:
    from kgqa_bench.contracts import OwnGraphs
    from kgqa_bench.graph.protocol import Graph
    from kgqa_bench.text.linking import LinkerSettings
    from kgqa_bench.text.types import Embedder, Linker


class Resources:
    """Graph, embedder, linker and solved examples of a run.

    Args:
        config: The run's configuration, its graph filled in.
        benchmark_name: For messages.
        exemplars: Loads solved questions; None where the benchmark has none.
        graphs: The graphs of the questions, which are used unless the run names a graph for all.
    """

    def __init__(
        self,
        config: RunConfig,
        benchmark_name: str,
        exemplars: Callable[[], Sequence[Item]] | None,
        graphs: OwnGraphs | None = None,
    ) -> None:
        self._config = config
        self._benchmark_name = benchmark_name
        self._solved = exemplars
        self._lock = RLock()
        self.own_graphs = graphs if config.graph is None else None

    def check_settings(self) -> None:
        """ConfigError where a setting of the linker is wrong: told before anything is loaded."""
        if self._config.scoped("linker"):
            _ = self._linker_settings

    def of(self, question: Question) -> QuestionResources:
        """Graph and linker that a question is answered with."""
        return QuestionResources(self, question.id)

    def linker_over(self, graph: Graph) -> Linker:
        """A new linker over a graph, as the run sets linkers up."""
        from kgqa_bench.text.linking import GraphLinker

        with self._lock:
            return GraphLinker(graph, self.load_embedder, self._linker_settings)

    def load_graph(self) -> Graph:
        """The run's one graph. ConfigError where neither the run nor its benchmark names one."""
        with self._lock:
            return self._graph

    def load_embedder(self) -> Embedder:
        """The sentence embedder."""
        with self._lock:
            return self._embedder

    def load_linker(self) -> Linker:
        """The entity linker over the run's graph."""
        with self._lock:
            return self._linker

    def load_exemplars(self) -> Sequence[Item]:
        """Solved questions outside the evaluated ones. ConfigError where the benchmark has none."""
        with self._lock:
            return self._exemplars

    @cached_property
    def _graph(self) -> Graph:
        from kgqa_bench.graph.open import open_graph

        if self._config.graph is None:
            raise ConfigError(
                f"{self._config.method} works on a graph, and {self._benchmark_name} implies none.",
                hint="Give --graph NAME or --graph FILE; `kgqa-bench list graphs` shows the names.",
            )
        return open_graph(self._config.graph, data_folder(self._config.data), self._config.scoped("graph"))

    @cached_property
    def _embedder(self) -> Embedder:
        from kgqa_bench.text.embedder import load_embedder

        return load_embedder(data=data_folder(self._config.data))

    @cached_property
    def _linker(self) -> Linker:
        return self.linker_over(self.load_graph())

    @cached_property
    def _linker_settings(self) -> LinkerSettings:
        from kgqa_bench.text.linking import LinkerSettings

        return registry.checked_settings("the linker", LinkerSettings, self._config.scoped("linker"))

    @cached_property
    def _exemplars(self) -> Sequence[Item]:
        if self._solved is None:
            raise ConfigError(
                f"{self._config.method} needs solved examples, and {self._benchmark_name} has none.",
                hint='In a question file, mark some rows with "exemplar": true.',
            )
        return self._solved()


class QuestionResources:
    """Graph and linker of one question: those of the run, or its own, which go when this goes."""

    def __init__(self, shared: Resources, question_id: str) -> None:
        self._shared = shared
        self._question_id = question_id
        self._lock = RLock()

    def load_graph(self) -> Graph:
        """The graph. ConfigError where neither run nor benchmark nor question has one."""
        if self._shared.own_graphs is None:
            return self._shared.load_graph()
        with self._lock:
            return self._graph

    def load_linker(self) -> Linker:
        """The entity linker over that graph."""
        if self._shared.own_graphs is None:
            return self._shared.load_linker()
        with self._lock:
            return self._linker

    @cached_property
    def _graph(self) -> Graph:
        assert self._shared.own_graphs is not None
        return self._shared.own_graphs.load(self._question_id)

    @cached_property
    def _linker(self) -> Linker:
        return self._shared.linker_over(self.load_graph())
