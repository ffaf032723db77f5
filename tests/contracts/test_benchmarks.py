"""The contract of benchmarks, over every registered one."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from kgqa_bench import registry
from kgqa_bench.contracts import Benchmark, BenchmarkData
from kgqa_bench.errors import DataNotFoundError
from kgqa_bench.run.split import split_hash

BENCHMARKS = registry.names("benchmarks")
each_benchmark = pytest.mark.parametrize("name", BENCHMARKS)


# where the real data lacks what is asked by default
AT_HAND = {f"metaqa-{hops}hop": {"split": "dev"} for hops in (1, 2, 3)}


def create(name: str, **settings: object) -> Benchmark:
    benchmark: Benchmark = registry.create("benchmarks", name, settings)
    return benchmark


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The hub switched off, and nothing in the cache."""
    import datasets
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "none")


def check(data: BenchmarkData) -> None:
    questions = [item.question for item in data.items]
    assert questions
    assert len({question.id for question in questions}) == len(questions)
    exemplars = data.exemplars() if data.exemplars is not None else ()
    assert not {item.question.id for item in exemplars} & {question.id for question in questions}
    for question, gold in (*data.items, *exemplars):
        assert question.id and question.text.strip()
        assert gold.answers and len(set(gold.answers)) == len(gold.answers)
        assert not question.values or set(gold.answers) <= set(question.values)
        assert bool(question.options) == (question.kind == "choice")
        assert len(set(question.values)) == len(question.values)
    assert data.provenance["split_hash"] == split_hash(data.items)
    json.dumps(dict(data.provenance))


@each_benchmark
def test_declarations(name: str) -> None:
    benchmark = registry.load("benchmarks", name)
    assert (benchmark.__doc__ or "").strip()
    assert benchmark.graph is None or benchmark.graph == registry.normalise(benchmark.graph)
    assert all(field.description for field in benchmark.Settings.model_fields.values())


@pytest.mark.usefixtures("no_hub")
@each_benchmark
def test_without_any_data_it_loads_or_says_how_to_get_it(name: str, tmp_path: Path) -> None:
    try:
        check(create(name).load(None, 0))
    except DataNotFoundError as problem:
        source = "fetched" if name.endswith("-incomplete") else "hub"  # built from a published graph
        assert all(way in str(problem) for way in (source, "--data", "KGQA_BENCH_DATA"))
        with pytest.raises(DataNotFoundError, match=re.escape(os.fspath(tmp_path))):
            create(name).load(tmp_path, 0)


@pytest.mark.data
@pytest.mark.parametrize(
    "name",
    # minutes to build, and sets that are not among the real data
    [name for name in BENCHMARKS if name != "fb15k237-incomplete" and not name.startswith("brink-")],
)
def test_real_rows(name: str, real_data: Path) -> None:
    data = create(name, **AT_HAND.get(name, {})).load(real_data, 0)
    check(data)
    again = create(name, **AT_HAND.get(name, {})).load(real_data, 0)
    assert again.items == data.items
    assert again.provenance == data.provenance
    if data.exemplars is not None:
        assert again.exemplars is not None
        assert list(again.exemplars()) == list(data.exemplars())
        assert data.exemplars() is data.exemplars()
        assert list(create(name).load(real_data, 1).exemplars() or ()) != list(data.exemplars())  # type: ignore[misc]
