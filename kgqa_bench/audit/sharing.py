"""What questions of different splits share, and what is twice within one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from itertools import combinations
from typing import Any

from kgqa_bench.question_sets.model import Named, SetQuestion

SHARED = ("removed_triple", "topic_relation_direction", "question_text", "topics_and_answers")


class Sharing:
    """Collects what questions can have in common; each question is given once, and only its keys are kept."""

    def __init__(self) -> None:
        self._keys: dict[str, dict[str, list[tuple[str, frozenset[Hashable]]]]] = {kind: {} for kind in SHARED}
        self._texts: dict[str, Counter[str]] = defaultdict(Counter)
        self._ids: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, question: SetQuestion) -> None:
        """Take up a question."""
        plain = " ".join(question.text.split()).casefold()
        self._texts[question.split][plain] += 1
        self._ids[question.split][question.id] += 1
        for kind, keys in _keys(question, plain):
            if keys:
                self._keys[kind].setdefault(question.split, []).append((question.id, keys))

    def leakage(self, most_examples: int) -> dict[str, Any]:
        """By what is shared: rows of the later split that share it with any row of the earlier one.

        Splits of different parts of a set (``dev 1hop``, ``test 2hop``) are not compared.
        """
        splits = list(self._texts)
        pairs = [pair for pair in combinations(splits, 2) if _part(pair[0]) == _part(pair[1])]
        return {kind: {f"{a} - {b}": self._shared(kind, a, b, most_examples) for a, b in pairs} for kind in SHARED}

    def _shared(self, kind: str, first: str, second: str, most: int) -> dict[str, Any]:
        owners: dict[Hashable, str] = {}
        for row_id, keys in self._keys[kind].get(first, ()):
            for key in keys:
                owners.setdefault(key, row_id)
        rows = examples = 0
        shown: list[dict[str, str]] = []
        for row_id, keys in self._keys[kind].get(second, ()):
            common = keys & owners.keys()
            if common:
                rows += 1
                if examples < most:
                    examples += 1
                    shown.append({first: min(owners[key] for key in common), second: row_id})
        return {"rows": rows, "of": sum(self._texts[second].values()), "examples": shown}

    def duplicates(self, most_examples: int) -> dict[str, Any]:
        """Rows beyond the first with the same text, and with the same id, by split."""
        return {
            "same_text": {split: _beyond(count) for split, count in self._texts.items()},
            "same_id": {split: _beyond(count) for split, count in self._ids.items()},
            "examples": [
                {"split": split, "text": text, "rows": rows}
                for split, count in self._texts.items()
                for text, rows in count.most_common(most_examples)
                if rows > 1
            ][:most_examples],
        }


def _beyond(count: Counter[str]) -> int:
    return sum(count.values()) - len(count)


def _part(split: str) -> str:
    return split.partition(" ")[2]


def _keys(question: SetQuestion, plain: str) -> Iterator[tuple[str, frozenset[Hashable]]]:
    yield "removed_triple", frozenset(removed_triples(question))
    if question.relation is not None and question.asked is not None and question.topics:
        asked: Hashable = (question.topics[0], question.relation, question.asked)
        yield "topic_relation_direction", frozenset((asked,))
    yield "question_text", frozenset((plain,))
    if question.topics and question.answers:
        pair: Hashable = (frozenset(question.topics), frozenset(question.answers))
        yield "topics_and_answers", frozenset((pair,))


def removed_triples(question: SetQuestion) -> set[Named]:
    """The triple the question was made from, and those that would say its other hard answers directly."""
    if question.removed is None:
        return set()
    found = {question.removed}
    if question.relation is not None and question.asked is not None and question.topics:
        topic = question.topics[0]
        for answer in question.hard_answers:
            ends = (topic, answer) if question.asked == "tail" else (answer, topic)
            found.add((ends[0], question.relation, ends[1]))
    return found
