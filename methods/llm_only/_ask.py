"""What the four share: settings, and a reply turned into an answer."""

from __future__ import annotations

from pydantic import Field

from kgqa_bench.contracts import PluginSettings
from kgqa_bench.domain import Answer, Prediction, Question
from kgqa_bench.llm.types import Reply
from kgqa_bench.text.choices import parse_answers


class GenerationSettings(PluginSettings):
    """How replies are drawn; the defaults are the DoG paper's."""

    temperature: float = Field(default=0.5, ge=0, description="Sampling temperature.")
    max_tokens: int = Field(default=1024, ge=1, description="Most tokens of a reply.")


def read_values(reply: Reply, question: Question) -> tuple[str, ...]:
    """The answers a reply gives, () where none can be read; the outcome is recorded with the call."""
    values, outcome = parse_answers(reply.text, question)
    reply.parsed(outcome)
    return values


def read_answer(reply: Reply, question: Question) -> Answer:
    """A reply as an answer."""
    values = read_values(reply, question)
    if not values:
        return Answer(raw=reply.text, status="parse_failed")
    return Answer(tuple(map(Prediction, values)), reply.text)
