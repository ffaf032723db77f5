"""An example of a method and a benchmark that live outside kgqa-bench."""

from __future__ import annotations

from pathlib import Path

from kgqa_bench.contracts import Benchmark, BenchmarkData, Method, PluginSettings
from kgqa_bench.domain import Answer, Gold, Item, Option, Prediction, Question
from kgqa_bench.toolbox import Toolbox


class FirstOptionSettings(PluginSettings):
    """Settings of ``FirstOption``.

    Attributes:
        position: Which option is always chosen, counted from 0.
    """

    position: int = 0


class FirstOption(Method):
    """Always chooses the option at one position."""

    Settings = FirstOptionSettings
    uses_model = False
    kinds = frozenset({"choice"})

    async def answer(self, question: Question, tools: Toolbox) -> Answer:
        """Choose without looking."""
        return Answer((Prediction(question.options[self.settings.position].label),))


class LettersSettings(PluginSettings):
    """Settings of ``Letters``.

    Attributes:
        size: Number of questions.
    """

    size: int = 4


class Letters(Benchmark):
    """Which letter comes first? The right option is A in every second question."""

    Settings = LettersSettings

    def load(self, data: Path | None, seed: int) -> BenchmarkData:
        """Make the questions."""
        options = (Option("A", "a"), Option("B", "b"))
        items = tuple(
            Item(Question(f"letters-{i}", "Which letter?", "choice", options), Gold(("AB"[i % 2],)))
            for i in range(self.settings.size)
        )
        return BenchmarkData(items)
