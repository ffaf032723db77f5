"""Scores, ledger and cost of a run directory, from its files alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from kgqa_bench import registry
from kgqa_bench.contracts import Metric, Protocol
from kgqa_bench.errors import RunDirectoryError
from kgqa_bench.metrics.signature import signature
from kgqa_bench.run.directory import CALLS, calls_missing, read_calls, read_info, read_records
from kgqa_bench.run.schema import Cost, Ledger, Metrics, RecordRow, RunInfo, Score

HEADLINE = "accuracy"
ENTITY_PROTOCOL = "strict_ids"


def summarise(path: Path, *, stopped: str | None = None) -> Metrics:
    """Metrics of the run in ``path``; ``stopped`` says why it ended early, for the questions not reached.

    Raises:
        RunDirectoryError: Where a file is missing or damaged.
    """
    info = read_info(path)
    rows: dict[tuple[str, int], RecordRow] = {}
    sessions: dict[int, float] = {}
    for row in read_records(path):
        rows[row.question_id, row.repeat] = row
        sessions[row.session] = max(row.at, sessions.get(row.session, 0.0))
    _require_whole(path, info, rows)
    ledger = _ledger(info, rows.values(), stopped)
    metric: Metric = registry.create("metrics", HEADLINE)
    scores = _entity_scores(path) if info.benchmark.get("kinds") == ["entities"] else []
    return Metrics(
        ledger=ledger,
        scores=scores or [_score(metric, info, rows)],
        cost=_cost(path, rows.values(), sum(sessions.values())),
        complete=ledger.asked - sum(_unasked(info).values()) == ledger.scored,
        stopped=stopped,
    )


def _require_whole(path: Path, info: RunInfo, rows: Mapping[tuple[str, int], RecordRow]) -> None:
    asked, repeats = info.benchmark["asked"], info.config["repeats"]
    for question_id, repeat in rows:
        if not 0 <= repeat < repeats:
            raise RunDirectoryError(f"{path}: question {question_id!r} has repeat {repeat} of {repeats}.")
    if len({question_id for question_id, _ in rows}) > asked:
        raise RunDirectoryError(f"{path}: there are records of more than the {asked} questions asked.")
    missing = calls_missing(rows.values(), read_calls(path))
    if missing:
        raise RunDirectoryError(
            f"{path / CALLS} lacks calls of {len(missing)} answered questions, such as {min(missing)[0]!r}.",
            hint="Give the run's command again: it asks them once more.",
        )


def _ledger(info: RunInfo, rows: Iterable[RecordRow], stopped: str | None) -> Ledger:
    asked = info.benchmark["asked"] * info.config["repeats"]
    statuses: Counter[str] = Counter()
    unscored: Counter[str] = Counter()
    for row in rows:
        if row.error is None:
            statuses[row.status] += 1
        else:
            unscored[row.error["reason"]] += 1
    unscored.update(_unasked(info))
    reached = statuses.total() + unscored.total()
    if reached < asked:
        unscored[f"not reached ({stopped or 'stopped'})"] = asked - reached
    return Ledger(
        asked=asked,
        scored=statuses.total(),
        unscored=dict(sorted(unscored.items())),
        statuses=dict(sorted(statuses.items())),
    )


def _unasked(info: RunInfo) -> dict[str, int]:
    """Questions that were not to be asked and count all the same, by reason, times repeats."""
    return {why: count * info.config["repeats"] for why, count in info.benchmark.get("unasked", {}).items()}


def _score(metric: Metric, info: RunInfo, rows: dict[tuple[str, int], RecordRow]) -> Score:
    asked, repeats = info.benchmark["asked"], info.config["repeats"]
    per_question: dict[str, float] = {}
    per_repeat = [0.0] * repeats
    for (question_id, repeat), row in rows.items():
        per_question[question_id] = per_question.get(question_id, 0.0) + row.score / repeats
        per_repeat[repeat] += row.score / asked
    scores = list(per_question.values()) + [0.0] * (asked - len(per_question))
    interval = metric.interval(scores)
    return Score(
        name=metric.name,
        value=interval.value,
        low=interval.low,
        high=interval.high,
        n=interval.n,
        signature=signature(metric, info, asked=asked),
        per_repeat=per_repeat if repeats > 1 else [],
    )


def _entity_scores(path: Path) -> list[Score]:
    """Of questions that ask for entities: the fields of the headline protocol and the hard hits rates.

    What is not defined, such as a rate where nothing is hit, is left out.
    """
    from kgqa_bench.metrics.question_scores import score_questions
    from kgqa_bench.metrics.signature import protocol_parts, written
    from kgqa_bench.predictions.run_rows import read_run

    rule: Protocol = registry.create("protocols", ENTITY_PROTOCOL)
    predictions = read_run(path)
    parts = protocol_parts(ENTITY_PROTOCOL, rule, predictions.parts)
    averages = score_questions(rule, predictions.rows[rule.unit]).averages()
    return [
        Score(
            name=name,
            value=interval.value,
            low=interval.low,
            high=interval.high,
            n=interval.n,
            signature=written(name, parts),
        )
        for name, interval in averages.items()
        if interval is not None and not math.isnan(interval.low) and name != "accuracy"  # that is recall once more
    ]


def _cost(path: Path, rows: Collection[RecordRow], wall_seconds: float) -> Cost:
    calls, prompt, completion = 0, 0, 0
    usd: float | None = 0.0
    known = True
    for call in read_calls(path):
        calls += 1
        if call.get("error"):
            continue
        if call["prompt_tokens"] is None or call["completion_tokens"] is None:
            known = False
        else:
            prompt += call["prompt_tokens"]
            completion += call["completion_tokens"]
        cost = call["cost_usd"]
        usd = None if usd is None or cost is None else usd + cost
    answered = len(rows)
    return Cost(
        calls=calls,
        prompt_tokens=prompt if known else None,
        completion_tokens=completion if known else None,
        usd=usd,
        wall_seconds=wall_seconds,
        calls_per_question=sum(len(row.calls) for row in rows) / max(answered, 1),
        tokens_per_question=(prompt + completion) / max(answered, 1) if known else None,
        seconds_per_question=sum(row.seconds for row in rows) / max(answered, 1),
    )
