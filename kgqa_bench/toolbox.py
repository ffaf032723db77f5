"""What a method may use while it answers one question."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kgqa_bench.domain import Gold, Item, Question
from kgqa_bench.errors import ConfigError
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.llm.types import Llm, Message, Reply
from kgqa_bench.text.types import Embedder, Linker

T = TypeVar("T")


class NoModel:
    """Stands where a method that declares ``uses_model = False`` has no model. Every call is a ConfigError."""

    takes_tools = False

    async def call(self, role: str, messages: Sequence[Message], **settings: Any) -> Reply:
        """Refuse."""
        raise self._refusal()

    async def log_likelihoods(
        self, role: str, messages: Sequence[Message], continuations: Sequence[str]
    ) -> list[float]:
        """Refuse."""
        raise self._refusal()

    @staticmethod
    def _refusal() -> ConfigError:
        return ConfigError("This method asks a model although it declares that it uses none (`uses_model`).")


NO_MODEL: Llm = NoModel()


@dataclass(slots=True)
class Toolbox:
    """The method's only way to graph, model, embedder and linker.

    Attributes:
        llm: The model, bound to this question.
        seed: Seeds ``rng``: run seed, question id and repeat.
        trace: Free, JSON-able facts about how the question was answered (rounds, K, hops, …).
        gold: Only for a method that declares ``uses_gold``; None for every other.
    """

    llm: Llm
    seed: str
    load_graph: Callable[[], Graph] | None = None
    load_embedder: Callable[[], Embedder] | None = None
    load_linker: Callable[[], Linker] | None = None
    load_exemplars: Callable[[], Sequence[Item]] | None = None
    trace: dict[str, Any] = field(default_factory=dict)
    gold: Gold | None = None
    _rng: random.Random | None = None

    @property
    def rng(self) -> random.Random:
        """Random numbers of this question alone; the same in every run with the same seed."""
        if self._rng is None:
            self._rng = random.Random(self.seed)
        return self._rng

    @property
    def graph(self) -> Graph:
        """The knowledge graph. ConfigError where the run has none."""
        return _have(self.load_graph, "a graph", "--graph NAME or --graph FILE")()

    @property
    def embedder(self) -> Embedder:
        """The sentence embedder, loaded on first use."""
        return _have(self.load_embedder, "an embedder", "the `local` extra")()

    def link(self, question: Question) -> tuple[int, ...]:
        """Topic entities of the question as graph ids: those the benchmark gives, else those linked."""
        return _have(self.load_linker, "a linker", "--graph NAME")().link(question)

    @property
    def exemplars(self) -> Sequence[Item]:
        """Solved questions outside the evaluated split, in a seeded order, for few-shot prompts."""
        return _have(self.load_exemplars, "solved examples", "a benchmark with a train split")()


def _have(value: Callable[[], T] | None, what: str, remedy: str) -> Callable[[], T]:
    if value is None:
        raise ConfigError(f"This method needs {what}, and the run has none.", hint=f"Give {remedy}.")
    return value
