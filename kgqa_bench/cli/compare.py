"""``kgqa-bench compare``: which of several runs is better, by how much, and whether that can be believed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgqa_bench.cli import EXIT_UNSCORED

if TYPE_CHECKING:
    from rich.console import Console


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Two run directories or more, over the same questions.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            help="hits_at_1, hits_any, precision, recall, accuracy, f1, exact_match, hits_hard_primary, "
            "hits_hard_any, hhr, hhr_any_of_set, ece, ace; repeat for several. Default: the usual ones.",
        ),
    ] = None,
    protocol: Annotated[str, typer.Option("--protocol", "-p", help="How answers are matched.")] = "strict_ids",
    across: Annotated[
        list[str] | None,
        typer.Option(help="A part of the signature that may differ: graph, benchmark, oracle. Repeat for several."),
    ] = None,
    samples: Annotated[int, typer.Option(min=100, help="Bootstrap samples.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 0,
    first: Annotated[int, typer.Option(min=0, help="How many ids of right and wrong questions to print.")] = 10,
    all_ids: Annotated[bool, typer.Option("--all", help="Print all of them.")] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Compare runs pair by pair: difference, 95 % interval, test, and the questions that make the difference.

    Scores of 0 or 1 are compared by McNemar's test, others by a paired bootstrap; questions about one topic entity
    count as one cluster. Exit code 1 if a run left questions without answer, which count as wrong.
    """
    from kgqa_bench.metrics.comparison import compare_runs
    from kgqa_bench.registry import normalise
    from kgqa_bench.storage import user_path

    report = compare_runs(
        [user_path(run) for run in runs],
        protocol,
        [normalise(name).replace("-", "_") for name in metric or ()],
        across=across or (),
        samples=samples,
        seed=seed,
    )
    if json_output:
        import orjson

        typer.echo(orjson.dumps(report, option=orjson.OPT_INDENT_2).decode())
    else:
        print_comparison(report, None if all_ids else first)
    if any(run["unanswered"] for run in report["runs"].values()):
        raise typer.Exit(EXIT_UNSCORED)


def print_comparison(report: dict[str, Any], first: int | None = 10) -> None:
    """Print what ``compare_runs`` found; ``first`` ids of each list, None for all."""
    from rich.console import Console

    console = Console()
    for metric, found in report["metrics"].items():
        _print_pairs(console, metric, found["pairs"])
    for line in _lines(report, first):
        _print_line(console, line)


def _print_pairs(console: Console, metric: str, pairs: list[dict[str, Any]]) -> None:
    from rich import box
    from rich.table import Table

    better = "lower" if metric in ("ece", "ace") else "higher"
    table = Table(title=f"{metric} ({better} is better)", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("pair", no_wrap=True)
    headings = ["first", "second", "difference", "95 % interval", "p"]
    headings += ["p (Holm)"] if len(pairs) > 1 else []
    for heading in (*headings, "detectable", "n"):
        table.add_column(heading, justify="right", overflow="fold")
    table.add_column("test", overflow="fold")
    for pair in pairs:
        table.add_row(
            f"{pair['a']} → {pair['b']}",
            _figure(pair["value_a"]),
            _figure(pair["value_b"]),
            _figure(pair["difference"], "+.4f"),
            f"{_figure(pair['low'], '+.4f')} to {_figure(pair['high'], '+.4f')}",
            _p(pair["p"]),
            *([_p(pair["p_holm"])] if len(pairs) > 1 else []),
            _figure(pair["smallest_detectable"]),
            str(pair["n"]),
            pair["test"],
        )
    console.print(table)


def _lines(report: dict[str, Any], first: int | None) -> list[str]:
    clusters = report["clusters"]
    lines = []
    for label, run in report["runs"].items():
        reasons = ", ".join(f"{count} {reason}" for reason, count in run["unanswered"].items())
        lines.append(
            f"{label} {run['path']}: asked {run['asked']} = answered {run['answered']} + unanswered "
            f"{sum(run['unanswered'].values())}{f' ({reasons}), which score 0' if reasons else ''}"
        )
        if run["missing"]:
            lines.append(f"{label} never reached, others did: {_ids(run['missing'], first)}")
    for found in report["disagreements"]:
        a, b = found["a"], found["b"]
        for wrong, right, names in ((a, b, found["only_b_right"]), (b, a, found["only_a_right"])):
            lines.append(f"wrong in {wrong}, right in {right} by {found['metric']}: {_ids(names, first)}")
    pairs = [pair for found in report["metrics"].values() for pair in found["pairs"]]
    for metric, found in report["metrics"].items():
        for pair in found["pairs"]:
            if pair.get("without_confidence"):
                lines.append(
                    f"{metric} {pair['a']} → {pair['b']}: {pair['without_confidence']} questions left out, for which "
                    "not both runs gave a confidence"
                )
    lines.append(f"clusters: {clusters['count']}, by {clusters['by']}")
    if any(pair["few_clusters"] for pair in pairs):
        lines.append("Few clusters: intervals are too narrow and p-values too small below 30 of them.")
    lines.append("detectable: the smallest true difference that such a comparison finds with 80 % power")
    lines.append(f"signature {report['signature']}")
    return lines


def _ids(names: list[str], first: int | None) -> str:
    shown = names if first is None else names[:first]
    more = len(names) - len(shown)
    listed = ", ".join(shown) + (f"{', ' if shown else ''}and {more} more (--all)" if more else "")
    return f"{len(names)}{f': {listed}' if listed else ''}"


def _figure(value: float | None, form: str = ".4f") -> str:
    return "undefined" if value is None else format(value, form)


def _p(value: float | None) -> str:
    if value is None:
        return "undefined"
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _print_line(console: Console, line: str) -> None:
    from rich.markup import escape

    from kgqa_bench.errors import without_controls

    console.print(escape(without_controls(line)), highlight=False, soft_wrap=True)
