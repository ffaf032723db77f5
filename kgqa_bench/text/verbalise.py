"""Triples and paths in words, for prompts and for the similarity of a path and a question.

One form throughout: ``head relation tail`` with the labels of the graph, inverse edges in stored direction, and
the triples of a path joined by ``"; "``. So the text of a path is the text of its prefix, the joint, and the text
of its last triple: a search can build texts by concatenation (``Verbaliser.extend``). The papers leave the form
open.

Labels come from files of others and end up in prompts, so anything that is not printable (line breaks, control
characters, direction marks) becomes a space, and over-long labels are cut.
"""

from __future__ import annotations

from kgqa_bench.graph.protocol import Edge, Graph, Path, Quad

JOINT = "; "
UNNAMED = "(unnamed)"
MAX_LABEL_LENGTH = 300


def plain_label(label: str) -> str:
    """The label on one line: only printable characters, single spaces, at most ``MAX_LABEL_LENGTH`` long."""
    if not label.isprintable():
        label = "".join(character if character.isprintable() else " " for character in label)
    label = " ".join(label.split())
    return label if len(label) <= MAX_LABEL_LENGTH else label[: MAX_LABEL_LENGTH - 1] + "…"


def entity_text(graph: Graph, entity: int) -> str:
    """An entity in words: its label, else its name, else ``(unnamed)``."""
    return plain_label(graph.entity_label(entity)) or plain_label(graph.entity_name(entity)) or UNNAMED


def relation_text(graph: Graph, relation: int) -> str:
    """A relation in words, to stand between head and tail."""
    return plain_label(graph.relation_label(relation)) or plain_label(graph.relation_name(relation)) or UNNAMED


def triple_text(graph: Graph, triple: Quad | Edge, with_confidence: bool = False) -> str:
    """One triple in stored direction: ``head relation tail``, then `` (confidence 0.71)`` if asked for."""
    head, tail = entity_text(graph, triple.head), entity_text(graph, triple.tail)
    text = f"{head} {relation_text(graph, triple.relation)} {tail}"
    return f"{text} (confidence {triple.confidence:.2f})" if with_confidence else text


def path_text(graph: Graph, path: Path) -> str:
    """A path as its triples in walking order, each in stored direction, joined by ``"; "``; "" if empty."""
    return JOINT.join(triple_text(graph, edge) for edge in path)


class Verbaliser:
    """Path texts of one graph, built step by step: equal to ``path_text``, without reading a label twice."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._relations = [relation_text(graph, relation) for relation in range(graph.num_relations)]
        self._entities: dict[int, str] = {}

    def entity(self, entity: int) -> str:
        """The entity's text, as ``entity_text``."""
        text = self._entities.get(entity)
        if text is None:
            text = self._entities[entity] = entity_text(self._graph, entity)
        return text

    def triple(self, head: int, relation: int, tail: int) -> str:
        """The triple's text, as ``triple_text`` without the confidence."""
        return f"{self.entity(head)} {self._relations[relation]} {self.entity(tail)}"

    def extend(self, prefix: str, triple: str) -> str:
        """The text of a path whose text so far is ``prefix`` ("" for the empty path), one triple further."""
        return f"{prefix}{JOINT}{triple}" if prefix else triple
