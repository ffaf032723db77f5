"""The audit of a question set as one JSON-able report."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from kgqa_bench.audit.direction import VERDICTS, DirectionCheck
from kgqa_bench.audit.distance import Reach, SharedGraph, reach_in
from kgqa_bench.audit.sharing import Sharing
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.question_sets.model import QuestionSet, SetQuestion

FORMAT = 1
MOST_EXAMPLES = 5
FAR = 4
"""Distances from here on are counted as one."""

HOPS = (*map(str, range(FAR)), f"{FAR}+", "none")
ANSWER_COUNTS = ((0, 0), (1, 1), (2, 5), (6, 10), (11, 20), (21, 100))
TWINS = ("same_relation", "another_relation", "none")

Progress = Callable[[int], None]


def audit_set(question_set: QuestionSet, hops: int, progress: Progress | None = None) -> dict[str, Any]:
    """What is wrong with a question set, and how it is distributed.

    Questions are read once and in order; of those with a graph of their own only one is in memory at a time.

    Args:
        question_set: The set, see ``kgqa_bench.question_sets.find``.
        hops: Triples between topic and answer up to which an answer counts as reachable.
        progress: Told how many questions are done.

    Returns:
        A report of JSON-able values with the same keys for every set. Where something cannot be checked, because
        the set does not say enough or has no graph, ``checked`` is 0. ``defects`` sums up.

    Raises:
        DataNotFoundError, DataError: A file is missing or malformed.
    """
    seen = question_set.seen() if question_set.seen is not None else None
    complete = question_set.complete() if question_set.complete is not None else seen
    count = _Counts(hops)
    sharing = Sharing()
    shared = SharedGraph(seen) if seen is not None else None
    direction = DirectionCheck(complete, question_set.form == "built") if complete is not None else None
    for number, question in enumerate(question_set.rows(), 1):
        count.question(question)
        sharing.add(question)
        if question.kind == "entities":
            if question.triples is not None:
                count.own_graph(question)
                count.reach(question, reach_in(question.triples, question.topics, question.answer_entities))
            elif shared is not None:
                count.reach(question, shared.reach(question.topics, question.answer_entities))
        if direction is not None:
            count.direction(question, direction)
        if seen is not None:
            count.removed(question, seen)
        if progress is not None and number % 100 == 0:
            progress(number)
    report: dict[str, Any] = {"format": FORMAT, "form": question_set.form, **count.report()}
    report["leakage"] = sharing.leakage(MOST_EXAMPLES)
    report["duplicates"] = sharing.duplicates(MOST_EXAMPLES)
    report["graph"] = _graph_figures(seen, complete)
    report["defects"] = _defects(report)
    return report


class _Counts:
    """Counts over the questions."""

    def __init__(self, hops: int) -> None:
        self.hops = hops
        self.splits: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.sizes: list[int] = []
        self.gold: Counter[str] = Counter({"empty": 0, "with_duplicates": 0, "with_commas": 0})
        self.without_topic = 0
        self.reached: Counter[str] = Counter()
        self.unreachable: Counter[str] = Counter()
        self.absent: Counter[str] = Counter({"topic": 0, "some_answer": 0, "every_answer": 0})
        self.far: list[dict[str, Any]] = []
        self.verdicts: Counter[str] = Counter()
        self.wordings: Counter[str] = Counter({"known": 0, "reversed": 0})
        self.misdirected: list[dict[str, Any]] = []
        self.twins: Counter[str] = Counter()
        self.stated: dict[str, Counter[str]] = {}
        self.still_there = 0
        self.own: dict[str, list[int]] = {"triples": [], "entities": []}

    def question(self, question: SetQuestion) -> None:
        """What can be said of a question by itself."""
        self.splits[question.split] += 1
        self.kinds[question.kind] += 1
        answers = set(question.answers)
        self.sizes.append(len(answers))
        self.gold["empty"] += not answers
        self.gold["with_duplicates"] += len(answers) < len(question.answers)
        self.gold["with_commas"] += any("," in answer for answer in answers)
        self.without_topic += question.kind == "entities" and not question.topics

    def own_graph(self, question: SetQuestion) -> None:
        """The size of a question's own graph."""
        triples = set(question.triples or ())
        self.own["triples"].append(len(triples))
        self.own["entities"].append(len({triple[0] for triple in triples} | {triple[2] for triple in triples}))

    def reach(self, question: SetQuestion, reach: Reach) -> None:
        """Where a question's topics and answers lie."""
        hops = "none" if reach.hops is None else str(reach.hops) if reach.hops < FAR else f"{FAR}+"
        self.reached[hops] += 1
        self.absent["topic"] += bool(reach.missing_topics)
        self.absent["some_answer"] += bool(reach.missing_answers)
        gone = len(set(reach.missing_answers)) == len(set(question.answer_entities)) > 0
        self.absent["every_answer"] += gone
        if reach.hops is None or reach.hops > self.hops:
            self.unreachable[question.split] += 1
            if len(self.far) < MOST_EXAMPLES:
                missing = {
                    "topics": list(reach.missing_topics),
                    "answers": list(reach.missing_answers[:MOST_EXAMPLES]),
                }
                self.far.append(_example(question) | {"hops": reach.hops, "not_in_graph": missing})

    def direction(self, question: SetQuestion, check: DirectionCheck) -> None:
        """Whether the gold answers are what is asked for."""
        found = check.check(question)
        if found is None:
            return
        self.verdicts[found.verdict] += 1
        self.wordings["known"] += found.worded is not None
        self.wordings["reversed"] += found.reversed
        if (found.verdict != "right" or found.reversed) and len(self.misdirected) < MOST_EXAMPLES:
            self.misdirected.append(
                _example(question)
                | {"asked": found.asked, "verdict": found.verdict, "reversed": found.reversed}
                | {"gold": len(set(question.answers)), "expected": found.expected}
            )

    def removed(self, question: SetQuestion, seen: MemoryGraph) -> None:
        """What is left between the ends of the removed triple."""
        if question.removed is None:
            return
        head, tail = seen.find_entity(question.removed[0]), seen.find_entity(question.removed[2])
        relation = seen.find_relation(question.removed[1])
        left: set[int] = set()
        if head is not None and tail is not None:
            back = seen.neighbours(tail, "out")
            left = set(back.relations[back.entities == head].tolist())
            self.still_there += relation is not None and seen.has_triple(head, relation, tail)
        twin = "none" if not left else "same_relation" if relation in left else "another_relation"
        self.twins[twin] += 1
        self.stated.setdefault(question.twin or "not stated", Counter())[twin] += 1

    def report(self) -> dict[str, Any]:
        """The counts, by stable keys."""
        judged = sum(self.verdicts.values())
        reached = sum(self.reached.values())
        return {
            "questions": {
                "total": sum(self.splits.values()),
                "by_split": dict(self.splits),
                "by_kind": dict(self.kinds),
                "without_topic": self.without_topic,
            },
            "gold": {**self.gold, "answers_per_question": _spread(self.sizes) | {"counts": _counts(self.sizes)}},
            "direction": {
                "checked": judged,
                "wrong": judged - self.verdicts["right"],
                "verdicts": {verdict: self.verdicts[verdict] for verdict in VERDICTS},
                "wording_known": self.wordings["known"],
                "wording_reversed": self.wordings["reversed"],
                "examples": self.misdirected,
            },
            "reach": {
                "checked": reached,
                "within_hops": self.hops,
                "unreachable": sum(self.unreachable.values()),
                "unreachable_by_split": {split: self.unreachable[split] for split in self.splits},
                "by_hops": {hops: self.reached[hops] for hops in HOPS},
                "not_in_graph": dict(self.absent),
                "examples": self.far,
            },
            "removed": {"checked": sum(self.twins.values()), "still_in_graph": self.still_there},
            "twins": {
                "checked": sum(self.twins.values()),
                **{twin: self.twins[twin] for twin in TWINS},
                "by_stated": {
                    stated: {twin: found[twin] for twin in TWINS} for stated, found in sorted(self.stated.items())
                },
            },
            "own_graphs": {"questions": len(self.own["triples"])}
            | {what: _spread(sizes) for what, sizes in self.own.items()},
        }


def _defects(report: dict[str, Any]) -> dict[str, int]:
    """Questions with what no sound set has, by what it is; sharing is summed over the pairs of splits.

    Twins, commas and equal sets of answers are not defects.
    """
    leaks = {kind: sum(pair["rows"] for pair in pairs.values()) for kind, pairs in report["leakage"].items()}
    return {
        "direction_errors": report["direction"]["wrong"],
        "reversed_wordings": report["direction"]["wording_reversed"],
        "unreachable_answers": report["reach"]["unreachable"],
        "removed_triple_still_in_graph": report["removed"]["still_in_graph"],
        "removed_triple_shared_between_splits": leaks["removed_triple"],
        "topic_relation_direction_shared_between_splits": leaks["topic_relation_direction"],
        "question_text_shared_between_splits": leaks["question_text"],
        "same_text_within_split": sum(report["duplicates"]["same_text"].values()),
        "same_id_within_split": sum(report["duplicates"]["same_id"].values()),
        "empty_gold": report["gold"]["empty"],
        "duplicate_gold": report["gold"]["with_duplicates"],
    }


def _graph_figures(seen: MemoryGraph | None, complete: MemoryGraph | None) -> dict[str, Any]:
    if seen is None or complete is None:
        return {}
    from kgqa_bench.graph.whole import statistics as whole

    return {"seen": whole(seen), "complete_triples": complete.num_triples}


def _example(question: SetQuestion) -> dict[str, Any]:
    return {"split": question.split, "id": question.id, "question": question.text, "topics": list(question.topics)}


def _spread(sizes: list[int]) -> dict[str, float]:
    if not sizes:
        return {"mean": 0.0, "median": 0, "90 %": 0, "most": 0}
    ordered = sorted(sizes)
    return {
        "mean": round(statistics.fmean(ordered), 3),
        "median": ordered[(len(ordered) - 1) // 2],
        "90 %": ordered[(9 * len(ordered) + 9) // 10 - 1],
        "most": ordered[-1],
    }


def _counts(sizes: Iterable[int]) -> dict[str, int]:
    names = {
        bounds: str(bounds[0]) if bounds[0] == bounds[1] else f"{bounds[0]}-{bounds[1]}" for bounds in ANSWER_COUNTS
    }
    more = f"{ANSWER_COUNTS[-1][1] + 1}+"
    found = Counter(
        next((name for (low, high), name in names.items() if low <= size <= high), more) for size in sizes
    )
    return {name: found[name] for name in (*names.values(), more)}
