"""Questions in a model's words.

Each is asked for with its direction said in two ways: a statement with a gap, and the template's plain question. A
reply is checked by ``question_checks``, and a second call, which sees nothing but the new question and the template's
two, says which of these it asks the same as. What is rejected is asked for again, the reason given; after the last
attempt the template's question is taken, and counted.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import BaseModel

from kgqa_bench.contracts import MiningProgress, ModelOptions
from kgqa_bench.errors import KgqaBenchError, ModelError
from kgqa_bench.llm.types import Message
from kgqa_bench.text.verbalise import plain_label

from .content import Wording
from .model import Asked
from .question_checks import question_problem
from .wording import question_text

if TYPE_CHECKING:
    from kgqa_bench.llm.gateway import BoundLlm, Gateway

ATTEMPTS = 3
"""Questions asked for before the template's is taken."""

_HOPELESS_AFTER = 10  # calls that failed before any succeeded: the model is out of reach

_SYSTEM = (
    'You word questions for a quiz about a knowledge base. Reply with JSON only, in the form {"question": "..."}.'
)
_WORD = """Word one question in natural English that asks for what fills the gap in this statement:

{statement}

Plainly put it asks: {plain}

- Ask for what fills the gap, not for anything else: who or what stands on which side must stay as it is.
- Name {topic} exactly so. It may be an arbitrary name or number; do not explain or change it.
- Keep the word or words that say what the relation is.
- One question, which cannot be answered with yes or no, and without its answer."""

_AGAIN = "That question cannot be used: {reason} Word another one."
_REASONS = {
    "unreadable": 'The reply was not JSON of the form {"question": "..."}.',
    "no question": "It is not one question on one line, or it is too long.",
    "no topic": "It does not name the topic exactly as given.",
    "yes or no": "It can be answered with yes or no.",
    "answer given": "It names an answer.",
    "relation lost": "It does not say what the relation is.",
    "direction": "It asks for the other side of the statement.",
}

_COMPARE = """Which of two questions asks for the same as this one?

This one: {question}
A: {a}
B: {b}

A and B ask for opposite sides of one relation. Reply with JSON only: {{"same_as": "A"}} or {{"same_as": "B"}}."""


class WordingRequest(NamedTuple):
    """A question to be worded.

    Attributes:
        id: Unique; seeds the model's draws.
        relation: The relation's name.
        relation_label: Its label.
        asked: The end asked for.
        topic: How the topic is called in the files.
        answers: How all answers are called.
    """

    id: str
    relation: str
    relation_label: str
    asked: Asked
    topic: str
    answers: tuple[str, ...]


class Worded(NamedTuple):
    """A question's text, and whose words it is in."""

    text: str
    wording: Wording


class _Wording(BaseModel):
    question: str


class _Comparison(BaseModel):
    same_as: Literal["A", "B"]


def open_gateway(model: str, base_url: str | None = None, data: Path | None = None, seed: int = 0) -> Gateway:
    """A model to word questions with. Errors as for ``kgqa_bench.llm.resolve.open_model``."""
    from kgqa_bench.llm.gateway import Gateway
    from kgqa_bench.llm.limits import Limits
    from kgqa_bench.llm.resolve import model_source, open_model

    source = model_source(model, base_url)
    options = ModelOptions(base_url, data, source.concurrency, source.timeout)
    return Gateway(open_model(model, options), model=model, limits=Limits(source.concurrency), seed=seed)


def word_questions(
    requests: Sequence[WordingRequest], gateway: Gateway, progress: MiningProgress | None = None
) -> tuple[list[Worded], dict[str, Any]]:
    """``word_all`` to its end; closes the gateway."""

    async def work() -> tuple[list[Worded], dict[str, Any]]:
        try:
            return await word_all(requests, gateway, progress)
        finally:
            await gateway.close()

    return asyncio.run(work())


async def word_all(
    requests: Sequence[WordingRequest], gateway: Gateway, progress: MiningProgress | None = None
) -> tuple[list[Worded], dict[str, Any]]:
    """Word questions, as many at once as the gateway lets through.

    A text depends on its own request, the model and the gateway's seed alone, not on the others.

    Returns:
        The texts in the order of the requests, and counts: ``llm`` and ``template`` questions, ``calls`` made, and
        ``rejected`` questions by reason, ``model error`` for calls that failed.

    Raises:
        ModelError: The model answers nothing at all.
    """
    worker = _Worker(requests, gateway, progress)
    texts = await worker.work()
    wordings = Counter(text.wording for text in texts)
    counts = {
        "llm": wordings["llm"],
        "template": wordings["template"],
        "calls": worker.calls,
        "rejected": dict(sorted(worker.rejected.items())),
    }
    return texts, counts


class _Worker:
    def __init__(self, requests: Sequence[WordingRequest], gateway: Gateway, progress: MiningProgress | None) -> None:
        self.requests = requests
        self.gateway = gateway
        self.progress = progress
        self.rejected: Counter[str] = Counter()
        self.calls = 0
        self._texts: dict[int, Worded] = {}
        self._replies = 0

    async def work(self) -> list[Worded]:
        queue = iter(enumerate(self.requests))
        failures: list[KgqaBenchError] = []

        async def take(queue: Iterator[tuple[int, WordingRequest]]) -> None:
            for at, request in queue:
                if failures:
                    return
                try:
                    self._texts[at] = await self._word(request)
                except KgqaBenchError as problem:  # ends the whole; what is in work is finished first
                    failures.append(problem)
                    return
                if self.progress is not None:
                    self.progress("wording", len(self._texts), len(self.requests))

        async with asyncio.TaskGroup() as group:
            for _ in range(self.gateway.limiter.limits.concurrency):
                group.create_task(take(queue))
        if failures:
            raise failures[0]
        return [self._texts[at] for at in range(len(self.requests))]

    async def _word(self, request: WordingRequest) -> Worded:
        from kgqa_bench.llm.parsing import parse_json

        llm = self.gateway.bind(request.id)
        plain = template(request)
        messages = first_messages(request)
        for attempt in range(ATTEMPTS):
            reply = await self._ask(llm, "word_question", messages, _Wording, attempt)
            if reply is None:
                continue
            parsed = parse_json(reply, _Wording).value
            question = "" if parsed is None else parsed.question.strip()
            problem = "unreadable" if parsed is None else await self._problem(llm, request, question, attempt)
            if problem is None:
                return Worded(question, "llm")
            if problem != "model error":
                self.rejected[problem] += 1
                again = _AGAIN.format(reason=_REASONS[problem])
                messages = [
                    *first_messages(request),
                    Message(role="assistant", content=reply),
                    Message(role="user", content=again),
                ]
        return Worded(plain, "template")

    async def _problem(self, llm: BoundLlm, request: WordingRequest, question: str, attempt: int) -> str | None:
        from kgqa_bench.llm.parsing import parse_json

        problem = question_problem(question, request.relation_label, request.asked, request.topic, request.answers)
        if problem is not None:
            return problem
        # in an order that the model cannot know
        right = random.Random(f"{self.gateway.seed}|{request.id}|{attempt}|direction").choice("AB")
        pair = {right: template(request), "AB"[right == "A"]: template(request, opposite=True)}
        content = _COMPARE.format(question=question, a=pair["A"], b=pair["B"])
        messages = [Message(role="user", content=content)]
        reply = await self._ask(llm, "compare_questions", messages, _Comparison, attempt)
        if reply is None:
            return "model error"
        parsed = parse_json(reply, _Comparison).value
        return None if parsed is not None and parsed.same_as == right else "direction"

    async def _ask(
        self, llm: BoundLlm, role: str, messages: list[Message], form: type[BaseModel], attempt: int
    ) -> str | None:
        """The reply; None where the call failed, which is counted."""
        self.calls += 1
        try:
            reply = await llm.call(role, messages, schema=form.model_json_schema(), sample=attempt)
        except ModelError as problem:
            self.rejected["model error"] += 1
            least = min(_HOPELESS_AFTER, len(self.requests))
            if not self._replies and self.rejected["model error"] >= least:
                raise ModelError(
                    f"No question could be worded: {problem.message}", reason=problem.reason, hint=problem.hint
                ) from problem
            return None
        self._replies += 1
        return reply.text


def template(request: WordingRequest, opposite: bool = False) -> str:
    """The template's question, or the one that asks for the other end with the same topic."""
    asked = request.asked
    if opposite:
        asked = "tail" if asked == "head" else "head"
    return question_text(request.relation, asked, request.topic, request.relation_label)


def first_messages(request: WordingRequest) -> list[Message]:
    """The prompt for a question."""
    topic = plain_label(request.topic)
    ends = ("___", topic) if request.asked == "head" else (topic, "___")
    statement = f"{ends[0]} {plain_label(request.relation_label)} {ends[1]}"
    content = _WORD.format(statement=statement, plain=template(request), topic=topic)
    return [Message(role="system", content=_SYSTEM), Message(role="user", content=content)]
