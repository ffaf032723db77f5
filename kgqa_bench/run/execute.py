"""Runs a configuration from start to end: new or continued, to its last file."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kgqa_bench import registry
from kgqa_bench.contracts import Metric
from kgqa_bench.domain import Item
from kgqa_bench.errors import BudgetExceededError, KgqaBenchError, RunDirectoryError
from kgqa_bench.run.assemble import Plan, assemble
from kgqa_bench.run.config import RunConfig, identity
from kgqa_bench.run.directory import (
    CALLS,
    METRICS,
    RUN,
    RunDirectory,
    calls_missing,
    read_calls,
    read_info,
    read_metrics,
    read_records,
)
from kgqa_bench.run.progress import Progress, default_progress
from kgqa_bench.run.schema import Metrics, RecordRow, RunInfo
from kgqa_bench.run.summary import HEADLINE, summarise

if TYPE_CHECKING:
    from kgqa_bench.llm.gateway import Gateway
    from kgqa_bench.llm.replay import ReplayStore
    from kgqa_bench.llm.types import Client
    from kgqa_bench.run.model_settings import ModelSetup

log = logging.getLogger(__name__)
RUNS = Path("runs")


@dataclass(frozen=True)
class RunResult:
    """A run that has ended: its directory, what was asked, and its figures."""

    path: Path
    info: RunInfo
    metrics: Metrics
    error: KgqaBenchError | None = None


def execute(config: RunConfig, *, progress: Progress | None = None) -> RunResult:
    """Run ``config``, or continue its run where one was interrupted.

    A stop by budget, Ctrl-C or a model out of reach still writes metrics.json over what was answered, with
    ``stopped`` and ``error`` saying why.

    Raises:
        KgqaBenchError: Nothing could be started, or the directory cannot be written.
    """
    plan = assemble(config)
    model = _open_model(plan)  # what is wrong with names and settings is told before anything is written
    info = plan.info()
    path = choose_directory(plan)
    with RunDirectory(path) as directory:
        state = _resume(path, info)
        if state.info is None:
            directory.write_info(info)
        else:
            info = state.info
        stopped, error = _work(plan, model, directory, state, progress or default_progress())
        metrics = summarise(path, stopped=stopped)
        directory.write_metrics(metrics)
    return RunResult(path, info, metrics, error)


def choose_directory(plan: Plan) -> Path:
    """--out; else the newest unfinished run of the same configuration under runs/; else a new one there."""
    if plan.config.out is not None:
        return plan.config.out
    name = f"{plan.method_name}-{Path(plan.benchmark_name).stem}"
    for path in sorted(RUNS.glob(f"*-{name}"), reverse=True):
        if (path / RUN).exists() and _unfinished(path, plan.config):
            log.warning("Continuing %s, an unfinished run of the same configuration (--out starts another).", path)
            return path
    stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    path = RUNS / f"{stamp}-{name}"
    counter = 1
    while path.exists():
        counter += 1
        path = RUNS / f"{stamp}.{counter}-{name}"
    return path


@dataclass
class _State:
    """What an earlier part of the run left."""

    info: RunInfo | None
    done: set[tuple[str, int]]
    replay: ReplayStore
    session: int


def _unfinished(path: Path, config: RunConfig) -> bool:
    try:
        same = identity(read_info(path).config) == identity(config.model_dump(mode="json"))
        return same and not ((path / METRICS).exists() and read_metrics(path).complete)
    except RunDirectoryError:
        return False


def _resume(path: Path, info: RunInfo) -> _State:
    """What the directory already holds. RunDirectoryError where it belongs to another run."""
    from kgqa_bench.llm.replay import ReplayStore, own_key

    replay = ReplayStore()
    if not (path / RUN).exists():
        return _State(None, set(), replay, 0)
    earlier = read_info(path)
    _require_same(path, earlier, info)
    records: dict[tuple[str, int], RecordRow] = {}
    session = 0
    for row in read_records(path):
        records[row.question_id, row.repeat] = row
        session = max(session, row.session + 1)
    calls = list(read_calls(path))
    for call in calls:
        replay.add(own_key(call["question_id"], call["repeat"], call["key"]), call)
    lost = calls_missing(records.values(), calls)
    if lost:
        log.warning("%s lacks calls of %d answered questions: they are asked once more.", path / CALLS, len(lost))
    done = {key for key, row in records.items() if row.error is None} - lost
    return _State(earlier, done, replay, session)


def _require_same(path: Path, earlier: RunInfo, now: RunInfo) -> None:
    for what in ("config", "method_settings", "hashes"):
        before, after = (_comparable(info, what) for info in (earlier, now))
        if before == after:
            continue
        changed = [key for key in sorted({*before, *after}) if before.get(key) != after.get(key)]
        details = ", ".join(f"{key} was {before.get(key)!r}, is {after.get(key)!r}" for key in changed)
        raise RunDirectoryError(
            f"{path} holds a run with another {what.replace('_', ' ')}: {details}.",
            hint="Choose another --out, or give the command it was started with.",
        )


def _comparable(info: RunInfo, what: str) -> dict[str, Any]:
    value: dict[str, Any] = info.model_dump(mode="json")[what]
    return identity(value) if what == "config" else value


class _OpenModel(NamedTuple):
    client: Client
    setup: ModelSetup


def _open_model(plan: Plan) -> _OpenModel | None:
    """The run's model, which holds nothing open before its first call; None for a method that asks none."""
    from kgqa_bench.llm.gateway import require_price
    from kgqa_bench.llm.resolve import open_model
    from kgqa_bench.run.model_settings import model_setup

    if plan.model_name is None:
        return None
    setup = model_setup(plan.model_name, plan.config)
    client = open_model(plan.model_name, setup.options, setup.source)
    if plan.config.budget_usd is not None:
        require_price(client)
    return _OpenModel(client, setup)


def _work(
    plan: Plan, model: _OpenModel | None, directory: RunDirectory, state: _State, progress: Progress
) -> tuple[str | None, KgqaBenchError | None]:
    """Answer what is not answered yet. Returns why it stopped early, and the error that stopped it."""
    total = len(plan.items) * plan.config.repeats
    progress.start(total, len(state.done))
    try:
        if len(state.done) < total:
            asyncio.run(_answer(plan, model, directory, state, progress))
    except BudgetExceededError as problem:
        return "budget", problem
    except KeyboardInterrupt:
        return "interrupted", None
    except KgqaBenchError as problem:
        return type(problem).__name__, problem
    finally:
        progress.finish()
    return None, None


async def _answer(
    plan: Plan, model: _OpenModel | None, directory: RunDirectory, state: _State, progress: Progress
) -> None:
    from kgqa_bench.run.runner import Runner

    metric: Metric = registry.create("metrics", HEADLINE)
    gateway = _gateway(plan, model, directory, state.replay, progress) if model is not None else None
    try:
        runner = Runner(plan, gateway, directory, metric, progress, state.session)
        await runner.run(_pending(plan, state.done))
    finally:
        if gateway is not None:
            await gateway.close()


def _pending(plan: Plan, done: set[tuple[str, int]]) -> Iterator[tuple[Item, int]]:
    for repeat in range(plan.config.repeats):
        for item in plan.items:
            if (item.question.id, repeat) not in done:
                yield item, repeat


def _gateway(
    plan: Plan, model: _OpenModel, directory: RunDirectory, replay: ReplayStore, progress: Progress
) -> Gateway:
    from kgqa_bench.llm.budget import Budget
    from kgqa_bench.llm.gateway import Gateway
    from kgqa_bench.run.runner import call_row

    config = plan.config
    return Gateway(
        model.client,
        model=plan.model_name,
        sampling=model.setup.sampling,
        budget=Budget(config.budget_usd, config.budget_tokens, config.budget_calls),
        limits=model.setup.limits,
        retry=model.setup.retry,
        replay=replay,
        seed=config.seed,
        on_wait=progress.wait,
        on_call=lambda llm, call: directory.calls.append(call_row(llm, call)),
    )
