"""The wheel holds the one package with its plugins and data, and is the same code as the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from kgqa_bench import __version__
from kgqa_bench.run.assemble import code_hash

CHECKOUT = Path(__file__).parent.parent
BUILT_FROM = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "kgqa_bench", "methods", "benchmarks", "rules")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in BUILT_FROM:
        path = CHECKOUT / name
        if path.is_dir():
            shutil.copytree(path, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(path, source)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(target)]
    subprocess.run([*command, str(source)], check=True)
    (built,) = target.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the wheel's content; put first on the path it stands before the checkout."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture
def run(installed: Path, tmp_path: Path) -> Callable[..., str]:
    """Python from the wheel, in an empty folder."""

    def call(*words: str) -> str:
        environment = os.environ | {"PYTHONPATH": str(installed), "COLUMNS": "200"}
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    return call


def test_no_name_but_the_packages_own_lands_beside_other_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
    assert tops == {"kgqa_bench", f"kgqa_bench-{__version__}.dist-info"}


def test_it_holds_every_source_and_data_file(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if name.startswith("kgqa_bench/")}
    expected = set()
    for folder in ("kgqa_bench", "methods", "benchmarks", "rules"):
        package = "" if folder == "kgqa_bench" else "kgqa_bench/"
        files = (path for path in (CHECKOUT / folder).rglob("*") if path.is_file())
        expected |= {f"{package}{file.relative_to(CHECKOUT).as_posix()}" for file in files if file.suffix != ".pyc"}
    assert names == expected
    assert "kgqa_bench/py.typed" in names
    assert "kgqa_bench/benchmarks/obqa_mini/graph.tsv" in names


def test_it_runs_and_is_the_same_code(run: Callable[..., str], installed: Path) -> None:
    script = (
        "import kgqa_bench; from kgqa_bench.run.assemble import code_hash; print(kgqa_bench.__file__, code_hash())"
    )
    assert run("-c", script).split() == [str(installed / "kgqa_bench" / "__init__.py"), code_hash()]
    listed = run("-m", "kgqa_bench.cli.main", "list")
    assert "Debate-on-Graph" in listed
    assert "BROKEN" not in listed


def test_the_version_is_said_once() -> None:
    assert version("kgqa-bench") == __version__
