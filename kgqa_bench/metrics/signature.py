"""The signature of a score: everything that must be equal before two scores may stand in one table."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import orjson

from kgqa_bench import __version__
from kgqa_bench.contracts import Metric, Protocol, ScoreRow
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


def content_parts(rows: Sequence[ScoreRow]) -> dict[str, str]:
    """Which questions are scored, against which gold answers; hashes shortened to eight digits."""
    gold = {row.id: (row.gold, row.hard, row.primary) for row in rows}
    ids = sorted(gold)
    return {
        "split": hashlib.sha256("\n".join(ids).encode()).hexdigest()[:8],
        "gold": hashlib.sha256(orjson.dumps([gold[each] for each in ids])).hexdigest()[:8],
        "n": str(len(ids)),
    }


def run_parts(info: RunInfo) -> dict[str, str]:
    """What a run says about how its predictions came about; hashes shortened to eight digits."""
    hashes = info.hashes
    parts = {
        "benchmark": str(info.benchmark["name"]),
        "split": hashes.split[:8],
        "graph": hashes.graph[:8] if hashes.graph else "none",
        "prompts": hashes.prompts[:8],
    }
    return parts | ({"oracle": "yes"} if info.uses_gold else {})


def protocol_parts(name: str, protocol: Protocol, parts: Mapping[str, str]) -> dict[str, str]:
    """The parts of the signature of scores under a protocol.

    Args:
        name: The protocol's name.
        protocol: The protocol.
        parts: Those of the predictions: ``split`` (hash of the ids), ``gold`` (hash of the gold answers), ``n`` and,
            for runs, those of ``run_parts``.
    """
    return {
        "protocol": name,
        "protocol_v": protocol.version,
        "unit": protocol.unit,
        **parts,
        "failures": "0",
        "v": __version__,
    }


def written(metric: str, parts: Mapping[str, str]) -> str:
    """A signature as one line: ``metric|protocol:…|protocol_v:…|unit:…|…|v:…``."""
    return "|".join([metric, *(f"{key}:{value}" for key, value in parts.items())])
