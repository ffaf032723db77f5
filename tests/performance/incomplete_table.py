"""Prints the README's table of built benchmarks: builds each and audits it, seed 0, by the commands themselves.

KGQA_BENCH_DATA=FOLDER python tests/performance/incomplete_table.py [family] [fb15k237]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

BUILDS = {
    "family": (("Family", "corrected"), ("Family", "released")),
    "fb15k237": (("FB15k-237", "corrected"), ("FB15k-237", "released")),
}
HEADINGS = (
    "build",
    "rules",
    "triples removed",
    "train / validation / test",
    "gold of another direction",
    "test rows whose triple train has",
)


def main() -> None:
    """Print the table."""
    print(f"| {' | '.join(HEADINGS)} |")
    print("|---|" + "---:|" * (len(HEADINGS) - 1))
    for kg in sys.argv[1:] or BUILDS:
        for title, mode in BUILDS[kg]:
            with tempfile.TemporaryDirectory() as folder:
                print(row(f"{title}, {mode}", kg, mode, Path(folder) / "built"), flush=True)


def row(title: str, kg: str, mode: str, out: Path) -> str:
    """One row of the table."""
    built = _json("build-incomplete", "--kg", kg, "--mode", mode, "--seed", "0", "--out", str(out), "--json")
    audit = _json("audit", str(out), "--json")
    shared = audit["leakage"]["removed_triple"]["train - test"]
    cells = (
        title,
        f"{sum(built['rules'].values()):,}",
        f"{built['triples']['removed']:,}",
        " / ".join(f"{built['questions'][split]:,}" for split in ("train", "validation", "test")),
        f"{audit['direction']['wrong']:,} of {audit['direction']['checked']:,}",
        f"{shared['rows']:,} of {shared['of']:,}",
    )
    return f"| {' | '.join(cells)} |"


def _json(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(["kgqa-bench", *arguments], stdout=subprocess.PIPE, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


if __name__ == "__main__":
    main()
