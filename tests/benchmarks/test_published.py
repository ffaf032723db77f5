"""obqa, csqa, csqa2, medqa: the same rows from a folder and from the hub; splits, draws, errors."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest

from kgqa_bench import registry
from kgqa_bench.contracts import BenchmarkData
from kgqa_bench.errors import ConfigError, DataError, DataNotFoundError

LETTERS = "ABCDE"


class Case(NamedTuple):
    """One benchmark with rows as its authors publish them and as the hub has them."""

    name: str
    hub: str
    config: str | None
    split: str
    hub_split: str
    file: str
    exemplar_file: str
    exemplar_split: str


CASES = [
    Case(
        "obqa", "allenai/openbookqa", "main", "test", "test",
        "openbookqa/test.jsonl", "openbookqa/train.jsonl", "train",
    ),
    Case(
        "csqa", "tau/commonsense_qa", None, "dev", "validation",
        "commonsenseqa/dev_rand_split.jsonl", "commonsenseqa/train_rand_split.jsonl", "train",
    ),
    Case(
        "csqa2", "tasksource/commonsense_qa_2.0", None, "dev", "validation",
        "commonsenseqa2/CSQA2_dev.json.gz", "commonsenseqa2/CSQA2_train.json.gz", "train",
    ),
    Case(
        "medqa", "GBaker/MedQA-USMLE-4-options", None, "test", "test",
        "medqa/test.jsonl", "medqa/test.jsonl", "test",
    ),
]  # fmt: skip
BY_NAME = {case.name: case for case in CASES}
each = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def local_row(name: str, number: int) -> dict[str, Any]:
    """Row ``number`` as the authors' files have it."""
    key = LETTERS[number % 4]
    choices = [
        {"label": label, "text": f"text {label} of {number}"} for label in LETTERS[: 5 if name == "csqa" else 4]
    ]
    if name == "obqa":
        return {"id": f"id-{number}", "question": {"stem": f"Stem {number}?", "choices": choices}, "answerKey": key}
    if name == "csqa":
        question = {"stem": f"Stem {number}?", "question_concept": f"thing {number}", "choices": choices}
        return {"id": f"id-{number}", "question": question, "answerKey": key}
    if name == "csqa2":
        answer = "yes" if number % 2 else "no"
        return {"id": f"id-{number}", "question": f"Claim {number}.", "answer": answer, "confidence": 0.5}
    options = {choice["label"]: choice["text"] for choice in choices}
    return {"question": f"Case {number}?", "answer": options[key], "options": options, "answer_idx": key}


def hub_row(name: str, row: dict[str, Any]) -> dict[str, Any]:
    """The same row in the hub's columns."""
    if name in ("csqa2", "medqa"):
        return row
    question = row["question"]
    columns = {key: [choice[key] for choice in question["choices"]] for key in ("text", "label")}
    common = {"id": row["id"], "choices": columns, "answerKey": row["answerKey"]}
    if name == "obqa":
        return common | {"question_stem": question["stem"]}
    return common | {"question": question["stem"], "question_concept": question["question_concept"]}


def load(name: str, data: Path | None, seed: int = 0, **settings: Any) -> BenchmarkData:
    result: BenchmarkData = registry.create("benchmarks", name, settings).load(data, seed)
    return result


def publish(hub: Any, case: Case, rows: list[dict[str, Any]], solved: list[dict[str, Any]]) -> None:
    hub.tables[case.hub, case.config, case.exemplar_split] = [hub_row(case.name, row) for row in solved]
    hub.tables[case.hub, case.config, case.hub_split] = [hub_row(case.name, row) for row in rows]


@each
def test_a_folder_and_the_hub_give_the_same_rows(case: Case, fake_hub: Any, write_rows: Any, tmp_path: Path) -> None:
    rows = [local_row(case.name, number) for number in range(12)]
    solved = rows if case.exemplar_file == case.file else [local_row(case.name, number) for number in range(50, 58)]
    write_rows(tmp_path / case.exemplar_file, solved)
    write_rows(tmp_path / case.file, rows)
    publish(fake_hub, case, rows, solved)
    local, remote = (load(case.name, data, seed=3, size=5) for data in (tmp_path, None))
    assert local.items == remote.items
    assert len(local.items) == 5
    assert local.exemplars is not None and remote.exemplars is not None
    assert list(local.exemplars()) == list(remote.exemplars())
    assert local.provenance["source"] == {"file": case.file}
    settings = registry.create("benchmarks", case.name).settings
    assert remote.provenance["source"] == {"hub": case.hub, "revision": settings.revision}
    assert len(settings.revision) == 40
    same = {key: value for key, value in local.provenance.items() if key != "source"}
    assert same == {key: value for key, value in remote.provenance.items() if key != "source"}
    assert fake_hub.calls[0] == (case.hub, case.config, case.hub_split, settings.revision)


@pytest.mark.data
@each
def test_real_rows_are_the_same_in_the_hubs_columns(case: Case, fake_hub: Any, real_data: Path) -> None:
    path = real_data / case.file
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    publish(fake_hub, case, [orjson.loads(line) for line in content.splitlines()], [])
    assert load(case.name, real_data).items == load(case.name, None).items


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "asked", "rows", "kind", "options", "exemplars"),
    [
        ("obqa", 500, 500, "choice", 4, 4957),
        ("csqa", 500, 1221, "choice", 5, 9741),
        ("csqa2", 500, 2541, "boolean", 0, 9264),
        ("medqa", 200, 1273, "choice", 4, 1073),
    ],
)
def test_the_papers_splits(
    real_data: Path, name: str, asked: int, rows: int, kind: str, options: int, exemplars: int
) -> None:
    data = load(name, real_data)
    assert len(data.items) == asked == len(data.provenance["ids"])
    assert data.provenance["rows"] == rows
    assert {(item.question.kind, len(item.question.options)) for item in data.items} == {(kind, options)}
    assert data.exemplars is not None
    solved = data.exemplars()
    assert len(solved) == exemplars
    assert not {item.question.id for item in solved} & {item.question.id for item in data.items}


@pytest.mark.data
def test_first_rows(real_data: Path) -> None:
    first = load("obqa", real_data).items[0]
    assert (first.question.id, first.gold.answers) == ("8-343", ("B",))
    assert first.question.options[1].text == "quit eating lunch out"
    csqa = {item.question.id: item for item in load("csqa", real_data, size=None).items}
    assert csqa["1afa02df02c908a558b4036e80242fac"].question.topic_entities == ("revolving door",)
    csqa2 = {item.question.id: item for item in load("csqa2", real_data, size=None).items}
    assert csqa2["002b0d519076a42e3cd2aae8c3480450"].gold.answers == ("true",)
    medqa = {item.question.id: item for item in load("medqa", real_data, size=None).items}
    assert medqa["medqa-test-0000"].gold.answers == ("B",)
    assert len(medqa) == 1273


@pytest.mark.data
def test_repeated_option_texts_are_kept_and_told_apart_by_letter(real_data: Path) -> None:
    items = load("csqa", real_data, size=None).items
    repeated = [item for item in items if len({option.text for option in item.question.options}) < 5]
    assert len(repeated) == 24
    assert all(len(set(item.question.values)) == 5 for item in repeated)


@pytest.mark.parametrize("case", [case for case in CASES if case.name != "medqa"], ids=lambda case: case.name)
def test_the_draw_follows_the_seed_not_the_files_order(case: Case, write_rows: Any, tmp_path: Path) -> None:
    rows = [local_row(case.name, number) for number in range(30)]
    write_rows(tmp_path / "a" / case.file, rows)
    write_rows(tmp_path / "b" / case.file, rows[::-1])
    first, same, other = (
        load(case.name, tmp_path / folder, seed, size=10) for folder, seed in (("a", 0), ("b", 0), ("a", 1))
    )
    assert first.items == same.items
    assert first.provenance["split_hash"] == same.provenance["split_hash"] != other.provenance["split_hash"]
    assert "random.Random(seed)" in first.provenance["sampling"]


def test_all_rows_keep_the_files_order(write_rows: Any, tmp_path: Path) -> None:
    case = BY_NAME["obqa"]
    write_rows(tmp_path / case.file, [local_row("obqa", number) for number in (3, 1, 2)])
    for seed in (0, 1):
        assert [item.question.id for item in load("obqa", tmp_path, seed).items] == ["id-3", "id-1", "id-2"]


def test_medqa_exemplars_are_the_other_rows(write_rows: Any, tmp_path: Path) -> None:
    write_rows(tmp_path / BY_NAME["medqa"].file, [local_row("medqa", number) for number in range(30)])
    data = load("medqa", tmp_path, size=20)
    assert data.exemplars is not None
    ids = [item.question.id for item in (*data.items, *data.exemplars())]
    assert sorted(ids) == [f"medqa-test-{number:04}" for number in range(30)]
    assert load("medqa", tmp_path, size=None).exemplars is None


def test_exemplars_of_the_train_split_leave_out_what_is_asked(write_rows: Any, tmp_path: Path) -> None:
    write_rows(tmp_path / BY_NAME["csqa2"].exemplar_file, [local_row("csqa2", number) for number in range(30)])
    data = load("csqa2", tmp_path, split="train", size=20)
    assert data.exemplars is not None
    assert len({item.question.id for item in (*data.items, *data.exemplars())}) == 30


def test_a_size_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="size"):
        load("csqa", tmp_path, size=0)


def test_an_unknown_split_names_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="dev, train"):
        load("csqa", tmp_path, split="test")


# -- the hub -------------------------------------------------------------------------------------------


def test_rows_once_read_are_kept_and_the_hub_is_not_asked_again(fake_hub: Any) -> None:
    case = BY_NAME["obqa"]
    publish(fake_hub, case, [local_row("obqa", number) for number in range(3)], [])
    first = load("obqa", None)
    fake_hub.error = OSError("no network")
    assert load("obqa", None).items == first.items
    assert len(fake_hub.calls) == 1


def test_hub_and_revision_can_be_set_and_a_branch_is_not_kept(fake_hub: Any) -> None:
    fake_hub.tables["me/mine", "main", "test"] = [hub_row("obqa", local_row("obqa", 1))]
    for _ in range(2):
        data = load("obqa", None, hub="me/mine", revision="main")
    assert data.provenance["source"] == {"hub": "me/mine", "revision": "main"}
    assert fake_hub.calls == [("me/mine", "main", "test", "main")] * 2


@each
def test_where_the_hub_cannot_be_reached_the_error_names_the_three_ways(
    case: Case, fake_hub: Any, tmp_path: Path
) -> None:
    fake_hub.error = ConnectionError("[Errno -2] Name or service not known")
    for data in (None, tmp_path):
        with pytest.raises(DataNotFoundError) as caught:
            load(case.name, data)
        message = str(caught.value)
        for part in (
            "Name or service not known",
            case.hub,
            f"--data FOLDER with FOLDER/{case.file}",
            "KGQA_BENCH_DATA",
        ):
            assert part in message
    # one bounded request, and none of the retries of load_dataset
    assert fake_hub.calls == []
    assert all(timeout is not None and timeout <= 10 for timeout in fake_hub.timeouts)


def test_a_hub_that_is_switched_off_is_not_asked(fake_hub: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(DataNotFoundError, match="Three ways"):
        load("obqa", None)
    assert fake_hub.timeouts == []


def test_a_copy_of_another_revision_is_not_taken_silently(fake_hub: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    class Table(list[Any]):
        cache_files = [{"filename": "/cache/allenai___openbookqa/main/0.0.0/feedfeed/openbookqa-test.arrow"}]  # noqa: RUF012

    fake_hub.tables["allenai/openbookqa", "main", "test"] = Table([hub_row("obqa", local_row("obqa", 1))])
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(DataNotFoundError, match="another revision"):
        load("obqa", None)


def test_a_hub_set_without_the_columns(fake_hub: Any) -> None:
    fake_hub.tables["me/mine", "main", "test"] = [{"id": "1", "text": "?"}]
    with pytest.raises(DataError, match="question_stem") as caught:
        load("obqa", None, hub="me/mine")
    assert "me/mine" in str(caught.value)


def test_a_damaged_copy_says_which_file_to_delete(fake_hub: Any, tmp_path: Path) -> None:
    publish(fake_hub, BY_NAME["obqa"], [local_row("obqa", 1)], [])
    load("obqa", None)
    (kept,) = (tmp_path / "cache" / "benchmarks").iterdir()
    kept.write_bytes(b"[{")
    with pytest.raises(DataError, match="Delete it"):
        load("obqa", None)


# -- damaged files -------------------------------------------------------------------------------------


def without(row: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != key}


@pytest.mark.parametrize(
    ("name", "bad", "message"),
    [
        ("obqa", b'{"id": ', "Not JSON"),
        ("obqa", without(local_row("obqa", 9), "answerKey"), "no 'answerKey'"),
        ("obqa", local_row("obqa", 9) | {"answerKey": ""}, "not among the options A, B, C, D"),
        ("obqa", local_row("obqa", 9) | {"question": "text"}, "indices"),
        ("obqa", local_row("obqa", 1), "same id"),
        ("obqa", [], "indices"),
        ("csqa", without(local_row("csqa", 9), "id"), "no 'id'"),
        ("csqa2", local_row("csqa2", 9) | {"answer": "maybe"}, "neither yes nor no"),
        ("csqa2", local_row("csqa2", 9) | {"question": " "}, "empty"),
        ("medqa", local_row("medqa", 9) | {"answer_idx": "E"}, "not among the options"),
        ("medqa", local_row("medqa", 9) | {"options": {"A": "only", "B": ""}}, "a label and a text"),
    ],
)
def test_a_malformed_row_is_named(name: str, bad: Any, message: str, write_rows: Any, tmp_path: Path) -> None:
    path = write_rows(tmp_path / BY_NAME[name].file, [local_row(name, 0), local_row(name, 1), bad])
    with pytest.raises(DataError) as caught:
        load(name, tmp_path)
    assert message in caught.value.message
    assert (str(caught.value.file), caught.value.line) == (str(path), 3)
    assert caught.value.hint


def test_an_empty_and_a_cut_file(write_rows: Any, tmp_path: Path) -> None:
    write_rows(tmp_path / BY_NAME["obqa"].file, [])
    with pytest.raises(DataError, match="no rows"):
        load("obqa", tmp_path)
    path = write_rows(tmp_path / BY_NAME["csqa2"].file, [local_row("csqa2", 1)])
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(DataError, match="Cannot be read"):
        load("csqa2", tmp_path)


@each
def test_the_provenance_can_be_recorded(case: Case, write_rows: Any, tmp_path: Path) -> None:
    write_rows(tmp_path / case.file, [local_row(case.name, number) for number in range(4)])
    provenance = load(case.name, tmp_path).provenance
    assert json.loads(json.dumps(dict(provenance)))["ids"] == list(provenance["ids"])
