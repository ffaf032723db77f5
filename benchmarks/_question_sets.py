"""From the rows of a question set over entities to a benchmark: which are asked, which count all the same."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from kgqa_bench.contracts import BenchmarkData, OwnGraphs
from kgqa_bench.domain import Gold, Item, Question
from kgqa_bench.errors import ConfigError, DataError
from kgqa_bench.question_sets.model import SetQuestion
from kgqa_bench.run.split import SAMPLING_RULE, draw, split_hash

_log = logging.getLogger(__name__)

NOT_IN_THE_FILE = "not in the file"


def _topic(row: SetQuestion) -> dict[str, str]:
    return {"topic": row.topics[0]} if len(row.topics) == 1 else {}


def benchmark_data(
    rows: Iterable[SetQuestion],
    *,
    place: str,
    source: Mapping[str, Any],
    split: str,
    size: int | None,
    seed: int,
    official: int | None = None,
    solved: Callable[[], Iterable[SetQuestion]] | None = None,
    graphs: OwnGraphs | None = None,
    groups: Callable[[SetQuestion], Mapping[str, str]] = _topic,
) -> BenchmarkData:
    """The benchmark that asks ``rows``.

    Rows without a gold answer cannot be scored: they are left out, counted and told. Questions of the official split
    that are not there count as wrong where all are asked.

    Args:
        rows: The rows of the split.
        place: File or hub set, for messages.
        source: Where the rows come from, for the provenance.
        split: The split's name.
        size: Questions drawn by ``seed``; None for all.
        seed: Of the draws.
        official: How many questions with an answer the split's publishers count; None where that is not known.
        solved: Reads the rows that solved examples come from; those that are asked are left out.
        graphs: The rows' own graphs.
        groups: What tables are split by, see ``Gold.groups``; by default the topic entity of those that have one.

    Raises:
        DataError: Two rows have the same id.
        ConfigError: No row has a gold answer.
    """
    items, unscorable = _items(rows, place, groups)
    if not items:
        raise ConfigError(f"{place} has no question with a gold answer.")
    if unscorable:
        _log.warning("%s: %d rows have no gold answer and are not asked.", place, unscorable)
    drawn = list(items) if size is None or size >= len(items) else draw(items, seed)
    asked = tuple(items[question_id] for question_id in drawn[:size])
    taken = frozenset(item.question.id for item in asked)
    reader = solved

    @cache
    def exemplars() -> Sequence[Item]:
        assert reader is not None
        found, _unscorable = _items(reader(), place, lambda row: {})
        return [found[question_id] for question_id in draw(found.keys() - taken, seed)]

    provenance = {
        **source,
        "split": split,
        "rows": len(items),
        "rows without gold answer": unscorable,
        **({} if official is None else {"official questions": official}),
        "sampling": SAMPLING_RULE if len(asked) < len(items) else "all, in the set's order",
        "seed": seed,
        "split_hash": split_hash(asked),
    }
    unasked = {}
    if official is not None and official != len(items) and size is None:
        _log.warning("%s has %d of the %d official questions of the split %s.", place, len(items), official, split)
        if official > len(items):
            unasked = {NOT_IN_THE_FILE: official - len(items)}
    return BenchmarkData(asked, exemplars if solved is not None else None, provenance, graphs, unasked)


def _items(
    rows: Iterable[SetQuestion], place: str, groups: Callable[[SetQuestion], Mapping[str, str]]
) -> tuple[dict[str, Item], int]:
    """Items by id in the rows' order, and how many rows have no gold answer."""
    items: dict[str, Item] = {}
    unscorable = 0
    for row in rows:
        answers = tuple(dict.fromkeys(filter(None, row.answers)))
        if not answers:
            unscorable += 1
            continue
        item = Item(
            Question(row.id, row.text, "entities", topic_entities=row.topics), Gold(answers, groups=groups(row))
        )
        if items.setdefault(row.id, item) is not item:
            raise DataError("An earlier row has the same id.", file=place, line=row.line, row=row.id)
    return items, unscorable
