"""The run directory: append-only rows that survive a crash, and files that are whole or absent."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from kgqa_bench.errors import RunDirectoryError, StorageError
from kgqa_bench.run.schema import SCHEMA_VERSION, Metrics, RecordRow, RunInfo
from kgqa_bench.storage import atomic_write

RUN, RECORDS, CALLS, METRICS = "run.json", "records.jsonl", "calls.jsonl", "metrics.json"
_LOCK = ".lock"

_TEXT, _COUNT, _NUMBER = (str, type(None)), (int, type(None)), (int, float, type(None))
# what is read back of a call; None stands for unknown
_CALL_FIELDS: dict[str, tuple[type, ...]] = {
    "key": (str,),
    "question_id": (str,),
    "repeat": (int,),
    "reply": _TEXT,
    "thinking": _TEXT,
    "finish_reason": _TEXT,
    "prompt_tokens": _COUNT,
    "completion_tokens": _COUNT,
    "cost_usd": _NUMBER,
    "seconds": _NUMBER,
    "attempts": _COUNT,
    "error": _TEXT,
}

_File = TypeVar("_File", bound=BaseModel)


class AppendFile:
    """A JSON-lines file that only grows. A row is handed to the operating system before ``append`` returns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        cut_torn_tail(path)
        try:
            self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as problem:
            raise StorageError(f"Cannot open {path}: {problem.strerror}.") from problem

    def append(self, row: bytes) -> None:
        """Write one row (without its line end). StorageError when it does not fit; no part of it is left."""
        line = row + b"\n"
        try:
            written = os.write(self._descriptor, line)
            if written != len(line):
                os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size - written)
                raise OSError(28, "No space left on device")
        except OSError as problem:
            raise StorageError(
                f"Cannot write {self.path}: {problem.strerror}. All earlier rows are kept.",
                hint="Free some space and give the same command again: it continues from here.",
            ) from problem

    def close(self) -> None:
        """Write through to the disk and close."""
        try:
            os.fsync(self._descriptor)
        finally:
            os.close(self._descriptor)


class RunDirectory:
    """An open run directory, held by one process at a time.

    Raises:
        RunDirectoryError: When another process holds it, or the folder holds files that are not a run's.
        StorageError: When it cannot be made or written.
    """

    def __init__(self, path: Path) -> None:
        from filelock import FileLock, Timeout

        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            foreign = _foreign_file(path)
        except OSError as problem:
            raise StorageError(
                f"Cannot make the run directory {path}: {problem.strerror}.", hint="Choose another --out."
            ) from problem
        if foreign is not None:
            raise RunDirectoryError(
                f"{path} is no run directory (it has no {RUN}), and not empty: it holds {foreign}.",
                hint="Choose another --out.",
            )
        self._lock = FileLock(path / _LOCK)
        try:
            self._lock.acquire(timeout=0)
        except Timeout as problem:
            raise RunDirectoryError(
                f"{path} is in use by another process.", hint="Wait for it to end, or choose another --out."
            ) from problem
        except OSError as problem:
            raise StorageError(
                f"Cannot write into {path}: {problem.strerror or problem}.", hint="Choose another --out."
            ) from problem
        self.records: AppendFile
        self.calls: AppendFile

    def __enter__(self) -> Self:
        try:
            self.records = AppendFile(self.path / RECORDS)
            self.calls = AppendFile(self.path / CALLS)
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.calls.close()
        self.records.close()
        self._lock.release()

    def write_info(self, info: RunInfo) -> None:
        """Write run.json."""
        _write_json(self.path / RUN, info)

    def write_metrics(self, metrics: Metrics) -> None:
        """Write metrics.json."""
        _write_json(self.path / METRICS, metrics)


def _foreign_file(path: Path) -> str | None:
    """A file that a run killed before its run.json cannot have left; None where there is none."""
    if (path / RUN).exists():
        return None
    for file in path.iterdir():
        empty = file.name in (RECORDS, CALLS) and file.stat().st_size == 0
        if not (empty or file.name == _LOCK or file.name.startswith(f".{RUN}.")):
            return file.name
    return None


def read_info(path: Path) -> RunInfo:
    """run.json of a run directory. RunDirectoryError where it is missing, damaged or of a newer version."""
    return _read_json(path / RUN, RunInfo)


def read_metrics(path: Path) -> Metrics:
    """metrics.json of a run directory. RunDirectoryError where it is missing or damaged."""
    return _read_json(path / METRICS, Metrics)


def read_records(path: Path) -> Iterator[RecordRow]:
    """The rows of records.jsonl in order. RunDirectoryError names file and line of a damaged one."""
    for line, row in _rows(path / RECORDS):
        try:
            yield RecordRow.model_validate_json(row)
        except ValidationError as problem:
            first = problem.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise _damaged(path / RECORDS, line, f"{where}: {first['msg']}" if where else first["msg"]) from problem


def read_calls(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of calls.jsonl in order. RunDirectoryError names file and line of a damaged one."""
    for line, row in _rows(path / CALLS):
        try:
            value = orjson.loads(row)
        except orjson.JSONDecodeError as problem:
            raise _damaged(path / CALLS, line, str(problem)) from problem
        if not isinstance(value, dict):
            raise _damaged(path / CALLS, line, "not an object")
        for name, kinds in _CALL_FIELDS.items():
            if name not in value or not isinstance(value[name], kinds):
                raise _damaged(path / CALLS, line, f"{name}: {value.get(name, 'missing')!r}")
        tool_calls = value.get("tool_calls", [])
        if not (isinstance(tool_calls, list) and all(map(_is_tool_call, tool_calls))):
            raise _damaged(path / CALLS, line, f"tool_calls: {tool_calls!r}")
        yield value


def _is_tool_call(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"id", "name", "arguments"}
        and isinstance(value["id"], str)
        and isinstance(value["name"], str)
        and isinstance(value["arguments"], dict | str)
    )


def calls_missing(records: Iterable[RecordRow], calls: Iterable[Mapping[str, Any]]) -> set[tuple[str, int]]:
    """The (question, repeat) pairs with a record but without the rows of all its calls.

    Calls are written before their record, but a power cut may keep the one file and lose the end of the other.
    """
    there = Counter((call["question_id"], call["repeat"], call["key"]) for call in calls)
    return {
        (record.question_id, record.repeat)
        for record in records
        if any(
            there[record.question_id, record.repeat, key] < count
            for key, count in Counter(call.key for call in record.calls).items()
        )
    }


def cut_torn_tail(path: Path) -> None:
    """Cut a last line without line end, which a crash left half written."""
    try:
        with path.open("r+b") as stream:
            size = stream.seek(0, os.SEEK_END)
            end = size
            while end > 0:
                start = max(0, end - 65536)
                stream.seek(start)
                newline = stream.read(end - start).rfind(b"\n")
                if newline >= 0:
                    end = start + newline + 1
                    break
                end = start
            if end < size:
                stream.truncate(end)
    except FileNotFoundError:
        return
    except OSError as problem:
        raise StorageError(f"Cannot open {path}: {problem.strerror}.") from problem


def _rows(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                if line.endswith(b"\n"):  # a last line without its end is a row still being written
                    yield number, line
    except FileNotFoundError:
        return
    except OSError as problem:
        raise RunDirectoryError(f"Cannot read {path}: {problem.strerror}.") from problem


def _damaged(path: Path, line: int, what: str) -> RunDirectoryError:
    return RunDirectoryError(
        f"{path}, line {line} is damaged: {what}.",
        hint="Delete that line to ask its question again, or start anew with another --out.",
    )


def _read_json(path: Path, model: type[_File]) -> _File:
    try:
        return model.model_validate_json(path.read_bytes())
    except FileNotFoundError as problem:
        raise RunDirectoryError(f"{path.parent} is no run directory: it has no {path.name}.") from problem
    except OSError as problem:
        raise RunDirectoryError(f"Cannot read {path}: {problem.strerror}.") from problem
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "file"
        raise RunDirectoryError(
            f"{path} is damaged or of another version than {SCHEMA_VERSION}: {where}: {first['msg']}.",
            hint="Start anew with another --out.",
        ) from problem


def _write_json(path: Path, value: BaseModel) -> None:
    with atomic_write(path) as stream:
        stream.write(orjson.dumps(value.model_dump(mode="json"), option=orjson.OPT_INDENT_2) + b"\n")
