"""Reading what the agents reply."""

from __future__ import annotations

import re

from kgqa_bench.domain import ParseOutcome, Question
from kgqa_bench.text.choices import parse_answer, parse_entities

from .prompts import Action

# a reply that is the word alone, perhaps quoted, labelled or in JSON
_WORD_ALONE = re.compile(r"\W*(?:(?:action|decision)\W+)?(stop|continue|expand)\W*", re.IGNORECASE)
_WORD = re.compile(r"(?<!not )\b(stop|continue|expand)\b", re.IGNORECASE)
_ACTIONS: dict[str, Action] = {"stop": "stop", "continue": "continue", "expand": "expand"}


def read_action(reply: str) -> tuple[Action | None, ParseOutcome]:
    """The action that a reply of the Decision-Making Agent names.

    Returns:
        ``ok``: it is the word alone or the JSON asked for. ``repaired``: only one of the words occurs in the reply,
        or else in its last line. ``failed``, with None: no word, or several.
    """
    alone = _WORD_ALONE.fullmatch(reply)
    if alone is not None:
        return _ACTIONS[alone[1].lower()], "ok"
    for part in (reply, *reply.strip().splitlines()[-1:]):
        words = {word.lower() for word in _WORD.findall(part)}
        if len(words) == 1:
            return _ACTIONS[words.pop()], "repaired"
    return None, "failed"


def read_answers(reply: str, question: Question) -> tuple[tuple[str, ...], ParseOutcome]:
    """The answers that a debater's or the Judge's reply gives: at most one, except for entities."""
    if question.kind == "entities":
        return parse_entities(reply)
    value, outcome = parse_answer(reply, question)
    return () if value is None else (value,), outcome


def agree(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two replies give the same answers, in whatever order and case; unread replies agree with none."""
    return bool(one) and {value.casefold() for value in one} == {value.casefold() for value in other}
