"""A user's own questions: what is read, and what is said about what cannot be."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest

from kgqa_bench.domain import Gold, Item, Option, Question
from kgqa_bench.errors import DataError, DataNotFoundError
from kgqa_bench.run.question_file import QuestionFile, load_file, validate_file

CHOICE = {"id": "1", "question": "What melts ice?", "kind": "choice", "options": ["heat", "a shadow"], "answer": "A"}
BOOLEAN = {"id": "2", "question": "Ice floats.", "kind": "boolean", "answer": True}
ENTITIES = {"id": "3", "question": "Who?", "kind": "entities", "answer": ["Ann", "Bo"], "topic_entities": ["it"]}


def write(path: Path, *rows: Any) -> Path:
    path.write_bytes(b"\n".join(row if isinstance(row, bytes) else orjson.dumps(row) for row in rows) + b"\n")
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mine.jsonl"


def test_every_kind_is_read(file: Path) -> None:
    labelled = CHOICE | {"id": "4", "options": [{"label": "x", "text": "heat"}, {"label": "y", "text": "cold"}]}
    data = load_file(write(file, CHOICE, BOOLEAN, ENTITIES, labelled | {"answer": "cold"}))
    options = (Option("A", "heat"), Option("B", "a shadow"))
    assert data.items == (
        Item(Question("1", "What melts ice?", "choice", options), Gold(("A",))),
        Item(Question("2", "Ice floats.", "boolean"), Gold(("true",))),
        Item(Question("3", "Who?", "entities", (), ("it",)), Gold(("Ann", "Bo"))),
        Item(Question("4", "What melts ice?", "choice", (Option("x", "heat"), Option("y", "cold"))), Gold(("y",))),
    )
    assert data.exemplars is None
    assert validate_file(file) == []


@pytest.mark.parametrize(("given", "value"), [(False, "false"), ("True", "true"), ("false", "false")])
def test_truth_values(file: Path, given: Any, value: str) -> None:
    assert load_file(write(file, BOOLEAN | {"answer": given})).items[0].gold == Gold((value,))


def test_exemplars_are_not_asked_and_come_in_an_order_of_the_seed(file: Path) -> None:
    solved = [BOOLEAN | {"id": f"s{number}", "exemplar": True} for number in range(20)]
    write(file, *solved, CHOICE)
    orders = []
    for seed in (0, 0, 1):
        data = load_file(file, seed)
        assert [item.question.id for item in data.items] == ["1"]
        assert data.exemplars is not None
        orders.append([item.question.id for item in data.exemplars()])
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2]) == sorted(row["id"] for row in solved)


def test_blank_lines_and_a_byte_order_mark_do_not_matter(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + orjson.dumps(CHOICE) + b"\r\n\r\n" + orjson.dumps(BOOLEAN))
    assert len(load_file(file).items) == 2


def test_a_gzip_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl.gz"
    path.write_bytes(gzip.compress(orjson.dumps(CHOICE)))
    assert len(load_file(path).items) == 1
    whole = gzip.compress(orjson.dumps(CHOICE))
    flipped = bytearray(whole)
    flipped[len(flipped) // 2] ^= 0xFF
    for damaged in (whole[:-9], bytes(flipped), b"no gzip"):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match="gzip"):
            load_file(path)


def test_the_provenance_names_content_and_questions(file: Path) -> None:
    first = QuestionFile(write(file, CHOICE, BOOLEAN)).load(None, 0).provenance
    swapped = QuestionFile(write(file, BOOLEAN, CHOICE)).load(None, 0).provenance
    assert first["file"] == "mine.jsonl"
    assert first["split_hash"] == swapped["split_hash"]
    assert first["sha256"] != swapped["sha256"]


BAD: list[tuple[Any, str, str]] = [
    (b"{", "Not JSON", "JSON object a line"),
    (b"\xff\xfe", "Not JSON", "JSON object a line"),
    ([1, 2], "Not a JSON object", '"id"'),
    (CHOICE | {"id": None}, "No id", "must be a text"),
    (CHOICE | {"id": 7}, "No id", "must be a text"),
    (CHOICE | {"question": "  "}, "No question", "not empty"),
    (CHOICE | {"kind": "multi"}, "Unknown kind 'multi'", "choice, boolean, entities"),
    ({"id": "1", "question": "Q"}, "Unknown kind None", "choice, boolean, entities"),
    (CHOICE | {"options": []}, "2 to 26 options", "list"),
    (CHOICE | {"options": ["one"]}, "2 to 26 options", "list"),
    (CHOICE | {"options": "heat"}, "2 to 26 options", "list"),
    (CHOICE | {"options": ["a", ""]}, "Option 1 is malformed", "all"),
    (CHOICE | {"options": [{"label": "A", "text": "a"}, {"label": "B"}]}, "Option 2 is malformed", "label"),
    (
        CHOICE | {"options": [{"label": "A", "text": "a"}, {"label": "a", "text": "b"}]},
        "same label",
        "its own label",
    ),
    (CHOICE | {"answer": "C"}, "'C' is not among the options", "A, B"),
    (CHOICE | {"answer": None}, "No gold answer", '"answer"'),
    ({key: value for key, value in CHOICE.items() if key != "answer"}, "No gold answer", '"answer"'),
    (CHOICE | {"options": ["same", "same"], "answer": "same"}, "several options", "A, B"),
    (CHOICE | {"options": ["B", "A"]}, "several options", "A, B"),
    (BOOLEAN | {"answer": "maybe"}, "no truth value", "true or false"),
    (BOOLEAN | {"options": ["x", "y"]}, "has no options", "kind choice"),
    (ENTITIES | {"answer": []}, "No gold answer", '"answer"'),
    (ENTITIES | {"answer": ["Ann", 3]}, "Wrong answer", "list of entity names"),
    (ENTITIES | {"topic_entities": "it"}, "Wrong topic_entities", "list"),
    (CHOICE | {"exemplar": "yes"}, "Wrong exemplar", "true or false"),
    (CHOICE | {"topic_entites": []}, "Unknown key 'topic_entites'", "topic_entities"),
    (CHOICE | {"zzz": []}, "Unknown key 'zzz'", "meta"),
]


@pytest.mark.parametrize(("row", "message", "remedy"), BAD)
def test_a_malformed_row_is_named_with_file_line_and_remedy(file: Path, row: Any, message: str, remedy: str) -> None:
    write(file, BOOLEAN, b"", row)
    with pytest.raises(DataError) as caught:
        load_file(file)
    error = caught.value
    assert (error.file, error.line) == (file, 3)
    assert message in error.message
    assert remedy in (error.hint or "")
    if isinstance(row, dict) and isinstance(row.get("id"), str):
        assert error.row == row["id"]
    assert str(error) in map(str, validate_file(file))


def test_validate_reports_all_problems_in_order(file: Path) -> None:
    write(file, CHOICE | {"answer": "Z", "question": ""}, b"nonsense", BOOLEAN, BOOLEAN, ENTITIES | {"answer": ""})
    problems = validate_file(file)
    assert [problem.line for problem in problems] == [1, 1, 2, 4, 5]
    assert "Line 3 has the same id" in problems[3].message


def test_duplicate_ids_are_refused_also_among_exemplars(file: Path) -> None:
    with pytest.raises(DataError, match="Line 1 has the same id"):
        load_file(write(file, CHOICE | {"exemplar": True}, CHOICE))


@pytest.mark.parametrize("rows", [[], [CHOICE | {"exemplar": True}]])
def test_a_file_without_a_question(file: Path, rows: list[Any]) -> None:
    write(file, *rows)
    with pytest.raises(DataError, match="no question to ask"):
        load_file(file)
    assert len(validate_file(file)) == 1


def test_no_such_file(tmp_path: Path) -> None:
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(DataNotFoundError):
            load_file(path)
