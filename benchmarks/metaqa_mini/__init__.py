"""metaqa-mini: the shipped benchmark on films, with a graph in MetaQA's relations; all of it is invented.

The files beside this module are what ``python -m kgqa_bench.benchmarks.metaqa_mini FOLDER`` makes, byte for byte;
README.md is their data card. Scores on them say nothing about MetaQA.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from kgqa_bench.contracts import Benchmark, BenchmarkData, GraphSource, PluginSettings
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.question_sets.files import json_rows
from kgqa_bench.question_sets.model import SetQuestion

from .._base import Size
from .._question_sets import benchmark_data

FOLDER = Path(__file__).parent
Split = Literal["train", "validation", "test"]


class MetaQaMiniSettings(PluginSettings):
    """Which questions are asked."""

    split: Split = Field(default="test", description="The part that is asked.")
    size: Size = None


class MetaQaMini(Benchmark):
    """metaqa-mini: 60 questions over one to three hops on invented films, shipped with the package."""

    Settings = MetaQaMiniSettings
    graph: ClassVar[str | None] = "metaqa-mini"

    def load(self, data: Path | None, seed: int) -> BenchmarkData:
        """The questions with their types and hops, which tables are split by; ``data`` is not used."""
        settings: MetaQaMiniSettings = self.settings
        groups: dict[str, dict[str, str]] = {}
        rows = list(_rows(settings.split, groups))
        return benchmark_data(
            rows,
            place="metaqa-mini",
            source={"source": "metaqa-mini"},
            split=settings.split,
            size=settings.size,
            seed=seed,
            solved=(lambda: _rows("train", {})) if settings.split != "train" else None,
            groups=lambda row: groups[row.id],
        )


class MetaQaMiniGraph(GraphSource):
    """metaqa-mini: 48 invented films in MetaQA's nine relations, shipped with the package."""

    def load(self, data: Path | None) -> Graph:
        """Read the graph; ``data`` is not used."""
        from kgqa_bench.graph.sources.metaqa import read_metaqa_graph

        return read_metaqa_graph(FOLDER / "graph.tsv", delimiter="\t", source="metaqa-mini")


def _rows(split: Split, groups: dict[str, dict[str, str]]) -> Iterator[SetQuestion]:
    for line, row in json_rows(FOLDER / f"questions.{split}.jsonl"):
        topics, answers = tuple(row["topic_entities"]), tuple(row["answer"])
        meta = row["meta"]
        groups[row["id"]] = {"topic": topics[0], "question_type": meta["question_type"], "hops": str(meta["hops"])}
        yield SetQuestion(row["id"], row["question"], split, line, topics=topics, answers=answers)
