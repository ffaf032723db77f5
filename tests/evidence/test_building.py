"""Evidence from gold answers, against hand counts and against a search that enumerates everything."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict

import networkx as nx
import numpy as np
import pytest

from kgqa_bench.evidence.building import EvidenceBuilder, EvidenceSettings
from kgqa_bench.evidence.grounding import GraphPath, Grounder
from kgqa_bench.evidence.path import ConstrainedPath, Constraint, PathStep
from kgqa_bench.evidence.prior import PRIORS
from kgqa_bench.evidence.tags import write_path
from kgqa_bench.graph.build import build_graph

ALL = {"max_constraints": 10**6, "max_paths": 10**6}


def written(built):
    return [write_path(each.path, each.confidence) for each in built.evidence]


def test_the_papers_example(snoopy) -> None:
    built = EvidenceBuilder(snoopy).build(["Snoopy"], ["Spike"])
    assert built.outcome == "built"
    assert written(built) == [
        "<PATH confidence=0.75>^sibling_of<CONSTRAINT>gender<SEP>male</CONSTRAINT></PATH>",
        "<PATH confidence=0.75>^sibling_of<CONSTRAINT>lives_in<SEP>Needles</CONSTRAINT></PATH>",
        "<PATH confidence=0.50>^sibling_of</PATH>",
    ]
    first, _second, last = built.evidence
    assert (first.candidates, first.right, first.precision, first.recall, first.f1) == (1, 1, 1.0, 1.0, 1.0)
    assert (last.candidates, last.right, last.precision, last.recall, last.f1) == (2, 1, 0.5, 1.0, 2 / 3)
    assert built.counts == {
        "topics": 1, "topics not in the graph": 0, "answers": 1, "answers not in the graph": 0,
        "answers 1 hops away": 1,
        "answers that are a topic": 0, "answers out of reach": 0, "searches cut off by max_paths": 0,
    }  # fmt: skip


def test_a_constraint_must_make_it_strictly_more_certain(make_graph) -> None:
    # a constraint that keeps the share (1 of 2, as 2 of 4) ties under MLE and rises under neither smoothing prior
    graph = make_graph("q r a\nq r b\nq r c\nq r d\na k x\nc k x\na k y\nb k y\nc k y\nd k y")
    built = EvidenceBuilder(graph, EvidenceSettings(prior="mle", **ALL)).build(["q"], ["a", "b"])
    constraints = {each.path.constraint: each.confidence for each in built.evidence}
    assert constraints[None] == 0.5
    assert Constraint(PathStep("k"), "x") not in constraints
    assert Constraint(PathStep("k"), "y") not in constraints
    assert Constraint(PathStep("r", True), "q") not in constraints


def test_smoothing_drops_what_is_less_certain_for_being_small(make_graph) -> None:
    graph = make_graph("q r a\nq r b\nq r c\na k x")
    for prior in PRIORS:
        built = EvidenceBuilder(graph, EvidenceSettings(prior=prior)).build(["q"], ["a", "b", "c"])
        assert [each.path.constraint for each in built.evidence] == [None]  # (3, 3) = 0.875 against (1, 1) = 0.75


def test_a_constraint_may_cost_recall(make_graph) -> None:
    lines = "\n".join(f"q r e{number}" for number in range(10))
    built = EvidenceBuilder(make_graph(f"{lines}\ne0 k x")).build(["q"], ["e0", "e1"])
    best, whole = built.evidence
    assert (best.confidence, best.recall) == (0.75, 0.5)
    assert (whole.confidence, whole.recall) == (2.5 / 11, 1.0)


def test_no_parallel_relation_is_lost_and_direction_is_kept(make_graph) -> None:
    graph = make_graph("q r a\nq s a\na r q\nq r b")
    paths = {each.path.relations for each in EvidenceBuilder(graph).build(["q"], ["a"]).evidence}
    assert paths == {("r",), ("s",), ("^r",)}


def test_caps(make_graph) -> None:
    lines = "\n".join(f"q r{number} a\na k{number} x" for number in range(6))
    graph = make_graph(f"{lines}\nq r0 b")
    built = EvidenceBuilder(graph, EvidenceSettings(max_paths=4, max_constraints=2)).build(["q"], ["a"])
    assert [each.path.relations for each in built.evidence if each.path.constraint is None] == [
        ("r1",), ("r2",), ("r3",), ("r0",),
    ]  # fmt: skip
    assert sum(each.path.constraint is not None for each in built.evidence) == 2
    assert built.counts["searches cut off by max_paths"] == 1
    assert built.counts["paths with more constraints than max_constraints"] == 1


def test_several_topics(make_graph) -> None:
    graph = make_graph("p r a\nq r b\nq r c\np k d\nd k b")
    built = EvidenceBuilder(graph).build(["p", "q", "nobody"], ["a", "b", "z", "b"])
    by_path = {each.path.relations: each for each in built.evidence if each.path.constraint is None}
    assert (by_path[("r",)].candidates, by_path[("r",)].right, by_path[("r",)].recall) == (3, 2, 2 / 3)
    assert ("k", "k") in by_path
    assert built.counts["topics not in the graph"] == 1
    assert built.counts["answers not in the graph"] == 1
    assert built.counts["answers 1 hops away"] == 2


@pytest.mark.parametrize(
    ("topics", "answers", "outcome"),
    [
        (["Snoopy"], [], "no answers"),
        ([], ["Spike"], "no topics"),
        (["Woodstock"], ["Spike"], "no topic in the graph"),
        (["Snoopy"], ["Olaf"], "no answer in the graph"),
        (["Snoopy"], ["Snoopy"], "no path"),
        (["Snoopy"], ["Far"], "no path"),
    ],
)
def test_questions_without_evidence_say_why(make_graph, topics, answers, outcome: str) -> None:
    graph = make_graph("Spike sibling_of Snoopy\nFar r Away")
    built = EvidenceBuilder(graph).build(topics, answers)
    assert (built.outcome, built.evidence) == (outcome, ())
    if outcome == "no path":
        assert built.counts["answers that are a topic"] + built.counts["answers out of reach"] == 1


def test_hops_are_limited(make_graph) -> None:
    graph = make_graph("a r b\nb r c\nc r d\nd r e\ne r f")
    assert EvidenceBuilder(graph).build(["a"], ["e"]).evidence[0].path.relations == ("r",) * 4
    assert EvidenceBuilder(graph).build(["a"], ["f"]).outcome == "no path"
    assert EvidenceBuilder(graph, EvidenceSettings(max_hops=5)).build(["a"], ["f"]).outcome == "built"
    assert EvidenceBuilder(graph, EvidenceSettings(max_hops=1)).build(["a"], ["c"]).outcome == "no path"


def test_mediators_and_values_are_no_constraints(make_graph) -> None:
    lines = "m.0q people.person.spouse_s m.0a\nm.0q people.person.spouse_s m.0b\nm.0a people.marriage.spouse m.0x"
    lines += "\nm.0x people.marriage.spouse m.0y\nm.0a people.person.born 1967-01-02\nm.0a people.person.gender Male"
    built = EvidenceBuilder(make_graph(lines)).build(["m.0q"], ["m.0a"])
    assert [each.path.constraint for each in built.evidence] == [
        Constraint(PathStep("people.person.gender"), "Male"), None,
    ]  # fmt: skip


def test_labels_stand_for_entities_where_they_are_clear(make_graph) -> None:
    graph = make_graph(
        "q r a\nq r b\na k x\na k y\na k z",
        entity_labels={"x": "Clear", "y": "Shared", "b": "Shared", "z": "Broken\nline"},
    )
    built = EvidenceBuilder(graph).build(["q"], ["a"])
    assert [each.path.constraint.entity for each in built.evidence if each.path.constraint] == ["Clear", "y"]


def test_views_are_honoured(snoopy) -> None:
    spike, sibling, dog = snoopy.entity("Spike"), snoopy.relation("sibling_of"), snoopy.entity("Snoopy")
    hidden = snoopy.hide([(spike, sibling, dog)])
    built = EvidenceBuilder(hidden).build(["Snoopy"], ["Spike"])
    assert {each.path.relations for each in built.evidence} == {("gender", "^gender"), ("lives_in", "^lives_in")}


def random_graph(rng: random.Random):
    entities = [f"e{number}" for number in range(rng.randint(3, 12))]
    relations = [f"r{number}" for number in range(rng.randint(1, 3))]
    rows = [
        (rng.choice(entities), rng.choice(relations), rng.choice(entities))
        for _ in range(rng.randint(3, 3 * len(entities)))
    ]
    graph = build_graph(*map(list, zip(*rows, strict=True)), source="random")
    hidden = rng.sample(sorted(set(rows)), rng.randint(0, len(set(rows)) // 3))
    ids = [(graph.entity(h), graph.relation(r), graph.entity(t)) for h, r, t in hidden]
    return (graph.hide(ids) if hidden else graph), sorted(set(rows) - set(hidden)), entities


def slow(rows, topics, answers, prior, max_hops: int):
    """Path → (n, s, confidence), by enumeration of everything."""
    multigraph = nx.MultiDiGraph()
    step_to = defaultdict(set)
    for h, r, t in rows:
        multigraph.add_edge(h, t, key=PathStep(r))
        multigraph.add_edge(t, h, key=PathStep(r, True))
        step_to[h, PathStep(r)].add(t)
        step_to[t, PathStep(r, True)].add(h)
    found = {}
    for topic, answer in itertools.product(topics, answers):
        if (
            topic == answer
            or topic not in multigraph
            or answer not in multigraph
            or not nx.has_path(multigraph, topic, answer)
        ):
            continue
        for nodes in {tuple(path) for path in nx.all_shortest_paths(multigraph, topic, answer)}:
            if len(nodes) - 1 > max_hops:
                continue
            for steps in itertools.product(*(multigraph[a][b] for a, b in itertools.pairwise(nodes))):
                reached = set(topics)
                for step in steps:
                    reached = set().union(*(step_to[entity, step] for entity in reached))
                s = len(reached & answers)
                confidence = prior.confidence(s, len(reached))
                found[ConstrainedPath(steps)] = (len(reached), s, confidence)
                for right in reached & answers:
                    for (entity, step), ends in list(step_to.items()):
                        for end in ends if entity == right else ():
                            holds = {each for each in reached if end in step_to.get((each, step), ())}
                            n, s_c = len(holds), len(holds & answers)
                            if prior.confidence(s_c, n) > confidence:
                                path = ConstrainedPath(steps, Constraint(step, end))
                                found[path] = (n, s_c, prior.confidence(s_c, n))
    return found


@pytest.mark.parametrize("seed", range(60))
def test_against_enumeration(seed: int) -> None:
    rng = random.Random(seed)
    graph, rows, entities = random_graph(rng)
    topics = rng.sample(entities, rng.randint(1, 2))
    answers = set(rng.sample(entities, rng.randint(1, 3)))
    prior = rng.choice(list(PRIORS))
    max_hops = rng.randint(1, 4)
    built = EvidenceBuilder(graph, EvidenceSettings(prior=prior, max_hops=max_hops, **ALL)).build(
        topics, sorted(answers)
    )
    got = {each.path: (each.candidates, each.right, each.confidence) for each in built.evidence}
    assert len(got) == len(built.evidence)
    assert got == slow(rows, topics, answers, PRIORS[prior], max_hops)
    # and each is what grounding by name finds
    grounder, sources = (
        Grounder(graph),
        [entity for name in topics if (entity := graph.find_entity(name)) is not None],
    )
    for each in built.evidence:
        path = grounder.find(each.path)
        assert isinstance(path, GraphPath)
        ends = [graph.entity_name(entity) for entity in grounder.candidates(path, sources)]
        assert (len(ends), len(answers & set(ends))) == (each.candidates, each.right)
    assert not np.any(graph.store.scratch.seen)
    assert not np.any(graph.store.scratch.seen_back)


def test_the_order_of_input_does_not_matter(snoopy) -> None:
    builder = EvidenceBuilder(snoopy)
    first = builder.build(["Snoopy", "Charlie"], ["Spike", "Linus"])
    assert builder.build(["Charlie", "Snoopy"], ["Linus", "Spike", "Linus"]).evidence == first.evidence
