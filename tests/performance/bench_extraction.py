"""What DoG's extraction costs a question, against the bars it must reach. Prints a table; exits 1 if one is missed.

    KGQA_BENCH_DATA=FOLDER python tests/performance/bench_extraction.py [--questions 50] [--topics 3] [--reach 10]

The first OpenBookQA test questions, stem only, on CN15k with its confidences, out-edges, α = 1, W = 3, D_max = 3,
K = 1, 3 and 5 in one pass; all-MiniLM-L6-v2 on one torch thread, loaded before. CPU seconds of this process (user
and system), mean over the questions.

* cold: with an empty vector cache at each question.
* hot: the same again, every text in the project's vector cache.
* graph work and scoring: of the hot pass, all but the embedder.
* never embedded: of the candidate paths of three separate passes, which the algorithm as written embeds.

The topic entities are those of the project's linker, at most ``--topics`` a question (the most specific): cost grows
with their number. Then a table: which share of the visited entities lies at 1, 2 and 3 hops, by D_max and confidence
mapping, at K = 1. D_max and the mapping set the radius together.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import mean

os.environ.setdefault("OMP_NUM_THREADS", "1")

import orjson

from kgqa_bench.domain import Question
from kgqa_bench.graph.sources.cn15k import read_cn15k
from kgqa_bench.methods.dog.extraction import extract_levels
from kgqa_bench.methods.dog.settings import ExtractionSettings
from kgqa_bench.storage import CACHE_VARIABLE, data_folder
from kgqa_bench.text.embedder import load_embedder
from kgqa_bench.text.linking import GraphLinker, LinkerSettings

LEVELS = (1, 3, 5)


class Timed:
    """An embedder that counts its CPU seconds, calls and texts."""

    def __init__(self, embedder):
        self.embedder, self.name, self.dimension = embedder, embedder.name, embedder.dimension
        self.seconds, self.calls, self.texts = 0.0, 0, 0

    def encode(self, texts):
        start = time.process_time()
        vectors = self.embedder.encode(texts)
        self.seconds += time.process_time() - start
        self.calls, self.texts = self.calls + 1, self.texts + len(texts)
        return vectors


def fresh_embedder(folder: Path):
    """The project's embedder with an empty cache and its model loaded."""
    os.environ[CACHE_VARIABLE] = tempfile.mkdtemp(dir=folder)
    embedder = load_embedder(data=data_folder())
    embedder.encode(["a first text loads the model", "and warms it up"])
    return embedder


def measure(graph, question, centres, settings, folder):
    """One question: cold and hot seconds, those outside the embedder, and the extraction."""
    embedder = fresh_embedder(folder)
    figures = {"topic entities": len(centres)}
    for state in ("cold", "hot"):
        timed = Timed(embedder)
        start = time.process_time()
        subgraphs = extract_levels(graph, timed, question, centres, LEVELS, settings)
        figures[state] = time.process_time() - start
        figures[f"{state}, outside the embedder"] = figures[state] - timed.seconds
    figures["calls"], figures["texts"] = timed.calls, subgraphs[1].texts_compared
    per_level = {level: subgraph.extractions for level, subgraph in subgraphs.items()}
    figures["texts as written"] = sum(e.candidate_paths for found in per_level.values() for e in found)
    figures["texts as written, K = 1"] = sum(e.candidate_paths for e in per_level[1])
    figures["neighbours, K = 1"] = sum(e.neighbours for e in per_level[1])
    figures["visits, K = 1"] = sum(len(e.visits) for e in per_level[1])
    for level, subgraph in subgraphs.items():
        figures[f"triples, K = {level}"] = len(subgraph.triples)
    return figures


def reach(graph, cases, settings, embedder) -> str:
    hops: Counter[int] = Counter()
    for question, centres in cases:
        hops.update(extract_levels(graph, embedder, question, centres, [1], settings)[1].hops)
    total = max(1, hops.total())
    shares = " / ".join(f"{hops[distance] / total:4.0%}" for distance in (1, 2, 3))
    return f"{shares}    {hops.total() / len(cases):6.1f} visited a question"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--topics", type=int, default=LinkerSettings().max_entities)
    parser.add_argument("--confidence", choices=("stored", "one"), default="stored")
    parser.add_argument("--reach", type=int, default=10, help="questions of the table of hops; 0 leaves it out")
    options = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    data = data_folder()
    if data is None:
        parser.error("set KGQA_BENCH_DATA to the folder of data sets")
    graph = read_cn15k(data / "cn15k")
    lines = (data / "openbookqa" / "test.jsonl").read_bytes().splitlines()
    stems = [orjson.loads(line)["question"]["stem"] for line in lines[: options.questions]]
    settings = ExtractionSettings(confidence=options.confidence)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        linker = GraphLinker(graph, lambda: fresh_embedder(folder), LinkerSettings(max_entities=options.topics))
        cases = [(stem, linker.link(Question("", stem, "entities"))) for stem in stems]
        rows = [measure(graph, question, centres, settings, folder) for question, centres in cases]
        figures = {name: mean(row[name] for row in rows) for name in rows[0]}
        spared = 1 - figures["texts"] / figures["texts as written"]
        bars = [
            ("cold, CPU s", figures["cold"], 4.0, "<="),
            ("hot, CPU s", figures["hot"], 0.05, "<="),
            ("graph work and scoring, CPU s", figures["hot, outside the embedder"], 0.02, "<="),
            ("texts of three passes never embedded", spared, 0.8, ">="),
        ]
        missed = 0
        print(f"{'':44}bar        measured")
        for name, value, bar, sign in bars:
            met = value <= bar if sign == "<=" else value >= bar
            missed += not met
            print(f"{name:44}{sign} {bar:<8g}{value:.4g}{'' if met else '   MISSED'}")
        for name, value in figures.items():
            print(f"  {name:42}{'':11}{value:.4g}")
        if options.reach:
            embedder = fresh_embedder(folder)
            print(f"\n{'D_max':8}{'confidences':14}visited at 1 / 2 / 3 hops")
            for max_distance in (1.5, 2.0, 3.0):
                for confidence, name in (("stored", "UKGE's"), ("one", "all 1.0")):
                    near = ExtractionSettings(confidence=confidence, max_distance=max_distance)
                    found = reach(graph, cases[: options.reach], near, embedder)
                    print(f"{max_distance:<8g}{name:14}{found}")
    return int(missed > 0 and options.confidence == "stored")


if __name__ == "__main__":
    sys.exit(main())
