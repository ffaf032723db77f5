"""Runs compared pair by pair: difference, interval, test, and which questions make it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgqa_bench.contracts import Scores
from kgqa_bench.errors import DataError, UnknownNameError
from kgqa_bench.metrics.aligned_runs import AlignedRun, AlignedRuns, align
from kgqa_bench.metrics.calibration import ace_statistic, ece_statistic
from kgqa_bench.metrics.question_scores import HARD
from kgqa_bench.metrics.signature import written
from kgqa_bench.metrics.statistics.bootstrap import SAMPLES, SEED, Statistic, mean, paired_bootstrap, ratio
from kgqa_bench.metrics.statistics.clusters import numbered, standard_error
from kgqa_bench.metrics.statistics.detectable import smallest_detectable
from kgqa_bench.metrics.statistics.holm import holm
from kgqa_bench.metrics.statistics.mcnemar import is_binary, mcnemar, share_interval

CALIBRATION = {"ece": ece_statistic, "ace": ace_statistic}
METRICS = (*Scores._fields, "accuracy", *HARD, *CALIBRATION)
USUAL = ("hits_at_1", "hits_any", "f1", "hits_hard_primary")
"""What is compared where nothing is said, as far as the protocol defines it."""

USUAL_OF_LABELS = ("hits_at_1",)
"""The same where answers are letters of options or truth values: a method that ranks them all gives every answer."""

FEW_CLUSTERS = 30
"""With fewer clusters intervals are too narrow and p-values too small."""

Values = NDArray[np.float64]


def compare_runs(
    paths: Sequence[Path],
    protocol: str,
    metrics: Sequence[str] = (),
    *,
    across: Collection[str] = (),
    samples: int = SAMPLES,
    seed: int = SEED,
) -> dict[str, Any]:
    """Compare all pairs of runs by every metric.

    Scores that are 0 or 1 for every question of both runs are compared by McNemar's test, all others (F1, means over
    repeats, rates, calibration errors) by the paired bootstrap. Questions about one topic entity are one cluster.
    p-values are adjusted for the number of pairs, one metric at a time.

    Args:
        paths: Run directories.
        protocol: A scoring protocol.
        metrics: Of ``METRICS``; none for ``USUAL``. ``accuracy`` is the recall, as in `score`; of options and truth
            values it is Hits@1, as in `run`.
        across: Parts of the signature that may differ, see ``align``.
        samples: Bootstrap samples.
        seed: Their seed.

    Returns:
        JSON-able: runs, questions, clusters, metrics with values and pairs, questions that are wrong in one run and
        right in the other, signature. A difference is that of the later run minus the earlier one.

    Raises:
        ConfigError: The runs cannot be compared; says why.
        DataError: A metric is not defined for them.
        RunDirectoryError: One is no run directory, or damaged.
        UnknownNameError: There is no protocol, metric or part of a name.
    """
    for metric in metrics:
        if metric not in METRICS:
            raise UnknownNameError("metric", metric, METRICS, hint=f"There are {', '.join(METRICS)}.")
    aligned = align(paths, protocol, across)
    wanted = list(dict.fromkeys(metrics)) or [
        metric
        for metric in (USUAL_OF_LABELS if aligned.labels else USUAL)
        if all(metric in run.scores for run in aligned.runs)
    ]
    parts = aligned.parts | {"samples": str(samples), "seed": str(seed)}
    compared: dict[str, Any] = {}
    for metric in wanted:
        pairs = [_pair(aligned, metric, a, b, samples, seed) for a, b in itertools.combinations(aligned.runs, 2)]
        adjusted = holm([math.nan if pair["p"] is None else pair["p"] for pair in pairs])
        for pair, p in zip(pairs, adjusted, strict=True):
            pair["p_holm"] = _number(p)
        compared[metric] = {"pairs": pairs, "signature": written(metric, parts)}
    return {
        "runs": {run.label: _run(run) for run in aligned.runs},
        "questions": len(aligned.ids),
        "clusters": {"by": aligned.cluster, "count": int(aligned.clusters.max()) + 1},
        "metrics": compared,
        "disagreements": _disagreements(aligned, wanted),
        "signature": written("METRIC", parts),
    }


def _run(run: AlignedRun) -> dict[str, Any]:
    ledger = run.ledger
    return {
        "path": str(run.path),
        "asked": ledger.asked,
        "answered": ledger.answered,
        "unanswered": dict(sorted(ledger.unanswered.items())),
        "missing": list(run.missing),
        "signature": written("METRIC", run.parts),
    }


def _pair(aligned: AlignedRuns, metric: str, a: AlignedRun, b: AlignedRun, samples: int, seed: int) -> dict[str, Any]:
    left_out = 0
    if metric in CALIBRATION:
        first, second, clusters, left_out = _calibrated(aligned, metric, a, b)
    else:
        fields = [metric]
        if metric == "accuracy":
            fields = ["hits_at_1" if aligned.labels else "recall"]
        if metric in HARD:
            fields = [HARD[metric], "hits_any"]
        one, two = (_fields(run, metric, fields) for run in (a, b))
        kept = ~np.isnan(np.concatenate([one, two])).any(axis=0)
        if not kept.any():
            raise DataError(f"The metric {metric} is defined for no question.")
        one, two = one[:, kept], two[:, kept]
        clusters = numbered([str(cluster) for cluster in aligned.clusters[kept]])
        if len(fields) == 1 and is_binary(one, two):
            return _shares(a, b, one[0], two[0], clusters)
        first, second = (mean(each[0]) if len(fields) == 1 else ratio(each[0], each[1]) for each in (one, two))
    found = paired_bootstrap(first, second, clusters, samples=samples, seed=seed)
    whole = np.ones((1, len(clusters)))
    return _row(
        a, b, float(first(whole)[0]), float(second(whole)[0]), found.low, found.high, found.p, "paired bootstrap",
        found.error, clusters,
    ) | {"without_confidence": left_out, "undefined_samples": found.undefined}  # fmt: skip


def _fields(run: AlignedRun, metric: str, fields: Sequence[str]) -> Values:
    for field in fields:
        if field not in run.scores:
            raise DataError(
                f"The metric {metric} is not defined for this run under this protocol.",
                file=run.path,
                hint=f"Defined are {', '.join(run.scores)}.",
            )
    return np.stack([run.scores[field] for field in fields])


def _shares(a: AlignedRun, b: AlignedRun, one: Values, two: Values, clusters: NDArray[np.intp]) -> dict[str, Any]:
    test = mcnemar(one, two, clusters)
    low, high = share_interval(one, two, clusters)
    error = standard_error(two - one, clusters)
    row = _row(a, b, float(one.mean()), float(two.mean()), low, high, test.p, test.test, error, clusters)
    return row | {"only_a_right": int((one > two).sum()), "only_b_right": int((two > one).sum())}


def _calibrated(
    aligned: AlignedRuns, metric: str, a: AlignedRun, b: AlignedRun
) -> tuple[Statistic, Statistic, NDArray[np.intp], int]:
    """Calibration errors over the questions that both runs gave confidences for, and how many others there are."""
    found = [aligned.confidences(run) for run in (a, b)]
    kept = np.intersect1d(found[0][0], found[1][0])
    if not len(kept):
        raise DataError(f"There is no question that both {a.path} and {b.path} gave a confidence for.")
    statistics = [
        _of_rows(metric, np.searchsorted(kept, places[has]), confidence[has], right[has])
        for places, confidence, right in found
        for has in [np.isin(places, kept)]
    ]
    clusters = numbered([str(cluster) for cluster in aligned.clusters[kept]])
    return statistics[0], statistics[1], clusters, len(aligned.ids) - len(kept)


def _of_rows(metric: str, question: NDArray[np.intp], confidence: Values, right: Values) -> Statistic:
    """A calibration error over answers, several of which may belong to one question, by weights of questions."""
    statistic = CALIBRATION[metric](confidence, right)
    return lambda weights: statistic(weights[:, question])


def _row(
    a: AlignedRun,
    b: AlignedRun,
    value_a: float,
    value_b: float,
    low: float,
    high: float,
    p: float,
    test: str,
    error: float,
    clusters: NDArray[np.intp],
) -> dict[str, Any]:
    count = int(clusters.max()) + 1
    return {
        "a": a.label,
        "b": b.label,
        "value_a": _number(value_a),
        "value_b": _number(value_b),
        "difference": _number(value_b - value_a),
        "low": _number(low),
        "high": _number(high),
        "p": _number(p),
        "test": test,
        "smallest_detectable": smallest_detectable(error),
        "n": len(clusters),
        "clusters": count,
        "few_clusters": count < FEW_CLUSTERS,
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _disagreements(aligned: AlignedRuns, metrics: Sequence[str]) -> list[dict[str, Any]]:
    """Questions right in one run and wrong in the other, by the first metric that says right (1) or wrong (0).

    With repeats: right in all of them and wrong in all of them.
    """
    shares = [metric for metric in (*metrics, *USUAL) if metric in Scores._fields]
    metric = next(metric for metric in shares if metric not in ("precision", "recall", "f1"))
    found = []
    for a, b in itertools.combinations(aligned.runs, 2):
        if metric in a.scores and metric in b.scores:
            one, two = a.scores[metric], b.scores[metric]
            names = {
                "only_b_right": np.flatnonzero((one == 0) & (two == 1)),
                "only_a_right": np.flatnonzero((one == 1) & (two == 0)),
            }
            found.append(
                {"a": a.label, "b": b.label, "metric": metric}
                | {name: [aligned.ids[place] for place in places] for name, places in names.items()}
            )
    return found
