from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from kgqa_bench import evaluate, registry
from kgqa_bench.benchmarks import metaqa_mini
from kgqa_bench.benchmarks.metaqa_mini.__main__ import build
from kgqa_bench.benchmarks.metaqa_mini.questions import kinds
from kgqa_bench.contracts import BenchmarkData
from kgqa_bench.graph.protocol import Graph, Step
from kgqa_bench.question_sets.find import find_set
from kgqa_bench.run.directory import read_info, read_records

SPLITS = ("test", "train", "validation")


def load(split: str, seed: int = 0, **settings: object) -> BenchmarkData:
    data: BenchmarkData = registry.create("benchmarks", "metaqa-mini", {"split": split, **settings}).load(None, seed)
    return data


@pytest.fixture(scope="module")
def graph() -> Graph:
    loaded: Graph = registry.create("graphs", "metaqa-mini").load(None)
    return loaded


def test_the_shipped_files_are_what_the_script_makes(tmp_path: Path) -> None:
    build(tmp_path / "new")
    made = sorted((tmp_path / "new").iterdir())
    assert [file.name for file in made] == ["graph.tsv", *(f"questions.{split}.jsonl" for split in SPLITS)]
    for file in made:
        assert file.read_bytes() == (metaqa_mini.FOLDER / file.name).read_bytes()
    assert sum(file.stat().st_size for file in metaqa_mini.FOLDER.iterdir() if file.is_file()) < 100_000


def test_answers_are_what_the_graph_says(graph: Graph) -> None:
    paths = {kind.name: kind.path for kind in kinds()}
    for split in SPLITS:
        for question, gold in load(split).items:
            topic = graph.entity(question.topic_entities[0])
            path = tuple(Step(graph.relation(name), inverse) for name, inverse in paths[gold.groups["question_type"]])
            ends = set()
            for grounding in graph.groundings(topic, path):
                walked = [topic, *(edge.target for edge in grounding)]
                if len(set(walked)) == len(walked):
                    ends.add(graph.entity_name(walked[-1]))
            assert set(gold.answers) == ends
            assert len(path) == int(gold.groups["hops"])
            assert question.topic_entities[0] in question.text
            assert not any(answer in question.text for answer in gold.answers)


def test_splits() -> None:
    items = {split: load(split).items for split in SPLITS}
    assert {split: len(found) for split, found in items.items()} == {"test": 60, "train": 90, "validation": 30}
    for found in items.values():
        assert len(set(Counter(gold.groups["hops"] for _question, gold in found).values())) == 1
    everything = [item for found in items.values() for item in found]
    assert len({(gold.groups["question_type"], gold.groups["topic"]) for _question, gold in everything}) == 180
    assert len({question.text for question, _gold in everything}) == 180
    types = {gold.groups["question_type"] for _question, gold in items["test"]}
    assert len(types) >= 50  # of 52, two of which have no topic with few enough answers


def test_draws_and_solved_examples() -> None:
    drawn = load("test", size=5)
    assert len(drawn.items) == 5
    assert {item.question.id for item in load("test", 1, size=5).items} != {item.question.id for item in drawn.items}
    assert drawn.exemplars is not None and len(drawn.exemplars()) == 90
    assert load("train").exemplars is None


def test_graph(graph: Graph) -> None:
    assert (graph.num_entities, graph.num_relations, graph.num_triples) == (150, 9, 527)
    assert graph.relation_label(graph.relation("starred_actors")) == "starred actors"


def test_a_run_keeps_the_types(tmp_path: Path) -> None:
    evaluate(method="retrieval-only", benchmark="metaqa-mini", limit=4, out=tmp_path / "run")
    rows = list(read_records(tmp_path / "run"))
    assert {row.question_id: row.groups["question_type"] for row in rows} == {
        item.question.id: item.gold.groups["question_type"] for item in load("test").items[:4]
    }
    info = read_info(tmp_path / "run")
    assert info.graph is not None and info.graph["triples"] == 527


def test_a_question_file_is_one_of_the_users_own() -> None:
    assert find_set(metaqa_mini.FOLDER / "questions.test.jsonl").form == "questions"
    own = evaluate(
        method="retrieval-only",
        benchmark=str(metaqa_mini.FOLDER / "questions.test.jsonl"),
        graph="metaqa-mini",
        limit=3,
    )
    assert own.metrics.complete
