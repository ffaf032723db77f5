"""The default builds of Family and FB15k-237, made on first use into the cache."""

from __future__ import annotations

import hashlib
import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from kgqa_bench import registry
from kgqa_bench.contracts import Benchmark, BenchmarkData, Builder, GraphSource
from kgqa_bench.graph.sources.settings import BuiltSettings
from kgqa_bench.run.benchmark_folder import FolderSettings, is_built, load_folder
from kgqa_bench.storage import cache_folder, locked

from .settings import default_settings
from .wording import SENTENCES

if TYPE_CHECKING:
    from kgqa_bench.graph.protocol import Graph

_log = logging.getLogger(__name__)

_CODE = ("kgqa_bench.benchmarks.incomplete", "kgqa_bench.horn", "kgqa_bench.rules")
_LONGEST_BUILD = 3600.0


def built_folder(kg: str, data: Path | None) -> Path:
    """The folder of the default build of a graph with seed 0, built if it is not in the cache.

    It is built anew where the graph, the settings or the code of miner and builder have changed.

    Args:
        kg: The graph's registered name.
        data: The user's data folder.

    Raises:
        DataNotFoundError: The graph cannot be had.
        StorageError: The cache cannot be written.
    """
    from kgqa_bench.run.assemble import code_hash

    source: GraphSource = registry.create("graphs", kg)
    graph = source.load(data)
    settings = {**default_settings(kg), "kg": kg, "seed": 0}
    words = hashlib.sha256(SENTENCES.read_bytes()).hexdigest()
    parts = {"code": code_hash(_CODE), "words": words, "graph": graph.fingerprint, "settings": settings}
    key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
    folder = cache_folder("benchmarks") / f"{kg}-incomplete-{key}"
    if not is_built(folder):
        with locked(folder, timeout=_LONGEST_BUILD):
            if not is_built(folder):  # another process may have been first
                _log.warning("Building %s-incomplete (once; it is kept in %s).", kg, folder)
                builder: Builder = registry.create("builders", "incomplete", settings)
                builder.build(graph, folder)
    return folder


class _BuiltBenchmark(Benchmark):
    kg: ClassVar[str]
    Settings = FolderSettings

    def load(self, data: Path | None, seed: int) -> BenchmarkData:
        """Read the build, made on first use."""
        return load_folder(built_folder(self.kg, data), self.settings, seed)


class FamilyIncomplete(_BuiltBenchmark):
    """family-incomplete: questions whose direct triples are removed from Family, the default build with seed 0."""

    kg = "family"
    graph: ClassVar[str | None] = "family-incomplete"


class Fb15k237Incomplete(_BuiltBenchmark):
    """fb15k237-incomplete: questions whose direct triples are removed from FB15k-237, the default build, seed 0."""

    kg = "fb15k237"
    graph: ClassVar[str | None] = "fb15k237-incomplete"


class _BuiltGraph(GraphSource):
    kg: ClassVar[str]
    Settings = BuiltSettings

    def load(self, data: Path | None) -> Graph:
        """Read one of the build's two graphs; the build is made on first use."""
        from kgqa_bench.graph.sources.cached import cached_built

        return cached_built(built_folder(self.kg, data), self.settings.view)


class FamilyIncompleteGraph(_BuiltGraph):
    """The graph of family-incomplete: Family without the removed triples, entities under private labels."""

    kg = "family"


class Fb15k237IncompleteGraph(_BuiltGraph):
    """The graph of fb15k237-incomplete: FB15k-237 without the removed triples, entities under private labels."""

    kg = "fb15k237"
