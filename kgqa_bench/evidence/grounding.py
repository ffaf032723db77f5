"""From constrained paths by name to what they lead to on a graph (section 4.1: z, grounded in G, gives [[z]]).

[[z]] is every entity at the end of the path from any of the topic entities that meets the constraint; a walk may
come by an entity twice, and may end where it began, as the formula has it. A path that leads nowhere is dropped and
counted: it has no candidates, so no confidence either.

A relation is found by its name, else by its label, whatever its case where that is clear. An entity is found by its
name, else it stands for all entities with that label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple

from kgqa_bench.evidence.path import ConstrainedPath, PathStep, ScoredPath
from kgqa_bench.graph.protocol import Direction, Edge, Graph, Path, RelationPath, Step

MAX_SAME_LABEL = 50
"""Most entities that one label in a constraint stands for."""

Reason = Literal["unknown_relation", "unknown_entity", "leads_nowhere"]


class Ungrounded(NamedTuple):
    """A path that was dropped, and why."""

    reason: Reason
    path: ConstrainedPath


class GraphPath(NamedTuple):
    """A constrained path by id: the constraint is a step and the entities of which it must reach one."""

    steps: RelationPath
    constraint: tuple[Step, frozenset[int]] | None = None


class FactualPath(NamedTuple):
    """One way along a path: the edges walked, and the edge by which its end meets the constraint."""

    edges: Path
    constraint: Edge | None = None

    @property
    def end(self) -> int:
        """The candidate answer it leads to."""
        return self.edges[-1].target


class Grounding(NamedTuple):
    """What one path leads to.

    Attributes:
        path: The path.
        confidence: As it was given; None where it was given none.
        candidates: [[z]], sorted, never empty.
        facts: Factual paths in stable order, topic after topic, no more than were asked for.
    """

    path: ConstrainedPath
    confidence: float | None
    candidates: tuple[int, ...]
    facts: tuple[FactualPath, ...]


class Grounded(NamedTuple):
    """What several paths lead to."""

    groundings: tuple[Grounding, ...]
    dropped: tuple[Ungrounded, ...]

    def candidates(self) -> dict[int, float | None]:
        """The candidate answers with the highest confidence of a path that leads there.

        The most certain first, those without a confidence last, otherwise in the order of paths and ids.
        """
        best: dict[int, float | None] = {}
        for grounding in self.groundings:
            for entity in grounding.candidates:
                confidence, known = grounding.confidence, best.get(entity)
                best[entity] = (
                    known if confidence is None or (known is not None and known >= confidence) else confidence
                )
        return dict(sorted(best.items(), key=lambda each: -1.0 if each[1] is None else each[1], reverse=True))


class Grounder:
    """Grounds paths on one graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        names = [graph.relation_name(relation) for relation in range(graph.num_relations)]
        labels = [graph.relation_label(relation) for relation in range(graph.num_relations)]
        self._names = {name: relation for relation, name in enumerate(names)}
        self._labels = _clear(labels)
        both = {(text.casefold(), at) for texts in (names, labels) for at, text in enumerate(texts)}
        folded = sorted(both)
        self._folded = {text: folded[at][1] for text, at in _clear([text for text, _at in folded]).items()}

    def ground(self, paths: Iterable[ScoredPath], topics: Sequence[int], max_facts: int = 20) -> Grounded:
        """What paths lead to from any of ``topics``.

        Args:
            paths: The paths with their confidences.
            topics: Topic entities.
            max_facts: Most factual paths of one path.
        """
        groundings: list[Grounding] = []
        dropped: list[Ungrounded] = []
        for path, confidence in paths:
            found = self.find(path)
            if not isinstance(found, GraphPath):
                dropped.append(Ungrounded(found, path))
                continue
            candidates = self.candidates(found, topics)
            if not candidates:
                dropped.append(Ungrounded("leads_nowhere", path))
                continue
            facts = islice(self._facts(found, topics, set(candidates)), max_facts)
            groundings.append(Grounding(path, confidence, candidates, tuple(facts)))
        return Grounded(tuple(groundings), tuple(dropped))

    def find(self, path: ConstrainedPath) -> GraphPath | Literal["unknown_relation", "unknown_entity"]:
        """A path by the ids of the graph, or why it has none."""
        steps = [self._step(step) for step in path.steps]
        constraint = None if path.constraint is None else self._step(path.constraint.step)
        found = tuple(step for step in steps if step is not None)
        if len(found) < len(steps) or (path.constraint is not None and constraint is None):
            return "unknown_relation"
        if path.constraint is None or constraint is None:
            return GraphPath(found)
        entities = self._entities(path.constraint.entity)
        return GraphPath(found, (constraint, entities)) if entities else "unknown_entity"

    def candidates(self, path: GraphPath, topics: Sequence[int]) -> tuple[int, ...]:
        """[[z]]: the entities that a path leads to, sorted."""
        reached = self._graph.follow(topics, path.steps).tolist() if topics else []
        if path.constraint is None or not reached:
            return tuple(reached)
        step, entities = path.constraint
        meeting = set(self._graph.follow(sorted(entities), (Step(step.relation, not step.inverse),)).tolist())
        return tuple(entity for entity in reached if entity in meeting)

    def _facts(self, path: GraphPath, topics: Sequence[int], candidates: set[int]) -> Iterator[FactualPath]:
        graph, steps = self._graph, path.steps
        dead: set[tuple[int, int]] = set()  # from here no candidate is reached

        def walks(at: int, depth: int) -> Iterator[Path]:
            if depth == len(steps):
                if at in candidates:
                    yield ()
                return
            if (at, depth) in dead:
                return
            alive = False
            for edge in graph.edges(at, _direction(steps[depth]), steps[depth].relation):
                for rest in walks(edge.target, depth + 1):
                    alive = True
                    yield (edge, *rest)
            if not alive:
                dead.add((at, depth))

        for topic in dict.fromkeys(topics):
            for edges in walks(topic, 0):
                yield FactualPath(edges, self._meeting_edge(path, edges[-1].target))

    def _meeting_edge(self, path: GraphPath, candidate: int) -> Edge | None:
        if path.constraint is None:
            return None
        step, entities = path.constraint
        edges = self._graph.edges(candidate, _direction(step), step.relation)
        return next(edge for edge in edges if edge.target in entities)

    def _step(self, step: PathStep) -> Step | None:
        name = step.relation
        for table, key in ((self._names, name), (self._labels, name), (self._folded, name.casefold())):
            if key in table:
                return Step(table[key], step.inverse)
        return None

    def _entities(self, text: str) -> frozenset[int]:
        graph = self._graph
        named = graph.find_entity(text)
        if named is not None:
            return frozenset((named,))
        alike = graph.search_labels(text, MAX_SAME_LABEL)
        same = [entity for entity in alike if graph.entity_label(entity) == text]
        folded = [entity for entity in alike if graph.entity_label(entity).casefold() == text.casefold()]
        return frozenset(same or folded)


def _direction(step: Step) -> Direction:
    return "in" if step.inverse else "out"


def _clear(texts: Sequence[str]) -> dict[str, int]:
    """The positions of texts that are there once."""
    counts = Counter(texts)
    return {text: at for at, text in enumerate(texts) if counts[text] == 1}
