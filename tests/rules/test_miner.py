from __future__ import annotations

import logging
import random
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numba
import pytest

from kgqa_bench.contracts import MiningSettings
from kgqa_bench.errors import ConfigError, UnknownNameError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.horn.rule import Atom, MinedRule, canonical_rule
from kgqa_bench.rules import memory, miner
from kgqa_bench.rules.miner import NativeMiner
from kgqa_bench.rules.thresholds import NO_LIMIT, Thresholds


def _graph(rows: list[tuple[str, str, str]]) -> MemoryGraph:
    heads, relations, tails = zip(*rows, strict=True)
    return build_graph(heads, relations, tails, source="test")


def _random_rows(seed: int) -> list[tuple[str, str, str]]:
    draw = random.Random(seed)
    return [(f"e{draw.randrange(40)}", f"r{draw.randrange(5)}", f"e{draw.randrange(40)}") for _ in range(900)]


LOOSE = {"min_head_coverage": 0.05, "min_std_confidence": 0.0, "min_pca_confidence": 0.05, "min_head_size": 20}


def test_counts_by_hand() -> None:
    """Three who live where their parent does, one who does not, one whose home is not known, one parent homeless."""
    homes = {"p1": "A", "p2": "B", "p3": "A", "p4": "C", "k1": "A", "k2": "B", "k3": "A", "k4": "A"}
    parents = [("k1", "p1"), ("k2", "p2"), ("k3", "p3"), ("k4", "p4"), ("k5", "p4"), ("k6", "p5")]
    rows = [(who, "lives", where) for who, where in homes.items()] + [(kid, "parent", p) for kid, p in parents]
    mined = NativeMiner(MiningSettings(min_head_size=1, relations=("lives",))).mine(_graph(rows))
    rule = canonical_rule("lives", [Atom("parent", 0, 2), Atom("lives", 2, 1)])
    # (k1..k5, home of the parent): k5's own home is not known
    assert MinedRule(rule, 3, 8, 5, 4, "subject") in mined
    assert {m.rule.head for m in mined} == {"lives"}


def test_rules_do_not_depend_on_threads_or_input_order() -> None:
    rows = _random_rows(3)
    expected = NativeMiner(MiningSettings(threads=1, **LOOSE)).mine(_graph(rows))
    assert len(expected) > 100
    for threads in (2, 5):
        random.Random(threads).shuffle(rows)
        assert NativeMiner(MiningSettings(threads=threads, **LOOSE)).mine(_graph(rows)) == expected


def test_rules_come_by_head_confidence_and_text() -> None:
    mined = NativeMiner(MiningSettings(**LOOSE)).mine(_graph(_random_rows(4)))
    keys = [(m.rule.head, -Fraction(m.support, m.pca_body_size), str(m.rule)) for m in mined]
    assert all(before < after for before, after in pairwise(keys))


def test_only_the_head_relations_asked_for() -> None:
    graph = _graph(_random_rows(5))
    every = NativeMiner(MiningSettings(**LOOSE)).mine(graph)
    some = NativeMiner(MiningSettings(relations=("r3", "r1", "r3"), **LOOSE)).mine(graph)
    assert some == [m for m in every if m.rule.head in ("r1", "r3")]
    with pytest.raises(UnknownNameError, match=r"Unknown relation 'r_3'.*r3"):
        NativeMiner(MiningSettings(relations=("r_3",))).mine(graph)


def test_small_head_relations_and_no_rules() -> None:
    graph = _graph(_random_rows(6))
    assert NativeMiner(MiningSettings(min_head_size=1000)).mine(graph) == []
    assert NativeMiner(MiningSettings(min_pca_confidence=1.0, max_length=2)).mine(graph) == []


def test_thresholds_are_the_decimals_written() -> None:
    """0.07 × 100 is 7 facts, though the floats give a little more; 0.3 and support 3 let ten body pairs pass."""
    thresholds = Thresholds.of(MiningSettings(min_head_coverage=0.07, min_std_confidence=0.3, min_pca_confidence=0.0))
    assert [thresholds.least_support(size) for size in (100, 101, 1270, 1)] == [7, 8, 89, 1]
    assert 0.07 * 100 > 7
    assert thresholds.most_body([3, 4, 300]).tolist() == [10, 13, 1000]
    assert thresholds.most_pca([3]).tolist() == [NO_LIMIT]


def test_support_exactly_at_the_threshold_is_enough() -> None:
    rows = [(f"x{n}", "head", f"y{n}") for n in range(100)] + [(f"x{n}", "body", f"y{n}") for n in range(7)]
    native = NativeMiner(MiningSettings(min_head_coverage=0.07, max_length=2))
    assert [(str(m.rule), m.support) for m in native.mine(_graph(rows))] == [("?a body ?b => ?a head ?b", 7)]
    assert native.mine(_graph(rows[:-1])) == []


def test_too_little_memory_is_said_before_anything_is_mined(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = _graph(_random_rows(7))
    stages: list[str] = []
    monkeypatch.setattr(memory, "available", lambda: 20_000)
    with pytest.raises(ConfigError, match=r"needs about \d+ MiB of memory; there is 0 MiB"):
        NativeMiner().mine(graph, lambda stage, done, total: stages.append(stage))
    monkeypatch.setattr(memory, "available", lambda: 120_000)  # enough for the index alone
    with pytest.raises(ConfigError, match="needs about"):
        NativeMiner(MiningSettings(threads=8)).mine(graph, lambda stage, done, total: stages.append(stage))
    assert "short rules" not in stages


def test_available_memory_is_a_plausible_number() -> None:
    assert 2**20 < memory.available() < 2**50


def test_progress_reaches_its_total() -> None:
    calls: list[tuple[str, int, int]] = []
    NativeMiner(MiningSettings(**LOOSE)).mine(_graph(_random_rows(8)), lambda *call: calls.append(call))
    short = [call for call in calls if call[0] == "short rules"]
    assert [done for _, done, _ in short] == [1, 2, 3, 4, 5]
    assert {total for *_, total in short} == {5}


def test_compiling_is_announced_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[str] = []
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    with caplog.at_level(logging.INFO):
        miner._announce_compiling(lambda stage, done, total: calls.append(stage))
        (tmp_path / "kernels_count.count_rows-1.nbi").touch()
        miner._announce_compiling(lambda stage, done, total: calls.append(stage))
    assert calls == ["compiling"]
    assert "Compiling the miner's kernels" in caplog.text


def test_measure_checks_the_rules() -> None:
    graph = _graph(_random_rows(9))
    with pytest.raises(UnknownNameError, match="Unknown relation 'r9'"):
        NativeMiner().measure(graph, [canonical_rule("r1", [Atom("r9", 0, 1)])])
    with pytest.raises(ConfigError, match="cannot be counted"):
        NativeMiner().measure(graph, [canonical_rule("r1", [Atom("r2", 0, 2)])])
    with pytest.raises(ConfigError, match="cannot be counted"):
        NativeMiner().measure(graph, [canonical_rule("r1", [Atom("r2", 0, 0), Atom("r2", 0, 1)])])
    assert NativeMiner().measure(graph, []) == []
