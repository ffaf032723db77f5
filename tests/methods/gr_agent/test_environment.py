"""The environment as a state machine, on the paper's worked example and against brute force."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.protocol import Step
from kgqa_bench.methods.gr_agent.actions import Explore, Ground, Refusal, Requested, Synthesize
from kgqa_bench.methods.gr_agent.environment import Environment
from kgqa_bench.methods.gr_agent.exploration import Relevance, explore, ground
from kgqa_bench.methods.gr_agent.settings import EnvironmentSettings

PAPER = {"inverse_steps": False, "exclude_returns": True}


def text(environment, path):
    return [environment.vocabulary.step(step) for step in path]


def test_the_worked_example_of_section_4_1(make_environment):
    """Five relation paths, five reasoning paths and four entities, no more and no less."""
    env = make_environment("bieber", **PAPER)
    justin = env.graph.entity("Justin Bieber")
    state, observation = env.step(env.start([justin]), Explore(justin, 2))
    assert {tuple(text(env, path)) for path in observation.relation_paths} == {
        ("hasParent",), ("hasSibling",), ("hasParent", "hasSon"), ("hasSibling", "hasSibling"),
        ("hasParent", "hasSpouse"),
    }  # fmt: skip
    assert state.reasoning_paths == () and state.entities == (justin,)
    state, observation = env.step(state, Ground(justin, state.relation_paths))
    assert sorted(env.path_text(path) for path in observation.reasoning_paths) == [
        "Justin Bieber hasParent Jeremy Bieber",
        "Justin Bieber hasParent Jeremy Bieber; Jeremy Bieber hasSon Jaxon Bieber",
        "Justin Bieber hasParent Jeremy Bieber; Jeremy Bieber hasSpouse Erin Wagner",
        "Justin Bieber hasSibling Jazmyn Bieber",
        "Justin Bieber hasSibling Jazmyn Bieber; Jazmyn Bieber hasSibling Jaxon Bieber",
    ]
    frontier = {env.graph.entity_name(entity) for entity in state.entities} - {"Justin Bieber"}
    assert frontier == {"Jeremy Bieber", "Jaxon Bieber", "Jazmyn Bieber", "Erin Wagner"}
    assert len(state.relation_paths) == len(state.reasoning_paths) == 5


def test_with_returns_the_same_relation_paths_have_two_more_groundings(make_environment):
    env = make_environment("bieber", inverse_steps=False, exclude_returns=False)
    justin = env.graph.entity("Justin Bieber")
    state, observation = env.step(env.start([justin]), Explore(justin, 2))
    assert len(observation.relation_paths) == 5
    state, observation = env.step(state, Ground(justin, state.relation_paths))
    assert len(observation.reasoning_paths) == 7
    assert sum(path[-1].target == justin for path in observation.reasoning_paths) == 2


def test_a_path_that_only_returns_is_no_path(make_environment):
    rows = [("a", "r", "b"), ("b", "s", "a")]
    env = make_environment(rows, **PAPER)
    assert [text(env, path) for path in explore(env.graph, 0, 2, env.relevance, env.settings).paths] == [["r"]]
    env = make_environment(rows, inverse_steps=False, exclude_returns=False)
    assert [text(env, path) for path in explore(env.graph, 0, 2, env.relevance, env.settings).paths] == [
        ["r"],
        ["r", "s"],
    ]


def test_an_action_does_not_change_the_state_it_is_given(make_environment):
    env = make_environment("holm")
    before = env.start([0])
    after, _ = env.step(before, Explore(0, 1))
    again, observation = env.step(after, Explore(0, 1))
    assert before.relation_paths == () and after.relation_paths
    assert again == after and "0 of them new" in observation.text


def test_what_the_question_speaks_of_comes_first(make_environment):
    rows = [("a", "friend", "b"), ("a", "mother", "c"), ("b", "mother", "d"), ("b", "zebra", "e")]
    env = make_environment(rows, "Who is the mother of a?", **PAPER)
    paths = explore(env.graph, 0, 2, env.relevance, env.settings).paths
    assert [text(env, path) for path in paths] == [
        ["mother"], ["friend"], ["friend", "mother"], ["friend", "zebra"],
    ]  # fmt: skip
    assert [env.relevance.score(path) for path in paths] == [2.0, 1.0, 1.0, 0.5]


def test_caps_are_kept_and_said(make_environment):
    rows = [("a", f"r{number}", f"b{other}") for number in range(10) for other in range(10)]
    caps = {"max_relation_paths": 4, "max_grounded": 2, "groundings_per_path": 3, "max_reasoning_paths": 5}
    env = make_environment(rows, **PAPER, **caps)
    state, observation = env.step(env.start([0]), Explore(0, 3))
    assert len(state.relation_paths) == 4 and observation.cut
    state, observation = env.step(state, Ground(0, state.relation_paths))
    assert len(observation.reasoning_paths) == 6 and observation.cut
    assert len(state.reasoning_paths) == 5 and "memory of reasoning paths is full" in observation.text


def test_each_end_is_given_before_a_second_path_to_one(make_environment):
    rows = [("a", "r", f"m{n}") for n in range(3)] + [(f"m{n}", "s", "x") for n in range(3)] + [("m2", "s", "y")]
    env = make_environment(rows, **PAPER, groundings_per_path=2)
    path = env.vocabulary.read_path("r -> s")
    kept = ground(env.graph, 0, path, env.settings)
    assert [env.graph.entity_name(each[-1].target) for each in kept.paths] == ["x", "y"]
    assert kept.cut


# -- what a model may write wrongly --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("search", {}, "unknown tool"),
        ("explore", {"entity": "Ian Holm"}, "wrong arguments"),
        ("explore", {"entity": "Ian Holm", "hop_limit": 9}, "wrong arguments"),
        ("explore", {"entity": "Ian Holm", "hop_limit": True}, "wrong arguments"),
        ("explore", {"entity": ["Ian Holm"], "hop_limit": 1}, "wrong arguments"),
        ("explore", "Ian Holm", "wrong arguments"),
        ("explore", {"entity": "Gandalf", "hop_limit": 1}, "unknown entity"),
        ("explore", {"entity": "Marriage", "hop_limit": 1}, "entity not reached"),
        ("ground", {"entity": "Ian Holm", "relation_paths": []}, "wrong arguments"),
        ("ground", {"entity": "Ian Holm", "relation_paths": 3}, "wrong arguments"),
        ("ground", {"entity": "Ian Holm", "relation_paths": [3]}, "wrong arguments"),
        ("ground", {"entity": "Ian Holm", "relation_paths": ["P7"]}, "unknown relation"),
        ("ground", {"entity": "Ian Holm", "relation_paths": [["spouse", "marriedTo"]]}, "unknown relation"),
        ("ground", {"entity": "Ian Holm", "relation_paths": [["spouse"] * 4]}, "wrong arguments"),
        ("synthesize", {"path_ids": ["C1"], "question": "q"}, "unknown path"),
        ("synthesize", {"path_ids": ["C" + "9" * 50], "question": "q"}, "unknown path"),
        ("synthesize", {"path_ids": []}, "wrong arguments"),
    ],
)
def test_what_cannot_be_done_is_refused_with_its_reason(make_environment, name, arguments, problem):
    env = make_environment("holm")
    with pytest.raises(Refusal) as refused:
        env.read(Requested(name, arguments), env.start([env.graph.entity("Ian Holm")]))
    assert refused.value.problem == problem and str(refused.value).endswith(".")


def test_actions_are_read_by_name_id_or_tokens(make_environment):
    env = make_environment("holm")
    ian = env.graph.entity("Ian Holm")
    state, _ = env.step(env.start([ian]), Explore(ian, 1))
    spouse = (Step(env.graph.relation("spouse"), True),)
    number = state.relation_paths.index(spouse) + 1
    for written in (f"P{number}", f"p{number} ", "^spouse", "^SPOUSE", ["^spouse"]):
        action = env.read(Requested("ground", {"entity": "ian holm", "relation_paths": [written]}), state)
        assert action == Ground(ian, (spouse,))
    state, _ = env.step(state, Ground(ian, (spouse,)))
    chosen = env.read(Requested("synthesize", {"path_ids": ["C1", "C1"], "question": "q"}), state)
    assert chosen == Synthesize((state.reasoning_paths[0],), "q")


def test_a_path_not_explored_is_grounded_and_joins_the_state_if_it_leads_somewhere(make_environment):
    env = make_environment("holm")
    ian = env.graph.entity("Ian Holm")
    paths = [env.vocabulary.read_path(text) for text in ("awardNominee -> typeOfUnion", "typeOfUnion")]
    state, observation = env.step(env.start([ian]), Ground(ian, tuple(paths)))
    assert state.relation_paths == (paths[0],) and len(state.reasoning_paths) == 2
    assert "typeOfUnion leads nowhere from Ian Holm." in observation.text


# -- against brute force -------------------------------------------------------------------------------

triples = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 5)), min_size=1, max_size=14, unique=True
)


@settings(max_examples=150, deadline=None)
@given(rows=triples, inverse=st.booleans(), exclude=st.booleans(), hops=st.integers(1, 3))
def test_exploring_and_grounding_equal_brute_force(rows, inverse, exclude, hops):
    columns = ([f"{prefix}{row[at]}" for row in rows] for at, prefix in ((0, "e"), (1, "r"), (2, "e")))
    graph = build_graph(*columns, [1.0] * len(rows), source="drawn")
    chosen = EnvironmentSettings(
        inverse_steps=inverse, exclude_returns=exclude, max_relation_paths=10_000, beam=10_000,
        groundings_per_path=10_000, grounding_pool=10_000, max_grounded=10_000, max_reasoning_paths=10**6,
    )  # fmt: skip
    start = graph.entity(f"e{rows[0][0]}")
    steps = [Step(relation, way) for relation in range(graph.num_relations) for way in (False, True)[: 1 + inverse]]
    expected = {}
    for length in range(1, hops + 1):
        for path in itertools.product(steps, repeat=length):
            found = graph.groundings(start, path)
            found = [each for each in found if not exclude or all(edge.target != start for edge in each)]
            if found:
                expected[path] = found
    result = explore(graph, start, hops, Relevance(graph, ""), chosen)
    assert sorted(result.paths) == sorted(expected) and not result.cut
    for path, found in expected.items():
        assert sorted(ground(graph, start, path, chosen).paths) == sorted(found)
    env = Environment(graph, Relevance(graph, ""), chosen)
    state, _ = env.step(env.start([start]), Ground(start, tuple(expected)))
    assert set(state.reasoning_paths) == {each for found in expected.values() for each in found}
