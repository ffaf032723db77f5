"""The state as the agent reads it, within a budget of tokens.

First what the last action brought, in the order of its observation, within half the budget; then the rest of C and
then of P, highest score first. The last line says how many are not shown. A token is taken as three characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .environment import Environment, Observation, State

_CHARACTERS_PER_TOKEN = 3


class Shown(NamedTuple):
    """What a state in words names: its first ``entities`` entities, and ids of paths."""

    entities: int
    paths: frozenset[str]


class Memory:
    """Writes states and observations of one episode."""

    def __init__(self, environment: Environment, tokens: int) -> None:
        self._environment = environment
        self._characters = tokens * _CHARACTERS_PER_TOKEN

    def observation(self, observation: Observation, state: State) -> tuple[str, set[str]]:
        """An observation in words, and the ids of the paths that it lists.

        Args:
            observation: What the last action brought.
            state: The state after it.
        """
        if observation.problem is not None:
            return f"Not done: {observation.text}", set()
        lines = [*self._reasoning(observation, state), *self._relation(observation, state)]
        shown, left = _within(lines, self._characters // 2)
        text = "\n".join([observation.text, *(line for _, line in shown)])
        return text + _left(left), {name for name, _ in shown}

    def state(self, state: State, listed: set[str], used: int) -> tuple[str, Shown]:
        """P, C and E in words, and what they name together with the observation.

        Args:
            state: The present state.
            listed: Ids that the observation lists already.
            used: Characters that the observation takes of the budget.
        """
        environment = self._environment
        room = max(self._characters - used, 0)
        entities, left = _within(
            ((str(each), environment.entity_text(each)) for each in state.entities),
            room // 4,
        )
        named = set(listed)
        sections = ["Entities reached: " + ("; ".join(text for _, text in entities) or "none") + _left(left)]
        room -= len(sections[0])
        ids = {path: f"C{at}" for at, path in enumerate(state.reasoning_paths, 1)}
        chains = environment.by_score(state.reasoning_paths)
        lines = [
            (ids[path], f"{ids[path]}: {environment.path_text(path)}") for path in chains if ids[path] not in listed
        ]
        shown, left = _within(lines, room)
        named |= {name for name, _ in shown}
        if lines:
            sections.append("\n".join(["Reasoning paths:", *(line for _, line in shown)]) + _left(left))
            room -= len(sections[-1])
        names = {path: f"P{at}" for at, path in enumerate(state.relation_paths, 1)}
        ranked = sorted(state.relation_paths, key=lambda path: -environment.relevance.score(path))
        lines = [
            (names[path], f"{names[path]}: {environment.vocabulary.path(path)}")
            for path in ranked
            if names[path] not in listed
        ]
        shown, left = _within(lines, room)
        named |= {name for name, _ in shown}
        if lines:
            sections.append("\n".join(["Relation paths:", *(line for _, line in shown)]) + _left(left))
        return "\n\n".join(sections), Shown(len(entities), frozenset(named))

    def within(self, lines: Sequence[str]) -> list[str]:
        """The first lines that fit into the budget, one at least."""
        shown, _ = _within(((line, line) for line in lines), self._characters)
        return [line for _, line in shown] or list(lines[:1])

    def _reasoning(self, observation: Observation, state: State) -> Iterable[tuple[str, str]]:
        ids = {path: f"C{at}" for at, path in enumerate(state.reasoning_paths, 1)}
        found = [path for path in observation.reasoning_paths if path in ids]
        for path in self._environment.by_score(found):
            yield ids[path], f"{ids[path]}: {self._environment.path_text(path)}"

    def _relation(self, observation: Observation, state: State) -> Iterable[tuple[str, str]]:
        ids = {path: f"P{at}" for at, path in enumerate(state.relation_paths, 1)}
        for path in observation.relation_paths:
            yield ids[path], f"{ids[path]}: {self._environment.vocabulary.path(path)}"


def _within(lines: Iterable[tuple[str, str]], characters: int) -> tuple[list[tuple[str, str]], int]:
    """The first lines that fit, and how many do not."""
    lines = list(lines)
    shown: list[tuple[str, str]] = []
    for name, line in lines:
        characters -= len(line) + 1
        if characters < 0:
            break
        shown.append((name, line))
    return shown, len(lines) - len(shown)


def _left(left: int) -> str:
    return f"\n({left} more, of lower score, not shown)" if left else ""
