"""The two actions on the graph: relation paths from an entity, and their groundings (section 4.1).

Which relation paths come first is ours, since the paper returns all: the score of a path is
``(1 + overlap) / length``, where overlap is the share of the question's content words that occur in the labels of
its relations. A short path so comes before a long one unless the long one speaks of what is asked; equal scores are
ordered by their steps, forward before inverse, then by relation. Nothing is ever drawn at random.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from kgqa_bench.graph.protocol import Edge, Graph, Ids, Path, RelationPath, Step
from kgqa_bench.text.verbalise import relation_text
from kgqa_bench.text.words import is_content, lemma, tokens

from .settings import EnvironmentSettings


class Relevance:
    """How much relation paths have in common with a question's words, topic entities left out."""

    def __init__(self, graph: Graph, question: str, topics: Iterable[str] = ()) -> None:
        for topic in sorted(topics, key=len, reverse=True):
            question = question.replace(topic, " ")
        words = list(dict.fromkeys(lemma(word) for word in tokens(question) if is_content(word)))
        place = {word: 1 << at for at, word in enumerate(words)}
        self._words = len(words)
        self._masks = [
            sum({place.get(lemma(word), 0) for word in tokens(relation_text(graph, relation))})
            for relation in range(graph.num_relations)
        ]

    def words(self, path: RelationPath) -> int:
        """The question's words that a path's relations hold, as bits."""
        found = 0
        for step in path:
            found |= self._masks[step.relation]
        return found

    def of_step(self, step: Step) -> int:
        """As ``words`` for one step."""
        return self._masks[step.relation]

    def score(self, path: RelationPath) -> float:
        """``(1 + overlap) / length``; in (0, 2]."""
        overlap = self.words(path).bit_count() / self._words if self._words else 0.0
        return (1 + overlap) / len(path)


class Explored(NamedTuple):
    """Relation paths, best first; ``cut`` where the caps left some out."""

    paths: list[RelationPath]
    cut: bool


class Grounded(NamedTuple):
    """Reasoning paths of one relation path; ``cut`` where the caps left some out."""

    paths: list[Path]
    cut: bool


def explore(graph: Graph, start: int, hops: int, relevance: Relevance, settings: EnvironmentSettings) -> Explored:
    """The relation paths of 1 to ``hops`` steps that have a grounding from ``start``, within the caps.

    Breadth first. Of each length the ``beam`` paths of highest score are made longer. Raises IndexError where
    ``start`` is no entity.
    """
    search = _Search(graph, start, settings)
    layer: list[tuple[RelationPath, Ids, int]] = [((), graph.follow((start,), ()), 0)]
    found: list[RelationPath] = []
    cut = False
    for hop in range(1, hops + 1):
        by_overlap: dict[int, list[tuple[RelationPath, Ids, Step, int]]] = {}
        for prefix, reached, words in layer:
            for step in graph.steps_from(reached, settings.direction):
                both = words | relevance.of_step(step)
                by_overlap.setdefault(both.bit_count(), []).append((prefix, reached, step, both))
        layer, accepted = [], 0
        for overlap in sorted(by_overlap, reverse=True):
            for prefix, reached, step, words in by_overlap[overlap]:
                longer = hop < hops and len(layer) < settings.beam
                if accepted == settings.max_relation_paths:
                    cut = True
                    break
                ends = search.ends(reached, step, longer)
                if ends is not None and not len(ends):  # it only comes back to the start
                    continue
                path = (*prefix, step)
                found.append(path)
                accepted += 1
                if longer and ends is not None:
                    layer.append((path, ends, words))
                elif hop < hops:
                    cut = True
    ranked = sorted(found, key=lambda path: -relevance.score(path))
    return Explored(ranked[: settings.max_relation_paths], cut or len(ranked) > settings.max_relation_paths)


class _Search:
    """Where the steps of one exploration lead."""

    def __init__(self, graph: Graph, start: int, settings: EnvironmentSettings) -> None:
        self._graph, self._start, self._exclude = graph, start, settings.exclude_returns
        # only a step whose opposite leaves the start can come back to it
        at_start = graph.relations_at(start, "both") if settings.exclude_returns else []
        self._returning = {Step(relation, not inverse) for relation, inverse in at_start}

    def ends(self, reached: Ids, step: Step, needed: bool) -> Ids | None:
        """The entities behind a step, the start left out; None where not ``needed`` and sure not to be empty."""
        if not needed and step not in self._returning:
            return None
        ends = self._graph.follow(reached, (step,))
        return ends[ends != self._start] if self._exclude else ends


def ground(graph: Graph, start: int, path: RelationPath, settings: EnvironmentSettings) -> Grounded:
    """The reasoning paths of a relation path from ``start``, within the caps.

    Of the first ``grounding_pool`` in stable order one to each end entity comes first, that of highest confidence
    (the product of its triples'), then a second to each, and so on.
    """
    pool = list(islice(_groundings(graph, start, path, settings.exclude_returns), settings.grounding_pool))
    cut = len(pool) == settings.grounding_pool
    pool.sort(key=confidence, reverse=True)  # stable
    seen: dict[int, int] = {}
    turns: list[tuple[int, int]] = []
    for at, each in enumerate(pool):
        end = each[-1].target
        seen[end] = seen.get(end, 0) + 1
        turns.append((seen[end], at))
    kept = [pool[at] for _, at in sorted(turns)[: settings.groundings_per_path]]
    return Grounded(kept, cut or len(pool) > len(kept))


def _groundings(graph: Graph, start: int, path: RelationPath, exclude_returns: bool) -> Iterator[Path]:
    """As ``Graph.groundings``, without returns, and without walking where the path comes to no end.

    A path over entities with many neighbours has few groundings among very many beginnings, so the entities from
    which the end can be reached are found first, backwards.
    """
    forward = [graph.follow((start,), ())]
    for step in path:
        ends = graph.follow(forward[-1], (step,))
        forward.append(ends[ends != start] if exclude_returns else ends)
    alive = [set(forward[-1].tolist())]
    for before, (relation, inverse) in zip(reversed(forward[1:-1]), reversed(path[1:]), strict=True):
        back = graph.follow(sorted(alive[-1]), (Step(relation, not inverse),))
        alive.append(set(before.tolist()) & set(back.tolist()))
    alive.reverse()
    edges: dict[tuple[int, int], list[Edge]] = {}

    def extend(at: int, depth: int) -> Iterator[Path]:
        if depth == len(path):
            yield ()
            return
        following = edges.get((at, depth))
        if following is None:
            relation, inverse = path[depth]
            found = graph.edges(at, "in" if inverse else "out", relation)
            following = edges[at, depth] = [edge for edge in found if edge.target in alive[depth]]
        for edge in following:
            for rest in extend(edge.target, depth + 1):
                yield (edge, *rest)

    return extend(start, 0)


def confidence(path: Path) -> float:
    """The product of the confidences of a path's triples."""
    product = 1.0
    for edge in path:
        product *= edge.confidence
    return product
