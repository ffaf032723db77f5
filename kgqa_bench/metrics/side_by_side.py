"""One set of predictions under several protocols: what is the system's, and what is the scorer's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from kgqa_bench import __version__, registry
from kgqa_bench.contracts import Interval, Protocol, Scores
from kgqa_bench.metrics.per_question import protocol_name
from kgqa_bench.metrics.question_scores import HARD, QuestionScores, score_questions
from kgqa_bench.metrics.signature import protocol_parts, written
from kgqa_bench.predictions.model import Predictions

HEADLINE = "strict_ids"
GROUPS = ("rule_type", "rule_subtype", "hops", "twin")
"""Group facts that tables are split by."""

METRICS = tuple(dict.fromkeys([*Scores._fields[:4], "accuracy", *Scores._fields[4:], *HARD]))


def applicable(predictions: Predictions) -> list[str]:
    """The registered protocols that fit what the predictions are, the headline first.

    Rules that compare ids are left out where predictions are text, and rules for text where they are the letters of
    options or truth values.
    """
    fitting = {"ids": ("ids", "text"), "text": ("text",), "labels": ("ids",)}[predictions.unit]
    names = [name for name in registry.names("protocols") if registry.load("protocols", name).unit in fitting]
    return sorted(names, key=lambda name: (not protocol_name(name).startswith("strict"), name))


def side_by_side(predictions: Predictions, names: Sequence[str]) -> dict[str, Any]:
    """Scores under each protocol with intervals and signatures, by group where the gold has groups, and the spread.

    Raises:
        UnknownNameError: There is no protocol of a name.
        ValueError: There is no question.
    """
    protocols: dict[str, Any] = {}
    for name in names:
        rule: Protocol = registry.create("protocols", name)
        shown = protocol_name(name)
        scores = score_questions(rule, predictions.rows[rule.unit])
        parts = protocol_parts(shown, rule, predictions.parts)
        protocols[shown] = {
            "version": rule.version,
            "unit": rule.unit,
            "scores": {
                metric: None if interval is None else _as_json(interval) | {"signature": written(metric, parts)}
                for metric, interval in scores.averages().items()
            },
            "by_group": _by_group(scores),
        }
    ledger = predictions.ledger
    return {
        "form": predictions.form,
        "unit": predictions.unit,
        "ledger": {
            "asked": ledger.asked,
            "answered": ledger.answered,
            "unanswered": dict(sorted(ledger.unanswered.items())),
            "ignored": dict(sorted(ledger.ignored.items())),
            "noted": dict(sorted(ledger.noted.items())),
            "examples": ledger.examples,
        },
        "protocols": protocols,
        "spread": spread(protocols),
        "signature": written("METRIC", {"protocol": "NAME", **predictions.parts, "failures": "0", "v": __version__}),
    }


def spread(protocols: Mapping[str, Any]) -> dict[str, Any]:
    """For each metric that several protocols define, the lowest and the highest value: the scorer's share."""
    found: dict[str, Any] = {}
    for metric in METRICS:
        values = {
            name: entry["scores"][metric]["value"]
            for name, entry in protocols.items()
            if entry["scores"].get(metric) is not None
        }
        if len(values) > 1:
            low, high = min(values, key=lambda name: values[name]), max(values, key=lambda name: values[name])
            found[metric] = {
                "lowest": {"protocol": low, "value": values[low]},
                "highest": {"protocol": high, "value": values[high]},
                "difference": values[high] - values[low],
            }
    return found


def _by_group(scores: QuestionScores) -> dict[str, Any]:
    groups: dict[str, Any] = {}
    for group in GROUPS:
        parts = scores.split_by(group)
        if parts:
            groups[group] = {
                value: {
                    metric: None if interval is None else _as_json(interval)
                    for metric, interval in part.averages().items()
                }
                for value, part in parts.items()
            }
    return groups


def _as_json(interval: Interval) -> dict[str, Any]:
    low, high = (None if math.isnan(bound) else bound for bound in (interval.low, interval.high))
    return {"value": interval.value, "low": low, "high": high, "n": interval.n}
