"""The miner against AMIE 3's search as published, carried out rule by rule: a queue, refinement, pruning, skyline.

Lajus, Galárraga, Suchanek (ESWC 2020), algorithm 1 and section 3. Nothing here knows shapes or counts bodies that the
search does not reach, so this checks what is mined where ``test_brute_force`` checks what should be.
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa_bench.contracts import MiningSettings
from kgqa_bench.graph.build import build_graph
from kgqa_bench.rules.miner import NativeMiner

Triples = list[tuple[str, str, str]]
Body = frozenset[tuple[str, int, int]]
Row = tuple[str | None, ...]
Found = dict[tuple[str, Body], tuple[int, int, int, int, str]]
"""(support, facts of the head, body size, PCA body size, functional side) by head and named body."""

AT_MOST_OF_ONE_RELATION = 3


def named(body: Iterable[tuple[str, int, int]]) -> Body:
    """The one form of all bodies that differ by the names of the variables beyond x (0) and y (1)."""
    atoms = list(body)
    free = sorted({v for _, s, o in atoms for v in (s, o)} - {0, 1})
    forms = []
    for order in permutations(range(2, 2 + len(free))):
        name = {0: 0, 1: 1, **dict(zip(free, order, strict=True))}
        forms.append(sorted((r, name[s], name[o]) for r, s, o in atoms))
    return frozenset(map(tuple, min(forms)))


def open_variables(body: Body) -> set[int]:
    """The variables that are in one atom only, the head r(x, y) included."""
    times: dict[int, int] = defaultdict(int, {0: 1, 1: 1})
    for _, subject, object_ in body:
        times[subject] += 1
        times[object_] += 1
    return {variable for variable, count in times.items() if count == 1}


class Search:
    """One run of the algorithm."""

    def __init__(self, triples: Triples, chosen: MiningSettings) -> None:
        self.chosen = chosen
        self.facts: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self.ends: dict[tuple[str, int, str], set[str]] = defaultdict(set)
        for subject, relation, object_ in triples:
            self.facts[relation].add((subject, object_))
            self.ends[relation, 0, subject].add(object_)
            self.ends[relation, 1, object_].add(subject)
        self.coverage, self.std, self.pca = (
            Fraction(str(value))
            for value in (chosen.min_head_coverage, chosen.min_std_confidence, chosen.min_pca_confidence)
        )

    def run(self) -> Found:
        found: Found = {}
        for head in self.chosen.relations or sorted(self.facts):
            if len(self.facts[head]) >= self.chosen.min_head_size:
                found |= {(head, body): counts for body, counts in self._rules(head).items()}
        return found

    def _rules(self, head: str) -> dict[Body, tuple[int, int, int, int, str]]:
        facts = self.facts[head]
        subjects, objects = {x for x, _ in facts}, {y for _, y in facts}
        side = 0 if len(subjects) >= len(objects) else 1
        known = (subjects, objects)[side]
        output: dict[Body, tuple[int, int, int, int, str]] = {}
        start: Body = frozenset()
        queue: deque[tuple[Body, set[Row]]] = deque([(start, {(*fact, None, None) for fact in facts})])
        explored = {start}
        while queue:
            body, rows = queue.popleft()
            if body and not open_variables(body):
                pairs = self._body_pairs(body)
                support = len({row[:2] for row in rows})
                pca_size = sum(pair[side] in known for pair in pairs)
                confidence = Fraction(support, pca_size)
                if (
                    Fraction(support, len(pairs)) >= self.std
                    and confidence >= self.pca
                    and all(confidence > Fraction(p[0], p[3]) for part, p in output.items() if self._in(part, body))
                ):
                    output[body] = (support, len(facts), len(pairs), pca_size, ("subject", "object")[side])
                if support == pca_size:
                    continue
            if len(body) + 1 == self.chosen.max_length:
                continue
            for atom in self._refinements(head, body):
                longer = named((*body, atom))
                if longer in explored:
                    continue
                explored.add(longer)
                # from the head's facts on: the names of the variables may have changed
                wider = self._join({(*fact, None, None) for fact in facts}, longer)
                if len({row[:2] for row in wider}) >= self.coverage * len(facts):
                    queue.append((longer, wider))
        return output

    def _refinements(self, head: str, body: Body) -> Iterable[tuple[str, int, int]]:
        """Dangling atoms (one new variable) and closing atoms (none), at an open variable if there is one."""
        variables = {0, 1} | {v for _, s, o in body for v in (s, o)}
        joins = open_variables(body) or variables
        for relation in sorted(self.facts):
            uses = [head, *(r for r, _, _ in body)].count(relation)
            if uses >= AT_MOST_OF_ONE_RELATION:
                continue
            new = len(variables)
            ends = [pair for join in joins for pair in ((join, new), (new, join))] if new < 4 else []
            ends += [pair for pair in permutations(variables, 2) if joins & set(pair)]
            for subject, object_ in ends:
                if (relation, subject, object_) not in {(head, 0, 1), *body}:
                    yield relation, subject, object_

    def _join(self, rows: set[Row], body: Body) -> set[Row]:
        """The assignments of all variables that extend the rows."""
        left = set(body)
        while left:
            atom = min(left, key=lambda atom: (-sum(v in self._bound(rows) for v in atom[1:]), atom))
            left.remove(atom)
            rows = {wider for row in rows for wider in self._extended(row, *atom)}
            if not rows:
                break
        return rows

    @staticmethod
    def _bound(rows: set[Row]) -> set[int]:
        return {place for place, value in enumerate(next(iter(rows))) if value is not None}

    def _extended(self, row: Row, relation: str, subject: int, object_: int) -> Iterable[Row]:
        one, other = row[subject], row[object_]
        if one is not None and other is not None:
            pairs: Iterable[tuple[str, str]] = [(one, other)] if (one, other) in self.facts[relation] else []
        elif one is not None:
            pairs = [(one, end) for end in self.ends.get((relation, 0, one), ())]
        elif other is not None:
            pairs = [(end, other) for end in self.ends.get((relation, 1, other), ())]
        else:
            pairs = self.facts[relation]
        for start, end in pairs:
            wider = list(row)
            wider[subject], wider[object_] = start, end
            yield tuple(wider)

    def _body_pairs(self, body: Body) -> set[Row]:
        return {row[:2] for row in self._join({(None,) * 4}, body)}

    @staticmethod
    def _in(part: Body, body: Body) -> bool:
        """Whether a body is a part of another, up to the names of variables."""
        if len(part) >= len(body):
            return False
        free = sorted({v for _, s, o in part for v in (s, o)} - {0, 1})
        for order in permutations((2, 3), len(free)):
            name = {0: 0, 1: 1, **dict(zip(free, order, strict=True))}
            if {(r, name[s], name[o]) for r, s, o in part} <= body:
                return True
        return False


def mined(triples: Triples, chosen: MiningSettings) -> Found:
    graph = build_graph(*zip(*triples, strict=True), source="test")
    rules = NativeMiner(chosen).mine(graph)
    found = {
        (m.rule.head, named(tuple(map(tuple, m.rule.body)))): (
            m.support, m.head_size, m.body_size, m.pca_body_size, m.functional,
        )
        for m in rules
    }  # fmt: skip
    assert len(found) == len(rules)
    return found


def _dense(draw: random.Random) -> Triples:
    return [(draw.choice("abcd"), draw.choice("pq"), draw.choice("abcd")) for _ in range(24)]


def _sparse(draw: random.Random) -> Triples:
    return [(f"e{draw.randrange(25)}", draw.choice("pqr"), f"e{draw.randrange(25)}") for _ in range(40)]


def _hubs(draw: random.Random) -> Triples:
    return [(f"e{int(20 * draw.random() ** 4)}", draw.choice("pqr"), f"e{draw.randrange(20)}") for _ in range(50)]


def _loops(draw: random.Random) -> Triples:
    return [*_sparse(draw), *((e, draw.choice("pq"), e) for e in (f"e{draw.randrange(25)}" for _ in range(12)))]


def _symmetric(draw: random.Random) -> Triples:
    half = [(f"e{draw.randrange(10)}", draw.choice("pqr"), f"e{draw.randrange(10)}") for _ in range(20)]
    return half + [(o, r, s) for s, r, o in half if r != "r"]


def _functional(draw: random.Random) -> Triples:
    """p and q have one object for each subject, r one subject for each object; q is mostly p again."""
    p = [(f"e{n}", "p", f"e{draw.randrange(8)}") for n in range(20)]
    q = [(s, "q", o if draw.random() < 0.8 else f"e{draw.randrange(8)}") for s, _, o in p if draw.random() < 0.9]
    return p + q + [(o, "r", s) for s, _, o in p if draw.random() < 0.7]


def _copies(draw: random.Random) -> Triples:
    """The same facts under two names, and turned round under a third: bodies with equal counts, perfect rules."""
    p = [(f"e{draw.randrange(8)}", "p", f"e{draw.randrange(8)}") for _ in range(14)]
    return p + [(s, "q", o) for s, _, o in p] + [(o, "r", s) for s, _, o in p[: draw.randrange(10, 15)]]


def _seldom_true(draw: random.Random) -> Triples:
    """p ⇒ r and q ⇒ r are perfect, but most of their pairs are unknown to r: only a threshold of 0 outputs them."""
    pairs = [(f"a{n}", f"b{n}") for n in range(draw.randrange(5, 9))]
    elsewhere = [(f"c{n}", name, f"d{n}{name}") for n in range(25) for name in "pq"]
    return [(s, name, o) for name in "pqr" for s, o in pairs] + elsewhere


def _one_entity(draw: random.Random) -> Triples:
    return [("a", relation, "a") for relation in "pqrs"[: draw.randrange(1, 5)]]


def _one_relation(draw: random.Random) -> Triples:
    return [(f"e{draw.randrange(9)}", "p", f"e{draw.randrange(9)}") for _ in range(25)]


KINDS = (_dense, _sparse, _hubs, _loops, _symmetric, _functional, _copies, _seldom_true, _one_entity, _one_relation)


@pytest.mark.parametrize("std", [0.0, 0.3])
@pytest.mark.parametrize("kind", KINDS)
def test_graphs_of_every_kind(kind: Callable[[random.Random], Triples], std: float) -> None:
    for seed in range(3):
        draw = random.Random(f"{seed}|{kind.__name__}")
        triples = kind(draw)
        for length in (2, 3, 4):
            chosen = MiningSettings(
                min_head_coverage=draw.choice([0.1, 0.25, 0.5]),
                min_std_confidence=std,
                min_pca_confidence=draw.choice([0.0, 0.1, 0.4, 1.0]),
                min_head_size=draw.choice([1, 5]),
                max_length=length,
                relations=draw.choice([(), (triples[0][1],)]),
                threads=draw.randrange(1, 9),
            )
            assert mined(triples, chosen) == Search(triples, chosen).run(), (seed, chosen)


_triple = st.tuples(st.sampled_from("abcde"), st.sampled_from("pqr"), st.sampled_from("abcde"))


@given(
    st.lists(_triple, min_size=1, max_size=18),
    st.sampled_from([0.01, 0.1, 0.25, 0.5, 1.0]),
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    st.integers(2, 4),
    st.integers(1, 4),
)
@settings(max_examples=80, deadline=None)
def test_small_graphs(triples: Triples, coverage: float, std: float, pca: float, length: int, head_size: int) -> None:
    chosen = MiningSettings(
        min_head_coverage=coverage, min_std_confidence=std, min_pca_confidence=pca, max_length=length,
        min_head_size=head_size,
    )  # fmt: skip
    assert mined(triples, chosen) == Search(triples, chosen).run()
