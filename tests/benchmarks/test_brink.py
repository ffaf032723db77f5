from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kgqa_bench import registry
from kgqa_bench.errors import DataError, DataNotFoundError

ROW = (
    "{id}\t1\tWho is {topic}'s son?\t['{topic}']\t{gold}\t{gold}\t['r']\t"
    "['{topic} mother_of {son}  => {son} son_of {topic}']\n"
)
HEADER = "id\trule_index\tquestion\tq_entity\tanswer\ta_entity\trule\tgrounding\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with BRINK-family in the published form."""
    folder = tmp_path / "BRINK-family"
    folder.mkdir()
    for split, ids in {"train": (1, 2, 3), "val": (4,), "test": (5, 6)}.items():
        rows = "".join(ROW.format(id=n, topic=f"m{n}", son=f"s{n}", gold=[f"s{n}", "x", "x"]) for n in ids)
        (folder / f"{split}.tsv").write_text(HEADER + rows)
    (folder / "knowledge_graph_complete.tsv").write_text("m5\tmother_of\ts5\ns5\tson_of\tm5\n")
    (folder / "knowledge_graph_incomplete.tsv").write_text("m5\tmother_of\ts5\n")
    return tmp_path


def load(data: Path | None, **settings: Any) -> Any:
    return registry.create("benchmarks", "brink-family", settings).load(data, 0)


def test_gold_holds_the_hard_answer(data: Path) -> None:
    loaded = load(data)
    question, gold = loaded.items[0]
    assert (question.id, question.kind, question.topic_entities) == ("5", "entities", ("m5",))
    assert (gold.answers, gold.hard_answers, gold.primary) == (("s5", "x"), ("s5",), "s5")
    assert [item.question.id for item in loaded.items] == ["5", "6"]
    assert sorted(item.question.id for item in loaded.exemplars()) == ["1", "2", "3"]
    assert loaded.provenance["file"] == "test.tsv"
    assert load(data, split="validation").provenance["file"] == "val.tsv"


def test_size_is_drawn_by_seed(data: Path) -> None:
    loaded = load(data, split="train", size=2)
    asked = {item.question.id for item in loaded.items}
    assert len(asked) == 2
    assert {item.question.id for item in loaded.exemplars()} == {"1", "2", "3"} - asked


def test_a_json_list_with_hard_answers(data: Path) -> None:
    path = data / "BRINK-family" / "test.tsv"
    path.unlink()
    rows = [
        {"id": "a", "question": "q", "q_entity": ["m"], "answer": ["s", "t"], "hard_answer": ["t"]},
        {"id": "b", "question": "q", "q_entity": ["m"], "answer": [], "hard_answer": ["t"]},
    ]
    path.with_suffix(".json").write_text(json.dumps(rows))
    loaded = load(data)
    assert [item.gold.primary for item in loaded.items] == ["t"]
    assert loaded.provenance["rows without gold answer"] == 1


def test_the_same_id_twice(data: Path) -> None:
    path = data / "BRINK-family" / "test.tsv"
    path.write_text(path.read_text() + ROW.format(id=5, topic="m", son="s", gold=["s"]))
    with pytest.raises(DataError, match="line 4"):
        load(data)


def test_both_graphs(data: Path) -> None:
    for view, triples in (("incomplete", 1), ("complete", 2)):
        graph = registry.create("graphs", "brink-family", {"view": view}).load(data)
        assert graph.num_triples == triples


def test_a_labelling_has_a_folder_of_its_own(data: Path) -> None:
    (data / "BRINK-family").rename(data / "moved")
    (data / "BRINK-family").mkdir()
    (data / "moved").rename(data / "BRINK-family" / "Text_Label")
    assert len(load(data, labels="Text_Label").items) == 2
    with pytest.raises(DataNotFoundError, match="labels"):
        load(data, labels="Private_ID")


@pytest.mark.parametrize("name", ["brink-family", "brink-fb15k237", "brink-wikidata5m"])
def test_not_at_hand(tmp_path: Path, name: str) -> None:
    benchmark = registry.create("benchmarks", name)
    for place in (None, tmp_path):
        with pytest.raises(DataNotFoundError, match=r"hf download.*--data.*`revision`"):
            benchmark.load(place, 0)
        with pytest.raises(DataNotFoundError, match="hf download"):
            registry.create("graphs", benchmark.graph).load(place)


def test_from_the_hub_at_a_given_revision(fake_hub: Any) -> None:
    row = {"id": "1", "question": "q", "q_entity": ["m"], "answer": "['s']", "hard_answer": ["s"]}
    fake_hub.tables["ZDZR/BRINK-family", None, "test"] = [row]
    loaded = load(None, revision="a" * 40)
    assert loaded.items[0].gold.answers == ("s",)
    assert loaded.provenance["revision"] == "a" * 40
