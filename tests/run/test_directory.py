"""The run directory's files: torn tails, damage, full disks, two processes."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa_bench.errors import RunDirectoryError
from kgqa_bench.run.directory import (
    CALLS,
    RECORDS,
    AppendFile,
    RunDirectory,
    calls_missing,
    cut_torn_tail,
    read_calls,
    read_info,
    read_records,
)
from kgqa_bench.run.schema import RecordRow

ROW = b'{"question_id":"q","repeat":0,"status":"ok","gold":["A"],"score":1.0}'


@given(rows=st.lists(st.binary(max_size=30).filter(lambda row: b"\n" not in row)), tail=st.binary(max_size=30))
def test_a_torn_tail_is_cut_and_nothing_else(tmp_path_factory: pytest.TempPathFactory, rows, tail) -> None:
    path = tmp_path_factory.mktemp("tail") / "rows.jsonl"
    whole = b"".join(row + b"\n" for row in rows)
    path.write_bytes(whole + tail.replace(b"\n", b""))
    cut_torn_tail(path)
    assert path.read_bytes() == whole


def test_long_torn_tail(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"first\n" + b"x" * 200_000)
    cut_torn_tail(path)
    assert path.read_bytes() == b"first\n"


def test_damage_names_file_line_and_remedy(tmp_path: Path) -> None:
    (tmp_path / RECORDS).write_bytes(ROW + b"\n{broken\n" + ROW + b"\n")
    with pytest.raises(RunDirectoryError, match=r"records\.jsonl, line 2 is damaged.*Delete that line"):
        list(read_records(tmp_path))
    (tmp_path / RECORDS).write_bytes(ROW.replace(b'"ok"', b'"fine"') + b"\n")
    with pytest.raises(RunDirectoryError, match="line 1 is damaged: status"):
        list(read_records(tmp_path))


def call_row(**changes: object) -> bytes:
    row = {name: None for name in ("reply", "thinking", "finish_reason", "cost_usd", "seconds", "attempts", "error")}
    row |= {"key": "k", "question_id": "q", "repeat": 0, "prompt_tokens": 7, "completion_tokens": 3} | changes
    return json.dumps({name: value for name, value in row.items() if value != "left out"}).encode() + b"\n"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (b"[1]\n", "not an object"),
        (b"{}\n", "key: 'missing'"),
        (call_row(completion_tokens="left out"), "completion_tokens: 'missing'"),
        (call_row(prompt_tokens="7"), "prompt_tokens: '7'"),
        (call_row(completion_tokens=1.5), "completion_tokens: 1.5"),
        (call_row(reply=5), "reply: 5"),
        (call_row(cost_usd="free"), "cost_usd: 'free'"),
        (call_row(repeat=None), "repeat: None"),
    ],
)
def test_a_damaged_call_is_named(tmp_path: Path, row: bytes, said: str) -> None:
    (tmp_path / CALLS).write_bytes(call_row() + row)
    with pytest.raises(RunDirectoryError, match=f"line 2 is damaged: {said}"):
        list(read_calls(tmp_path))


def test_calls_missing_are_counted_by_question_repeat_and_number() -> None:
    def record(question_id: str, repeat: int, *keys: str) -> RecordRow:
        calls = [{"role": "r", "key": key} for key in keys]
        return RecordRow(question_id=question_id, repeat=repeat, status="ok", gold=["A"], score=1.0, calls=calls)

    records = [record("a", 0, "k", "k"), record("a", 1, "k"), record("b", 0, "k"), record("c", 0)]
    calls = [{"question_id": name, "repeat": repeat, "key": "k"} for name, repeat in (("a", 0), ("a", 1), ("c", 0))]
    assert calls_missing(records, calls) == {("a", 0), ("b", 0)}


@pytest.mark.parametrize("content", [None, b"", b"{}", b"\x00\x01", b'{"schema_version": 99}'])
def test_damaged_run_json(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(RunDirectoryError):
        read_info(tmp_path)


def test_one_process_at_a_time(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\nfrom kgqa_bench.run.directory import RunDirectory\n"
        f"RunDirectory(Path({str(tmp_path)!r}))"
    )
    with RunDirectory(tmp_path):
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "in use by another process" in other.stderr


def test_full_disk_leaves_whole_rows_only(tmp_path: Path) -> None:
    """A file-size limit stands in for the full disk: the write comes back short or fails."""
    path = tmp_path / "rows.jsonl"
    code = f"""
import resource, signal, sys
from pathlib import Path
from kgqa_bench.errors import StorageError
from kgqa_bench.run.directory import AppendFile
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
file = AppendFile(Path({str(path)!r}))
for number in range(100):
    try:
        file.append(b"x" * 299)
    except StorageError as problem:
        print(number, problem)
        sys.exit(7)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 7, done.stderr
    assert done.stdout.startswith("3 ")
    assert "All earlier rows are kept" in done.stdout
    assert path.read_bytes() == (b"x" * 299 + b"\n") * 3
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 1000


def test_append_after_a_crash_starts_on_a_new_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"one\ntw")
    file = AppendFile(path)
    file.append(b"three")
    file.close()
    assert path.read_bytes() == b"one\nthree\n"
