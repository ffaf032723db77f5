"""`kgqa-bench score`: other people's predictions and runs, all protocols side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture
def predictions(tmp_path: Path) -> Path:
    """Rows as RoG writes them: prose that names the answer, a list, and a line that broke off."""
    rows = [
        {"id": "a", "prediction": "I think of Russia", "ground_truth": ["US"]},
        {"id": "b", "prediction": ["Paris", "Rome"], "ground_truth": ["Paris"]},
    ]
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def plain(tmp_path: Path) -> tuple[Path, Path]:
    """Lists of ids, and the gold of a built benchmark."""
    gold = [
        {"id": "a", "answer": ["1", "2"], "hard_answers": ["2"], "primary": "2", "rule_type": "symmetry", "hops": 1},
        {"id": "b", "answer": ["3"], "hard_answers": ["3"], "primary": "3", "rule_type": "composition", "hops": 2},
    ]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    (tmp_path / "mine.jsonl").write_text('{"id": "a", "prediction": ["2"]}\n{"id": "b", "prediction": ["4"]}\n')
    return tmp_path / "mine.jsonl", tmp_path / "gold.jsonl"


def test_side_by_side(cli, predictions: Path) -> None:
    done = cli("score", str(predictions))
    assert done.code == 0
    rows = {line.split()[0]: line.split()[1] for line in done.out.splitlines() if len(line.split()) > 5}
    assert {name: rows[name] for name in ("strict_text", "rog", "tog", "brink", "gcr", "subgraphrag")} == {
        "strict_text": "0.5000", "brink": "0.5000", "rog": "1.0000", "gcr": "1.0000", "subgraphrag": "1.0000",
        "tog": "1.0000",
    }  # fmt: skip
    assert "Hits@Any: 0.5000 of the difference is the scorer (gcr 1.0000, strict_text 0.5000)" in done.out
    assert "asked 2 = answered 2 + unanswered 0" in done.out
    assert "compare ids need --labels" in done.out
    assert "strict_ids" not in done.out


def test_json_of_named_protocols(cli, predictions: Path) -> None:
    done = cli("score", str(predictions), "--protocol", "rog", "--protocol", "STRICT_IDS", "--json")
    report = json.loads(done.out)
    assert list(report["protocols"]) == ["rog", "strict_ids"]
    f1 = report["protocols"]["rog"]["scores"]["f1"]
    assert f1["value"] == pytest.approx((1 + 2 / 3) / 2)
    assert f1["signature"].startswith("f1|protocol:rog|protocol_v:1|unit:text|split:")
    assert report["spread"]["hits_any"]["difference"] == 0.5


def test_intervals_stay_on_one_line_of_80_columns(cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wilson's of 1 in 1 is 1/(1 + z²) to 1."""
    path = tmp_path / "p.jsonl"
    path.write_text('{"id": "a", "prediction": ["1"], "gold": ["1"]}\n')
    monkeypatch.setenv("COLUMNS", "80")
    lines = cli("score", str(path), "--protocol", "strict_ids").out.splitlines()
    (number,) = [place for place, line in enumerate(lines) if line.split()[:1] == ["strict_ids"]]
    assert lines[number].split() == ["strict_ids", *["1.0000"] * 6]
    assert lines[number + 1].split() == [".207–1.00"] * 3


def test_what_is_wrong_is_told(cli, predictions: Path) -> None:
    with predictions.open("a") as stream:
        stream.write('{"id": "b", "prediction": ["Rome"], "ground_truth": ["Paris"]}\n{"id": "c", "predic')
    done = cli("score", str(predictions), "--protocol", "strict_text")
    assert done.code == 1
    assert "asked 3 = answered 2 + unanswered 1 (1 unreadable line), which score 0" in done.out
    assert "ignored: 1 duplicate id (the last one counts)" in done.out
    assert "unreadable line: line 4" in done.out


def test_hard_answers_by_rule_type(cli, plain: tuple[Path, Path]) -> None:
    path, gold = plain
    done = cli("score", str(path), "--gold", str(gold))
    assert done.code == 0
    assert "strict_ids by rule type" in done.out
    line = next(line for line in done.out.splitlines() if "symmetry (n 1)" in line)
    assert line.split()[-4:] == ["1.0000", "1.0000", "1.0000", "1.0000"]
    line = next(line for line in done.out.splitlines() if "composition (n 1)" in line)
    assert line.split()[-4:] == ["0.0000", "0.0000", "undefined", "undefined"]
    report = json.loads(cli("score", str(path), "--gold", str(gold), "--json").out)
    strict = report["protocols"]["strict_ids"]
    assert strict["scores"]["hhr"]["value"] == 1.0
    assert strict["by_group"]["rule_type"]["composition"]["hhr"] is None
    assert set(strict["by_group"]) == {"rule_type", "hops"}
    assert set(report["protocols"]) >= {"strict_ids", "strict_text", "gerbil", "rog"}


def test_labels_link_words_to_ids(cli, tmp_path: Path, plain: tuple[Path, Path]) -> None:
    _path, gold = plain
    (tmp_path / "words.jsonl").write_text(
        '{"id": "a", "prediction": "Oslo\\nBonn"}\n{"id": "b", "prediction": "rome"}\n'
    )
    (tmp_path / "labels.tsv").write_text("2\tOslo\n3\tRome\n")
    done = cli("score", str(tmp_path / "words.jsonl"), "--gold", str(gold), "--labels", str(tmp_path / "labels.tsv"))
    assert "linking: 2 linked, 1 unlinked" in done.out
    assert "linking:1" in done.out
    assert "noted: 1 gold answer that has no label" in done.out
    strict = next(line for line in done.out.splitlines() if line.split()[:1] == ["strict_ids"])
    assert strict.split()[1:4] == ["1.0000", "1.0000", "0.7500"]
    words = next(line for line in done.out.splitlines() if line.split()[:1] == ["strict_text"])
    assert words.split()[1:4] == ["1.0000", "1.0000", "0.7500"]


def test_a_run(cli, tmp_path: Path) -> None:
    """Of a finished run of choice questions, whose answers are letters, only rules for ids make sense."""
    cli("run", "--method", "majority", "--benchmark", "obqa-mini", "--limit", "4", "--out", str(tmp_path / "run"))
    done = cli("score", str(tmp_path / "run"), "--json")
    assert done.code == 0
    report = json.loads(done.out)
    assert set(report["protocols"]) == {"strict_ids", "gerbil"}
    assert report["ledger"]["asked"] == 4
    assert "benchmark:obqa-mini" in report["protocols"]["strict_ids"]["scores"]["hits_any"]["signature"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--protocol", "rogg"], "Did you mean rog?"),
        (["--gold", "nowhere.json"], "nowhere.json"),
        (["--labels", "nowhere.tsv"], "nowhere.tsv"),
        (["--replies"], "no run directory"),
    ],
)
def test_wrong_words(cli, predictions: Path, words: list[str], said: str) -> None:
    done = cli("score", str(predictions), *words)
    assert done.code == 2
    assert said in done.err


def test_nothing_to_score(cli, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    assert cli("score", str(tmp_path / "empty.jsonl")).code == 2
    assert cli("score", str(tmp_path / "none.jsonl")).code == 2


@pytest.mark.data
def test_published_files(cli, real_data: Path) -> None:
    """The example files that BRINK publishes, and GNN-RAG's published totals."""
    folder = real_data / "predictions"
    done = cli("score", str(folder / "example_pred.json"), "--gold", str(folder / "example_gold.json"), "--json")
    brink = json.loads(done.out)["protocols"]["brink"]["scores"]
    assert {name: each["value"] for name, each in brink.items()} == dict.fromkeys(brink, 1.0)
    assert {"hits_any", "precision", "recall", "f1", "hits_hard_primary", "hhr"} <= set(brink)
    done = cli("score", str(folder / "gnn_rag_llama2chat_webqsp.jsonl"), "--json")
    report = json.loads(done.out)
    rog = report["protocols"]["rog"]["scores"]
    found = [rog[name]["value"] * 100 for name in ("hits_any", "hits_at_1", "f1", "accuracy")]
    assert found == pytest.approx((86.7936, 6.1425, 36.2566, 74.9025), abs=1e-4)
    assert report["spread"]["hits_any"]["difference"] == pytest.approx(0.8692 - 0.2230, abs=1e-4)
