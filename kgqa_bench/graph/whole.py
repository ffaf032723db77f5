"""Whole-graph algorithms, by igraph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.protocol import Graph

if TYPE_CHECKING:
    import igraph

Ranks = npt.NDArray[np.float64]


def to_igraph(graph: Graph, attributes: bool = True) -> igraph.Graph:
    """The visible triples as a directed igraph multigraph; vertex n is entity n, edge n is quadruple n.

    Args:
        graph: Any graph.
        attributes: With the vertex attributes ``name`` and ``label``, and the edge attributes ``relation`` (the
            relation's name) and ``confidence``. Without them a large graph takes a fraction of the time and memory.
    """
    import igraph

    pairs, relations, confidences = _columns(graph)
    whole = igraph.Graph(n=graph.num_entities, edges=pairs, directed=True)
    if attributes:
        entities = range(graph.num_entities)
        whole.vs["name"] = [graph.entity_name(entity) for entity in entities]
        whole.vs["label"] = list(graph.entity_labels())
        names = [graph.relation_name(relation) for relation in range(graph.num_relations)]
        whole.es["relation"] = [names[relation] for relation in relations.tolist()]
        whole.es["confidence"] = confidences.tolist()
    return whole


def pagerank(graph: Graph, damping: float = 0.85) -> Ranks:
    """PageRank of every entity in id order, summing to 1; triples count once whatever their confidence.

    Brin and Page 1998, on the triples in stored direction; PRPACK, so without a tolerance to choose.
    """
    if graph.num_entities == 0:
        return np.zeros(0)
    whole = to_igraph(graph, attributes=False)
    return np.asarray(whole.pagerank(damping=damping), dtype=np.float64)


def statistics(graph: Graph) -> dict[str, Any]:
    """Figures of the whole graph by what they are, JSON-able.

    Degrees count the triples at an entity in both directions, a self-loop twice. Components are weak ones.
    Reciprocity is the share of (head, tail) pairs that are also there the other way round; clustering is the
    transitivity: the share of connected threes of entities that are closed. Both leave directions, relations,
    parallel triples or self-loops out of account as usual (Newman 2010, sections 7.9 and 7.10).
    """
    whole = to_igraph(graph, attributes=False)
    pairs, relations, confidences = _columns(graph)
    degrees = np.asarray(whole.degree(), dtype=np.int64)
    sizes = whole.connected_components(mode="weak").sizes()
    loops = int(np.count_nonzero(pairs[:, 0] == pairs[:, 1]))
    simple = whole.simplify()  # in place; the degrees are taken already
    facts: dict[str, Any] = {
        "entities": graph.num_entities,
        "relations": graph.num_relations,
        "triples": graph.num_triples,
        "relations in use": len(np.unique(relations)),
        "entities without triple": int(np.count_nonzero(degrees == 0)),
        "components": len(sizes),
        "entities in the largest component": max(sizes, default=0),
        "mean degree": round(float(degrees.mean()), 3) if len(degrees) else 0.0,
        "median degree": float(np.median(degrees)) if len(degrees) else 0.0,
        "greatest degree": int(degrees.max(initial=0)),
        "entity of the greatest degree": graph.entity_name(int(degrees.argmax())) if len(degrees) else None,
        "self-loops": loops,
    }
    if graph.num_triples > loops:
        facts["reciprocity"] = round(simple.reciprocity(), 4)
        facts["clustering"] = round(simple.as_undirected().transitivity_undirected(mode="zero"), 4)
    if len(confidences):
        facts["mean confidence"] = round(float(confidences.mean()), 4)
        for share in (0, 25, 50, 75, 100):
            facts[f"confidence, {share} % quantile"] = round(float(np.percentile(confidences, share)), 4)
    return facts


def _columns(graph: Graph) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any], npt.NDArray[np.float64]]:
    """(head, tail) pairs, relations and confidences of the visible quadruples, by (head, relation, tail).

    The pairs are 64-bit: igraph then reads them as they are.
    """
    if isinstance(graph, MemoryGraph):
        heads, relations, tails, confidences = graph.columns()
        return np.column_stack([heads, tails]).astype(np.int64), relations, confidences
    quads = list(graph.quads())
    pairs = np.array([(quad.head, quad.tail) for quad in quads], dtype=np.int64).reshape(-1, 2)
    relations = np.array([quad.relation for quad in quads], dtype=np.int32)
    return pairs, relations, np.array([quad.confidence for quad in quads], dtype=np.float64)
