"""Whole episodes with a scripted model: the paper's case studies, and models that go wrong."""

from __future__ import annotations

import json

import pytest

from kgqa_bench.domain import Call, Option, Question
from kgqa_bench.llm.types import Reply
from kgqa_bench.methods.gr_agent import GrAgent
from kgqa_bench.methods.gr_agent.settings import GrAgentSettings
from kgqa_bench.toolbox import Toolbox


class ScriptedModel:
    """Gives the next reply to each call, the last one for ever; a function gets the prompt's text."""

    takes_tools = False

    def __init__(self, replies):
        self.replies, self.calls, self.prompts = list(replies), [], []

    async def call(self, role, messages, **settings):
        shown = "\n".join(message["content"] for message in messages)
        self.prompts.append(shown)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        reply = reply(shown) if callable(reply) else reply
        call = Call(role, list(messages), settings, reply=reply)
        self.calls.append(call)
        return Reply(reply, False, call)


def act(name, **arguments):
    return json.dumps({"action": {"name": name, **arguments}})


def identifier(shown, text):
    """The id under which a path is shown, such as C2."""
    (found,) = {line.partition(": ")[0] for line in shown.splitlines() if line.partition(": ")[2] == text}
    return found


@pytest.fixture
def ask(make_graph):
    async def run(rows, question, replies, **settings):
        graph = make_graph(rows)

        class Topics:
            def link(self, asked):
                return tuple(graph.entity(name) for name in asked.topic_entities)

        model = ScriptedModel(replies)
        tools = Toolbox(llm=model, seed="0", load_graph=lambda: graph, load_linker=Topics)
        answer = await GrAgent(GrAgentSettings(**settings)).answer(question, tools)
        return answer, tools.trace, model

    return run


HOLM = Question("h", "Who is Ian Holm's spouse?", "entities", topic_entities=("Ian Holm",))
ANSWER = "So it is.\nAnswers:\nPenelope Wilton"


def holm():
    """Acts as in Table 4: the inverse edge."""
    yield act("explore", entity="Ian Holm", hop_limit=1)
    yield lambda shown: act("ground", entity="Ian Holm", relation_paths=[identifier(shown, "^spouse")])
    yield lambda shown: act(
        "synthesize", path_ids=[identifier(shown, "Penelope Wilton spouse Ian Holm")], question=HOLM.text
    )
    yield ANSWER


async def test_case_study_ian_holm_needs_the_inverse_edge(ask):
    answer, trace, model = await ask("holm", HOLM, holm())
    assert [prediction.value for prediction in answer.predictions] == ["Penelope Wilton"]
    assert answer.status == "ok"
    assert [tuple(map(tuple, path)) for path in answer.evidence] == [
        (("Penelope Wilton", "spouse", "Ian Holm", 1.0),)
    ]
    assert [call.role for call in model.calls] == ["act", "act", "act", "synthesise"]
    assert [call.parse for call in model.calls] == ["ok"] * 4
    assert trace["ending"] == "synthesized" and trace["actions"] == ["explore", "ground", "synthesize"]
    assert "Marriage" not in model.prompts[-1]  # only what was chosen is answered from


async def test_case_study_calvados_takes_three_hops_with_a_backward_step(ask):
    question = Question(
        "c", "What is the country of the administrative division Calvados?", "entities",
        topic_entities=("Calvados",),
    )  # fmt: skip
    path = "Calvados capital Caen; Caen capitalOf Calvados; France contains Calvados"
    replies = [
        act("explore", entity="Calvados", hop_limit=1),
        act("explore", entity="Calvados", hop_limit=3),
        lambda shown: act(
            "ground", entity="Calvados", relation_paths=[identifier(shown, "capital -> capitalOf -> ^contains")]
        ),
        lambda shown: act("synthesize", path_ids=[identifier(shown, path)], question=question.text),
        "Answers:\nFrance",
    ]
    answer, trace, _ = await ask("calvados", question, replies, exclude_returns=False)
    assert [prediction.value for prediction in answer.predictions] == ["France"]
    assert [[triple[:3] for triple in each] for each in answer.evidence] == [
        [("Calvados", "capital", "Caen"), ("Caen", "capitalOf", "Calvados"), ("France", "contains", "Calvados")]
    ]
    assert trace["hop_limits"] == [1, 3] and trace["problems"] == {}


async def test_a_model_that_never_synthesizes_is_ended_and_says_so(ask):
    answer, trace, model = await ask("holm", HOLM, [act("explore", entity="Ian Holm", hop_limit=1)], max_steps=5)
    assert (answer.status, answer.predictions) == ("abstained", ())
    assert (trace["ending"], trace["steps"], len(model.calls)) == ("step limit", 5, 5)
    assert trace["problems"] == {"nothing new": 4}
    assert "with a larger hop_limit" in model.prompts[2] and "with a larger hop_limit" not in model.prompts[1]


async def test_at_the_limit_it_may_be_synthesized_for_it(ask):
    replies = [
        act("ground", entity="Ian Holm", relation_paths=["^spouse"]),
        act("explore", entity="Ian Holm", hop_limit=1),
        ANSWER,
    ]
    answer, trace, _ = await ask("holm", HOLM, replies, max_steps=2, at_limit="synthesize")
    assert (answer.status, trace["ending"]) == ("ok", "step limit")
    assert len(answer.evidence) == 1


async def test_what_goes_wrong_is_observed_counted_and_bounded(ask):
    replies = [
        act("look", entity="x"),
        act("explore", entity="Gandalf", hop_limit=1),
        act("ground", entity="Ian Holm", relation_paths=["marriedTo"]),
        act("synthesize", path_ids=["C9"], question=""),
    ]
    answer, trace, model = await ask("holm", HOLM, replies, max_steps=6)
    assert trace["problems"] == {"unknown tool": 1, "unknown entity": 1, "unknown relation": 1, "unknown path": 3}
    assert trace["actions"] == [] and trace["steps"] == 6 and answer.status == "abstained"
    for prompt, said in zip(model.prompts[1:], ["'look'", "'Gandalf'", "'marriedTo'", "'C9'"], strict=False):
        assert "Not done: " in prompt and said in prompt.partition("Not done: ")[2]


async def test_unread_replies_end_the_question(ask):
    answer, trace, model = await ask("holm", HOLM, ["let me see", "well"], max_unread=2)
    assert (answer.status, trace["ending"]) == ("parse_failed", "unread")
    assert [call.parse for call in model.calls] == ["failed", "failed"]
    assert "names no action" in model.prompts[1]


async def test_an_answer_in_words_is_closed_book(ask):
    answer, trace, _ = await ask("holm", HOLM, [ANSWER])
    assert (answer.status, trace["ending"], answer.evidence) == ("closed_book", "answered in words", ())


@pytest.mark.parametrize(
    ("question", "reply", "value"),
    [
        (Question("b", "Ian Holm is married.", "boolean", topic_entities=("Ian Holm",)), "Answer: true", "true"),
        (
            Question("o", "Who is it?", "choice", (Option("A", "Cate"), Option("B", "Penelope")), ("Ian Holm",)),
            "Answer: B",
            "B",
        ),
    ],
)
async def test_choice_and_boolean_questions_are_answered_in_their_form(ask, question, reply, value):
    replies = [*list(holm())[:3], reply]
    answer, _, model = await ask("holm", question, replies)
    assert [prediction.value for prediction in answer.predictions] == [value]
    assert "B) Penelope" in model.prompts[0] or question.kind == "boolean"


async def test_answers_that_name_no_entity_are_reported(ask):
    replies = [*list(holm())[:3], "Answers:\npenelope wilton\nGandalf"]
    answer, trace, _ = await ask("holm", HOLM, replies)
    assert [prediction.value for prediction in answer.predictions] == ["Penelope Wilton", "Gandalf"]
    assert trace["unknown_answers"] == ["Gandalf"] and trace["ambiguous_answers"] == []


async def test_the_memory_stays_within_its_budget_and_keeps_the_best(ask):
    rows = [("hub", f"relation number {n}", f"end {n}") for n in range(150)] + [("hub", "mother", "mum")]
    question = Question("m", "Who is the mother?", "entities", topic_entities=("hub",))
    replies = [
        act("explore", entity="hub", hop_limit=1),
        act("ground", entity="hub", relation_paths=["relation number 1"]),
        act("explore", entity="end 1", hop_limit=1),
    ]
    _, _, model = await ask(rows, question, replies, memory_tokens=200, max_steps=4)
    bare = len(model.prompts[0])
    for prompt in model.prompts[1:]:
        assert len(prompt) < bare + 3 * 200 + 500  # the words around it
        assert "not shown" in prompt and ": mother" in prompt


@pytest.mark.parametrize(
    "reply",
    [
        '{"action": {"name": "explore", "entity": "Ian Holm", "hop_limit": 1}}',
        '{"action": "explore", "entity": "Ian Holm", "hop_limit": "1"}',
        '{"name": "explore", "arguments": {"entity": "Ian Holm", "hop_limit": 1}}',
        'I explore first. ```json\n{"action": {"name": "explore", "entity": "Ian Holm", "hop_limit": 1}}\n```',
    ],
)
async def test_actions_are_read_in_the_forms_that_models_give_them(ask, reply):
    _, trace, _ = await ask("holm", HOLM, [reply, ANSWER])
    assert trace["actions"] == ["explore"] and trace["problems"] == {}
