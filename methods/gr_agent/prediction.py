"""How well a relation path predicts a relation on the graph in use.

For entities x that have the step s (s is the relation, from x's side), the triples of s at x are hidden, the path p
is followed from x, and its ends are compared with the hidden ones::

    support    = sum over x of |ends(x, p) ∩ ends(x, s)|
    confidence = support / sum over x of |ends(x, p)|

This is the PCA confidence of the rule p => s on the side of x (AMIE3), made without the triple that is to be
predicted, so that a path cannot prove a triple by walking over it. The entities are up to ``sample``, at most a
quarter of those that have s, evenly spaced by id: the same in every run. Confidences are kept as long as the graph.
"""

from __future__ import annotations

import threading
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from kgqa_bench.graph.protocol import Graph, RelationPath, Step

from .relation_link import RelationLinker, columns

_SHARE = 4


class Prediction(NamedTuple):
    """Counts of one path for one step."""

    support: int
    predicted: int

    @property
    def confidence(self) -> float:
        """Support over all pairs predicted; 0 where there are none."""
        return self.support / self.predicted if self.predicted else 0.0


class _Probe(NamedTuple):
    """A step's sample: the graph without its triples there, and the ends hidden at each entity."""

    graph: Graph
    ends: dict[int, set[int]]


class GraphKnowledge:
    """What is computed once a graph, when it is first needed. Thread-safe."""

    def __init__(self, graph: Graph) -> None:
        self.linker = RelationLinker(graph)
        heads, relations, tails = columns(graph)
        order = np.argsort(relations, kind="stable")
        self._heads, self._tails = heads[order], tails[order]
        self._starts = np.searchsorted(relations[order], np.arange(graph.num_relations + 1))
        self._probes: dict[tuple[Step, int], _Probe] = {}
        self._predictions: dict[tuple[Step, RelationPath, int], Prediction] = {}
        self._lock = threading.Lock()

    def prediction(self, graph: Graph, step: Step, path: RelationPath, sample: int) -> Prediction:
        """The counts of ``path`` for ``step`` on ``graph``, the one that this was made for."""
        with self._lock:
            known = self._predictions.get((step, path, sample))
            if known is None:
                known = self._predictions[step, path, sample] = _measure(self._probe(graph, step, sample), path)
            return known

    def _probe(self, graph: Graph, step: Step, sample: int) -> _Probe:
        probe = self._probes.get((step, sample))
        if probe is not None:
            return probe
        begin, end = self._starts[step.relation], self._starts[step.relation + 1]
        sources, targets = self._heads[begin:end], self._tails[begin:end]
        if step.inverse:
            sources, targets = targets, sources
        domain = np.unique(sources)
        size = min(sample, -(-len(domain) // _SHARE))
        chosen = domain[np.linspace(0, len(domain) - 1, size).astype(int)] if size else domain
        ends: dict[int, set[int]] = {int(each): set() for each in chosen}
        taken = np.isin(sources, chosen)
        for source, target in zip(sources[taken].tolist(), targets[taken].tolist(), strict=True):
            ends[source].add(target)
        hidden = [
            (target, step.relation, source) if step.inverse else (source, step.relation, target)
            for source, found in ends.items()
            for target in found
        ]
        probe = self._probes[step, sample] = _Probe(graph.hide(hidden), ends)
        return probe


def _measure(probe: _Probe, path: RelationPath) -> Prediction:
    support = predicted = 0
    for source, ends in probe.ends.items():
        found = set(probe.graph.follow((source,), path).tolist()) - {source}
        support += len(found & ends)
        predicted += len(found)
    return Prediction(support, predicted)


_KNOWLEDGE: WeakKeyDictionary[Graph, GraphKnowledge] = WeakKeyDictionary()
_LOCK = threading.Lock()


def knowledge(graph: Graph) -> GraphKnowledge:
    """What is known of a graph; made on first use and kept as long as the graph is."""
    with _LOCK:
        found = _KNOWLEDGE.get(graph)
        if found is None:
            found = _KNOWLEDGE[graph] = GraphKnowledge(graph)
        return found
