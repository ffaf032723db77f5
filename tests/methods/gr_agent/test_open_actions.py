"""A model held to the open actions: whatever it picks can be done, is new, and leads to an answer."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa_bench.domain import Call, Question
from kgqa_bench.graph.build import build_graph
from kgqa_bench.llm.types import Reply
from kgqa_bench.methods.gr_agent import GrAgent
from kgqa_bench.methods.gr_agent.settings import GrAgentSettings
from kgqa_bench.toolbox import Toolbox

from .conftest import HOLM as HOLM_TRIPLES

HOLM = Question("h", "Who is Ian Holm's spouse?", "entities", topic_entities=("Ian Holm",))


class SchemaModel:
    """Writes any reply that its schema allows, as ``pick`` chooses among a list."""

    takes_tools = True

    def __init__(self, pick):
        self.pick, self.calls = pick, []

    def write(self, schema):
        if "anyOf" in schema:
            return self.write(self.pick(schema["anyOf"]))
        if "enum" in schema:
            return self.pick(schema["enum"])
        if schema["type"] == "array":
            size = self.pick(range(schema["minItems"], schema["maxItems"] + 1))
            return [self.write(schema["items"]) for _ in range(size)]
        assert set(schema["required"]) == set(schema["properties"]) and schema["additionalProperties"] is False
        return {name: self.write(each) for name, each in schema["properties"].items()}

    async def call(self, role, messages, *, schema=None, **settings):
        reply = json.dumps(self.write(schema)) if schema else "Answers:\nsomebody"
        self.calls.append(Call(role, list(messages), {**settings, "schema": schema}, reply=reply))
        return Reply(reply, False, self.calls[-1])


async def play(triples, question, pick, **settings):
    heads, relations, tails = map(list, zip(*triples, strict=True))
    graph = build_graph(heads, relations, tails, [1.0] * len(heads), source="example")

    class Topics:
        def link(self, asked):
            return tuple(map(graph.entity, asked.topic_entities))

    model = SchemaModel(pick)
    tools = Toolbox(llm=model, seed="0", load_graph=lambda: graph, load_linker=Topics)
    answer = await GrAgent(GrAgentSettings(offer="open", **settings)).answer(question, tools)
    return answer, tools.trace, model


async def test_no_action_is_offered_twice_and_the_last_one_ends_with_an_answer():
    _, trace, _ = await play(HOLM_TRIPLES, HOLM, lambda choices: choices[0])
    assert trace["protocol"] == "json"  # although the model takes tools
    # each hop limit once, and then the paths found
    assert trace["actions"][:4] == ["explore", "explore", "explore", "ground"] and trace["hop_limits"][:3] == [
        1,
        2,
        3,
    ]
    assert trace["ending"] == "step limit" and set(trace["problems"]) <= {"nothing new"}
    answer, trace, _ = await play(HOLM_TRIPLES, HOLM, lambda choices: choices[-1])
    assert (answer.status, trace["ending"], trace["problems"]) == ("ok", "synthesized", {})


@given(st.integers(0, 2**32), st.integers(1, 12))
async def test_whatever_is_offered_can_be_done(seed, steps):
    draw = random.Random(seed)
    answer, trace, _ = await play(
        HOLM_TRIPLES, HOLM, draw.choice, max_steps=steps, at_limit="synthesize", hop_limit=2, memory_tokens=200
    )
    assert set(trace["problems"]) <= {"nothing new"}  # the ends of a path may be known already
    assert trace["ending"] in ("synthesized", "step limit", "nothing left to do")
    if answer.evidence:
        assert trace["unknown_answers"] == [] and "Ian Holm" not in [each.value for each in answer.predictions]
        on_paths = {name for path in answer.evidence for edge in path for name in (edge.head, edge.tail)}
        assert {each.value for each in answer.predictions} <= on_paths


async def test_where_nothing_is_left_the_episode_ends_and_says_so():
    nowhere = Question("n", "Who?", "entities")
    answer, trace, model = await play(HOLM_TRIPLES, nowhere, lambda choices: choices[0])
    assert (answer.status, trace["ending"], trace["steps"], model.calls) == ("abstained", "nothing left to do", 0, [])


async def test_entities_with_one_label_are_told_apart_by_name():
    triples = [("Ann", "knows", "Bo"), ("Ann", "knows", "bo"), ("Bo", "knows", "Cy"), ("bo", "knows", "Di")]
    question = Question("k", "Who knows Di?", "entities", topic_entities=("Ann",))
    _, trace, _ = await play(triples, question, lambda choices: choices[-1], max_steps=3)
    assert trace["problems"] == {}


async def test_only_what_the_prompt_shows_is_offered():
    triples = [("hub", f"relation number {number}", f"end {number}") for number in range(300)]
    question = Question("m", "Who is at number 7?", "entities", topic_entities=("hub",))
    _, _, model = await play(triples, question, lambda choices: choices[0], memory_tokens=200, max_steps=3)
    for call in model.calls[1:]:
        shown = {line.partition(":")[0] for message in call.messages for line in message["content"].splitlines()}
        (ground,) = [
            each["properties"]["relation_paths"]["items"]["enum"]
            for each in call.settings["schema"]["properties"]["action"]["anyOf"]
            if each["properties"]["name"]["enum"] == ["ground"]
        ]
        assert ground and set(ground) <= shown


def test_tools_cannot_be_held_to_open_actions():
    with pytest.raises(ValueError, match="protocol=json"):
        GrAgentSettings(protocol="tools", offer="open")
