from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from kgqa_bench.errors import ConfigError, DataError, DataNotFoundError, UnknownNameError
from kgqa_bench.graph import rdf, rdf_terms
from kgqa_bench.graph.build_kernels import MERGE_CODES
from kgqa_bench.graph.merging import MergeRule
from kgqa_bench.graph.open import open_graph
from kgqa_bench.graph.sources import conceptnet, settings
from kgqa_bench.graph.sources.file import open_file


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    folder = tmp_path / "family"
    folder.mkdir()
    (folder / "facts.txt").write_text("7\taunt\t72\n8\thas_son\t7\n")
    (folder / "train.txt").write_text("72\tniece\t7\n7\taunt\t72\n")
    return folder


def test_text_file_and_its_setting(tmp_path: Path) -> None:
    path = tmp_path / "graph.tsv"
    path.write_text("a\tr\tb\t0.25\na\tr\tb\t0.75\n")
    assert [quad.confidence for quad in open_file(path, {}).quads()] == [0.75]
    assert [quad.confidence for quad in open_file(path, {"merge": "mean"}).quads()] == [0.5]
    path.write_text("a\tr\tb\t0.5\n")  # the cache goes by content
    assert [quad.confidence for quad in open_file(path, {}).quads()] == [0.5]
    with pytest.raises(ConfigError, match=r"no setting 'parts' of .*graph\.tsv \(delimited text\)"):
        open_file(path, {"parts": "train"})
    with pytest.raises(ConfigError, match="merge"):
        open_file(path, {"merge": "sum"})


def test_folder_of_parts(parts: Path) -> None:
    graph = open_file(parts, {})
    assert graph.num_triples == 2
    both = open_file(parts, {"parts": "facts, train"})
    assert (both.num_triples, both.provenance["duplicate_rows"]) == (3, 1)
    assert both.relation_label(both.relation("has_son")) == "has son"
    assert open_file(parts, {"parts": ["train"]}).num_triples == 2
    with pytest.raises(DataNotFoundError, match=r"test\.txt"):
        open_file(parts, {"parts": "test"})


def test_family_has_relations_in_words(parts: Path) -> None:
    family = open_graph("family", parts.parent, {})
    plain = open_file(parts, {})  # the same files, so the same key but for the words
    assert [family.relation_label(relation) for relation in range(2)] == ["is the aunt of", "is the has son of"]
    assert [plain.relation_label(relation) for relation in range(2)] == ["aunt", "has son"]
    assert family.fingerprint == plain.fingerprint


def test_integer_looking_names_are_never_ids(parts: Path) -> None:
    graph = open_graph("family", parts.parent, {})
    assert sorted(graph.entity_name(entity) for entity in range(3)) == ["7", "72", "8"]
    assert graph.entity_name(graph.entity("7")) == "7"
    assert graph.find_entity("0") is None
    with pytest.raises(UnknownNameError):
        graph.entity("1")


def test_openke_folder(tmp_path: Path) -> None:
    (tmp_path / "entity2id.txt").write_text("2\n/m/1\t0\n/m/2\t1\n")
    (tmp_path / "relation2id.txt").write_text("1\n/r\t0\n")
    (tmp_path / "train2id.txt").write_text("1\n0 1 0\n")
    (tmp_path / "valid2id.txt").write_text("1\n1 0 0\n")
    assert open_file(tmp_path, {}).num_triples == 1
    assert open_file(tmp_path, {"parts": "train,valid"}).num_triples == 2
    with pytest.raises(ConfigError, match="parts"):
        open_file(tmp_path, {"parts": []})


def test_cn15k_folder(tmp_path: Path) -> None:
    (tmp_path / "entity_id.csv").write_text("entity string,id\nrain,0\ncloud,1\n")
    (tmp_path / "relation_id.csv").write_text("relation string,id\natlocation,0\n")
    (tmp_path / "data.tsv").write_text("0\t0\t1\t0.5\n")
    assert [quad.confidence for quad in open_file(tmp_path, {}).quads()] == [0.5]
    assert [quad.confidence for quad in open_file(tmp_path, {"mapping": "one"}).quads()] == [1.0]


def test_what_is_no_graph(tmp_path: Path) -> None:
    with pytest.raises(DataNotFoundError, match="nothing"):
        open_file(tmp_path / "nothing.tsv", {})
    with pytest.raises(ConfigError, match="unknown kind of graph folder"):
        open_file(tmp_path, {})
    (tmp_path / "graph.xlsx").write_bytes(b"PK")
    with pytest.raises(ConfigError, match=r"unknown kind of graph file.*\.tsv"):
        open_file(tmp_path / "graph.xlsx", {})
    (tmp_path / "bad.tsv").write_text("a\tr\tb\na\tr\n")
    with pytest.raises(DataError, match=r"bad\.tsv, line 2"):
        open_file(tmp_path / "bad.tsv", {})
    (tmp_path / "quote.tsv").write_text('"\tr\tb\n')  # a quote is a letter
    assert open_file(tmp_path / "quote.tsv", {}).find_entity('"') is not None


def test_choices_are_those_of_the_readers() -> None:
    assert get_args(MergeRule) == tuple(MERGE_CODES)
    assert get_args(settings.WeightMapping) == tuple(conceptnet.MAPPINGS)
    assert {*rdf_terms.RDF_SUFFIXES} == {*rdf.FORMATS, *rdf.RDFLIB_FORMATS}


@pytest.mark.parametrize("name", ["family", "umls", "fb15k237", "cn15k"])
def test_without_data(name: str, tmp_path: Path) -> None:
    for data in (None, tmp_path):
        with pytest.raises(DataNotFoundError, match=f"--data FOLDER.*KGQA_BENCH_DATA.*FOLDER/{name}"):
            open_graph(name, data, {})


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "chosen", "sizes"),
    [
        ("family", {}, (2920, 12, 17615)),
        ("family", {"parts": "facts,train,valid,test"}, (3007, 12, 28356)),
        ("umls", {}, (135, 45, 4006)),
        ("umls", {"parts": "facts,train,valid,test"}, (135, 46, 6529)),
        ("fb15k237", {}, (14541, 237, 272115)),
        ("fb15k237", {"parts": "train,valid,test"}, (14541, 237, 310116)),
        ("cn15k", {}, (15000, 36, 225376)),
        ("conceptnet", {"part": "cn15k"}, (15000, 36, 225376)),
    ],
)
def test_real_graphs(real_data: Path, name: str, chosen: dict[str, str], sizes: tuple[int, int, int]) -> None:
    graph = open_graph(name, real_data, chosen)
    assert (graph.num_entities, graph.num_relations, graph.num_triples) == sizes
    if name == "cn15k":
        facts = graph.provenance
        assert (facts["rows"], facts["triples_with_conflicting_confidences"]) == (241158, 8246)
        assert (facts["self_loop_rows"], facts["self_loops"]) == (8206, 6605)
