"""Closed rules of four atoms: every body of three atoms above the thresholds, with exact counts.

A body is counted where it can still be a rule: supports first, for all bodies of a shape at once, then the body
sizes of those with enough support, each given up as soon as a threshold is out of reach or the confidence cannot
beat a part's. All of this is exact, so the result depends neither on the order of the work nor on the threads.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kgqa_bench.contracts import MiningProgress, MiningSettings

from . import four_close_kernels as close
from . import four_path_kernels as paths
from . import memory
from .four_graph import MOST_CELLS, DoubleGraph, Ids, Ints, scratch_bytes
from .index import SignedIndex
from .shapes import (
    BODY,
    FIRST,
    HEAD,
    NONE,
    PCA,
    SECOND,
    SHAPE,
    SUPPORT,
    THIRD,
    Shape,
    Table,
    closed_parts,
    empty_table,
)
from .thresholds import Thresholds


def lay_out(index: SignedIndex, heads: Sequence[int], settings: MiningSettings) -> DoubleGraph:
    """What ``mine_four`` works on.

    Raises:
        ConfigError: There is too little memory for it, or for what ``mine_four`` does with it.
    """
    graph = DoubleGraph.of(index)
    threads = settings.threads or os.cpu_count() or 1
    least_support = Thresholds.of(settings).least_support
    least = {head: least_support(int(index.facts[head])) for head in heads}
    memory.require(scratch_bytes(index, least, threads), "rules of four atoms")
    return graph


def mine_four(
    graph: DoubleGraph,
    heads: Sequence[int],
    shorter: Table,
    settings: MiningSettings,
    progress: MiningProgress | None = None,
) -> Table:
    """All rules of four atoms that reach the thresholds and have a higher PCA confidence than their parts.

    Args:
        graph: Of ``lay_out``.
        heads: The head relations (< R).
        shorter: The output rules of two and three atoms; a rule whose PCA confidence is not greater than that of
            one of them with the same head and part of its body is left out.
        settings: Thresholds and threads.
        progress: Told after each head relation.

    Returns:
        The rules with all counts, sorted by head, shape and relations.
    """
    thresholds = Thresholds.of(settings)
    results = [empty_table()]
    executor = ThreadPoolExecutor(settings.threads or os.cpu_count() or 1)
    try:
        # the largest first, so that no thread is left alone with it at the end
        order = sorted(heads, key=lambda head: -int(graph.index.facts[head]))
        futures = [
            executor.submit(_rules, graph, head, shorter[shorter[:, HEAD] == head], thresholds) for head in order
        ]
        for done, future in enumerate(as_completed(futures), start=1):
            results.append(future.result())
            if progress is not None:
                progress("four atoms", done, len(order))
    finally:
        executor.shutdown(cancel_futures=True)
    table = np.concatenate(results)
    rows: Table = table[np.lexsort(table[:, [THIRD, SECOND, FIRST, SHAPE, HEAD]].T)]
    return rows


@dataclass(frozen=True)
class _Parts:
    """Counts of a head's shorter rules, to be looked up by shape and relations."""

    keys: Ints
    supports: Ints
    pca: Ints
    num_signed: int

    @staticmethod
    def of(shorter: Table, num_signed: int) -> _Parts:
        keys = _Parts._key(num_signed, shorter[:, SHAPE], shorter[:, FIRST], shorter[:, SECOND])
        order = np.argsort(keys)
        return _Parts(keys[order], shorter[order, SUPPORT], shorter[order, PCA], num_signed)

    @staticmethod
    def _key(num_signed: int, shape: Any, first: Ints, second: Any) -> Ints:
        result: Ints = (np.asarray(shape, np.int64) * num_signed + first) * (num_signed + 1) + second + 1
        return result

    def most_pca(self, supports: Ints, shape: int, first: Ints, second: Ints | int = NONE) -> tuple[Any, Ints]:
        """Which rows have this part, and the greatest PCA body size with which these beat its confidence."""
        keys = _Parts._key(self.num_signed, shape, first, second)
        if len(self.keys) == 0:
            return np.zeros(len(keys), np.bool_), np.zeros(0, np.int64)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        there = self.keys[at] == keys
        at = at[there]
        return there, (supports[there] * self.pca[at] - 1) // self.supports[at]


@dataclass(frozen=True)
class _Side:
    """The head's facts as seen from one of its variables, called x here, y being the other one.

    Attributes:
        xs: The entities at x by fact.
        ys: Those at y.
        ends: ``frequent_ends`` of ys.
        flipped: Whether this x is the head's object.
    """

    xs: Ids
    ys: Ids
    ends: Any
    flipped: bool


class _Head:
    """One head relation."""

    def __init__(self, graph: DoubleGraph, head: int, shorter: Table, thresholds: Thresholds) -> None:
        index = graph.index
        self.graph, self.head, self.thresholds = graph, head, thresholds
        self.parts = _Parts.of(shorter, index.num_signed)
        xs, ys = graph.facts(head)
        self.least = thresholds.least_support(len(xs))
        self.subject = bool(index.functional_subject[head])
        self.known = np.zeros(index.num_entities, np.bool_)
        self.known[xs if self.subject else ys] = True
        ends_x = paths.frequent_ends(graph.arrays, xs, self.least)
        ends_y = paths.frequent_ends(graph.arrays, ys, self.least)
        self.forward = _Side(xs, ys, ends_y, False)
        self.backward = _Side(ys, xs, ends_x, True)

    @cached_property
    def beside(self) -> tuple[Ints, Ids, Ints]:
        """Where each fact's other relations from x to y begin, these relations, and the frequent ones."""
        side = self.forward
        start, found = close.relations_beside(self.graph.edges, side.xs, side.ys, self.head)
        counts = np.bincount(found, minlength=self.graph.index.num_signed)
        return start, found, np.flatnonzero(counts >= self.least)

    def facts_beside(self) -> Iterator[tuple[int, Ints]]:
        """Each frequent relation from x to y with the positions of the facts that have it."""
        start, found, frequent = self.beside
        owners = np.repeat(np.arange(len(start) - 1), np.diff(start))
        for relation in frequent.tolist():
            yield relation, owners[found == relation]

    def known_first(self, signed: int) -> tuple[Ids, Ids, int]:
        """The facts of a relation from x to y, those first whose functional side is known, and how many these are."""
        xs, ys = self.graph.facts(signed)
        flags = self.known[xs if self.subject else ys]
        order = np.argsort(~flags, kind="stable")
        return xs[order], ys[order], int(np.count_nonzero(flags))

    def candidates(self, shape: Shape, relations: Sequence[Any], support: Any) -> tuple[Table, Ints, Ints]:
        """The rows that may become rules, with their greatest PCA body size and body size."""
        rows = empty_table(len(support))
        rows[:, HEAD], rows[:, SHAPE], rows[:, SUPPORT] = self.head, shape, support
        rows[:, FIRST], rows[:, SECOND], rows[:, THIRD] = relations
        unsigned = rows[:, FIRST : THIRD + 1] % self.graph.index.num_relations
        # a relation is at most three times in a rule
        rows = rows[~(unsigned == self.head).all(axis=1)]
        supports, place = np.unique(rows[:, SUPPORT], return_inverse=True)
        most_pca = self.thresholds.most_pca(supports)[place]
        most_body = self.thresholds.most_body(supports)[place]
        for part, columns in closed_parts(shape, (rows[:, FIRST], rows[:, SECOND], rows[:, THIRD])):
            there, most = self.parts.most_pca(rows[:, SUPPORT], part, *columns)
            most_pca[there] = np.minimum(most_pca[there], most)
        hopeful = (most_pca >= rows[:, SUPPORT]) & (most_body >= rows[:, SUPPORT])
        return rows[hopeful], most_pca[hopeful], most_body[hopeful]


def _sized(rows: Table, pca: Ints, body: Ints) -> Table:
    """The rows whose sizes were counted to the end."""
    rows[:, PCA], rows[:, BODY] = pca, body
    done: Table = rows[body >= 0]
    return done


def _rules(graph: DoubleGraph, number: int, shorter: Table, thresholds: Thresholds) -> Table:
    """All rules of one head relation."""
    head = _Head(graph, number, shorter, thresholds)
    tables = [_paths(head), *_triangles(head), _parallels(head)]
    for side in (head.forward, head.backward):
        tables += [*_pendants(head, side), *_doubled(head, side)]
    return np.concatenate(tables)


def _paths(head: _Head) -> Table:
    """p(x, z), q(z, w), r(w, y)."""
    graph, xs, ys = head.graph, head.forward.xs, head.forward.ys
    ends_x, ends_y = head.backward.ends, head.forward.ends
    joint = paths.joint_ends(graph.arrays, xs, ys, ends_x[1], ends_y[1], len(ends_x[0]), len(ends_y[0]))
    found = paths.path_supports(graph.arrays, graph.onward, ends_x, ends_y, joint, len(xs), head.least)
    first, second, third, support = found.T
    rows, most_pca, most_body = head.candidates(Shape.PATH3, (first, second, graph.inverse(third)), support)
    steps = rows[:, FIRST : THIRD + 1]
    if not head.subject:
        steps = graph.inverse(steps[:, ::-1])
    order = np.lexsort(steps[:, ::-1].T)
    walked = np.ascontiguousarray(steps[order].T)
    pca, body = paths.path_sizes(graph.arrays, *walked, head.known, most_pca[order], most_body[order])
    return _sized(rows[order], pca, body)


def _triangles(head: _Head) -> Iterator[Table]:
    """s(x, y), p(x, z), q(z, y)."""
    graph, side = head.graph, head.forward
    (relations_x, place_x, *_), (relations_y, place_y, *_) = head.backward.ends, side.ends
    sizes = (place_x, len(relations_x), place_y, len(relations_y))
    for relation, facts in head.facts_beside():
        near, far, support = close.two_step_supports(
            graph.edges, graph.edges, side.xs[facts], side.ys[facts], *sizes, head.least
        ).T
        rows, most_pca, most_body = head.candidates(
            Shape.TRIANGLE, (relation, relations_x[near], graph.inverse(relations_y[far])), support
        )
        if len(rows) == 0:
            continue
        place_left, lefts = _places(rows[:, SECOND], graph.index.num_signed)
        place_right, rights = _places(graph.inverse(rows[:, THIRD]), graph.index.num_signed)
        pca, body = close.triangle_sizes(
            graph.edges, *head.known_first(relation), place_left, lefts.max() + 1, place_right, rights.max() + 1,
            lefts, rights, most_pca, most_body,
        )  # fmt: skip
        yield _sized(rows, pca, body)


def _places(relations: Ints, num_signed: int) -> tuple[Ids, Ints]:
    """Numbers from 0 for the relations that there are: by relation (-1 for others), and those of ``relations``."""
    distinct, numbers = np.unique(relations, return_inverse=True)
    place = np.full(num_signed, -1, np.int32)
    place[distinct] = np.arange(len(distinct))
    return place, numbers


def _parallels(head: _Head) -> Table:
    """s, s', s''(x, y)."""
    graph = head.graph
    start, found, frequent = head.beside
    place, _ = _places(frequent, graph.index.num_signed)
    *threes, support = close.parallel_supports(start, place[found], len(frequent), head.least).T
    rows, most_pca, most_body = head.candidates(Shape.PARALLEL3, [frequent[three] for three in threes], support)
    relations = rows[:, FIRST : THIRD + 1]
    smallest_first = np.take_along_axis(relations, np.argsort(graph.index.facts[relations], axis=1), axis=1)
    tables = [empty_table()]
    for relation in np.unique(smallest_first[:, 0]).tolist():
        chosen = smallest_first[:, 0] == relation
        _first, second, third = np.ascontiguousarray(smallest_first[chosen].T)
        counts = close.parallel_sizes(
            graph.edges, *head.known_first(relation), second, third, most_pca[chosen], most_body[chosen]
        )
        tables.append(_sized(rows[chosen], *counts))
    return np.concatenate(tables)


def _pendants(head: _Head, side: _Side) -> Iterator[Table]:
    """s(x, y), p(x, z), p'(x, z)."""
    graph = head.graph
    for relation, facts in head.facts_beside():
        entities, counts = np.unique(side.xs[facts], return_counts=True)
        support = close.pair_sums(graph.pairs, entities, counts, graph.num_pairs)
        pairs = np.flatnonzero(support >= head.least)
        shape = Shape.PENDANT_Y if side.flipped else Shape.PENDANT_X
        rows, most_pca, most_body = head.candidates(shape, (relation, *graph.relations_of(pairs).T), support[pairs])
        if len(rows) == 0:
            continue
        pairs = graph.pairs_of(rows[:, SECOND : THIRD + 1])
        xs, ys = graph.facts(relation)
        known = head.known[xs if head.subject else ys]
        near = ys if side.flipped else xs
        entities, place = np.unique(near, return_inverse=True)
        body = close.pair_sums(graph.pairs, entities, np.bincount(place), graph.num_pairs)[pairs]
        pca_weights = np.bincount(place[known], minlength=len(entities))
        pca = close.pair_sums(graph.pairs, entities, pca_weights, graph.num_pairs)[pairs]
        passed = (pca > most_pca) | (body > most_body)
        yield _sized(rows, pca, np.where(passed, -1, body))


def _doubled(head: _Head, side: _Side) -> Iterator[Table]:
    """p(x, z), p'(x, z), q(z, y)."""
    graph = head.graph
    relations, place_right, *_ = side.ends
    entities, counts = np.unique(side.xs, return_counts=True)
    frequent = np.flatnonzero(close.pair_sums(graph.pairs, entities, counts, graph.num_pairs) >= head.least)
    size = max(MOST_CELLS // max(len(relations), 1), 1)
    for begin in range(0, len(frequent), size):
        pairs = frequent[begin : begin + size]
        place, _ = _places(pairs, graph.num_pairs)
        near, far, support = close.two_step_supports(
            graph.doubles, graph.edges, side.xs, side.ys, place, len(pairs), place_right, len(relations), head.least
        ).T
        doubles, step = graph.relations_of(pairs[near]), relations[far].astype(np.int64)
        if side.flipped:
            back = np.sort(graph.inverse(doubles), axis=1)
            rows, most_pca, most_body = head.candidates(Shape.DOUBLED_Y, (step, *back.T), support)
            doubles, step = np.sort(graph.inverse(rows[:, SECOND : THIRD + 1]), axis=1), rows[:, FIRST]
        else:
            rows, most_pca, most_body = head.candidates(Shape.DOUBLED_X, (*doubles.T, graph.inverse(step)), support)
            doubles, step = rows[:, FIRST : SECOND + 1], graph.inverse(rows[:, THIRD])
        counted = close.double_path_sizes(
            graph.arrays, graph.instances, graph.pairs_of(doubles), graph.inverse(step), head.known,
            head.subject != side.flipped, most_pca, most_body,
        )  # fmt: skip
        yield _sized(rows, *counted)
