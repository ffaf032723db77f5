"""The package and its help load nothing heavy; the Python API and the command line stay small."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ["torch", "transformers", "litellm", "datasets", "sklearn", "numba", "pyarrow", "igraph", "rdflib", "scipy"]


def loaded(code: str) -> set[str]:
    """Heavy modules in memory after ``code``."""
    script = f"{code}\nimport sys\nprint(*[name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "code",
    [
        "import kgqa_bench",
        "import kgqa_bench.registry as r\nfor kind in r.KINDS: r.names(kind)",
        "from kgqa_bench.cli.main import app\ntry:\n    app(['--help'])\nexcept SystemExit:\n    pass",
        "from kgqa_bench.cli.main import app\ntry:\n    app(['run', '--help'])\nexcept SystemExit:\n    pass",
    ],
)
def test_nothing_heavy_is_loaded(code: str) -> None:
    assert loaded(code) == set()


@pytest.mark.parametrize("kind", ["methods", "benchmarks", "graphs", "models", "metrics"])
def test_plugins_are_described_without_heavy_imports(kind: str) -> None:
    """Listing loads every plugin's module, so these must be light too (graphs need their reader's library)."""
    heavy = loaded(f"import kgqa_bench.registry as r\nfor name in r.names({kind!r}): r.load({kind!r}, name)")
    assert not heavy & {"torch", "transformers", "litellm", "datasets", "sklearn"}


def test_public_api() -> None:
    import kgqa_bench
    import kgqa_bench.run  # the subpackage must not hide the function

    assert callable(kgqa_bench.evaluate)
    assert kgqa_bench.__all__ == ["__version__", "evaluate"]
