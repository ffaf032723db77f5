r"""One reading of replies for every method: option letters, truth values and lists of entities.

Order for choice and boolean questions:

1. The reply is nothing but an answer (``B``, ``(b)``, ``B) the text``, ``the text``, ``true``).
2. The last explicit marker that can be read: ``answer is``, ``Answer:``, braces and ``\boxed{}``, bold face,
   ``<answer>``, "I choose …", "… is correct". Bold face counts only where all of it names one answer, because
   replies also set every option they discuss in bold.
3. Repair: the one option whose text stands in the last sentence, or the one letter that stands alone in the
   reply. Where the two disagree, or several letters stand alone, the reply stays unread.

A marker that names two answers ("A or B") makes the reply unreadable; a negated one ("is not B") is passed over.
Letters win over texts: an option whose text is itself a letter in use is never matched by its text, nor is a text
that two options share.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Literal

from kgqa_bench.domain import Option, ParseOutcome, Question

Reading = tuple[str | None, ParseOutcome]
_Ambiguous = Literal[""]
_AMBIGUOUS: _Ambiguous = ""
_Resolve = Callable[[str, bool], str | None]  # a label; "" where two answers are named; None where none is

_FAILED: Reading = (None, "failed")

_SPACE = re.compile(r"(?:(?!(?<=\d)[.,](?=\d))[\W_])+")  # anything but letters, digits and the point of 1.5
_ENUMERATION = re.compile(r"^\W*\w[.)\]:]+\s+")  # "B. library" is one sentence
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_LONGEST_SPAN = 400  # characters behind a marker that are looked at
_DECORATION = " \t\r\n*_`'\"“”‘’«»<>$~#-–—:"
_LETTER_DECORATION = " \t\r*_()[].:\"'`{}$"
_ANSWER_MARKER = re.compile(
    r"\banswers?\b[*_\"'`]*(?:\s+(?:choice|option|letter))?\s*"
    r"(?:(?:is|was|=|would\s+be|should\s+be|must\s+be|will\s+be)\b|[:=])[*_\"'`]*:?",
    re.IGNORECASE,
)
_CHOOSE_MARKER = re.compile(r"\b(?:choose|select|pick|chose|go(?:ing)?\s+with)\b:?", re.IGNORECASE)
_TAG = re.compile(r"<answer>([^<]*)</answer>", re.IGNORECASE)
_BRACES = re.compile(r"\{([^{}]*)\}")
_BOLD = re.compile(r"\*\*(.+?)\*\*|__(.+?)__")
_LEAD_IN = re.compile(
    r"(?:(?:the|my|final|correct|best|right|most\s+likely|option|choice|letter|answer|probably|likely|clearly|is)\b"
    r"[\s:*_]*)+",
    re.IGNORECASE,
)
_REASON = re.compile(r"\s*(?:because|since|as|due|which|[-–—])\b", re.IGNORECASE)
_NEGATION = re.compile(r"(?:not|never|neither|isn['’]t|cannot|can['’]t)\b", re.IGNORECASE)


def parse_answers(text: str | None, question: Question) -> tuple[tuple[str, ...], ParseOutcome]:
    """The answers that a reply gives to a question of any kind: at most one, except for entities."""
    if question.kind == "entities":
        return parse_entities(text)
    value, outcome = parse_answer(text, question)
    return () if value is None else (value,), outcome


def parse_answer(text: str | None, question: Question) -> Reading:
    """The one answer that a reply gives to a choice or boolean question.

    Args:
        text: The reply without its thinking block; None and "" are unread.
        question: Supplies the options. For ``entities`` use ``parse_entities``.

    Returns:
        An element of ``question.values`` with ``ok`` (the reply had an explicit form) or ``repaired`` (steps 3),
        or ``(None, "failed")``.
    """
    if not text or not text.strip():
        return _FAILED
    if question.kind == "boolean":
        return _parse(text, _resolve_boolean, _repair_boolean)
    known = _options(question.options)
    exact = known.exact(text)
    if exact is not None:
        return exact, "ok"
    return _parse(text, known.resolve, known.repair)


def parse_entities(text: str | None) -> tuple[tuple[str, ...], ParseOutcome]:
    """The names that a reply lists: the lines after the last ``Answer(s):``, else all lines (``repaired``).

    Bullets, numbers, quotes and bold face are taken off; repeated names are dropped. One line after the marker may
    hold several names apart by semicolons.
    """
    if not text or not text.strip():
        return (), "failed"
    outcome: ParseOutcome = "repaired"
    markers = list(re.finditer(r"\banswers?\b[*_\s]*(?::|\bis\b|\bare\b)", text, re.IGNORECASE))
    if markers:
        text, outcome = text[markers[-1].end() :], "ok"
    names: dict[str, None] = {}
    for line in re.split(r"[\n;]", text):
        name = re.sub(r"^\s*(?:[-*•–]|\(?\d{1,3}[.)])\s+", "", line).strip(_DECORATION).rstrip(".").strip(_DECORATION)
        if name and not _NO_ANSWER.fullmatch(name):
            names[name] = None
    return (tuple(names), outcome) if names else ((), "failed")


_NO_ANSWER = re.compile(
    r"none|n/?a|null|unknown|no answer|i (?:do not|don['’]t) know.*|i(?: am|['’]m) (?:not sure|unsure).*",
    re.IGNORECASE,
)


# -- markers -------------------------------------------------------------------------------------------


def _parse(text: str, resolve: _Resolve, repair: Callable[[str], str | None]) -> Reading:
    line = text.strip()
    whole = resolve(line, True) if _is_one_answer(line) else None
    if whole:
        return whole, "ok"
    for span in _marked(text, resolve):
        value = resolve(span, False)
        if value == _AMBIGUOUS:
            return _FAILED
        if value is not None:
            return value, "ok"
    value = None if whole == _AMBIGUOUS else repair(text)
    return (value, "repaired") if value else _FAILED


def _is_one_answer(line: str) -> bool:
    """Whether a reply may be an answer and nothing else: one sentence without a marker in it."""
    if len(line) > _LONGEST_SPAN or "\n" in line or _ANSWER_MARKER.search(line):
        return False
    return not _SENTENCE_END.search(_ENUMERATION.sub("", line))


def _marked(text: str, resolve: _Resolve) -> Iterator[str]:
    """What the explicit markers point at, the last marker first."""
    spans: list[tuple[int, str]] = []
    for pattern in (_ANSWER_MARKER, _CHOOSE_MARKER):
        spans += [(match.end(), _after(text, match.end())) for match in pattern.finditer(text)]
    for pattern in (_TAG, _BRACES):
        spans += [(match.start(1), match.group(1)[:_LONGEST_SPAN]) for match in pattern.finditer(text)]
    spans += [(match.start(), match.group(1)) for match in _VERDICT.finditer(text)]
    bold = [(match.start(), (match[1] or match[2])[:_LONGEST_SPAN]) for match in _BOLD.finditer(text)]
    if len({resolve(span, False) for _, span in bold} - {None}) == 1:
        spans += bold
    spans.sort(key=lambda pair: pair[0])
    for _, span in reversed(spans):
        yield span


# "B is correct", "(B) is the best option", "option B is the right answer"
_VERDICT = re.compile(
    r"(\(?\b[A-Z0-9]\b\)?)\s+(?:is|seems|would\s+be)\s+(?:the\s+|most\s+)*(?:correct|right|best|likely|appropriate|answer)\b"
)


def _after(text: str, start: int) -> str:
    """The rest of the line behind a marker, or the next line that is not blank."""
    for line in text[start : start + _LONGEST_SPAN].split("\n"):
        if line.strip(_DECORATION + "{}\\."):
            return line
    return ""


def _normalise(text: str) -> str:
    """Lower case, punctuation as single spaces, no article in front."""
    words = _SPACE.sub(" ", text.casefold()).strip()
    for article in ("a ", "an ", "the "):
        if words.startswith(article):
            return words[len(article) :]
    return words


def _last_sentence(text: str) -> str:
    return next((part for part in reversed(_SENTENCE_END.split(text)) if _SPACE.sub("", part)), "")


# -- options -------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _options(options: tuple[Option, ...]) -> _Options:
    return _Options(options)


@lru_cache(maxsize=64)
def _letter_patterns(labels: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    one = "|".join(sorted((re.escape(label) for label in labels), key=len, reverse=True))
    leading = re.compile(rf"[(\[]?(?P<label>{one})(?![\w'’])(?P<mark>[)\].:,;!?]*)", re.IGNORECASE)
    joined = re.compile(rf"(?:,|/|&|\+|\bor\b|\band\b|\s)+[(\[]?(?P<label>{one})(?![\w'’])")
    # letters that stand alone: (B)  B)  B.  "option B"  B
    alone = re.compile(
        rf"(?:(?P<word>\b(?:option|choice|letter|answer)\s+)|(?<![\w'’.])(?<!N/))[(\[]?(?P<label>{one})(?![\w'’])"
        rf"(?P<mark>\s*(?:[)\].:,;!?]|$|\n|(?:or|and|/|&)\s+[(\[]?(?:{one})(?!\w)))?"
    )
    return leading, joined, alone


class _Options:
    """The options of one question, ready for matching."""

    def __init__(self, options: tuple[Option, ...]) -> None:
        self.labels = tuple(option.label for option in options)
        self._by_letter = {label.casefold(): label for label in self.labels}
        self._leading, self._joined, self._alone = _letter_patterns(self.labels)
        self._own = {option.label: _normalise(option.text) for option in options}
        texts: dict[str, str | None] = {}
        for label, key in self._own.items():
            if key and key not in self._by_letter:
                texts[key] = None if key in texts else label
        # longest first: "hot water" is looked for before "water"
        self._texts = sorted(texts.items(), key=lambda pair: -len(pair[0]))
        self._by_text = texts

    def exact(self, text: str) -> str | None:
        """Fast path: a letter with decoration, as the whole reply or behind ``Answer:`` in its last line."""
        whole = text.strip()
        last = whole.rpartition("\n")[2].strip(_LETTER_DECORATION)
        if len(last) > 24:
            return None
        if last[:7].casefold() == "answer:":
            return self._by_letter.get(last[7:].strip(_LETTER_DECORATION).casefold())
        return self._by_letter.get(last.casefold()) if len(whole) <= 24 and "\n" not in whole else None

    def resolve(self, span: str, whole: bool) -> str | None:
        """The option that a marked span names; ``whole`` where the span must be nothing but the answer."""
        span = span.strip(_DECORATION)
        while True:
            named = self._by_text.get(_normalise(span))
            if named:
                return named
            lead = _LEAD_IN.match(span)
            if lead is None or lead.end() == len(span):
                break
            span = span[lead.end() :].lstrip(_DECORATION)
        if _NEGATION.match(span):
            return None
        match = self._leading.match(span)
        letter = self._letter(match, span, whole) if match else None
        if letter is not None or whole:
            return letter
        return self._text(span)

    def _letter(self, match: re.Match[str], span: str, whole: bool) -> str | None:
        """The leading letter of a span, where it is one and not an article, a pronoun or the start of a text."""
        label, mark = self._by_letter[match.group("label").casefold()], match.group("mark")
        rest = span[match.end() :]
        if not rest.strip(_DECORATION + ".)]}!\\"):
            return label
        joined = self._joined.match(mark[mark.startswith(")") :] + rest)
        if joined and self._by_letter[joined.group("label").casefold()] != label:
            return _AMBIGUOUS
        if (_normalise(rest) + " ").startswith(self._own[label] + " "):
            return label
        named = self._starting_text(rest)
        is_word = label.casefold() in ("a", "i") or match.group("label") != label
        if not mark and (whole or (is_word and not _REASON.match(rest))):
            return None  # "A dog", "I think", "B is wrong"
        return label if named is None else _AMBIGUOUS

    def _starting_text(self, rest: str) -> str | None:
        """The option whose text a span starts with; ambiguous where another one's follows."""
        words = _normalise(rest) + " "
        for text, label in self._texts:
            if words.startswith(text + " "):
                following = words[len(text) + 1 :].removeprefix("or ").removeprefix("and ")
                other = any(following.startswith(f"{text} ") for text, owner in self._texts if owner != label)
                return _AMBIGUOUS if label is None or other else label
        return None

    def _text(self, span: str) -> str | None:
        """The only option whose text the span holds; ambiguous where it holds several."""
        named = self._starting_text(span)
        if named is not None:
            return named
        found = self._texts_in(_SENTENCE_END.split(span, maxsplit=1)[0])
        if len(found) > 1:
            return _AMBIGUOUS
        return found.pop() if found else None

    def _texts_in(self, sentence: str) -> set[str]:
        words = f" {_SPACE.sub(' ', sentence.casefold()).strip()} "
        found: set[str] = set()
        for text, label in self._texts:
            if f" {text} " in words:
                found.add(label or _AMBIGUOUS)
                words = words.replace(f" {text} ", " \0 ")
        return found

    def repair(self, text: str) -> str | None:
        """Step 3 of the order above; sentences with a negation say nothing."""
        letters = {
            match.group("label")
            for sentence in _SENTENCE_END.split(text)
            if not _negated(sentence)
            for match in self._alone.finditer(sentence)
            if match.group("word") or match.group("mark") is not None or match.group("label") not in ("A", "I")
        }
        last = _last_sentence(text)
        found = letters if _negated(last) else letters | self._texts_in(last)
        return found.pop() if len(found) == 1 else None


def _negated(sentence: str) -> bool:
    return re.search(r"\b(?:not|never|neither|nor|cannot|\w+n['’]t)\b", sentence, re.IGNORECASE) is not None


# -- truth values --------------------------------------------------------------------------------------

_TRUTH = {
    "true": "true", "yes": "true", "correct": "true", "t": "true", "y": "true",
    "false": "false", "no": "false", "incorrect": "false", "untrue": "false", "f": "false", "n": "false",
}  # fmt: skip
_OPPOSITE = {"true": "false", "false": "true"}
_TRUTH_START = re.compile(
    r"(?P<not>(?:not|isn['’]t)\s+(?:(?:entirely|really|quite|always|necessarily|actually|strictly)\s+)?)?"
    r"(?P<word>true|false|yes|no|correct|incorrect|untrue|t|f|y|n)(?![\w'’])",
    re.IGNORECASE,
)
_TRUTH_IN = re.compile(
    r"(?P<not>\b(?:not|isn['’]t|is\s+never)\s+(?:(?:entirely|really|quite|always|necessarily|actually|strictly)\s+)?)?"
    r"\b(?P<word>true|false|yes|correct|incorrect|untrue|no(?=\s*(?:[.,;:!]|$)))(?!\s+answer)(?![\w'’])",
    re.IGNORECASE,
)
_TRUTH_JOINED = re.compile(r"\s*(?:/|,|\bor\b|\band\b)\s*(?:not\b|true|false|yes|no)\b", re.IGNORECASE)
_STATEMENT_LEAD = re.compile(
    r"(?:(?:the|this|that|it|statement|claim|question|is|probably|likely|clearly|indeed|definitely)\b[\s:*_]*)+",
    re.IGNORECASE,
)


def _resolve_boolean(span: str, whole: bool) -> str | None:
    del whole  # a truth value in front is enough
    span = span.strip(_DECORATION + "([")
    lead = _STATEMENT_LEAD.match(span)
    match = _TRUTH_START.match(span, lead.end() if lead else 0)
    if match is None:
        return None
    rest = span[match.end() :]
    if _TRUTH_JOINED.match(rest):
        return _AMBIGUOUS
    word = match.group("word").casefold()
    if len(word) == 1 and rest.strip(_DECORATION + ".)]}"):
        return None
    if word == "no" and re.match(r"\s+[a-z]", rest):  # "no evidence …"
        return None
    value = _TRUTH[word]
    return _OPPOSITE[value] if match.group("not") else value


def _repair_boolean(text: str) -> str | None:
    """The reply's first word, where it is a truth value, and those in the last sentence, if all agree."""
    found = set()
    first = re.match(r"\W*(yes|no|true|false)\s*[,.;:!\n]", text, re.IGNORECASE)
    if first:
        found.add(_TRUTH[first.group(1).casefold()])
    sentence = _last_sentence(text)
    matches = list(_TRUTH_IN.finditer(sentence))
    remainder = _TRUTH_IN.sub(" ", sentence)
    if matches and (_negated(remainder) or re.search(r"\bno\b", remainder, re.IGNORECASE)):
        return None
    for match in matches:
        value = _TRUTH[match.group("word").casefold()]
        found.add(_OPPOSITE[value] if match.group("not") else value)
    return found.pop() if len(found) == 1 else None
