"""Shared fixtures: user state goes to temporary folders, real data is asked for by name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kgqa_bench.storage import CACHE_VARIABLE, DATA_VARIABLE

_REAL_DATA = os.environ.get(DATA_VARIABLE)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fail-on-skip", action="store_true", help="Fail if a selected test skips.")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--fail-on-skip"):
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and reporter.stats.get("skipped") and not session.exitstatus:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session", autouse=True)
def _isolated_state(tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test reads or writes the user's caches, nor sees a data folder it did not ask for."""
    os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parent.parent / ".pytest_cache" / "numba"))
    os.environ[CACHE_VARIABLE] = str(tmp_path_factory.mktemp("cache"))
    os.environ.pop(DATA_VARIABLE, None)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data sets; skips where ``KGQA_BENCH_DATA`` is not set."""
    if not _REAL_DATA:
        pytest.skip(f"{DATA_VARIABLE} is not set")
    return Path(_REAL_DATA)
