from __future__ import annotations

from pathlib import Path

import pytest

from kgqa_bench.errors import DataError, DataNotFoundError
from kgqa_bench.graph.sources.cn15k import read_cn15k
from kgqa_bench.graph.sources.openke import read_openke
from kgqa_bench.graph.text_format import read_text


@pytest.fixture
def cn15k(tmp_path: Path) -> Path:
    (tmp_path / "entity_id.csv").write_bytes(b"entity string,id\r\nrain,0\r\nsmall dog,2\r\n15,1\r\n")
    (tmp_path / "relation_id.csv").write_bytes(b"relation string,id\r\nisa,0\r\natlocation,1\r\n")
    (tmp_path / "relation_text.csv").write_text("isa,is a kind of, loosely\natlocation,at location\n")
    (tmp_path / "data.tsv").write_bytes(b"0\t1\t1\t0.5\r\n2\t0\t0\t0.25\r\n2\t0\t0\t0.75\r\n")
    return tmp_path


@pytest.fixture
def openke(tmp_path: Path) -> Path:
    (tmp_path / "entity2id.txt").write_bytes(b"3\r\n/m/1\t0\r\n/m/2\t1\r\n/m/3\t2\r\n")
    (tmp_path / "relation2id.txt").write_text("2\n/a/b\t0\n/c\t1\n")
    (tmp_path / "train2id.txt").write_text("2\n0 1 0\n2 2 1\n")
    (tmp_path / "valid2id.txt").write_text("1\n1\t0\t1\n")
    return tmp_path


def test_cn15k_folder(cn15k: Path) -> None:
    graph = read_cn15k(cn15k)
    names = [(graph.entity_name(q.head), graph.relation_name(q.relation), graph.entity_name(q.tail), q.confidence)
             for q in graph.quads()]  # fmt: skip
    assert names == [("rain", "atlocation", "15", 0.5), ("small dog", "isa", "rain", 0.75)]
    assert graph.relation_label(graph.relation("isa")) == "is a kind of, loosely"
    assert graph.entity_label(graph.entity("15")) == "15"


@pytest.mark.parametrize(
    ("file", "content", "line", "message"),
    [
        ("data.tsv", "0\t1\t1\t0.5\n0\t1\t3\t0.5\n", 2, "tail: 3 is not an id from 0 to 2"),
        ("data.tsv", "0\t-1\t1\t0.5\n", 1, "relation: -1"),
        ("data.tsv", "x\t1\t1\t0.5\n", 1, "head: 'x' is not an integer id"),
        ("data.tsv", "0\t1\t1\t1.5\n", 1, "confidence: 1.5"),
        ("entity_id.csv", "entity string,id\nrain,0\n,1\n", 3, "name: is empty"),
        ("entity_id.csv", "entity string,id\nrain,0\nrain\n", 3, "1 columns instead of 2"),
    ],
)
def test_bad_cn15k_rows(cn15k: Path, file: str, content: str, line: int, message: str) -> None:
    (cn15k / file).write_text(content)
    with pytest.raises(DataError, match=message) as caught:
        read_cn15k(cn15k)
    assert (caught.value.file, caught.value.line) == (cn15k / file, line)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,id\nrain,0\ndog,2\ncat,3\n", "no 1"),
        ("x,id\nrain,0\ndog,1\ncat,1\n", "a second 1"),
        ("x,id\nrain,1\ndog,2\ncat,3\n", "no 0"),
    ],
)
def test_ids_with_gaps(cn15k: Path, content: str, message: str) -> None:
    (cn15k / "entity_id.csv").write_text(content)
    with pytest.raises(DataError, match=f"0 to 2, each once: there is {message}"):
        read_cn15k(cn15k)


def test_openke_folder(openke: Path) -> None:
    graph = read_openke(openke)
    assert [quad[:3] for quad in graph.quads()] == [(0, 0, 1), (2, 1, 2)]
    assert graph.num_entities == 3
    assert graph.entity_label(0) == "/m/1"
    assert graph.provenance["parts"] == ["train"]
    (openke / "entity2text.txt").write_text("/m/1\tOne\twith a tab\n/m/2\tTwo\n/m/9\tNine\n")
    labelled = read_openke(openke, parts=("train", "valid"))
    assert [quad[:3] for quad in labelled.quads()] == [(0, 0, 1), (1, 1, 0), (2, 1, 2)]
    assert list(labelled.entity_labels()) == ["One\twith a tab", "Two", "/m/3"]


def test_an_openke_file_cut_off(openke: Path) -> None:
    (openke / "train2id.txt").write_text("3\n0 1 0\n2 2 1\n")
    with pytest.raises(DataError, match="'3', but 2 rows") as caught:
        read_openke(openke)
    assert caught.value.line == 1
    with pytest.raises(DataNotFoundError, match="test2id"):
        read_openke(openke, parts=("test",))


@pytest.mark.data
def test_published_cn15k(real_data: Path) -> None:
    graph = read_cn15k(real_data / "cn15k")
    facts = graph.provenance
    assert (graph.num_entities, graph.num_relations) == (15_000, 36)
    assert facts["rows"] == 241_158
    assert facts["triples"] == graph.num_triples == 225_376
    assert facts["duplicate_rows"] == 15_782
    assert facts["triples_with_duplicates"] == 13_569
    assert facts["triples_with_conflicting_confidences"] == 8_246
    assert facts["self_loop_rows"] == 8_206
    assert facts["self_loops"] == 6_605
    assert graph.relation_label(graph.relation("isa")) == "is a subtype or a specific instance of"
    confidences = graph.columns()[3]
    assert (confidences.min() >= 0.1, confidences.max()) == (True, 1.0)


@pytest.mark.data
def test_published_cn15k_as_text_is_the_same_graph(real_data: Path, tmp_path: Path) -> None:
    folder = real_data / "cn15k"
    names = []
    for file in ("entity_id.csv", "relation_id.csv"):
        rows = [line.rsplit(",", 1) for line in (folder / file).read_text().splitlines()[1:]]
        names.append({number: name for name, number in rows})
    entities, relations = names
    with (tmp_path / "cn15k.tsv").open("w") as stream:
        for line in reversed((folder / "data.tsv").read_text().splitlines()):
            head, relation, tail, confidence = line.split("\t")
            stream.write(f"{entities[head]}\t{relations[relation]}\t{entities[tail]}\t{confidence}\n")
    by_names, by_ids = read_text(tmp_path / "cn15k.tsv"), read_cn15k(folder)
    assert by_names.num_entities == by_ids.num_entities
    assert by_names.fingerprint == by_ids.fingerprint


@pytest.mark.data
def test_published_fb15k237(real_data: Path) -> None:
    train = read_openke(real_data / "fb15k237")
    assert (train.num_entities, train.num_relations, train.num_triples) == (14_541, 237, 272_115)
    every = read_openke(real_data / "fb15k237", parts=("train", "valid", "test"))
    assert every.num_triples == 310_116
    assert every.entity_label(every.entity("/m/06rf7")) == "Schleswig-Holstein"
