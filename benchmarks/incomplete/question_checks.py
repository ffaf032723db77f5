"""What a model's question must keep to: it names the topic, gives no answer away and asks the right way round.

All names are looked for as whole words and whatever their case: the answer 3 does not stand in "Who is 139's aunt?".
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .model import Asked
from .wording import role_of

LONGEST = 300
"""Characters of a question without its topic."""

_YES_NO = re.compile(
    r"\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must|am)\b",
    re.IGNORECASE,
)


def names(text: str, label: str) -> bool:
    """Whether ``label`` stands in ``text`` as a whole word, or as several."""
    return _whole(label).search(text) is not None


def question_problem(
    question: str, relation_label: str, asked: Asked, topic: str, answers: Iterable[str]
) -> str | None:
    """Why a question is rejected, in one word or two; None where nothing is wrong with it.

    ``no question`` (not one line that ends in its only question mark, or too long), ``no topic``, ``yes or no``,
    ``answer given`` (outside the topic, which may contain an answer's name), ``relation lost`` and ``direction``
    (both only for relations of the form *is the X of*).
    """
    rest = _whole(topic).sub(" ", question)
    if not rest.isprintable() or not question.rstrip().endswith("?") or rest.count("?") > 1 or len(rest) > LONGEST:
        return "no question"
    if rest == question:
        return "no topic"
    if _YES_NO.match(question):
        return "yes or no"
    if any(answer != topic and names(rest, answer) for answer in answers):
        return "answer given"
    role = role_of(relation_label)
    if role is not None:
        if not re.search(rf"\b{re.escape(role)}(?:e?s)?\b", rest, re.IGNORECASE):
            return "relation lost"
        if _direction(question, role, topic) not in (None, asked):
            return "direction"
    return None


def _direction(question: str, role: str, topic: str) -> Asked | None:
    """The end that a question about *the ROLE of* asks for, where its words show it."""
    noun, name = rf"{re.escape(role)}(?:e?s)?", _whole(topic).pattern
    whose = rf"{noun} (?:of|to|for) {name}|{name}['’](?:s\b)? {noun}|{name} ha(?:s|ve) as (?:an? |the |their )?{noun}"
    if re.search(whose, question, re.IGNORECASE):
        return "head"
    of_whom = rf"(?:{name} (?:is |as )?(?:an? |the )?|whose (?:\w+ )?){noun}\b|{noun} is {name}"
    if re.search(of_whom, question, re.IGNORECASE):
        return "tail"
    return None


def _whole(label: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(label)}(?!\w)", re.IGNORECASE)
