"""What mining and building cost, against the bars they must reach. Prints a table; exits 1 if a bar is missed.

    KGQA_BENCH_DATA=FOLDER python tests/performance/bench_mining.py [mine] [length] [facts] [first] [build]

Every figure is of a whole command, from the start of its process to its files: wall-clock seconds, CPU seconds
(user and system, all threads) and the peak resident memory, all as the operating system counts them for the child
process. Each command is run twice and the second run counts: the kernels are compiled and the graph is in the
project's cache then, as they are for every run but the first. Only ``first`` counts the run with an empty cache
folder. All cores are used. Without names all parts are measured:

* ``mine``: Family's facts at length 3, FB15k-237's train part at length 3 and 4.
* ``length``: FB15k-237's train part at length 2, 3 and 4.
* ``facts``: 25, 50, 75 and 100 % of FB15k-237's train part, drawn by a fixed seed, at length 3 and 4.
* ``first``: the first command ever, with all kernels it needs compiled: Family's facts at length 3 and at 4; the bar
  is for what it takes longer than the second.
* ``build``: build-incomplete for Family, for FB15k-237 at length 3, and for FB15k-237 by its defaults (length 4).
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

# nothing of the project is imported here: a child's peak memory begins with that of this process
CACHE = "KGQA_BENCH_CACHE"
DATA = "KGQA_BENCH_DATA"
SEED = 20_240_501
GB = 1e9


class Cost(NamedTuple):
    """Seconds and bytes of one process, and what it printed."""

    wall: float
    cpu: float
    memory: int
    output: str


class Bar(NamedTuple):
    """The most seconds and bytes allowed; None where there is no bar."""

    wall: float | None = None
    memory: float | None = None


def run(words: Sequence[str]) -> Cost:
    """Run one ``kgqa-bench`` command in a process of its own."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        started = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "kgqa_bench.cli.main", *words], stdout=output, stderr=errors
        )
        _pid, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            sys.exit(f"kgqa-bench {' '.join(words)} ended with {process.returncode}:\n{errors.read()[-2_000:]}")
        output.seek(0)
        memory = usage.ru_maxrss if sys.platform == "darwin" else usage.ru_maxrss * 1024
        return Cost(wall, usage.ru_utime + usage.ru_stime, memory, output.read())


class Report:
    """Prints each figure beside its bar as it comes."""

    def __init__(self, folder: Path) -> None:
        self.missed = 0
        self._folder = folder
        print(f"{'command':<44}{'bar':>16}{'wall s':>10}{'CPU s':>10}{'peak GB':>10}{'rules':>9}", flush=True)

    def row(self, name: str, cost: Cost, bar: Bar, rules: int | None) -> None:
        """Print one line."""
        miss = (bar.wall is not None and cost.wall > bar.wall) or (
            bar.memory is not None and cost.memory > bar.memory
        )
        self.missed += miss
        bars = ", ".join(
            text
            for text in (
                "" if bar.wall is None else f"{bar.wall:g} s",
                "" if bar.memory is None else f"{bar.memory / GB:g} GB",
            )
            if text
        )
        count = "" if rules is None else f"{rules:,}"
        print(
            f"{name:<44}{bars:>16}{cost.wall:>10.2f}{cost.cpu:>10.2f}{cost.memory / GB:>10.2f}{count:>9}"
            f"{'  MISSED' if miss else ''}",
            flush=True,
        )

    def mine(self, name: str, kg: str, length: int, bar: Bar | None = None) -> Cost:
        """Measure the second of two runs of ``mine``."""
        words = ["mine", "--kg", kg, "--max-length", str(length), "--out", str(self._folder / "rules.tsv"), "--json"]
        run(words)
        cost = run(words)
        self.row(name, cost, bar or Bar(), json.loads(cost.output)["rules"])
        return cost

    def build(self, name: str, words: Sequence[str], bar: Bar) -> None:
        """Measure the second of two runs of ``build-incomplete``."""
        costs = [
            run(["build-incomplete", *words, "--out", str(self._folder / f"{name}-{again}".replace(" ", "-"))])
            for again in range(2)
        ]
        self.row(name, costs[1], bar, None)


def measure_mine(report: Report) -> None:
    """The graphs that have a bar."""
    report.mine("family facts, length 3", "family", 3, Bar(2))
    report.mine("fb15k237 train, length 3", "fb15k237", 3, Bar(8, 1.2 * GB))
    report.mine("fb15k237 train, length 4", "fb15k237", 4, Bar(300, 4 * GB))


def measure_length(report: Report) -> None:
    """Growth with the length of rules."""
    for length in (2, 3, 4):
        report.mine(f"fb15k237 train, length {length}", "fb15k237", length)


def measure_facts(report: Report, folder: Path) -> None:
    """Growth with the number of facts: a smaller part lies within a larger one."""
    source = Path(os.environ[DATA]) / "fb15k237" / "train2id.txt"
    rows = [line.split() for line in source.read_text().splitlines()[1:]]
    random.Random(SEED).shuffle(rows)
    for percent in (25, 50, 75, 100):
        part = rows[: len(rows) * percent // 100]
        path = folder / f"part-{percent}.tsv"
        path.write_text("".join(f"e{head}\tr{relation}\te{tail}\n" for head, tail, relation in part))
        for length in (3, 4):
            report.mine(f"{percent} % of fb15k237 train ({len(part):,}), length {length}", str(path), length)


def measure_first(report: Report, folder: Path) -> None:
    """What compiling costs on the first run."""
    before = {name: os.environ.pop(name, None) for name in (CACHE, "NUMBA_CACHE_DIR")}
    try:
        for length in (3, 4):
            os.environ[CACHE] = str(folder / f"empty-{length}")
            words = ["mine", "--kg", "family", "--max-length", str(length), "--out", str(folder / "r.tsv"), "--json"]
            first, second = run(words), run(words)
            longer = Cost(first.wall - second.wall, first.cpu - second.cpu, first.memory, first.output)
            report.row(f"first run longer than second, length {length}", longer, Bar(60), None)
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def measure_build(report: Report) -> None:
    """From a graph's name to a folder."""
    report.build("build family", ["--kg", "family"], Bar(10))
    report.build("build fb15k237, length 3", ["--kg", "fb15k237", "--max-length", "3"], Bar(60))
    report.build("build fb15k237", ["--kg", "fb15k237"], Bar(480))


def measure(names: Sequence[str], folder: Path) -> int:
    """The parts asked for; returns how many bars were missed."""
    os.environ.setdefault(CACHE, str(folder / "cache"))
    report = Report(folder)
    parts = {
        "mine": lambda: measure_mine(report),
        "length": lambda: measure_length(report),
        "facts": lambda: measure_facts(report, folder),
        "first": lambda: measure_first(report, folder),
        "build": lambda: measure_build(report),
    }
    unknown = set(names) - set(parts)
    if unknown:
        sys.exit(f"No part {', '.join(sorted(unknown))}: choose of {', '.join(parts)}.")
    for name, part in parts.items():
        if not names or name in names:
            part()
    return report.missed


if __name__ == "__main__":
    if not os.environ.get(DATA):
        sys.exit(f"Set {DATA} to the folder of real data.")
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(measure(sys.argv[1:], Path(temporary)) > 0)
