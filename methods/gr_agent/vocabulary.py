r"""Relation paths as text that a model can read and write back.

A forward step is the relation's label, an inverse step the same behind ``^``; steps are joined by `` -> ``. So that
no relation can be taken for another's inverse, a label that itself begins with ``^`` or ``\`` gets a ``\`` in front.
A relation whose label another one shares is written by its name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kgqa_bench.graph.protocol import Graph, RelationPath, Step
from kgqa_bench.text.verbalise import plain_label, relation_text

JOINT = " -> "
INVERSE = "^"
_ESCAPE = "\\"


class UnknownStepError(ValueError):
    """A step names no relation of the graph."""


class Vocabulary:
    """The relation tokens of one graph."""

    def __init__(self, graph: Graph) -> None:
        names = [graph.relation_name(relation) for relation in range(graph.num_relations)]
        labels = [relation_text(graph, relation) for relation in range(graph.num_relations)]
        shared, named = Counter(labels), {plain_label(name): relation for relation, name in enumerate(names)}
        self._tokens: list[str] = []
        for relation, (name, label) in enumerate(zip(names, labels, strict=True)):
            clear = shared[label] == 1 and named.get(label, relation) == relation
            self._tokens.append(_escaped(label if clear else name))
        self._steps = {_escaped(name): Step(relation) for relation, name in enumerate(names)}
        self._steps |= {token: Step(relation) for relation, token in enumerate(self._tokens)}
        folded = Counter(token.casefold() for token in self._tokens)
        self._folded = {
            token.casefold(): Step(relation)
            for relation, token in enumerate(self._tokens)
            if folded[token.casefold()] == 1
        }

    def step(self, step: Step) -> str:
        """The token of a step."""
        return (INVERSE if step.inverse else "") + self._tokens[step.relation]

    def path(self, path: RelationPath) -> str:
        """The text of a relation path."""
        return JOINT.join(map(self.step, path))

    def read_step(self, text: str) -> Step:
        """The step that a token stands for, whatever its case where that is clear. UnknownStepError else."""
        text = text.strip()
        bare = text.removeprefix(INVERSE)
        found = self._steps.get(bare) or self._folded.get(bare.casefold())
        if found is None:
            raise UnknownStepError(text)
        return Step(found.relation, bare != text)

    def read_path(self, written: str | Sequence[str]) -> RelationPath:
        """The relation path that a text or a list of tokens stands for. UnknownStepError where it is none."""
        if not isinstance(written, str):
            return tuple(map(self.read_step, written))
        try:
            return (self.read_step(written),)
        except UnknownStepError:
            parts = written.split(JOINT.strip())
            if len(parts) == 1:
                raise
            return tuple(map(self.read_step, parts))


def _escaped(text: str) -> str:
    return _ESCAPE + text if text.startswith((INVERSE, _ESCAPE)) else text
