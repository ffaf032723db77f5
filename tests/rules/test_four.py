"""Rules of four atoms against a counter in plain Python that knows no shapes, on small random graphs."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from itertools import combinations, permutations, product
from math import ceil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa_bench.contracts import MiningSettings
from kgqa_bench.errors import ConfigError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.horn.rule import Atom, MinedRule, Rule, X, Y, canonical_rule, is_closed
from kgqa_bench.rules import four, memory
from kgqa_bench.rules.four import lay_out, mine_four
from kgqa_bench.rules.index import SignedIndex
from kgqa_bench.rules.miner import NativeMiner
from kgqa_bench.rules.shapes import (
    BODY,
    HEAD,
    PCA,
    SHAPE,
    SUPPORT,
    Shape,
    Table,
    body_from,
    body_of,
    empty_table,
    rule_of,
)

Triples = list[tuple[str, str, str]]


@cache
def closed_bodies(relations: tuple[str, ...], sizes: tuple[int, ...]) -> tuple[tuple[Atom, ...], ...]:
    """All closed, connected bodies of these sizes over variables x, y, z, w."""
    atoms = [Atom(relation, *pair) for relation in relations for pair in permutations(range(4), 2)]
    found = set()
    for size in sizes:
        for body in combinations(atoms, size):
            if is_closed(body) and _connected(body):
                found.add(canonical_rule("", body).body)
    return tuple(sorted(found))


def _connected(body: Iterable[Atom]) -> bool:
    reached = {X, Y}
    for _ in range(3):
        for atom in body:
            if reached & {atom.subject, atom.object}:
                reached |= {atom.subject, atom.object}
    return all(atom.subject in reached for atom in body)


def body_pairs(triples: Triples, body: Iterable[Atom]) -> set[tuple[str, str]]:
    """The distinct (x, y) for which a body holds, by joining its atoms one after the other."""
    facts, out, into = defaultdict(set), defaultdict(set), defaultdict(set)
    for subject, relation, object_ in triples:
        facts[relation].add((subject, object_))
        out[relation, subject].add(object_)
        into[relation, object_].add(subject)
    rows = {(None, None, None, None)}
    for relation, subject, object_ in body:
        joined = set()
        for row in rows:
            one, other = row[subject], row[object_]
            if one is not None:
                pairs = {(one, end) for end in out[relation, one] if other in (None, end)}
            elif other is not None:
                pairs = {(start, other) for start in into[relation, other]}
            else:
                pairs = facts[relation]
            for start, end in pairs:
                new = list(row)
                new[subject], new[object_] = start, end
                joined.add(tuple(new))
        rows = joined
    return {(row[X], row[Y]) for row in rows}


def counted(
    triples: Triples, head: str, sizes: tuple[int, ...], hc: float, std: float, pca: float
) -> list[MinedRule]:
    """All rules of a head within thresholds, whatever their parts' confidence."""
    facts = {(s, o) for s, r, o in triples if r == head}
    subjects, objects = {s for s, _ in facts}, {o for _, o in facts}
    by_subject = len(subjects) >= len(objects)
    found = []
    for body in closed_bodies(tuple(sorted({r for _, r, _ in triples})), sizes):
        if Atom(head, X, Y) in body or sum(atom.relation == head for atom in body) == 3:
            continue
        pairs = body_pairs(triples, body)
        support = len(pairs & facts)
        known = sum(x in subjects if by_subject else y in objects for x, y in pairs)
        if support >= max(ceil(hc * len(facts) - 1e-9), 1) and support >= std * len(pairs) and support >= pca * known:
            side = "subject" if by_subject else "object"
            found.append(MinedRule(canonical_rule(head, body), support, len(facts), len(pairs), known, side))
    return found


def mined(
    triples: Triples, shorter: list[MinedRule] | None = None, **options: float
) -> tuple[Table, dict[Rule, tuple]]:
    """The table of all heads, and counts by rule."""
    subjects, relations, objects = zip(*triples, strict=True)
    index = SignedIndex.of(build_graph(subjects, relations, objects, source="test"))
    ids = {name: number for number, name in enumerate(index.relation_names)}
    heads, chosen = range(index.num_relations), MiningSettings(**options)
    table = mine_four(lay_out(index, heads, chosen), heads, _table(shorter or [], ids), chosen)
    rules = {}
    for row in table.tolist():
        rule = rule_of(row[HEAD], body_of(row), index.relation_names)
        assert rule not in rules
        rules[rule] = (row[SUPPORT], row[BODY], row[PCA])
    return table, rules


def _table(rules: list[MinedRule], ids: dict[str, int]) -> Table:
    table = empty_table(len(rules))
    for row, rule in zip(table, rules, strict=True):
        shape, relations = body_from(rule.rule, ids)
        row[HEAD], row[SHAPE] = ids[rule.rule.head], shape
        row[2 : 2 + len(relations)] = relations
        row[SUPPORT], row[PCA], row[BODY] = rule.support, rule.pca_body_size, rule.body_size
    return table


def expected(triples: Triples, hc: float, std: float, pca: float) -> dict[Rule, tuple[int, int, int]]:
    return {
        rule.rule: (rule.support, rule.body_size, rule.pca_body_size)
        for head in sorted({r for _, r, _ in triples})
        for rule in counted(triples, head, (3,), hc, std, pca)
    }


small_graphs = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(("p", "q")), st.sampled_from("abcd")), min_size=1, max_size=14
)
thresholds = st.tuples(
    st.sampled_from((0.01, 0.3, 0.5, 1.0)), st.sampled_from((0.0, 0.3, 0.5)), st.sampled_from((0.0, 0.4, 1.0))
)


@settings(max_examples=60, deadline=None)
@given(small_graphs, thresholds)
def test_every_rule_and_count_is_the_brute_force_one(triples: Triples, least: tuple[float, float, float]) -> None:
    hc, std, pca = least
    _, rules = mined(triples, min_head_coverage=hc, min_std_confidence=std, min_pca_confidence=pca)
    assert rules == expected(triples, hc, std, pca)


def random_graph(seed: int, entities: int, facts: int, relations: str = "pqr") -> Triples:
    """Entities with few numbers have many more facts than the others; some pairs have several relations."""
    draw = random.Random(seed)
    names = [f"e{number:03}" for number in range(entities)]
    return [
        (names[int(entities * draw.random() ** 3)], draw.choice(relations), names[int(entities * draw.random())])
        for _ in range(facts)
    ]


@pytest.mark.parametrize("seed", range(4))
def test_hubs_and_several_relations_between_two_entities(seed: int) -> None:
    triples = random_graph(seed, entities=24, facts=170)
    _, rules = mined(triples, min_head_coverage=0.1, min_std_confidence=0.1, min_pca_confidence=0.2)
    assert rules == expected(triples, 0.1, 0.1, 0.2)
    shapes = {body_from(rule, {"p": 0, "q": 1, "r": 2})[0] for rule in rules}
    assert len(shapes) >= 5


def test_each_shape_is_found_where_only_it_explains_the_head() -> None:
    ids = {"h": 0, "p": 1, "q": 2, "s": 3}
    bodies = {
        Shape.PATH3: [("x", "p", "z"), ("w", "q", "z"), ("w", "s", "y")],
        Shape.TRIANGLE: [("x", "s", "y"), ("x", "p", "z"), ("y", "q", "z")],
        Shape.PENDANT_X: [("y", "s", "x"), ("x", "p", "z"), ("z", "q", "x")],
        Shape.PENDANT_Y: [("x", "s", "y"), ("y", "p", "z"), ("z", "q", "y")],
        Shape.DOUBLED_X: [("x", "p", "z"), ("x", "q", "z"), ("z", "s", "y")],
        Shape.DOUBLED_Y: [("x", "s", "z"), ("z", "p", "y"), ("z", "q", "y")],
        Shape.PARALLEL3: [("x", "p", "y"), ("x", "q", "y"), ("y", "s", "x")],
    }
    variables = {"x": X, "y": Y, "z": 2, "w": 3}
    for shape, body in bodies.items():
        triples = [("x0", "h", "y0"), ("x1", "h", "y1")]
        for copy, (subject, relation, object_) in product("01", body):
            triples.append((subject + copy, relation, object_ + copy))
        rule = canonical_rule("h", [Atom(r, variables[s], variables[o]) for s, r, o in body])
        _, rules = mined(triples, min_head_coverage=1.0, min_std_confidence=1.0, min_pca_confidence=1.0)
        assert rules[rule] == (2, 2, 2)
        assert body_from(rule, ids)[0] == shape


def test_the_head_relation_is_at_most_twice_in_the_body() -> None:
    triples = [(a, r, b) for a, b in product("abc", repeat=2) for r in ("h", "p")]
    _, rules = mined(triples, min_head_coverage=0.01, min_std_confidence=0.0, min_pca_confidence=0.0)
    uses = {sum(atom.relation == rule.head for atom in rule.body) for rule in rules}
    assert uses == {0, 1, 2}
    assert all(sum(atom.relation != rule.head for atom in rule.body) <= 3 for rule in rules)


@pytest.mark.parametrize("seed", range(3))
def test_no_rule_that_a_shorter_output_rule_equals(seed: int) -> None:
    triples = random_graph(seed, entities=12, facts=90)
    heads = sorted({r for _, r, _ in triples})
    shorter = [rule for head in heads for rule in counted(triples, head, (1, 2), 0.1, 0.0, 0.1)]
    confidences = {rule.rule: rule.pca_confidence for rule in shorter}
    _, rules = mined(triples, shorter, min_head_coverage=0.1, min_std_confidence=0.0, min_pca_confidence=0.1)
    everything = expected(triples, 0.1, 0.0, 0.1)
    wanted = {
        rule: counts
        for rule, counts in everything.items()
        if all(counts[0] / counts[2] > confidences.get(part, -1) for part in rule.closed_subrules())
    }
    assert 0 < len(wanted) < len(everything)
    assert rules == wanted


def test_neither_threads_nor_the_order_of_the_rows_matter() -> None:
    triples = random_graph(9, entities=40, facts=400, relations="pqrst")
    options = {"min_head_coverage": 0.1, "min_std_confidence": 0.05, "min_pca_confidence": 0.1}
    table, rules = mined(triples, threads=1, **options)
    again, _ = mined(random.Random(1).sample(triples, len(triples)), threads=3, **options)
    assert len(rules) > 100
    np.testing.assert_array_equal(table, again)
    keys = table[:, :5].tolist()
    assert keys == sorted(keys)


def test_counting_in_several_passes_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    triples = random_graph(5, entities=12, facts=90)
    options = {"min_head_coverage": 0.1, "min_std_confidence": 0.0, "min_pca_confidence": 0.1}
    table, _ = mined(triples, **options)
    assert {Shape.DOUBLED_X, Shape.DOUBLED_Y} <= set(table[:, SHAPE].tolist())
    monkeypatch.setattr(four, "MOST_CELLS", 1)
    again, _ = mined(triples, **options)
    np.testing.assert_array_equal(table, again)


@pytest.mark.parametrize(("free", "told"), [(1_000, "pairs of relations"), (100_000, "rules of four atoms")])
def test_too_little_memory_is_said_before_anything_is_counted(
    monkeypatch: pytest.MonkeyPatch, free: int, told: str
) -> None:
    monkeypatch.setattr(memory, "available", lambda: free)
    with pytest.raises(ConfigError, match=told):
        mined(random_graph(5, entities=12, facts=90))


def test_progress_is_told_after_each_head() -> None:
    triples = random_graph(2, entities=10, facts=60)
    subjects, relations, objects = zip(*triples, strict=True)
    index = SignedIndex.of(build_graph(subjects, relations, objects, source="test"))
    told: list[tuple[str, int, int]] = []
    chosen = MiningSettings()
    graph = lay_out(index, (0, 2), chosen)
    mine_four(graph, (0, 2), empty_table(), chosen, lambda *state: told.append(state))
    assert told == [("four atoms", 1, 2), ("four atoms", 2, 2)]


@pytest.mark.data
def test_family_has_no_rule_of_three_parallel_atoms(real_data: Path) -> None:
    lines = (real_data / "family" / "facts.txt").read_text().splitlines()
    table, rules = mined([tuple(line.split("\t")) for line in lines])
    counts = np.bincount(table[:, SHAPE], minlength=len(Shape)).tolist()
    assert counts[Shape.PATH3 :] == [1602, 183, 156, 48, 122, 88, 0]
    assert len(rules) == 2199


@pytest.mark.data
def test_family_has_521_rules_beside_the_three_hop_chains(real_data: Path) -> None:
    lines = (real_data / "family" / "facts.txt").read_text().splitlines()
    graph = build_graph(*zip(*(line.split("\t") for line in lines), strict=True), source="family")
    rules = NativeMiner(MiningSettings(max_length=4)).mine(graph)
    chains = sum(rule.rule.subtype == "three-hop chain" for rule in rules)
    assert (len(rules) - chains, chains) == (521, 1602)
