"""Rows from the Hugging Face hub, at a pinned revision, kept in the project's own cache once they were read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from kgqa_bench.errors import DataError, DataNotFoundError
from kgqa_bench.storage import DATA_VARIABLE, atomic_write, cache_folder

PROBE_SECONDS = 10.0
_COMMIT = re.compile(r"[0-9a-f]{40}")

Row = Mapping[str, Any]


class HubSet(NamedTuple):
    """One split of a data set on the hub, at one revision; ``columns`` are those that are read."""

    name: str
    revision: str
    config: str | None
    split: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}@{self.revision[:12]} ({self.split})"


def hub_rows(hub: HubSet, file: str, data: Path | None) -> Sequence[Row]:
    """The rows of a hub data set in its order, ``columns`` only.

    Args:
        hub: What to read. Where ``revision`` is a commit, rows are kept under the cache folder and read there next
            time, without the hub.
        file: The file that holds the same rows in a data folder, for the error.
        data: The data folder that was looked at.

    Raises:
        DataNotFoundError: The hub cannot be reached (found out within about ``PROBE_SECONDS``) or has no such set;
            names the three ways to get the rows.
        DataError: A column is missing.
    """
    pinned = _COMMIT.fullmatch(hub.revision) is not None
    kept = cache_folder("benchmarks") / f"{hashlib.sha256(repr(tuple(hub)).encode()).hexdigest()[:32]}.json"
    if pinned and kept.is_file():
        return _kept_rows(kept)
    rows = _download(hub, file, data, pinned)
    if pinned:
        with atomic_write(kept) as stream:
            stream.write(orjson.dumps(rows))
    return rows


def _kept_rows(kept: Path) -> list[Row]:
    try:
        rows: list[Row] = orjson.loads(kept.read_bytes())
    except (OSError, orjson.JSONDecodeError) as problem:
        raise DataError(
            f"Cannot be read: {problem}.", file=kept, hint="Delete it; it will be made again."
        ) from problem
    return rows


def _download(hub: HubSet, file: str, data: Path | None, pinned: bool) -> list[Row]:
    import datasets
    from huggingface_hub import HfApi, constants

    offline = constants.HF_HUB_OFFLINE or datasets.config.HF_HUB_OFFLINE
    try:
        if not offline:
            # load_dataset retries an unreachable hub for half a minute; one short request finds out first
            HfApi().dataset_info(hub.name, revision=hub.revision, timeout=PROBE_SECONDS)
        table = datasets.load_dataset(hub.name, hub.config, split=hub.split, revision=hub.revision)
    except Exception as problem:  # each version of these libraries has HTTP errors of its own
        raise _not_found(hub, file, data, f"{type(problem).__name__}: {problem}") from problem
    if offline and pinned:
        # without the hub, datasets takes whatever revision it has
        places = [str(entry["filename"]) for entry in getattr(table, "cache_files", [])]
        if not all(hub.revision in place for place in places):
            raise _not_found(hub, file, data, "the hub is switched off and another revision is in its cache")
    try:
        return [{column: row[column] for column in hub.columns} for row in table]
    except KeyError as problem:
        hint = "Settings `hub` and `revision` name another set."
        raise DataError(f"There is no column {problem}.", file=str(hub), hint=hint) from problem


def hub_folder(
    name: str, revision: str, patterns: Sequence[str], missing: Callable[[str], DataNotFoundError]
) -> Path:
    """The files of a hub data set that match ``patterns``, in the folder of the hub's own cache named by the commit.

    Args:
        name: The data set.
        revision: A commit, or a branch, of which the newest commit is taken.
        patterns: Shell patterns of paths in the repository.
        missing: Makes the error from why they cannot be had.

    Raises:
        DataNotFoundError: The hub cannot be reached (found out within about ``PROBE_SECONDS``) or has no such set.
    """
    from huggingface_hub import snapshot_download

    try:
        folder = snapshot_download(
            name,
            repo_type="dataset",
            revision=revision,
            allow_patterns=list(patterns),
            etag_timeout=PROBE_SECONDS,
        )
    except Exception as problem:  # each version of the library has HTTP errors of its own
        raise missing(f"{type(problem).__name__}: {' '.join(str(problem).split())[:200]}") from problem
    return Path(folder)


def _not_found(hub: HubSet, file: str, data: Path | None, reason: str) -> DataNotFoundError:
    looked = f"{data / file} is not there, and " if data is not None else "no data folder is given, and "
    return DataNotFoundError(
        f"{looked}{hub} cannot be had from the Hugging Face hub ({' '.join(reason.split())[:200]}).",
        hint=(
            "Three ways to get it: reach the hub (HF_HUB_OFFLINE unset; settings `hub` and `revision` name the set); "
            f"--data FOLDER with FOLDER/{file}; or the same folder in {DATA_VARIABLE}."
        ),
    )
