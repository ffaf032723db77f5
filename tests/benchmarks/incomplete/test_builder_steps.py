"""The steps of a build by ids: groundings, removal, twins, questions, splits, balance, the released procedure."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa_bench.benchmarks.incomplete.balance import balanced
from kgqa_bench.benchmarks.incomplete.drawing import even_parts
from kgqa_bench.benchmarks.incomplete.grounding_kernels import find_body
from kgqa_bench.benchmarks.incomplete.groundings import Grounder
from kgqa_bench.benchmarks.incomplete.model import Ask, Draft, Fact, Grounding
from kgqa_bench.benchmarks.incomplete.questions import answers_of, hops_of, make_drafts
from kgqa_bench.benchmarks.incomplete.released import cross_filtered, released_drafts, row_split
from kgqa_bench.benchmarks.incomplete.removal import certificates_of, certified_removal
from kgqa_bench.benchmarks.incomplete.split import SplitRow, draft_keys, split_rows
from kgqa_bench.benchmarks.incomplete.twins import inversions_of, twin_stratum, twins_of
from kgqa_bench.errors import DataError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.horn.rule import Atom, Rule, canonical_rule

RELATIONS = "pqr"
TRIPLES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 6)), min_size=1, max_size=40)
RULES = [
    canonical_rule("p", [Atom("p", 1, 0)]),
    canonical_rule("p", [Atom("q", 1, 0)]),
    canonical_rule("p", [Atom("q", 0, 2), Atom("r", 2, 1)]),
    canonical_rule("p", [Atom("p", 0, 2), Atom("p", 2, 1)]),
    canonical_rule("q", [Atom("p", 2, 0), Atom("q", 2, 3), Atom("r", 1, 3)]),
    canonical_rule("r", [Atom("p", 0, 1), Atom("q", 1, 2), Atom("q", 0, 2)]),
    canonical_rule("r", [Atom("p", 1, 2), Atom("q", 2, 3), Atom("q", 0, 3)]),
]


def graph_of(triples: list[tuple[int, int, int]]) -> MemoryGraph:
    """Entity ids and relation ids are the numbers."""
    heads, relations, tails = zip(*triples, strict=True)
    names = [str(number) for number in range(max(10, *heads, *tails))][:10]
    return build_graph(heads, relations, tails, source="test", entity_names=names, relation_names=list(RELATIONS))


def facts_of(graph: MemoryGraph) -> set[Fact]:
    return {Fact(*quad[:3]) for quad in graph.quads()}


def brute_force(graph: MemoryGraph, rules: list[Rule]) -> list[Grounding]:
    facts = facts_of(graph)
    found = []
    for number, rule in enumerate(rules):
        free = len({variable for atom in rule.body for variable in atom[1:]} - {0, 1})
        for head in sorted(fact for fact in facts if RELATIONS[fact.relation] == rule.head):
            for values in product(range(10), repeat=free):
                bound = (head.head, head.tail, *values)
                body = tuple(Fact(bound[s], RELATIONS.index(r), bound[o]) for r, s, o in rule.body)
                if set(body) <= facts and head not in body:
                    found.append(Grounding(number, head, body))
    return found


@settings(deadline=None)
@given(TRIPLES)
def test_all_bodies_in_order(triples: list[tuple[int, int, int]]) -> None:
    graph = graph_of(triples)
    keys = [
        np.array(sorted((fact.relation * 10 + fact[at], fact[2 - at]) for fact in facts_of(graph))) for at in (0, 2)
    ]
    facts = tuple(np.ascontiguousarray(column) for table in keys for column in table.T)
    found = []
    for number, rule in enumerate(RULES):
        atoms = np.array([(RELATIONS.index(r), s, o) for r, s, o in rule.body])
        for head in sorted(fact for fact in facts_of(graph) if RELATIONS[fact.relation] == rule.head):
            free = len({variable for atom in rule.body for variable in atom[1:]} - {0, 1})
            total = find_body(facts, 10, atoms, free, np.array(head), -1)[0]
            for wanted in range(total):
                bound = (
                    head.head,
                    head.tail,
                    *find_body(facts, 10, atoms, free, np.array(head), wanted)[1:].tolist(),
                )
                body = tuple(Fact(bound[s], r, bound[o]) for r, s, o in atoms.tolist())
                found.append(Grounding(number, head, body))
    assert found == brute_force(graph, RULES)


@settings(deadline=None)
@given(TRIPLES, st.integers(1, 4), st.integers(0, 9))
def test_sampled_groundings(triples: list[tuple[int, int, int]], count: int, seed: int) -> None:
    graph = graph_of(triples)
    everything = brute_force(graph, RULES)
    drawn = Grounder(graph).sample(RULES, count, seed)
    assert set(drawn) <= set(everything)
    assert len({(one.rule, one.head) for one in drawn}) == len(drawn)
    heads = Counter(rule for rule, _head in {(one.rule, one.head) for one in everything})
    assert Counter(one.rule for one in drawn) == {rule: min(count, size) for rule, size in heads.items()}
    later = Grounder(graph).sample(RULES[2:], count, seed)  # without the first rules
    assert [one[1:] for one in later] == [one[1:] for one in drawn if one.rule >= 2]


def test_draw_is_uniform_over_bodies() -> None:
    triples = [(0, 0, 1), *((0, 1, 2 + n) for n in range(4)), *((2 + n, 2, 1) for n in range(4))]
    grounder = Grounder(graph_of(triples))
    middles = Counter(grounder.sample([RULES[2]], 1, seed)[0].body[0].tail for seed in range(400))
    assert sorted(middles) == [2, 3, 4, 5]
    assert all(70 <= times <= 130 for times in middles.values())


def test_unknown_relation() -> None:
    with pytest.raises(DataError, match="no relation 's'"):
        Grounder(graph_of([(0, 0, 1)])).sample([canonical_rule("s", [Atom("p", 0, 1)])], 1, 0)


@settings(deadline=None)
@given(TRIPLES, st.integers(0, 9), st.booleans(), st.integers(0, 40), st.integers(0, 40))
def test_removal(triples: list[tuple[int, int, int]], seed: int, with_twins: bool, few: int, many: int) -> None:
    graph = graph_of(triples)
    sampled = Grounder(graph).sample(RULES, 5, seed)
    twins = (lambda fact: twins_of(graph, fact)) if with_twins else None
    whole = certified_removal(sampled, seed, twins)
    assert whole == certified_removal(sampled[::-1], seed, twins)
    assert len(whole.kept) + sum(whole.dropped.values()) == len(sampled)
    parts = [whole.kept[:count] for count in (*sorted((few, many)), len(sampled))]
    assert certificates_of(parts[0], twins).keys() <= certificates_of(parts[1], twins).keys()
    for kept in parts:
        removed = certificates_of(kept, twins)
        assert [removed[one.head] for one in kept] == list(kept)
        assert len({one.head for one in kept}) == len(kept)
        assert not removed.keys() & {fact for one in kept for fact in one.body}
        assert all(fact == one.head or fact[::2] == one.head[::-2] for fact, one in removed.items())
        if with_twins:
            assert all(twin_stratum(graph, one.head, removed.keys(), frozenset()) == "none" for one in kept)


def test_removal_by_hand() -> None:
    a, b, c = Fact(0, 0, 1), Fact(1, 0, 0), Fact(2, 1, 3)
    one, turned, same = Grounding(0, a, (b,)), Grounding(0, b, (a,)), Grounding(1, a, (c,))
    outcomes = {certified_removal([one, turned], seed).kept for seed in range(20)}
    assert outcomes == {(one,), (turned,)}
    removal = certified_removal([one, same], 0)
    assert len(removal.kept) == 1
    assert removal.dropped["head already removed"] == 1
    assert certified_removal([one], 0, twins=lambda _fact: [b]).dropped["twin in its body"] == 1
    assert certificates_of(certified_removal([same], 0, lambda _fact: [b]).kept, lambda _fact: [b]) == {
        a: same,
        b: same,
    }


def test_twins() -> None:
    graph = graph_of([(0, 0, 1), (1, 0, 0), (2, 0, 3), (3, 1, 2), (4, 0, 5), (5, 2, 4), (6, 0, 7), (8, 0, 8)])
    inversions = inversions_of(graph, RULES)
    assert inversions == {(0, 1)}
    strata = [twin_stratum(graph, Fact(h, 0, t), set(), inversions) for h, t in ((0, 1), (2, 3), (4, 5), (6, 7))]
    assert strata == ["symmetric", "inverse", "other reverse", "none"]
    assert twin_stratum(graph, Fact(0, 0, 1), {Fact(1, 0, 0)}, inversions) == "none"
    assert twins_of(graph, Fact(8, 0, 8)) == []


def test_drafts_by_hand() -> None:
    graph = graph_of([(0, 0, 1), (0, 0, 2), (0, 0, 3), (4, 0, 1)])
    body = (Fact(0, 1, 5), Fact(1, 2, 5))
    kept = [Grounding(0, Fact(0, 0, tail), body) for tail in (1, 2)]
    removed = {one.head for one in kept}
    seen = set()
    for seed in range(30):
        made = make_drafts(graph, kept, removed, seed)
        assert made.merged == 2 - len(made.drafts)
        for draft in made.drafts:
            assert draft.ask.triple(draft.primary) == draft.grounding.head
            seen.add((draft.ask, draft.answers, draft.hard))
        assert make_drafts(graph, kept, removed, seed, 2).too_many_answers == sum(
            len(draft.answers) > 2 for draft in made.drafts
        )
    assert seen == {
        (Ask(0, 0, "tail"), (1, 2, 3), (1, 2)),
        (Ask(1, 0, "head"), (0, 4), (0,)),
        (Ask(2, 0, "head"), (0,), (0,)),
    }
    assert [hops_of(kept[0]), hops_of(Grounding(0, Fact(0, 0, 1), (Fact(1, 1, 0),)))] == [2, 1]


@settings(deadline=None)
@given(TRIPLES, st.integers(0, 9))
def test_answers_and_splits(triples: list[tuple[int, int, int]], seed: int) -> None:
    graph = graph_of(triples)
    removal = certified_removal(Grounder(graph).sample(RULES, 5, seed), seed)
    removed = certificates_of(removal.kept).keys()
    drafts = make_drafts(graph, removal.kept, removed, seed).drafts
    assert len({draft.ask for draft in drafts}) == len(drafts)
    for draft in drafts:
        assert draft.answers == tuple(n for n in range(10) if graph.has_triple(*draft.ask.triple(n)))
        assert draft.hard == tuple(n for n in draft.answers if draft.ask.triple(n) in removed)
        assert draft.primary in draft.hard
    rows = [SplitRow(str(n), draft_keys(d), RULES[d.grounding.rule].type) for n, d in enumerate(drafts)]
    try:
        splits = split_rows(rows, seed)
    except DataError:
        return
    assert splits == split_rows(rows[::-1], seed)
    assert set(splits.values()) == {"train", "validation", "test"}
    home: dict[object, str] = {}
    assert all(home.setdefault(key, splits[row.id]) == splits[row.id] for row in rows for key in row.keys)


def test_split_sizes() -> None:
    rows = [SplitRow(f"{n:04d}", (n // 2,), "other" if n % 4 < 2 else "inversion") for n in range(400)]
    splits = split_rows(rows, 3)
    sizes = Counter((splits[row.id], row.rule_type) for row in rows)
    assert all(sizes[split, kind] == 20 for split in ("test", "validation") for kind in ("other", "inversion"))
    assert splits != split_rows(rows, 4)


def test_a_large_group_stays_in_train() -> None:
    rows = [SplitRow(f"{n:03d}", (max(n - 60, 0),), "other") for n in range(100)]
    splits = split_rows(rows, 0)
    assert splits["000"] == "train"
    few = [SplitRow(f"{n}", (max(n - 5, 0),), "other") for n in range(8)]
    assert Counter(split_rows(few, 0).values()) == {"train": 6, "validation": 1, "test": 1}


def test_too_few_groups() -> None:
    with pytest.raises(DataError, match="2 groups"):
        split_rows([SplitRow("0", (1,), "other"), SplitRow("1", (2,), "other"), SplitRow("2", (2, 3), "other")], 0)


@given(st.lists(st.integers(0, 5), max_size=60), st.sampled_from([0.05, 0.2, 0.5, 1.0]))
def test_balance(primaries: list[int], share: float) -> None:
    drafts = [Draft(Ask(n, 0, "tail"), Grounding(0, Fact(n, 0, p), ()), p) for n, p in enumerate(primaries)]
    left = balanced(drafts, share, 0)
    most = max(1, share * len(left) + 1e-6)
    assert all(times <= most for times in Counter(draft.primary for draft in left).values())
    assert [draft for draft in drafts if draft in left] == left
    assert {draft.primary for draft in left} == set(primaries)


def test_even_parts() -> None:
    assert even_parts({"a": 2, "b": 50, "c": 50}, 21) == {"a": 2, "b": 9, "c": 10}
    assert even_parts({"a": 2, "b": 3}, 9) == {"a": 2, "b": 3}


def test_released() -> None:
    a, b, c = Fact(0, 0, 1), Fact(1, 0, 0), Fact(2, 0, 1)
    rows = [Grounding(0, a, (b,)), Grounding(1, b, (c,)), Grounding(2, c, (Fact(2, 1, 1),))]
    assert cross_filtered(rows) == [rows[0]]  # the second is dropped, and still drops the third
    assert Counter(row_split(15)) == {"train": 12, "validation": 1, "test": 2}
    graph = graph_of([a, b, c, (0, 0, 3)])
    drafts = [released_drafts(graph, [rows[0]] * 2, {a}, seed) for seed in range(9)]
    assert {draft.ask for some in drafts for draft in some} == {Ask(0, 0, "tail"), Ask(1, 0, "head")}
    assert all((draft.answers, draft.hard) == ((1, 3), (1,)) for some in drafts for draft in some)
    assert answers_of(graph, Ask(1, 0, "head")) == (0, 2)
