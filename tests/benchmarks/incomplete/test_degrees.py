"""Degrees of incompleteness: nested by seed, drawn evenly over shortest paths, and what is left reachable."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa_bench.benchmarks.incomplete.degrees import (
    Degree,
    Links,
    drawn_questions,
    is_drawn,
    least_hops,
    part_of,
    path_triple,
    random_triples,
)

RATES = st.floats(0.001, 1)
NAMES = st.text("abcd:|0", max_size=3)
TRIPLES = st.lists(st.tuples(NAMES, NAMES, NAMES), unique=True, max_size=30)
EDGES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=16)


def links_of(edges: list[tuple[int, int]], entities: int = 8) -> Links:
    heads, tails = zip(*edges, strict=True)
    return Links.of(heads, tails, entities)


@pytest.mark.parametrize(
    ("rate", "size", "part"), [(0.05, 100, 5), (0.5, 5, 3), (0.1, 4, 0), (0.15, 10, 2), (0.29, 100, 29), (1, 7, 7)]
)
def test_part_of(rate: float, size: int, part: int) -> None:
    assert part_of(rate, size) == part


@settings(deadline=None)
@given(triples=TRIPLES, rates=st.tuples(RATES, RATES), seed=st.integers(0, 9))
def test_random_removal_is_nested_exact_and_by_name_alone(triples, rates, seed) -> None:
    low, high = sorted(rates)
    fewer, more = (random_triples(triples, rate, seed) for rate in (low, high))
    assert set(fewer) <= set(more)
    assert len(more) == part_of(high, len(triples))
    backwards = triples[::-1]
    assert {backwards[at] for at in random_triples(backwards, low, seed)} == {triples[at] for at in fewer}


@settings(deadline=None)
@given(triples=TRIPLES, rates=st.tuples(RATES, RATES), seed=st.integers(0, 9))
def test_removal_triple_by_triple_is_nested(triples, rates, seed) -> None:
    low, high = sorted(rates)
    assert all(is_drawn(triple, high, seed) for triple in triples if is_drawn(triple, low, seed))
    assert all(is_drawn(triple, 1, seed) for triple in triples)


def test_removal_triple_by_triple_comes_near_the_rate() -> None:
    triples = [(f"h{n}", "r", "t") for n in range(4_000)]
    drawn = [triple for triple in triples if is_drawn(triple, 0.2, 0)]
    assert 700 < len(drawn) < 900  # 800, standard deviation 25
    assert drawn != [triple for triple in triples if is_drawn(triple, 0.2, 1)]
    # the same order of triples decides in both ways
    assert {triples[at] for at in random_triples(triples, 0.1, 0)} <= set(drawn)


@settings(deadline=None)
@given(ids=st.sets(st.text(max_size=3), max_size=20), rates=st.tuples(RATES, RATES), seed=st.integers(0, 9))
def test_questions_drawn_are_nested(ids, rates, seed) -> None:
    low, high = sorted(rates)
    assert drawn_questions(ids, low, seed) <= drawn_questions(ids, high, seed) <= ids
    assert len(drawn_questions(ids, low, seed)) == part_of(low, len(ids))
    assert drawn_questions(sorted(ids, reverse=True), low, seed) == drawn_questions(ids, low, seed)


def test_draws_are_fixed_for_all_time() -> None:
    assert random_triples([("a", "r", str(n)) for n in range(10)], 0.3, 0) == [6, 7, 8]
    assert sorted(drawn_questions([str(n) for n in range(10)], 0.3, 0)) == ["4", "5", "8"]


@settings(deadline=None)
@given(edges=EDGES, topics=st.sets(st.integers(0, 7), max_size=3), answers=st.sets(st.integers(0, 7), max_size=3))
def test_distances_are_those_of_networkx(edges, topics, answers) -> None:
    graph = nx.Graph(edges)
    graph.add_nodes_from(range(8))
    distances = [
        nx.shortest_path_length(graph, topic, answer)
        for topic in topics
        for answer in answers
        if nx.has_path(graph, topic, answer)
    ]
    nearest = min(distances, default=None)
    for hops in range(8):
        expected = nearest if nearest is not None and nearest <= hops else None
        assert least_hops(links_of(edges), topics, answers, hops) == expected


@settings(deadline=None)
@given(edges=EDGES, gone=st.sets(st.integers(0, 15)), seed=st.integers(0, 3))
def test_removed_triples_lead_nowhere(edges, gone, seed) -> None:
    flags = np.array([at in gone for at in range(len(edges))])
    kept = [edge for at, edge in enumerate(edges) if at not in gone]
    left = links_of(kept) if kept else Links.of([], [], 8)
    for hops in (1, 3):
        assert least_hops(links_of(edges), [0], [1, 2], hops, flags) == least_hops(left, [0], [1, 2], hops)


@settings(deadline=None)
@given(edges=EDGES, topics=st.sets(st.integers(0, 7), max_size=2), answers=st.sets(st.integers(0, 7), max_size=3))
def test_the_triple_drawn_is_on_a_shortest_path(edges, topics, answers) -> None:
    graph = nx.Graph(edges)
    graph.add_nodes_from(range(8))
    allowed = set()
    for topic in topics:
        for answer in answers - {topic}:
            if nx.has_path(graph, topic, answer):
                for path in nx.all_shortest_paths(graph, topic, answer):
                    steps = {frozenset(step) for step in pairwise(path)}
                    allowed |= {at for at, edge in enumerate(edges) if frozenset(edge) in steps}
    drawn = {path_triple(links_of(edges), topics, answers, random.Random(draw)) for draw in range(30)}
    assert drawn <= allowed if allowed else drawn == {None}


def test_all_shortest_paths_are_equally_likely() -> None:
    # from 0 to 3: over 1 by two parallel triples, over 2 by one; from 0 to 4 there is the one path 5
    edges = [(0, 1), (1, 0), (1, 3), (0, 2), (3, 2), (0, 4)]
    links = links_of(edges)
    counts = Counter(path_triple(links, [0], [3, 4], random.Random(draw)) for draw in range(8_000))
    # each of the four paths is drawn 2,000 times, and each triple of it half of them; standard deviation below 45
    expected = {0: 1_000, 1: 1_000, 2: 2_000, 3: 1_000, 4: 1_000, 5: 2_000}
    assert set(counts) == set(expected)
    assert all(abs(counts[triple] - times) < 200 for triple, times in expected.items())


def test_paths_may_be_bounded() -> None:
    links = links_of([(0, 1), (1, 2)])
    assert path_triple(links, [0], [2], random.Random(0), hops=1) is None
    assert path_triple(links, [0], [2], random.Random(0), hops=2) in {0, 1}
    assert path_triple(links, [0], [0], random.Random(0)) is None
    assert path_triple(links, [], [2], random.Random(0)) is None


def test_more_paths_than_can_be_listed() -> None:
    # 60 squares in a row: 2 ** 60 shortest paths
    edges = [(3 * n + a, 3 * n + b) for n in range(60) for a, b in ((0, 1), (0, 2), (1, 3), (2, 3))]
    links = links_of(edges, 181)
    assert path_triple(links, [0], [180], random.Random(0)) in range(len(edges))


@pytest.mark.parametrize("rate", [0, 1.1, float("nan")])
def test_rates_are_checked(rate: float) -> None:
    with pytest.raises(ValueError, match="rate"):
        Degree(removal="random", rate=rate)
