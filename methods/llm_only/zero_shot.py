"""Zero-shot: the question, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from kgqa_bench.contracts import Method
from kgqa_bench.domain import Answer, Prediction, Question
from kgqa_bench.errors import ConfigError
from kgqa_bench.llm.types import Message
from kgqa_bench.text.question import answer_form, format_question
from kgqa_bench.toolbox import Toolbox

from ._ask import GenerationSettings, read_answer


class ZeroShotSettings(GenerationSettings):
    """Settings of zero-shot answering.

    By likelihood, small models are not judged by how well they keep to a form.
    """

    answer_by: Literal["generate", "likelihood"] = Field(
        default="generate",
        description="`generate` reads the model's reply; `likelihood` lets the model score the text of each option "
        "(or true / false) as the answer to the bare question, by mean log-likelihood per token.",
    )


class ZeroShot(Method):
    """The model alone: the question and its options, no example, no graph."""

    Settings = ZeroShotSettings
    prompts: ClassVar[Mapping[str, str]] = {
        "answer": "Answer the question.\n\n{question}\n\n{form}",
        "score": "Answer the question briefly.\n\n{question}",
    }

    def call_range(self) -> tuple[int, int]:
        """See ``Method.call_range``."""
        return 1, 1

    async def answer(self, question: Question, tools: Toolbox) -> Answer:
        """One call. See ``Method.answer``."""
        settings: ZeroShotSettings = self.settings
        if settings.answer_by == "likelihood":
            return await self._score(question, tools)
        prompt = self.prompts["answer"].format(question=format_question(question), form=answer_form(question))
        reply = await tools.llm.call(
            "answer",
            [{"role": "user", "content": prompt}],
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
        )
        return read_answer(reply, question)

    async def _score(self, question: Question, tools: Toolbox) -> Answer:
        if question.kind == "entities":
            raise ConfigError(
                "Answering by likelihood needs options, and an entity question has none.",
                hint="Set answer_by=generate.",
            )
        texts = [option.text for option in question.options] if question.options else list(question.values)
        prompt = self.prompts["score"].format(question=format_question(question, options=question.kind == "boolean"))
        messages: list[Message] = [{"role": "user", "content": prompt}]
        scores = await tools.llm.log_likelihoods("score", messages, texts)
        # sorted is stable: of options with equal scores the first wins
        ranked = sorted(zip(question.values, scores, strict=True), key=lambda pair: -pair[1])
        tools.trace["log_likelihoods"] = dict(zip(question.values, scores, strict=True))
        return Answer(tuple(Prediction(value) for value, _ in ranked))
