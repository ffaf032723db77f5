"""``kgqa-bench audit``: what is wrong with a KGQA question set, and how it is distributed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

EXIT_DEFECTS = 1


def audit(
    path: Annotated[
        Path, typer.Argument(help="A built benchmark, BRINK's files, MetaQA, rows as RoG's, or questions (.jsonl).")
    ],
    graph: Annotated[
        str | None, typer.Option(help="The graph that methods see, by name or file; else the one beside the set.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="Folder of data sets. Default: KGQA_BENCH_DATA.")] = None,
    hops: Annotated[
        int, typer.Option(min=0, help="Answers further than this from every topic count as unreachable.")
    ] = 4,
    json_output: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    fail_on_defects: Annotated[bool, typer.Option(help=f"Exit with {EXIT_DEFECTS} if there is a defect.")] = False,
) -> None:
    """Audit a KGQA question set: direction of gold answers, reachability, leakage between splits, duplicates, twins.

    Exit code 0 whatever is found, unless --fail-on-defects is given.
    """
    from kgqa_bench.audit.report import audit_set
    from kgqa_bench.question_sets.find import find_set
    from kgqa_bench.storage import user_path

    found = find_set(user_path(path), None if graph is None else lambda: _open_memory(graph, data))
    report = audit_set(found, hops)
    if json_output:
        import orjson

        typer.echo(orjson.dumps(report, option=orjson.OPT_INDENT_2).decode())
    else:
        print_report(report, str(path))
    if fail_on_defects and any(report["defects"].values()):
        raise typer.Exit(EXIT_DEFECTS)


def _open_memory(name: str, data: Path | None) -> Any:
    from kgqa_bench.errors import ConfigError
    from kgqa_bench.graph.memory import MemoryGraph
    from kgqa_bench.graph.open import open_graph
    from kgqa_bench.storage import data_folder

    graph = open_graph(name, data_folder(data), {})
    if not isinstance(graph, MemoryGraph):
        raise ConfigError(f"{name} answers over the network; an audit needs a graph in memory.")
    return graph


def print_report(report: dict[str, Any], title: str) -> None:
    """Print a report of ``audit_set`` as tables."""
    from rich.console import Console
    from rich.markup import escape

    console = Console()
    console.print(f"[bold]{escape(title)}[/bold] ({report['form']})", highlight=False)
    _print(console, "questions", {**report["questions"]["by_split"], "all": report["questions"]["total"]})
    _print(console, "defects (questions)", report["defects"])
    direction = report["direction"]
    if direction["checked"]:
        _print(
            console, "gold answers against the complete graph", {"checked": direction["checked"]} | _worded(direction)
        )
        _examples(console, direction["examples"])
    reach = report["reach"]
    if reach["checked"]:
        figures = {"checked": reach["checked"]}
        figures |= {"not connected" if hops == "none" else f"{hops} hops": n for hops, n in reach["by_hops"].items()}
        figures |= {f"{what} not in the graph": n for what, n in reach["not_in_graph"].items()}
        _print(console, "nearest answer to a topic", figures)
        _examples(console, reach["examples"])
    leaks = {
        f"{kind}, {pair}": f"{found['rows']} of {found['of']}"
        for kind, pairs in report["leakage"].items()
        for pair, found in pairs.items()
    }
    if leaks:
        _print(console, "rows of the later split that share with the earlier", leaks)
    if report["twins"]["checked"]:
        _print(console, "left between tail and head of the removed triple", _twins(report["twins"]))
    answers = dict(report["gold"]["answers_per_question"])
    _print(
        console,
        "answers a question",
        answers.pop("counts") | answers | {"with commas": report["gold"]["with_commas"]},
    )
    if report["graph"]:
        _print(
            console,
            "graph that methods see",
            _graph(report["graph"]),
        )
    own = report["own_graphs"]
    if own["questions"]:
        sizes = {f"{what}, {size}": n for what in ("triples", "entities") for size, n in own[what].items()}
        _print(console, "graphs of the questions", {"questions": own["questions"]} | sizes)


def _worded(direction: dict[str, Any]) -> dict[str, Any]:
    return {
        **direction["verdicts"],
        "wording tells the direction": direction["wording_known"],
        "of these against the triple": direction["wording_reversed"],
    }


def _graph(graph: dict[str, Any]) -> dict[str, Any]:
    shown = {name: value for name, value in graph["seen"].items() if not name.startswith("confidence")}
    return shown | {"triples of the complete graph": graph["complete_triples"]}


def _twins(twins: dict[str, Any]) -> dict[str, Any]:
    figures = {
        what.replace("_", " "): twins[what] for what in ("checked", "same_relation", "another_relation", "none")
    }
    for stated, found in twins["by_stated"].items():
        if stated != "not stated":
            figures[f"stated as {stated}"] = ", ".join(
                f"{what.replace('_', ' ')} {n}" for what, n in found.items() if n
            )
    return figures


def _print(console: Console, title: str, figures: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    table: Table = Table(title=title, title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, value in figures.items():
        written = f"{value:,}" if isinstance(value, int | float) else str(value)
        table.add_row(escape(name.replace("_", " ")), escape(written))
    console.print(table)


def _examples(console: Console, examples: list[dict[str, Any]]) -> None:
    from rich.markup import escape

    from kgqa_bench.errors import without_controls

    for example in examples:
        rest = {key: value for key, value in example.items() if key not in ("split", "id", "question")}
        words = ", ".join(f"{key.replace('_', ' ')} {_written(value)}" for key, value in rest.items())
        line = f"{example['split']} {example['id']}: {example['question']} ({words})"
        console.print(f"  [dim]{escape(without_controls(line))}[/dim]", highlight=False)


def _written(value: Any) -> str:
    """A value of an example: texts in lists with commas between them, empty ones as a dash."""
    if isinstance(value, dict):
        return "; ".join(f"{key} {_written(each)}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    return "-" if value is None else str(value)
