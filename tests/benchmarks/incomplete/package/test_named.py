"""The default builds by name: built on first use, kept, and built anew where what they depend on has changed."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from kgqa_bench import registry
from kgqa_bench.benchmarks.incomplete import named
from kgqa_bench.benchmarks.incomplete.named import built_folder
from kgqa_bench.benchmarks.incomplete.package import write_package
from kgqa_bench.errors import DataNotFoundError
from kgqa_bench.graph.open import open_graph
from kgqa_bench.storage import CACHE_VARIABLE


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch, content, tmp_path) -> list[tuple[str, dict]]:
    """The builds that were made, in a cache of their own, by a builder that writes the hand-made benchmark."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    made = []
    real = registry.create

    def create(kind, name, settings=None):
        if kind != "builders":
            return real(kind, name, settings)

        class Builder:
            def build(self, graph, out, progress=None):
                made.append((graph.fingerprint, settings))
                return write_package(content, out)

        return Builder()

    monkeypatch.setattr(named.registry, "create", create)
    return made


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data" / "family").mkdir(parents=True)
    (tmp_path / "data" / "family" / "facts.txt").write_text("1\tfather\t2\n2\tson\t1\n")
    return tmp_path / "data"


def test_it_is_built_once(builds, data, content) -> None:
    benchmark = registry.create("benchmarks", "family-incomplete")
    loaded = [benchmark.load(data, 0) for _ in range(2)]
    graph = open_graph("family-incomplete", data, {})
    whole = open_graph("family-incomplete", data, {"view": "complete"})
    assert len(builds) == 1
    assert loaded[0].items == loaded[1].items
    assert len(loaded[0].items) == len(content.questions["test"])
    assert (whole.num_triples, whole.num_triples - graph.num_triples) == (len(content.complete), len(content.removed))
    _fingerprint, settings = builds[0]
    assert (settings["seed"], settings["kg"], settings["max_length"]) == (0, "family", 3)


def test_its_graph_is_the_one_it_implies(data) -> None:
    for name in ("family-incomplete", "fb15k237-incomplete"):
        assert registry.create("benchmarks", name).implied_graph == name
        assert name in registry.names("graphs")


def test_another_graph_or_other_code_is_another_build(builds, data, monkeypatch) -> None:
    first = built_folder("family", data)
    with (data / "family" / "facts.txt").open("a") as stream:
        stream.write("3\tson\t1\n")
    second = built_folder("family", data)
    monkeypatch.setattr("kgqa_bench.run.assemble.code_hash", lambda packages: "changed")
    third = built_folder("family", data)
    assert len({first, second, third}) == len(builds) == 3
    assert built_folder("family", data) == third
    assert len(builds) == 3


def test_two_at_once_build_once(builds, data) -> None:
    folders = []
    threads = [threading.Thread(target=lambda: folders.append(built_folder("family", data))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(builds) == 1
    assert len(folders) == 4
    assert len(set(folders)) == 1


def test_without_its_graph_it_says_how_to_get_it(builds) -> None:
    with pytest.raises(DataNotFoundError, match="family"):
        registry.create("benchmarks", "family-incomplete").load(None, 0)
    assert builds == []
