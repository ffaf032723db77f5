"""``kgqa-bench mine``: the Horn rules of a graph."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from time import perf_counter
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
    from kgqa_bench.contracts import Miner
    from kgqa_bench.graph.memory import MemoryGraph
    from kgqa_bench.horn.rule import MinedRule

_MINER, _OUTPUT = "Miner", "Output"


def mine(
    kg: Annotated[str, typer.Option(help="Graph, or a graph file or folder.", rich_help_panel=GRAPH)],
    part: Part = None,
    data: Data = None,
    people: People = None,
    min_head_coverage: MinHeadCoverage = None,
    min_std_confidence: MinStdConfidence = None,
    min_pca_confidence: MinPcaConfidence = None,
    max_length: Annotated[
        int | None, typer.Option(help="Most atoms, head included: 2, 3 or 4. Default: 3.", rich_help_panel=RULES)
    ] = None,
    min_head_size: MinHeadSize = None,
    relations: Annotated[
        str | None,
        typer.Option(help="Only these head relations, separated by commas. Default: all.", rich_help_panel=RULES),
    ] = None,
    miner: Annotated[
        str, typer.Option(help="native, or amie-jar for the original AMIE 3.", rich_help_panel=_MINER)
    ] = "native",
    jar: Annotated[
        Path | None, typer.Option(help="AMIE 3's jar, with --miner amie-jar.", rich_help_panel=_MINER)
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(help="Threads; the rules do not depend on it. Default: all cores.", rich_help_panel=_MINER),
    ] = None,
    further: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A further setting of the miner, such as max_memory=8g for amie-jar.",
            rich_help_panel=_MINER,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File for the rules; - for stdout. Default: ./KG-rules.tsv, if that is not there.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    json_output: Annotated[
        bool, typer.Option("--json", help="Print the summary as JSON on stdout.", rich_help_panel=_OUTPUT)
    ] = False,
) -> None:
    """Mine the closed Horn rules of a graph with AMIE 3's semantics, as a table with all counts.

    Symmetry, inversion, hierarchy, composition and other rules of up to four atoms. The same rules and numbers for
    any number of threads and any order of the triples.
    """
    from kgqa_bench.cli.stage_progress import stage_progress
    from kgqa_bench.errors import DataError
    from kgqa_bench.graph.open_parts import open_kg
    from kgqa_bench.horn.rule_files import check_relation_names, rule_table, write_rules
    from kgqa_bench.storage import data_folder

    target = _target(kg, out, json_output)
    chosen = {
        "min_head_coverage": min_head_coverage,
        "min_std_confidence": min_std_confidence,
        "min_pca_confidence": min_pca_confidence,
        "max_length": max_length,
        "min_head_size": min_head_size,
        "threads": threads,
        "jar": jar,
    }
    settings: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    if further:
        from kgqa_bench.run.config import parse_settings

        settings = parse_settings(further) | settings
    _miner(miner, settings)  # before a large graph is read
    started = perf_counter()
    graph = open_kg(kg, part, data_folder(data), {} if people is None else {"people": people})
    names = [graph.relation_name(relation) for relation in range(graph.num_relations)]
    check_relation_names(set(names))
    if relations is not None:
        settings["relations"] = _head_relations(graph, relations)
    digger = _miner(miner, settings)
    loaded = perf_counter()
    with stage_progress() as progress:
        rules = digger.mine(graph, progress)
    mined = perf_counter()
    if not rules:
        raise DataError(
            f"{kg} has no rule within the thresholds.",
            hint="Lower --min-head-coverage, --min-std-confidence, --min-pca-confidence or --min-head-size.",
        )
    if target is None:
        sys.stdout.write(rule_table(rules))
    else:
        write_rules(target, rules)
    facts: dict[str, Any] = {
        "kg": kg,
        "part": ",".join(graph.provenance.get("parts", ())) or None,
        "triples": graph.num_triples,
        "entities": graph.num_entities,
        "relations": graph.num_relations,
        "fingerprint": graph.fingerprint,
        "miner": miner,
        "settings": digger.settings.model_dump(mode="json"),
        **_counts(rules),
        "seconds": {"load": round(loaded - started, 3), "mine": round(mined - loaded, 3)},
        "peak_memory_bytes": _peak_memory(),
        "out": None if target is None else str(target),
    }
    if json_output:
        import orjson

        print(orjson.dumps(facts, option=orjson.OPT_INDENT_2).decode())
    else:
        _show(facts, rules, to_stderr=target is None)


def _target(kg: str, out: Path | None, json_output: bool) -> Path | None:
    """The file to write, checked before anything is mined; None for stdout."""
    from kgqa_bench.errors import ConfigError, StorageError
    from kgqa_bench.storage import user_path

    if out is not None and str(out) == "-":
        if json_output:
            raise ConfigError("--json and --out - both write to stdout.", hint="Give a file by --out.")
        return None
    path = Path(f"{Path(kg).stem}-rules.tsv") if out is None else user_path(out)
    if out is None and path.exists():
        raise ConfigError(f"{path} is there already.", hint="Give --out FILE; it is then written anew.")
    if path.exists() and not path.is_file():
        what = "a folder" if path.is_dir() else "no file"
        raise ConfigError(f"--out {path} is {what}.", hint="Give a file, or - for stdout.")
    if not path.parent.is_dir():
        raise ConfigError(
            f"There is no folder {path.parent} to write {path.name} into.", hint="Make it, or choose another."
        )
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise StorageError(f"Cannot write into {path.parent}: no permission.", hint="Choose another --out.")
    return path


def _miner(name: str, settings: dict[str, Any]) -> Miner:
    from kgqa_bench import registry
    from kgqa_bench.errors import ConfigError

    if "jar" in settings and "jar" not in registry.load("miners", name).Settings.model_fields:
        raise ConfigError(f"The miner {name} has no jar.", hint="Give --miner amie-jar with --jar.")
    miner: Miner = registry.create("miners", name, settings)
    return miner


def _head_relations(graph: MemoryGraph, relations: str) -> tuple[str, ...]:
    """The names with commas between them; one name where the graph has a relation that is called all of it."""
    from kgqa_bench.errors import ConfigError

    if graph.find_relation(relations) is not None:
        return (relations,)
    names = tuple(dict.fromkeys(filter(None, (name.strip() for name in relations.split(",")))))
    if not names:
        raise ConfigError("--relations names no relation.")
    for name in names:
        graph.relation(name)  # an unknown one is refused here
    return names


def _counts(rules: list[MinedRule]) -> dict[str, Any]:
    from kgqa_bench.horn.rule import RULE_SUBTYPES, RULE_TYPES

    types = Counter(mined.rule.type for mined in rules)
    subtypes = Counter(mined.rule.subtype for mined in rules)
    return {
        "rules": len(rules),
        "types": {name: types[name] for name in RULE_TYPES},
        "other_subtypes": {name: subtypes[name] for name in RULE_SUBTYPES},
    }


def _peak_memory() -> int | None:
    """The most bytes resident at a time in this process or one that it ran; None where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return peak if sys.platform == "darwin" else peak * 1024


def _show(facts: dict[str, Any], rules: list[MinedRule], to_stderr: bool) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    part = f", {facts['part']}" if facts["part"] else ""
    table = Table(title=escape(f"Rules of {facts['kg']}{part}"), title_justify="left")
    table.add_column("type", no_wrap=True)
    for heading in ("rules", "mean head coverage", "mean std confidence", "mean PCA confidence"):
        table.add_column(heading, justify="right")
    for name in facts["types"]:
        table.add_row(name, *_means([mined for mined in rules if mined.rule.type == name]))
    for name in facts["other_subtypes"]:
        table.add_row(f"  {name}", *_means([mined for mined in rules if mined.rule.subtype == name]))
    table.add_section()
    table.add_row("all", *_means(rules))
    console = Console(stderr=to_stderr)
    console.print(table)
    peak, seconds = facts["peak_memory_bytes"], facts["seconds"]
    memory = "" if peak is None else f", peak memory {peak / 1e9:.2f} GB"
    lines = [
        f"{facts['triples']:,} triples, {facts['entities']:,} entities, {facts['relations']} relations",
        f"loaded in {seconds['load']:.2f} s, mined in {seconds['mine']:.2f} s{memory}",
    ]
    if facts["out"] is not None:
        lines.append(f"rules in {facts['out']}")
    for line in lines:
        console.print(escape(line), highlight=False, soft_wrap=True)


def _means(rules: list[MinedRule]) -> list[str]:
    if not rules:
        return ["0", "", "", ""]
    columns = (
        [mined.head_coverage for mined in rules],
        [mined.std_confidence for mined in rules],
        [mined.pca_confidence for mined in rules],
    )
    return [f"{len(rules):,}", *(f"{sum(column) / len(rules):.3f}" for column in columns)]
