"""family-mini: the shipped benchmark over an incomplete graph, built from a made-up family tree.

The files beside this module are what ``python -m kgqa_bench.benchmarks.family_mini FOLDER`` makes, byte for byte;
README.md is their data card. Nothing in them is taken from another data set, and scores on them say nothing about the
published Family.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from kgqa_bench.contracts import Benchmark, BenchmarkData, GraphSource
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.graph.sources.settings import BuiltSettings
from kgqa_bench.run.benchmark_folder import FolderSettings, load_folder

FOLDER = Path(__file__).parent


class FamilyMini(Benchmark):
    """family-mini: family questions whose direct triples are gone from the graph, shipped with the package."""

    Settings = FolderSettings
    graph: ClassVar[str | None] = "family-mini"

    def load(self, data: Path | None, seed: int) -> BenchmarkData:
        """Read one split; ``data`` is not used."""
        return load_folder(FOLDER, self.settings, seed)


class FamilyMiniGraph(GraphSource):
    """family-mini: a made-up family tree without the triples that were removed, shipped with the package."""

    Settings = BuiltSettings

    def load(self, data: Path | None) -> Graph:
        """Read one of the build's two graphs; ``data`` is not used."""
        from kgqa_bench.graph.sources.cached import cached_built

        return cached_built(FOLDER, self.settings.view)
