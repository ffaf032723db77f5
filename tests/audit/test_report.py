from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kgqa_bench.audit.report import audit_set
from kgqa_bench.errors import ConfigError, DataNotFoundError
from kgqa_bench.question_sets.find import find_set

COMPLETE = [
    ("ann", "aunt", "bob"),
    ("ann", "aunt", "cyd"),
    ("bob", "nephew", "ann"),
    ("cyd", "nephew", "ann"),
    ("eve", "sister", "fay"),
    ("fay", "sister", "eve"),
    ("gil", "son", "hal"),
    ("hal", "knows", "ivy"),
    ("x", "knows", "y"),
]
REMOVED = [("ann", "aunt", "bob"), ("eve", "sister", "fay"), ("gil", "son", "hal")]


def question(number: str, text: str, topic: str, answers: list[str], asked: str, removed: Any, **more: Any) -> Any:
    primary = removed[2] if asked == "tail" else removed[0]
    return {
        "id": number,
        "question": text,
        "kind": "entities",
        "topic_entities": [topic],
        "answer": answers,
        "hard_answers": [primary],
        "primary": primary,
        "relation": removed[1],
        "asked": asked,
        "rule": 1,
        "rule_type": "inversion",
        "rule_subtype": "",
        "removed": removed,
        "grounding": [],
        "hops": 1,
        "twin": "",
    } | more


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A built folder with defects: see the counts in the tests."""
    (tmp_path / "manifest.json").write_text("{}")
    write = lambda rows: "".join("\t".join(row) + "\n" for row in rows)  # noqa: E731
    (tmp_path / "triples.complete.tsv").write_text(write(COMPLETE))
    (tmp_path / "triples.incomplete.tsv").write_text(write(row for row in COMPLETE if row not in REMOVED))
    relations = sorted({row[1] for row in COMPLETE})
    (tmp_path / "relations.tsv").write_text(
        write([("relation", "label"), *((r, f"is the {r} of") for r in relations)])
    )
    aunt, sister, son = map(list, REMOVED)
    rows = {
        "train": [
            question("1", "Who is bob's aunt?", "bob", ["ann"], "head", aunt, twin="inverse"),
            question("2", "Who is eve the sister of?", "eve", ["fay"], "tail", sister, twin="symmetric"),
            question("3", "Who is  BOB's aunt?", "bob", ["ann", "ann"], "head", aunt, twin="inverse"),
        ],
        "validation": [
            # the direction of the removed triple's tail, as the published procedure has it
            question("4", "Who is bob's aunt?", "bob", ["bob", "cyd"], "head", aunt),
            question("5", "Who is hal's son?", "hal", ["gil"], "head", son, twin="none"),
        ],
        "test": [
            question("6", "Who is gil the son of?", "gil", ["hal"], "tail", son, twin="none"),
            question("7", "Who knows y?", "y", [], "head", ["x", "knows", "y"]),
            question("8", "Who is eve's sister?", "eve", ["fay"], "tail", sister),
        ],
    }
    for split, questions in rows.items():
        (tmp_path / f"questions.{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in questions))
    return tmp_path


@pytest.fixture
def report(built: Path) -> dict[str, Any]:
    found: dict[str, Any] = audit_set(find_set(built), 4)
    json.dumps(found)
    return found


def test_questions_and_gold(report: dict[str, Any]) -> None:
    assert report["form"] == "built"
    assert report["questions"]["by_split"] == {"train": 3, "validation": 2, "test": 3}
    assert {key: report["gold"][key] for key in ("empty", "with_duplicates", "with_commas")} == {
        "empty": 1,
        "with_duplicates": 1,
        "with_commas": 0,
    }
    answers = report["gold"]["answers_per_question"]
    assert answers["counts"] == {"0": 1, "1": 6, "2-5": 1, "6-10": 0, "11-20": 0, "21-100": 0, "101+": 0}
    assert (answers["mean"], answers["median"], answers["most"]) == (1.0, 1, 2)


def test_direction(report: dict[str, Any]) -> None:
    direction = report["direction"]
    assert (direction["checked"], direction["wrong"]) == (8, 2)
    verdicts = {verdict: count for verdict, count in direction["verdicts"].items() if count}
    assert verdicts == {"right": 6, "tails of the removed triple's head": 1, "some answers missing": 1}
    # all but "Who knows y?" tell the direction; question 8 asks for the head in words and states the tail
    assert (direction["wording_known"], direction["wording_reversed"]) == (7, 1)
    assert [example["id"] for example in direction["examples"]] == ["4", "7", "8"]


def test_reach(report: dict[str, Any]) -> None:
    # bob - ann over nephew (3 questions: 1, 3 and, with bob among its own answers, 4), eve - fay over the sister
    # back (2, 8); gil has no triple left (5, 6), and question 7 has no gold
    assert report["reach"]["by_hops"] == {"0": 1, "1": 4, "2": 0, "3": 0, "4+": 0, "none": 3}
    assert report["reach"]["unreachable"] == 3
    assert report["reach"]["unreachable_by_split"] == {"train": 0, "validation": 1, "test": 2}
    assert report["reach"]["not_in_graph"] == {"topic": 0, "some_answer": 0, "every_answer": 0}


def test_leakage_and_duplicates(report: dict[str, Any]) -> None:
    rows = {kind: {pair: found["rows"] for pair, found in pairs.items()} for kind, pairs in report["leakage"].items()}
    assert rows["removed_triple"] == {"train - validation": 1, "train - test": 1, "validation - test": 1}
    assert rows["topic_relation_direction"] == {"train - validation": 1, "train - test": 1, "validation - test": 0}
    assert rows["question_text"] == {"train - validation": 1, "train - test": 0, "validation - test": 0}
    assert rows["topics_and_answers"] == {"train - validation": 0, "train - test": 1, "validation - test": 0}
    assert report["leakage"]["removed_triple"]["train - test"] == {
        "rows": 1,
        "of": 3,
        "examples": [{"train": "2", "test": "8"}],
    }
    assert report["duplicates"]["same_text"] == {"train": 1, "validation": 0, "test": 0}
    assert report["duplicates"]["examples"] == [{"split": "train", "text": "who is bob's aunt?", "rows": 2}]


def test_twins_and_what_is_still_there(report: dict[str, Any]) -> None:
    twins = report["twins"]
    assert {key: twins[key] for key in ("checked", "same_relation", "another_relation", "none")} == {
        "checked": 8,
        "same_relation": 2,
        "another_relation": 3,
        "none": 3,
    }
    assert twins["by_stated"]["inverse"] == {"same_relation": 0, "another_relation": 2, "none": 0}
    assert report["removed"] == {"checked": 8, "still_in_graph": 1}  # x knows y
    assert report["graph"]["seen"]["triples"] == 6
    assert report["graph"]["complete_triples"] == 9
    assert report["defects"] == {
        "direction_errors": 2,
        "reversed_wordings": 1,
        "unreachable_answers": 3,
        "removed_triple_still_in_graph": 1,
        "removed_triple_shared_between_splits": 3,
        "topic_relation_direction_shared_between_splits": 2,
        "question_text_shared_between_splits": 1,
        "same_text_within_split": 1,
        "same_id_within_split": 0,
        "empty_gold": 1,
        "duplicate_gold": 1,
    }


def test_fewer_hops_reach_less(built: Path) -> None:
    assert audit_set(find_set(built), 0)["reach"]["unreachable"] == 7


def test_one_file_of_a_built_folder(built: Path) -> None:
    report = audit_set(find_set(built / "questions.test.jsonl"), 4)
    assert report["questions"]["by_split"] == {"test": 3}
    assert report["direction"]["checked"] == 3


def test_brink_with_and_without_its_graphs(tmp_path: Path) -> None:
    header = "id\trule_index\tquestion\tq_entity\tanswer\ta_entity\trule\tgrounding\n"
    ask = "\t1\tWho is 84's nephew?\t['84']\t{0}\t{0}\t['r']\t['84 aunt_of 102  => 102 nephew_of 84']\n"
    (tmp_path / "train.tsv").write_text(header + "0" + ask.format(["102"]))
    # the published procedure: tails of the removed triple's head
    (tmp_path / "test.tsv").write_text(header + "1" + ask.format(["84", "85"]) + "2" + ask.format(["102", "85"]))
    triples = "84\taunt_of\t102\n102\tnephew_of\t85\n"
    (tmp_path / "knowledge_graph_incomplete.tsv").write_text(triples)
    (tmp_path / "knowledge_graph_complete.tsv").write_text(triples + "102\tnephew_of\t84\n")
    report = audit_set(find_set(tmp_path), 4)
    assert (report["form"], report["questions"]["by_split"]) == ("brink", {"train": 1, "test": 2})
    assert report["direction"]["verdicts"]["right"] == 1
    assert report["direction"]["verdicts"]["tails of the removed triple's head"] == 2
    assert report["defects"]["removed_triple_shared_between_splits"] == 2
    assert report["twins"]["another_relation"] == 3
    assert report["defects"]["removed_triple_still_in_graph"] == 0
    for name in ("complete", "incomplete"):
        (tmp_path / f"knowledge_graph_{name}.tsv").unlink()
    alone = audit_set(find_set(tmp_path), 4)
    assert alone["direction"]["checked"] == alone["reach"]["checked"] == 0
    assert alone["graph"] == {}
    assert alone.keys() == report.keys()


def test_questions_with_their_own_graphs(tmp_path: Path) -> None:
    row = {"id": "1", "question": "where", "answer": ["c"], "q_entity": ["a"], "a_entity": ["c"], "choices": []}
    chain = [["a", "r", "b"], ["c", "r", "b"], ["a", "r", "b"]]
    rows = [
        row | {"graph": chain},
        row | {"id": "2", "graph": chain[:1]},
        row | {"id": "3", "question": "when", "graph": [], "answer": ["c, d"], "a_entity": []},
    ]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    (tmp_path / "train.json").write_text(json.dumps([row | {"graph": chain}]))
    report = audit_set(find_set(tmp_path), 4)
    assert list(report["questions"]["by_split"].items()) == [("train", 1), ("test", 3)]
    assert report["reach"]["by_hops"] == {"0": 0, "1": 0, "2": 2, "3": 0, "4+": 0, "none": 2}
    assert report["reach"]["not_in_graph"] == {"topic": 1, "some_answer": 2, "every_answer": 2}
    assert report["gold"]["with_commas"] == 1
    assert report["own_graphs"]["triples"] == {"mean": 1.25, "median": 1, "90 %": 2, "most": 2}
    assert report["leakage"]["question_text"]["train - test"]["rows"] == 2
    assert report["duplicates"]["same_text"] == {"train": 0, "test": 1}


def test_own_questions_over_a_graph(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    rows = [
        {"id": "1", "kind": "entities", "question": "q", "answer": ["Ann"], "topic_entities": ["Bob"]},
        {"id": "2", "kind": "choice", "question": "q2", "options": ["x", "y, z"], "answer": "B"},
        {"id": "3", "kind": "boolean", "question": "q3", "answer": True},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    from kgqa_bench.graph.build import build_graph

    report = audit_set(find_set(path, lambda: build_graph(["Ann"], ["r"], ["Bob"], source="test")), 4)
    assert report["questions"]["by_kind"] == {"entities": 1, "choice": 1, "boolean": 1}
    assert report["reach"]["checked"] == 1
    assert report["reach"]["by_hops"]["1"] == 1
    assert report["gold"]["with_commas"] == 1
    assert not any(report["defects"].values())


def test_no_set(tmp_path: Path) -> None:
    with pytest.raises(DataNotFoundError):
        find_set(tmp_path / "none")
    (tmp_path / "notes.txt").touch()
    for path in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(ConfigError, match="Known are"):
            find_set(path)


@pytest.mark.data
def test_metaqa(real_data: Path) -> None:
    report = audit_set(find_set(real_data / "metaqa" / "qa_dev_1hop.txt"), 4)
    assert report["questions"]["by_split"] == {"dev 1hop": 9992}
    assert report["reach"]["by_hops"] == {"0": 1, "1": 9991, "2": 0, "3": 0, "4+": 0, "none": 0}
    assert report["gold"]["with_commas"] == 90
    assert report["graph"]["seen"]["triples"] == 130_730


@pytest.mark.data
def test_most_answers_of_webqsp_dev_simple_are_unreachable(real_data: Path) -> None:
    report = audit_set(find_set(real_data / "webqsp" / "dev_simple.jsonl"), 4)
    assert report["reach"]["by_hops"] == {"0": 0, "1": 27, "2": 26, "3": 0, "4+": 0, "none": 197}
    assert report["reach"]["not_in_graph"] == {"topic": 4, "some_answer": 206, "every_answer": 193}
    assert report["gold"]["empty"] == 4


def test_sets_made_incomplete_to_a_degree(tmp_path: Path) -> None:
    shared, own = tmp_path / "shared", tmp_path / "own"
    for folder in (shared, own):
        folder.mkdir()
        (folder / "manifest.json").write_text("{}")
    row = {"id": "1", "kind": "entities", "question": "q", "answer": ["b"], "topic_entities": ["a"]}
    (shared / "questions.dev.jsonl").write_text(json.dumps(row) + "\n")
    (shared / "triples.complete.tsv").write_text("a\tr\tb\nb\tr\tc\n")
    (shared / "triples.incomplete.tsv").write_text("b\tr\tc\n")
    report = audit_set(find_set(shared), 4)
    assert (report["form"], report["questions"]["by_split"]) == ("questions", {"dev": 1})
    assert (report["reach"]["unreachable"], report["graph"]["complete_triples"]) == (1, 2)

    pruned = {"id": "1", "question": "q", "answer": ["b"], "q_entity": ["a"], "graph": [["b", "r", "c"]]}
    (own / "questions.test.jsonl").write_text(json.dumps(pruned) + "\n")
    (own / "removed.test.jsonl").write_text(json.dumps({"id": "1", "removed": [["a", "r", "b"]]}) + "\n")
    report = audit_set(find_set(own), 4)
    assert (report["form"], report["questions"]["by_split"]) == ("subgraphs", {"test": 1})
    assert report["reach"]["unreachable"] == 1
