"""Compare DoG's extraction with the reference of the tests on thousands of extractions; prints how many agree.

    KGQA_BENCH_DATA=DATA python tests/performance/check_extraction.py [--random 900] [--cn15k 30]

Random graphs with many ties under random settings, then CN15k with five confidence mappings and all edge directions;
K = 1, 3 and 5 each time; hashed word vectors in place of the model. Stops at the first difference.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import sys
import time
from pathlib import Path

from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.sources.cn15k import read_cn15k
from kgqa_bench.storage import data_folder


def load_reference():
    """The reference kept beside the tests of DoG."""
    file = Path(__file__).parents[1] / "methods" / "dog" / "reference_extraction.py"
    spec = importlib.util.spec_from_file_location("reference_extraction", file)
    module = sys.modules["reference_extraction"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def random_graphs(reference, count):
    for seed in range(count):
        graph, question, centres, settings = reference.random_case(seed)
        yield graph, reference.HashedEmbedder(), question, centres, settings


def cn15k(reference, folder, count):
    stored = read_cn15k(folder)
    quads = list(stored.quads())
    heads, relations, tails, own = zip(*quads, strict=True)
    names = [stored.entity_name(entity) for entity in range(stored.num_entities)]
    relation_names = [stored.relation_name(relation) for relation in range(stored.num_relations)]
    rng = random.Random(1)
    import numpy as np

    for mapping in reference.MAPPINGS:
        graph = build_graph(
            heads,
            relations,
            tails,
            reference.confidences(mapping, np.array(own), rng),
            source="cn15k",
            entity_names=names,
            relation_names=relation_names,
        )
        for number in range(count):
            direction = ("out", "in", "both")[number % 3]
            # wide and far searches over this graph would take the reference minutes each
            settings = reference.random_settings(rng).model_copy(
                update={"direction": direction, "width": rng.randint(1, 4), "max_distance": rng.choice([2.0, 3.0])}
            )
            question = " ".join(rng.choice(names) for _ in range(4))
            centres = [rng.choice(heads)]
            yield graph, reference.HashedEmbedder(), question, centres, settings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, default=900, help="random graphs; about six extractions each")
    parser.add_argument("--cn15k", type=int, default=30, help="topic entities a mapping; three extractions each")
    options = parser.parse_args()
    reference, data = load_reference(), data_folder()
    parts = {"random graphs": random_graphs(reference, options.random)}
    if data is not None and options.cn15k:
        parts["CN15k"] = cn15k(reference, data / "cn15k", options.cn15k)
    total = 0
    for name, cases in parts.items():
        start, counts = time.process_time(), [0, 0, 0]
        for case in cases:
            counts = [a + b for a, b in zip(counts, reference.compare(*case), strict=True)]
        compared, texts, embedded = counts
        print(
            f"{name}: {compared:,} extractions equal the reference; {embedded:,} texts embedded instead of {texts:,} "
            f"({1 - embedded / texts:.1%} spared); {time.process_time() - start:.0f} CPU s"
        )
        total += compared
    print(f"{total:,} extractions, no difference")


if __name__ == "__main__":
    main()
