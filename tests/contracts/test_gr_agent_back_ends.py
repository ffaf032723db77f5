"""What an agent explores and grounds does not depend on where the graph lives, nor on how its entities are called."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.methods.gr_agent.actions import Explore, Ground
from kgqa_bench.methods.gr_agent.environment import Environment
from kgqa_bench.methods.gr_agent.exploration import Relevance
from kgqa_bench.methods.gr_agent.settings import EnvironmentSettings

Row = tuple[str, str, str, float]

LABELS = {
    "text": [f"person {number:02}" for number in range(12)],
    "ids": [f"/m/0{chr(97 + number)}x" for number in range(12)],
    "private": [f"{number:02}" for number in range(12)],
}
"""Names in one order, so that equal scores are in the same order too."""


def rows(labels: Sequence[str]) -> list[Row]:
    draw = random.Random(7)
    relations = ["parent of", "^odd", "works for"]
    triples = {(draw.randrange(12), draw.choice(relations), draw.randrange(12)) for _ in range(40)}
    return [(labels[head], relation, labels[tail], 1.0) for head, relation, tail in sorted(triples)]


def walk(graph: Graph, labels: Sequence[str]) -> list[list[str]]:
    """P in words, C and E with every entity as its number in ``labels``."""
    environment = Environment(graph, Relevance(graph, "Whose parent works there?"), EnvironmentSettings())
    topic = graph.entity(labels[0])
    state, _ = environment.step(environment.start([topic]), Explore(topic, 3))
    state, _ = environment.step(state, Ground(topic, state.relation_paths))
    number = {graph.entity(label): str(at) for at, label in enumerate(labels)}
    chains = [
        " ".join(f"{number[edge.source]}>{number[edge.target]}" for edge in path) for path in state.reasoning_paths
    ]
    return [
        [environment.vocabulary.path(path) for path in state.relation_paths],
        chains,
        [number[entity] for entity in state.entities],
    ]


@pytest.mark.parametrize("kind", LABELS)
def test_the_same_walk_everywhere(make_graph: Callable[[Sequence[Row]], Graph], kind: str) -> None:
    plain = rows(LABELS["text"])
    expected = walk(build_graph(*map(list, zip(*plain, strict=True)), source="plain"), LABELS["text"])
    assert min(map(len, expected)) > 5
    assert walk(make_graph(rows(LABELS[kind])), LABELS[kind]) == expected
