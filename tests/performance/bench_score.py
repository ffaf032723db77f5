"""Seconds from file to table: ``[KGQA_BENCH_DATA=FOLDER] python tests/performance/bench_score.py``.

Each ``kgqa-bench score`` is run in a process of its own, start-up included.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson

ROWS = 100_000


def measured(*words: str) -> str:
    """Wall and CPU seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "kgqa_bench.cli.main", *words], check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return f"{wall:.2f} s wall, {cpu:.2f} s CPU"


def main() -> None:
    """Print a line a measurement."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ids.jsonl")
        drawn = random.Random(0)
        with path.open("wb") as stream:
            for number in range(ROWS):
                ids = [str(each) for each in drawn.sample(range(10_000), 8)]
                row = {"id": str(number), "prediction": ids[:5], "gold": ids[3:]}
                stream.write(orjson.dumps(row) + b"\n")
        print(f"strict_ids, {ROWS:,} rows of 5 + 5 ids: {measured('score', str(path), '--protocol', 'strict_ids')}")
        data = os.environ.get("KGQA_BENCH_DATA")
        if not data:
            print("KGQA_BENCH_DATA is not set: published predictions are not measured.")
            return
        published = Path(data, "predictions", "gnn_rag_lmsr_cwq.jsonl").read_bytes().splitlines()
        rows = [orjson.loads(line) for line in published]
        path = Path(folder, "cwq.jsonl")
        with path.open("wb") as stream:
            for number in range(ROWS):
                row = rows[number % len(rows)]
                stream.write(orjson.dumps(row | {"id": f"{row['id']} {number}"}) + b"\n")
        found = measured("score", str(path), "--protocol", "rog", "--protocol", "strict_text")
        print(f"rog and strict_text, gnn_rag_lmsr_cwq repeated to {ROWS:,} rows: {found}")


if __name__ == "__main__":
    main()
