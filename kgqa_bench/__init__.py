"""Question answering over knowledge graphs with language models: methods, benchmarks, scores.

>>> import kgqa_bench
>>> result = kgqa_bench.evaluate(method="dog", benchmark="obqa-mini", limit=5)  # doctest: +SKIP
>>> print(result.metrics.scores[0].value)  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgqa_bench.run.execute import RunResult

__version__ = "0.1.0"
__all__ = ["__version__", "evaluate"]


def evaluate(**flags: Any) -> RunResult:
    """Run a method on a benchmark, as ``kgqa-bench run`` does.

    Args:
        **flags: The long flags of the command: method, benchmark, graph, model, limit, set, …
            (``kgqa_bench.run.config.RunConfig``).

    Returns:
        The run's directory, description and figures.

    Raises:
        KgqaBenchError: A flag, a name or data is wrong, or the run could not start.
    """
    from kgqa_bench.run.config import make_config
    from kgqa_bench.run.execute import execute

    return execute(make_config(flags, where="evaluate()"))
