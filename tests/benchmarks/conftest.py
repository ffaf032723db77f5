"""A hub without a network: data sets in the hub's columns, and a count of what is asked of it."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets
import huggingface_hub
import orjson
import pytest

from kgqa_bench.storage import CACHE_VARIABLE


class FakeHub:
    """Stands for ``datasets.load_dataset`` and the request before it.

    Attributes:
        tables: Rows by (data set, configuration, split).
        calls: What was loaded: (data set, configuration, split, revision).
        error: Raised by the first request, as where the hub cannot be reached.
    """

    def __init__(self) -> None:
        self.tables: dict[tuple[str, str | None, str], list[dict[str, Any]]] = {}
        self.calls: list[tuple[str, str | None, str, str]] = []
        self.error: Exception | None = None
        self.timeouts: list[float | None] = []

    def load_dataset(self, path: str, name: str | None = None, *, split: str, revision: str) -> list[dict[str, Any]]:
        self.calls.append((path, name, split, revision))
        try:
            return self.tables[path, name, split]
        except KeyError:
            raise ValueError(f"BuilderConfig {name!r} or split {split!r} not found") from None

    def dataset_info(self, repo_id: str, *, revision: str | None = None, timeout: float | None = None) -> None:
        self.timeouts.append(timeout)
        if self.error is not None:
            raise self.error


@pytest.fixture
def fake_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    """A hub with a cache folder of its own."""
    hub = FakeHub()
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(datasets, "load_dataset", hub.load_dataset)
    monkeypatch.setattr(
        huggingface_hub.HfApi, "dataset_info", lambda self, *args, **keys: hub.dataset_info(*args, **keys)
    )
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", False)
    yield hub


@pytest.fixture
def write_rows() -> Any:
    """Write rows as JSON lines, gzip where the name ends so."""

    def write(path: Path, rows: list[Any]) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        content = b"\n".join(row if isinstance(row, bytes) else orjson.dumps(row) for row in rows)
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
        return path

    return write
