from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyoxigraph as ox
import pytest
import rdflib
from aiohttp import web

from kgqa_bench.errors import ConfigError, DataError, UnknownNameError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.open import open_graph
from kgqa_bench.graph.protocol import Graph, Step
from kgqa_bench.graph.sparql import sparql_graph
from kgqa_bench.graph.sparql_client import HttpClient, RdflibClient, StoreClient
from kgqa_bench.graph.turtle import Form, write_turtle

GRAPH = "http://example.org/graph"


def store_of(graph: Graph, path: Path, form: Form = "star") -> Any:
    write_turtle(graph, path, form=form)
    store = ox.Store()
    store.load(path=str(path))
    return store


class Endpoint:
    """A SPARQL endpoint in a thread, over one store.

    Attributes:
        most_rows: Rows a reply is cut to, as public endpoints do, or None.
        failure: Status and body to answer with instead, or None.
        queries: What was asked.
    """

    def __init__(self) -> None:
        self.store = ox.Store()
        self.most_rows: int | None = None
        self.failure: tuple[int, str] | None = None
        self.queries: list[str] = []
        self.url = ""
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._serve()), daemon=True)

    def __enter__(self) -> Endpoint:
        self._thread.start()
        assert self._ready.wait(20)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(20)

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        app = web.Application()
        app.router.add_post("/sparql", self._answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/sparql"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        form = await request.post()
        query = str(form["query"])
        self.queries.append(query)
        if self.failure is not None:
            return web.Response(status=self.failure[0], text=self.failure[1])
        named = form.get("default-graph-uri")
        chosen = {"default_graph": ox.NamedNode(str(named))} if named else {}
        found = self.store.query(query, **chosen)
        reply = json.loads(found.serialize(format=ox.QueryResultsFormat.JSON))
        if "results" in reply:
            reply["results"]["bindings"] = reply["results"]["bindings"][: self.most_rows]
        return web.Response(text=json.dumps(reply), content_type="application/sparql-results+json")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as served:
        yield served


@pytest.fixture
def small() -> MemoryGraph:
    rows = [
        ("rain", "causes", "flood", 0.75),
        ("rain", "isa", "water", 1.0),
        ("flood", "isa", "water", 0.5),
        ("42", "isa", "rain", 0.25),
    ]
    labels = {"rain": 'the "rain"', "42": "forty-two"}
    return build_graph(*map(list, zip(*rows, strict=True)), source="small", entity_labels=labels)


def same(one: Graph, other: Graph, sample: list[int]) -> None:
    """Every method of the protocol answers alike."""
    assert (one.num_entities, one.num_relations, one.num_triples) == (
        other.num_entities,
        other.num_relations,
        other.num_triples,
    )
    assert one.fingerprint == other.fingerprint
    assert list(one.entity_labels()) == list(other.entity_labels())
    assert list(one.quads()) == list(other.quads())
    calls: list[Callable[[Graph], Any]] = []
    for relation in range(one.num_relations):
        calls += [
            lambda graph, r=relation: (graph.relation_name(r), graph.relation_label(r)),
            lambda graph, r=relation: graph.relation(graph.relation_name(r)),
        ]
    for at, entity in enumerate(sample):
        target = sample[at - 1]
        calls += [
            lambda graph, e=entity: (graph.entity_name(e), graph.entity_label(e), graph.find_entity(str(e))),
            lambda graph, e=entity: graph.search_labels(graph.entity_label(e)),
            lambda graph, e=entity: graph.groundings(e, (Step(0), Step(1, True)), 50),
            lambda graph, e=entity, t=target: [graph.has_triple(e, r, t) for r in range(graph.num_relations)],
            lambda graph, e=entity, t=target: graph.follow([e, t], (Step(0), Step(1, True))).tolist(),
        ]
        for way in ("out", "in", "both"):
            calls += [
                lambda graph, e=entity, w=way: graph.edges(e, w),
                lambda graph, e=entity, w=way: graph.edges(e, w, 1),
                lambda graph, e=entity, w=way: [column.tolist() for column in graph.neighbours(e, w)],
                lambda graph, e=entity, w=way: graph.relations_at(e, w),
                lambda graph, e=entity, w=way: graph.relation_paths(e, 2, w),
                lambda graph, e=entity, t=target, w=way: graph.within_hops([e, t], 2, w).tolist(),
                lambda graph, e=entity, t=target, w=way: graph.shortest_paths(e, t, 3, w),
                lambda graph, e=entity, t=target, w=way: graph.paths(e, t, 2, w),
                lambda graph, e=entity, t=target, w=way: [
                    graph.named(path) for path in graph.shortest_paths(e, t, 3, w, 2)
                ],
                lambda graph, e=entity, w=way: list(graph.subgraph([e], 1, w).quads()),
            ]
    calls += [
        lambda graph: graph.triples_among(sample),
        lambda graph: list(graph.hide(list(map(tuple, (q[:3] for q in graph.quads())))[::3]).quads()),
    ]
    for call in calls:
        assert call(one) == call(other)


@pytest.mark.parametrize("form", ["star", "reification", "annotation"])
def test_forms_of_confidence(small: MemoryGraph, tmp_path: Path, form: Form) -> None:
    graph = sparql_graph(StoreClient(store_of(small, tmp_path / "g.ttl", form)), confidence=form)
    same(small, graph, list(range(4)))
    assert form in graph.provenance["confidences"]
    plain = sparql_graph(StoreClient(store_of(small, tmp_path / "g.ttl", form)))
    assert {quad.confidence for quad in plain.quads()} == {1.0}
    assert plain.num_triples == 4  # statements about triples are none


@pytest.mark.parametrize("form", ["reification", "annotation"])
def test_rdflib_store(small: MemoryGraph, tmp_path: Path, form: Form) -> None:
    write_turtle(small, tmp_path / "g.ttl", form=form)
    graph = sparql_graph(RdflibClient(rdflib.Graph().parse(tmp_path / "g.ttl")), confidence=form)
    same(small, graph, [0, 1, 2, 3])


@pytest.mark.parametrize("page", [1, 3, 1000])
def test_endpoint(small: MemoryGraph, tmp_path: Path, endpoint: Endpoint, page: int) -> None:
    endpoint.store = store_of(small, tmp_path / "g.ttl")
    graph = open_graph(f"sparql:{endpoint.url}", None, {"confidence": "star", "page": page})
    same(small, graph, list(range(4)))
    assert graph.provenance["source"] == endpoint.url


def test_named_graph(small: MemoryGraph, tmp_path: Path, endpoint: Endpoint) -> None:
    write_turtle(small, tmp_path / "g.ttl")
    endpoint.store.load(path=str(tmp_path / "g.ttl"), to_graph=ox.NamedNode(GRAPH))
    endpoint.store.load(input=b"<http://a/a> <http://a/r> <http://a/b> .", format=ox.RdfFormat.TURTLE)
    graph = open_graph(f"sparql:{endpoint.url}", None, {"confidence": "star", "graph": GRAPH})
    assert graph.fingerprint == small.fingerprint
    assert open_graph(f"sparql:{endpoint.url}", None, {}).num_triples == 1


def test_cut_replies_are_noticed(small: MemoryGraph, tmp_path: Path, endpoint: Endpoint) -> None:
    endpoint.store = store_of(small, tmp_path / "g.ttl")
    endpoint.most_rows = 2
    with pytest.raises(DataError, match=r"lists 2 of 4 names.*graph\.page"):
        open_graph(f"sparql:{endpoint.url}", None, {})
    graph = open_graph(f"sparql:{endpoint.url}", None, {"page": 2, "confidence": "star"})
    same(small, graph, [0, 3])


def test_edges_are_asked_for_once(small: MemoryGraph, tmp_path: Path, endpoint: Endpoint) -> None:
    endpoint.store = store_of(small, tmp_path / "g.ttl")
    graph = open_graph(f"sparql:{endpoint.url}", None, {"confidence": "star"})
    graph.within_hops([0], 3)
    asked = len(endpoint.queries)
    assert asked <= 4 + 2 * 3  # names and their numbers; one query a hop and direction
    for entity in range(4):
        graph.edges(entity, "both")
    assert len(endpoint.queries) == asked


def test_few_edges_are_kept(small: MemoryGraph, tmp_path: Path) -> None:
    client = StoreClient(store_of(small, tmp_path / "g.ttl"))
    same(small, sparql_graph(client, confidence="star", cached_entities=1), list(range(4)))


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        ((500, "out of memory"), "500.*out of memory"),
        ((400, "syntax"), r"400.*graph\.confidence"),
        ((200, "<html>"), "no JSON results"),
        ((200, '{"head": {"vars": ["e"]}, "results": {"bindings": [{"e": {"type": "x"}}]}}'), "no JSON results"),
    ],
)
def test_endpoints_that_fail(endpoint: Endpoint, failure: tuple[int, str], message: str) -> None:
    endpoint.failure = failure
    with pytest.raises(DataError, match=message):
        open_graph(f"sparql:{endpoint.url}", None, {})


def test_what_is_no_endpoint(endpoint: Endpoint) -> None:
    for address in ("sparql:file:///etc/passwd", "sparql:", "sparql:ftp://host/x"):
        with pytest.raises(ConfigError, match="no SPARQL endpoint"):
            open_graph(address, None, {})
    with pytest.raises(DataError, match="cannot be asked"):
        open_graph("sparql:http://127.0.0.1:1/sparql", None, {})
    with pytest.raises(DataError, match="empty"):
        open_graph(f"sparql:{endpoint.url}", None, {})
    with pytest.raises(ConfigError, match="not an IRI"):
        open_graph(f"sparql:{endpoint.url}", None, {"confidence_predicate": "x> ?c } #"})
    with pytest.raises(ConfigError, match="not an IRI"):
        open_graph(f"sparql:{endpoint.url}", None, {"graph": "no iri"})
    assert HttpClient("https://host/path").source == "https://host/path"


def test_hostile_names_stay_names(tmp_path: Path) -> None:
    names = ["> . } DROP ALL #", "<x>", '"', "\\", "a b", "1", "{", "http://a/ b", "%3E", "é\n"]
    rows = [(name, names[at - 1], names[at - 2], 0.5) for at, name in enumerate(names)]
    memory = build_graph(*map(list, zip(*rows, strict=True)), source="t")
    graph = sparql_graph(StoreClient(store_of(memory, tmp_path / "g.ttl")), confidence="star")
    same(memory, graph, list(range(len(names))))
    assert graph.entity_name(graph.entity("1")) == "1"
    with pytest.raises(UnknownNameError):
        graph.entity("3")


def test_iris_of_a_hostile_endpoint_are_refused() -> None:
    class Hostile:
        source = "http://hostile"

        def select(self, query: str) -> Iterator[tuple[Any, ...]]:
            class Term:
                value = "http://a/x> ?y ?z . } #"

            count = query.startswith("SELECT (COUNT")
            return iter([(ox.Literal(1) if count else Term(),)])

        def ask(self, query: str) -> bool:
            raise AssertionError(query)

    with pytest.raises(DataError, match="is not an IRI"):
        sparql_graph(Hostile())


def test_bad_confidences() -> None:
    store = ox.Store()
    store.load(input=b"PREFIX e: <http://e/> e:a e:r e:b {| e:c 7 |} .", format=ox.RdfFormat.TURTLE)
    graph = sparql_graph(StoreClient(store), confidence="star", confidence_predicate="http://e/c")
    with pytest.raises(DataError, match=r"7.*<http://e/a> <http://e/r> <http://e/b>.*\(0, 1\]"):
        graph.edges(0)


def test_graph_that_changes_meanwhile() -> None:
    store = ox.Store()
    store.load(input=b"<http://e/a> <http://e/r> <http://e/b> .", format=ox.RdfFormat.TURTLE)
    graph = sparql_graph(StoreClient(store))
    store.load(input=b"<http://e/a> <http://e/r> <http://e/new> .", format=ox.RdfFormat.TURTLE)
    with pytest.raises(DataError, match=r"'http://e/new' was not there.*open it again"):
        graph.edges(0)


@pytest.mark.data
def test_part_of_family_as_in_memory(real_data: Path, tmp_path: Path) -> None:
    lines = (real_data / "family" / "facts.txt").read_text().splitlines()[:2000]
    rng = np.random.default_rng(3)
    rows = [(*line.split("\t"), float(confidence)) for line, confidence in zip(lines, rng.random(2000), strict=True)]
    memory = build_graph(*map(list, zip(*rows, strict=True)), source="family")
    graph = sparql_graph(StoreClient(store_of(memory, tmp_path / "g.ttl")), confidence="star")
    same(memory, graph, rng.integers(0, memory.num_entities, 12).tolist())
