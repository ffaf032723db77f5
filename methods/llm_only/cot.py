"""Chain of thought (Wei et al., NeurIPS 2022), in its zero-shot form (Kojima et al., NeurIPS 2022).

The benchmarks have no worked reasoning to show, so the model is only told to reason first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kgqa_bench.contracts import Method
from kgqa_bench.domain import Answer, Question
from kgqa_bench.llm.types import Message
from kgqa_bench.text.question import answer_form, format_question
from kgqa_bench.toolbox import Toolbox

from ._ask import GenerationSettings, read_answer

PROMPT = "Answer the question. Reason step by step before you decide, in a few sentences.\n\n{question}\n\n{form}"


def reasoning_messages(question: Question) -> list[Message]:
    """The chat that asks for reasoning and then an answer."""
    prompt = PROMPT.format(question=format_question(question), form=answer_form(question))
    return [{"role": "user", "content": prompt}]


class ChainOfThought(Method):
    """The model alone, told to reason step by step."""

    Settings = GenerationSettings
    prompts: ClassVar[Mapping[str, str]] = {"answer": PROMPT}

    def call_range(self) -> tuple[int, int]:
        """See ``Method.call_range``."""
        return 1, 1

    async def answer(self, question: Question, tools: Toolbox) -> Answer:
        """One call. See ``Method.answer``."""
        settings: GenerationSettings = self.settings
        reply = await tools.llm.call(
            "answer",
            reasoning_messages(question),
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
        )
        return read_answer(reply, question)
