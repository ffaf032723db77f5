"""The signature of a score: everything that must be equal before two scores may stand in one table."""

from __future__ import annotations

from kgqa_bench.contracts import Metric
from kgqa_bench.run.schema import RunInfo


def signature(metric: Metric, info: RunInfo, *, asked: int) -> str:
    """``metric|match:…|benchmark:…|split:…|n:…|failures:wrong|graph:…|prompts:…|v:…``.

    Hashes are shortened to eight digits; run.json has them whole.
    """
    hashes = info.hashes
    parts = [
        metric.name,
        f"match:{metric.matching}",
        f"benchmark:{info.benchmark['name']}",
        f"split:{hashes.split[:8]}",
        f"n:{asked}",
        "failures:wrong",
        f"graph:{hashes.graph[:8] if hashes.graph else 'none'}",
        f"prompts:{hashes.prompts[:8]}",
        f"v:{info.versions['kgqa-bench']}",
    ]
    if info.uses_gold:
        parts.append("oracle")
    return "|".join(parts)
