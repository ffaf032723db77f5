"""Evidence for a question from its gold answers (DoublyCal, section 4.1 and appendix E.3).

All shortest relation paths between each topic and each answer, over every edge in both directions; each with its
confidence; then with each constraint from the answers' neighbourhood that makes it strictly more certain.

What it makes is derived from gold answers: it is for training and for the oracle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from pydantic import Field

from kgqa_bench.contracts import PluginSettings
from kgqa_bench.evidence import kernels
from kgqa_bench.evidence.path import ConstrainedPath, Constraint, PathStep
from kgqa_bench.evidence.prior import PRIORS, PriorName
from kgqa_bench.evidence.tags import can_be_written
from kgqa_bench.graph.entity_kinds import entity_kinds
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.protocol import Ids


class EvidenceSettings(PluginSettings):
    """How evidence is built. The paper gives prior, hops and the rule for constraints; the caps are ours."""

    prior: PriorName = Field(default="jeffreys", description="Prior of the confidence: jeffreys, uniform or mle.")
    max_hops: int = Field(default=4, ge=1, le=8, description="Most steps of a path.")
    max_paths: int = Field(
        default=1000,
        ge=1,
        description="Most relation paths from one topic, shorter ones first; the paper has no cap.",
    )
    max_constraints: int = Field(
        default=5,
        ge=0,
        description="Most constraints of one path, those of the highest confidence, then of the most right answers; "
        "the paper has no cap.",
    )


@dataclass(frozen=True, slots=True)
class Evidence:
    """One piece of evidence for a question, measured against its gold answers.

    Attributes:
        path: The path.
        candidates: n, how many distinct entities it leads to.
        right: s, how many of them are gold answers.
        confidence: (alpha + s) / (alpha + beta + n), Eq. 4.
        precision: s / n.
        recall: s of all gold answers, those that the graph has not included.
        f1: Harmonic mean of the two.
    """

    path: ConstrainedPath
    candidates: int
    right: int
    confidence: float
    precision: float
    recall: float
    f1: float


Outcome = str
"""What became of a question: ``built``, or why it has no evidence; see ``EvidenceBuilder.build``."""


class Built(NamedTuple):
    """The evidence for a question.

    Attributes:
        outcome: ``built``, ``no answers``, ``no topics``, ``no topic in the graph``, ``no answer in the graph``,
            ``no path``, or, where no graph was to be had, ``no graph``.
        evidence: The most certain first; equal confidences by falling F1, then shorter ones, then by their text.
        counts: How many topics, answers, paths or constraints this and that happened to.
    """

    outcome: Outcome
    evidence: tuple[Evidence, ...] = ()
    counts: Mapping[str, int] = MappingProxyType({})


class _Core(NamedTuple):
    """A path without constraint: steps by number, what it leads to, and which of these are right."""

    steps: tuple[int, ...]
    found: Ids
    right: np.ndarray[tuple[int], np.dtype[np.bool_]]


class EvidenceBuilder:
    """Builds evidence on one graph. Safe to use from several threads.

    Args:
        graph: The graph that methods see.
        settings: Named choices.
    """

    def __init__(self, graph: MemoryGraph, settings: EvidenceSettings | None = None) -> None:
        self.settings = settings or EvidenceSettings()
        self._graph = graph
        self._prior = PRIORS[self.settings.prior]
        self._kinds = entity_kinds(graph)
        self._texts: dict[int, str | None] = {}

    def build(self, topics: Sequence[str], answers: Sequence[str]) -> Built:
        """The evidence for a question.

        Args:
            topics: Its topic entities by name.
            answers: Its gold answers by name.
        """
        wanted = tuple(dict.fromkeys(answers))
        if not wanted:
            return Built("no answers")
        if not topics:
            return Built("no topics")
        counts: Counter[str] = Counter()
        sources = self._entities(topics, counts, "topics")
        targets = self._entities(wanted, counts, "answers")
        if not len(sources):
            return Built("no topic in the graph", (), counts)
        if not len(targets):
            return Built("no answer in the graph", (), counts)
        evidence: list[Evidence] = []
        for core in self._cores(sources, targets, counts):
            evidence += self._measured(core, len(wanted), counts)
        evidence.sort(key=_rank)
        return Built("built" if evidence else "no path", tuple(evidence), counts)

    def _entities(self, names: Sequence[str], counts: Counter[str], what: str) -> Ids:
        found = [self._graph.find_entity(name) for name in names]
        counts[what] += len(names)
        counts[f"{what} not in the graph"] += found.count(None)
        return np.array(sorted({entity for entity in found if entity is not None}), np.int32)

    def _cores(self, sources: Ids, targets: Ids, counts: Counter[str]) -> list[_Core]:
        graph, scratch, limit = self._graph, self._graph.store.scratch, self.settings.max_paths
        nearest = np.zeros(len(targets), np.int64)
        paths: dict[tuple[int, ...], None] = {}
        for source in sources:
            hops, rows = kernels.shortest_relation_paths(
                graph.view, graph.num_relations, source, targets, self.settings.max_hops, limit,
                scratch.seen, scratch.seen_back, scratch.queue,
            )  # fmt: skip
            nearest = np.where((nearest == 0) | ((hops > 0) & (hops < nearest)), hops, nearest)
            counts["searches cut off by max_paths"] += len(rows) > limit
            paths |= dict.fromkeys(tuple(step for step in row if step >= 0) for row in rows[:limit].tolist())
        for hops in nearest[nearest > 0].tolist():
            counts[f"answers {hops} hops away"] += 1
        own = np.isin(targets[nearest == 0], sources)
        counts["answers that are a topic"] += int(np.count_nonzero(own))
        counts["answers out of reach"] += int(np.count_nonzero(~own))
        cores = []
        for steps in paths:
            found = kernels.terminals(
                graph.view, graph.num_relations, sources, np.array(steps, np.int64), scratch.seen, scratch.queue
            )
            cores.append(_Core(steps, found, np.isin(found, targets)))
        return cores

    def _measured(self, core: _Core, gold: int, counts: Counter[str]) -> list[Evidence]:
        """The path, and the path with each constraint that makes it more certain."""
        steps = tuple(map(self._step, core.steps))
        if not all(can_be_written(step.relation) for step in steps):
            counts["paths left out for their spelling"] += 1
            return []
        right = int(np.count_nonzero(core.right))
        found = [self._evidence(ConstrainedPath(steps), len(core.found), right, gold)]
        if not self.settings.max_constraints or right == len(core.found):
            return found  # where all are right, fewer are less certain
        graph = self._graph
        rows = kernels.constraints(
            graph.view, graph.num_relations, core.found, core.right, self._prior.alpha, self._prior.beta
        )
        step, entity, n, s = rows.T
        confidence = (self._prior.alpha + s) / (self._prior.alpha + self._prior.beta + n)
        left = self.settings.max_constraints
        for row in np.lexsort((entity, step, -s, -confidence)).tolist():
            if not left:
                counts["paths with more constraints than max_constraints"] += 1
                break
            text, constraining = self._text(int(entity[row])), self._step(int(step[row]))
            if text is None or not can_be_written(constraining.relation):
                continue
            path = ConstrainedPath(steps, Constraint(constraining, text))
            found.append(self._evidence(path, int(n[row]), int(s[row]), gold))
            left -= 1
        return found

    def _evidence(self, path: ConstrainedPath, candidates: int, right: int, gold: int) -> Evidence:
        confidence = self._prior.confidence(right, candidates)
        f1 = 2 * right / (candidates + gold)
        return Evidence(path, candidates, right, confidence, right / candidates, right / gold, f1)

    def _step(self, step: int) -> PathStep:
        return self._steps[step]

    @cached_property
    def _steps(self) -> list[PathStep]:
        names = [self._graph.relation_name(relation) for relation in range(self._graph.num_relations)]
        return [PathStep(name, inverse) for inverse in (False, True) for name in names]

    def _text(self, entity: int) -> str | None:
        """How an entity is written in a constraint: its label where that is clear, else its name.

        None where it is no named entity (mediators, values), or its name cannot be written.
        """
        if entity not in self._texts:
            graph = self._graph
            text: str | None = None
            if self._kinds.kind(entity) == "entity":
                name, label = graph.entity_name(entity), graph.entity_label(entity)
                clear = label == name or (self._label_counts[label] == 1 and graph.find_entity(label) is None)
                text = label if clear else name
            self._texts[entity] = text if text is not None and can_be_written(text) else None
        return self._texts[entity]

    @cached_property
    def _label_counts(self) -> Counter[str]:
        return Counter(self._graph.entity_labels())


def _rank(evidence: Evidence) -> tuple[float, float, int, tuple[str, ...]]:
    return -evidence.confidence, -evidence.f1, len(evidence.path.items), evidence.path.items
