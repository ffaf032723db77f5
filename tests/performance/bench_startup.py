"""How long ``import kgqa_bench`` and ``kgqa-bench --help`` take, and whether anything heavy is loaded.

Medians of whole child processes after one warm-up, in seconds.

    python tests/performance/bench_startup.py [--rounds 9]
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import time

HEAVY = ("torch", "transformers", "litellm", "datasets", "sklearn")
CASES = {
    "import kgqa_bench": "import kgqa_bench",
    "kgqa-bench --help": "from kgqa_bench.cli.main import app\ntry: app(['--help'])\nexcept SystemExit: pass",
}
BAR = 0.5


def measure(code: str) -> tuple[float, float, str]:
    """Wall seconds, CPU seconds and the heavy modules of one process."""
    tail = f"\nimport sys\nprint(*[m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code + tail], capture_output=True, text=True, check=True)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr.strip()


def main(rounds: int) -> None:
    """Print a row a case."""
    print(f"{'what':<20}{'bar':>8}{'wall':>8}{'CPU':>8}  heavy modules loaded")
    for title, code in CASES.items():
        measure(code)
        runs = [measure(code) for _ in range(rounds)]
        wall, cpu = (statistics.median(run[i] for run in runs) for i in (0, 1))
        print(f"{title:<20}{f'<= {BAR}':>8}{wall:>8.3f}{cpu:>8.3f}  {runs[0][2] or 'none'}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    main(parser.parse_args().rounds)
