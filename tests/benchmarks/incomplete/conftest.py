"""Ways to tamper with a built folder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest


@pytest.fixture
def rehash() -> Callable[[Path], None]:
    """What an attacker does who knows of the hashes: makes the manifest's fit the files again."""

    def again(folder: Path) -> None:
        manifest = orjson.loads((folder / "manifest.json").read_bytes())
        manifest["files"] = {
            name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in manifest["files"]
        }
        (folder / "manifest.json").write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2) + b"\n")

    return again
