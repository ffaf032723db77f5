"""The published procedure of GR-Agent's benchmark, with its defects, for comparison.

Released pipeline of BRINK (arXiv 2508.08344), as its code has it: all groundings whose head is needed by another are
dropped, the split is drawn over rows, and answers are the tails of the removed triple's head whichever end is asked
for.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence, Set

from kgqa_bench.graph.memory import MemoryGraph

from .model import Ask, Draft, Fact, Grounding, Split
from .questions import answers_of, hops_of

_SPLIT_SEED = 42


def cross_filtered(groundings: Iterable[Grounding]) -> list[Grounding]:
    """The rows whose head triple is in the body of no row, the rows that are dropped included."""
    rows = list(groundings)
    bodies = {fact for row in rows for fact in row.body}
    return [row for row in rows if row.head not in bodies]


def row_split(count: int) -> list[Split]:
    """The split of each of ``count`` rows: a shuffle, then int(0.8 n) train, int(0.1 n) validation, the rest test."""
    order = list(range(count))
    random.Random(_SPLIT_SEED).shuffle(order)
    train, validation = int(0.8 * count), int(0.1 * count)
    splits: list[Split] = ["test"] * count
    for place, row in enumerate(order[: train + validation]):
        splits[row] = "train" if place < train else "validation"
    return splits


def released_drafts(graph: MemoryGraph, rows: Sequence[Grounding], removed: Set[Fact], seed: int) -> list[Draft]:
    """A question for each row, split included; duplicates stay, and ``answers`` may be those of another question.

    Args:
        graph: The complete graph.
        rows: The rows that are left of the cross-filter.
        removed: All removed triples.
        seed: Seeds the draw of the topics.
    """
    chance = random.Random(f"{seed}|topics")
    drafts = []
    for row, split in zip(rows, row_split(len(rows)), strict=True):
        head, relation, tail = row.head
        ask, primary = (Ask(head, relation, "tail"), tail)
        if chance.random() < 0.5:
            ask, primary = (Ask(tail, relation, "head"), head)
        forward = Ask(head, relation, "tail")
        answers = answers_of(graph, forward)
        hard = tuple(answer for answer in answers if forward.triple(answer) in removed)
        drafts.append(Draft(ask, row, primary, answers, hard, hops_of(row), split=split))
    return drafts
