"""Small graphs; property tests may compile a kernel while an example runs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings

from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph

settings.register_profile("compiled", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("compiled")

SNOOPY = """
Belle sibling_of Snoopy
Spike sibling_of Snoopy
Belle gender female
Spike gender male
Snoopy gender male
Snoopy pet_of Charlie
Charlie friend_of Linus
Linus friend_of Charlie
Spike lives_in Needles
Snoopy lives_in Needles
"""


@pytest.fixture
def make_graph() -> Callable[..., MemoryGraph]:
    """A graph from lines of head, relation and tail."""

    def make(lines: str, **options) -> MemoryGraph:
        rows = [line.split() for line in lines.strip().splitlines()]
        return build_graph(*(list(column) for column in zip(*rows, strict=True)), source="test", **options)

    return make


@pytest.fixture
def snoopy(make_graph) -> MemoryGraph:
    """The paper's running example: two siblings, one of them male."""
    return make_graph(SNOOPY)
