"""The graph as methods see it.

Entities and relations are integers inside and have a name (unique, the key of the source) and a label (for
people and prompts; not unique). A string is always a name, never an id: ``"42"`` is the entity called 42.
Every order is stable: neighbours by (direction, relation, other entity), results by that order throughout.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from kgqa_bench.domain import Triple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ids = npt.NDArray[np.int32]
    Confidences = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]
else:  # for annotations only: a run without a graph does not load numpy
    Ids = Confidences = Flags = Any

Direction = Literal["out", "in", "both"]


class Step(NamedTuple):
    """One step of a relation path; ``inverse`` walks the relation from tail to head."""

    relation: int
    inverse: bool = False


RelationPath = tuple[Step, ...]


class Edge(NamedTuple):
    """One traversed triple: from ``source`` to ``target`` over ``relation``.

    Where ``inverse``, the stored triple is (target, relation, source).
    """

    source: int
    relation: int
    target: int
    confidence: float
    inverse: bool = False

    @property
    def head(self) -> int:
        """Head in stored direction."""
        return self.target if self.inverse else self.source

    @property
    def tail(self) -> int:
        """Tail in stored direction."""
        return self.source if self.inverse else self.target


Path = tuple[Edge, ...]


class Quad(NamedTuple):
    """One stored triple with its confidence, as ids."""

    head: int
    relation: int
    tail: int
    confidence: float


class Neighbours(NamedTuple):
    """The edges at one entity as parallel arrays, all of the same length, in stable order."""

    relations: Ids
    entities: Ids
    confidences: Confidences
    inverse: Flags


class Graph(Protocol):
    """What every back end answers. Unknown ids raise IndexError, unknown names UnknownNameError."""

    @property
    def num_entities(self) -> int:
        """Number of entities; ids are 0 … num_entities - 1."""
        ...

    @property
    def num_relations(self) -> int:
        """Number of relations."""
        ...

    @property
    def num_triples(self) -> int:
        """Number of visible triples."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hash of the visible quadruples and names; equal for equal graphs whatever the input order."""
        ...

    @property
    def provenance(self) -> Mapping[str, Any]:
        """JSON-able facts: source, rows read, merging rule, duplicates, self-loops, confidence mapping."""
        ...

    # -- names -----------------------------------------------------------------------------------------

    def entity(self, name: str) -> int:
        """The id of the entity called ``name``. UnknownNameError with suggestions."""
        ...

    def find_entity(self, name: str) -> int | None:
        """The id of the entity called ``name``, or None."""
        ...

    def entity_name(self, entity: int) -> str:
        """The entity's unique name."""
        ...

    def entity_label(self, entity: int) -> str:
        """The entity's label: what a person would call it."""
        ...

    def relation(self, name: str) -> int:
        """The id of the relation called ``name``. UnknownNameError with suggestions."""
        ...

    def relation_name(self, relation: int) -> str:
        """The relation's unique name."""
        ...

    def relation_label(self, relation: int) -> str:
        """The relation in words, to stand between head and tail."""
        ...

    def entity_labels(self) -> Sequence[str]:
        """The labels of all entities in id order."""
        ...

    def search_labels(self, text: str, limit: int = 10) -> list[int]:
        """Entities whose label is like ``text``: exact (ignoring case), then prefix, then near, best first."""
        ...

    # -- edges -----------------------------------------------------------------------------------------

    def neighbours(self, entity: int, direction: Direction = "out", relation: int | None = None) -> Neighbours:
        """The edges at an entity as arrays (views where the back end can)."""
        ...

    def edges(self, entity: int, direction: Direction = "out", relation: int | None = None) -> list[Edge]:
        """The edges at an entity as a list."""
        ...

    def relations_at(self, entity: int, direction: Direction = "out") -> list[Step]:
        """The distinct steps that leave an entity."""
        ...

    def steps_from(self, entities: Iterable[int], direction: Direction = "out") -> list[Step]:
        """The distinct steps that leave any of ``entities``, forward ones first, by relation."""
        ...

    def has_triple(self, head: int, relation: int, tail: int) -> bool:
        """Whether the triple is visible."""
        ...

    def quads(self) -> Iterable[Quad]:
        """All visible quadruples ordered by (head, relation, tail)."""
        ...

    def triples_among(self, entities: Iterable[int]) -> list[Quad]:
        """The quadruples whose head and tail both lie in the set, ordered by (head, relation, tail)."""
        ...

    # -- paths -----------------------------------------------------------------------------------------

    def follow(self, entities: Iterable[int], relation_path: RelationPath) -> Ids:
        """The entities at the end of a relation path from any of ``entities``: sorted, distinct."""
        ...

    def relation_paths(
        self, entity: int, max_hops: int, direction: Direction = "both", limit: int | None = None
    ) -> list[RelationPath]:
        """The distinct relation paths of 1 to ``max_hops`` steps with at least one grounding, shorter first."""
        ...

    def groundings(self, entity: int, relation_path: RelationPath, limit: int | None = None) -> list[Path]:
        """The paths from ``entity`` along a relation path, in stable order."""
        ...

    def shortest_paths(
        self, source: int, target: int, max_hops: int, direction: Direction = "out", limit: int | None = None
    ) -> list[Path]:
        """All shortest paths (parallel relations apart); empty where none is within ``max_hops``.

        ``source == target`` gives the empty path.
        """
        ...

    def paths(
        self, source: int, target: int, max_hops: int, direction: Direction = "out", limit: int | None = None
    ) -> list[Path]:
        """All paths of 1 to ``max_hops`` edges that visit no entity twice, shorter first."""
        ...

    def within_hops(self, entities: Iterable[int], hops: int, direction: Direction = "both") -> Ids:
        """The entities within ``hops`` steps of any of ``entities``, those included: sorted, distinct."""
        ...

    # -- derived graphs --------------------------------------------------------------------------------

    def subgraph(self, entities: Iterable[int], hops: int, direction: Direction = "both") -> Graph:
        """A view in which only triples among the entities within ``hops`` are visible; ids are unchanged."""
        ...

    def hide(self, triples: Iterable[tuple[int, int, int]]) -> Graph:
        """An overlay that hides (head, relation, tail) id triples without copying the store."""
        ...

    def named(self, path: Path) -> tuple[Triple, ...]:
        """A path as triples by name in stored direction, for answers and records."""
        ...
