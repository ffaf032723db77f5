"""What every builder of benchmarks keeps to, over all registered ones."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgqa_bench import registry
from kgqa_bench.contracts import Builder
from kgqa_bench.errors import ConfigError, DataNotFoundError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph

Make = Callable[..., Builder]
SMALL = {"min_head_size": 10, "groundings": 5, "max_rules": 40}
WAYS: list[dict[str, Any]] = [
    {},
    {"mode": "released"},
    {"twins": "remove", "rate": 0.5},
    {"labels": "text", "max_questions": 60},
    {"removal": "random", "rate": 0.3},
    {"removal": "shortest-path", "rate": 0.3, "labels": "id"},
]


def tree(order: int | None = None) -> MemoryGraph:
    """A made-up family tree with labels for its people, its triples in the order of a draw."""
    graph = registry.create("graphs", "family-synthetic", {"people": 120}).load(None)
    heads, relations, tails, confidences = (column.tolist() for column in graph.columns())
    rows = list(zip(heads, relations, tails, confidences, strict=True))
    if order is not None:
        random.Random(order).shuffle(rows)
    return build_graph(
        [graph.entity_name(head) for head, *_ in rows],
        [graph.relation_name(relation) for _, relation, *_ in rows],
        [graph.entity_name(tail) for _, _, tail, _ in rows],
        [confidence for *_, confidence in rows],
        source="tree",
        entity_labels={graph.entity_name(number): f"Person {number}" for number in range(graph.num_entities)},
        relation_labels={name: f"is the {name} of" for name in map(graph.relation_name, range(graph.num_relations))},
    )


@pytest.fixture(params=registry.names("builders"))
def make(request: pytest.FixtureRequest) -> Make:
    """Makes the builder with small settings."""

    def create(**settings: Any) -> Builder:
        builder: Builder = registry.create("builders", request.param, {**SMALL, **settings})
        return builder

    return create


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("way", WAYS)
def test_equal_bytes_for_a_seed_whatever_the_threads_and_the_order_of_triples(
    make: Make, tmp_path: Path, way: dict[str, Any]
) -> None:
    for out, threads, order in (("a", 1, None), ("b", 3, 1), ("c", 0, 2)):
        make(**way, threads=threads, seed=4).build(tree(order), tmp_path / out)
    assert contents(tmp_path / "a") == contents(tmp_path / "b") == contents(tmp_path / "c")
    make(**way, seed=5).build(tree(), tmp_path / "other")
    assert contents(tmp_path / "other") != contents(tmp_path / "a")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c", "other"]


@pytest.mark.parametrize("way", WAYS)
def test_a_fresh_build_verifies_and_its_figures_are_the_manifests(
    make: Make, tmp_path: Path, way: dict[str, Any]
) -> None:
    told: list[tuple[str, int, int]] = []
    builder = make(**way)
    figures = builder.build(tree(), tmp_path / "out", lambda *step: told.append(step))
    assert builder.verify(tmp_path / "out") == make().verify(tmp_path / "out") == []
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert json.loads(json.dumps(dict(figures))) == manifest["figures"]
    assert told and all(0 <= done <= total for _, done, total in told)
    assert str(tmp_path) not in "".join(content.decode() for content in contents(tmp_path / "out").values())
    assert any(path.stat().st_size > 0 for path in (tmp_path / "out").glob("questions.*"))


@pytest.mark.parametrize("removal", ["rules", "random", "shortest-path"])
def test_lower_rates_remove_a_part_of_what_higher_ones_do(make: Make, tmp_path: Path, removal: str) -> None:
    before: set[str] = set()
    for rate in (0.05, 0.2, 0.6, 1):
        make(removal=removal, rate=rate).build(tree(), tmp_path / f"{rate}")
        removed = set((tmp_path / f"{rate}" / "triples.removed.tsv").read_text().splitlines())
        assert before < removed
        before = removed


def test_a_used_folder_is_refused_before_anything_is_read(make: Make, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()

    class Untouched:
        """A graph that may not be looked at."""

        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(f"{name} was read")

    with pytest.raises(ConfigError, match="in use"):
        make().check(tmp_path / "out")
    for way in WAYS:
        with pytest.raises(ConfigError, match="in use"):
            make(**way).build(Untouched(), tmp_path / "out")  # type: ignore[arg-type]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]


def test_check_leaves_nothing_and_names_missing_files(make: Make, tmp_path: Path) -> None:
    make().check(tmp_path / "out")
    for setting in ("rules", "questions"):
        with pytest.raises(DataNotFoundError, match=r"none\.tsv"):
            make(**{setting: tmp_path / "none.tsv"}, removal="random").check(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


class Stopped(Exception):
    """Raised by whoever watches."""


def stop_at(stage: str) -> Any:
    def stop(now: str, done: int, total: int) -> None:
        if now == stage:
            raise Stopped

    return stop


@pytest.mark.parametrize("way", WAYS)
def test_a_build_that_is_stopped_leaves_nothing(make: Make, tmp_path: Path, way: dict[str, Any]) -> None:
    stages: set[str] = set()
    make(**way).build(tree(), tmp_path / "whole", lambda stage, done, total: stages.add(stage))
    assert len(stages) > 1
    for stage in sorted(stages):
        with pytest.raises(Stopped):
            make(**way).build(tree(), tmp_path / "out", stop_at(stage))
        assert [path.name for path in tmp_path.iterdir()] == ["whole"]


def test_what_is_no_built_folder_is_told(make: Make, tmp_path: Path) -> None:
    assert make().verify(tmp_path) != []
    (tmp_path / "manifest.json").write_text("{}")
    assert make().verify(tmp_path) != []


@pytest.mark.parametrize("kg", ["family", "fb15k237", "a file"])
def test_defaults_are_settings(make: Make, kg: str) -> None:
    builder = make()
    defaults = type(builder).defaults(kg)
    assert defaults.keys() <= type(builder).Settings.model_fields.keys()
    make(**defaults)
