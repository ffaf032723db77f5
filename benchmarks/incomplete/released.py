"""The published procedure of GR-Agent's benchmark, with its defects, for comparison.

Released pipeline of BRINK (arXiv 2508.08344), as its code has it: the first groundings of each rule, all rows dropped
whose head is needed by another, the split drawn over rows, and answers that are the tails of the removed triple's
head whichever end is asked for.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import islice

from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.horn.rule import Atom, Rule, X, Y

from .model import Ask, Draft, Fact, Grounding, Split
from .questions import answers_of, hops_of

_SEED = 42
_Atom = tuple[int, int, int]  # relation, subject variable, object variable


def first_groundings(graph: MemoryGraph, rules: Sequence[Rule], count: int) -> list[Grounding]:
    """The first ``count`` groundings of each rule, enumerated from its body.

    The published code takes body matches in the order of the facts' file; which order that was cannot be recovered,
    so all triples are put into one shuffled order that stands for it. A rule's groundings are ordered by the triple
    of its first body atom, then by those of the next atom that is joined to it. The head triple is none of the body.
    """
    source = _Facts(graph)
    found: list[Grounding] = []
    for number, rule in enumerate(rules):
        atoms = [
            (graph.relation(atom.relation), atom.subject, atom.object) for atom in (*rule.body, Atom(rule.head, X, Y))
        ]
        found += islice(source.groundings(number, atoms), count)
    return found


class _Facts:
    """The triples in the order that stands for the file's, also by their ends."""

    def __init__(self, graph: MemoryGraph) -> None:
        heads, relations, tails, _confidences = graph.columns()
        columns = (column.tolist() for column in (heads, relations, tails))
        self._all = [Fact(*row) for row in zip(*columns, strict=True)]
        random.Random(_SEED).shuffle(self._all)
        self._known = set(self._all)
        self._by: dict[tuple[int, int | None, int | None], list[Fact]] = {}
        for fact in self._all:
            for key in (
                (fact.relation, None, None),
                (fact.relation, fact.head, None),
                (fact.relation, None, fact.tail),
            ):
                self._by.setdefault(key, []).append(fact)

    def groundings(self, number: int, atoms: Sequence[_Atom]) -> Iterator[Grounding]:
        """The groundings of a rule; its head is the last atom."""
        for facts in self._match(list(enumerate(atoms)), {}, {}):
            *body, head = (facts[place] for place in range(len(atoms)))
            if head not in body:
                yield Grounding(number, head, tuple(body))

    def _match(
        self, left: list[tuple[int, _Atom]], bound: dict[int, int], facts: dict[int, Fact]
    ) -> Iterator[dict[int, Fact]]:
        if not left:
            yield facts
            return
        # the first atom with both ends bound, else with one, else the first
        at = min(range(len(left)), key=lambda at: -sum(variable in bound for variable in left[at][1][1:]))
        place, (relation, subject, object_) = left[at]
        head, tail = bound.get(subject), bound.get(object_)
        rest = left[:at] + left[at + 1 :]
        if head is not None and tail is not None:
            fact = Fact(head, relation, tail)
            if fact in self._known:
                yield from self._match(rest, bound, {**facts, place: fact})
            return
        for fact in self._by.get((relation, head, tail), ()):
            yield from self._match(rest, {**bound, subject: fact.head, object_: fact.tail}, {**facts, place: fact})


def cross_filtered(groundings: Iterable[Grounding]) -> list[Grounding]:
    """The rows whose head triple is in the body of no row, the rows that are dropped included."""
    rows = list(groundings)
    bodies = {fact for row in rows for fact in row.body}
    return [row for row in rows if row.head not in bodies]


def row_split(count: int) -> list[Split]:
    """The split of each of ``count`` rows: a shuffle, then int(0.8 n) train, int(0.1 n) validation, the rest test."""
    order = list(range(count))
    random.Random(_SEED).shuffle(order)
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
