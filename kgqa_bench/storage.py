"""Folders and files: where caches lie, and how a file is written so that it is never half there."""

from __future__ import annotations

import errno
import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from kgqa_bench.errors import ConfigError, StorageError

DATA_VARIABLE = "KGQA_BENCH_DATA"
CACHE_VARIABLE = "KGQA_BENCH_CACHE"

UNREADABLE = (OSError, EOFError, zlib.error)
"""What reading a file raises that cannot be read or is no whole gzip file."""


def cache_folder(*parts: str) -> Path:
    """A folder under the cache root (``KGQA_BENCH_CACHE``, else the platform's), made if missing."""
    root = os.environ.get(CACHE_VARIABLE)
    if not root:
        from platformdirs import user_cache_dir

        root = user_cache_dir("kgqa-bench", appauthor=False)
    folder = user_path(root).joinpath(*parts)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise StorageError(
            f"Cannot make the cache folder {folder}: {problem.strerror or problem}.",
            hint=f"Set {CACHE_VARIABLE} to a folder that can be written.",
        ) from problem
    return folder


def data_folder(given: Path | None = None) -> Path | None:
    """The user's data folder: ``given`` (--data), else ``KGQA_BENCH_DATA``, else None."""
    value = given if given is not None else os.environ.get(DATA_VARIABLE)
    return user_path(value) if value else None


def user_path(given: str | Path) -> Path:
    """A path as a user writes it, ``~`` meaning the home folder. ConfigError where there is no such home."""
    try:
        return Path(given).expanduser()
    except RuntimeError as problem:
        raise ConfigError(f"{given}: {problem}", hint="Write the path without ~.") from problem


def packaged_file(distribution: str, name: str) -> Path | None:
    """The file called ``name`` of an installed distribution, whose code is not run; None where there is none."""
    from importlib import metadata

    try:
        files = metadata.files(distribution) or []
    except metadata.PackageNotFoundError:
        return None
    paths = (Path(str(file.locate())) for file in files if file.name == name)
    return next((path for path in paths if path.is_file()), None)


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """A file that appears under ``path`` whole or not at all: temporary file beside it, then rename.

    Raises:
        StorageError: When it cannot be written, or is no file (a device, which the rename would replace); nothing is
            left behind.
    """
    temporary: str | None = None
    try:
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "it is there and is no file")
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
        temporary = None
    except OSError as problem:
        raise StorageError(
            f"Cannot write {path}: {problem.strerror or problem}.",
            hint="Free some space or choose another folder.",
        ) from problem
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


@contextmanager
def locked(path: Path, *, timeout: float = 600.0) -> Iterator[None]:
    """Hold the lock file ``path`` + ".lock", so that two processes do not build the same file at once."""
    from filelock import FileLock, Timeout

    lock = FileLock(f"{path}.lock")
    try:
        lock.acquire(timeout=timeout)
    except Timeout as problem:
        raise StorageError(f"{path} is being written by another process.", hint="Wait for it to end.") from problem
    except OSError as problem:  # a folder that may only be read, a full disk
        raise StorageError(
            f"Cannot write into {path.parent}: {problem.strerror or problem}.",
            hint=f"Free some space, or set {CACHE_VARIABLE} to a folder that can be written.",
        ) from problem
    try:
        yield
    finally:
        lock.release()
