"""Makes the files of family-mini: ``python -m kgqa_bench.benchmarks.family_mini FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

from kgqa_bench import registry
from kgqa_bench.contracts import Builder, GraphSource

PEOPLE = 300
SETTINGS = {"name": "family-mini", "kg": "family-synthetic", "max_rules": 100, "groundings": 4}


def build(out: Path) -> None:
    """Build the folder ``out``. Errors as for ``Builder.build``."""
    source: GraphSource = registry.create("graphs", "family-synthetic", {"people": PEOPLE})
    builder: Builder = registry.create("builders", "incomplete", SETTINGS)
    builder.build(source.load(None), out)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
