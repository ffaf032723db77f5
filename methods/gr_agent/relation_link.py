"""Which relation a question asks for, and whether its topic is the head or the tail: from its words alone.

The relation is the one whose words have most in common with the question's (topic entities left out): the sum of the
squared idf weights of the words they share over the length of the relation's vector, idf over the graph's relations.
A word of the relation that the question lacks counts half where both begin with the same five letters ("nominee",
"nominated"). Relations of equal score are told apart by what the topic is, see ``Typing``.

The side of the topic is told by typing where one side is three times as likely as the other, else by the words: a
topic that stands behind most of the relation's words is the tail ("the mother of X"), one before them the head ("X is
the mother of"). Words like "of" stay in: their idf is small. A benchmark's relation is never looked at.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import NamedTuple

import numpy as np

from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.protocol import Graph, Step
from kgqa_bench.text.verbalise import relation_text
from kgqa_bench.text.words import lemma, tokens

_PREFIX = 5
_PREFIX_WEIGHT = 0.5
_CLEAR = 3.0
_TOPIC = "\0"


class Linked(NamedTuple):
    """The step from the topic that would answer directly, its score, and how many relations had the same score."""

    step: Step
    score: float
    ties: int


class Typing:
    """How likely an entity has a step, given the steps that it has.

    The mean over its steps t of P(s | t), counted over all entities of the graph in use.
    """

    def __init__(self, graph: Graph) -> None:
        from scipy.sparse import csr_array

        self._graph = graph
        heads, relations, tails = columns(graph)
        size = graph.num_relations
        pairs = np.unique(
            np.concatenate([np.stack([heads, relations]), np.stack([tails, relations + size])], axis=1), axis=1
        )
        has = csr_array((np.ones(pairs.shape[1]), (pairs[0], pairs[1])), shape=(graph.num_entities, 2 * size))
        together = (has.T @ has).toarray()
        self._given = together / np.maximum(together.diagonal(), 1)[:, None]
        self._size = size

    def fit(self, entity: int, step: Step) -> float:
        """The likelihood, from 0 to 1; 0 for an entity without edges."""
        at = [self._place(each) for each in self._graph.relations_at(entity, "both")]
        return float(self._given[at, self._place(step)].mean()) if at else 0.0

    def _place(self, step: Step) -> int:
        return step.relation + self._size * step.inverse


def columns(graph: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Heads, relations and tails of the visible triples."""
    if isinstance(graph, MemoryGraph):
        heads, relations, tails, _ = graph.columns()
        return heads.astype(np.int64), relations.astype(np.int64), tails.astype(np.int64)
    triples = np.array([quad[:3] for quad in graph.quads()], np.int64).reshape(-1, 3)
    return triples[:, 0], triples[:, 1], triples[:, 2]


class RelationLinker:
    """Links questions to the relations of one graph."""

    def __init__(self, graph: Graph) -> None:
        self._typing = Typing(graph)
        self._words = [frozenset(_lemmas(relation_text(graph, relation))) for relation in range(graph.num_relations)]
        counts = Counter(word for words in self._words for word in words)
        self._idf = {word: math.log(1 + graph.num_relations / count) for word, count in counts.items()}
        self._lengths = [math.sqrt(sum(self._idf[word] ** 2 for word in words)) or 1.0 for words in self._words]

    def link(self, question: str, mentions: tuple[str, ...], topic: int) -> Linked | None:
        """The relation asked for.

        Args:
            question: The question's text.
            mentions: The topic entity as the text may call it.
            topic: The topic entity.

        Returns:
            None where no relation has a word of the question.
        """
        text = question
        for mention in sorted(filter(None, mentions), key=len, reverse=True):
            text = text.replace(mention, f" {_TOPIC} ")
        before, marked, after = text.partition(_TOPIC)
        asked = _lemmas(f"{before} {after}")
        scores = [
            self._score(words, asked) / length for words, length in zip(self._words, self._lengths, strict=True)
        ]
        best = max(scores, default=0.0)
        if best <= 0:
            return None
        tied = [relation for relation, score in enumerate(scores) if score > best - 1e-9]
        steps = [Step(relation, inverse) for relation in tied for inverse in (False, True)]
        fits = {step: self._typing.fit(topic, step) for step in steps}
        relation = max(tied, key=lambda each: (max(fits[Step(each)], fits[Step(each, True)]), -each))
        forward, backward = fits[Step(relation)], fits[Step(relation, True)]
        if max(forward, backward) >= _CLEAR * min(forward, backward) and forward != backward:
            inverse = backward > forward
        else:
            words = self._words[relation]
            inverse = bool(marked) and self._score(words, _lemmas(before)) > self._score(words, _lemmas(after))
        return Linked(Step(relation, inverse), best, len(tied))

    def _score(self, words: frozenset[str], asked: list[str]) -> float:
        exact = set(asked)
        starts = {word[:_PREFIX] for word in asked if len(word) >= _PREFIX}
        total = 0.0
        for word in words:
            if word in exact:
                total += self._idf[word] ** 2
            elif len(word) >= _PREFIX and word[:_PREFIX] in starts:
                total += _PREFIX_WEIGHT * self._idf[word] ** 2
        return total


def _lemmas(text: str) -> list[str]:
    return list(map(lemma, tokens(text)))
