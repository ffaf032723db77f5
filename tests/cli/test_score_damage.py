"""Damaged and odd files of predictions: each is counted in the ledger or refused with file, place and remedy."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

ROW = b'{"id": "a", "prediction": ["1"], "gold": ["1"]}'
OTHER = b'{"id": "b", "prediction": %s, "gold": ["1"]}'

# name, second line, what the ledger says about it
ODD_ROWS = [
    ("half a line", OTHER[:20], {"unreadable line": 1}),
    ("NaN is no JSON", OTHER % b"NaN", {"unreadable line": 1}),
    ("half a letter", OTHER % b'["\\ud800"]', {"unreadable line": 1}),
    ("not UTF-8", OTHER % b'["\xfc"]', {"unreadable line": 1}),
    ("NUL bytes", b"\0" * 50, {"unreadable line": 1}),
    ("nested too deep to be read", OTHER % (b"[" * 100_000 + b"]" * 100_000), {"unreadable line": 1}),
    ("nested", OTHER % (b"[" * 900 + b"]" * 900), {"wrong type of prediction": 1}),
    ("null", OTHER % b"null", {"null prediction": 1}),
    ("only nulls", OTHER % b"[null, null]", {"null prediction": 1}),
    ("an object", OTHER % b'{"answer": "1"}', {"wrong type of prediction": 1}),
    ("a fraction", OTHER % b"1.0", {"wrong type of prediction": 1}),
    ("a truth value", OTHER % b"true", {"wrong type of prediction": 1}),
    ("a number beyond 64 bits", OTHER % (b"[" + b"9" * 30 + b"]"), {"wrong type of prediction": 1}),
    ("no prediction", b'{"id": "b", "gold": ["1"]}', {"no prediction in the row": 1}),
    ("no gold", b'{"id": "b", "prediction": ["1"]}', {"no gold answer in the row": 1}),
    ("gold of a wrong type", b'{"id": "b", "prediction": ["1"], "gold": [["1"]]}', {"wrong type of gold answer": 1}),
    ("null gold", b'{"id": "b", "prediction": ["1"], "gold": [null]}', {"wrong type of gold answer": 1}),
    ("hard gold of a wrong type", b'{"id": "b", "prediction": "1", "gold": "1", "hard_answer": {}}',
     {"wrong type of gold answer": 1}),
    ("no id", b'{"prediction": ["1"], "gold": ["1"]}', {"no id": 1}),
    ("null id", b'{"id": null, "prediction": ["1"], "gold": ["1"]}', {"no id": 1}),
    ("empty id", b'{"id": "", "prediction": ["1"], "gold": ["1"]}', {"no id": 1}),
    ("fraction for an id", b'{"id": 1.5, "prediction": ["1"], "gold": ["1"]}', {"wrong type of id": 1}),
    ("truth value for an id", b'{"id": true, "prediction": ["1"], "gold": ["1"]}', {"wrong type of id": 1}),
    ("list for an id", b'{"id": ["b"], "prediction": ["1"], "gold": ["1"]}', {"wrong type of id": 1}),
    ("a number", b"7", {"row is no object": 1}),
    ("a list", b"[1, 2]", {"row is no object": 1}),
]  # fmt: skip


@pytest.mark.parametrize("first", [False, True], ids=["second", "first"])
@pytest.mark.parametrize(("line", "unanswered"), [case[1:] for case in ODD_ROWS], ids=[case[0] for case in ODD_ROWS])
def test_an_odd_row_scores_0_and_is_told(cli, tmp_path: Path, line: bytes, unanswered: dict, first: bool) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(b"\n".join([line, ROW] if first else [ROW, line]) + b"\n")
    done = cli("score", str(path), "--protocol", "strict_ids", "--json")
    assert (done.code, done.err) == (1, "")
    report = json.loads(done.out)
    assert report["ledger"]["unanswered"] == unanswered
    assert (report["ledger"]["asked"], report["ledger"]["answered"]) == (2, 1)
    (reason,) = unanswered
    assert report["ledger"]["examples"][reason] in (["b"], ["line 1" if first else "line 2"])
    assert report["protocols"]["strict_ids"]["scores"]["f1"]["value"] == 0.5


WHOLE = [
    ("byte order mark", b"\xef\xbb\xbf" + ROW + b"\n", 1),
    ("CRLF and blank lines", ROW + b"\r\n\r\n  \r\n" + OTHER % b'["1"]' + b"\r\n", 2),
    ("no line end", ROW, 1),
    ("a list after much space", b" " * 200 + b"\n[" + ROW + b"]", 1),
    ("gzipped without the name", gzip.compress(ROW), 1),
    ("gzipped list", gzip.compress(b"[" + ROW + b"]"), 1),
    ("NUL and line separators within texts", OTHER % b'["1", "\\u0000\\u2028"]', 1),
    ("huge line", OTHER % (b'["1", "' + b"x" * 5_000_000 + b'"]'), 1),
]


@pytest.mark.parametrize(("content", "answered"), [case[1:] for case in WHOLE], ids=[case[0] for case in WHOLE])
def test_odd_but_whole(cli, tmp_path: Path, content: bytes, answered: int) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(content)
    done = cli("score", str(path), "--protocol", "strict_ids", "--json")
    assert (done.code, done.err) == (0, "")
    report = json.loads(done.out)
    assert (report["ledger"]["asked"], report["ledger"]["answered"]) == (answered, answered)
    assert report["protocols"]["strict_ids"]["scores"]["hits_any"]["value"] == 1.0


REFUSED = [
    ("empty", b"", ["no row with predictions", "JSON lines or a JSON list"]),
    ("blank", b"\n  \n", ["no row with predictions"]),
    ("empty list", b"[]", ["no row with predictions"]),
    ("UTF-16", ROW.decode().encode("utf-16"), ["line 1", "UTF-16", "Convert the file to UTF-8."]),
    ("UTF-16 without mark", ROW.decode().encode("utf-16-le"), ["line 1 (unreadable line)", "JSON lines"]),
    ("half a list", b"[" + ROW + b",\n" + ROW[:9], ["line 2", "Not a whole JSON list", "one JSON object a line"]),
    ("NaN in a list", b"[" + ROW + b",\n" + OTHER % b"NaN" + b"]", ["line 2", "Not a whole JSON list"]),
    ("nested list", b"[" * 100_000, ["line 1", "Not a whole JSON list"]),
    ("half a gzip file", gzip.compress(ROW * 1000)[:40], ["Cannot be read", "Get it again"]),
    ("picture", bytes(range(256)) * 20, ["line 1 (unreadable line)"]),
    ("table", b"id,prediction\na,1\n", ["line 1 (unreadable line)", "JSON lines or a JSON list"]),
    (
        "answers by id",
        b'{"a": ["1"], "b": ["2"]}',
        ["line 1 (no id)", "prediction, predictions, raw_output, results"],
    ),
    ("a number", b"7", ["line 1 (row is no object)"]),
    ("no gold at all", b'{"id": "a", "prediction": ["1"]}', ["ground_truth, gold, answers", "--gold"]),
    ("no id at all", b'{"prediction": ["1"], "gold": ["1"]}', ["line 1 (no id)"]),
]


@pytest.mark.parametrize(("content", "said"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_refused(cli, tmp_path: Path, content: bytes, said: list[str]) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(content)
    done = cli("score", str(path))
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"Error: {path}")
    assert done.err.count("\n") == 1
    for words in said:
        assert words in done.err


def test_no_file(cli, tmp_path: Path) -> None:
    for path, said in ((tmp_path, "no run directory"), (tmp_path / "none.jsonl", "no file of predictions")):
        done = cli("score", str(path))
        assert done.code == 2
        assert said in done.err
        assert "Give a run directory or a file of predictions." in done.err


def test_examples_are_short_and_harmless(cli, tmp_path: Path) -> None:
    """An id of a megabyte, and one that would move the terminal's cursor."""
    path = tmp_path / "p.jsonl"
    rows = [
        {"id": "x" * 1_000_000, "prediction": None, "gold": "1"},
        {"id": "\x1b[2J", "prediction": None, "gold": "1"},
    ]
    path.write_bytes(ROW + b"\n" + "\n".join(map(json.dumps, rows)).encode())
    done = cli("score", str(path))
    assert f"null prediction: {'x' * 79}…, \ufffd[2J" in done.out


GOLD_DAMAGE = [
    (b"", "no question"),
    (b'{"id": "a", "answers": ["1"]}\n{"id": "b", "ans', "line 2"),
    (b'{"id": "a", "answers": ["1"]}\n{"id": "b", "answers": [NaN]}', "line 2"),
    (b'{"id": "a", "answers": ["1"]}\n{"id": "a", "answers": ["2"]}', "line 2: row 'a': An earlier row"),
    (b'{"id": "a", "answers": ["1"]}\n{"answers": ["2"]}', "line 2"),
    (b'{"id": "a", "answers": ["1"]}\n{"id": "b", "answers": [null]}', "line 2"),
    (b'{"id": "a", "answers": ["1"]}'.decode().encode("utf-16"), "line 1"),
    (b'[{"id": "a", "answers": ["1"]}', "g.json"),
    (b"7", "g.json"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "said"), GOLD_DAMAGE)
def test_damaged_gold_is_refused(cli, tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "p.jsonl").write_bytes(ROW)
    (tmp_path / "g.json").write_bytes(content)
    done = cli("score", str(tmp_path / "p.jsonl"), "--gold", str(tmp_path / "g.json"))
    assert (done.code, done.out) == (2, "")
    assert str(tmp_path / "g.json") in done.err
    assert said in done.err


def test_ids_that_do_not_meet(cli, tmp_path: Path) -> None:
    """Unknown, twice, as a number, and missing: all in the ledger, and the denominator is the gold's."""
    gold = [{"id": each, "answers": ["1"]} for each in ("1", "2", "3", "4")]
    rows = [
        {"id": each, "prediction": [said]} for each, said in ((1, "1"), ("2", "1"), (2, "9"), ("5", "1"), (" 3", "1"))
    ]
    (tmp_path / "g.json").write_text(json.dumps(gold))
    (tmp_path / "p.json").write_text(json.dumps(rows))
    done = cli("score", str(tmp_path / "p.json"), "--gold", str(tmp_path / "g.json"), "-p", "strict_ids", "--json")
    assert done.code == 1
    report = json.loads(done.out)
    assert report["ledger"] == {
        "asked": 4,
        "answered": 2,
        "unanswered": {"missing": 2},
        "ignored": {"duplicate id (the last one counts)": 1, "id without gold answer": 2},
        "noted": {},
        "examples": {
            "duplicate id (the last one counts)": ["2"],
            "id without gold answer": ["5", " 3"],
            "missing": ["3", "4"],
        },
    }
    assert report["protocols"]["strict_ids"]["scores"]["hits_any"]["value"] == 1 / 4
