"""From paths by name to candidates and factual paths on a graph."""

from __future__ import annotations

from kgqa_bench.domain import Triple
from kgqa_bench.evidence.grounding import Grounder
from kgqa_bench.evidence.path import ConstrainedPath, Constraint, PathStep, ScoredPath

SIBLING = ConstrainedPath((PathStep("sibling_of", True),))
BROTHER = ConstrainedPath((PathStep("sibling_of", True),), Constraint(PathStep("gender"), "male"))


def names(graph, entities):
    return [graph.entity_name(entity) for entity in entities]


def test_the_papers_example(snoopy) -> None:
    topics = [snoopy.entity("Snoopy")]
    grounded = Grounder(snoopy).ground([ScoredPath(BROTHER, 0.75), ScoredPath(SIBLING, 0.5)], topics)
    brother, sibling = grounded.groundings
    assert names(snoopy, brother.candidates) == ["Spike"]
    assert names(snoopy, sibling.candidates) == ["Belle", "Spike"]
    assert snoopy.named(brother.facts[0].edges) == (Triple("Spike", "sibling_of", "Snoopy"),)
    assert snoopy.named((brother.facts[0].constraint,)) == (Triple("Spike", "gender", "male"),)
    assert [fact.constraint for fact in sibling.facts] == [None, None]
    assert names(snoopy, [fact.end for fact in sibling.facts]) == ["Belle", "Spike"]
    confidences = {snoopy.entity_name(entity): value for entity, value in grounded.candidates().items()}
    assert list(confidences.items()) == [("Spike", 0.75), ("Belle", 0.5)]  # the highest of the paths that lead there
    assert grounded.dropped == ()


def test_a_path_that_leads_nowhere_is_dropped(snoopy) -> None:
    paths = [
        ConstrainedPath((PathStep("sibling_of"),)),
        ConstrainedPath(SIBLING.steps, Constraint(PathStep("gender"), "Needles")),
        ConstrainedPath((PathStep("brother_of"),)),
        ConstrainedPath(SIBLING.steps, Constraint(PathStep("breed"), "male")),
        ConstrainedPath(SIBLING.steps, Constraint(PathStep("gender"), "xyzzy")),
    ]
    grounded = Grounder(snoopy).ground([ScoredPath(path, 0.9) for path in paths], [snoopy.entity("Snoopy")])
    assert grounded.groundings == ()
    assert [dropped.reason for dropped in grounded.dropped] == [
        "leads_nowhere", "leads_nowhere", "unknown_relation", "unknown_relation", "unknown_entity",
    ]  # fmt: skip
    assert [dropped.path for dropped in grounded.dropped] == paths
    assert grounded.candidates() == {}
    assert Grounder(snoopy).ground([ScoredPath(SIBLING, 0.9)], []).dropped[0].reason == "leads_nowhere"


def test_a_path_without_confidence_gives_none(snoopy) -> None:
    topics = [snoopy.entity("Snoopy")]
    paths = [ScoredPath(SIBLING, None), ScoredPath(BROTHER, 0.0)]
    candidates = Grounder(snoopy).ground(paths, topics).candidates()
    assert list(candidates.items()) == [(snoopy.entity("Spike"), 0.0), (snoopy.entity("Belle"), None)]


def test_facts_are_capped_in_stable_order(make_graph) -> None:
    graph = make_graph("\n".join(f"q r m{at}\nm{at} s a{at % 3}\nm{at} s b" for at in range(5)) + "\np r m0\na1 k x")
    path = ConstrainedPath((PathStep("r"), PathStep("s")))
    topics = [graph.entity("q"), graph.entity("p")]
    every = Grounder(graph).ground([ScoredPath(path)], topics, max_facts=100).groundings[0].facts
    assert len(every) == 12
    assert [graph.named(fact.edges)[1] for fact in every[:3]] == [
        Triple("m0", "s", "a0"), Triple("m0", "s", "b"), Triple("m1", "s", "a1"),
    ]  # fmt: skip
    assert Grounder(graph).ground([ScoredPath(path)], topics, max_facts=4).groundings[0].facts == every[:4]
    none = Grounder(graph).ground([ScoredPath(path)], topics, max_facts=0).groundings[0]
    assert (none.facts, names(graph, none.candidates)) == ((), ["a0", "a1", "a2", "b"])
    constrained = ConstrainedPath(path.steps, Constraint(PathStep("k"), "x"))
    grounding = Grounder(graph).ground([ScoredPath(constrained)], topics, max_facts=1).groundings[0]
    assert names(graph, grounding.candidates) == ["a1"]  # the cap counts factual paths that meet the constraint
    assert graph.named(grounding.facts[0].edges) == (Triple("q", "r", "m1"), Triple("m1", "s", "a1"))


def test_many_ways_do_not_hold_up_the_first_ones(make_graph) -> None:
    layers = "\n".join(f"{a}{i} r {b}{j}" for a, b in ("ab", "bc", "cd", "de") for i in range(30) for j in range(30))
    graph = make_graph(f"{layers}\ne29 k x")
    path = ConstrainedPath((PathStep("r"),) * 4, Constraint(PathStep("k"), "x"))
    grounding = Grounder(graph).ground([ScoredPath(path)], [graph.entity("a0")], max_facts=3).groundings[0]
    assert names(graph, grounding.candidates) == ["e29"]
    assert len(grounding.facts) == 3  # of 27,000


def test_names_come_before_labels_and_case_matters_last(make_graph) -> None:
    graph = make_graph(
        "q born_in a\nq born b\na k x\nb k y\nb k z\na k w",
        relation_labels={"born_in": "place of birth", "born": "born in"},
        entity_labels={"x": "Male", "y": "Twin", "z": "Twin", "w": "x"},
    )
    grounder, topics = Grounder(graph), [graph.entity("q")]

    def ends(relation: str, entity: str | None = None):
        constraint = None if entity is None else Constraint(PathStep("k"), entity)
        path = ScoredPath(ConstrainedPath((PathStep(relation),), constraint))
        grounded = grounder.ground([path], topics)
        return names(graph, grounded.candidates()) or grounded.dropped[0].reason

    assert ends("born_in") == ends("place of birth") == ends("Place Of Birth") == ["a"]
    assert ends("born in") == ends("BORN") == ["b"]
    assert ends("born_in", "x") == ends("born_in", "Male") == ends("born_in", "male") == ["a"]
    assert ends("born", "Twin") == ["b"]  # for all entities with that label
    assert ends("born", "x") == "leads_nowhere"  # the name, not the label of w
    assert ends("born_in", "Mal") == "unknown_entity"
