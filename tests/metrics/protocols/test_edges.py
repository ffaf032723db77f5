"""What every protocol makes of empty, repeated, nested and odd answers, from the row of a file to its scores."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from kgqa_bench import registry
from kgqa_bench.metrics.question_scores import score_questions
from kgqa_bench.predictions.read import read_predictions

FIELDS = ("hits_any", "hits_at_1", "precision", "recall", "f1", "hits_hard_primary")

ZEROS = {
    "strict-ids": "0 0 0 0 0 0",
    "strict-text": "0 0 0 0 0 0",
    "brink": "0 - 0 0 0 0",
    "rog": "0 0 0 0 0 -",
    "gcr": "0 - 0 0 0 -",
    "subgraphrag": "0 0 0 0 0 -",
    "tog": "0 - - - - -",
    "gerbil": "- - 0 0 0 -",
}
ONES = {name: scores.replace("0", "1") for name, scores in ZEROS.items()}
NO_HARD = {name: f"{scores[:-1]}-" for name, scores in ZEROS.items()}
COMMA = "Washington, D.C."

# Case: prediction, gold, primary hard answer, and the scores in the order of FIELDS; - where a protocol has none.
CASES: dict[str, tuple[Any, list[str], str | None, dict[str, str]]] = {
    "right": (["205"], ["205"], "205", ONES),
    "nothing said": ([], ["205", "206"], "205", ZEROS),
    "empty text": ("", ["205"], "205", ZEROS | {"tog": "1 - - - - -"}),
    "empty text in a list": ([""], ["205"], "205", ZEROS | {"tog": "1 - - - - -"}),
    "no gold": (["205"], [], None, NO_HARD),
    "nothing to say": ([], [], None, NO_HARD | {"gerbil": "- - 1 1 1 -"}),
    "null": (None, ["205"], "205", ZEROS),
    "null, nothing to say": (None, [], None, NO_HARD),
    "null in a list": ([None, "205"], ["205"], "205", ONES),
    "the word None": ("None", ["205"], "205", ZEROS),
    "a number": (205, ["205"], "205", ONES),
    "second guess": (["7", "205"], ["205"], "205", {
        "strict-ids": "1 0 1/2 1 2/3 1",
        "strict-text": "1 0 1/2 1 2/3 1",
        "brink": "1 - 1/2 1 2/3 1",
        "rog": "1 0 1/2 1 2/3 -",
        "gcr": "1 - 1/2 1 2/3 -",
        "subgraphrag": "1 0 1/2 1 2/3 -",
        "tog": "1 - - - - -",
        "gerbil": "- - 1/2 1 2/3 -",
    }),
    "duplicates": (["205", "205", "7"], ["205", "205", "206"], "206", {
        "strict-ids": "1 1 1/2 1/2 1/2 0",
        "strict-text": "1 1 1/2 1/2 1/2 0",
        "brink": "1 - 1/2 1/2 1/2 0",
        "rog": "1 1 2/3 2/3 2/3 -",  # every repetition counts
        "gcr": "1 - 1/2 1/2 1/2 -",
        "subgraphrag": "1 1 1/3 1/2 2/5 -",  # those of lines count
        "tog": "1 - - - - -",
        "gerbil": "- - 1/2 1/2 1/2 -",
    }),
    "name with a comma": ([COMMA], [COMMA], COMMA, ONES | {"brink": "0 - 0 0 0 0"}),
    "a text with commas": ("205, 206", ["205", "206"], "206", {
        "strict-ids": "0 0 0 0 0 0",
        "strict-text": "0 0 0 0 0 0",
        "brink": "1 - 1 1 1 1",
        "rog": "1 1 2 1 4/3 -",
        "gcr": "1 - 1 1 1 -",
        "subgraphrag": "1 1 1 1/2 2/3 -",  # the one line is used up by the first
        "tog": "1 - - - - -",
        "gerbil": "- - 0 0 0 -",
    }),
    "gold ids within an id": (["1205"], ["20", "120"], "20", {
        "strict-ids": "0 0 0 0 0 0",
        "strict-text": "0 0 0 0 0 0",
        "brink": "0 - 0 0 0 0",
        "rog": "1 1 2 1 4/3 -",
        "gcr": "1 - 1 1 1 -",
        "subgraphrag": "1 1 1 1/2 2/3 -",
        "tog": "1 - - - - -",
        "gerbil": "- - 0 0 0 -",
    }),
    "an id within the gold id": (["20"], ["1205"], "1205", ZEROS | {"tog": "1 - - - - -"}),
    "hard answer outside the gold": (["7"], ["205"], "7", ZEROS | {
        "strict-ids": "0 0 0 0 0 1",
        "strict-text": "0 0 0 0 0 1",
        "brink": "0 - 0 0 0 1",
    }),
}  # fmt: skip


@pytest.mark.parametrize("protocol", registry.names("protocols"))
@pytest.mark.parametrize("case", CASES)
def test_edge(tmp_path: Path, case: str, protocol: str) -> None:
    prediction, gold, primary, expected = CASES[case]
    row = {"id": "q", "prediction": prediction, "gold": gold} | ({"hard_answer": primary} if primary else {})
    path = tmp_path / "p.jsonl"
    path.write_text(json.dumps(row))
    rule = registry.create("protocols", protocol)
    columns = score_questions(rule, read_predictions(path).rows[rule.unit]).columns
    found = [float(columns[field][0]) if field in columns else None for field in FIELDS]
    assert found == [
        None if score == "-" else pytest.approx(float(Fraction(score))) for score in expected[protocol].split()
    ]


def test_all_protocols_are_in_the_table() -> None:
    assert all(sorted(expected) == registry.names("protocols") for *_case, expected in CASES.values())
