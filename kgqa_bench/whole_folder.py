"""A folder that is there whole or not at all: filled in a hidden one beside it, then renamed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kgqa_bench.errors import ConfigError, StorageError


def require_free(out: Path) -> None:
    """ConfigError where ``out`` is a file, or a folder that is not empty; StorageError where it cannot be made."""
    try:
        if out.is_dir() and not out.is_symlink():
            used = next(iter(sorted(path.name for path in out.iterdir())), None)
            if used is not None:
                raise ConfigError(f"{out} is in use: it holds {used}.", hint="Choose another --out, or remove it.")
        elif out.exists() or out.is_symlink():
            raise ConfigError(f"{out} is in use: it is no folder.", hint="Choose another --out.")
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise _cannot_write(out, problem) from problem
    if not os.access(out.parent, os.W_OK | os.X_OK):
        raise StorageError(f"Cannot write into {out.parent}: no permission.", hint="Choose another --out.")


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """A new folder to write files into, which is called ``out`` when the block has ended well.

    All of it is on the disk before it is renamed.

    Raises:
        ConfigError: ``out`` is in use.
        StorageError: The disk is full, or the folder cannot be written; nothing is left behind.
    """
    require_free(out)
    temporary: Path | None = None
    try:
        temporary = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}."))
        yield temporary
        for path in sorted(temporary.iterdir()):
            with path.open("r+b") as stream:
                os.fsync(stream.fileno())
        temporary.chmod(0o755)
        _sync_folder(temporary)
        if out.is_dir():
            out.rmdir()  # it was empty; a folder that has been filled since is refused here
        temporary.rename(out)
        temporary = None
        _sync_folder(out.parent)
    except OSError as problem:
        raise _cannot_write(out, problem) from problem
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # a folder cannot be opened there
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _cannot_write(out: Path, problem: OSError) -> StorageError:
    return StorageError(
        f"Cannot write {out}: {problem.strerror or problem}.", hint="Free some space or choose another --out."
    )
