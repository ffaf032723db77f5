from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kgqa_bench.errors import DataError
from kgqa_bench.question_sets.built import built_files, read_built_questions, read_own_questions

ROW: dict[str, Any] = {
    "id": "01",
    "question": "Who is bob's aunt?",
    "kind": "entities",
    "topic_entities": ["bob"],
    "answer": ["ann", "eve"],
    "hard_answers": ["ann"],
    "primary": "ann",
    "relation": "aunt",
    "asked": "head",
    "removed": ["ann", "aunt", "bob"],
    "twin": "",
}


def test_a_built_question(tmp_path: Path) -> None:
    path = tmp_path / "questions.test.jsonl"
    path.write_text(json.dumps(ROW) + "\n")
    (question,) = read_built_questions(path, "test")
    assert (question.topics, question.answers, question.hard_answers) == (("bob",), ("ann", "eve"), ("ann",))
    assert (question.relation, question.asked, question.removed) == ("aunt", "head", ("ann", "aunt", "bob"))
    assert (question.primary, question.twin, question.split) == ("ann", None, "test")


@pytest.mark.parametrize(
    "change", [{"asked": "middle"}, {"removed": ["a", "b"]}, {"relation": None}, {"answer": [1]}, {"primary": ""}]
)
def test_a_malformed_row_is_named(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "questions.test.jsonl"
    path.write_text(f"{json.dumps(ROW)}\n{json.dumps(ROW | change)}\n")
    with pytest.raises(DataError, match=r"line 2.*'01'"):
        list(read_built_questions(path, "test"))


def test_splits_in_their_order(tmp_path: Path) -> None:
    for split in ("dev", "test", "validation", "train"):
        (tmp_path / f"questions.{split}.jsonl").touch()
    assert built_files(tmp_path) == {}
    (tmp_path / "manifest.json").touch()
    assert list(built_files(tmp_path)) == ["train", "validation", "test", "dev"]


def test_the_text_of_the_right_option_is_the_answer(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    row = {"id": "1", "kind": "choice", "question": "q", "options": ["heat", "a shadow"], "answer": "B"}
    path.write_text(json.dumps(row) + "\n")
    (question,) = read_own_questions(path)
    assert (question.answers, question.kind, question.split) == (("a shadow",), "choice", "questions")
