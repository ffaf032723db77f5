from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa_bench.errors import DataError
from kgqa_bench.question_sets.brink import brink_files, brink_graph_files, read_brink
from kgqa_bench.question_sets.literal import read_list

HEADER = ["id", "rule_index", "question", "q_entity", "answer", "a_entity", "rule", "grounding"]


def row(number: str, question: str, topic: str, answers: list[str], removed: str) -> dict[str, str]:
    return {
        "id": number,
        "rule_index": "3",
        "question": question,
        "q_entity": str([topic]),
        "answer": str(answers),
        "a_entity": str(answers),
        "rule": str(["?a  mother_of  ?b   => ?b  son_of  ?a"]),
        "grounding": str([f"7 mother_of 84  => {removed}"]),
    }


def write_tsv(path: Path, rows: list[dict[str, str]], header: list[str] = HEADER) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, header, delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_a_tsv(tmp_path: Path) -> None:
    rows = [
        row("5", "Who is 84's nephew?", "84", ["102", "9"], "102  nephew_of  84"),
        row("6", "Who is 7 the son of?", "7", ["8"], "7 son_of 8"),
    ]
    first, second = read_brink(write_tsv(tmp_path / "test.tsv", rows))
    assert (first.id, first.split, first.topics, first.answers) == ("5", "test", ("84",), ("102", "9"))
    assert (first.removed, first.relation, first.asked) == (("102", "nephew_of", "84"), "nephew_of", "head")
    assert (first.primary, first.hard_answers) == ("102", ("102",))
    assert (second.asked, second.primary, second.line) == ("tail", "8", 3)


def test_quotes_commas_and_spaces_in_names(tmp_path: Path) -> None:
    removed = "Conan O'Brien /people/born_in Washington, D.C."
    rows = [row("1", 'Where was "Conan" born?', "Conan O'Brien", ["Washington, D.C."], removed)]
    rows[0]["hard_answer"] = str(["Washington, D.C."])
    (question,) = read_brink(write_tsv(tmp_path / "val.tsv", rows, [*HEADER, "hard_answer"]))
    assert question.removed == ("Conan O'Brien", "/people/born_in", "Washington, D.C.")
    assert (question.answers, question.asked) == (("Washington, D.C.",), "tail")


def test_json_with_hard_answer(tmp_path: Path) -> None:
    path = tmp_path / "test.json"
    path.write_text(
        json.dumps(
            [
                {"id": 1, "question": "q", "q_entity": ["3"], "answer": ["1", "2"], "hard_answer": ["2"]},
                {"id": "q2", "question": "q", "answers": ["Paris", "London"], "hard_answer": "Paris"},
            ]
        )
    )
    first, second = read_brink(path)
    assert (first.id, first.primary, first.removed, first.asked) == ("1", "2", None, None)
    assert (second.topics, second.answers, second.hard_answers) == ((), ("Paris", "London"), ("Paris",))


@pytest.mark.parametrize(
    "change", [{"answer": "[__import__('os')]"}, {"answer": "['a'"}, {"question": " "}, {"q_entity": "[['a']]"}]
)
def test_a_malformed_row_is_named(tmp_path: Path, change: dict[str, str]) -> None:
    rows = [row("1", "q", "84", ["1"], "1 r 84"), row("2", "q", "84", ["1"], "1 r 84") | change]
    with pytest.raises(DataError, match=r"line 3.*'2'"):
        list(read_brink(write_tsv(tmp_path / "train.tsv", rows)))


def test_broken_tables(tmp_path: Path) -> None:
    path = tmp_path / "train.tsv"
    for content in ("id\tquestion\n1\tq\n", "id\tquestion\tanswer\n1\tq\n", 'id\tquestion\tanswer\n1\tq\t"[\n'):
        path.write_text(content)
        with pytest.raises(DataError):
            list(read_brink(path))


def test_files_of_a_folder(tmp_path: Path) -> None:
    for name in ("train.tsv", "val.tsv", "test_questions.tsv", "entities.txt"):
        (tmp_path / name).touch()
    (tmp_path / "kg").mkdir()
    (tmp_path / "kg" / "facts.tsv").touch()
    assert brink_graph_files(tmp_path) is None
    (tmp_path / "kg" / "incomplete_facts.tsv").touch()
    assert brink_graph_files(tmp_path) == (tmp_path / "kg" / "facts.tsv", tmp_path / "kg" / "incomplete_facts.tsv")
    assert {split: path.name for split, path in brink_files(tmp_path).items()} == {
        "train": "train.tsv",
        "validation": "val.tsv",
        "test": "test_questions.tsv",
    }
    (tmp_path / "test.json").touch()
    with pytest.raises(DataError, match="may be the split test"):
        brink_files(tmp_path)


@given(st.lists(st.text(st.characters(codec="utf-8")) | st.integers().map(str)))
def test_lists_are_read_as_python_prints_them(texts: list[str]) -> None:
    assert read_list(str(texts)) == tuple(texts)


def test_numbers_and_a_last_comma() -> None:
    assert read_list(" [1, -2.5, 'a',] ") == ("1", "-2.5", "a")
    for wrong in ("", "a", "[a]", "['a' 'b']", "[,]", "['a']]", "[f('a')]", r"['\q']"):
        with pytest.raises(ValueError, match=r"list|escape"):
            read_list(wrong)
