"""``kgqa-bench run``: answer a benchmark's questions with a method."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgqa_bench.cli import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_UNSCORED, EXIT_USAGE

if TYPE_CHECKING:
    from kgqa_bench.run.config import RunConfig
    from kgqa_bench.run.execute import RunResult

_QUESTIONS, _MODEL, _BUDGET, _OUTPUT = "Questions", "Model", "Budget", "Output"


def run(
    method: Annotated[str | None, typer.Option(help="Method, such as dog.", rich_help_panel=_QUESTIONS)] = None,
    benchmark: Annotated[
        str | None,
        typer.Option(help="Benchmark, or a file of your own questions (.jsonl).", rich_help_panel=_QUESTIONS),
    ] = None,
    graph: Annotated[
        str | None, typer.Option(help="Graph, or a graph file. Default: the benchmark's.", rich_help_panel=_QUESTIONS)
    ] = None,
    setting: Annotated[
        str | None,
        typer.Option(
            help="Of a benchmark over an incomplete graph: incomplete, complete, or both, one run each. "
            "Default: incomplete.",
            rich_help_panel=_QUESTIONS,
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder of data sets, tried before the hub. Default: KGQA_BENCH_DATA.", rich_help_panel=_QUESTIONS
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many questions.", rich_help_panel=_QUESTIONS)
    ] = None,
    questions: Annotated[
        str | None, typer.Option(help="Only these question ids, separated by commas.", rich_help_panel=_QUESTIONS)
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Independent draws of every question.", rich_help_panel=_QUESTIONS)
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seeds every draw. Default: 0.", rich_help_panel=_QUESTIONS)
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Model, such as gpt-4o-mini. Default: KGQA_BENCH_MODEL, then local/smollm2.", rich_help_panel=_MODEL
        ),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of an OpenAI-compatible server.", rich_help_panel=_MODEL)
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Questions worked on at once. Default: 8; 1 for a model in this process.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    budget_usd: Annotated[
        float | None, typer.Option(help="Stop before more dollars are spent.", rich_help_panel=_BUDGET)
    ] = None,
    budget_tokens: Annotated[
        int | None, typer.Option(help="Stop when so many tokens are used.", rich_help_panel=_BUDGET)
    ] = None,
    budget_calls: Annotated[int | None, typer.Option(help="Most model calls.", rich_help_panel=_BUDGET)] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A setting of the method (alpha=0.5) or of graph, benchmark, model, linker (model.temperature=0).",
            rich_help_panel=_QUESTIONS,
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="YAML file with the same flags; flags given here win.", rich_help_panel=_OUTPUT),
    ] = None,
    variant: Annotated[
        list[str] | None, typer.Option(help="Only this variant of the config file.", rich_help_panel=_OUTPUT)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Run directory. Default: runs/TIME-METHOD-BENCHMARK.", rich_help_panel=_OUTPUT)
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show what would run and what it may cost at most.", rich_help_panel=_OUTPUT),
    ] = False,
    json_output: Annotated[
        bool, typer.Option("--json", help="Print the figures as JSON on stdout.", rich_help_panel=_OUTPUT)
    ] = False,
) -> None:
    """Answer a benchmark's questions with a method, and score the answers.

    An interrupted run is continued by giving its command again.
    """
    from kgqa_bench.run.config import parse_settings

    flags: dict[str, Any] = {
        "method": method,
        "benchmark": benchmark,
        "graph": graph,
        "data": data,
        "limit": limit,
        "questions": None if questions is None else tuple(part.strip() for part in questions.split(",")),
        "repeats": repeats,
        "seed": seed,
        "model": model,
        "base_url": base_url,
        "concurrency": concurrency,
        "budget_usd": budget_usd,
        "budget_tokens": budget_tokens,
        "budget_calls": budget_calls,
        "out": out,
        "set": parse_settings(settings or []),
    }
    runs = _configs(config, variant, flags)
    if setting is not None:
        runs = _views(runs, setting)
    if dry_run:
        _show_plans(runs, json_output)
    else:
        _execute(runs, json_output, paired=setting == "both")


def _configs(file: Path | None, variants: list[str] | None, flags: dict[str, Any]) -> dict[str, RunConfig]:
    """The runs asked for, by variant name ("" for a single one)."""
    from kgqa_bench.errors import ConfigError, UnknownNameError
    from kgqa_bench.run.config import make_config, override, read_config_file

    if variants and file is None:
        raise ConfigError("--variant needs --config.")
    described = read_config_file(file) if file is not None else {"": {}}
    for name in variants or ():
        if name not in described:
            raise UnknownNameError("variant", name, described)
    chosen = {name: values for name, values in described.items() if not variants or name in variants}
    configs = {}
    for name, values in chosen.items():
        merged = override(values, flags)
        if len(described) > 1 and merged.get("out") is not None:
            merged["out"] = Path(merged["out"]) / name
        where = f"{file}{f', variant {name}' if name else ''}" if file else "the command line"
        configs[name] = make_config(merged, where=where)
    return configs


def _views(runs: dict[str, RunConfig], setting: str) -> dict[str, RunConfig]:
    """The runs on the graph without the removed triples, with them, or on both."""
    from kgqa_bench import registry
    from kgqa_bench.errors import ConfigError
    from kgqa_bench.run.config import make_config
    from kgqa_bench.run.suite import VIEWS

    if setting not in (*VIEWS, "both"):
        raise ConfigError(
            f"--setting {setting}: there is no such setting.", hint="Give incomplete, complete or both."
        )
    views = VIEWS if setting == "both" else (setting,)
    configs = {}
    for name, config in runs.items():
        if not registry.load("methods", config.method).uses_graph:
            raise ConfigError(f"{config.method} uses no graph, so --setting would change nothing.")
        for view in views:
            values = config.model_dump() | {"set": {**config.set, "graph.view": view}}
            if setting == "both" and config.out is not None:
                values["out"] = config.out / view
            variant = "-".join(filter(None, (name, view if setting == "both" else "")))
            configs[variant] = make_config(values)
    return configs


def _execute(runs: dict[str, RunConfig], json_output: bool, paired: bool = False) -> None:
    from kgqa_bench.cli.show import print_json, print_results
    from kgqa_bench.errors import BudgetExceededError, KgqaBenchError, ModelError, StorageError
    from kgqa_bench.run.execute import execute

    results: dict[str, RunResult] = {}
    not_started: KgqaBenchError | None = None
    for name, config in runs.items():
        try:
            results[name] = execute(config)
        except KgqaBenchError as problem:
            if not results:
                raise
            not_started = problem
            break
        if results[name].metrics.stopped is not None:
            break
    if json_output:
        print_json(results)
    else:
        print_results(results)
        if paired and not_started is None:
            _compare_views(results)
    if not_started is not None:
        raise not_started
    last = list(results.values())[-1]
    if last.error is not None:
        typer.echo(f"Stopped: {last.error}", err=True)
    if last.metrics.stopped == "interrupted":
        raise typer.Exit(EXIT_INTERRUPTED)
    if last.error is not None and not isinstance(last.error, BudgetExceededError):
        raise typer.Exit(EXIT_FAILED if isinstance(last.error, ModelError | StorageError) else EXIT_USAGE)
    if len(results) < len(runs) or not all(result.metrics.complete for result in results.values()):
        raise typer.Exit(EXIT_UNSCORED)


def _compare_views(results: dict[str, RunResult]) -> None:
    """Each run on the incomplete graph beside its pair on the complete one."""
    from kgqa_bench.cli.compare import print_comparison
    from kgqa_bench.metrics.comparison import compare_runs

    pairs = list(results.values())
    for one, two in zip(pairs[::2], pairs[1::2], strict=False):
        print_comparison(compare_runs([one.path, two.path], "strict_ids", (), across=("graph",)), first=5)


def _show_plans(runs: dict[str, RunConfig], json_output: bool) -> None:
    from kgqa_bench.cli.show import print_plans
    from kgqa_bench.run.assemble import assemble

    print_plans({name: assemble(config) for name, config in runs.items()}, json_output)
