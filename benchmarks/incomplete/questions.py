"""From kept groundings to questions without words: topics, complete answers, hard answers, hops; and the draws."""

from __future__ import annotations

import random
from collections.abc import Sequence, Set
from dataclasses import dataclass

from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.horn.rule import MinedRule, Rule

from .drawing import drawn_evenly
from .model import Ask, Draft, Fact, Grounding


@dataclass(frozen=True)
class Drafts:
    """Questions, and what became of the other removed triples.

    Attributes:
        drafts: The questions, in the order of removal.
        merged: Removed triples that ask what an earlier one asks.
        too_many_answers: Distinct questions left out because they have more answers than allowed.
    """

    drafts: list[Draft]
    merged: int
    too_many_answers: int


def make_drafts(
    graph: MemoryGraph, kept: Sequence[Grounding], removed: Set[Fact], seed: int, max_answers: int | None = None
) -> Drafts:
    """A question for each distinct (topic, relation, asked end) of the removed triples.

    Args:
        graph: The complete graph.
        kept: The kept groundings in the order of removal; the first of a question is its primary one.
        removed: All removed triples.
        seed: Seeds the draw of the topics, see ``ask_of``.
        max_answers: Most answers of a question; None takes any.
    """
    drafts: list[Draft] = []
    asks: set[Ask] = set()
    too_many = 0
    for grounding in kept:
        ask = ask_of(grounding.head, seed)
        primary = grounding.head.tail if ask.asked == "tail" else grounding.head.head
        if ask in asks:
            continue
        asks.add(ask)
        answers = answers_of(graph, ask)
        if max_answers is not None and len(answers) > max_answers:
            too_many += 1
            continue
        hard = tuple(answer for answer in answers if ask.triple(answer) in removed)
        drafts.append(Draft(ask, grounding, primary, answers, hard, hops_of(grounding)))
    return Drafts(drafts, len(kept) - len(asks), too_many)


def ask_of(fact: Fact, seed: int) -> Ask:
    """What is asked of a removed triple: its head or its tail with equal chance, drawn by the seed and the triple."""
    head, relation, tail = fact
    if random.Random(f"{seed}|topic|{head} {relation} {tail}").random() < 0.5:
        return Ask(head, relation, "tail")
    return Ask(tail, relation, "head")


def answers_of(graph: MemoryGraph, ask: Ask) -> tuple[int, ...]:
    """All answers that the graph's triples give directly, ascending."""
    near = graph.neighbours(ask.topic, "out" if ask.asked == "tail" else "in", ask.relation)
    return tuple(sorted(near.entities.tolist()))


def hops_of(grounding: Grounding) -> int:
    """Body triples on the shortest way between head and tail in any direction; 0 where they do not join them."""
    reached = frontier = {grounding.head.head}
    hops = 0
    while frontier and grounding.head.tail not in reached:
        hops += 1
        there = {fact.tail for fact in grounding.body if fact.head in frontier}
        back = {fact.head for fact in grounding.body if fact.tail in frontier}
        frontier = (there | back) - reached
        reached = reached | frontier
    return hops if grounding.head.tail in reached else 0


def draw_rules(rules: Sequence[MinedRule], max_rules: int | None, seed: int) -> list[MinedRule]:
    """Up to ``max_rules`` rules, evenly over the rule types, in the order given."""
    return drawn_evenly(
        rules, max_rules, lambda mined: mined.rule.type, lambda mined: str(mined.rule), f"{seed}|rules"
    )


def draw_questions(
    drafts: Sequence[Draft], rules: Sequence[Rule], max_questions: int | None, seed: int
) -> list[Draft]:
    """Up to ``max_questions`` questions, evenly over the types of their rules, in the order given."""
    return drawn_evenly(
        drafts,
        max_questions,
        lambda draft: rules[draft.grounding.rule].type,
        lambda draft: draft.ask,
        f"{seed}|questions",
    )
