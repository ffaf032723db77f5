from __future__ import annotations

import logging
import random
from fractions import Fraction
from itertools import pairwise
from math import nextafter
from pathlib import Path

import numba
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@given(st.integers(1, 2**31), st.integers(1, 2**31))
def test_a_ratio_reaches_the_float_that_it_is_written_as(one: int, other: int) -> None:
    """And not the next one: what is in a file of rules can be used as a threshold."""
    support, size = sorted((one, other))
    ratio = support / size
    thresholds = Thresholds.of(
        MiningSettings(min_head_coverage=ratio, min_std_confidence=ratio, min_pca_confidence=ratio)
    )
    assert thresholds.least_support(size) == support
    most = int(thresholds.most_body([support])[0])
    assert most >= size
    assert support / most >= ratio > support / (most + 1)
    assert thresholds.most_pca([support]).tolist() == [most]
    if support < size:
        above = MiningSettings(min_head_coverage=nextafter(ratio, 1.0), min_pca_confidence=nextafter(ratio, 1.0))
        assert Thresholds.of(above).least_support(size) == support + 1
        assert Thresholds.of(above).most_pca([support])[0] < size


def test_a_rules_own_ratios_as_thresholds_keep_it() -> None:
    graph = _graph(_random_rows(3))
    loose = NativeMiner(MiningSettings(**LOOSE)).mine(graph)
    rounded_up = [m for m in loose if Fraction(m.std_confidence) > Fraction(m.support, m.body_size)]
    assert len(rounded_up) > 10
    for mined in rounded_up[:10]:
        own = LOOSE | {"min_std_confidence": mined.std_confidence, "min_head_coverage": mined.head_coverage}
        kept = NativeMiner(MiningSettings(relations=(mined.rule.head,), **own)).mine(graph)
        assert mined in kept
        assert all(m.std_confidence >= mined.std_confidence for m in kept)


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


def test_too_little_memory_for_four_atoms_is_said_before_anything_is_mined(monkeypatch: pytest.MonkeyPatch) -> None:
    stages: list[str] = []
    monkeypatch.setattr(memory, "available", lambda: 500_000)
    with pytest.raises(ConfigError, match="needs about"):
        NativeMiner(MiningSettings(max_length=4)).mine(
            _graph(_random_rows(7)), lambda stage, done, total: stages.append(stage)
        )
    assert "short rules" not in stages


def test_single_atoms_of_many_relations_need_no_counters_of_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """70,000 relations at one entity; 16-bit numbers would not do for them."""
    count = 70_000
    rows = [("hub", f"r{n:05}", "end") for n in range(count)] + [("end", f"r{count - 1:05}", "hub")]
    graph = _graph(rows)
    chosen = {"min_head_size": 2, "min_head_coverage": 1.0, "relations": (f"r{count - 1:05}",)}
    mined = NativeMiner(MiningSettings(max_length=2, **chosen)).mine(graph)
    assert [str(m.rule) for m in mined] == [f"?b r{count - 1:05} ?a => ?a r{count - 1:05} ?b"]
    monkeypatch.setattr(memory, "available", lambda: 2**30)
    with pytest.raises(ConfigError, match=r"needs about \d.* GiB"):
        NativeMiner(MiningSettings(max_length=4, **chosen)).mine(graph)


def test_files_that_the_system_keeps_do_not_use_up_the_groups_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    (tmp_path / "memory.max").write_text("5000000\n")
    (tmp_path / "memory.current").write_text("4000000\n")
    (tmp_path / "memory.stat").write_text("anon 900000\ninactive_file 3000000\n")
    assert memory.available() == 4_000_000
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.available() > 4_000_000


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
    with caplog.at_level(logging.INFO, logger="kgqa_bench"):  # the command line sets its level
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
