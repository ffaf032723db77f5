"""Results and plans on a terminal."""

from __future__ import annotations

import statistics
from typing import Any

import orjson
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kgqa_bench.errors import without_controls
from kgqa_bench.run.assemble import Plan
from kgqa_bench.run.execute import RunResult
from kgqa_bench.run.schema import Metrics


def print_results(results: dict[str, RunResult]) -> None:
    """One table, a row a run, with the ledger and signature of each below."""
    console = Console()
    methods = dict.fromkeys(result.info.config["method"] for result in results.values())
    benchmarks = dict.fromkeys(result.info.benchmark["name"] for result in results.values())
    table = Table(title=escape(f"{', '.join(methods)} on {', '.join(benchmarks)}"), title_justify="left")
    if len(results) > 1:
        table.add_column("variant", overflow="fold", min_width=min(10, max(map(len, results))))
    further = _FURTHER if any(result.metrics.scores[0].name in _TITLES for result in results.values()) else ()
    first = next(iter(results.values())).metrics.scores[0].name
    titles = (_TITLES.get(first, first), "95 % interval", *(_TITLES[name] for name in further))
    asked_models = any(result.metrics.cost.calls for result in results.values())
    costs = _COSTS if asked_models else _WITHOUT_MODEL
    for heading in (*(f"{title} ↑" if "%" not in title else title for title in titles), *costs):
        interval = heading == "95 % interval"
        table.add_column(
            heading, justify="right", no_wrap=not interval, overflow="fold", min_width=6 if interval else 0
        )
    for name, result in results.items():
        figures = [*_headline(result.metrics), *(_value(result.metrics, field) for field in further)]
        table.add_row(
            *([escape(name)] if len(results) > 1 else []), *figures, *map(_costs(result.metrics).get, costs)
        )
    console.print(table)
    for name, result in results.items():
        for line in _notes(result):
            console.print(escape(f"{name}: {line}" if len(results) > 1 else line), highlight=False, soft_wrap=True)


_TITLES = {"hits_any": "Hits@Any", "f1": "F1", "hhr": "HHR"}
"""Of runs on questions that ask for entities, the score that leads and those that stand beside it."""
_FURTHER = ("f1", "hhr")
_COSTS = ("n", "calls/q", "tokens/q", "s/q", "cost")
_WITHOUT_MODEL = ("n", "s/q")


def _headline(metrics: Metrics) -> list[str]:
    score = metrics.scores[0]
    value = f"{score.value:.3f}"
    if score.per_repeat:
        value += f" ± {statistics.stdev(score.per_repeat):.3f}"
    return [value, f"{score.low:.3f}–{score.high:.3f}"]


def _value(metrics: Metrics, name: str) -> str:
    """A score by name; a dash where it is not defined."""
    return next((f"{score.value:.3f}" for score in metrics.scores if score.name == name), "–")


def _costs(metrics: Metrics) -> dict[str, str]:
    cost = metrics.cost
    return {
        "n": str(metrics.scores[0].n),
        "calls/q": f"{cost.calls_per_question:.1f}",
        "tokens/q": "unknown" if cost.tokens_per_question is None else f"{cost.tokens_per_question:,.0f}",
        "s/q": f"{cost.seconds_per_question:.2f}",
        "cost": "unknown" if cost.usd is None else f"${cost.usd:.4f}",
    }


def _notes(result: RunResult) -> list[str]:
    ledger, info = result.metrics.ledger, result.info
    unscored = ", ".join(f"{count} {reason}" for reason, count in ledger.unscored.items())
    statuses = ", ".join(f"{count} {status}" for status, count in ledger.statuses.items())
    lines = [
        f"asked {ledger.asked} = scored {ledger.scored} ({statuses or 'none'})"
        f" + unscored {ledger.asked - ledger.scored}{f' ({unscored})' if unscored else ''}"
    ]
    score = result.metrics.scores[0]
    if score.per_repeat:
        repeats = ", ".join(f"{value:.3f}" for value in score.per_repeat)
        lines.append(f"repeats: {repeats} (± is their standard deviation)")
    lines.append(f"model {info.model or 'none'}, graph {info.graph['name'] if info.graph else 'none'}")
    lines.append(f"signature {score.signature}")
    lines.append(f"run directory {result.path}")
    return lines


def print_json(results: dict[str, RunResult]) -> None:
    """The figures as JSON: an object for one run, a mapping by variant for several."""
    rows = {
        name: {"path": str(result.path)} | result.metrics.model_dump(mode="json") for name, result in results.items()
    }
    _dump(rows[""] if set(rows) == {""} else rows)


def print_plans(plans: dict[str, Plan], json_output: bool) -> None:
    """What would be run, and the most it may cost."""
    rows = {name: _plan(plan) for name, plan in plans.items()}
    if json_output:
        _dump(rows[""] if set(rows) == {""} else rows)
        return
    console = Console()
    for name, row in rows.items():
        table = Table(title=escape(name) or None, show_header=False)
        for key, value in row.items():
            table.add_row(key, escape(str(value)))
        console.print(table)


def _plan(plan: Plan) -> dict[str, Any]:
    questions = len(plan.items) * plan.config.repeats
    calls = plan.method.call_range() if plan.method.uses_model else (0, 0)
    return {
        "method": plan.method_name,
        "method settings": plan.method.settings.model_dump(mode="json"),
        "benchmark": plan.benchmark_name,
        "graph": plan.config.graph,
        "model": plan.model_name,
        "questions": len(plan.items),
        "repeats": plan.config.repeats,
        "calls": "unknown" if calls is None else f"{calls[0] * questions} to {calls[1] * questions}",
        "first question": without_controls(plan.items[0].question.text),
    }


def _dump(value: Any) -> None:
    print(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())
