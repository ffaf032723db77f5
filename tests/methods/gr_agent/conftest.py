"""The small graphs of the paper's examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.methods.gr_agent.environment import Environment
from kgqa_bench.methods.gr_agent.exploration import Relevance
from kgqa_bench.methods.gr_agent.settings import EnvironmentSettings

BIEBER = [
    ("Justin Bieber", "hasParent", "Jeremy Bieber"), ("Justin Bieber", "hasSibling", "Jazmyn Bieber"),
    ("Jeremy Bieber", "hasSon", "Jaxon Bieber"), ("Jazmyn Bieber", "hasSibling", "Jaxon Bieber"),
    ("Jeremy Bieber", "hasSpouse", "Erin Wagner"), ("Jeremy Bieber", "hasSon", "Justin Bieber"),
    ("Jazmyn Bieber", "hasSibling", "Justin Bieber"),
]  # fmt: skip
CALVADOS = [
    ("Calvados", "capital", "Caen"), ("Caen", "capitalOf", "Calvados"), ("France", "contains", "Calvados"),
    ("Calvados", "administrativeParent", "LowerNormandy"), ("Calvados", "contains", "Caen"),
]  # fmt: skip
HOLM = [
    ("Penelope Wilton", "spouse", "Ian Holm"), ("Ian Holm", "awardNominee", "Cate Blanchett"),
    ("Cate Blanchett", "typeOfUnion", "Marriage"), ("Ian Holm", "awardNominee", "Kate Beckinsale"),
    ("Kate Beckinsale", "typeOfUnion", "Domestic Partnership"),
]  # fmt: skip
GRAPHS = {"bieber": BIEBER, "calvados": CALVADOS, "holm": HOLM}


@pytest.fixture
def make_graph() -> Callable[..., Graph]:
    """A graph by the name of its example, or of given triples."""

    def make(rows: str | Sequence[tuple[str, str, str]]) -> Graph:
        triples = GRAPHS[rows] if isinstance(rows, str) else rows
        heads, relations, tails = map(list, zip(*triples, strict=True))
        return build_graph(heads, relations, tails, [1.0] * len(heads), source="example")

    return make


@pytest.fixture
def make_environment(make_graph: Callable[..., Graph]) -> Callable[..., Environment]:
    """An environment over such a graph."""

    def make(rows: Any, question: str = "", **settings: Any) -> Environment:
        graph = rows if not isinstance(rows, str | list) else make_graph(rows)
        return Environment(graph, Relevance(graph, question), EnvironmentSettings(**settings))

    return make
