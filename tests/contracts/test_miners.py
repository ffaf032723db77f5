"""What every miner of rules keeps to, over all registered ones that can run here."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kgqa_bench import registry
from kgqa_bench.contracts import Miner, MiningSettings
from kgqa_bench.errors import MissingDependencyError, UnknownNameError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.horn.rule import Atom, canonical_rule, is_closed

THRESHOLDS = {"min_head_coverage": 0.05, "min_std_confidence": 0.05, "min_pca_confidence": 0.05, "min_head_size": 5}


def _families(order: int = 0) -> MemoryGraph:
    """Forty small families: parents, children, siblings, some facts left out."""
    draw = random.Random(7)
    rows = []
    for family in range(40):
        mother, father, *children = (f"{family}.{member}" for member in range(5))
        rows += [(mother, "wife of", father), (father, "husband of", mother)]
        for child in children:
            rows += [(mother, "parent of", child), (father, "parent of", child)]
            rows += [(child, "sibling of", other) for other in children if other != child]
    kept = [row for row in rows if draw.random() < 0.9]
    random.Random(order).shuffle(kept)
    heads, relations, tails = zip(*kept, strict=True)
    return build_graph(heads, relations, tails, source="families")


@pytest.fixture(params=registry.names("miners"))
def make(request: pytest.FixtureRequest) -> Any:
    def create(**settings: Any) -> Miner:
        miner: Miner = registry.create("miners", request.param, {**THRESHOLDS, **settings})
        try:
            miner.mine(_families())
        except MissingDependencyError as problem:
            pytest.skip(str(problem))
        return miner

    return create


@pytest.mark.parametrize("length", [2, 3, 4])
def test_rules_are_closed_canonical_and_within_the_thresholds(make: Any, length: int) -> None:
    rules = make(max_length=length).mine(_families())
    assert rules
    assert max(mined.rule.length for mined in rules) == length
    for mined in rules:
        assert mined.rule == canonical_rule(mined.rule.head, mined.rule.body)
        assert is_closed(mined.rule.body)
        assert mined.head_coverage >= 0.05
        assert mined.std_confidence >= 0.05
        assert mined.pca_confidence >= 0.05
        assert mined.support <= mined.pca_body_size <= mined.body_size
    assert len({mined.rule for mined in rules}) == len(rules)


def test_rules_come_in_the_documented_order_whatever_that_of_the_triples(make: Any) -> None:
    rules = make().mine(_families())
    assert rules == sorted(rules, key=lambda mined: (mined.rule.head, -mined.pca_confidence, str(mined.rule)))
    assert make().mine(_families(order=1)) == rules


def test_mined_counts_are_measured_counts(make: Any) -> None:
    miner = make(max_length=4)
    rules = miner.mine(_families())
    assert miner.measure(_families(), [mined.rule for mined in rules]) == rules


def test_only_the_head_relations_asked_for(make: Any) -> None:
    everything = make().mine(_families())
    asked = make(relations=("sibling of",)).mine(_families())
    assert asked
    assert asked == [mined for mined in everything if mined.rule.head == "sibling of"]


def test_unknown_relations_are_named(make: Any) -> None:
    with pytest.raises(UnknownNameError, match="silbing of"):
        registry.create("miners", "native", {**THRESHOLDS, "relations": ("silbing of",)}).mine(_families())
    with pytest.raises(UnknownNameError, match="cousin of"):
        make().measure(_families(), [canonical_rule("parent of", [Atom("cousin of", 0, 1)])])


def test_settings_are_those_of_mining() -> None:
    for name in registry.names("miners"):
        assert issubclass(registry.load("miners", name).Settings, MiningSettings)
