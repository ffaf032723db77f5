"""The vector cache keeps what was put, whoever puts and whatever tears."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kgqa_bench.errors import StorageError
from kgqa_bench.text.vector_cache import VectorCache

DIMENSION = 6
FINGERPRINT = b"0123456789abcdef"
HEADER = 64
ROW = 4 * DIMENSION


def vector_of(text: str) -> np.ndarray:
    return np.random.default_rng(list(text.encode("utf-8", "surrogatepass"))).random(DIMENSION, np.float32)


def vectors_of(texts: list[str]) -> np.ndarray:
    return np.array([vector_of(text) for text in texts], np.float32).reshape(len(texts), DIMENSION)


def open_cache(folder: Path) -> VectorCache:
    return VectorCache(folder, DIMENSION, FINGERPRINT)


def assert_holds(cache: VectorCache, texts: list[str]) -> None:
    vectors, missing = cache.get(texts)
    assert missing == []
    np.testing.assert_array_equal(vectors, vectors_of(texts))


TEXTS = st.lists(st.sampled_from([*map(str, range(12)), "", "wörter", "\ud800", "a\0b"]), max_size=6)


class CacheMachine(RuleBasedStateMachine):
    """Several open caches on one folder, with tails torn between their steps."""

    @initialize()
    def begin(self) -> None:
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.caches = [open_cache(self.folder), open_cache(self.folder)]
        self.put_texts: set[str] = set()

    def teardown(self) -> None:
        if hasattr(self, "temporary"):
            self.temporary.cleanup()

    @rule(which=st.integers(0, 1), texts=TEXTS)
    def put(self, which: int, texts: list[str]) -> None:
        self.caches[which].put(texts, vectors_of(texts))
        self.put_texts.update(texts)

    @rule(which=st.integers(0, 1), texts=TEXTS)
    def get(self, which: int, texts: list[str]) -> None:
        vectors, missing = self.caches[which].get(texts)
        assert missing == [place for place, text in enumerate(texts) if text not in self.put_texts]
        for place, text in enumerate(texts):
            if text in self.put_texts:
                np.testing.assert_array_equal(vectors[place], vector_of(text))

    @rule(which=st.integers(0, 1))
    def reopen(self, which: int) -> None:
        self.caches[which] = open_cache(self.folder)

    @rule(junk=st.integers(1, 15))
    def tear_keys(self, junk: int) -> None:
        with (self.folder / "keys.bin").open("ab") as stream:
            stream.write(b"\xff" * junk)
        self.caches[0] = open_cache(self.folder)

    @rule(junk=st.integers(1, 3 * ROW))
    def tear_vectors(self, junk: int) -> None:
        """A writer that died before it wrote its keys."""
        with (self.folder / "vectors.bin").open("ab") as stream:
            stream.write(b"\xff" * junk)

    @invariant()
    def nothing_is_set_aside(self) -> None:
        if hasattr(self, "folder"):
            assert not list(self.folder.glob("*.damaged-*"))


TestCacheMachine = CacheMachine.TestCase
TestCacheMachine.settings = settings(max_examples=100, stateful_step_count=12, deadline=None)


def test_the_first_vector_of_a_text_stays(tmp_path: Path) -> None:
    one, two = open_cache(tmp_path), open_cache(tmp_path)
    one.put(["a", "a"], np.stack([vector_of("a"), vector_of("b")]))
    two.put(["a", "c"], np.stack([vector_of("x"), vector_of("c")]))
    assert_holds(one, ["c", "a", "c"])
    assert_holds(two, ["a", "c"])
    assert len(open_cache(tmp_path)) == 2


def test_returned_vectors_are_a_copy(tmp_path: Path) -> None:
    cache = open_cache(tmp_path)
    cache.put(["a"], vectors_of(["a"]))
    cache.get(["a"])[0][:] = 0
    assert_holds(cache, ["a"])


def test_no_texts(tmp_path: Path) -> None:
    vectors, missing = open_cache(tmp_path).get([])
    assert vectors.shape == (0, DIMENSION)
    assert missing == []


def test_wrong_shape_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="1 texts of dimension 6"):
        open_cache(tmp_path).put(["a"], np.zeros((1, 5), np.float32))


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda folder: (folder / "vectors.bin").unlink(), id="no vectors"),
        pytest.param(lambda folder: (folder / "keys.bin").unlink(), id="no keys"),
        pytest.param(lambda folder: os.truncate(folder / "vectors.bin", HEADER + 2 * ROW - 1), id="vectors cut"),
        pytest.param(lambda folder: (folder / "keys.bin").write_bytes(b"\x80\x04pickle" * 50), id="foreign keys"),
        pytest.param(lambda folder: (folder / "keys.bin").write_bytes(b""), id="empty keys"),
    ],
)
def test_damaged_files_are_set_aside_and_begun_anew(damage, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    running = open_cache(tmp_path)
    running.put(["a", "b"], vectors_of(["a", "b"]))
    damage(tmp_path)
    with caplog.at_level(logging.WARNING):
        cache = open_cache(tmp_path)
    assert "set aside" in caplog.text
    assert str(tmp_path) in caplog.text
    assert list(tmp_path.glob("*.damaged-*"))
    assert len(cache) == 0
    cache.put(["b", "c"], vectors_of(["b", "c"]))
    # a process that had the old files open goes over to the new ones
    assert running.get(["c"])[1] == []
    assert_holds(running, ["b", "c"])
    assert running.get(["a"])[1] == [0]


def test_other_models_do_not_share_vectors(tmp_path: Path) -> None:
    open_cache(tmp_path).put(["a"], vectors_of(["a"]))
    assert VectorCache(tmp_path, DIMENSION, b"f" * 16).get(["a"])[1] == [0]
    assert VectorCache(tmp_path, DIMENSION + 1, b"f" * 16).get(["a"])[1] == [0]


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="KGQA_BENCH_CACHE"):
        open_cache(tmp_path / "file")


# -- other processes ---------------------------------------------------------------------------------------

CHILD = """
import sys, resource
from pathlib import Path
import numpy as np
from kgqa_bench.errors import StorageError
from kgqa_bench.text.vector_cache import VectorCache

def vector_of(text):
    return np.random.default_rng(list(text.encode())).random(6, np.float32)

folder, first, last, step = Path(sys.argv[1]), *map(int, sys.argv[2:5])
cache = VectorCache(folder, 6, b"0123456789abcdef")
if len(sys.argv) > 5:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[5]), int(sys.argv[5])))
try:
    for start in range(first, last, step):
        texts = [str(n) for n in range(start, min(start + step, last))]
        cache.put(texts, np.array([vector_of(text) for text in texts]))
        print(start, flush=True)
except StorageError as problem:
    print("full:", problem)
"""


def child(folder: Path, *arguments: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CHILD, str(folder), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    children = [child(tmp_path, 0, 60, 3), child(tmp_path, 30, 90, 7)]
    for process in children:
        process.communicate()
        assert process.returncode == 0
    cache = open_cache(tmp_path)
    assert len(cache) == 90
    assert_holds(cache, [str(number) for number in range(90)])


def test_killed_writer_loses_nothing_it_reported(tmp_path: Path) -> None:
    writer = child(tmp_path, 0, 1_000_000, 50)
    assert writer.stdout is not None
    reported = [int(writer.stdout.readline()) for _ in range(4)]
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    cache = open_cache(tmp_path)
    assert_holds(cache, [str(number) for number in range(reported[-1] + 50)])
    texts = [str(number) for number in range(len(cache))]
    assert_holds(cache, texts)
    cache.put(["after"], vectors_of(["after"]))
    assert_holds(open_cache(tmp_path), ["after", *texts])


@pytest.mark.parametrize("limit", [HEADER + 25 * ROW + 3, HEADER + 20 * ROW])
def test_full_disk_keeps_what_was_there(limit: int, tmp_path: Path) -> None:
    output, _ = child(tmp_path, 0, 1_000, 10, limit).communicate()
    assert "full: Cannot use the vector cache" in output
    assert "Free some space" in output
    cache = open_cache(tmp_path)
    assert len(cache) == 20
    assert_holds(cache, [str(number) for number in range(20)])
    cache.put(["after"], vectors_of(["after"]))
    assert_holds(open_cache(tmp_path), ["after", "19"])
