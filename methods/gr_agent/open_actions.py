"""Which actions are open: they can be done in the present state, and have not been done.

A model of a hundred million parameters repeats its first action for ever. Where a reply's schema is enforced, one
that names open actions alone keeps such a model moving without choosing for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

from kgqa_bench.graph.protocol import RelationPath

from .actions import Action, Explore, Ground
from .environment import Environment, Observation, State
from .memory import Shown
from .wire import action, one_of, some_of

T = TypeVar("T")


class OpenActions(NamedTuple):
    """What may be done next.

    Attributes:
        explore: Hop limits by entity, as it is shown.
        ground: Ids of relation paths by entity.
        synthesize: Ids of reasoning paths.
    """

    explore: dict[str, list[int]]
    ground: dict[str, list[str]]
    synthesize: list[str]

    def schema(self, question: str, most: int) -> dict[str, Any]:
        """JSON schema of a reply that is one of these actions; ``ground`` takes up to ``most`` relation paths."""
        ids = self.synthesize
        return one_of(
            [
                *(
                    action("explore", {"entity": _only(entity), "hop_limit": {"type": "integer", "enum": hops}})
                    for entity, hops in self.explore.items()
                ),
                *(
                    action("ground", {"entity": _only(entity), "relation_paths": some_of(paths, most)})
                    for entity, paths in self.ground.items()
                ),
                *(
                    [action("synthesize", {"path_ids": some_of(ids, len(ids)), "question": _only(question)})]
                    if ids
                    else []
                ),
            ]
        )


class Done:
    """What was done in an episode: hop limits explored, and paths found but not grounded, by entity."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._hops: dict[int, int] = {}
        self._found: dict[int, dict[RelationPath, None]] = {}

    def add(self, done: Action, observation: Observation) -> None:
        """Take note of an action and what it brought."""
        if isinstance(done, Explore):
            self._hops[done.entity] = max(done.hop_limit, self._hops.get(done.entity, 0))
            self._found.setdefault(done.entity, {}).update(dict.fromkeys(observation.relation_paths))
        elif isinstance(done, Ground):
            for path in done.relation_paths:
                self._found.get(done.entity, {}).pop(path, None)

    def open(self, state: State, shown: Shown) -> OpenActions:
        """The open actions that name nothing but what a prompt shows.

        A hop limit is open above the largest one explored; a relation path from the entity where it was found.
        """
        environment, most = self._environment, self._environment.settings.hop_limit
        names = environment.entity_names(state.entities[: shown.entities])
        ids = {path: f"P{at}" for at, path in enumerate(state.relation_paths, 1)}
        chains = [f"C{at}" for at in range(1, len(state.reasoning_paths) + 1)]
        explore = {name: list(range(self._hops.get(each, 0) + 1, most + 1)) for each, name in names.items()}
        ground = {
            name: _shown((ids[path] for path in self._found.get(each, ())), shown) for each, name in names.items()
        }
        return OpenActions(_filled(explore), _filled(ground), _shown(chains, shown))


def _only(value: str) -> dict[str, Any]:
    return {"type": "string", "enum": [value]}


def _shown(ids: Iterable[str], shown: Shown) -> list[str]:
    return [each for each in ids if each in shown.paths]


def _filled(lists: dict[str, list[T]]) -> dict[str, list[T]]:
    return {name: values for name, values in lists.items() if values}
