"""``kgqa-bench validate``: find what is wrong in a file before a run does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgqa_bench.cli import EXIT_USAGE


def validate(
    file: Annotated[Path, typer.Argument(help="Questions (.jsonl), a graph, a config (.yaml) or a run directory.")],
) -> None:
    """Check a file of questions, a graph file, a run configuration or a run directory. Exit code 2 if it is wrong."""
    from kgqa_bench.errors import DataNotFoundError

    if (file / "run.json").is_file():
        problems, summary = _run_directory(file)
    elif not file.exists():
        raise DataNotFoundError(f"There is no file {file}.")
    elif file.suffix in {".yaml", ".yml"}:
        problems, summary = _config(file)
    elif file.name.endswith((".jsonl", ".jsonl.gz")):
        problems, summary = _questions(file)
    else:
        problems, summary = _graph(file)
    for problem in problems:
        typer.echo(problem, err=True)
    if problems:
        raise typer.Exit(EXIT_USAGE)
    typer.echo(f"{file}: {summary}")


def _questions(file: Path) -> tuple[list[str], str]:
    from kgqa_bench.run.question_file import QuestionFile, validate_file

    problems = [str(problem) for problem in validate_file(file)]
    if problems:
        return problems, ""
    return [], f"{len(QuestionFile(file).load(None, 0).items)} questions, no problem found"


def _graph(file: Path) -> tuple[list[str], str]:
    from kgqa_bench.errors import DataError
    from kgqa_bench.graph.open import open_graph

    try:
        graph = open_graph(str(file), None, {})
    except DataError as problem:
        return [str(problem)], ""
    return [], f"{graph.num_triples:,} triples over {graph.num_entities:,} entities, no problem found"


def _config(file: Path) -> tuple[list[str], str]:
    from kgqa_bench import registry
    from kgqa_bench.errors import KgqaBenchError
    from kgqa_bench.run.assemble import find_benchmark
    from kgqa_bench.run.config import make_config, read_config_file

    problems = []
    runs = read_config_file(file)
    for name, values in runs.items():
        where = f"{file}{f', variant {name}' if name else ''}"
        try:
            config = make_config({"method": "", "benchmark": "", **values}, where=where)
            if config.method:
                registry.create("methods", config.method, config.scoped(None))
            if config.benchmark:
                find_benchmark(config)
        except KgqaBenchError as problem:
            problems.append(f"{where}: {problem}")
    return problems, f"{len(runs)} runs, no problem found"


def _run_directory(path: Path) -> tuple[list[str], str]:
    from kgqa_bench.errors import RunDirectoryError
    from kgqa_bench.run.summary import summarise

    try:
        ledger = summarise(path).ledger
    except RunDirectoryError as problem:
        return [str(problem)], ""
    return [], f"asked {ledger.asked}, scored {ledger.scored}, no problem found"
