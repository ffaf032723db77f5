"""The wording of a question: a sentence of its relation for either direction.

Relations of FB15k-237 and MetaQA have sentences of their own in ``sentences.tsv``. Others are worded by general
rules, which keep the statement's direction whatever the relation means:

1. A label of the form *is the X of*: "Who is the aunt of 72?" and "Who is 7 the aunt of?".
2. Another path of Freebase: by the type and the property it names.
3. Any other: a statement with a gap, since a label stands between head and tail but need not be a verb.
"""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path

from kgqa_bench.text.verbalise import plain_label

from .model import Asked

SENTENCES = Path(__file__).with_name("sentences.tsv")
TOPIC = "{topic}"

_IS_THE_OF = re.compile(r"is the (?P<role>.+) of")
_FREEBASE = re.compile(r"(?:/[a-z0-9_]+){2,}(?:\./?[a-z0-9_]+(?:/[a-z0-9_]+)+)?")
_KIN = frozenset(
    {
        "aunt",
        "brother",
        "child",
        "cousin",
        "daughter",
        "father",
        "grandfather",
        "grandmother",
        "granddaughter",
        "grandson",
        "husband",
        "mother",
        "nephew",
        "niece",
        "parent",
        "sibling",
        "sister",
        "son",
        "spouse",
        "uncle",
        "wife",
    }
)


def question_text(relation: str, asked: Asked, topic: str, relation_label: str) -> str:
    """The question for one end of the relation's triples with ``topic`` at the other; a function of these four.

    Args:
        relation: The relation's name in the graph.
        asked: The end asked for.
        topic: How the topic entity is called.
        relation_label: The relation's label in the graph.
    """
    # one replacement of one place: a topic may itself look like a place
    before, _, after = sentence(relation, asked, relation_label).partition(TOPIC)
    return f"{before}{topic}{after}"


def sentence(relation: str, asked: Asked, relation_label: str) -> str:
    """The question with ``{topic}`` where the topic belongs."""
    own = _own_sentences().get(relation)
    if own is not None:
        return own[asked]
    label = plain_label(relation_label).replace(TOPIC, "") or plain_label(relation).replace(TOPIC, "")
    role = role_of(label)
    if role is not None:
        return _role_sentence(role, asked)
    if _FREEBASE.fullmatch(relation):
        return _path_sentence(relation, asked)
    statement = f"___ {label} {TOPIC}" if asked == "head" else f"{TOPIC} {label} ___"
    return f'What fills the gap in "{statement}"?'


def role_of(label: str) -> str | None:
    """X of a label of the form *is the X of*."""
    match = _IS_THE_OF.fullmatch(label)
    return None if match is None else match["role"]


def _role_sentence(role: str, asked: Asked) -> str:
    word = "Who" if role in _KIN else "What"
    return f"{word} is the {role} of {TOPIC}?" if asked == "head" else f"{word} is {TOPIC} the {role} of?"


def _path_sentence(relation: str, asked: Asked) -> str:
    """``/people/person/nationality``, or two such paths with a node between them that has no name."""
    parts = [path.strip("/").replace("_", " ").split("/") for path in relation.split(".")]
    kind, steps = parts[0][-2], [part[-1] for part in parts]
    if asked == "head":
        return f"Which {kind} has {TOPIC} as {' of its '.join(reversed(steps))}?"
    return f"What is the {' of the '.join(reversed(steps))} of the {kind} {TOPIC}?"


@cache
def _own_sentences() -> dict[str, dict[Asked, str]]:
    with SENTENCES.open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["relation"]: {"head": row["head"], "tail": row["tail"]} for row in rows}
