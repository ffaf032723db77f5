"""A built folder runs as a benchmark over its own graph, and its records can be scored from their file alone."""

from __future__ import annotations

import dataclasses
import gc
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

from kgqa_bench.benchmarks.incomplete.package import write_package
from kgqa_bench.domain import Derivation, Gold, Triple
from kgqa_bench.errors import ConfigError, DataError, DataNotFoundError, UnknownNameError
from kgqa_bench.graph.open import open_graph
from kgqa_bench.run.assemble import assemble
from kgqa_bench.run.config import make_config
from kgqa_bench.run.directory import read_records
from kgqa_bench.run.execute import execute
from kgqa_bench.run.schema import RecordRow


def config(folder: Path, **values):
    script = folder.parent / "script.jsonl"
    script.write_text('{"reply": "ANSWER: 1"}\n')
    return make_config({"method": "zero-shot", "benchmark": str(folder), "model": f"scripted/{script}"} | values)


def test_gold_holds_the_hard_answers_and_how_they_follow(folder, content) -> None:
    plan = assemble(config(folder))
    rows = sorted(content.questions["test"], key=lambda row: row.id)
    assert [item.question.id for item in plan.items] == [row.id for row in rows]
    question, gold = plan.items[0]
    row = rows[0]
    assert (question.text, question.kind, question.topic_entities) == (row.question, "entities", row.topic_entities)
    assert (gold.answers, gold.hard_answers, gold.primary) == (row.answer, row.hard_answers, row.primary)
    assert gold.derivation is not None
    assert gold.derivation.removed == Triple(*row.removed)
    assert gold.derivation.grounding == tuple(Triple(*triple) for triple in row.grounding)
    assert (gold.derivation.rule, gold.derivation.rule_type, gold.derivation.rule_subtype) == (
        1,
        "symmetry",
        None,
    ) or (gold.derivation.rule_type == row.rule_type)
    assert (gold.derivation.hops, gold.derivation.twin) == (row.hops, row.twin)


def test_no_way_leads_from_graph_and_questions_to_gold_or_folder(folder, content) -> None:
    plan = assemble(config(folder))
    kept = [open_graph(str(folder), None, {}), *(item.question for item in plan.items)]
    texts = {entity.text for entity in content.entities} | {entity.id for entity in content.entities}
    seen: set[int] = set()
    while kept:
        value = kept.pop()
        if id(value) in seen or isinstance(value, ModuleType | type | FunctionType):
            continue
        seen.add(id(value))
        assert not isinstance(value, Gold | Derivation | Path)
        assert not isinstance(value, str) or (str(folder) not in value and value not in texts)
        kept += [each for each in gc.get_referents(value) if not isinstance(each, dict) or "__name__" not in each]


def test_split_and_size_can_be_chosen(folder, content) -> None:
    ids = {row.id for row in content.questions["train"]}
    some = config(folder, set={"benchmark.split": "train", "benchmark.size": 7})
    chosen = [[item.question.id for item in assemble(some).items] for _ in range(2)]
    assert chosen[0] == chosen[1]
    assert len(set(chosen[0])) == 7
    assert set(chosen[0]) <= ids
    with pytest.raises(ConfigError, match="split"):
        assemble(config(folder, set={"benchmark.split": "dev"}))


def test_solved_examples_are_train_questions_that_are_not_asked(folder, content) -> None:
    train = {row.id for row in content.questions["train"]}
    exemplars = assemble(config(folder)).data.exemplars
    assert exemplars is not None
    assert {item.question.id for item in exemplars()} == train
    half = assemble(config(folder, set={"benchmark.split": "train", "benchmark.size": 7}))
    assert {item.question.id for item in half.data.exemplars()} == train - {item.question.id for item in half.items}
    assert assemble(config(folder, set={"benchmark.split": "train"})).data.exemplars is None


class TestGraph:
    def test_the_folder_is_the_graph_without_the_removed_triples(self, folder, content) -> None:
        graph = open_graph(str(folder), None, {})
        assert graph.num_triples == len(content.complete) - len(content.removed)
        assert graph.relation_label(graph.relation("child_of")) == "is the child of"
        head, relation, tail = next(iter(content.removed))
        assert not graph.has_triple(graph.entity(head), graph.relation(relation), graph.entity(tail))
        assert list(graph.entity_labels()) == [graph.entity_name(entity) for entity in range(graph.num_entities)]

    def test_the_complete_view_has_them_and_the_same_ids(self, folder, content) -> None:
        incomplete, complete = open_graph(str(folder), None, {}), open_graph(str(folder), None, {"view": "complete"})
        assert complete.num_triples == len(content.complete)
        assert complete.num_entities == incomplete.num_entities
        for head, relation, tail in content.removed:
            triple = (complete.entity(head), complete.relation(relation), complete.entity(tail))
            assert complete.has_triple(*triple)
            assert triple == (incomplete.entity(head), incomplete.relation(relation), incomplete.entity(tail))

    def test_no_text_of_the_map_of_labels_is_in_it(self, folder) -> None:
        graph = open_graph(str(folder), None, {"view": "complete"})
        assert graph.find_entity("fa1") is None
        assert not any("text of" in label for label in graph.entity_labels())

    def test_a_row_that_the_complete_graph_cannot_have_is_named(self, folder) -> None:
        with (folder / "triples.incomplete.tsv").open("a") as stream:
            stream.write("nobody\tchild_of\tnobody\n")
        lines = (folder / "triples.incomplete.tsv").read_text().count("\n")
        with pytest.raises(DataError, match=rf"triples\.incomplete\.tsv, line {lines}: 'nobody'"):
            open_graph(str(folder), None, {})

    def test_a_file_of_relations_may_be_missing(self, folder, content) -> None:
        (folder / "relations.tsv").unlink()
        graph = open_graph(str(folder), None, {})
        assert graph.num_triples == len(content.complete) - len(content.removed)
        assert graph.relation_label(graph.relation("child_of")) == "child_of"

    def test_other_settings_are_refused(self, folder) -> None:
        with pytest.raises(ConfigError, match="merge"):
            open_graph(str(folder), None, {"merge": "max"})

    @pytest.mark.parametrize("place", ["absolute", "relative"])
    def test_a_run_takes_the_folders_graph(self, folder, monkeypatch, place) -> None:
        monkeypatch.chdir(folder.parent)
        name = str(folder) if place == "absolute" else folder.name
        chosen = make_config({"method": "retrieval-only", "benchmark": name})
        graph = assemble(chosen).resources.load_graph()
        assert graph.provenance["view"] == "incomplete"
        whole = make_config({"method": "retrieval-only", "benchmark": name, "set": {"graph.view": "complete"}})
        assert assemble(whole).resources.load_graph().num_triples > graph.num_triples


def test_records_hold_the_whole_gold_answer(folder, tmp_path) -> None:
    plan = assemble(config(folder))
    result = execute(config(folder, out=tmp_path / "run"))
    rows = {row.question_id: row for row in read_records(result.path)}
    assert {question.id: gold for question, gold in plan.items} == {
        question_id: row.whole_gold() for question_id, row in rows.items()
    }
    assert all(row.whole_gold().derivation is not None for row in rows.values())


def test_rows_of_earlier_runs_can_still_be_read() -> None:
    row = RecordRow.model_validate_json(
        b'{"question_id":"q","repeat":0,"status":"ok","gold":["A"],"score":1.0}'
    )  # fmt: skip
    assert row.whole_gold() == Gold(("A",))


def test_a_changed_hard_answer_is_another_split(folder, content, tmp_path) -> None:
    first, *rest = content.questions["test"]
    other = {**content.questions, "test": [first.model_copy(update={"hard_answers": ()}), *rest]}
    write_package(dataclasses.replace(content, questions=other), tmp_path / "other")
    one, two = (assemble(config(path)).info().hashes.split for path in (folder, tmp_path / "other"))
    assert one != two


class TestDamagedFolders:
    def test_a_question_file_that_is_not_the_manifests(self, folder) -> None:
        path = folder / "questions.test.jsonl"
        path.write_bytes(path.read_bytes().replace(b"Who", b"who"))
        with pytest.raises(DataError, match="hash"):
            assemble(config(folder))

    def test_a_malformed_row(self, folder, rehash) -> None:
        path = folder / "questions.test.jsonl"
        path.write_bytes(path.read_bytes() + b'{"id": "x"}\n')
        rehash(folder)
        with pytest.raises(DataError, match=rf"questions\.test\.jsonl, line {len(path.read_text().splitlines())}"):
            assemble(config(folder))

    def test_a_folder_without_a_manifest(self, folder) -> None:
        (folder / "manifest.json").unlink()
        with pytest.raises(DataNotFoundError, match=r"manifest\.json"):
            assemble(config(folder))

    def test_an_unknown_name_is_still_unknown(self, folder) -> None:
        with pytest.raises(UnknownNameError):
            assemble(config(folder, benchmark="no-such-benchmark"))
