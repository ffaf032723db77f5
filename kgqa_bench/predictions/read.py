"""Reads predictions of any known form and joins them with their gold answers."""

from __future__ import annotations

from pathlib import Path

from kgqa_bench.contracts import ScoreRow
from kgqa_bench.errors import ConfigError, DataError
from kgqa_bench.metrics.signature import content_parts
from kgqa_bench.predictions.gold import read_gold
from kgqa_bench.predictions.join import join
from kgqa_bench.predictions.linking import VERSION, LabelLinker
from kgqa_bench.predictions.model import Predictions, Unit
from kgqa_bench.predictions.names import ANSWERS, PREDICTIONS
from kgqa_bench.predictions.prediction_files import read_replies
from kgqa_bench.predictions.run_rows import read_run
from kgqa_bench.run.directory import RUN


def read_predictions(
    path: Path, gold: Path | None = None, labels: LabelLinker | None = None, *, replies: bool = False
) -> Predictions:
    """Predictions with their gold answers and the ledger.

    Args:
        path: A run directory, or a file, see ``prediction_files``.
        gold: The gold answers, see ``gold.read_gold``; None where the run or the file has them.
        labels: Links texts to ids for protocols that compare ids, and names ids for those that compare text.
        replies: Of a run, take the whole replies instead of the answers read from them.

    Raises:
        DataNotFoundError, DataError, RunDirectoryError: A file is missing or damaged.
        ConfigError: There are no gold answers, or ``replies`` is asked of a file.
    """
    answers = read_gold(gold) if gold is not None else None
    if (path / RUN).is_file():
        found = read_run(path, answers, replies=replies)
    elif replies:
        raise ConfigError(f"{path} is no run directory.", hint="Only runs have replies beside their answers.")
    else:
        rows, form, unit = read_replies(path, with_gold=answers is None)
        first = f" The first: {rows[0].where} ({rows[0].problem})." if rows and rows[0].problem else ""
        if form is None:
            hint = f"Give JSON lines or a JSON list, with predictions under one of {', '.join(PREDICTIONS)}."
            raise DataError(f"There is no row with predictions.{first}", file=path, hint=hint)
        if answers is None and not any(reply.gold is not None for reply in rows):
            keys = ", ".join(ANSWERS)
            raise ConfigError(f"{path} has no row with gold answers ({keys}).{first}", hint="Give them with --gold.")
        joined, ledger = join(rows, answers)
        units: tuple[Unit, ...] = ("ids", "text")
        found = Predictions(form, unit, dict.fromkeys(units, joined), ledger, content_parts(joined))
    if labels is None:
        return found
    for row in found.rows["ids"]:
        if not all(answer in labels.labels for answer in row.gold):
            found.ledger.note("gold answer that has no label", row.id)
    by_unit: dict[Unit, list[ScoreRow]] = {
        "ids": [labels.ids(row) for row in found.rows["ids"]],
        "text": [labels.words(row) for row in found.rows["text"]],
    }
    return Predictions(found.form, "ids", by_unit, found.ledger, {**found.parts, "linking": VERSION})
