from __future__ import annotations

import pytest

from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.entity_kinds import EntityKind, entity_kinds
from kgqa_bench.graph.protocol import Graph


def graph_of(*triples: tuple[str, str, str], labels: dict[str, str] | None = None) -> Graph:
    return build_graph(*map(list, zip(*triples, strict=True)), source="test", entity_labels=labels)


def kinds_of(graph: Graph) -> dict[str, EntityKind]:
    kinds = entity_kinds(graph)
    return {graph.entity_name(entity): kinds.kind(entity) for entity in range(graph.num_entities)}


def test_freebase() -> None:
    graph = graph_of(
        ("Ann Lee", "people.person.spouse_s", "m.0abc"),
        ("m.0abc", "people.marriage.spouse", "Bo Lee"),
        ("m.0abc", "people.marriage.from", "1999-05-01"),
        ("Ann Lee", "people.person.children", "g.11xyz"),
        ("Ann Lee", "film.actor.film", "1984"),
        ("1984", "film.film.initial_release_date", "1984"),
        ("1984", "film.film.runtime", "110.5"),
        ("m.0self", "people.person.children", "m.0self"),
        ("Bo Lee", "people.deceased_person", "true"),
    )
    assert kinds_of(graph) == {
        "Ann Lee": "entity",
        "m.0abc": "mediator",
        "Bo Lee": "entity",
        "1999-05-01": "literal",
        "g.11xyz": "unnamed",
        "1984": "entity",  # the head of a triple, as no value is
        "110.5": "literal",
        "m.0self": "unnamed",  # its only neighbour is itself
        "true": "literal",
    }


def test_a_label_is_a_name() -> None:
    graph = graph_of(
        ("/m/01", "/people/person/profession", "/m/02"),
        ("/m/02", "/award/award/winners./award/award_honor/winner", "/m/03"),
        labels={"/m/01": "Ann Lee", "/m/03": ""},
    )
    assert kinds_of(graph) == {"/m/01": "entity", "/m/02": "mediator", "/m/03": "unnamed"}


def test_what_looks_like_freebase_elsewhere_is_a_name() -> None:
    graph = graph_of(("m.0abc", "directed_by", "Ann Lee"), ("m.0abc", "release_year", "1967"))
    assert set(kinds_of(graph).values()) == {"entity"}


@pytest.mark.parametrize("written", ['"1967"^^<http://www.w3.org/2001/XMLSchema#gYear>', '"film"@en', '"film"'])
def test_literals_of_rdf(written: str) -> None:
    graph = graph_of(("a", "urn:r", written), ("a", "urn:r", 'the "film"'))
    assert kinds_of(graph) == {"a": "entity", written: "literal", 'the "film"': "entity"}
