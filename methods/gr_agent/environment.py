"""The environment of section 4: states, actions, the transition between states, and what the agent gets to see.

A state is (P, C, E): relation paths, reasoning paths and entities (section 4.2). ``explore`` adds to P, ``ground`` to
C and to E, ``synthesize`` ends the episode (section 4.3). An action that cannot be done changes nothing; the
observation says why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from kgqa_bench.graph.protocol import Graph, Path, RelationPath, Step
from kgqa_bench.text.verbalise import entity_text, path_text

from .actions import (
    Action,
    Explore,
    Ground,
    Problem,
    Refusal,
    Requested,
    Synthesize,
    argument,
    items,
    text,
    whole_number,
)
from .exploration import Relevance, confidence, explore, ground
from .settings import EnvironmentSettings
from .vocabulary import UnknownStepError, Vocabulary

TOOLS = ("explore", "ground", "synthesize")
_SHOWN = 60  # characters of what a model wrote that an observation repeats


class State(NamedTuple):
    """(P, C, E), each without repeats in the order found. ``P3`` and ``C3`` name the third of P and of C."""

    relation_paths: tuple[RelationPath, ...]
    reasoning_paths: tuple[Path, ...]
    entities: tuple[int, ...]


class Observation(NamedTuple):
    """What an action brought.

    Attributes:
        text: In a sentence, for the model.
        relation_paths: Those found, best first, known ones included.
        reasoning_paths: As ``relation_paths``.
        problem: Why nothing was done, else None.
        cut: Whether a cap left something out.
        new: Whether anything was added to the state.
    """

    text: str
    relation_paths: tuple[RelationPath, ...] = ()
    reasoning_paths: tuple[Path, ...] = ()
    problem: Problem | None = None
    cut: bool = False
    new: bool = True


class Environment:
    """The graph as the agent acts on it. Holds no state of an episode: states go in and come out."""

    def __init__(self, graph: Graph, relevance: Relevance, settings: EnvironmentSettings) -> None:
        self.graph, self.relevance, self.settings = graph, relevance, settings
        self.vocabulary = Vocabulary(graph)

    @staticmethod
    def start(topics: Sequence[int]) -> State:
        """The state in which an episode begins: the topic entities, nothing else."""
        return State((), (), tuple(dict.fromkeys(topics)))

    # -- the transition --------------------------------------------------------------------------------

    def step(self, state: State, action: Action) -> tuple[State, Observation]:
        """The transition T(s, a): the next state, and what the agent observes."""
        if isinstance(action, Explore):
            return self._explore(state, action)
        if isinstance(action, Ground):
            return self._ground(state, action)
        return state, Observation(f"{len(action.reasoning_paths)} reasoning paths are chosen to answer from.")

    def _explore(self, state: State, action: Explore) -> tuple[State, Observation]:
        found = explore(self.graph, action.entity, action.hop_limit, self.relevance, self.settings)
        after = state._replace(relation_paths=tuple(dict.fromkeys((*state.relation_paths, *found.paths))))
        new = len(after.relation_paths) - len(state.relation_paths)
        said = f"{len(found.paths)} relation paths of up to {action.hop_limit} steps, {new} of them new."
        said += " Ground those that may imply the answer" + ("." if new else ", or explore with a larger hop_limit.")
        if found.cut:
            said += " There are more; only the most relevant are kept."
        return after, Observation(said, tuple(found.paths), cut=found.cut, new=new > 0)

    def _ground(self, state: State, action: Ground) -> tuple[State, Observation]:
        taken = action.relation_paths[: self.settings.max_grounded]
        cut = len(taken) < len(action.relation_paths)
        said = [f"Only the first {len(taken)} relation paths were grounded."] if cut else []
        found: list[Path] = []
        for path in taken:
            grounded = ground(self.graph, action.entity, path, self.settings)
            found += grounded.paths
            if grounded.cut:
                cut = True
                said.append(f"{self.vocabulary.path(path)} has more than the {len(grounded.paths)} given.")
            elif not grounded.paths:
                said.append(f"{self.vocabulary.path(path)} leads nowhere from {self.entity_text(action.entity)}.")
        known = set(state.reasoning_paths)
        new = [path for path in dict.fromkeys(found) if path not in known]
        room = self.settings.max_reasoning_paths - len(state.reasoning_paths)
        if len(new) > room:
            cut, new = True, self.by_score(new)[:room]
            said.append("The memory of reasoning paths is full.")
        reached = (edge.target for path in new for edge in path)
        after = State(
            tuple(dict.fromkeys((*state.relation_paths, *map(relation_path, found)))),
            (*state.reasoning_paths, *new),
            tuple(dict.fromkeys((*state.entities, *reached))),
        )
        said.insert(0, f"{len(found)} reasoning paths, {len(new)} of them new.")
        if state.reasoning_paths or new:
            said.append("Synthesize once they suffice; else ground other paths, or explore from an entity reached.")
        return after, Observation(" ".join(said), reasoning_paths=tuple(dict.fromkeys(found)), cut=cut, new=bool(new))

    # -- scores ----------------------------------------------------------------------------------------

    def score(self, path: Path) -> float:
        """The score of a reasoning path: that of its relation path times the confidences of its triples."""
        return self.relevance.score(relation_path(path)) * confidence(path)

    def by_score(self, paths: Sequence[Path]) -> list[Path]:
        """Reasoning paths, highest score first, equal ones in the order given."""
        return sorted(paths, key=lambda path: -self.score(path))

    # -- text ------------------------------------------------------------------------------------------

    def entity_text(self, entity: int) -> str:
        """An entity's label on one line."""
        return entity_text(self.graph, entity)

    def entity_names(self, entities: Sequence[int]) -> dict[int, str]:
        """What to call each of some entities: its label, or its name where another's label is the same."""
        labels = {each: self.entity_text(each) for each in entities}
        shared = Counter(label.casefold() for label in labels.values())
        return {
            each: label if shared[label.casefold()] == 1 else self.graph.entity_name(each)
            for each, label in labels.items()
        }

    def path_text(self, path: Path) -> str:
        """A reasoning path as triples in stored direction."""
        return path_text(self.graph, path)

    # -- reading ---------------------------------------------------------------------------------------

    def read(self, requested: Requested, state: State) -> Action:
        """An action that a model wrote, checked against graph and state. Refusal where it cannot be done."""
        if requested.name == "explore":
            hops = whole_number(requested, "hop_limit", self.settings.hop_limit)
            return Explore(self._entity(text(requested, "entity"), state), hops)
        if requested.name == "ground":
            paths = tuple(self._relation_path(each, state) for each in items(requested, "relation_paths"))
            if not paths:
                raise Refusal("wrong arguments", "relation_paths is empty.")
            return Ground(self._entity(text(requested, "entity"), state), tuple(dict.fromkeys(paths)))
        if requested.name == "synthesize":
            chosen = tuple(self._reasoning_path(each, state) for each in items(requested, "path_ids"))
            return Synthesize(tuple(dict.fromkeys(chosen)), str(argument(requested, "question")))
        raise Refusal("unknown tool", f"there is no tool {_shown(requested.name)}. The tools are {', '.join(TOOLS)}.")

    def _entity(self, written: str, state: State) -> int:
        entity = self.graph.find_entity(written)
        if entity in state.entities:
            return entity
        folded = written.casefold()
        same = [each for each in state.entities if self.entity_text(each).casefold() == folded]
        if len(same) == 1:
            return same[0]
        if same:
            names = ", ".join(self.graph.entity_name(each) for each in same)
            raise Refusal("ambiguous entity", f"several entities are called {_shown(written)}: use one of {names}.")
        if entity is None and not any(
            self.entity_text(each).casefold() == folded for each in self.graph.search_labels(written, 3)
        ):
            raise Refusal("unknown entity", f"the graph has no entity {_shown(written)}.")
        raise Refusal("entity not reached", f"{_shown(written)} has not been reached yet.")

    def _relation_path(self, written: object, state: State) -> RelationPath:
        """A path by its id, as text, or as a list of tokens; one not explored is taken if short enough."""
        if isinstance(written, str) and (at := _number(written, "P", len(state.relation_paths))) is not None:
            return state.relation_paths[at]
        if isinstance(written, list | tuple) and not all(isinstance(each, str) for each in written):
            raise Refusal("wrong arguments", "a relation path is an id such as P1, or a list of relations.")
        if not isinstance(written, str | list | tuple):
            raise Refusal("wrong arguments", "a relation path is an id such as P1, or a list of relations.")
        try:
            path = self.vocabulary.read_path(written)
        except UnknownStepError as unknown:
            raise Refusal("unknown relation", f"the graph has no relation {_shown(str(unknown))}.") from None
        if not 1 <= len(path) <= self.settings.hop_limit:
            raise Refusal("wrong arguments", f"a relation path has 1 to {self.settings.hop_limit} steps.")
        if not self.settings.inverse_steps and any(step.inverse for step in path):
            raise Refusal("wrong arguments", "edges cannot be walked backwards here.")
        return path

    def _reasoning_path(self, written: object, state: State) -> Path:
        at = _number(written, "C", len(state.reasoning_paths)) if isinstance(written, str) else None
        if at is None:
            raise Refusal("unknown path", f"there is no reasoning path {_shown(str(written))}.")
        return state.reasoning_paths[at]


def relation_path(path: Path) -> RelationPath:
    """The relation path that a reasoning path grounds."""
    return tuple(Step(edge.relation, edge.inverse) for edge in path)


def _number(written: str, letter: str, size: int) -> int | None:
    """The place that an id such as ``P3`` names, from 0; None where it is none."""
    written = written.strip()
    digits = written[1:]
    if written[:1].upper() != letter or not digits.isascii() or not digits.isdecimal() or len(digits) > 9:
        return None
    return int(digits) - 1 if 1 <= int(digits) <= size else None


def _shown(written: str) -> str:
    written = " ".join(written.split())
    return repr(written if len(written) <= _SHOWN else written[:_SHOWN] + "…")
