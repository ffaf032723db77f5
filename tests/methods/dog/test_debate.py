"""The debate: how many calls, who saw what, what each setting and each bad reply does."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson
import pytest

from kgqa_bench.domain import Call, Option, Prediction, Question, Triple
from kgqa_bench.errors import ModelError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.llm.types import Reply
from kgqa_bench.methods.dog import DebateOnGraph
from kgqa_bench.methods.dog.prompts import PROMPTS
from kgqa_bench.methods.dog.replies import agree, read_action
from kgqa_bench.toolbox import Toolbox

QUADS = [
    ("oak", "is a", "tree", 0.9),
    ("oak", "looks like", "tree", 0.8),  # a parallel edge: kept for K > 1
    ("oak", "bears", "acorn", 0.6),
    ("oak", "gives", "shade", 0.5),
    ("tree", "has", "leaf", 0.95),
]
FACTS = "- oak is a tree\n- tree has leaf\n- oak bears acorn\n- oak gives shade"
MORE_FACTS = "- oak is a tree\n- tree has leaf\n- oak looks like tree\n- oak bears acorn\n- oak gives shade"

CHOICE = Question("q1", "What does an oak bear?", "choice", (Option("A", "an acorn"), Option("B", "a pear")))
BOOLEAN = Question("q2", "An oak bears acorns.", "boolean")
ENTITIES = Question("q3", "What does an oak give?", "entities")
LAST = 3


class Embedder:
    """Every text is alike, so that paths are ranked by confidence alone."""

    name, dimension = "constant", 2

    def __init__(self):
        self.texts: list[str] = []
        self.threads: set[threading.Thread] = set()

    def encode(self, texts):
        self.texts += texts
        self.threads.add(threading.current_thread())
        return np.tile(np.array([1.0, 0.0], dtype=np.float32), (len(texts), 1))


class Linker:
    def __init__(self, entities):
        self.entities = entities

    def link(self, question):
        return self.entities


@dataclass
class FakeLlm:
    """Replies by role: a list is used up and then its last reply stays; the prompts are kept."""

    proponent: Any = "Acorns, says P{n}. Answer: A"
    challenger: Any = "Pears, says C{n}. Answer: B"
    decision: Any = "CONTINUE"
    judge: Any = "Because. Answer: A"
    answer: Any = "Because. Answer: B"
    truncated: tuple[str, ...] = ()
    asked: list[dict[str, Any]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    async def call(self, role, messages, **settings):
        number = sum(call["role"] == role for call in self.asked) + 1
        self.asked.append({"role": role, "text": "\n".join(m["content"] for m in messages), **settings})
        await asyncio.sleep(0)
        replies = getattr(self, role)
        reply = replies[min(number, len(replies)) - 1] if isinstance(replies, list) else replies
        if isinstance(reply, Exception):
            raise reply
        self.calls.append(Call(role, [dict(m) for m in messages], {}, reply=reply))
        return Reply(reply.format(n=number), role in self.truncated, self.calls[-1])

    def prompts(self, role):
        return [call["text"] for call in self.asked if call["role"] == role]


@dataclass
class Scene:
    """One question put to DoG, and all that can be seen of it."""

    llm: FakeLlm
    answer: Any
    trace: dict[str, Any]
    embedder: Embedder


@pytest.fixture(scope="module")
def graph():
    return build_graph(*zip(*QUADS, strict=True), source="test")


@pytest.fixture
def debate(graph):
    async def run(llm=None, question=CHOICE, topics=("oak",), **settings):
        llm = llm if llm is not None else FakeLlm()
        embedder = Embedder()
        tools = Toolbox(
            llm=llm,
            seed="0",
            load_graph=lambda: graph,
            load_embedder=lambda: embedder,
            load_linker=lambda: Linker(tuple(graph.entity(name) for name in topics)),
        )
        answer = await DebateOnGraph(DebateOnGraph.Settings(**settings)).answer(question, tools)
        orjson.dumps(tools.trace)  # it has to fit a record
        return Scene(llm, answer, tools.trace, embedder)

    return run


# -- calls -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rounds", [1, 2, 3])
async def test_a_debate_takes_three_calls_a_round_and_one(debate, rounds):
    scene = await debate(FakeLlm(decision=["continue"] * (rounds - 1) + ["stop"]))
    roles = [call["role"] for call in scene.llm.asked]
    assert roles == ["proponent", "challenger", "decision"] * rounds + ["judge"]
    assert scene.trace["rounds"] == rounds
    assert scene.trace["actions"] == ["continue"] * (rounds - 1) + ["stop"]


@pytest.mark.parametrize("action", ["continue", "expand", "gibberish"])
async def test_a_debate_ends_after_the_last_round_whatever_is_decided(debate, action):
    scene = await debate(FakeLlm(decision=action))
    assert len(scene.llm.asked) == 3 * LAST + 1
    assert scene.trace["rounds"] == LAST


@pytest.mark.parametrize(
    ("settings", "expected"), [({}, (4, 10)), ({"max_rounds": 5}, (4, 16)), ({"debate": False}, (1, 1))]
)
def test_call_range(settings, expected):
    assert DebateOnGraph(DebateOnGraph.Settings(**settings)).call_range() == expected


async def test_every_call_has_the_papers_sampling_and_rounds_are_separate_draws(debate):
    scene = await debate()
    assert {(call["temperature"], call["max_tokens"]) for call in scene.llm.asked} == {(0.5, 1024)}
    samples = defaultdict(list)
    for call in scene.llm.asked:
        samples[call["role"]].append(call["sample"])
    assert samples == {"proponent": [0, 1, 2], "challenger": [0, 1, 2], "decision": [0, 1, 2], "judge": [0]}


async def test_the_debaters_of_a_round_are_asked_at_the_same_time(debate):
    both = asyncio.Barrier(2)

    class Waiting(FakeLlm):
        async def call(self, role, messages, **settings):
            if role in ("proponent", "challenger"):
                await asyncio.wait_for(both.wait(), 5)
            return await super().call(role, messages, **settings)

    assert (await debate(Waiting())).trace["rounds"] == LAST


async def test_a_failed_call_ends_the_question_after_the_other_reply_has_come(graph):
    llm = FakeLlm(proponent=["Answer: A", ModelError("gone", reason="timeout")])
    tools = Toolbox(llm, "0", lambda: graph, Embedder, lambda: Linker((graph.entity("oak"),)))
    with pytest.raises(ModelError, match="gone"):
        await DebateOnGraph().answer(CHOICE, tools)
    assert [call.role for call in llm.calls] == ["proponent", "challenger", "decision", "challenger"]
    assert (tools.trace["rounds"], tools.trace["k"]) == (1, 1)
    assert "verdict" not in tools.trace


# -- who saw what ------------------------------------------------------------------------------------------


async def test_only_proponent_and_decision_see_the_graph(debate):
    scene = await debate()
    for role, sees in {"proponent": True, "decision": True, "challenger": False, "judge": False}.items():
        for prompt in scene.llm.prompts(role):
            assert (FACTS in prompt) is sees
            assert ("Facts:" in prompt) is sees
            assert ("oak is a tree" in prompt) is sees


async def test_everyone_sees_question_and_options(debate):
    scene = await debate()
    for call in scene.llm.asked:
        assert "What does an oak bear?\nA) an acorn\nB) a pear" in call["text"]


async def test_debaters_see_their_own_history_and_the_opponents_last_reply(debate):
    scene = await debate()
    for role, own, other in (("proponent", "says P", "says C"), ("challenger", "says C", "says P")):
        first, second, third = scene.llm.prompts(role)
        seen = [
            {word + str(n) for word in (own, other) for n in (1, 2, 3) if word + str(n) in prompt}
            for prompt in (first, second, third)
        ]
        assert seen == [set(), {own + "1", other + "1"}, {own + "1", own + "2", other + "2"}]
        assert PROMPTS["rebuttal"] not in first
        assert PROMPTS["rebuttal"] in second
        assert third.index(own + "1") < third.index(own + "2") < third.index(other + "2")


async def test_decision_sees_the_replies_of_its_own_round_only(debate):
    scene = await debate()
    for number, prompt in enumerate(scene.llm.prompts("decision"), 1):
        seen = {f"{word}{n}" for word in ("says P", "says C") for n in (1, 2, 3) if f"{word}{n}" in prompt}
        assert seen == {f"says P{number}", f"says C{number}"}


async def test_judge_sees_the_last_two_replies_only(debate):
    scene = await debate()
    (prompt,) = scene.llm.prompts("judge")
    assert {f"{w}{n}" for w in ("says P", "says C") for n in (1, 2, 3) if f"{w}{n}" in prompt} == {
        "says P3",
        "says C3",
    }


# -- expansion ---------------------------------------------------------------------------------------------


async def test_expansion_moves_k_and_shows_the_new_subgraph(debate):
    scene = await debate(FakeLlm(decision=["expand", "continue"]))
    first, second, third = scene.llm.prompts("proponent")
    assert FACTS in first and MORE_FACTS not in first
    assert MORE_FACTS in second and MORE_FACTS in third
    decisions = scene.llm.prompts("decision")
    assert FACTS in decisions[0] and MORE_FACTS in decisions[1]
    assert scene.trace["levels"] == [1, 3, 3]
    assert scene.trace["k"] == 3
    assert [(part["k"], part["triples"]) for part in scene.trace["subgraphs"]] == [(1, 4), (3, 5)]


async def test_levels_not_asked_for_are_not_extracted(debate):
    scene = await debate(FakeLlm(decision=["continue", "continue", "expand"]))
    assert [part["k"] for part in scene.trace["subgraphs"]] == [1]
    assert scene.trace["k"] == 1, "an expansion after the last round shows nothing to anyone"


@pytest.mark.parametrize(("meaning", "rounds"), [("continue", 3), ("stop", 2)])
async def test_expanding_beyond_the_last_level(debate, meaning, rounds):
    scene = await debate(FakeLlm(decision="expand"), levels=(1, 3), at_last_level=meaning)
    assert scene.trace["actions"] == ["expand", meaning, "continue"][:rounds]
    assert scene.trace["k"] == 3


async def test_replace_and_union_differ_where_levels_are_not_nested(debate, monkeypatch):
    """The larger subgraph need not contain the smaller one: here the second level loses all but one triple."""
    from kgqa_bench.methods.dog import evidence

    real = evidence.extract_levels

    def shrinking(graph, embedder, text, centres, levels, settings):
        if list(levels) == [3]:
            settings = settings.model_copy(update={"width": 1, "max_distance": 1.2})
        return real(graph, embedder, text, centres, levels, settings)

    monkeypatch.setattr(evidence, "extract_levels", shrinking)
    llm = FakeLlm(decision=["expand", "stop"])
    replaced, union = await debate(llm), await debate(FakeLlm(decision=["expand", "stop"]), expansion="union")
    assert "acorn\n" not in replaced.llm.prompts("proponent")[1].split("Question:")[0]
    assert "- oak is a tree\n- tree has leaf\n- oak bears acorn" in union.llm.prompts("proponent")[1]
    assert len(union.answer.evidence) > len(replaced.answer.evidence)


# -- evidence ----------------------------------------------------------------------------------------------


async def test_evidence_of_the_answer_is_the_final_subgraphs_whole_paths(debate):
    scene = await debate()
    assert scene.answer.evidence == (
        (Triple("oak", "is a", "tree", 0.9), Triple("tree", "has", "leaf", 0.95)),
        (Triple("oak", "bears", "acorn", 0.6),),
        (Triple("oak", "gives", "shade", 0.5),),
    )


async def test_trace_tells_how_far_the_search_went(debate):
    scene = await debate()
    assert scene.trace["topic_entities"] == ["oak"]
    assert scene.trace["subgraphs"] == [{"k": 1, "triples": 4, "visited": 5, "hops": {"1": 3, "2": 1}}]
    assert scene.trace["shown"] == 4
    assert scene.trace["verdict"] == "judge"
    assert scene.trace["answers"] == [{"proponent": ["A"], "challenger": ["B"]}] * LAST


async def test_evidence_limit_keeps_the_best_triples_and_their_paths(debate):
    scene = await debate(evidence_limit=2)
    assert "Facts:\n- oak is a tree\n- tree has leaf\n\n" in scene.llm.prompts("proponent")[0]
    assert [len(path) for path in scene.answer.evidence] == [2]
    assert scene.trace["shown"] == 2


async def test_evidence_in_the_order_of_visits(debate):
    scene = await debate(evidence_order="visited", topics=("tree", "oak"))
    # tree is the first centre; from oak, acorn (1 / 0.6) comes before shade and before leaf (2 / 0.855)
    facts = "- tree has leaf\n- oak is a tree\n- oak bears acorn\n- oak gives shade"
    assert facts in scene.llm.prompts("proponent")[0]


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"show_confidence": True}, "- oak is a tree (confidence 0.90)\n"),
        ({"verbalisation": "triple"}, "- (oak, is a, tree)\n"),
        ({"verbalisation": "triple", "show_confidence": True}, "- (oak, is a, tree, 0.90)\n"),
    ],
)
async def test_how_a_triple_is_written(debate, settings, line):
    assert line in (await debate(**settings)).llm.prompts("proponent")[0]


@pytest.mark.parametrize("with_options", [False, True])
async def test_options_in_the_retrieval_question(debate, with_options):
    scene = await debate(retrieval_options=with_options)
    asked = "What does an oak bear?" + ("\nA) an acorn\nB) a pear" if with_options else "")
    assert asked in scene.embedder.texts


async def test_extraction_runs_beside_the_event_loop(debate):
    scene = await debate(FakeLlm(decision="expand"))
    assert threading.main_thread() not in scene.embedder.threads


# -- variants ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("level", "facts"), [(1, FACTS), (3, MORE_FACTS), (5, MORE_FACTS)])
async def test_without_debate_one_call_answers_from_the_subgraph(debate, level, facts):
    scene = await debate(debate=False, levels=(level,))
    (call,) = scene.llm.asked
    assert (call["role"], call["temperature"]) == ("answer", 0.5)
    assert facts in call["text"]
    assert scene.answer.predictions == (Prediction("B"),)
    assert (scene.trace["verdict"], scene.trace["rounds"], scene.trace["k"]) == ("single", 0, level)


@pytest.mark.parametrize("settings", [{}, {"debate": False}])
async def test_without_graph_nothing_of_it_is_loaded(settings):
    llm = FakeLlm()
    tools = Toolbox(llm=llm, seed="0")  # asking it for a graph would raise
    answer = await DebateOnGraph(DebateOnGraph.Settings(use_graph=False, **settings)).answer(CHOICE, tools)
    assert (answer.status, answer.evidence) == ("ok", ())
    assert all("Facts:" not in call["text"] and "EXPAND" not in call["text"] for call in llm.asked)
    assert all("knowledge graph" not in call["text"] for call in llm.asked)


async def test_without_asymmetry_the_challenger_sees_the_graph_too(debate):
    scene = await debate(FakeLlm(decision=["expand", "continue"]), asymmetry=False)
    assert [FACTS in prompt for prompt in scene.llm.prompts("challenger")] == [True, False, False]
    assert [MORE_FACTS in prompt for prompt in scene.llm.prompts("challenger")] == [False, True, True]
    assert FACTS not in scene.llm.prompts("judge")[0]


async def test_with_k_fixed_the_decision_cannot_expand(debate):
    scene = await debate(FakeLlm(decision="EXPAND"), levels=(3,))
    assert all("EXPAND" not in prompt for prompt in scene.llm.prompts("decision"))
    assert scene.trace["actions"] == ["continue"] * LAST
    assert scene.trace["levels"] == [3] * LAST


async def test_dog_e_takes_every_confidence_as_one(debate):
    scene = await debate(confidence="one")
    assert {triple.confidence for path in scene.answer.evidence for triple in path} == {1.0}


# -- bad replies -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("stop", ("stop", "ok")),
        ("  **EXPAND**\n", ("expand", "ok")),
        ("Decision: Continue.", ("continue", "ok")),
        ('{"action": "expand"}', ("expand", "ok")),
        ('```json\n{"action": "stop"}\n```', ("stop", "repaired")),
        ("The debate should continue, as they disagree.", ("continue", "repaired")),
        ("We could stop here, or expand.\nEXPAND", ("expand", "repaired")),
        ("Do not stop. Continue.", ("continue", "repaired")),
        ("Do not stop.", (None, "failed")),
        ("STOP or CONTINUE", (None, "failed")),
        ("unstoppable", (None, "failed")),
        ("", (None, "failed")),
        ("\n \n", (None, "failed")),
        ('{"action": "stop", "reason": "nothing to continue or expand"}', ("stop", "ok")),
        ('```json\n{"reason": "do not stop", "action": "expand"}\n```', ("expand", "repaired")),
    ],
)
def test_read_action(reply, expected):
    assert read_action(reply) == expected


@pytest.mark.parametrize(
    ("meaning", "actions", "k"),
    [("continue", ["continue"] * 3, 1), ("stop", ["stop"], 1), ("expand", ["expand", "expand", "continue"], 5)],
)
async def test_what_an_unread_decision_means(debate, meaning, actions, k):
    scene = await debate(FakeLlm(decision="I cannot say"), on_unread_decision=meaning)
    assert (scene.trace["actions"], scene.trace["k"]) == (actions, k)
    assert scene.trace["unread"] == {"decision": len(actions)}
    assert {call.parse for call in scene.llm.calls if call.role == "decision"} == {"failed"}


@pytest.mark.parametrize(
    ("proponent", "challenger", "mode", "expected"),
    [
        ("Answer: B", "Answer: B", "debaters", ("B", "debaters", "ok")),
        ("Answer: A", "Answer: B", "debaters", ("A", "proponent", "ok")),
        ("Answer: A", "no idea", "debaters", ("A", "proponent", "ok")),
        ("no idea", "Answer: B", "debaters", (None, "none", "parse_failed")),
        ("Answer: B", "Answer: B", "fail", (None, "none", "parse_failed")),
    ],
)
async def test_what_an_unread_verdict_leads_to(debate, proponent, challenger, mode, expected):
    llm = FakeLlm(proponent=proponent, challenger=challenger, judge="I abstain.")
    scene = await debate(llm, on_unread_verdict=mode)
    value = scene.answer.predictions[0].value if scene.answer.predictions else None
    assert (value, scene.trace["verdict"], scene.answer.status) == expected
    assert scene.trace["unread"]["judge"] == 1
    assert scene.llm.calls[-1].parse == "failed"


@pytest.mark.parametrize("reply", ["", "   \n", "banana {0} {{", "🙂" * 50, "Answer: Z", "{" * 200])
async def test_nonsense_from_every_agent_still_ends_in_a_recorded_failure(debate, reply):
    class Nonsense(FakeLlm):
        async def call(self, role, messages, **settings):
            self.asked.append({"role": role, "text": "\n".join(m["content"] for m in messages), **settings})
            self.calls.append(Call(role, [], {}, reply=reply))
            return Reply(reply, False, self.calls[-1])

    scene = await debate(Nonsense())
    assert (scene.answer.status, scene.answer.predictions, scene.answer.raw) == ("parse_failed", (), reply)
    assert len(scene.llm.asked) == 3 * LAST + 1
    assert scene.trace["unread"] == {"proponent": 3, "challenger": 3, "decision": 3, "judge": 1}


async def test_an_empty_reply_is_named_in_the_other_prompts(debate):
    scene = await debate(FakeLlm(proponent=""))
    assert f"Your opponent's last reply:\n{PROMPTS['no_reply']}" in scene.llm.prompts("challenger")[1]
    assert f"Proponent:\n{PROMPTS['no_reply']}" in scene.llm.prompts("judge")[0]


async def test_truncated_replies_are_counted(debate):
    scene = await debate(FakeLlm(truncated=("challenger", "judge"), challenger="", judge=""))
    assert scene.trace["truncated"] == {"challenger": 3, "judge": 1}
    assert scene.trace["verdict"] == "proponent"


async def test_structured_decisions_come_with_a_schema(debate):
    scene = await debate(FakeLlm(decision='{{"action": "stop"}}'), structured_decision=True)
    (call,) = (call for call in scene.llm.asked if call["role"] == "decision")
    assert call["schema"]["properties"]["action"]["enum"] == ["stop", "continue", "expand"]
    assert '{"action":' in call["text"]
    assert scene.trace["actions"] == ["stop"]
    plain = await debate()
    assert all(call["schema"] is None for call in plain.llm.asked)


# -- nothing in the graph ----------------------------------------------------------------------------------


@pytest.mark.parametrize("topics", [(), ("leaf",)])  # nothing linked; an entity no edge leaves
async def test_without_evidence_the_debate_is_told_so(debate, topics):
    scene = await debate(FakeLlm(decision="expand"), topics=topics)
    assert len(scene.llm.asked) == 3 * LAST + 1
    for role in ("proponent", "decision"):
        assert all(f"Facts:\n{PROMPTS['no_facts']}" in prompt for prompt in scene.llm.prompts(role))
    assert all(PROMPTS["no_facts"] not in prompt for prompt in scene.llm.prompts("challenger"))
    assert (scene.answer.status, scene.answer.evidence) == ("closed_book", ())
    assert scene.answer.predictions == (Prediction("A"),)
    assert scene.trace["topic_entities"] == list(topics)
    assert scene.trace["shown"] == 0


async def test_without_topic_entity_there_is_no_level_to_go_to(debate):
    scene = await debate(FakeLlm(decision="expand"), topics=())
    assert (scene.trace["actions"], scene.trace["k"], scene.trace["subgraphs"]) == (["continue"] * 3, 1, [])


async def test_facts_may_be_left_out_where_there_are_none(debate):
    scene = await debate(topics=(), without_evidence="omit")
    assert all("Facts:" not in call["text"] for call in scene.llm.asked)
    assert scene.answer.status == "closed_book"


# -- other kinds of question -------------------------------------------------------------------------------


async def test_boolean_questions(debate):
    llm = FakeLlm(proponent="Answer: true", challenger="Answer: false", judge="They do not. Answer: false")
    scene = await debate(llm, BOOLEAN)
    assert scene.answer.predictions == (Prediction("false"),)
    assert scene.trace["answers"][0] == {"proponent": ["true"], "challenger": ["false"]}


async def test_entity_questions_are_answered_by_name_and_ranked(debate):
    llm = FakeLlm(judge="Both hold.\nAnswers:\n1. Shade\n2. Firewood\n- shade")
    scene = await debate(llm, ENTITIES)
    assert scene.answer.predictions == (Prediction("shade"), Prediction("Firewood"))


async def test_debaters_agree_on_entities_whatever_the_order(debate):
    llm = FakeLlm(proponent="Answers:\nshade\nacorn", challenger="Answers:\nAcorn\nShade", judge="")
    scene = await debate(llm, ENTITIES)
    assert scene.trace["verdict"] == "debaters"
    assert scene.answer.predictions == (Prediction("shade"), Prediction("acorn"))


def test_agreement():
    assert agree(("A",), ("A",))
    assert agree(("x", "Y"), ("y", "X"))
    assert not agree(("A",), ("B",))
    assert not agree(("A",), ("A", "B"))
    assert not agree((), ()), "unread replies agree with none"


# -- settings and determinism ------------------------------------------------------------------------------


@pytest.mark.parametrize("levels", [(), (0, 1), (3, 1), (1, 1)])
def test_levels_must_rise(levels):
    with pytest.raises(ValueError, match="each larger than the one before"):
        DebateOnGraph.Settings(levels=levels)


async def test_the_same_question_gives_the_same_prompts_alone_and_beside_others(debate):
    alone = await debate(FakeLlm(decision=["expand", "continue"]))
    beside = await asyncio.gather(*(debate(FakeLlm(decision=["expand", "continue"])) for _ in range(8)))
    for scene in beside:
        assert json.dumps(scene.llm.asked) == json.dumps(alone.llm.asked)
        assert (scene.answer, scene.trace) == (alone.answer, alone.trace)


def test_prompts_leave_room_for_replies():
    """The paper's average leaves about 390 tokens a call; instructions alone must stay a small part of that."""
    assert max(len(text.split()) for text in PROMPTS.values()) < 60
