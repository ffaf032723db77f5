"""``kgqa-bench verify``: re-check a built benchmark from its files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgqa_bench.cli import EXIT_USAGE

MOST_SHOWN = 20


def verify(
    folder: Annotated[Path, typer.Argument(help="A folder made by build-incomplete.")],
    all_problems: Annotated[bool, typer.Option("--all", help=f"Show all problems, not only {MOST_SHOWN}.")] = False,
) -> None:
    """Re-check every triple, certificate, question, answer, split and hash of a built benchmark.

    Exit code 2 if anything is wrong.
    """
    from kgqa_bench import registry
    from kgqa_bench.contracts import Builder
    from kgqa_bench.errors import DataNotFoundError, without_controls
    from kgqa_bench.storage import user_path

    folder = user_path(folder)
    if not folder.is_dir():
        raise DataNotFoundError(f"There is no folder {folder}.", hint="Build one with kgqa-bench build-incomplete.")
    builder: Builder = registry.create("builders", "incomplete")
    problems = builder.verify(folder)
    for problem in problems if all_problems else problems[:MOST_SHOWN]:
        typer.echo(without_controls(problem), err=True)
    if problems:
        if not all_problems and len(problems) > MOST_SHOWN:
            typer.echo(f"... and {len(problems) - MOST_SHOWN} more (--all shows them)", err=True)
        raise typer.Exit(EXIT_USAGE)
    typer.echo(f"{folder}: verified, no problem found")
