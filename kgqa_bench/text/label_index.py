"""The labels of a graph by their words, and the mentions of them in a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kgqa_bench.text.words import STOP_WORDS, is_content, lemma, tokens

_ARTICLES = frozenset({"a", "an", "the"})


class LabelIndex:
    """Finds labels in text: the exact words before their lemmas, the longest match first, none overlapping.

    Args:
        labels: The label of every entity, by id.
        order: The entity ids, the preferred first: where several labels have the same words, the first is meant.
    """

    def __init__(self, labels: Sequence[str], order: Iterable[int]) -> None:
        self._exact: dict[str, int] = {}
        self._inexact: dict[str, int] = {}  # lemmas, and labels without their article
        self._longest: dict[str, int] = {}  # most words of a phrase, by its first word
        for entity in order:
            words = tokens(labels[entity])
            if not words:
                continue
            self._add(self._exact, words, entity)
            if len(words) > 1 and words[0] in _ARTICLES:
                words = words[1:]
                self._add(self._inexact, words, entity)
            self._add(self._inexact, [lemma(word) for word in words], entity)

    def _add(self, table: dict[str, int], words: list[str], entity: int) -> None:
        table.setdefault(" ".join(words), entity)
        if len(words) > self._longest.get(words[0], 0):
            self._longest[words[0]] = len(words)

    def find(self, phrase: str) -> int | None:
        """The entity whose label is ``phrase`` as a whole, up to case, punctuation and inflection."""
        words = tokens(phrase)
        return self._lookup(words, [lemma(word) for word in words])

    def mentions(self, text: str) -> list[int]:
        """The entities mentioned in ``text``, in order of mention, each once.

        Not mentions: phrases of stop words only, lone numbers, lone letters.
        """
        words = tokens(text)
        lemmas = [lemma(word) for word in words]
        found: dict[int, None] = {}
        start = 0
        while start < len(words):
            longest = max(self._longest.get(words[start], 0), self._longest.get(lemmas[start], 0))
            for end in range(min(start + longest, len(words)), start, -1):
                span = words[start:end]
                if is_content(span[0]) if end - start == 1 else not STOP_WORDS.issuperset(span):
                    entity = self._lookup(span, lemmas[start:end])
                    if entity is not None:
                        found[entity] = None
                        start = end - 1
                        break
            start += 1
        return list(found)

    def _lookup(self, words: list[str], lemmas: list[str]) -> int | None:
        entity = self._exact.get(" ".join(words))
        if entity is None:
            phrase = " ".join(lemmas)
            entity = self._exact.get(phrase)
            if entity is None:
                entity = self._inexact.get(phrase)
        return entity
