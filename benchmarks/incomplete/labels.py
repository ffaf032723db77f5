"""What the entities are called in a built benchmark."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from kgqa_bench.errors import ConfigError
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.text.verbalise import plain_label

LabelScheme = Literal["private", "id", "text"]

_SPARE = 4  # that many numbers to choose from for each one needed, so that they say nothing about each other


def entity_labels(graph: Graph, scheme: LabelScheme, seed: int) -> list[str]:
    """The labels of all entities by entity id; no two are equal.

    ``private``: integers of equally many digits, drawn by seed, that are no name and no label of the graph, be it of
    an entity or a relation, and stand in none of a relation, as questions repeat these. ``id``: the graph's names.
    ``text``: the graph's labels on one line each; entities that share a label all get their name behind it in
    brackets, ``Georgia (/m/0d0x8)``.

    Raises:
        ConfigError: Labels are asked for and the graph has none but its names.
    """
    names = [graph.entity_name(entity) for entity in range(graph.num_entities)]
    if scheme == "private":
        relations = range(graph.num_relations)
        worded = {*map(graph.relation_name, relations), *map(graph.relation_label, relations)}
        words = {number for text in worded for number in re.findall(r"\d+", text)}
        return _private(len(names), {*names, *graph.entity_labels(), *worded, *words}, seed)
    if scheme == "id":
        return names
    labels = list(graph.entity_labels())
    if labels == names:
        raise ConfigError(
            "The graph has no labels for its entities besides their names.", hint="Choose --labels id or private."
        )
    return _unique(names, [plain_label(label) or name for label, name in zip(labels, names, strict=True)])


def _private(count: int, taken: set[str], seed: int) -> list[str]:
    digits = 1
    while 9 * 10 ** (digits - 1) < _SPARE * count + len(taken):
        digits += 1
    numbers = range(10 ** (digits - 1), 10**digits)
    clashes = sum(len(text) == digits and text.isascii() and text.isdigit() for text in taken)
    drawn = random.Random(f"{seed}|labels").sample(numbers, min(count + clashes, len(numbers)))
    return [label for label in map(str, drawn) if label not in taken][:count]


def _unique(names: Sequence[str], labels: Sequence[str]) -> list[str]:
    shared = {label for label, count in Counter(labels).items() if count > 1}
    taken = set(labels)
    result = []
    for name, label in zip(names, labels, strict=True):
        if label in shared:
            label = f"{label} ({plain_label(name)})"
            while label in taken:
                label += f" ({plain_label(name)})"
            taken.add(label)
        result.append(label)
    return result
