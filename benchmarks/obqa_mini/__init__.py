"""obqa-mini: the shipped benchmark, commonsense questions and an uncertain graph, both written for this project.

Elementary science and everyday life in the manner of OpenBookQA, with a graph in ConceptNet's relations. Nothing
is taken from either: README.md in this folder says how the two files were made and what keeps them honest. The
benchmark exists so that a first run needs no download; its scores say nothing about OpenBookQA.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from kgqa_bench.contracts import Benchmark, BenchmarkData, GraphSource
from kgqa_bench.graph.protocol import Graph

FOLDER = Path(__file__).parent


class OpenBookQAMini(Benchmark):
    """obqa-mini: 88 four-option questions on everyday science, shipped with the package."""

    graph: ClassVar[str | None] = "obqa-mini"

    def load(self, data: Path | None, seed: int) -> BenchmarkData:
        """All questions in file order and twelve solved ones beside them; ``data`` is not used."""
        from kgqa_bench.run.question_file import load_file

        return load_file(FOLDER / "questions.jsonl", seed)


class OpenBookQAMiniGraph(GraphSource):
    """obqa-mini: quadruples in ConceptNet's relations, shipped with the package."""

    def load(self, data: Path | None) -> Graph:
        """The graph; names have underscores for spaces, labels read as words. ``data`` is not used."""
        from kgqa_bench.graph.build import build_graph
        from kgqa_bench.graph.sources.conceptnet_words import relation_words
        from kgqa_bench.graph.table import read_table
        from kgqa_bench.graph.text_format import COLUMNS

        table = read_table(FOLDER / "graph.tsv", COLUMNS)
        words = {name: relation_words(name) for name in table["relation"].unique().to_pylist()}
        words["ReceivesAction"] = "can receive"  # the actions are nouns here, "squeezing" and not "squeezed"
        names = {name for column in ("head", "tail") for name in table[column].to_pylist()}
        return build_graph(
            table["head"],
            table["relation"],
            table["tail"],
            table["confidence"],
            source="obqa-mini",
            entity_labels={name: name.replace("_", " ") for name in names if "_" in name},
            relation_labels=words,
            provenance={"confidences": "drawn within the three grades given by the writer"},
        )
