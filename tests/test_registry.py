"""Plugins of other distributions: found, reported when broken, and in nobody's way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kgqa_bench import registry
from kgqa_bench.errors import ConfigError, UnknownNameError
from kgqa_bench.metrics.accuracy import Accuracy


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the example plugin package is really installed."""
    target = tmp_path_factory.mktemp("site")
    source = Path(__file__).parent / "plugin_package"
    build = tmp_path_factory.mktemp("source") / "plugin_package"
    subprocess.run(["cp", "-r", str(source), str(build)], check=True)
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--target", str(target), str(build)], check=True)
    return target


@pytest.fixture
def cli(site: Path, tmp_path: Path):
    def call(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "kgqa_bench.cli.main", *words],
            env=os.environ | {"PYTHONPATH": str(site)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    return call


def test_third_party_plugins_run_together(cli) -> None:
    done = cli("run", "--method", "first-option", "--benchmark", "example_letters", "--set", "position=1", "--json")
    assert done.returncode == 0, done.stderr
    score = json.loads(done.stdout)["scores"][0]
    assert (score["value"], score["n"]) == (0.5, 4)


def test_hyphen_and_underscore_are_equal(cli) -> None:
    done = cli("run", "--method", "FIRST_OPTION", "--benchmark", "example-letters", "--limit", "1", "--json")
    assert json.loads(done.stdout)["scores"][0]["value"] == 1.0


def test_broken_plugin_is_named_and_stops_nothing_else(cli) -> None:
    listed = json.loads(cli("list", "methods", "--json").stdout)["methods"]
    assert "kgqa-bench-example" in listed["example-broken"]
    assert "kgqa_bench_example.missing" in listed["example-broken"]
    assert "is not a Method" in listed["example-wrong-kind"]
    assert listed["first-option"] == "Always chooses the option at one position."
    doctor = cli("doctor")
    assert doctor.returncode == 1
    assert "example-broken" in doctor.stdout
    asked = cli("run", "--method", "example-broken", "--benchmark", "example-letters")
    assert asked.returncode == 2
    assert "cannot be loaded" in asked.stderr


def test_a_cache_that_cannot_be_written_is_no_fault_of_the_plugin(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    kept = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-m", "kgqa_bench.cli.main", "mine", "--kg", "family-synthetic", "--out", "-"],
        env=kept | {"KGQA_BENCH_CACHE": str(tmp_path / "file")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr.startswith("Error: Cannot make the cache folder")
    assert "uninstall" not in done.stderr


def test_a_protocol_is_one_file(cli, tmp_path: Path) -> None:
    """It stands beside the others by itself, with a signature of its own."""
    rows = [{"id": "a", "prediction": "PARIS", "ground_truth": ["Paris"]}]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = cli("score", "p.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    scores = json.loads(done.stdout)["protocols"]["example_case_folded"]["scores"]
    assert list(scores) == ["hits_at_1"]
    assert scores["hits_at_1"]["value"] == 1.0
    assert scores["hits_at_1"]["signature"].startswith(
        "hits_at_1|protocol:example_case_folded|protocol_v:1|unit:text|"
    )


def test_unknown_names_get_suggestions() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean accuracy"):
        registry.load("metrics", "acuracy")


def test_unknown_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="no setting 'size'"):
        registry.configure(Accuracy, {"size": 3})
