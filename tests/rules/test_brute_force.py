"""The miner against a counter that tries every body and every assignment, on small random graphs."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa_bench.contracts import MiningSettings
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.horn.rule import Atom, MinedRule, canonical_rule
from kgqa_bench.rules.miner import NativeMiner

Triples = frozenset[tuple[str, str, str]]
Key = tuple[str, frozenset[tuple[str, int, int]]]


class Counts(NamedTuple):
    support: int
    head_size: int
    body_size: int
    pca_body_size: int
    functional: str


def _key(head: str, body: tuple[tuple[str, int, int], ...]) -> Key:
    """One key for all namings of the variables beyond 0 and 1."""
    free = sorted({v for _, s, o in body for v in (s, o)} - {0, 1})
    names = [{0: 0, 1: 1, **dict(zip(free, order, strict=True))} for order in permutations(range(2, 2 + len(free)))]
    return head, frozenset(min(sorted((r, name[s], name[o]) for r, s, o in body) for name in names))


def _closed(body: tuple[tuple[str, int, int], ...]) -> bool:
    times = Counter([0, 1])
    times.update(v for _, s, o in body for v in (s, o))
    return min(times.values()) >= 2


def _connected(body: tuple[tuple[str, int, int], ...]) -> bool:
    reached = {0, 1}
    for _ in body:
        reached |= {v for _, s, o in body if s in reached or o in reached for v in (s, o)}
    return reached >= {v for _, s, o in body for v in (s, o)}


def _pairs(triples: Triples, body: tuple[tuple[str, int, int], ...]) -> set[tuple[str, str]]:
    """The distinct (x, y) for which the body holds."""
    assignments: list[dict[int, str]] = [{}]
    for relation, subject, object_ in body:
        longer = []
        for known in assignments:
            for s, r, o in triples:
                if r == relation and known.get(subject, s) == s and known.get(object_, o) == o:
                    longer.append(known | {subject: s, object_: o})
        assignments = longer
    return {(known[0], known[1]) for known in assignments}


class BruteForce:
    """All closed connected rules of a graph up to a length, by trying every set of atoms."""

    def __init__(self, triples: Triples, length: int) -> None:
        self.triples = triples
        relations = sorted({r for _, r, _ in triples})
        atoms = [(r, s, o) for r in relations for s, o in permutations(range(4), 2)]
        pairs = {}
        for size in range(1, length):
            for body in combinations(atoms, size):
                if _closed(body) and _connected(body):
                    pairs.setdefault(_key("", body)[1], None)
        for body in pairs:
            pairs[body] = _pairs(triples, tuple(body))
        self.counts: dict[Key, Counts] = {}
        for head, body in product(relations, pairs):
            uses = [r for r, _, _ in body].count(head)
            if (head, 0, 1) not in body and uses <= 2:
                self.counts[head, body] = self._count(head, pairs[body])

    def _count(self, head: str, pairs: set[tuple[str, str]]) -> Counts:
        facts = {(s, o) for s, r, o in self.triples if r == head}
        ends = [{fact[side] for fact in facts} for side in (0, 1)]
        side = 0 if len(ends[0]) >= len(ends[1]) else 1
        pca = sum(pair[side] in ends[side] for pair in pairs)
        return Counts(len(pairs & facts), len(facts), len(pairs), pca, ("subject", "object")[side])

    def output(self, chosen: MiningSettings) -> dict[Key, Counts]:
        """The rules that a miner with these settings gives."""
        coverage, std, pca = (
            Fraction(str(least))
            for least in (chosen.min_head_coverage, chosen.min_std_confidence, chosen.min_pca_confidence)
        )
        result: dict[Key, Counts] = {}
        for key in sorted(self.counts, key=lambda key: len(key[1])):
            found = self.counts[key]
            if found.support == 0 or found.head_size < chosen.min_head_size:
                continue
            confidence = Fraction(found.support, found.pca_body_size)
            if (
                found.support >= coverage * found.head_size
                and Fraction(found.support, found.body_size) >= std
                and confidence >= pca
                and self._in_search(key[0], tuple(key[1]), ())
                and all(
                    Fraction(result[part].support, result[part].pca_body_size) < confidence
                    for size in range(1, len(key[1]))
                    for some in combinations(key[1], size)
                    if (part := _key(key[0], some)) in result
                )
            ):
                result[key] = found
        return result

    def _in_search(
        self, head: str, left: tuple[tuple[str, int, int], ...], body: tuple[tuple[str, int, int], ...]
    ) -> bool:
        """Whether the atoms ``left`` can be added in some order, each at an open variable where there is one."""
        if not left:
            return True
        if body and _closed(body):
            found = self.counts[_key(head, body)]
            if found.support == found.pca_body_size:
                return False
        times = Counter([0, 1])
        times.update(v for _, s, o in body for v in (s, o))
        at = {v for v, count in times.items() if count == 1} or set(times)
        return any(
            self._in_search(head, left[:n] + left[n + 1 :], (*body, atom))
            for n, atom in enumerate(left)
            if at & {atom[1], atom[2]}
        )


def _graph(triples: Triples) -> MemoryGraph:
    heads, relations, tails = zip(*sorted(triples), strict=True)
    return build_graph(heads, relations, tails, source="test")


def _found(rules: list[MinedRule]) -> dict[Key, Counts]:
    found = {
        _key(m.rule.head, tuple((a.relation, a.subject, a.object) for a in m.rule.body)): Counts(
            m.support, m.head_size, m.body_size, m.pca_body_size, m.functional
        )
        for m in rules
    }
    assert len(found) == len(rules)
    return found


def _triples(relations: str, most: int) -> st.SearchStrategy[Triples]:
    one = st.tuples(st.sampled_from("abcde"), st.sampled_from(relations), st.sampled_from("abcde"))
    return st.frozensets(one, min_size=1, max_size=most)


_choices = st.fixed_dictionaries(
    {
        "min_head_coverage": st.sampled_from([0.01, 0.1, 0.3, 0.5, 0.7, 1.0]),
        "min_std_confidence": st.sampled_from([0.0, 0.1, 0.3, 0.6]),
        "min_pca_confidence": st.sampled_from([0.0, 0.2, 0.4, 0.7, 1.0]),
        "min_head_size": st.integers(1, 4),
        "threads": st.integers(1, 3),
    }
)


@given(_triples("rst", 18), _choices, st.integers(2, 3))
@settings(max_examples=150, deadline=None)
def test_rules_up_to_three_atoms(triples: Triples, choices: dict[str, float], length: int) -> None:
    chosen = MiningSettings(max_length=length, **choices)
    assert _found(NativeMiner(chosen).mine(_graph(triples))) == BruteForce(triples, length).output(chosen)


@given(_triples("rs", 12), _choices)
@settings(max_examples=60, deadline=None)
def test_rules_up_to_four_atoms(triples: Triples, choices: dict[str, float]) -> None:
    chosen = MiningSettings(max_length=4, **choices)
    assert _found(NativeMiner(chosen).mine(_graph(triples))) == BruteForce(triples, 4).output(chosen)


@given(_triples("rst", 14), _choices)
@settings(max_examples=15, deadline=None)
def test_three_relations_beside_each_other(triples: Triples, choices: dict[str, float]) -> None:
    chosen = MiningSettings(max_length=4, **choices)
    assert _found(NativeMiner(chosen).mine(_graph(triples))) == BruteForce(triples, 4).output(chosen)


@given(_triples("rs", 14), st.integers(1, 2))
@settings(max_examples=60, deadline=None)
def test_counts_of_given_rules(triples: Triples, threads: int) -> None:
    """Of every rule of every shape, in the order given, also where nothing supports it."""
    expected = BruteForce(triples, 4).counts
    rules = [canonical_rule(head, [Atom(*atom) for atom in body]) for head, body in expected]
    counted = NativeMiner(MiningSettings(threads=threads)).measure(_graph(triples), rules)
    assert [m.rule for m in counted] == rules
    assert _found(counted) == expected


@pytest.mark.parametrize("size", [2, 3])
def test_perfect_parts_keep_a_parallel_body_out_of_the_search(size: int) -> None:
    """Nothing is added to r1 ⇒ r and r2 ⇒ r, which are perfect but too seldom true to be output."""
    triples = {("a", "r", "b"), *(("a", f"r{n}", "b") for n in range(size))}
    # a body pair whose subject has no r: it lowers the standard confidence of single atoms, not the PCA confidence
    triples |= {(f"c{n}", f"r{n}", f"d{m}") for n in range(size) for m in range(2)}
    chosen = MiningSettings(
        min_head_coverage=0.01, min_std_confidence=0.5, min_pca_confidence=0.1, min_head_size=1, max_length=size + 1
    )
    expected = BruteForce(frozenset(triples), size + 1)
    mined = _found(NativeMiner(chosen).mine(_graph(frozenset(triples))))
    assert mined == expected.output(chosen)
    parallel = _key("r", tuple((f"r{n}", 0, 1) for n in range(size)))
    assert expected.counts[parallel] == (1, 1, 1, 1, "subject")
    assert parallel not in mined
