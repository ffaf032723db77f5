"""The most frequent answer: what a method scores that never looks at the question."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from kgqa_bench.contracts import Method
from kgqa_bench.domain import Answer, Prediction, Question, QuestionKind
from kgqa_bench.toolbox import Toolbox


class Majority(Method):
    """Always the option letter or truth value most frequent among the solved examples; no model, no graph.

    Of equally frequent ones the first in the question's order wins.
    """

    uses_model = False
    kinds: ClassVar[frozenset[QuestionKind]] = frozenset({"choice", "boolean"})

    async def answer(self, question: Question, tools: Toolbox) -> Answer:
        """No call. See ``Method.answer``."""
        counts = Counter(
            value for item in tools.exemplars if item.question.kind == question.kind for value in item.gold.answers
        )
        return Answer(tuple(map(Prediction, sorted(question.values, key=lambda value: -counts[value]))))
