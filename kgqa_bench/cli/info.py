"""``kgqa-bench info``: what a plugin does and which settings it or the linker has; statistics of a graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from kgqa_bench.contracts import PluginSettings


def info(
    name: Annotated[str, typer.Argument(help="A plugin's name, `linker`, a graph file or a run directory.")],
    data: Annotated[Path | None, typer.Option(help="Folder of data sets. Default: KGQA_BENCH_DATA.")] = None,
) -> None:
    """Describe a plugin and its settings; for a graph that can be had, its statistics; for a run, its result."""
    from kgqa_bench import registry
    from kgqa_bench.errors import UnknownNameError

    path = Path(name)
    if (path / "run.json").is_file():
        _show_run(path)
        return
    found = [kind for kind in registry.KINDS if registry.normalise(name) in registry.names(kind)]
    if not found and path.exists():
        _show_graph(name, data)
        return
    if not found and registry.normalise(name) == "linker":
        from kgqa_bench.text.linking import LinkerSettings

        _show_settings(LinkerSettings)
        return
    if not found:
        known = [each for kind in registry.KINDS for each in registry.names(kind)]
        known.append("linker")
        raise UnknownNameError("plugin", name, known, hint="`kgqa-bench list` shows all.")
    for kind in found:
        _show_plugin(kind, name)
        if kind == "graphs":
            _show_graph(name, data)


def _show_plugin(kind: Any, name: str) -> None:
    from inspect import getdoc

    from rich.console import Console
    from rich.markup import escape

    from kgqa_bench import registry

    plugin = registry.load(kind, name)
    console = Console()
    console.print(f"[bold]{escape(registry.normalise(name))}[/bold] ({kind[:-1]})")
    console.print(escape(getdoc(plugin) or ""), highlight=False)
    if plugin.Settings.model_fields:
        console.print()
        _show_settings(plugin.Settings)
    if kind == "models":
        from kgqa_bench.run.model_settings import GatewaySettings

        console.print()
        _show_settings(GatewaySettings)


def _show_settings(settings: type[PluginSettings]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.padding import Padding

    console = Console()
    console.print(escape(_remarks(settings)), highlight=False)
    console.print()
    for name, field in settings.model_fields.items():
        default = "required" if field.is_required() else repr(field.get_default(call_default_factory=True))
        kind = field.annotation
        written = kind.__name__ if isinstance(kind, type) and not hasattr(kind, "__args__") else str(kind)
        written = written.replace("typing.", "")
        console.print(f"[bold]{name}[/bold] = {escape(default)}  [dim]{escape(written)}[/dim]", highlight=False)
        console.print(Padding(escape(field.description or ""), (0, 0, 0, 4)), highlight=False)


def _remarks(settings: type[PluginSettings]) -> str:
    """The docstring of a settings class, and what those it inherits from say beyond their first line."""
    from inspect import cleandoc

    from kgqa_bench.contracts import PluginSettings

    classes = [each for each in settings.__mro__ if issubclass(each, PluginSettings) and each is not PluginSettings]
    own, *inherited = [cleandoc(each.__doc__ or "") for each in classes]
    further = (text.partition("\n\n")[2] for text in inherited)
    return "\n\n".join(filter(None, (own, *further)))


def _show_graph(name: str, data: Path | None) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from kgqa_bench.errors import DataNotFoundError
    from kgqa_bench.graph.open import open_graph
    from kgqa_bench.graph.whole import statistics
    from kgqa_bench.storage import data_folder

    console = Console()
    try:
        graph = open_graph(name, data_folder(data), {})
    except DataNotFoundError as problem:
        console.print(escape(f"not at hand: {problem}"), highlight=False)
        return
    table = Table(title="graph", title_justify="left", show_header=False)
    for key, value in {**statistics(graph), "fingerprint": graph.fingerprint, **graph.provenance}.items():
        table.add_row(escape(str(key)), escape(str(value)))
    console.print(table)


def _show_run(path: Path) -> None:
    from kgqa_bench.cli.show import print_results
    from kgqa_bench.run.directory import read_info
    from kgqa_bench.run.execute import RunResult
    from kgqa_bench.run.summary import summarise

    print_results({"": RunResult(path, read_info(path), summarise(path))})
