"""From question to record: hands each question to the method and writes down what came of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from time import monotonic, perf_counter
from typing import Any

import orjson

from kgqa_bench.contracts import Metric
from kgqa_bench.domain import Answer, Call, Gold, Item, Record
from kgqa_bench.errors import (
    BudgetExceededError,
    ConfigError,
    DataError,
    DataNotFoundError,
    KgqaBenchError,
    MissingDependencyError,
    ModelError,
    PluginError,
    StorageError,
)
from kgqa_bench.llm.gateway import BoundLlm, Gateway
from kgqa_bench.run.assemble import Plan
from kgqa_bench.run.directory import RunDirectory
from kgqa_bench.run.progress import Progress
from kgqa_bench.toolbox import NO_MODEL, Toolbox

log = logging.getLogger(__name__)

# After so many failures without a single answer the model is taken to be out of reach and the run stops.
HOPELESS_AFTER = 10
_HOPELESS_REASONS = frozenset({"refused", "unavailable", "connection"})
# What would fail every question alike ends the run instead, which can then be continued.
_NO_QUESTIONS_FAULT = (
    BudgetExceededError,
    ConfigError,
    DataError,
    DataNotFoundError,
    MissingDependencyError,
    PluginError,
    StorageError,
)


class Runner:
    """Works through the questions of a plan with bounded concurrency.

    Args:
        plan: What to run.
        gateway: The model; None for a method that asks none.
        directory: Where records and calls are appended.
        metric: Scores each answer.
        progress: Told of every record.
        session: Number of this part of the run, counted from 0.
    """

    def __init__(
        self,
        plan: Plan,
        gateway: Gateway | None,
        directory: RunDirectory,
        metric: Metric,
        progress: Progress,
        session: int = 0,
    ) -> None:
        self._plan = plan
        self._gateway = gateway
        self._directory = directory
        self._metric = metric
        self._progress = progress
        self._session = session
        self._started = monotonic()
        self._answered = 0
        self._failed = 0

    async def run(self, pending: Iterable[tuple[Item, int]]) -> None:
        """Answer all ``pending`` (question, repeat) pairs.

        Raises:
            BudgetExceededError: The budget is used up; questions in work were finished or dropped.
            ModelError: The model answers nothing at all.
            StorageError: A row cannot be written.
        """
        queue = iter(pending)
        failures: list[KgqaBenchError] = []

        async def work(queue: Iterator[tuple[Item, int]]) -> None:
            for item, repeat in queue:
                if failures:
                    return
                try:
                    await self._one(item, repeat)
                except KgqaBenchError as problem:  # ends the run; what is in work is finished first
                    failures.append(problem)
                    return

        async with asyncio.TaskGroup() as group:
            for _ in range(self._plan.config.concurrency or 1):
                group.create_task(work(queue))
        if failures:
            raise failures[0]

    async def _one(self, item: Item, repeat: int) -> None:
        question, gold = item
        llm = self._gateway.bind(question.id, repeat) if self._gateway is not None else None
        tools = self._toolbox(item, repeat, llm)
        started = perf_counter()
        error: tuple[str, str] | None = None
        try:
            answer = await self._plan.method.answer(question, tools)
        except ModelError as problem:
            answer, error = Answer(status="error"), (problem.reason, str(problem))
        except _NO_QUESTIONS_FAULT:
            raise
        except Exception as problem:  # a method's defect must cost its own question only
            log.exception("%s failed on question %s", self._plan.method_name, question.id)
            answer, error = Answer(status="error"), ("method_error", f"{type(problem).__name__}: {problem}")
        record = Record(
            question_id=question.id,
            repeat=repeat,
            answer=answer,
            gold=gold,
            score=self._metric.score(gold, answer) if error is None else 0.0,
            calls=llm.calls if llm is not None else (),
            seconds=perf_counter() - started,
            error=error,
            trace=tools.trace,
        )
        self._directory.records.append(self._row(record))
        self._progress.record(record)
        self._count(error)

    def _toolbox(self, item: Item, repeat: int, llm: BoundLlm | None) -> Toolbox:
        method, resources = self._plan.method, self._plan.resources
        own = resources.of(item.question)
        return Toolbox(
            llm=llm or NO_MODEL,
            seed=f"{self._plan.config.seed}/{item.question.id}/{repeat}",
            load_graph=own.load_graph if method.uses_graph else None,
            load_embedder=resources.load_embedder,
            load_linker=own.load_linker if method.uses_graph else None,
            load_exemplars=resources.load_exemplars,
            gold=item.gold if method.uses_gold else None,
        )

    def _row(self, record: Record) -> bytes:
        answer = record.answer
        row = {
            "question_id": record.question_id,
            "repeat": record.repeat,
            "status": answer.status,
            "predictions": [(prediction.value, prediction.confidence) for prediction in answer.predictions],
            "raw": answer.raw,
            "evidence": [[tuple(triple) for triple in path] for path in answer.evidence],
            **_gold_fields(record.gold),
            "score": record.score,
            "calls": [{"role": call.role, "key": call.key, "parse": call.parse} for call in record.calls],
            "prompt_tokens": _total(call.prompt_tokens for call in record.calls),
            "completion_tokens": _total(call.completion_tokens for call in record.calls),
            "cost_usd": _total(call.cost_usd for call in record.calls),
            "seconds": record.seconds,
            "error": None if record.error is None else {"reason": record.error[0], "message": record.error[1]},
            "trace": record.trace,
            "session": self._session,
            "at": monotonic() - self._started,
        }
        return encode(row)

    def _count(self, error: tuple[str, str] | None) -> None:
        if error is None:
            self._answered += 1
            return
        self._failed += 1
        if not self._answered and self._failed >= HOPELESS_AFTER and error[0] in _HOPELESS_REASONS:
            raise ModelError(f"The first {self._failed} questions all failed: {error[1]}", reason=error[0])


def _gold_fields(gold: Gold) -> dict[str, Any]:
    """The gold answer as ``RecordRow`` reads it; the fields of hard answers only where there are any."""
    fields: dict[str, Any] = {"gold": gold.answers}
    if gold.primary is not None or gold.hard_answers:
        fields |= {"hard_answers": gold.hard_answers, "primary": gold.primary}
    if gold.derivation is not None:
        fields["derivation"] = asdict(gold.derivation)
    if gold.groups:
        fields["groups"] = dict(gold.groups)
    return fields


def call_row(llm: BoundLlm, call: Call) -> bytes:
    """A row of calls.jsonl. The parse outcome, known later, stands in the record."""
    tool_calls = {"tool_calls": [asdict(tool_call) for tool_call in call.tool_calls]} if call.tool_calls else {}
    return encode(
        {
            "question_id": llm.question_id,
            "repeat": llm.repeat,
            "role": call.role,
            "key": call.key,
            "messages": call.messages,
            "settings": call.settings,
            "sample": call.sample,
            "reply": call.reply,
            **tool_calls,
            "thinking": call.thinking,
            "finish_reason": call.finish_reason,
            "prompt_tokens": call.prompt_tokens,
            "completion_tokens": call.completion_tokens,
            "cost_usd": call.cost_usd,
            "seconds": call.seconds,
            "attempts": call.attempts,
            "error": call.error,
        }
    )


def encode(row: Any) -> bytes:
    """A row as JSON; numpy numbers become plain ones, and text that UTF-8 cannot carry is replaced."""
    try:
        return orjson.dumps(row, default=_plain, option=orjson.OPT_SERIALIZE_NUMPY)
    except TypeError:
        return orjson.dumps(_printable(row), default=_plain, option=orjson.OPT_SERIALIZE_NUMPY)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | set | frozenset):
        return list(value)
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be recorded")


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {_printable(str(key)): _printable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_printable(entry) for entry in value]
    return value


def _total(values: Iterable[Any]) -> Any:
    """The sum, or None as soon as one value is unknown."""
    total = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total
