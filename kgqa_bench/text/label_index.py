"""The labels of a graph by their words, and the mentions of them in a text."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate

import ahocorasick

from kgqa_bench.text.words import STOP_WORDS, is_content, lemma, tokens

_ARTICLES = frozenset({"a", "an", "the"})


class LabelIndex:
    """Finds labels in text: the exact words before their lemmas, the longest match first, none overlapping.

    An Aho-Corasick automaton over phrases, each with a space before and after, so that only whole words match. It
    gives all matches, and the longest is chosen here: its own search for the longest would miss a phrase right
    behind another (they share a space) and whatever a longer phrase of stop words hides.

    Args:
        labels: The label of every entity, by id.
        order: The entity ids, the preferred first: where several labels have the same words, the first is meant.
        aliases: Other names of entities, each with its entity; a label with the same words wins.
    """

    def __init__(self, labels: Sequence[str], order: Iterable[int], aliases: Iterable[tuple[str, int]] = ()) -> None:
        self._rows = ahocorasick.Automaton(ahocorasick.STORE_INTS)  # phrase -> row; it holds 32 bits a phrase
        self._entities = array("q")  # by row; ~entity for lemmas and for labels without their article
        self._lengths = array("q")  # by row; characters of the phrase
        for entity in order:
            self._add_label(labels[entity], entity)
        for alias, entity in aliases:
            self._add_label(alias, entity)
        self._rows.make_automaton()

    def _add_label(self, label: str, entity: int) -> None:
        words = tokens(label)
        if not words:
            return
        self._add(words, entity, exact=True)
        if len(words) > 1 and words[0] in _ARTICLES:
            words = words[1:]
            self._add(words, entity, exact=False)
        self._add([lemma(word) for word in words], entity, exact=False)

    def _add(self, words: list[str], entity: int, *, exact: bool) -> None:
        phrase = _phrase(words)
        row = self._rows.get(phrase, None)
        if row is None:
            self._rows.add_word(phrase, len(self._entities))
            self._entities.append(entity if exact else ~entity)
            self._lengths.append(len(phrase))
        elif exact and self._entities[row] < 0:
            self._entities[row] = entity

    def find(self, phrase: str) -> int | None:
        """The entity whose label is ``phrase`` as a whole, up to case, punctuation and inflection."""
        words = tokens(phrase)
        row = self._rows.get(_phrase(words), None)
        if row is None or self._entities[row] < 0:
            row = self._rows.get(_phrase([lemma(word) for word in words]), None)
        return None if row is None else _entity(self._entities[row])

    def mentions(self, text: str) -> list[int]:
        """The entities mentioned in ``text``, in order of mention, each once.

        Not mentions: phrases of stop words only, lone numbers, lone letters.
        """
        words = tokens(text)
        spans = self._spans([lemma(word) for word in words])
        spans = {span: _entity(stored) for span, stored in spans.items()}
        spans |= {span: stored for span, stored in self._spans(words).items() if stored >= 0}
        found: dict[int, None] = {}
        free = 0
        for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            span = words[start:end]
            if start >= free and (is_content(span[0]) if len(span) == 1 else not STOP_WORDS.issuperset(span)):
                found[spans[start, end]] = None
                free = end
        return list(found)

    def _spans(self, words: list[str]) -> dict[tuple[int, int], int]:
        """What is stored for every run of words that is a phrase: from the first word to the one behind the last."""
        if not self._entities:  # an empty automaton refuses to search
            return {}
        spaces = accumulate((len(word) + 1 for word in words), initial=0)
        number = {position: words_before for words_before, position in enumerate(spaces)}
        spans = {}
        for last, row in self._rows.iter(_phrase(words)):
            first = last - self._lengths[row] + 1
            if first in number and last in number:  # not so only at a space inside a lemma
                spans[number[first], number[last]] = self._entities[row]
        return spans


def _phrase(words: Iterable[str]) -> str:
    return f" {' '.join(words)} "


def _entity(stored: int) -> int:
    return stored if stored >= 0 else ~stored
