"""Published graphs that are fetched, from a server of the test's own."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from kgqa_bench.errors import DataNotFoundError
from kgqa_bench.graph.open import open_graph
from kgqa_bench.graph.sources import fetch
from kgqa_bench.storage import CACHE_VARIABLE


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a publisher of Family, whose files are pinned as they lie there; an empty cache."""
    root = tmp_path / "server"
    files = {}
    for part in ("facts", "train", "valid", "test"):
        pinned = fetch.PINNED["family"][f"{part}.txt"]
        path = root / pinned.repository / pinned.commit / pinned.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"1\taunt\t2\n{part}\tuncle\t2\n")
        files[f"{part}.txt"] = pinned._replace(sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(root)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setattr(fetch, "_GITHUB", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setitem(fetch.PINNED, "family", files)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    yield path.parent
    server.shutdown()
    server.server_close()


def test_a_graph_is_fetched_once_and_then_read_from_the_cache(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert open_graph("family", None, {"parts": ["facts", "test"]}).num_triples == 3
    monkeypatch.setattr(fetch, "_GITHUB", "http://127.0.0.1:9")
    assert open_graph("family", None, {"parts": ["train"]}).num_triples == 2


def test_a_damaged_copy_in_the_cache_is_fetched_again(published: Path) -> None:
    folder = fetch.fetched_folder("family", "")
    (folder / "facts.txt").write_text("1\taunt\t2\n")
    assert open_graph("family", None, {}).num_triples == 2


def test_a_file_other_than_the_pinned_one_is_refused(published: Path) -> None:
    (published / "valid.txt").write_text("1\taunt\t3\n")
    with pytest.raises(DataNotFoundError, match=r"valid\.txt is not the file that is pinned.*FOLDER/family"):
        open_graph("family", None, {})
    assert not (fetch.cache_folder("data", "family") / "valid.txt").exists()


def test_what_is_not_there_is_named(published: Path) -> None:
    (published / "test.txt").unlink()
    with pytest.raises(DataNotFoundError, match=r"test\.txt cannot be fetched.*--data FOLDER.*FOLDER/family"):
        open_graph("family", None, {})


def test_a_data_folder_comes_first(published: Path, tmp_path: Path) -> None:
    (tmp_path / "family").mkdir()
    (tmp_path / "family" / "facts.txt").write_text("a\taunt\tb\n")
    assert open_graph("family", tmp_path, {}).num_triples == 1


@pytest.mark.data
def test_the_pins_are_the_files_that_are_tested_with(real_data: Path) -> None:
    for name, files in fetch.PINNED.items():
        for file, pinned in files.items():
            assert hashlib.sha256((real_data / name / file).read_bytes()).hexdigest() == pinned.sha256, pinned
