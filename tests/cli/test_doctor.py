"""`kgqa-bench doctor`."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from kgqa_bench.cli import doctor


def rows(out: str) -> dict[str, str]:
    """What is said of each subject; two or more spaces stand between columns."""
    return {name: text.strip() for name, _, text in (line.partition("  ") for line in out.splitlines())}


@pytest.fixture
def nothing_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    optional = {package.replace("-", "_") for package in doctor._OPTIONAL}
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name in optional else found(name))


def test_a_missing_package_is_named_with_the_extra_that_brings_it(cli, nothing_optional: None) -> None:
    done = cli("doctor")
    assert done.code == 0
    assert rows(done.out)["torch"] == "missing: pip install 'kgqa-bench[local]'"
    assert rows(done.out)["vllm"] == "missing: pip install 'kgqa-bench[vllm]'"


def test_folders_and_keys(cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGQA_BENCH_DATA", str(tmp_path / "sets [old]"))
    monkeypatch.setenv("KGQA_BENCH_CACHE", str(tmp_path / "cache [1]"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    done = cli("doctor")
    said = rows(done.out)
    assert said["data folder"] == f"{tmp_path}/sets [old] does not exist"
    assert said["cache folder"] == f"{tmp_path}/cache [1] (KGQA_BENCH_CACHE moves it)"
    assert said["OPENAI_API_KEY"] == "set"
    assert "secret" not in done.out
    assert "accuracy" in said["metrics"]


def test_a_cache_that_cannot_be_made_is_said(cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("KGQA_BENCH_CACHE", str(tmp_path / "file" / "cache"))
    assert "Cannot make the cache folder" in rows(cli("doctor").out)["cache folder"]
