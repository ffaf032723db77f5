"""Self-consistency (Wang et al., ICLR 2023): several chains of thought, and the answer most of them reach."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from kgqa_bench.contracts import Method
from kgqa_bench.domain import Answer, Prediction, Question
from kgqa_bench.llm.types import Reply
from kgqa_bench.toolbox import Toolbox

from ._ask import GenerationSettings, read_values
from .cot import PROMPT, reasoning_messages


class SelfConsistencySettings(GenerationSettings):
    """Settings of self-consistency. The original draws 40 samples; the DoG paper does not say how many."""

    samples: int = Field(default=5, ge=1, description="Replies drawn.")


class SelfConsistency(Method):
    """The model alone: the majority of several chains of thought.

    A reply that cannot be read has no vote; where none can, the question is ``parse_failed``. Of answers with equal
    votes the first drawn wins. A prediction's confidence is its share of all samples. On entity questions each named
    entity gets a vote of each reply that names it, and those with at least half of the readable replies are
    predicted, or the first one where none has.
    """

    Settings = SelfConsistencySettings
    prompts: ClassVar[Mapping[str, str]] = {"answer": PROMPT}

    def call_range(self) -> tuple[int, int]:
        """See ``Method.call_range``."""
        return self.settings.samples, self.settings.samples

    async def answer(self, question: Question, tools: Toolbox) -> Answer:
        """As many calls as ``samples``, all at once. See ``Method.answer``."""
        settings: SelfConsistencySettings = self.settings
        messages = reasoning_messages(question)
        calls = [
            tools.llm.call(
                "answer",
                messages,
                temperature=settings.temperature,
                max_tokens=settings.max_tokens,
                sample=sample,
            )
            for sample in range(settings.samples)
        ]
        # all are awaited even where one fails, so that every reply paid for is recorded
        results = await asyncio.gather(*calls, return_exceptions=True)
        replies: list[Reply] = []
        for result in results:
            if isinstance(result, BaseException):
                raise result
            replies.append(result)
        readings = [values for values in (read_values(reply, question) for reply in replies) if values]
        # a Counter keeps the order of first sight, and most_common is stable
        votes = Counter(value for values in readings for value in values)
        tools.trace["votes"] = dict(votes)
        raw = "\n\n".join(reply.text for reply in replies)
        if not votes:
            return Answer(raw=raw, status="parse_failed")
        ranked = votes.most_common()
        if question.kind == "entities":
            ranked = [pair for pair in ranked if 2 * pair[1] >= len(readings)] or ranked[:1]
        return Answer(tuple(Prediction(value, count / settings.samples) for value, count in ranked), raw)
