from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kgqa_bench import registry
from kgqa_bench.errors import ConfigError, DataError, DataNotFoundError
from kgqa_bench.graph.open import open_graph
from kgqa_bench.graph.protocol import Graph

DATA = Path(__file__).parent.parent / "data"

# Treat, Inhibit are directed; of Associate and Drug_Interact one edge stays, its head the first by name
EXPECTED = {
    ("MESH:D014635", "Treat", "MESH:D004827", 0.95),
    ("GENE:2554", "Associate", "MESH:D004827", 0.8),
    ("MESH:D000606", "Drug_Interact", "MESH:D014635", 0.66),
    ("MESH:D000606", "Inhibit", "MESH:D004827", 0.7),
    ("MESH:D004827", "Inhibit", "MESH:D000606", 0.9),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(DATA / "medkgent", tmp_path / "medkgent")
    return tmp_path


def named(graph: Graph) -> set[tuple[str, str, str, float]]:
    return {
        (graph.entity_name(q.head), graph.relation_name(q.relation), graph.entity_name(q.tail), q.confidence)
        for q in graph.quads()
    }


def test_export_by_neo4j_admin(folder: Path) -> None:
    graph = open_graph("medkgent", folder, {})
    assert named(graph) == EXPECTED
    assert graph.num_entities == 5  # also the one without edge
    assert graph.entity_label(graph.entity("GENE:2554")) == "GABRA1, alpha 1"
    assert graph.relation_label(graph.relation("Drug_Interact")) == "has a drug interaction with"
    assert graph.provenance["undirected"] == ["Associate", "Drug_Interact"]
    assert graph.provenance["duplicate_rows"] == 2
    assert graph.provenance["undirected_rows_turned"] == 2
    assert graph.provenance["confidences"] == "property score"


def test_export_by_apoc_is_the_same_graph(folder: Path) -> None:
    chosen = {"undirected": "Associate, Drug_Interact", "confidence": "score"}
    apoc = open_graph(str(DATA / "medkgent_apoc.csv"), None, chosen)
    assert apoc.fingerprint == open_graph("medkgent", folder, {}).fingerprint
    assert list(apoc.entity_labels()) == list(open_graph("medkgent", folder, {}).entity_labels())


def test_both_directions_can_be_kept(folder: Path) -> None:
    graph = open_graph("medkgent", folder, {"undirected": []})
    assert graph.num_triples == 7
    assert ("MESH:D004827", "Associate", "GENE:2554", 0.8) in named(graph)


@pytest.mark.parametrize("where", ["medkgent", "medkgent_apoc.csv"])
def test_aliases(where: str) -> None:
    graph = open_graph(str(DATA / where), None, {})
    for _read_then_from_cache in range(2):
        graph = open_graph(str(DATA / where), None, {})
        aliases = [(alias, graph.entity_name(entity)) for alias, entity in graph.entity_aliases]  # type: ignore[attr-defined]
        assert aliases == [
            ("aminobutyrates", "MESH:D000606"),
            ("amino butyric acids", "MESH:D000606"),
            ("epilepsy", "MESH:D004827"),
            ("seizure disorder", "MESH:D004827"),
            ('"the falling sickness"', "MESH:D004827"),
            ("gabra1", "GENE:2554"),
            ("human", "9606"),
            ("humans", "9606"),
        ]


def test_integer_looking_identifiers_are_names(folder: Path) -> None:
    graph = open_graph("medkgent", folder, {})
    assert graph.entity_name(graph.entity("9606")) == "9606"
    assert graph.find_entity("0") is None


def test_id_spaces_keep_equal_ids_apart(tmp_path: Path) -> None:
    (tmp_path / "a_genes.csv").write_text(":ID(Gene),identifier,name\n1,G1,gene one\n")
    (tmp_path / "b_drugs.csv").write_text(":ID(Drug),identifier,name\n1,D1,drug one\n")
    (tmp_path / "c_edges.csv").write_text(":START_ID(Drug),:END_ID(Gene),:TYPE\n1,1,Inhibit\n")
    graph = open_graph(str(tmp_path), None, {})
    assert named(graph) == {("D1", "Inhibit", "G1", 1.0)}
    assert graph.provenance["confidences"] == "all 1"


def test_long_fields_and_line_breaks_in_quotes(tmp_path: Path) -> None:
    embedding = ";".join(["0.123456789"] * 20_000)  # longer than the csv module allows by itself
    (tmp_path / "nodes.csv").write_text(f'identifier:ID,name,e\na,"two\nlines",{embedding}\nb,,\n')
    (tmp_path / "edges.csv").write_text(":START_ID,:END_ID,:TYPE,confidence\na,b,r,0.5\n")
    graph = open_graph(str(tmp_path), None, {})
    assert graph.entity_label(graph.entity("a")) == "two\nlines"
    assert graph.entity_label(graph.entity("b")) == "b"
    assert named(graph) == {("a", "r", "b", 0.5)}


@pytest.mark.parametrize(
    ("file", "row", "message"),
    [
        ("relationships.csv", "MESH:D014635,MESH:X,Treat,0.9", ":END_ID 'MESH:X' is the :ID of no node"),
        ("relationships.csv", "MESH:D014635,MESH:D004827,Treat,1.5", "1.5 is not in"),
        ("relationships.csv", "MESH:D014635,MESH:D004827,Treat,nan", "nan is not in"),
        ("relationships.csv", "MESH:D014635,MESH:D004827,Treat,", "'' is not a number"),
        ("relationships.csv", "MESH:D014635,MESH:D004827,Treat", "3 columns instead of the header's 4"),
        ("relationships.csv", "MESH:D014635,MESH:D004827,,0.9", "has no type"),
        ("nodes.csv", "MESH:D000606,Again,Chemical,,MESH,,Entity", "a second node is called 'MESH:D000606'"),
        ("nodes.csv", ",Nameless,Chemical,,MESH,,Entity", "no identifier"),
        ("nodes.csv", 'X,"open,Chemical,,MESH,,Entity', "quotes"),
    ],
)
def test_bad_rows_are_named(folder: Path, file: str, row: str, message: str) -> None:
    path = folder / "medkgent" / file
    before = path.read_text()
    path.write_text(before + row + "\n")
    with pytest.raises(DataError, match=message) as caught:
        open_graph("medkgent", folder, {})
    assert caught.value.file == path
    assert caught.value.line in (before.count("\n") + 1, before.count("\n") + 2)


def test_bytes_that_are_not_utf8(folder: Path) -> None:
    with (folder / "medkgent" / "nodes.csv").open("ab") as stream:
        stream.write(b"MESH:Y,caf\xe9,Chemical,,MESH,,Entity\n")
    with pytest.raises(DataError, match="not UTF-8"):
        open_graph("medkgent", folder, {})


def test_score_is_required_where_it_is_named(folder: Path) -> None:
    edges = folder / "medkgent" / "relationships.csv"
    edges.write_text(edges.read_text().replace("score:float", "support:float"))
    with pytest.raises(DataError, match="no column 'score'"):
        open_graph("medkgent", folder, {})
    assert named(open_graph("medkgent", folder, {"confidence": "support"})) == EXPECTED


@pytest.mark.parametrize("make", [False, True])
def test_missing(tmp_path: Path, make: bool) -> None:
    if make:
        (tmp_path / "medkgent").mkdir()
    for data in (None, tmp_path):
        with pytest.raises(DataNotFoundError, match=r"ShowerMaker/MedKGent-KG.*FOLDER/medkgent.*--graph"):
            open_graph("medkgent", data, {})


def test_settings_are_checked(folder: Path) -> None:
    with pytest.raises(ConfigError, match="undirected"):
        open_graph("medkgent", folder, {"undirectd": []})
    assert registry.create("graphs", "medkgent").settings.confidence == "score"
