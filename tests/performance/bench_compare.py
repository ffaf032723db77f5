"""How long ``kgqa-bench compare`` takes on two runs of made-up answers.

Wall seconds of a whole process, start and reading included, for each set of metrics, and of the statistics alone.

    python tests/performance/bench_compare.py [--questions 5000] [--samples 10000]
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from kgqa_bench.metrics.calibration import ace_statistic, ece_statistic
from kgqa_bench.metrics.statistics.bootstrap import mean, paired_bootstrap

BAR = 5.0
CASES = {
    "f1": ["f1"],
    "hits_at_1, hits_any, f1": ["hits_at_1", "hits_any", "f1"],
    "ece": ["ece"],
    "ace": ["ace"],
}


def write_run(path: Path, questions: int, seed: int) -> None:
    """A run with up to five answers a question of which some are right, each with a confidence."""
    rng = random.Random(seed)
    info = {
        "created": "2026-01-01", "config": {"repeats": 1}, "method_settings": {}, "model": None, "uses_gold": False,
        "versions": {"kgqa-bench": "0"}, "hashes": {"code": "c", "prompts": "p", "split": "s"},
        "benchmark": {"name": "b", "asked": questions},
    }  # fmt: skip
    path.mkdir()
    (path / "run.json").write_text(json.dumps(info))
    with (path / "records.jsonl").open("w") as stream:
        for number in range(questions):
            answers = [[str(entity), rng.random()] for entity in rng.sample(range(8), rng.randint(1, 5))]
            row = {"question_id": f"q{number}", "repeat": 0, "status": "ok", "predictions": answers, "score": 0}
            stream.write(json.dumps(row | {"gold": ["0", "1", "2"]}) + "\n")


def main(questions: int, samples: int) -> None:
    """Print a row a case."""
    print(f"{questions} questions, {samples} samples, seconds (bar {BAR})")
    with tempfile.TemporaryDirectory() as folder:
        runs = [Path(folder, name) for name in "ab"]
        for seed, run in enumerate(runs):
            write_run(run, questions, seed)
        for title, metrics in CASES.items():
            words = [word for metric in metrics for word in ("-m", metric)]
            command = [sys.executable, "-m", "kgqa_bench.cli.main", "compare", *map(str, runs), *words]
            started = time.perf_counter()
            subprocess.run([*command, "--json", "--samples", str(samples)], check=True, capture_output=True)
            print(f"  command, {title:<28}{time.perf_counter() - started:8.2f}")
    rng = np.random.default_rng(0)
    a, b, right = rng.random(questions), rng.random(questions), rng.integers(2, size=questions).astype(float)
    for title, first, second in (
        ("mean", mean(a), mean(b)),
        ("ece", ece_statistic(a, right), ece_statistic(b, right)),
        ("ace", ace_statistic(a, right), ace_statistic(b, right)),
    ):
        started = time.perf_counter()
        paired_bootstrap(first, second, np.arange(questions), samples=samples)
        print(f"  statistics, {title:<25}{time.perf_counter() - started:8.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--questions", type=int, default=5000)
    parser.add_argument("--samples", type=int, default=10_000)
    arguments = parser.parse_args()
    main(arguments.questions, arguments.samples)
