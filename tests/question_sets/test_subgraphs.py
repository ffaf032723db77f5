from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from kgqa_bench.errors import DataError
from kgqa_bench.question_sets.subgraphs import read_subgraphs, split_of

ROG: dict[str, Any] = {
    "id": "WebQTest-1",
    "question": "where is x",
    "answer": ["Paris", "France"],
    "q_entity": ["X"],
    "a_entity": ["Paris"],
    "graph": [["X", "located.in", "Paris"], ["Paris", "in", "France"]],
    "choices": [],
}
EPR = {
    "id": "WebQTrn-9",
    "question": "how old",
    "entities": ["m.0"],
    "answers": [{"kb_id": "1971-10-13", "text": None}],
    "subgraph": {"tuples": [["m.0", "p", "m.1"]], "entities": ["m.0", "m.1"]},
}


@pytest.mark.parametrize("form", ["test.jsonl", "test.jsonl.gz", "test.json", "test-00000-of-00001.parquet"])
def test_rogs_rows_in_every_file_form(tmp_path: Path, form: str) -> None:
    path = tmp_path / form
    if form.endswith("json"):
        path.write_text(json.dumps([ROG]))
    elif form.endswith("parquet"):
        parquet.write_table(pa.Table.from_pylist([ROG]), path)
    elif form.endswith("gz"):
        path.write_bytes(gzip.compress(json.dumps(ROG).encode()))
    else:
        path.write_text(json.dumps(ROG) + "\n")
    (question,) = read_subgraphs(path)
    assert (question.id, question.split, question.topics) == ("WebQTest-1", "test", ("X",))
    assert (question.answers, question.answer_entities) == (("Paris", "France"), ("Paris",))
    assert question.triples == (("X", "located.in", "Paris"), ("Paris", "in", "France"))


def test_epr_rows(tmp_path: Path) -> None:
    path = tmp_path / "dev_simple.jsonl"
    path.write_text(json.dumps(EPR) + "\n")
    (question,) = read_subgraphs(path)
    assert (question.split, question.topics, question.answers) == ("dev", ("m.0",), ("1971-10-13",))
    assert question.triples == (("m.0", "p", "m.1"),)


@pytest.mark.parametrize(
    "change",
    [
        {"graph": [["a", "b"]]},
        {"graph": "x"},
        {"question": ""},
        {"q_entity": [1]},
        {"id": None},
        {"graph": [[1, 2, 3]]},
    ],
)
def test_a_malformed_row_is_named(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text(f"{json.dumps(ROG)}\n\n{json.dumps({**ROG, **change})}\n")
    with pytest.raises(DataError, match="line 3"):
        list(read_subgraphs(path))


def test_broken_files(tmp_path: Path) -> None:
    for name, content in {"a.jsonl": b"{", "b.json": b"[1]", "c.jsonl.gz": b"x", "d.parquet": b"PAR1"}.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(DataError):
            list(read_subgraphs(path))


def test_splits_by_name() -> None:
    assert [split_of(Path(name)) for name in ("validation-0-of-1.parquet", "my_test.json", "latest.json")] == [
        "validation",
        "test",
        "latest",
    ]


@pytest.mark.data
def test_real(real_data: Path) -> None:
    questions = list(read_subgraphs(real_data / "webqsp" / "dev_simple.jsonl"))
    assert len(questions) == 250
    assert all(question.triples is not None for question in questions)
    assert sum(not question.topics for question in questions) == 1
