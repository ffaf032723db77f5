"""Degrees of incompleteness on any question set: what is removed at a rate, and what it does to the questions.

Two ways (Zhou et al. 2025, arXiv 2504.05163): ``random`` removes a share of all triples; ``shortest-path``
disrupts a share of the questions, each by one random triple of one random shortest path from topic to answer.
Both are nested by seed: what a lower rate removes, a higher one removes too.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from kgqa_bench.contracts import PluginSettings

from . import degrees_kernels as kernels

Removal = Literal["random", "shortest-path"]
Named = tuple[str, str, str]
Ints = npt.NDArray[Any]

_RANGE = 2**64


class Degree(PluginSettings):
    """How incomplete a graph is made."""

    removal: Removal = Field(
        description="`random`: a share of all triples; `shortest-path`: one triple of a shortest path from topic to "
        "answer, for a share of the questions that have one."
    )
    rate: float = Field(gt=0, le=1, description="That share; nested by seed.")
    seed: int = Field(default=0, ge=0, description="Seeds every draw.")
    hops: int = Field(
        default=4, ge=1, le=32, description="A question is answerable if an answer is so near to a topic."
    )


@dataclass(frozen=True, eq=False)
class Links:
    """The triples of a graph without their directions. Triple n links ``heads[n]`` and ``tails[n]``.

    Attributes:
        start: (N + 1), where the links of each entity begin.
        other: (2 E), the entity at the other end.
        edge: (2 E), the number of the triple.
    """

    start: Ints
    other: Ints
    edge: Ints

    @classmethod
    def of(cls, heads: Sequence[int] | Ints, tails: Sequence[int] | Ints, entities: int) -> Links:
        """The links of parallel columns of entity ids below ``entities``."""
        ends = np.concatenate([np.asarray(heads, np.int32), np.asarray(tails, np.int32)])
        others = np.concatenate([np.asarray(tails, np.int32), np.asarray(heads, np.int32)])
        order = np.argsort(ends, kind="stable")
        start = np.zeros(entities + 1, np.int64)
        np.cumsum(np.bincount(ends, minlength=entities), out=start[1:])
        numbers = np.arange(len(ends), dtype=np.int32) % max(len(ends) // 2, 1)
        return cls(start, others[order], numbers[order].astype(np.int32))

    @property
    def entities(self) -> int:
        """Number of entities."""
        return len(self.start) - 1

    @property
    def triples(self) -> int:
        """Number of triples."""
        return len(self.edge) // 2

    def marked(self, entities: Iterable[int]) -> npt.NDArray[np.bool_]:
        """A flag for each entity, set for the given ones."""
        flags = np.zeros(self.entities, np.bool_)
        flags[list(entities)] = True
        return flags


def part_of(rate: float, size: int) -> int:
    """How many of ``size`` things a rate is: rounded half up, the rate taken as the decimal that it is written as."""
    return int(Fraction(repr(float(rate))) * size + Fraction(1, 2))


def random_triples(triples: Sequence[Named], rate: float, seed: int) -> list[int]:
    """The positions of the share ``rate`` of distinct triples, ascending; it depends on their names alone."""
    order = sorted(range(len(triples)), key=lambda position: (_key(triples[position], seed), triples[position]))
    return sorted(order[: part_of(rate, len(triples))])


def is_drawn(triple: Named, rate: float, seed: int) -> bool:
    """Whether a triple belongs to the share ``rate`` of all triples there may be.

    For graphs that are read one after the other: a triple is removed from all of them or from none. The share comes
    out at ``rate`` only nearly.
    """
    return _key(triple, seed) < Fraction(repr(float(rate))) * _RANGE


def _key(triple: Named, seed: int) -> int:
    # Not ``random.Random``: seeding one for each of millions of triples takes minutes.
    text = f"{seed}|random removal|" + "".join(f"{len(name)}:{name}" for name in triple)
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def drawn_questions(ids: Collection[str], rate: float, seed: int) -> frozenset[str]:
    """The share ``rate`` of questions, by their ids, that are disrupted."""
    order = sorted(ids)
    random.Random(f"{seed}|disrupted questions").shuffle(order)
    return frozenset(order[: part_of(rate, len(order))])


def path_triple(
    links: Links, topics: Iterable[int], answers: Iterable[int], draw: random.Random, hops: int | None = None
) -> int | None:
    """The triple that disrupts a question: a random one of a random shortest path from a topic to an answer.

    All shortest paths between each topic and each answer are equally likely, parallel triples apart.

    Args:
        links: The graph.
        topics: Topic entities.
        answers: Answer entities; one that is a topic too has no path.
        draw: The source of the two draws.
        hops: Most triples of a path; None for no limit.

    Returns:
        The triple's number; None where there is no path.
    """
    goals = sorted(set(answers))
    flags = links.marked(goals)
    searches = [(topic, *_search(links, topic, flags, hops)) for topic in sorted(set(topics))]
    ways = [
        (topic, goal, distance, count) for topic, distance, count in searches for goal in goals if distance[goal] > 0
    ]
    if not ways:
        return None
    _topic, entity, distance, count = ways[_weighted([float(each[3][each[1]]) for each in ways], draw)]
    path = []
    while distance[entity] > 0:
        row = slice(int(links.start[entity]), int(links.start[entity + 1]))
        back = np.flatnonzero(distance[links.other[row]] == distance[entity] - 1)
        chosen = row.start + int(back[_weighted(count[links.other[row][back]], draw)])
        path.append(int(links.edge[chosen]))
        entity = int(links.other[chosen])
    return draw.choice(path)


def _search(
    links: Links, source: int, goals: npt.NDArray[np.bool_], hops: int | None
) -> tuple[Ints, npt.NDArray[np.float64]]:
    distance = np.full(links.entities, -1, np.int32)
    count = np.zeros(links.entities)
    kernels.shortest_counts(links.start, links.other, source, goals, -1 if hops is None else hops, distance, count)
    return distance, count


def _weighted(weights: Sequence[float] | npt.NDArray[np.float64], draw: random.Random) -> int:
    """A position drawn by weight: whole numbers, exact up to 2 ** 53."""
    sums = np.cumsum(weights)
    return min(int(np.searchsorted(sums, draw.random() * sums[-1], side="right")), len(sums) - 1)


def least_hops(
    links: Links,
    topics: Iterable[int],
    answers: Iterable[int],
    hops: int,
    gone: npt.NDArray[np.bool_] | None = None,
) -> int | None:
    """Triples on the shortest way from any topic to any answer; None where there is none of at most ``hops``.

    Args:
        links: The graph.
        topics: Topic entities.
        answers: Answer entities.
        hops: How far to look.
        gone: A flag for each triple, set where it is removed.
    """
    flags = np.zeros(max(links.triples, 1), np.bool_) if gone is None else gone
    sources = np.array(sorted(set(topics)), np.int64)
    found = int(
        kernels.least_distance(links.start, links.other, links.edge, flags, sources, links.marked(answers), hops)
    )
    return None if found < 0 else found
