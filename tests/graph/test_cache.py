from __future__ import annotations

import logging
from pathlib import Path

import pytest

from kgqa_bench.errors import DataError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.cache import file_hashes, load_cached, read_graph, write_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.storage import CACHE_VARIABLE


def build() -> MemoryGraph:
    return build_graph(
        ["a", "é", "b", "a"], ["r", "s", "r", "r"], ["b", "a", "b", "b"], [0.5, 0.1, 1.0, 0.25],
        source="test", entity_labels={"é": "E", "b": ""},
    )  # fmt: skip


def never() -> MemoryGraph:
    raise AssertionError("built again")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    return tmp_path / "graphs"


def same(graph: MemoryGraph, other: MemoryGraph) -> bool:
    return (
        graph.fingerprint == other.fingerprint
        and list(graph.entity_labels()) == list(other.entity_labels())
        and graph.provenance == other.provenance
        and [graph.edges(entity, "both") for entity in range(3)]
        == [other.edges(entity, "both") for entity in range(3)]
    )


def test_the_second_time_nothing_is_built(cache: Path) -> None:
    first = load_cached({"source": "x"}, build)
    second = load_cached({"source": "x"}, never)
    assert same(first, second)
    assert same(second, build())
    assert second.shortest_paths(2, 1, 3) == first.shortest_paths(2, 1, 3) != []


def test_another_key_is_another_graph(cache: Path) -> None:
    load_cached({"source": "x", "merge": "max"}, build)
    with pytest.raises(AssertionError, match="built again"):
        load_cached({"source": "x", "merge": "mean"}, never)
    assert len(list(cache.glob("*.graph"))) == 1


def test_every_damaged_byte_is_noticed(cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    load_cached({"source": "x"}, build)
    (path,) = cache.glob("*.graph")
    sound = path.read_bytes()
    for position in range(0, len(sound), 7):
        damaged = bytearray(sound)
        damaged[position] ^= 0x10
        path.write_bytes(damaged)
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            graph = load_cached({"source": "x"}, build)
        assert same(graph, build())
        # bytes that only fill up to the next array may change without harm
        assert "built anew" in caplog.text or damaged[position] == 0x10
    assert path.read_bytes() == sound


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"kgqa-bench graph\n" + b"\xff" * 11, b"x" * 5_000])
def test_foreign_and_short_files_are_rebuilt(cache: Path, caplog: pytest.LogCaptureFixture, content: bytes) -> None:
    load_cached({"source": "x"}, build)
    (path,) = cache.glob("*.graph")
    path.write_bytes(content)
    assert same(load_cached({"source": "x"}, build), build())
    assert str(path) in caplog.text
    assert same(load_cached({"source": "x"}, never), build())


def test_cut_files_are_rebuilt(cache: Path) -> None:
    load_cached({"source": "x"}, build)
    (path,) = cache.glob("*.graph")
    sound = path.read_bytes()
    for size in range(0, len(sound), 31):
        path.write_bytes(sound[:size])
        with pytest.raises(DataError):
            read_graph(path, "")
        assert same(load_cached({"source": "x"}, build), build())


def test_a_file_of_another_identity_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "g"
    write_graph(path, build(), "one")
    assert same(read_graph(path, "one"), build())
    with pytest.raises(DataError, match="another graph"):
        read_graph(path, "two")


def test_without_a_writable_cache_the_graph_is_there_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setenv(CACHE_VARIABLE, str(blocked))
    assert same(load_cached({"source": "x"}, build), build())
    assert "not cached" in caplog.text


def test_an_error_of_building_passes_and_leaves_no_file(cache: Path) -> None:
    with pytest.raises(AssertionError, match="built again"):
        load_cached({"source": "x"}, never)
    assert list(cache.glob("*.graph")) == []


def test_hashes_of_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert file_hashes([tmp_path / "a", tmp_path / "missing"]) == {
        "a": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    }
