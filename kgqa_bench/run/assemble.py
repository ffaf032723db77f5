"""From a configuration to everything a run needs: plugins, questions, graph, hashes."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module, resources
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

import kgqa_bench
from kgqa_bench import registry
from kgqa_bench.contracts import Benchmark, BenchmarkData, Method
from kgqa_bench.domain import Item
from kgqa_bench.errors import ConfigError, DataError, UnknownNameError
from kgqa_bench.llm.resolve import model_source
from kgqa_bench.run.config import DEFAULT_MODEL, MODEL_VARIABLE, RunConfig
from kgqa_bench.run.model_settings import model_setup
from kgqa_bench.run.resources import Resources
from kgqa_bench.run.schema import Hashes, RunInfo
from kgqa_bench.storage import data_folder, user_path

if TYPE_CHECKING:
    from kgqa_bench.graph.protocol import Graph


@dataclass
class Plan:
    """A run ready to start.

    Attributes:
        config: The configuration with its defaults filled in.
        method_name: The method's registered name.
        method: The method.
        benchmark_name: The benchmark's registered name, or the question file's name.
        data: The loaded benchmark.
        items: The questions asked, after --limit and --questions.
        resources: Graph, embedder, linker and solved examples.
    """

    config: RunConfig
    method_name: str
    method: Method
    benchmark_name: str
    data: BenchmarkData
    items: tuple[Item, ...]
    resources: Resources

    @property
    def model_name(self) -> str | None:
        """The model asked, or None for a method that asks none."""
        return self.config.model if self.method.uses_model else None

    def info(self) -> RunInfo:
        """What run.json records."""
        graph_hash, graph = self._graph()
        return RunInfo(
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            config=self.config.model_dump(mode="json"),
            method_settings=self.method.settings.model_dump(mode="json"),
            model=self.model_name,
            uses_gold=self.method.uses_gold,
            versions={
                "kgqa-bench": kgqa_bench.__version__,
                "python": platform.python_version(),
                "platform": sys.platform,
            },
            hashes=Hashes(
                code=code_hash(),
                prompts=_digest([dict(sorted(self.method.prompts.items())), _shared_wording()]),
                split=_digest([_item_parts(item) for item in self.items]),
                graph=graph_hash,
            ),
            benchmark={
                "name": self.benchmark_name,
                "asked": len(self.items) + sum(self.unasked.values()),
                **({"unasked": dict(self.unasked)} if self.unasked else {}),
                "kinds": sorted({item.question.kind for item in self.items}),
                "loaded": len(self.data.items),
                "provenance": dict(self.data.provenance),
            },
            graph=graph,
        )

    @property
    def unasked(self) -> Mapping[str, int]:
        """Questions that count as wrong without being asked, by reason: only where the whole split is asked."""
        whole = self.config.limit is None and self.config.questions is None
        return self.data.unasked if whole else {}

    def _graph(self) -> tuple[str | None, dict[str, Any] | None]:
        """Hash of the graph, or of all graphs where questions have their own, and what run.json says about it."""
        if not self.method.uses_graph:
            return None, None
        own = self.resources.own_graphs
        if own is not None:
            return own.fingerprint, {"name": "each question's own", **own.facts}
        graph = self.resources.load_graph()
        return _graph_hash(graph), {
            "name": self.config.graph,
            "entities": graph.num_entities,
            "relations": graph.num_relations,
            "triples": graph.num_triples,
            "provenance": dict(graph.provenance),
        }


def assemble(config: RunConfig) -> Plan:
    """Resolve names and defaults, load the questions.

    Raises:
        UnknownNameError, ConfigError: A name or a setting is wrong.
        DataNotFoundError, DataError: The questions cannot be had, or are malformed.
    """
    method: Method = registry.create("methods", config.method, config.scoped(None))
    benchmark_name, benchmark = find_benchmark(config)
    data = benchmark.load(data_folder(config.data), config.seed)
    items = _select(data.items, config)
    kinds = {item.question.kind for item in items}
    if not kinds <= method.kinds:
        raise ConfigError(
            f"{config.method} answers questions of kind {', '.join(sorted(method.kinds))}; "
            f"{benchmark_name} has {', '.join(sorted(kinds - method.kinds))}."
        )
    chosen = config.model if config.model is not None else os.environ.get(MODEL_VARIABLE) or DEFAULT_MODEL
    model = chosen if method.uses_model else None
    filled = config.model_copy(
        update={
            "model": model,
            "concurrency": config.concurrency or (model_source(model, config.base_url).concurrency if model else 1),
            "graph": (config.graph or benchmark.implied_graph) if method.uses_graph else None,
        }
    )
    if model is not None:
        model_setup(model, filled)  # refuses wrong settings
    resources = Resources(filled, benchmark_name, data.exemplars, data.graphs)
    if method.uses_graph:
        resources.check_settings()
    return Plan(filled, registry.normalise(config.method), method, benchmark_name, data, items, resources)


def find_benchmark(config: RunConfig) -> tuple[str, Benchmark]:
    """The benchmark that a run asks for. As ``open_benchmark``."""
    return open_benchmark(config.benchmark, config.scoped("benchmark"))


def open_benchmark(name: str, settings: Mapping[str, Any]) -> tuple[str, Benchmark]:
    """A benchmark by its registered name, or from a question file or a built folder; not yet loaded. With its name.

    Raises:
        UnknownNameError, ConfigError: There is none of that name, or it has no such setting.
    """
    if name.endswith((".jsonl", ".jsonl.gz")):
        from kgqa_bench.run.question_file import QuestionFile

        registry.checked_settings("a question file", QuestionFile.Settings, dict(settings))
        return Path(name).name, QuestionFile(Path(name))
    folder = user_path(name)
    if registry.normalise(name) not in registry.names("benchmarks") and folder.is_dir():
        from kgqa_bench.run.benchmark_folder import BenchmarkFolder, FolderSettings

        chosen = registry.checked_settings(f"the folder {folder}", FolderSettings, dict(settings))
        return folder.resolve().name, BenchmarkFolder(folder, chosen)
    try:
        benchmark: Benchmark = registry.create("benchmarks", name, dict(settings))
    except UnknownNameError as problem:
        if Path(name).exists():
            problem.hint = "A file of your own questions must end in .jsonl."
        raise
    return registry.normalise(name), benchmark


def _select(items: tuple[Item, ...], config: RunConfig) -> tuple[Item, ...]:
    seen: set[str] = set()
    for item in items:
        if item.question.id in seen:
            raise DataError(f"{config.benchmark}: two questions have this id.", row=item.question.id)
        seen.add(item.question.id)
    if config.questions is not None:
        for question_id in config.questions:
            if question_id not in seen:
                raise UnknownNameError("question", question_id, seen)
        wanted = set(config.questions)
        items = tuple(item for item in items if item.question.id in wanted)
    items = items[: config.limit]
    if not items:
        raise ConfigError(f"{config.benchmark} has no question to ask.")
    return items


def _item_parts(item: Item) -> list[Any]:
    question = item.question
    options = [[option.label, option.text] for option in question.options]
    parts = [question.id, question.kind, question.text, options, question.topic_entities, item.gold.answers]
    return parts if item.gold.primary is None else [*parts, item.gold.hard_answers, item.gold.primary]


def _digest(value: Any) -> str:
    return hashlib.blake2b(orjson.dumps(value), digest_size=16).hexdigest()


def _graph_hash(graph: Graph) -> str:
    """Hash of the graph and of its labels, which are what models and linkers get to read."""
    hasher = hashlib.blake2b(graph.fingerprint.encode(), digest_size=16)
    for label in chain(graph.entity_labels(), map(graph.relation_label, range(graph.num_relations))):
        hasher.update(label.encode("utf-8", "surrogatepass") + b"\0")
    return hasher.hexdigest()


def _shared_wording() -> list[str]:
    """The sources of what all methods put into prompts: questions, answer forms, triples in words."""
    text = resources.files("kgqa_bench.text")
    return [text.joinpath(name).read_text(encoding="utf-8") for name in ("question.py", "verbalise.py")]


_SOURCES = ("kgqa_bench", "kgqa_bench.benchmarks", "kgqa_bench.methods", "kgqa_bench.rules")


def code_hash(packages: Sequence[str] = _SOURCES) -> str:
    """Hash of all Python sources of some packages, the same from a checkout and from a wheel.

    By default those of the whole project; plugins of other distributions are left out.
    """
    files: dict[str, Path] = {}  # by the path in the package: a checkout has the plugin folders elsewhere
    for package in packages:
        root = Path(import_module(package).__path__[0])
        files |= {
            f"{package.replace('.', '/')}/{file.relative_to(root).as_posix()}": file for file in root.rglob("*.py")
        }
    hasher = hashlib.blake2b(digest_size=16)
    for name, file in sorted(files.items()):
        hasher.update(name.encode() + b"\0" + file.read_bytes() + b"\0")
    return hasher.hexdigest()
