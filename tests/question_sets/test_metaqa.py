from __future__ import annotations

from pathlib import Path

import pytest

from kgqa_bench.errors import DataError, DataNotFoundError
from kgqa_bench.graph.sources.metaqa import read_metaqa_graph
from kgqa_bench.question_sets.metaqa import metaqa_files, metaqa_graph_file, metaqa_split, read_metaqa


def test_reads_topic_text_and_answers(tmp_path: Path) -> None:
    path = tmp_path / "qa_dev_1hop.txt"
    path.write_text("who directed [[Rec]]\tJaume Balagueró|Paco Plaza\nwhat does [Tom Cullen] act in\tWeekend\n")
    first, second = read_metaqa(path)
    assert (first.topics, first.text) == (("[Rec]",), "who directed [Rec]")
    assert first.answers == first.answer_entities == ("Jaume Balagueró", "Paco Plaza")
    assert (second.id, second.split, second.line) == ("qa_dev_1hop-2", "dev 1hop", 2)
    assert second.triples is None


@pytest.mark.parametrize("line", ["no brackets\ta", "no tab [topic]", "empty [] topic\ta"])
def test_a_malformed_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "qa_test_2hop.txt"
    path.write_text(f"good [one]\ta\n{line}\n")
    with pytest.raises(DataError, match="line 2"):
        list(read_metaqa(path))


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataNotFoundError):
        list(read_metaqa(tmp_path / "qa_dev_1hop.txt"))


def test_both_layouts_of_folders(tmp_path: Path) -> None:
    published = tmp_path / "MetaQA"
    for hops in (1, 2):
        folder = published / f"{hops}-hop" / "vanilla"
        folder.mkdir(parents=True)
        for name in ("qa_dev.txt", "qa_test.txt", "qa_dev_qtype.txt"):
            (folder / name).write_text("[x] y\tz\n")
    (published / "kb.txt").write_text("a|r|b\n")
    assert sorted(metaqa_files(published)) == ["dev 1hop", "dev 2hop", "test 1hop", "test 2hop"]
    assert metaqa_graph_file(published / "1-hop" / "vanilla" / "qa_dev.txt") == (published / "kb.txt").resolve()
    assert metaqa_split(Path("metaqa/qa_train_3hop.txt")) == "train 3hop"
    assert metaqa_graph_file(tmp_path / "qa_dev_1hop.txt") is None


def test_the_graph(tmp_path: Path) -> None:
    path = tmp_path / "kb.txt"
    path.write_text('Film "X"|starred_actors|Ann\nFilm "X"|release_year|1999\n')
    graph = read_metaqa_graph(path)
    assert (graph.num_entities, graph.num_relations, graph.num_triples) == (3, 2, 2)
    assert graph.relation_label(graph.relation("starred_actors")) == "starred actors"
    assert graph.has_triple(graph.entity('Film "X"'), graph.relation("release_year"), graph.entity("1999"))
    path.write_text("a|b\n")
    with pytest.raises(DataError, match="line 1"):
        read_metaqa_graph(path)


@pytest.mark.data
def test_real(real_data: Path) -> None:
    questions = list(read_metaqa(real_data / "metaqa" / "qa_dev_1hop.txt"))
    graph = read_metaqa_graph(real_data / "metaqa" / "kb.txt")
    assert (len(questions), graph.num_triples, graph.num_relations) == (9992, 130730, 9)
    assert all(graph.find_entity(topic) is not None for question in questions for topic in question.topics)
