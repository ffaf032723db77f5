from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from kgqa_bench.audit.distance import SharedGraph, reach_in
from kgqa_bench.graph.build import build_graph

NAMES = st.sampled_from([*"abcdefghij", "outside"])
TRIPLES = st.lists(st.tuples(st.sampled_from("abcdefghij"), st.just("r"), st.sampled_from("abcdefghij")), min_size=1)


@given(TRIPLES, st.lists(NAMES, max_size=3), st.lists(NAMES, max_size=3))
def test_like_networkx(triples: list[tuple[str, str, str]], topics: list[str], answers: list[str]) -> None:
    whole = nx.Graph((head, tail) for head, _relation, tail in triples)
    pairs = [(topic, answer) for topic in topics for answer in answers if topic in whole and answer in whole]
    lengths = [nx.shortest_path_length(whole, *pair) for pair in pairs if nx.has_path(whole, *pair)]
    shared = SharedGraph(build_graph(*map(list, zip(*triples, strict=True)), source="test"))
    for reach in (shared.reach(topics, answers), reach_in(triples, topics, answers)):
        assert reach.hops == min(lengths, default=None)
        assert reach.missing_topics == tuple(topic for topic in topics if topic not in whole)
        assert reach.missing_answers == tuple(answer for answer in answers if answer not in whole)
