"""``kgqa-bench doctor``: what this installation can do, and how to get the rest."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

import typer

_OPTIONAL = {
    "xllamacpp": "local",
    "sentence-transformers": "local",
    "transformers": "local",
    "torch": "local",
    "trl": "train",
    "peft": "train",
    "vllm": "vllm",
    "matplotlib": "plot",
}


def doctor() -> None:
    """Check the installation: versions, optional packages, folders, plugins. Exit code 1 if a plugin is broken."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from kgqa_bench import __version__, registry
    from kgqa_bench.errors import KgqaBenchError, PluginError, StorageError
    from kgqa_bench.storage import CACHE_VARIABLE, DATA_VARIABLE, cache_folder, data_folder

    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_row("kgqa-bench", __version__)
    table.add_row("python", f"{platform.python_version()} on {platform.platform()}")
    for package, extra in _OPTIONAL.items():
        present = find_spec(package.replace("-", "_")) is not None
        remedy = f"missing: pip install 'kgqa-bench[{extra}]'"
        table.add_row(package, escape(_version(package) if present else remedy))
    data = data_folder()
    if data is None:
        table.add_row("data folder", f"none: set {DATA_VARIABLE}, or give --data; else the hub is asked")
    else:
        table.add_row("data folder", escape(f"{data}" if data.is_dir() else f"{data} does not exist"))
    try:
        table.add_row("cache folder", escape(f"{cache_folder()} ({CACHE_VARIABLE} moves it)"))
    except KgqaBenchError as problem:
        table.add_row("cache folder", escape(str(problem)))
    table.add_row("OPENAI_API_KEY", "set" if os.environ.get("OPENAI_API_KEY") else "not set")
    broken = []
    for kind in registry.KINDS:
        names = registry.names(kind)
        for name in names:
            try:
                registry.load(kind, name)
            except (PluginError, StorageError) as problem:
                broken.append(str(problem))
        table.add_row(kind, escape(", ".join(names)))
    console = Console()
    console.print(table, highlight=False)
    for problem_text in broken:
        console.print(escape(f"broken plugin: {problem_text}"), highlight=False)
    if broken:
        raise typer.Exit(1)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "present"
