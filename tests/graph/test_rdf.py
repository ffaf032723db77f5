from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa_bench.errors import ConfigError, DataError, DataNotFoundError, StorageError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.open import open_graph
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.graph.rdf import read_rdf
from kgqa_bench.graph.rdf_terms import ENTITY_BASE, default_label, iri_of, name_of
from kgqa_bench.graph.turtle import Form, write_turtle

PREFIXES = """
@prefix ex: <http://example.org/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
"""
EX = "http://example.org/"


def named(graph: Graph) -> dict[tuple[str, str, str], float]:
    return {
        tuple(
            name.removeprefix(EX)
            for name in (graph.entity_name(q.head), graph.relation_name(q.relation), graph.entity_name(q.tail))
        ): q.confidence
        for q in graph.quads()
    }  # type: ignore[misc]


def read(tmp_path: Path, text: str, name: str = "graph.ttl", **chosen: Any) -> MemoryGraph:
    path = tmp_path / name
    path.write_text(PREFIXES + text if name.endswith((".ttl", ".trig", ".n3")) else text, encoding="utf-8")
    return read_rdf(path, **chosen)


FORMS = {
    "star, annotated": "ex:a ex:r ex:b {| ex:confidence 0.25 |} .",
    "star, quoted": "ex:a ex:r ex:b . << ex:a ex:r ex:b >> ex:confidence 0.25 .",
    "reification": """ex:a ex:r ex:b .
        [] a rdf:Statement ; rdf:subject ex:a ; rdf:predicate ex:r ; rdf:object ex:b ; ex:confidence 0.25 .""",
    "named reification": """ex:s a rdf:Statement ; rdf:subject ex:a ; rdf:predicate ex:r ; rdf:object ex:b .
        ex:a ex:r ex:b . ex:s ex:confidence "2.5e-1" .""",
    "annotation": """ex:a ex:r ex:b . [] a owl:Axiom ; owl:annotatedSource ex:a ; owl:annotatedProperty ex:r ;
        owl:annotatedTarget ex:b ; ex:confidence 0.25 .""",
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_forms_of_confidence(tmp_path: Path, text: str) -> None:
    graph = read(tmp_path, text + " ex:b ex:r ex:c .")
    assert named(graph) == {("a", "r", "b"): 0.25, ("b", "r", "c"): 1.0}
    assert graph.provenance["confidences"] == f"property {EX}confidence"
    assert graph.provenance["triples_with_confidence"] == 1


def test_which_property_is_the_confidence(tmp_path: Path) -> None:
    text = "ex:a ex:r ex:b {| ex:score 0.25 ; ex:certainty 0.5 |} ."
    assert named(read(tmp_path, text)) == {("a", "r", "b"): 0.25}
    assert named(read(tmp_path, text, confidence_predicate=EX + "certainty")) == {("a", "r", "b"): 0.5}
    with pytest.raises(ConfigError, match=r"confidence.*score.*graph\.confidence_predicate"):
        read(tmp_path, "ex:a ex:r ex:b {| ex:score 0.25 ; ex:confidence 0.5 |} .")
    ours = "ex:a ex:r ex:b {| ex:score 0.25 ; <urn:kgqa-bench:confidence> 0.5 |} ."
    assert named(read(tmp_path, ours)) == {("a", "r", "b"): 0.5}


def test_several_confidences_are_merged(tmp_path: Path) -> None:
    text = "ex:a ex:r ex:b {| ex:score 0.25 |} . << ex:a ex:r ex:b >> ex:score 0.75 ."
    assert named(read(tmp_path, text)) == {("a", "r", "b"): 0.75}
    assert named(read(tmp_path, text, merge="mean")) == {("a", "r", "b"): 0.5}


def test_statements_about_absent_triples_make_no_edge(tmp_path: Path) -> None:
    graph = read(tmp_path, "ex:a ex:r ex:b . << ex:a ex:r ex:c >> ex:score 0.5 .")
    assert named(graph) == {("a", "r", "b"): 1.0}
    assert graph.provenance["confidences_of_absent_triples"] == 1
    with pytest.raises(DataError, match="write the triples too"):
        read(tmp_path, "<< ex:a ex:r ex:c >> ex:score 0.5 .")


@pytest.mark.parametrize("value", ["1.5", "0", "-1", '"NaN"', '"high"'])
def test_bad_confidences(tmp_path: Path, value: str) -> None:
    with pytest.raises(DataError, match=r"graph\.ttl: the confidence .* of <http://example.org/a>") as caught:
        read(tmp_path, f"ex:a ex:r ex:b {{| ex:score {value} |}} .")
    assert caught.value.file == tmp_path / "graph.ttl"


def test_labels(tmp_path: Path) -> None:
    graph = read(
        tmp_path,
        'ex:a ex:isPartOf ex:New_York . ex:a rdfs:label "Ahh"@de, "Ah"@en, "A" . '
        'ex:isPartOf rdfs:label "is part of" .',
    )
    assert graph.entity_label(graph.entity(EX + "a")) == "Ah"
    assert graph.entity_label(graph.entity(EX + "New_York")) == "New York"
    assert graph.relation_label(0) == "is part of"
    assert named(graph) == {("a", "isPartOf", "New_York"): 1.0}


def test_literals_and_blank_nodes(tmp_path: Path) -> None:
    text = 'ex:a ex:r ex:b ; ex:age 42 ; ex:motto "b" . ex:a ex:r [ ex:r ex:b ] . ex:a ex:r ex:c {| ex:score 0.5 |} .'
    graph = read(tmp_path, text)
    assert named(graph) == {("a", "r", "b"): 1.0, ("a", "r", "c"): 0.5}
    assert (graph.provenance["literal_triples"], graph.provenance["blank_node_triples_skipped"]) == (3, 2)
    kept = read(tmp_path, text, literals="keep")
    integer = '"42"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert named(kept)[("a", "age", integer)] == 1.0
    assert named(kept)[("a", "motto", '"b"')] == 1.0
    assert kept.num_triples == 4  # the confidence is not one
    assert kept.entity_label(kept.entity(integer)) == "42"
    assert kept.find_entity("42") is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.nt", f"<{EX}a> <{EX}r> <{EX}b> .\n"),
        ("g.nq", f"<{EX}a> <{EX}r> <{EX}b> <{EX}graph> .\n<{EX}a> <{EX}r> <{EX}b> .\n"),
        ("g.trig", "ex:graph { ex:a ex:r ex:b }"),
        ("g.n3", "ex:a ex:r ex:b ."),
        ("g.jsonld", f'{{"@id": "{EX}a", "{EX}r": {{"@id": "{EX}b"}}}}'),
        (
            "g.owl",
            f'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:ex="{EX}">'
            f'<rdf:Description rdf:about="{EX}a"><ex:r rdf:resource="{EX}b"/></rdf:Description></rdf:RDF>',
        ),
        (
            "g.trix",
            '<TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/"><graph><triple>'
            f"<uri>{EX}a</uri><uri>{EX}r</uri><uri>{EX}b</uri></triple></graph></TriX>",
        ),
    ],
)
def test_formats(tmp_path: Path, name: str, text: str) -> None:
    assert named(read(tmp_path, text, name)) == {("a", "r", "b"): 1.0}
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    assert named(open_graph(str(packed), None, {})) == {("a", "r", "b"): 1.0}


XML = """<?xml version="1.0"?><!DOCTYPE r [{entities}]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:ex="http://example.org/">
<rdf:Description rdf:about="&x;a"><ex:r rdf:resource="&x;b"/></rdf:Description></rdf:RDF>"""


def test_entities_of_xml_may_stand_for_namespaces(tmp_path: Path) -> None:
    graph = read(tmp_path, XML.format(entities='<!ENTITY x "http://example.org/">'), "g.owl")
    assert named(graph) == {("a", "r", "b"): 1.0}


@pytest.mark.parametrize(
    "entities",
    [
        '<!ENTITY w "ha"><!ENTITY x "&w;&w;&w;&w;">',
        "<!ENTITY w 'ha'>\n<!ENTITY x '&#38;&w;'>",
        f'<!ENTITY x "{"a" * 2000}">',
        f"<!--{'<a>' * 400_000}--><!ENTITY w 'ha'><!ENTITY x '&w;&w;'>",
        f"<!--{'.' * (2**20 - 60)}--><!ENTITY w 'ha'><!ENTITY x '&w;&w;'>",
    ],
    ids=["nested", "single quotes", "long", "late", "across windows"],
)
def test_entities_that_unfold_are_refused(tmp_path: Path, entities: str) -> None:
    with pytest.raises(DataError, match="entity is long or made of other entities"):
        read(tmp_path, XML.format(entities=entities), "g.rdf")


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataNotFoundError):
        read_rdf(tmp_path / "none.ttl")
    with pytest.raises(DataError, match="not well-formed") as caught:
        read(tmp_path, "ex:a ex:r ex:b .\nex:a ex:r .\n")
    assert caught.value.line == PREFIXES.count("\n") + 2
    with pytest.raises(DataError, match="@base"):
        read(tmp_path, "<a> <r> <b> .")
    with pytest.raises(DataError, match="no triple between two IRIs"):
        read(tmp_path, 'ex:a ex:r "b" .')
    with pytest.raises(DataError, match="not well-formed"):
        read(tmp_path, "<TriX>", "g.trix")
    (tmp_path / "cut.nt.gz").write_bytes(gzip.compress(b"<http://a/a> <http://a/r> <http://a/b> .\n" * 99)[:-9])
    with pytest.raises(DataError, match="cannot be read"):
        read_rdf(tmp_path / "cut.nt.gz")
    (tmp_path / "cut.foo.gz").touch()
    with pytest.raises(ConfigError, match="unknown kind"):
        read_rdf(tmp_path / "cut.foo.gz")
    with pytest.raises(ConfigError, match="no setting 'literal'"):
        open_graph(str(tmp_path / "graph.ttl"), None, {"literal": "keep"})


HOSTILE = [
    "42",
    "a b",
    "<x> .",
    'q"\\',
    "été",
    "%41",
    "http://x/y z",
    "urn:kgqa-bench:entity:a",
    "\n\t\x01",
    "a:b",
    "😀",
    "'",
]


@pytest.mark.parametrize("form", ["star", "reification", "annotation"])
def test_round_trip(tmp_path: Path, form: Form) -> None:
    rows = [(head, relation, "42", (at + 1) / 30) for at, head in enumerate(HOSTILE) for relation in ("42", "a b")]
    rows += [("http://example.org/New_York", "urn:x:r", head, 1.0) for head in HOSTILE]
    graph = build_graph(
        *map(list, zip(*rows, strict=True)),
        source="test",
        entity_names=None,
        entity_labels={"42": 'fourty "two" \\ \n', "a b": "<b> . <x> <y> <z>", "http://example.org/New_York": "NYC"},
        relation_labels={"42": "is the ' of"},
    )
    path = tmp_path / "graph.ttl"
    write_turtle(graph, path, form=form)
    again = read_rdf(path)
    assert again.fingerprint == graph.fingerprint
    assert list(again.entity_labels()) == list(graph.entity_labels())
    assert [again.relation_label(r) for r in range(3)] == [graph.relation_label(r) for r in range(3)]
    if form != "star":  # rdflib does not read RDF-star
        triples = set(rdflib.Graph().parse(path))
        assert len([each for each in triples if each[1] == rdflib.URIRef("urn:x:r")]) == len(HOSTILE)


def test_entities_without_triple_and_views_come_back(tmp_path: Path) -> None:
    graph = build_graph(
        [0, 1],
        [0, 0],
        [1, 2],
        [0.5, 0.25],
        source="t",
        entity_names=["a", "b", "c", "lone"],
        relation_names=["r", "s"],
    )
    path = tmp_path / "graph.ttl"
    for view in (graph, graph.hide([(0, 0, 1)])):
        write_turtle(view, path)
        again = read_rdf(path)
        assert again.fingerprint == view.fingerprint
        assert again.num_entities == 4


def test_writing_what_cannot_be_written(tmp_path: Path) -> None:
    graph = build_graph(["a"], ["r"], ["b"], source="t")
    with pytest.raises(StorageError):
        write_turtle(graph, tmp_path / "none" / "graph.ttl")
    with pytest.raises(ConfigError, match="IRI"):
        write_turtle(graph, tmp_path / "graph.ttl", confidence_predicate="a> <b")
    with pytest.raises(ConfigError, match="star, reification or annotation"):
        write_turtle(graph, tmp_path / "graph.ttl", form="quads")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_names_come_back_from_their_iris(name: str) -> None:
    iri = iri_of(name, ENTITY_BASE)
    assert name_of(iri, ENTITY_BASE) == name
    assert not set(iri) & set('<>"{}|\\^` \n')


def test_iris_have_names_of_their_own() -> None:
    iris = [
        "mailto:x",
        ENTITY_BASE + "mailto%3Ax",
        ENTITY_BASE + "A",
        ENTITY_BASE + "%41",
        ENTITY_BASE + "%ff",
        ENTITY_BASE,
    ]
    assert len({name_of(iri, ENTITY_BASE) for iri in iris}) == len(iris)
    assert iri_of("http://example.org/é", ENTITY_BASE) == "http://example.org/é"
    assert default_label("http://example.org/a#Big_City%20") == "Big City"
    assert default_label("Big_City") == "Big_City"


@pytest.mark.data
@pytest.mark.parametrize("name", ["family", "cn15k", "fb15k237"])
def test_round_trip_of_real_graphs(real_data: Path, tmp_path: Path, name: str) -> None:
    graph = open_graph(name, real_data, {})
    write_turtle(graph, tmp_path / "graph.ttl")
    again = open_graph(str(tmp_path / "graph.ttl"), None, {})
    assert again.fingerprint == graph.fingerprint
    assert list(again.entity_labels()) == list(graph.entity_labels())
