"""The policy without a model: the link of the relation, confidences counted by hand, and whole questions."""

from __future__ import annotations

import pytest

from kgqa_bench.domain import Question
from kgqa_bench.graph.protocol import Step
from kgqa_bench.methods.gr_agent import GrReference
from kgqa_bench.methods.gr_agent.prediction import knowledge
from kgqa_bench.methods.gr_agent.reference import ReferenceSettings
from kgqa_bench.toolbox import NO_MODEL, Toolbox

# eight families: father f, mother m, child c; f married to m, both parents of c; in the first one the mother's triple
# is missing
FAMILIES = [
    triple
    for n in range(8)
    for triple in (
        (f"f{n}", "father of", f"c{n}"), (f"f{n}", "husband of", f"m{n}"), (f"m{n}", "mother of", f"c{n}"),
    )
    if triple != ("m0", "mother of", "c0")
]  # fmt: skip


@pytest.fixture
def ask(make_graph):
    async def run(graph, text, *topics, **settings):
        class Topics:
            def link(self, asked):
                return tuple(graph.entity(name) for name in asked.topic_entities)

        tools = Toolbox(llm=NO_MODEL, seed="0", load_graph=lambda: graph, load_linker=Topics)
        question = Question("q", text, "entities", topic_entities=topics)
        return await GrReference(ReferenceSettings(**settings)).answer(question, tools), tools.trace

    return run


def test_the_confidence_of_a_path_is_counted_without_the_triple_it_predicts(make_graph):
    """The mothers of 2 of the 7 children that have one: by the father's wife both, by father and child none."""
    graph = make_graph(FAMILIES)
    step = Step(graph.relation("mother of"), True)
    father, husband = Step(graph.relation("father of"), True), Step(graph.relation("husband of"))
    known = knowledge(graph)
    assert known.prediction(graph, step, (father, husband), 50) == (2, 2)
    assert known.prediction(graph, step, (father, Step(father.relation)), 50) == (0, 0)  # back at the child
    assert known.prediction(graph, step, (step, Step(step.relation), step), 50) == (0, 0)  # over what is hidden
    assert known.prediction(graph, step, (father,), 50) == (0, 2)
    assert known.prediction(graph, step, (father,), 1) == (0, 1)
    assert knowledge(graph) is known


@pytest.mark.parametrize(
    ("text", "topic", "relation", "inverse"),
    [
        ("Who is the mother of c3?", "c3", "mother of", True),
        ("Who is m3 the mother of?", "m3", "mother of", False),
        ("Whose father is f2?", "f2", "father of", False),
        ("Who is the mother of c0?", "c0", "mother of", True),  # has none: told by what it is
    ],
)
def test_relation_and_side_are_linked_from_the_words(make_graph, text, topic, relation, inverse):
    graph = make_graph(FAMILIES)
    linked = knowledge(graph).linker.link(text, (topic,), graph.entity(topic))
    assert linked is not None
    assert linked.step == Step(graph.relation(relation), inverse) and linked.ties == 1


async def test_a_missing_triple_is_found_by_the_path_that_predicts_it(make_graph, ask):
    answer, trace = await ask(make_graph(FAMILIES), "Who is the mother of c0?", "c0")
    assert [(each.value, each.confidence) for each in answer.predictions] == [("m0", 1.0)]
    assert [[triple[:3] for triple in path] for path in answer.evidence] == [
        [("f0", "father of", "c0"), ("f0", "husband of", "m0")]
    ]
    assert (trace["relation"], trace["asked"], answer.status) == ("mother of", "head", "ok")
    assert trace["voters"] == [["^father of -> husband of", 1.0, 2]]


async def test_it_abstains_without_topic_relation_or_path(make_graph, ask):
    graph = make_graph([*FAMILIES, ("x", "likes", "y")])
    asked = [("Who is the mother of c0?", ()), ("What colour is c0?", ("c0",)), ("Whose mother is y?", ("y",))]
    for text, topics in asked:
        answer, _ = await ask(graph, text, *topics)
        assert (answer.status, answer.predictions) == ("abstained", ())


async def test_votes_of_the_best_path_or_of_all(make_graph, ask):
    rows = [(f"a{n}", "p", f"b{n}") for n in range(8)] + [(f"a{n}", "q", f"b{n}") for n in range(8)]
    rows += [(f"a{n}", each, f"x{n}") for n in range(8) for each in ("p", "q")]
    rows += [(f"a{n}", "craves", f"b{n}") for n in range(1, 8)]
    graph = make_graph(rows)
    best, _ = await ask(graph, "What does a0 crave?", "a0", vote="best", hop_limit=1)
    both, _ = await ask(graph, "What does a0 crave?", "a0", vote="any", hop_limit=1)
    assert {each.value: each.confidence for each in best.predictions} == {"b0": 0.5, "x0": 0.5}
    assert {each.value: each.confidence for each in both.predictions} == {"b0": 0.75, "x0": 0.75}
