"""Answers in words as entity names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kgqa_bench.graph.protocol import Graph
from kgqa_bench.text.verbalise import entity_text

_SEARCHED = 5


class NamedAnswers(NamedTuple):
    """Entity names without repeats, and what was found about them.

    Attributes:
        values: Names, in the order answered; an answer that names no entity, or one of several, stays as written.
        ambiguous: Answers that are the label of several entities, none of which a path told apart.
        unknown: Answers that are neither name nor label of an entity.
    """

    values: tuple[str, ...]
    ambiguous: tuple[str, ...]
    unknown: tuple[str, ...]


def name_answers(graph: Graph, answers: Iterable[str], near: Sequence[Sequence[int]]) -> NamedAnswers:
    """Look answers up in the graph: by name, then by label among ``near``, then by label in the whole graph.

    Args:
        graph: The graph.
        answers: As the model wrote them.
        near: Sets of entities in the order they are looked through: those of the chosen paths, then all reached.
    """
    values, ambiguous, unknown = [], [], []
    for answer in answers:
        entities = _find(graph, answer, near)
        values.append(graph.entity_name(entities[0]) if len(entities) == 1 else answer)
        if not entities:
            unknown.append(answer)
        elif len(entities) > 1:
            ambiguous.append(answer)
    return NamedAnswers(tuple(dict.fromkeys(values)), tuple(ambiguous), tuple(unknown))


def _find(graph: Graph, answer: str, near: Sequence[Sequence[int]]) -> list[int]:
    named = graph.find_entity(answer)
    if named is not None:
        return [named]
    folded = answer.casefold()
    for entities in (*near, graph.search_labels(answer, _SEARCHED)):
        found = [each for each in dict.fromkeys(entities) if entity_text(graph, each).casefold() == folded]
        if found:
            return found
    return []
