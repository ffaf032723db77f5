"""Where folders lie, and files that are whole or absent."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kgqa_bench.errors import ConfigError, StorageError
from kgqa_bench.storage import atomic_write, cache_folder, data_folder, locked, packaged_file


def test_the_cache_lies_where_its_variable_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGQA_BENCH_CACHE", str(tmp_path / "cache"))
    assert cache_folder("graphs", "small") == tmp_path / "cache" / "graphs" / "small"
    assert cache_folder("graphs", "small").is_dir()


def test_a_cache_that_cannot_be_made_names_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("KGQA_BENCH_CACHE", str(tmp_path / "file"))
    with pytest.raises(StorageError, match="Set KGQA_BENCH_CACHE"):
        cache_folder("graphs")


def test_a_folder_that_is_given_wins_over_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KGQA_BENCH_DATA", raising=False)
    assert data_folder() is None
    monkeypatch.setenv("KGQA_BENCH_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    assert data_folder(Path("~/sets")) == Path.home() / "sets"


def test_a_file_appears_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    with atomic_write(path) as stream:
        stream.write(b"after")
        stream.flush()
        assert path.read_text() == "before"
    assert path.read_text() == "after"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("problem", [ValueError("a defect"), KeyboardInterrupt()])
def test_nothing_is_left_of_a_write_that_is_broken_off(tmp_path: Path, problem: BaseException) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    with pytest.raises(type(problem)), atomic_write(path) as stream:
        stream.write(b"half")
        raise problem
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_a_storage_error(tmp_path: Path) -> None:
    said = r"Cannot write .*file: No space left.*Free some space"
    with pytest.raises(StorageError, match=said), atomic_write(tmp_path / "file"):
        raise OSError(28, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="No such file or directory"), atomic_write(tmp_path / "none" / "file"):
        pass


def test_a_device_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(StorageError, match="is no file"), atomic_write(path):
        pass
    assert path.is_fifo()
    assert list(tmp_path.iterdir()) == [path]


def test_another_process_is_kept_out(tmp_path: Path) -> None:
    path = tmp_path / "file"
    script = "import sys; from pathlib import Path; from kgqa_bench.storage import locked\n"
    script += "with locked(Path(sys.argv[1]), timeout=0.1): pass"
    with locked(path):
        done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False)
    assert "StorageError" in done.stderr
    assert "is being written by another process" in done.stderr
    subprocess.run([sys.executable, "-c", script, str(path)], check=True)  # it was let go


def test_a_lock_in_a_folder_that_may_only_be_read_is_a_storage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_args: object, **_kwargs: object) -> int:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("os.open", refused)
    said = "Cannot write into .*: Read-only file system.*KGQA_BENCH_CACHE"
    with pytest.raises(StorageError, match=said), locked(tmp_path / "file"):
        pass


def test_files_of_installed_distributions() -> None:
    found = packaged_file("pytest", "METADATA")
    assert found is not None and found.read_text().startswith("Metadata-Version")
    assert packaged_file("pytest", "no such file") is None
    assert packaged_file("no-such-distribution", "METADATA") is None


def test_an_empty_variable_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "platform"))
    monkeypatch.setenv("KGQA_BENCH_CACHE", "")
    assert cache_folder().is_absolute()
    assert not (tmp_path / "graphs").exists()


@pytest.mark.parametrize("variable", ["KGQA_BENCH_CACHE", "KGQA_BENCH_DATA"])
def test_the_home_of_nobody_is_named(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "~no-such-user-here/x")
    with pytest.raises(ConfigError, match="~no-such-user-here/x"):
        cache_folder() if variable == "KGQA_BENCH_CACHE" else data_folder()
