"""Runs side by side, question by question: what may be compared, and who lacks what."""

from __future__ import annotations

import itertools
import string
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgqa_bench import registry
from kgqa_bench.contracts import Protocol, ScoreRow
from kgqa_bench.errors import ConfigError, DataError, UnknownNameError
from kgqa_bench.metrics.per_question import protocol_name
from kgqa_bench.metrics.question_scores import QuestionScores, score_questions
from kgqa_bench.metrics.signature import content_parts, protocol_parts
from kgqa_bench.metrics.statistics.clusters import numbered
from kgqa_bench.predictions.model import Ledger
from kgqa_bench.predictions.run_rows import read_run
from kgqa_bench.run.directory import read_records

Values = NDArray[np.float64]

MAY_DIFFER = ("graph", "benchmark", "oracle")
"""Parts of the signature that two runs may differ in where that is asked for; ``prompts`` always may."""

_BY_QUESTION = frozenset({"gold", "n"})  # checked question by question: of those not reached the gold is not known
_SHOWN = 5
_WHY = {
    "split": "Runs over other questions cannot be compared.",
    "graph": "To compare graphs, such as a complete and an incomplete one, say --across graph.",
    "benchmark": "If these are the same questions under two names, say --across benchmark.",
    "oracle": "A method that sees the gold answers is no rival; to compare all the same, say --across oracle.",
}


@dataclass(frozen=True)
class AlignedRun:
    """One of several runs over the same questions.

    Attributes:
        label: A, B, ….
        path: Its directory.
        scores: By field of ``Scores``, one value a question of ``AlignedRuns.ids``; nan where it is not defined.
        parts: Parts of its signature.
        ledger: What counted as what.
        missing: Questions that another run has an answer to and this one never reached: they score 0.
        rows: What was scored, one row a question and repeat.
    """

    label: str
    path: Path
    scores: Mapping[str, Values]
    parts: Mapping[str, str]
    ledger: Ledger
    missing: tuple[str, ...]
    rows: Sequence[ScoreRow]


@dataclass(frozen=True)
class AlignedRuns:
    """Runs over the same questions.

    Attributes:
        protocol: The protocol they are scored under.
        ids: The questions, sorted by id; last those that no run reached, under made-up ids in brackets.
        clusters: The number of each question's cluster.
        cluster: What these are: ``topic`` (entities), ``question``, or ``topic-or-question`` where some have none.
        gold: The gold part of their signature.
        labels: Answers are letters of options or truth values, which methods may rank all.
        runs: The runs.
    """

    protocol: Protocol
    ids: tuple[str, ...]
    clusters: NDArray[np.intp]
    cluster: str
    gold: str
    labels: bool
    runs: tuple[AlignedRun, ...]

    @property
    def parts(self) -> dict[str, str]:
        """Parts of the common signature; of such that differ all values."""
        names = dict.fromkeys(name for run in self.runs for name in run.parts)
        values = {name: dict.fromkeys(run.parts.get(name, "no") for run in self.runs) for name in names}
        return {name: "/".join(found) for name, found in values.items()} | {
            "gold": self.gold,  # of a run that did not reach all questions it is another one
            "cluster": self.cluster,
        }

    def confidences(self, run: AlignedRun) -> tuple[NDArray[np.intp], Values, Values]:
        """Questions by number, confidences in the first answers, and whether these are right; a row a repeat.

        Raises:
            DataError: No answer of the run has a confidence, or the protocol knows no first answer.
        """
        given = {
            (row.question_id, row.repeat): row.predictions[0][1] for row in read_records(run.path) if row.predictions
        }
        place_of = {question_id: place for place, question_id in enumerate(self.ids)}
        repeats: dict[str, int] = {}
        found: list[tuple[int, float, float]] = []
        for row in run.rows:
            repeat = repeats[row.id] = repeats.get(row.id, -1) + 1
            confidence = given.get((row.id, repeat)) if row.answered else None
            if confidence is not None:
                right = self.protocol.score(row).hits_at_1
                if right is None:
                    raise DataError("This protocol does not define which first answers are right (hits_at_1).")
                found.append((place_of[row.id], confidence, right))
        if not found:
            raise DataError(
                "No answer has a confidence, so there is no calibration.",
                file=run.path,
                hint="Compare other metrics, or run a method that gives confidences.",
            )
        columns = np.array(found).T
        return columns[0].astype(np.intp), columns[1], columns[2]


def align(paths: Sequence[Path], protocol: str, across: Collection[str] = ()) -> AlignedRuns:
    """Read and score runs, and put their questions side by side.

    Repeats of a question count by their mean. Questions that a run did not answer score 0.

    Args:
        paths: Two run directories or more.
        protocol: The protocol's name.
        across: Parts of the signature, of ``MAY_DIFFER``, that may differ. A run without graph may be compared with
            one on any graph, as may runs with other prompts.

    Raises:
        ConfigError: Two signatures differ in another part, or the gold answers of a question do.
        DataError: No run has reached a question.
        RunDirectoryError: One is no run directory, or damaged.
        UnknownNameError: There is no such protocol or part.
    """
    if not 2 <= len(paths) <= len(string.ascii_uppercase):
        raise ConfigError(
            f"Two runs are needed to compare, and {len(string.ascii_uppercase)} at most; not {len(paths)}."
        )
    for part in across:
        if part not in MAY_DIFFER:
            raise UnknownNameError(
                "part for --across", part, MAY_DIFFER, hint=f"These may differ: {', '.join(MAY_DIFFER)}."
            )
    rule: Protocol = registry.create("protocols", protocol)
    read = [read_run(path) for path in paths]
    rows = [predictions.rows[rule.unit] for predictions in read]
    parts = [protocol_parts(protocol_name(protocol), rule, predictions.parts) for predictions in read]
    known = [{row.id: row for row in each if not _unreached(row)} for each in rows]
    for one, two in itertools.combinations(range(len(paths)), 2):
        _check(parts[one], parts[two], paths[one], paths[two], across, known[one], known[two])
    union: dict[str, ScoreRow] = {}
    origin: dict[str, Path] = {}
    for path, each in zip(paths, known, strict=True):
        for question_id, row in each.items():
            before, where = union.setdefault(question_id, row), origin.setdefault(question_id, path)
            if _gold(before) != _gold(row):
                raise ConfigError(f"The gold answers of question {question_id!r} differ between {where} and {path}.")
    if not union:
        raise DataError("No run has reached a question.", file=paths[0])
    nowhere = int(parts[0]["n"]) - len(union)
    ids = (*sorted(union), *(f"(not reached {number + 1})" for number in range(nowhere)))
    topics = [union[question_id].groups.get("topic") if question_id in union else None for question_id in ids]
    having = sum(topic is not None for topic in topics)
    found = [
        score_questions(rule, [row for row in each if row.id in reached])
        for each, reached in zip(rows, known, strict=True)
    ]
    fields = list(dict.fromkeys(field for each in found for field in each.columns))
    runs = []
    for place, path in enumerate(paths):
        missing = tuple(question_id for question_id in sorted(union) if question_id not in known[place])
        scores = _columns(found[place], ids, fields)
        ledger = read[place].ledger
        label = string.ascii_uppercase[place]
        runs.append(AlignedRun(label, path, scores, parts[place], ledger, missing, rows[place]))
    _undefine(runs, fields, nowhere)
    return AlignedRuns(
        rule,
        ids,
        numbered(
            [f"question {i}" if topic is None else f"topic {topic}" for i, topic in zip(ids, topics, strict=True)]
        ),
        "question" if not having else "topic" if having == len(ids) else "topic-or-question",
        content_parts(list(union.values()))["gold"],
        any(predictions.unit == "labels" for predictions in read),
        tuple(runs),
    )


def _unreached(row: ScoreRow) -> bool:
    return not row.answered and not row.gold and row.id.startswith("(not reached ")


def _gold(row: ScoreRow) -> Any:
    return row.gold, row.hard, row.primary


def _check(
    first: Mapping[str, str],
    second: Mapping[str, str],
    path: Path,
    other: Path,
    across: Collection[str],
    ids: Collection[str],
    other_ids: Collection[str],
) -> None:
    for part in dict.fromkeys([*first, *second]):
        one, two = first.get(part, "no"), second.get(part, "no")
        if one == two or part == "prompts" or part in _BY_QUESTION or part in across:
            continue
        if part == "graph" and "none" in (one, two):
            continue
        message = f"{path} and {other} differ in the part {part} of their signatures: {one} and {two}."
        if part == "split":
            message += f" {_only(path, ids, other_ids)} {_only(other, other_ids, ids)}"
        raise ConfigError(message, hint=_WHY.get(part))


def _only(path: Path, ids: Collection[str], others: Collection[str]) -> str:
    lacking = sorted(set(ids) - set(others))
    names = f" ({', '.join(lacking[:_SHOWN])}{', …' if len(lacking) > _SHOWN else ''})" if lacking else ""
    return f"Only in {path}: {len(lacking)} questions{names}."


def _columns(found: QuestionScores, ids: Sequence[str], fields: Sequence[str]) -> dict[str, Values]:
    """The scores in the order of ``ids``, 0 for such as the run never reached."""
    place_of = {question_id: place for place, question_id in enumerate(ids)}
    places = np.array([place_of[question_id] for question_id in found.ids], dtype=np.intp)
    columns = {}
    for field in fields:
        columns[field] = np.zeros(len(ids))
        columns[field][places] = found.columns.get(field, np.nan)
    return columns


def _undefine(runs: Sequence[AlignedRun], fields: Sequence[str], nowhere: int) -> None:
    """A score that is not defined for a question is not 0 for a run that never reached it either.

    Of the last ``nowhere`` questions, which no run reached, it is not known: they count for the fields defined for
    all others.
    """
    for field in fields:
        undefined = np.any([np.isnan(run.scores[field]) for run in runs], axis=0)
        if undefined.any():
            undefined[len(undefined) - nowhere :] = True
        for run in runs:
            run.scores[field][undefined] = np.nan
