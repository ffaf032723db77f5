"""``kgqa-bench score``: score answers again, without a model, under one protocol or all side by side."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgqa_bench.cli import EXIT_UNSCORED

if TYPE_CHECKING:
    from rich.console import Console


ANSWERS = {
    "hits_any": "Hits@Any",
    "hits_at_1": "Hits@1",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "exact_match": "exact",
}
"""Columns; accuracy, which is recall, is in the JSON alone."""

HARD_ANSWERS = {
    "hits_hard_primary": "Hits@Hard",
    "hhr": "HHR",
    "hits_hard_any": "any hard",
    "hhr_any_of_set": "HHR any",
}
"""Columns on hard answers: the primary one, then any of the set."""

HEADINGS = ANSWERS | HARD_ANSWERS


def score(
    path: Annotated[Path, typer.Argument(help="A run directory, or predictions: JSON lines or a JSON list.")],
    protocol: Annotated[
        list[str] | None,
        typer.Option("--protocol", "-p", help="A protocol; repeat for several. Default: all that fit."),
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(
            help="Gold answers: a built benchmark, a question file, BRINK's gold. Default: those in the file."
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="Labels (id, tab, label) by which answers in words are linked to ids, and ids get words."),
    ] = None,
    replies: Annotated[
        bool, typer.Option("--replies", help="Of a run: score the whole replies instead of the answers in them.")
    ] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
) -> None:
    """Score a run or anybody's predictions again: all protocols side by side, and how much of it is the scorer.

    Whatever was asked counts: missing, failed and unreadable answers score 0. Exit code 1 if there are such.
    """
    from kgqa_bench.errors import DataError
    from kgqa_bench.metrics.side_by_side import applicable, side_by_side
    from kgqa_bench.predictions.linking import LabelLinker, read_labels
    from kgqa_bench.predictions.read import read_predictions
    from kgqa_bench.storage import user_path

    linker = None if labels is None else LabelLinker(read_labels(user_path(labels)))
    gold = None if gold is None else user_path(gold)
    gc.disable()  # the rows hold no cycles, and looking for some among them takes a tenth of the time
    try:
        predictions = read_predictions(user_path(path), gold, linker, replies=replies)
        if not predictions.ledger.asked:
            raise DataError("There is nothing to score.", file=path)
        report = side_by_side(predictions, protocol or applicable(predictions))
        if linker is not None:
            report["linking"] = dict(linker.outcomes)
        if json_output:
            import orjson

            typer.echo(orjson.dumps(report, option=orjson.OPT_INDENT_2).decode())
        else:
            print_scores(report, str(path))
    finally:
        gc.enable()
    if report["ledger"]["unanswered"]:
        raise typer.Exit(EXIT_UNSCORED)


def print_scores(report: dict[str, Any], title: str) -> None:
    """Print what ``side_by_side`` found as tables."""
    from rich.console import Console
    from rich.markup import escape

    console = Console()
    scores = {name: entry["scores"] for name, entry in report["protocols"].items()}
    _print_table(console, escape(title), "protocol", scores, ANSWERS)
    hard = {name: each for name, each in scores.items() if any(metric in each for metric in HARD_ANSWERS)}
    if hard:
        _print_table(console, "hard answers", "protocol", hard, {"hits_any": "Hits@Any"} | HARD_ANSWERS)
    for metric, found in report["spread"].items():
        if metric in HEADINGS and found["difference"]:
            low, high = found["lowest"], found["highest"]
            line = f"{HEADINGS[metric]}: {found['difference']:.4f} of the difference is the scorer"
            span = f"({high['protocol']} {high['value']:.4f}, {low['protocol']} {low['value']:.4f})"
            console.print(escape(f"{line} {span}"), highlight=False, soft_wrap=True)
    _print_groups(console, report["protocols"])
    _print_ledger(console, report)
    console.print(escape(f"signature {report['signature']}"), highlight=False, soft_wrap=True)


def _print_table(
    console: Console, title: str, first: str, rows: dict[str, dict[str, Any]], headings: dict[str, str]
) -> None:
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    columns = [metric for metric in headings if any(metric in scores for scores in rows.values())]
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column(first, overflow="fold")
    for metric in columns:
        table.add_column(headings[metric], justify="right", overflow="fold")
    for name, scores in rows.items():
        table.add_row(escape(name), *(_cell(scores, metric) for metric in columns))
    console.print(table)


def _cell(scores: dict[str, Any], metric: str) -> str:
    if metric not in scores:
        return "-"
    found = scores[metric]
    if found is None:
        return "undefined"
    if found["low"] is None:
        return f"{found['value']:.4f}"
    return f"{found['value']:.4f}\n{_bound(found['low'])}–{_bound(found['high'])}"


def _bound(value: float) -> str:
    """Four characters, so that the widest table fits 80 columns."""
    return f"{value:.3f}".removeprefix("0") if value < 0.9995 else f"{value:.2f}"


def _print_groups(console: Console, protocols: dict[str, Any]) -> None:
    """Hard hits by rule type and subtype, of the first protocol that has them (Fig. 3b of arXiv 2512.14766)."""
    from rich.markup import escape

    found = next(((name, entry) for name, entry in protocols.items() if "hhr" in entry["scores"]), None)
    if found is None:
        return
    name, entry = found
    for group in ("rule_type", "rule_subtype"):
        parts = entry["by_group"].get(group)
        if parts:
            kept = ("hits_any", "hits_hard_primary", "hhr", "hhr_any_of_set")
            rows = {
                f"{value} (n {next(iter(scores.values()))['n']})": {
                    each: scores[each] for each in kept if each in scores
                }
                for value, scores in parts.items()
            }
            _print_table(
                console, escape(f"{name} by {group.replace('_', ' ')}"), group.replace("_", " "), rows, HEADINGS
            )


def _print_ledger(console: Console, report: dict[str, Any]) -> None:
    from rich.markup import escape

    from kgqa_bench.errors import without_controls

    ledger = report["ledger"]
    reasons = ", ".join(f"{count} {reason}" for reason, count in ledger["unanswered"].items())
    unanswered = sum(ledger["unanswered"].values())
    lines = [
        f"asked {ledger['asked']} = answered {ledger['answered']} + unanswered {unanswered}"
        + (f" ({reasons}), which score 0" if reasons else "")
    ]
    for what in ("ignored", "noted"):
        lines += [f"{what}: {count} {reason}" for reason, count in ledger[what].items()]
    lines += [f"{reason}: {', '.join(where)}" for reason, where in ledger["examples"].items()]
    if "linking" in report:
        lines.append("linking: " + ", ".join(f"{count} {outcome}" for outcome, count in report["linking"].items()))
    if report["unit"] == "text" and not any(entry["unit"] == "ids" for entry in report["protocols"].values()):
        lines.append("These predictions are text: protocols that compare ids need --labels, or be asked for by name.")
    for line in lines:
        console.print(escape(without_controls(line)), highlight=False, soft_wrap=True)
