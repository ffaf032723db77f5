"""``kgqa-bench suite``: many runs from one file, one table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgqa_bench.cli import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_UNSCORED

if TYPE_CHECKING:
    from kgqa_bench.errors import KgqaBenchError
    from kgqa_bench.run.execute import RunResult
    from kgqa_bench.run.suite import SuiteRow


def suite(
    file: Annotated[Path, typer.Argument(help="YAML file: methods, benchmarks, models, and flags of run for all.")],
    out: Annotated[Path | None, typer.Option(help="Folder of the runs. Default: runs/suite-FILE.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder of data sets. Default: KGQA_BENCH_DATA.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many questions.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seeds every draw. Default: 0.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list the runs.")] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Print the figures as JSON on stdout.")] = False,
) -> None:
    """Run every combination of methods, benchmarks, models and settings in a file, and show them in one table.

    An interrupted suite is continued by giving its command again: what is done is not asked twice. A row that cannot
    be had is listed and stops nothing.
    """
    from kgqa_bench.run.suite import read_suite

    folder = out if out is not None else Path("runs") / f"suite-{file.stem}"
    flags: dict[str, Any] = {"out": folder, "data": data, "limit": limit, "seed": seed}
    rows = read_suite(file, flags)
    if dry_run:
        for row in rows:
            typer.echo(row.name if row.problem is None else f"{row.name}: {row.problem}")
        return
    results, problems, interrupted = _work(rows)
    if results:
        _show(results, json_output)
    if not json_output:
        _compare([row for row in rows if row.name in results], results)
    for name, problem in problems.items():
        typer.echo(f"{name}: {problem}", err=True)
    if interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)
    if not results:
        raise typer.Exit(EXIT_FAILED)
    if problems or not all(result.metrics.complete for result in results.values()):
        raise typer.Exit(EXIT_UNSCORED)


def _work(rows: list[SuiteRow]) -> tuple[dict[str, RunResult], dict[str, KgqaBenchError], bool]:
    """Run after run: results and problems by row, and whether the user has stopped it."""
    from kgqa_bench.errors import KgqaBenchError
    from kgqa_bench.run.execute import execute

    results: dict[str, RunResult] = {}
    problems: dict[str, KgqaBenchError] = {}
    for number, row in enumerate(rows, start=1):
        if row.config is None:
            if row.problem is not None:
                problems[row.name] = row.problem
            continue
        typer.echo(f"{number}/{len(rows)} {row.name}", err=True)
        try:
            results[row.name] = execute(row.config)
        except KgqaBenchError as problem:
            problems[row.name] = problem
            continue
        result = results[row.name]
        if result.error is not None:
            problems[row.name] = result.error
        if result.metrics.stopped == "interrupted":
            return results, problems, True
    return results, problems, False


def _compare(rows: list[SuiteRow], results: dict[str, RunResult]) -> None:
    """The rows that differ in their method alone, in pairs."""
    from kgqa_bench.cli.compare import print_comparison
    from kgqa_bench.errors import KgqaBenchError
    from kgqa_bench.metrics.comparison import compare_runs

    groups: dict[str, list[Path]] = {}
    for row in rows:
        groups.setdefault(row.comparison, []).append(results[row.name].path)
    for comparison, paths in groups.items():
        if len(paths) < 2:
            continue
        typer.echo(f"\n{comparison}: the methods compared")
        try:
            # a method without graph has no hash of one
            print_comparison(compare_runs(paths, "strict_ids", (), across=("graph",)), first=5)
        except KgqaBenchError as problem:
            typer.echo(f"{comparison}: not compared: {problem}", err=True)


def _show(results: dict[str, RunResult], json_output: bool) -> None:
    from kgqa_bench.cli.show import print_json, print_results

    if json_output:
        print_json(results)
        return
    benchmarks: dict[str, dict[str, RunResult]] = {}
    for name, result in results.items():
        benchmarks.setdefault(result.info.benchmark["name"], {})[name] = result
    for group in benchmarks.values():
        print_results(group)
