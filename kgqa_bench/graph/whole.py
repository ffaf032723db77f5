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
