"""Reading what the agents reply."""

from __future__ import annotations

import re

from pydantic import BaseModel

from kgqa_bench.domain import ParseOutcome
from kgqa_bench.llm.parsing import parse_json

from .prompts import Action


class Decision(BaseModel):
    """The JSON asked for by ``structured_decision``."""

    action: Action


# a reply that is the word alone, perhaps quoted, labelled or in JSON
_WORD_ALONE = re.compile(r"\W*(?:(?:action|decision)\W+)?(stop|continue|expand)\W*", re.IGNORECASE)
_WORD = re.compile(r"(?<!not )\b(stop|continue|expand)\b", re.IGNORECASE)
_ACTIONS: dict[str, Action] = {"stop": "stop", "continue": "continue", "expand": "expand"}


def read_action(reply: str) -> tuple[Action | None, ParseOutcome]:
    """The action that a reply of the Decision-Making Agent names.

    Returns:
        ``ok``: it is the word alone or the JSON asked for. ``repaired``: it holds that JSON; or only one of the words
        occurs in it, or else in its last line. ``failed``, with None: no word, or several.
    """
    alone = _WORD_ALONE.fullmatch(reply)
    if alone is not None:
        return _ACTIONS[alone[1].lower()], "ok"
    decision, outcome, _ = parse_json(reply, Decision)
    if decision is not None:
        return decision.action, outcome
    for part in (reply, *reply.strip().splitlines()[-1:]):
        words = {word.lower() for word in _WORD.findall(part)}
        if len(words) == 1:
            return _ACTIONS[words.pop()], "repaired"
    return None, "failed"


def agree(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two replies give the same answers, in whatever order and case; unread replies agree with none."""
    return bool(one) and {value.casefold() for value in one} == {value.casefold() for value in other}
