"""Predictions of a run directory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from kgqa_bench.domain import BOOLEAN_VALUES, Gold
from kgqa_bench.metrics.signature import content_parts, run_parts
from kgqa_bench.predictions.join import join
from kgqa_bench.predictions.model import NOT_ANSWERED, GoldRow, Predictions, Reply, Unit
from kgqa_bench.run.directory import read_info, read_records
from kgqa_bench.run.schema import RecordRow


def read_run(path: Path, gold: Mapping[str, GoldRow] | None = None, *, replies: bool = False) -> Predictions:
    """The answers of a run; questions that it did not get to, and those without answer, are in the denominator.

    Args:
        path: The run directory.
        gold: Gold answers by id instead of the run's own; these are the questions then.
        replies: Take the replies' whole text, line by line, instead of the answers that were read from it.

    Raises:
        RunDirectoryError: A file is missing or damaged.
    """
    info = read_info(path)
    latest: dict[tuple[str, int], RecordRow] = {}
    for row in read_records(path):
        latest[row.question_id, row.repeat] = row
    found = [_reply(row, replies) for row in latest.values()]
    asked: int = info.benchmark["asked"]
    unreached = 0 if gold is not None else max(0, asked - len({reply.id for reply in found}))
    rows, ledger = join(found, gold, repeats=info.config["repeats"], rewrites=True, unreached=unreached)
    unit: Literal["text", "labels", "ids"] = "ids"
    if replies:
        unit = "text"
    elif found and all(_is_label(answer) for row in latest.values() for answer in row.gold):
        unit = "labels"
    parts = content_parts(rows) | run_parts(info) | ({} if gold is None else {"gold_from": "file"})
    units: tuple[Unit, ...] = ("ids", "text")
    return Predictions("run", unit, dict.fromkeys(units, rows), ledger, parts)


def _reply(row: RecordRow, whole: bool) -> Reply:
    problem = None
    if row.error is not None:
        problem = row.error["reason"]
    elif row.status in NOT_ANSWERED and not whole:
        problem = row.status
    return Reply(
        row.question_id,
        row.question_id,
        tuple(row.raw.split("\n")) if whole else tuple([value for value, _confidence in row.predictions]),
        row.raw if whole else None,
        problem,
        gold_row(row.whole_gold()),
        row.repeat,
    )


def gold_row(gold: Gold) -> GoldRow:
    """A gold answer with the facts that tables are split by."""
    facts = dict(gold.groups)
    derivation = gold.derivation
    if derivation is not None:
        head, _relation, tail, _confidence = derivation.removed
        facts |= {
            "topic": head if gold.primary == tail else tail,
            "rule_type": derivation.rule_type,
            "hops": str(derivation.hops),
        }
        facts |= {"rule_subtype": derivation.rule_subtype} if derivation.rule_subtype else {}
        facts |= {"twin": derivation.twin} if derivation.twin else {}
    return GoldRow(gold.answers, gold.hard_answers, gold.primary, "", facts)


def _is_label(answer: str) -> bool:
    return answer in BOOLEAN_VALUES or (len(answer) == 1 and answer.isascii() and answer.isupper())
