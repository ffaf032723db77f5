"""Other people's files: what counts, what does not, and that all of it is told."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from kgqa_bench.errors import ConfigError, DataError, DataNotFoundError, RunDirectoryError
from kgqa_bench.predictions.gold import read_gold
from kgqa_bench.predictions.read import read_predictions

GOLD = [{"id": "a", "answers": ["1", "2"], "hard_answer": "2"}, {"id": "b", "answers": ["3"], "hard_answer": "3"}]


def test_rog_rows_bring_their_gold(write: Callable[..., Path]) -> None:
    row = {"id": "q", "prediction": "Paris\nRome", "ground_truth": ["Paris"], "f1": 0.5}
    found = read_predictions(write("p.jsonl", [row]))
    assert (found.form, found.unit) == ("prediction", "text")
    (only,) = found.rows["text"]
    assert (only.predictions, only.raw, only.gold) == (("Paris", "Rome"), "Paris\nRome", ("Paris",))
    assert (found.ledger.asked, found.ledger.answered) == (1, 1)


def test_brink_list_with_its_gold_file(write: Callable[..., Path]) -> None:
    path = write("p.json", [{"id": "a", "raw_output": "1, 2"}, {"id": "b", "raw_output": None}])
    found = read_predictions(path, write("gold.json", GOLD))
    first, second = found.rows["text"]
    assert (first.raw, first.gold, first.hard, first.primary) == ("1, 2", ("1", "2"), ("2",), "2")
    assert not second.answered
    assert dict(found.ledger.unanswered) == {"null prediction": 1}


def test_a_file_without_gold_needs_some(write: Callable[..., Path]) -> None:
    with pytest.raises(ConfigError, match="--gold"):
        read_predictions(write("p.jsonl", [{"id": "a", "prediction": ["1"]}]))


def test_a_file_without_predictions(write: Callable[..., Path]) -> None:
    with pytest.raises(DataError, match="prediction, predictions, raw_output"):
        read_predictions(write("p.jsonl", [{"id": "a", "answers": ["1"]}]))


def test_every_odd_row_is_in_the_ledger(write: Callable[..., Path]) -> None:
    rows = [
        {"id": "a", "prediction": ["1"]},
        {"id": "a", "prediction": ["2"]},
        {"id": "unknown", "prediction": ["2"]},
        {"prediction": ["2"]},
        [1, 2],
        '{"id": "b", "predic',
    ]
    ledger = read_predictions(write("p.jsonl", rows), write("gold.json", GOLD)).ledger
    assert (ledger.asked, ledger.answered, dict(ledger.unanswered)) == (2, 1, {"missing": 1})
    assert dict(ledger.ignored) == {
        "duplicate id (the last one counts)": 1,
        "id without gold answer": 1,
        "no id": 1,
        "row is no object": 1,
        "unreadable line": 1,
    }
    assert ledger.examples["unreadable line"] == ["line 6"]
    assert ledger.examples["missing"] == ["b"]


def test_the_last_of_duplicates_counts(write: Callable[..., Path]) -> None:
    rows = [{"id": "a", "prediction": ["1"]}, {"id": "a", "prediction": ["2"]}]
    found = read_predictions(write("p.jsonl", rows), write("gold.json", GOLD))
    assert found.rows["ids"][0].predictions == ("2",)


def test_with_its_own_gold_an_unreadable_line_stays_in_the_denominator(write: Callable[..., Path]) -> None:
    rows = [{"id": "a", "prediction": ["1"], "gold": ["1"]}, '{"id": "b", "pre', {"id": "c", "prediction": ["1"]}]
    found = read_predictions(write("p.jsonl", rows))
    assert found.ledger.asked == 3 == len(found.rows["ids"])
    assert dict(found.ledger.unanswered) == {"unreadable line": 1, "no gold answer in the row": 1}


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"x": 1}, "wrong type of prediction"),
        ([["1"]], "wrong type of prediction"),
        ([True], "wrong type of prediction"),
        (1.5, "wrong type of prediction"),
        (False, "wrong type of prediction"),
        (None, "null prediction"),
        ([None], "null prediction"),
    ],
)
def test_wrong_types_score_0(write: Callable[..., Path], value: object, problem: str) -> None:
    found = read_predictions(write("p.jsonl", [{"id": "a", "prediction": value, "gold": ["1"]}]))
    assert dict(found.ledger.unanswered) == {problem: 1}
    assert not found.rows["ids"][0].answered


@pytest.mark.parametrize(
    ("value", "predictions"),
    [(7, ("7",)), ([7, "8", None], ("7", "8")), ("7", ("7",)), ([], ()), ("", ("",))],
)
def test_numbers_are_ids_and_nulls_in_lists_are_left_out(
    write: Callable[..., Path], value: object, predictions: tuple[str, ...]
) -> None:
    found = read_predictions(write("p.jsonl", [{"id": 5, "prediction": value, "gold": [7]}]))
    (row,) = found.rows["ids"]
    assert (row.id, row.predictions, row.gold, row.answered) == ("5", predictions, ("7",), True)
    assert ("empty prediction" in found.ledger.noted) == (not any(predictions))


def test_empty_gold_is_noted(write: Callable[..., Path]) -> None:
    found = read_predictions(write("p.jsonl", [{"id": "a", "prediction": ["1"], "ground_truth": []}]))
    assert dict(found.ledger.noted) == {"empty gold": 1}
    assert found.ledger.answered == 1


def test_wrong_gold_in_the_file(write: Callable[..., Path]) -> None:
    found = read_predictions(
        write(
            "p.jsonl",
            [{"id": "a", "prediction": ["1"], "gold": {"x": 1}}, {"id": "b", "prediction": ["1"], "gold": "1"}],
        )
    )
    assert dict(found.ledger.unanswered) == {"wrong type of gold answer": 1}


def test_half_a_json_list(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text('[{"id": "a", "raw_output": "1"}, {"id"')
    with pytest.raises(DataError, match="Not a whole JSON list"):
        read_predictions(path)


def test_gzip_and_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl.gz"
    path.write_bytes(gzip.compress(b'\xef\xbb\xbf{"id": "a", "prediction": ["1"], "gold": ["1"]}\r\n\r\n'))
    assert read_predictions(path).ledger.answered == 1


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(DataNotFoundError):
        read_predictions(tmp_path / "none.jsonl")
    with pytest.raises(DataNotFoundError, match="no run directory"):
        read_predictions(tmp_path)


@pytest.mark.parametrize(
    "row", [{"id": "a"}, {"answers": ["1"]}, {"id": "a", "answers": {"x": 1}}, {"id": "a", "answers": [[1]]}]
)
def test_gold_must_be_whole(write: Callable[..., Path], row: dict) -> None:
    with pytest.raises(DataError, match="Gold answers must be whole"):
        read_gold(write("gold.jsonl", [{"id": "z", "answers": ["1"]}, row]))


def test_gold_with_an_id_twice(write: Callable[..., Path]) -> None:
    with pytest.raises(DataError, match="same id"):
        read_gold(write("gold.json", [GOLD[0], GOLD[0]]))


def test_gold_of_a_built_benchmark() -> None:
    """Of the shipped one the test split, with the facts of its derivations."""
    from kgqa_bench.benchmarks import family_mini

    folder = Path(family_mini.__file__).parent
    gold = read_gold(folder)
    assert gold == read_gold(folder / "questions.test.jsonl")
    row = gold["006"]
    assert (row.answers, row.hard, row.primary) == (("1495", "2435"), ("1495",), "1495")
    assert row.groups == {"rule_type": "composition", "hops": "2", "twin": "inverse", "topic": "9505"}
    assert row.question == "Who is 9505 the son of?"


def test_gold_of_own_questions_with_options(write: Callable[..., Path]) -> None:
    row = {"id": "q", "question": "?", "kind": "choice", "options": ["x", "y"], "answer": "y"}
    assert read_gold(write("questions.jsonl", [row]))["q"].answers == ("B",)


def test_run(run_directory: Callable[..., Path], derivation: dict) -> None:
    """A failed and an unreached question stay; of two rows of a question the later counts."""
    path = run_directory(
        [
            {"question_id": "a", "predictions": [["1", None]]},
            {"question_id": "a", "predictions": [["2", 0.5], ["3", None]], "gold": ["2"], "hard_answers": ["2"],
             "primary": "2", "derivation": derivation, "raw": "two\nor 3"},
            {"question_id": "b", "error": {"reason": "timeout", "message": "late"}},
            {"question_id": "c", "status": "parse_failed", "raw": "hm"},
            {"question_id": "d", "status": "abstained"},
        ],
        asked=6,
    )  # fmt: skip
    found = read_predictions(path)
    first = found.rows["ids"][0]
    assert (first.predictions, first.gold, first.hard, first.primary, first.raw) == (
        ("2", "3"),
        ("2",),
        ("2",),
        "2",
        None,
    )
    assert first.groups == {"topic": "9", "rule_type": "symmetry", "hops": "1", "twin": "symmetric"}
    ledger = found.ledger
    assert (ledger.asked, ledger.answered) == (6, 2)
    assert dict(ledger.unanswered) == {"timeout": 1, "parse_failed": 1, "missing": 2}
    assert not ledger.ignored
    assert (found.parts["split"], found.parts["graph"], found.parts["n"]) == ("eeeeeeee", "ffffffff", "6")
    whole = read_predictions(path, replies=True)
    assert whole.rows["text"][0].predictions == ("two", "or 3")
    assert whole.unit == "text"


def test_run_of_choices_has_labels(run_directory: Callable[..., Path]) -> None:
    rows = [{"question_id": "a", "gold": ["A"]}, {"question_id": "b", "gold": ["true"]}]
    assert read_predictions(run_directory(rows, asked=2)).unit == "labels"


def test_run_with_repeats(run_directory: Callable[..., Path]) -> None:
    rows = [{"question_id": "a", "repeat": 1, "predictions": [["1", None]]}]
    found = read_predictions(run_directory(rows, asked=1, repeats=3))
    assert (found.ledger.asked, found.ledger.answered) == (3, 1)
    assert [row.answered for row in found.rows["ids"]] == [False, True, False]


def test_damaged_run(run_directory: Callable[..., Path]) -> None:
    path = run_directory([], asked=1)
    (path / "records.jsonl").write_text("{}\n")
    with pytest.raises(RunDirectoryError, match="line 1"):
        read_predictions(path)


def test_replies_of_a_file(write: Callable[..., Path]) -> None:
    with pytest.raises(ConfigError, match="no run directory"):
        read_predictions(write("p.jsonl", [{"id": "a", "prediction": "1", "gold": "1"}]), replies=True)
