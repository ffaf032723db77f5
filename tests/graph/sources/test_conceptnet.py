from __future__ import annotations

import gzip
import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kgqa_bench.errors import ConfigError, DataError, DataNotFoundError
from kgqa_bench.graph.merging import MergeRule
from kgqa_bench.graph.open import open_graph
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.graph.sources.conceptnet import confidence, read_conceptnet
from kgqa_bench.graph.sources.conceptnet_words import relation_words
from kgqa_bench.graph.sources.settings import WeightMapping


def line(relation: str, start: str, end: str, weight: Any, **more: Any) -> str:
    details = json.dumps({"dataset": "/d/x", **more, "weight": weight}, ensure_ascii=False)
    return f"/a/[{relation}/,{start}/,{end}/]\t{relation}\t{start}\t{end}\t{details}\n"


LINES = [
    line("/r/UsedFor", "/c/en/ice_cream/n/wn/food", "/c/en/eat/v", 2.0),
    line("/r/UsedFor", "/c/en/ice_cream", "/c/en/eat", 0.5, surfaceText='[[x]] "weight": 9 \\ [[y]]'),
    line("/r/Synonym", "/c/fr/glace/n", "/c/en/ice_cream/n", 1.0),
    line("/r/RelatedTo", "/c/enm/yse", "/c/en/ice", 1.0),
    line("/r/ExternalURL", "/c/en/ice", "http://dbpedia.org/resource/Ice", 1.0),
    line("/r/dbpedia/genre", "/c/en/42", "/c/en/café", 1),
    line("/r/RelatedTo", "/c/en/ice", "/c/en/ice/n", 10.0),
]


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "conceptnet" / "conceptnet-assertions-5.7.0.csv"
    path.parent.mkdir()
    path.write_text("".join(LINES), encoding="utf-8")
    return path


def named(graph: Graph) -> dict[tuple[str, str, str], float]:
    return {
        (graph.entity_name(q.head), graph.relation_name(q.relation), graph.entity_name(q.tail)): round(
            q.confidence, 6
        )
        for q in graph.quads()
    }


def test_weights_to_confidences() -> None:
    weights = np.array([0.01, 0.1, 0.25, 0.5, 1, 2, 3, 10])
    ukge = [0.1, 0.1, 0.342462, 0.525878, 0.709293, 0.892709, 1.0, 1.0]
    assert confidence(weights, "ukge") == pytest.approx(ukge, abs=5e-7)
    assert confidence(weights, "ukge").max() <= 1.0
    assert confidence(weights, "clip").tolist() == [0.01, 0.1, 0.25, 0.5, 1, 1, 1, 1]
    assert confidence(np.array([0.25, 1, 3]), "saturating") == pytest.approx([0.2, 0.5, 0.75])
    assert confidence(weights, "one").tolist() == [1.0] * 8
    with pytest.raises(ConfigError, match="ukge"):
        confidence(weights, "log")  # type: ignore[arg-type]


def test_english_edges_without_part_of_speech(dump: Path) -> None:
    graph = read_conceptnet(dump)
    assert named(graph) == {
        ("ice_cream", "UsedFor", "eat"): 0.892709,  # the greater of the two
        ("42", "dbpedia/genre", "café"): 0.709293,
        ("ice", "RelatedTo", "ice"): 1.0,
    }
    assert graph.entity_label(graph.entity("ice_cream")) == "ice cream"
    assert graph.relation_label(graph.relation("UsedFor")) == "is used for"
    assert graph.entity_name(graph.entity("42")) == "42"
    facts = graph.provenance
    assert (facts["lines"], facts["rows"], facts["duplicate_rows"], facts["self_loops"]) == (7, 4, 1, 1)
    assert (facts["merge"], facts["confidences"], facts["source"]) == ("max", "weights by ukge", dump.name)


@pytest.mark.parametrize(
    ("mapping", "merge", "value"),
    [("clip", "mean", 0.75), ("clip", "first", 1.0), ("clip", "last", 0.5), ("saturating", "noisy_or", 7 / 9)],
)
def test_mapping_and_merging(dump: Path, mapping: WeightMapping, merge: MergeRule, value: float) -> None:
    graph = read_conceptnet(dump, mapping=mapping, merge=merge)
    assert named(graph)["ice_cream", "UsedFor", "eat"] == pytest.approx(value, abs=1e-6)


def test_gzip_and_windows_line_ends(dump: Path, tmp_path: Path) -> None:
    packed = tmp_path / "conceptnet-assertions-5.7.0.csv.gz"
    packed.write_bytes(gzip.compress("".join(LINES).replace("\n", "\r\n").encode()))
    assert read_conceptnet(packed).fingerprint == read_conceptnet(dump).fingerprint


def test_many_blocks_are_one_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "conceptnet-assertions-x.csv"
    rows = [line("/r/IsA", f"/c/en/a{n}", f"/c/{'en' if n % 3 == 0 else 'de'}/b{n}", 1.0) for n in range(300)]
    rows[297] = line("/r/IsA", "/c/en/a", "/c/en/b", 0.0)
    path.write_text("".join(rows))
    monkeypatch.setattr("kgqa_bench.graph.sources.conceptnet._BLOCK", 1 << 10)
    with pytest.raises(DataError, match=r"weight 0.0 is no positive number") as caught:
        read_conceptnet(path)
    assert caught.value.line == 298  # counted over blocks
    path.write_text("".join(rows[:297]))
    assert read_conceptnet(path).num_triples == 99


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("/a/x\t/r/IsA\t/c/en/a\t/c/en/b\n", "4 columns instead of 5"),
        (line("/r/IsA", "/c/en/a", "/c/en/b", None), "weight nan is no positive number"),
        (line("/r/IsA", "/c/en/a", "/c/en/b", "high"), 'number "weight"'),
        (line("/r/IsA", "/c/en/a", "/c/en/b", -1.0), "weight -1.0 is no positive number"),
        ("/a/x\t/r/IsA\t/c/en/a\t/c/en/b\t{\n", 'number "weight"'),
        ("/a/x\t/r/IsA\t/c/en/a\t/c/en/b\t{}\n", 'number "weight"'),
        (line("IsA", "/c/en/a", "/c/en/b", 1.0), "'IsA' is not a URI like /r/NAME"),
        (line("/r/IsA", "/c/en/", "/c/en/b", 1.0), "'/c/en/' is not a URI like /c/en/NAME"),
    ],
)
def test_bad_lines_are_named(dump: Path, bad: str, message: str) -> None:
    with dump.open("a") as stream:
        stream.write("\n" + bad + LINES[0])
    with pytest.raises(DataError, match=message) as caught:
        read_conceptnet(dump)
    assert (caught.value.file, caught.value.line) == (dump, 9)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "conceptnet-assertions-5.csv.gz"
    with pytest.raises(DataNotFoundError):
        read_conceptnet(path)
    path.write_bytes(gzip.compress("".join(LINES).encode())[:-20])
    with pytest.raises(DataError, match="cannot be read"):
        read_conceptnet(path)
    path.write_bytes(gzip.compress("".join(LINES[2:5]).encode()))
    with pytest.raises(DataError, match="none of the 3 lines"):
        read_conceptnet(path)
    path.write_bytes(gzip.compress(LINES[0].replace("ice", "\xe9").encode("latin-1")))
    with pytest.raises(DataError, match="not UTF-8") as caught:
        read_conceptnet(path)
    assert caught.value.line == 1


def test_relations_in_words() -> None:
    assert relation_words("AtLocation") == "is found at"
    assert relation_words("HasPainIntensity") == "has pain intensity"
    assert relation_words("dbpedia/birthPlace") == "birth place"


@pytest.fixture
def cn15k(tmp_path: Path) -> Path:
    folder = tmp_path / "cn15k"
    folder.mkdir()
    (folder / "entity_id.csv").write_text("entity string,id\nrain,0\ncloud,1\n")
    (folder / "relation_id.csv").write_text("relation string,id\natlocation,0\n")
    (folder / "data.tsv").write_text("0\t0\t1\t0.5\n")
    return tmp_path


def test_the_dump_is_taken_first(dump: Path, cn15k: Path, caplog: pytest.LogCaptureFixture) -> None:
    graph = open_graph("conceptnet", cn15k, {})
    assert graph.provenance["source"] == dump.name
    assert not caplog.records
    assert named(open_graph("conceptnet", cn15k, {"mapping": "one"}))["ice_cream", "UsedFor", "eat"] == 1.0
    assert open_graph("conceptnet", cn15k, {"part": "cn15k"}).num_triples == 1


def test_cn15k_stands_in_and_says_so(cn15k: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        graph = open_graph("conceptnet", cn15k, {})
    assert "CN15k stands in for ConceptNet" in caplog.text
    assert "CN15k stands in for ConceptNet" in graph.provenance["note"]
    assert named(graph) == {("rain", "atlocation", "cloud"): 0.5}
    assert named(open_graph("conceptnet", cn15k, {"mapping": "one"})) == {("rain", "atlocation", "cloud"): 1.0}
    assert named(open_graph("cn15k", cn15k, {"mapping": "one"})) == {("rain", "atlocation", "cloud"): 1.0}
    with pytest.raises(ConfigError, match="saturating cannot be had"):
        open_graph("conceptnet", cn15k, {"mapping": "saturating"})
    with pytest.raises(DataNotFoundError, match=r"no assertions dump.*conceptnet\.io"):
        open_graph("conceptnet", cn15k, {"part": "dump"})


def test_neither_is_there(tmp_path: Path) -> None:
    for data in (None, tmp_path):
        with pytest.raises(DataNotFoundError, match=r"FOLDER/conceptnet.*FOLDER/cn15k.*KGQA_BENCH_DATA.*--graph"):
            open_graph("conceptnet", data, {})


def test_several_dumps_are_ambiguous(dump: Path, tmp_path: Path) -> None:
    (dump.parent / "conceptnet-assertions-5.6.0.csv").write_text(LINES[0])
    with pytest.raises(ConfigError, match="several dumps"):
        open_graph("conceptnet", tmp_path, {})
    assert open_graph(str(dump), None, {"mapping": "clip"}).provenance["confidences"] == "weights by clip"
