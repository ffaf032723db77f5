"""A graph whose entities have further names beside their label."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.store import Store


class AliasedGraph(MemoryGraph):
    """A graph with aliases, for entity linking. Views made of it (``hide``, ``subgraph``) have none."""

    def __init__(
        self, store: Store, load_aliases: Callable[[], Sequence[tuple[str, str]]], facts: Mapping[str, Any]
    ) -> None:
        super().__init__(store, facts=facts)
        self._load_aliases = load_aliases

    @cached_property
    def entity_aliases(self) -> Sequence[tuple[str, int]]:
        """(alias, entity id) pairs in the source's order; an alias may be that of several entities."""
        ids = ((alias, self.find_entity(name)) for alias, name in self._load_aliases())
        return [(alias, entity) for alias, entity in ids if entity is not None]
