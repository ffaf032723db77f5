"""``kgqa-bench``: the commands together. Heavy imports wait until one of them runs."""

from __future__ import annotations

import gc
import logging
import os
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from kgqa_bench import __version__
from kgqa_bench.cli import (
    EXIT_CODES,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_USAGE,
    audit,
    build_incomplete,
    compare,
    doctor,
    info,
    list_plugins,
    mine,
    run,
    score,
    suite,
    validate,
    verify,
)
from kgqa_bench.errors import KgqaBenchError, ModelError, StorageError

app = typer.Typer(
    name="kgqa-bench",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Question answering over knowledge graphs with language models: run, compare, trust.",
    epilog=EXIT_CODES,
)
app.command("run")(run.run)
app.command("suite")(suite.suite)
app.command("score")(score.score)
app.command("compare")(compare.compare)
app.command("mine")(mine.mine)
app.command("build-incomplete")(build_incomplete.build_incomplete)
app.command("verify")(verify.verify)
app.command("audit")(audit.audit)
app.command("list")(list_plugins.list_plugins)
app.command("info")(info.info)
app.command("validate")(validate.validate)
app.command("doctor")(doctor.doctor)


def _version(asked: bool) -> None:
    if asked:
        print(f"kgqa-bench {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log what is done, and tracebacks.")] = False,
) -> None:
    level = logging.INFO if verbose else logging.WARNING
    logging.basicConfig(level=level, format="%(levelname)s: %(message)s", stream=sys.stderr)
    logging.getLogger("kgqa_bench").setLevel(level)


def main() -> None:
    """Entry point of the console script: errors become one readable message and an exit code."""
    # Threads that spin while they wait slow a small model on a busy machine tenfold.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal without ↑ or ┃ shows ? for it
            stream.reconfigure(errors="replace")
    # Questions and records stay; looking for garbage among them over and over costs a tenth of a short run's time.
    gc.set_threshold(50_000, 20, 20)
    try:
        app()
    except KgqaBenchError as problem:
        print(f"Error: {problem}", file=sys.stderr)
        sys.exit(EXIT_FAILED if isinstance(problem, ModelError | StorageError) else EXIT_USAGE)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except OSError as problem:  # a path that may not be looked at, a disk that fails
        print(f"Error: {problem}", file=sys.stderr)
        sys.exit(EXIT_FAILED)


if __name__ == "__main__":
    main()
