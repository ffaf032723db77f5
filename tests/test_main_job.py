"""The main job on real data: questions, graph, embedder and linker are real; a script plays the model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kgqa_bench
import kgqa_bench.errors
from kgqa_bench.cli.run import _configs
from kgqa_bench.run.execute import execute
from kgqa_bench.run.suite import read_suite

pytestmark = [pytest.mark.data, pytest.mark.local]

RULES = [
    {"role": "decision", "reply": "CONTINUE"},
    {"contains": "true or false", "reply": "Answer: true"},
    {"reply": "Because of the facts. Answer: A"},
]
FOLDER = Path(__file__).parent.parent / "configs"
SUITES = sorted((FOLDER / "suites").glob("*.yaml"))
CONFIGS = [path for path in sorted(FOLDER.rglob("*.yaml")) if path not in SUITES]


@pytest.fixture
def scripted(tmp_path: Path, real_data: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A scripted model as the default model, the real data as the user's, an empty folder to work in."""
    script = tmp_path / "script.jsonl"
    script.write_text("".join(json.dumps(rule) + "\n" for rule in RULES))
    monkeypatch.setenv("KGQA_BENCH_MODEL", f"scripted/{script}")
    monkeypatch.setenv("KGQA_BENCH_DATA", str(real_data))
    monkeypatch.chdir(tmp_path)
    return f"scripted/{script}"


def test_the_bare_command(scripted: str) -> None:
    """``kgqa-bench run --method dog --benchmark obqa``, cut to three questions."""
    result = kgqa_bench.evaluate(method="dog", benchmark="obqa", limit=3)
    assert result.metrics.complete
    assert result.info.graph is not None
    assert result.info.graph["name"] == "conceptnet"
    assert result.info.benchmark["loaded"] == 500
    assert result.path.parent == Path("runs")
    records = [json.loads(line) for line in (result.path / "records.jsonl").read_text().splitlines()]
    for record in records:
        assert len(record["calls"]) == 3 * record["trace"]["rounds"] + 1
    assert any(record["evidence"] for record in records)


@pytest.mark.parametrize("benchmark", ["csqa", "csqa2", "medqa"])
def test_the_other_benchmarks(scripted: str, benchmark: str) -> None:
    result = kgqa_bench.evaluate(method="dog", benchmark=benchmark, graph="cn15k", limit=2, set={"max_distance": 1.5})
    assert result.metrics.complete
    assert result.metrics.cost.calls_per_question == 10


@pytest.mark.parametrize("config", CONFIGS, ids=lambda path: path.stem)
def test_every_variant_of_every_config(scripted: str, config: Path) -> None:
    on = {"benchmark": "family-mini"} if config.parent.name == "gr_agent" else {"graph": "cn15k"}
    flags = {"model": scripted, "limit": 1, "set": {"model.extra": None}, **on}
    runs = _configs(config, None, flags)
    assert runs
    for name, run in runs.items():
        cheap = {"max_distance": 1.0} if run.method == "dog" else {}  # the whole radius is the bare command's test
        result = execute(run.model_copy(update={"out": Path(name), "set": run.set | cheap}))
        assert result.metrics.complete, (name, result.metrics)


@pytest.mark.parametrize("suite", SUITES, ids=lambda path: path.stem)
def test_every_row_of_every_suite(scripted: str, suite: Path) -> None:
    rows = read_suite(suite, {"model": scripted, "benchmark": "family-mini", "limit": 1, "out": "suite"})
    there = [row.config for row in rows if row.config is not None]
    assert there
    for config in there:
        assert execute(config).metrics.complete, config


def test_medqa_says_how_to_get_its_graph(scripted: str) -> None:
    with pytest.raises(kgqa_bench.errors.DataNotFoundError, match="--graph"):
        kgqa_bench.evaluate(method="dog", benchmark="medqa", limit=1)
