"""Exploring and grounding from the entities of highest degree.

    python tests/performance/bench_gr_agent.py [--graph fb15k237] [--entities 100] [--hops 3] [--data FOLDER]

Explores from each entity up to the hop limit, grounds the relation paths of highest score, and prints the median and
the largest time; exits with 1 where a cap is broken or the median is over 50 ms.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

import numpy as np

from kgqa_bench import registry
from kgqa_bench.methods.gr_agent.actions import Explore, Ground
from kgqa_bench.methods.gr_agent.environment import Environment
from kgqa_bench.methods.gr_agent.exploration import Relevance
from kgqa_bench.methods.gr_agent.settings import EnvironmentSettings

LIMIT_MS = 50.0


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--graph", default="fb15k237")
    parser.add_argument("--entities", type=int, default=100)
    parser.add_argument("--hops", type=int, default=3)
    parser.add_argument("--data", type=Path, default=os.environ.get("KGQA_BENCH_DATA"))
    options = parser.parse_args()
    graph = registry.create("graphs", options.graph).load(options.data and Path(options.data))
    degrees = np.zeros(graph.num_entities, np.int64)
    for quad in graph.quads():
        degrees[quad.head] += 1
        degrees[quad.tail] += 1
    hubs = np.argsort(-degrees, kind="stable")[: options.entities].tolist()
    settings = EnvironmentSettings()
    env = Environment(graph, Relevance(graph, "Who won the award for the film?"), settings)
    explored, both, broken, most = [], [], 0, 0
    for entity in [*hubs[:3], *hubs]:  # the first three again: they compile
        begin = time.perf_counter()
        state, found = env.step(env.start([entity]), Explore(entity, options.hops))
        middle = time.perf_counter()
        state, grounded = env.step(state, Ground(entity, state.relation_paths[: settings.max_grounded]))
        both.append((time.perf_counter() - begin) * 1000)
        explored.append((middle - begin) * 1000)
        paths, chains = len(found.relation_paths), len(grounded.reasoning_paths)
        most = max(most, chains)
        broken += paths > settings.max_relation_paths
        broken += chains > settings.max_grounded * settings.groundings_per_path
    explored, both = explored[3:], both[3:]
    print(f"{options.graph}: {len(hubs)} entities, {options.hops} hops, caps broken {broken}, most groundings {most}")
    print(f"explore ms: median {statistics.median(explored):.1f}, largest {max(explored):.1f}")
    print(f"explore and ground ms: median {statistics.median(both):.1f}, largest {max(both):.1f}")
    return int(bool(broken) or statistics.median(both) > LIMIT_MS)


if __name__ == "__main__":
    sys.exit(main())
