"""A model's replies to a wording, kept in the cache so that an interrupted build pays for none of them twice."""

from __future__ import annotations

import hashlib
import logging
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from kgqa_bench.errors import RunDirectoryError
from kgqa_bench.storage import cache_folder, locked

if TYPE_CHECKING:
    from kgqa_bench.llm.gateway import Gateway

_log = logging.getLogger(__name__)


def replies_folder(facts: Mapping[str, Any]) -> Path:
    """The folder for the replies of a build; ``facts`` (JSON-able) tell it from others, the model and seed included.

    StorageError where the cache cannot be written.
    """
    key = hashlib.sha256(orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]
    return cache_folder("wording") / key


@contextmanager
def keeping_replies(gateway: Gateway, folder: Path) -> Iterator[None]:
    """Within the block every reply is kept as it comes, and a request with a kept reply is served with that.

    Raises:
        StorageError: The folder cannot be written, or is in use: the same build runs already.
        RunDirectoryError: The file of replies is damaged; names the line.
    """
    from kgqa_bench.llm.replay import own_key
    from kgqa_bench.run.directory import CALLS, AppendFile, read_calls
    from kgqa_bench.run.runner import call_row

    with locked(folder, timeout=0):
        calls = AppendFile(cache_folder("wording", folder.name) / CALLS)
        try:
            try:
                for row in read_calls(folder):
                    gateway.replay.add(own_key(row["question_id"], row["repeat"], row["key"]), row)
            except RunDirectoryError as problem:
                hint = "Delete that line; or the file, which asks for all replies anew."
                raise RunDirectoryError(problem.message, hint=hint) from problem
            if gateway.replay:
                _log.warning("Going on with %d replies of an interrupted build.", len(gateway.replay))
            gateway.on_call = lambda llm, call: calls.append(call_row(llm, call))
            yield
        finally:
            calls.close()


def forget_replies(folder: Path) -> None:
    """Delete the replies of a build that is done. What cannot be deleted stays."""
    shutil.rmtree(folder, ignore_errors=True)
    Path(f"{folder}.lock").unlink(missing_ok=True)
