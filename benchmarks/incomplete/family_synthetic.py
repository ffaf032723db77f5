"""The graph family-synthetic: a family tree of any size, made on the spot."""

from __future__ import annotations

import random
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from kgqa_bench.contracts import GraphSource, PluginSettings
from kgqa_bench.graph.protocol import Graph

from .family_tree import FEWEST, RELATIONS, grow_tree, tree_triples


class FamilySettings(PluginSettings):
    """Size and seed of a family tree."""

    people: int = Field(default=3007, ge=FEWEST, le=10_000_000, description="Number of people.")
    seed: int = Field(default=0, ge=0, description="Seeds every draw.")


class FamilySynthetic(GraphSource):
    """Family-synthetic: a made-up family tree in Family's 12 relations; head is the RELATION of tail."""

    Settings: ClassVar[type[PluginSettings]] = FamilySettings

    def load(self, data: Path | None) -> Graph:
        """Make the graph; ``data`` is not used. People are called 1, 2, … in an order that says nothing."""
        import numpy as np

        from kgqa_bench.graph.build import build_graph

        people, seed = self.settings.people, self.settings.seed
        columns = tree_triples(grow_tree(people, seed))
        numbers = list(range(1, people + 1))
        random.Random(f"{seed}|family names").shuffle(numbers)
        return build_graph(
            *(np.frombuffer(column, np.int32) for column in columns),
            source="family-synthetic",
            entity_names=list(map(str, numbers)),
            relation_names=list(RELATIONS),
            relation_labels={name: f"is the {name} of" for name in RELATIONS},
            provenance={"people": people, "seed": seed},
        )
