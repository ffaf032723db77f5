"""Few-shot: solved questions in front, as earlier turns of the chat."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import ClassVar

from pydantic import Field

from kgqa_bench.contracts import Method
from kgqa_bench.domain import Answer, Item, Question
from kgqa_bench.errors import ConfigError
from kgqa_bench.llm.types import Message
from kgqa_bench.text.question import answer_form, format_answer, format_question
from kgqa_bench.toolbox import Toolbox

from ._ask import GenerationSettings, read_answer


class FewShotSettings(GenerationSettings):
    """Settings of few-shot answering."""

    shots: int = Field(
        default=5,
        ge=1,
        description="Solved questions shown: the first in the benchmark's seeded order of the question's kind.",
    )


class FewShot(Method):
    """The model alone, shown a few solved questions of the same benchmark."""

    Settings = FewShotSettings
    prompts: ClassVar[Mapping[str, str]] = {"answer": "Answer the question.\n\n{question}\n\n{form}"}

    def call_range(self) -> tuple[int, int]:
        """See ``Method.call_range``."""
        return 1, 1

    async def answer(self, question: Question, tools: Toolbox) -> Answer:
        """One call. See ``Method.answer``."""
        settings: FewShotSettings = self.settings
        messages: list[Message] = []
        for solved, gold in self._shots(question, tools):
            messages.append({"role": "user", "content": self._prompt(solved)})
            messages.append({"role": "assistant", "content": format_answer(solved, gold.answers)})
        messages.append({"role": "user", "content": self._prompt(question)})
        reply = await tools.llm.call(
            "answer", messages, temperature=settings.temperature, max_tokens=settings.max_tokens
        )
        return read_answer(reply, question)

    def _prompt(self, question: Question) -> str:
        return self.prompts["answer"].format(question=format_question(question), form=answer_form(question))

    def _shots(self, question: Question, tools: Toolbox) -> list[Item]:
        wanted = self.settings.shots
        same_kind = (item for item in tools.exemplars if item.question.kind == question.kind)
        shots = list(islice(same_kind, wanted))
        if len(shots) < wanted:
            raise ConfigError(
                f"{wanted} solved {question.kind} questions are asked for, and the benchmark has {len(shots)}.",
                hint="Set shots=N to fewer, or mark more exemplars.",
            )
        return shots
