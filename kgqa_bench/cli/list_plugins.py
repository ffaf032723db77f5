"""``kgqa-bench list``: the plugins installed."""

from __future__ import annotations

from typing import Annotated

import typer


def list_plugins(
    kind: Annotated[
        str | None,
        typer.Argument(help="methods, benchmarks, graphs, models, metrics, protocols, miners or builders."),
    ] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the plugins of a kind with a line about each; without a kind, of all kinds."""
    from kgqa_bench import registry
    from kgqa_bench.errors import PluginError, StorageError, UnknownNameError

    wanted: list[registry.Kind] = [
        each for each in registry.KINDS if kind is None or kind in (each, each.removesuffix("s"))
    ]
    if not wanted:
        raise UnknownNameError(
            "kind of plugin", str(kind), registry.KINDS, hint=f"Kinds: {', '.join(registry.KINDS)}."
        )
    rows: dict[registry.Kind, dict[str, str]] = {}
    for each in wanted:
        rows[each] = {}
        for name in registry.names(each):
            try:
                rows[each][name] = registry.summary(registry.load(each, name))
            except (PluginError, StorageError) as problem:
                rows[each][name] = f"BROKEN: {problem}"
    if json_output:
        import orjson

        print(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    for title, plugins in rows.items():
        table = Table(title=title, title_justify="left", show_header=False, box=None, pad_edge=False)
        for name, text in plugins.items():
            table.add_row(escape(name), escape(text))
        Console().print(table)
