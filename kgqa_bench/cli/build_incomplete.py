"""``kgqa-bench build-incomplete``: a benchmark over an incomplete graph, from mined rules, with proof."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgqa_bench.cli.mining_options import (
    GRAPH,
    RULES,
    Data,
    MinHeadCoverage,
    MinHeadSize,
    MinPcaConfidence,
    MinStdConfidence,
    Part,
    People,
)

if TYPE_CHECKING:
    from kgqa_bench.contracts import Builder

_REMOVAL, _QUESTIONS, _OUTPUT = "Removal", "Questions", "Output"


def build_incomplete(
    kg: Annotated[
        str | None,
        typer.Option(
            help="family, fb15k237, another graph, or a graph file or folder. Only --questions may do without.",
            rich_help_panel=GRAPH,
        ),
    ] = None,
    part: Part = None,
    data: Data = None,
    people: People = None,
    rules: Annotated[
        Path | None,
        typer.Option(help="A file of rules, ours or AMIE's, to take instead of mining.", rich_help_panel=RULES),
    ] = None,
    min_head_coverage: MinHeadCoverage = None,
    min_std_confidence: MinStdConfidence = None,
    min_pca_confidence: MinPcaConfidence = None,
    max_length: Annotated[
        int | None,
        typer.Option(help="Most atoms, head included: 2, 3 or 4. Default: 3; 4 for fb15k237.", rich_help_panel=RULES),
    ] = None,
    min_head_size: MinHeadSize = None,
    max_rules: Annotated[
        int | None,
        typer.Option(
            help="Most rules, drawn evenly over their types; 0 for all. Default: all; 1,066 for fb15k237.",
            rich_help_panel=RULES,
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(help="Threads; the result does not depend on it. Default: all cores.", rich_help_panel=RULES),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            help="corrected, or released for the published procedure with its defects. Default: corrected.",
            rich_help_panel=_REMOVAL,
        ),
    ] = None,
    removal: Annotated[
        str,
        typer.Option(
            help="rules: triples that a rule can restore; random: any; shortest-path: one on a question's way.",
            rich_help_panel=_REMOVAL,
        ),
    ] = "rules",
    rate: Annotated[
        float | None,
        typer.Option(
            help="Share removed, nested by seed: of the triples that may be, or of the questions for shortest-path. "
            "Default: 1.",
            rich_help_panel=_REMOVAL,
        ),
    ] = None,
    groundings: Annotated[
        int | None, typer.Option(help="Most groundings of a rule. Default: 30.", rich_help_panel=_REMOVAL)
    ] = None,
    twins: Annotated[
        str | None,
        typer.Option(
            help="Triples from a removed triple's tail back to its head: mark, keep or remove. Default: mark.",
            rich_help_panel=_REMOVAL,
        ),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            help="With --removal random or shortest-path: a question set of its own (a built folder, .jsonl, or "
            "MetaQA's .txt). Default: the questions that the rules give.",
            rich_help_panel=_QUESTIONS,
        ),
    ] = None,
    max_questions: Annotated[
        int | None,
        typer.Option(
            help="Most questions, drawn evenly over rule types; 0 for all. Default: all; 5,449 for fb15k237. "
            "The released mode takes all.",
            rich_help_panel=_QUESTIONS,
        ),
    ] = None,
    max_answers: Annotated[
        int | None,
        typer.Option(
            help="Leave questions with more answers out, and count them. Default: 100.", rich_help_panel=_QUESTIONS
        ),
    ] = None,
    max_share: Annotated[
        float | None,
        typer.Option(
            help="Most questions of a split with one primary answer, as a share of it. Default: no limit.",
            rich_help_panel=_QUESTIONS,
        ),
    ] = None,
    wording: Annotated[
        str | None,
        typer.Option(
            help="template, or llm for a language model's words. Default: template.", rich_help_panel=_QUESTIONS
        ),
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model of --wording llm.", rich_help_panel=_QUESTIONS)] = None,
    base_url: Annotated[
        str | None,
        typer.Option(help="Address of that model's OpenAI-compatible server.", rich_help_panel=_QUESTIONS),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            help="What entities are called: private (random numbers), id or text. Default: private.",
            rich_help_panel=_QUESTIONS,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seeds every draw.", rich_help_panel=_OUTPUT)] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder to make. Default: ./KG-incomplete.", rich_help_panel=_OUTPUT)
    ] = None,
    json_output: Annotated[
        bool, typer.Option("--json", help="Print the figures as JSON on stdout.", rich_help_panel=_OUTPUT)
    ] = False,
) -> None:
    """Build questions whose direct triple is removed from a graph while what implies it stays.

    Mines rules, samples their groundings, removes head triples that no kept grounding needs, words a question for
    each and splits them. Every removed triple has a certificate; `kgqa-bench verify` checks them all.
    """
    from kgqa_bench import registry
    from kgqa_bench.cli.stage_progress import stage_progress
    from kgqa_bench.errors import ConfigError
    from kgqa_bench.graph.open_parts import open_kg
    from kgqa_bench.storage import data_folder, user_path

    if kg is None and questions is None:
        raise ConfigError("There is no graph to build from.", hint="Give --kg NAME or --kg FILE.")
    if kg is None and (part is not None or people is not None):
        option = "--part" if part is not None else "--people"
        raise ConfigError(f"{option} is about a graph, and none is named.", hint="Give --kg NAME, or leave it out.")
    name = _name(kg or str(questions))
    target = user_path(out) if out is not None else Path(f"{name}-incomplete")
    given: dict[str, Any] = {
        "kg": name,
        "min_head_coverage": min_head_coverage,
        "min_std_confidence": min_std_confidence,
        "min_pca_confidence": min_pca_confidence,
        "max_length": max_length,
        "min_head_size": min_head_size,
        "max_rules": max_rules,
        "threads": threads,
        "rules": rules,
        "mode": mode,
        "removal": removal,
        "rate": rate,
        "groundings": groundings,
        "twins": twins,
        "questions": questions,
        "max_questions": max_questions,
        "max_answers": max_answers,
        "max_share": max_share,
        "wording": wording,
        "model": model,
        "base_url": base_url,
        "labels": labels,
        "seed": seed,
    }
    chosen = {key: value for key, value in given.items() if value is not None}
    for key in ("max_rules", "max_questions"):
        if chosen.get(key) == 0:
            chosen[key] = None
    defaults = registry.load("builders", "incomplete").defaults(name)
    builder: Builder = registry.create("builders", "incomplete", {**defaults, **chosen})
    builder.check(target)  # before a large graph is read
    source: dict[str, Any] = {} if people is None else {"people": people}
    graph = open_kg(kg, part, data_folder(data), source) if kg is not None else None
    with stage_progress() as progress:
        figures = builder.build(graph, target, progress)
    if json_output:
        import orjson

        print(orjson.dumps({"out": str(target), **figures}, option=orjson.OPT_INDENT_2).decode())
    else:
        _show(target, figures)


def _name(kg: str) -> str:
    """A registered graph's name, or that of a file or folder without its ending."""
    from kgqa_bench import registry

    name = registry.normalise(kg)
    return name if name in registry.names("graphs") else Path(kg).resolve().name.partition(".")[0]


# what the table shows of the figures; the data card has all of them
_SHOWN = ("rules", "triples", "questions", "questions by twin", "questions by hops", "build")


def _show(target: Path, figures: Mapping[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    table = Table(title=escape(target.name), title_justify="left", show_header=False)
    shown = {key: figures[key] for key in _SHOWN} if "rules" in figures else figures
    for key, value in _rows(shown):
        table.add_row(escape(key.removeprefix("build: ")), escape(value))
    console.print(table)
    console.print(escape(f"folder {target}"), soft_wrap=True, highlight=False)


def _rows(figures: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Nested figures as rows: a mapping of plain values in one row, others below their name."""
    rows = []
    for key, value in figures.items():
        name = f"{prefix}{key}"
        if not isinstance(value, dict):
            rows.append((name, _text(value)))
        elif not any(isinstance(part, dict) for part in value.values()):
            rows.append((name, ", ".join(f"{part} {_text(number)}" for part, number in value.items())))
        else:
            rows += _rows(value, f"{name}: ")
    return rows


def _text(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
