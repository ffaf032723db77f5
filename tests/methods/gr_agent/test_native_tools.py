"""The agent over a server that takes tools: the chat on the wire, its records, and its replay."""

import json
from collections.abc import Iterator

import pytest

import kgqa_bench
from kgqa_bench.contracts import ModelOptions
from kgqa_bench.domain import Question
from kgqa_bench.errors import ModelError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.llm.gateway import Gateway
from kgqa_bench.llm.resolve import open_model
from kgqa_bench.methods.gr_agent.method import GrAgent
from kgqa_bench.methods.gr_agent.settings import GrAgentSettings
from kgqa_bench.toolbox import Toolbox

ROWS = [
    ("ann", "mother_of", "bob"),
    ("bob", "father_of", "cid"),
    ("ann", "sister_of", "dan"),
    ("bob", "likes", "tea"),
]
QUESTION = Question("q", "Who is a grandchild of ann?", "entities", topic_entities=("ann",))


def _call(name, arguments, call_id="c1"):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def _id_of(shown: str, text: str) -> str:
    """The id under which a path is listed, such as P2."""
    (line,) = (line for line in shown.splitlines() if line.partition(": ")[2] == text)
    return line.partition(":")[0]


class Model:
    """Acts by ``turns``: lists of tool calls, or functions of what the last result says; then answers in words."""

    def __init__(self, server, turns):
        self.server, self.turns = server, iter(turns)
        server.reply = self.reply

    def reply(self, body):
        if "tools" not in body:
            self.server.message, self.server.finish_reason = {}, "stop"
            return "ANSWER: cid"
        turn = next(self.turns)
        calls = turn(body["messages"][-1]["content"]) if callable(turn) else turn
        self.server.message, self.server.finish_reason = {"content": None, "tool_calls": calls}, "tool_calls"
        return None


def _good_turns() -> Iterator:
    yield [_call("explore", {"entity": "ann", "hop_limit": 2})]
    yield lambda said: [
        _call("ground", {"entity": "ann", "relation_paths": [_id_of(said, "mother_of -> father_of")]})
    ]
    yield [_call("synthesize", {"path_ids": ["C1"], "question": QUESTION.text})]


@pytest.fixture
def agent(stub_server):
    """Answers the question with the server's model; gives the answer, its trace and its calls."""
    graph = build_graph(*map(list, zip(*ROWS, strict=True)), source="family")

    class Topics:
        def link(self, question):
            return tuple(graph.find_entity(name) for name in question.topic_entities)

    async def run(settings=None, model="stub", takes=True):
        options = ModelOptions(base_url=stub_server.url)
        gateway = Gateway(open_model(model, options, {"tools": takes}))
        llm = gateway.bind("q")
        tools = Toolbox(llm=llm, seed="0", load_graph=lambda: graph, load_linker=Topics)
        try:
            answer = await GrAgent(GrAgentSettings(**(settings or {}))).answer(QUESTION, tools)
        finally:
            await gateway.close()
        return answer, tools.trace, llm.calls

    return run


async def test_a_question_is_answered_by_tool_calls(stub_server, agent):
    Model(stub_server, _good_turns())
    answer, trace, calls = await agent()
    assert [prediction.value for prediction in answer.predictions] == ["cid"]
    assert [[triple.relation for triple in path] for path in answer.evidence] == [["mother_of", "father_of"]]
    assert (answer.status, trace["protocol"], trace["ending"]) == ("ok", "tools", "synthesized")
    assert trace["actions"] == ["explore", "ground", "synthesize"]
    assert trace["problems"] == {}
    assert [call.parse for call in calls] == ["ok"] * 4

    first, *_, last = stub_server.bodies
    assert {tool["function"]["name"] for tool in first["tools"]} == {"explore", "ground", "synthesize"}
    assert "response_format" not in first
    assert "tools" not in last
    for body in stub_server.bodies[1:3]:  # every result names a call of the turn before it
        *_, turn, result = body["messages"]
        assert (turn["role"], result["role"]) == ("assistant", "tool")
        assert [call["id"] for call in turn["tool_calls"]] == [result["tool_call_id"]]


async def test_every_one_of_several_calls_gets_its_result_whatever_is_wrong_with_it(stub_server, agent):
    several = [
        _call("explore", {"entity": "ann", "hop_limit": 1}, "a"),
        _call("explore", "{broken", "b"),
        _call("look_up", {"entity": "ann"}, "c"),
        _call("explore", {"entity": "nobody", "hop_limit": 1}, "d"),
    ]
    Model(stub_server, [several, [_call("synthesize", {"path_ids": [], "question": ""})], *[several] * 9])
    _, trace, _ = await agent()
    *_, turn, a, b, c, d = stub_server.bodies[1]["messages"]
    assert [call["id"] for call in turn["tool_calls"]] == ["a", "b", "c", "d"]
    assert [result["tool_call_id"] for result in (a, b, c, d)] == ["a", "b", "c", "d"]
    assert all(json.loads(call["function"]["arguments"]) is not None for call in turn["tool_calls"])
    assert not a["content"].startswith("Not done")
    assert all(result["content"].startswith("Not done") for result in (b, c, d))
    assert trace["problems"]["unknown tool"] == 1
    assert trace["problems"]["unknown entity"] == 1
    assert trace["problems"]["wrong arguments"] >= 1


async def test_a_model_without_tools_is_asked_for_json(stub_server, agent):
    stub_server.reply = lambda body: '{"action": {"name": "synthesize", "path_ids": [], "question": ""}}'
    _, trace, calls = await agent(takes=False)
    assert trace["protocol"] == "json"
    assert not any("tools" in body for body in stub_server.bodies)
    assert "response_format" in stub_server.bodies[0]
    assert not any("tools" in call.settings for call in calls)


async def test_tools_asked_of_a_model_without_are_refused_with_the_way_out(stub_server, agent):
    with pytest.raises(ModelError, match="takes no tools") as problem:
        await agent({"protocol": "tools"}, takes=False)
    assert "protocol=json" in problem.value.hint
    assert stub_server.bodies == []


async def test_a_server_that_refuses_tools_ends_the_question_with_the_way_out(stub_server, agent):
    stub_server.failures.append((400, {"said": "this model does not support tools"}))
    with pytest.raises(ModelError, match="does not support tools") as problem:
        await agent()
    assert (problem.value.reason, "protocol=json" in problem.value.hint) == ("refused", True)
    assert len(stub_server.bodies) == 1


def test_a_run_with_tools_is_replayed_from_its_directory(stub_server, tmp_path):
    graph, questions = tmp_path / "graph.tsv", tmp_path / "questions.jsonl"
    graph.write_text("".join("\t".join(row) + "\n" for row in ROWS))
    row = {"id": "q", "question": QUESTION.text, "kind": "entities", "answer": ["cid"], "topic_entities": ["ann"]}
    questions.write_text(json.dumps(row) + "\n")
    Model(stub_server, _good_turns())
    common = {"method": "gr-agent", "benchmark": str(questions), "graph": str(graph)}
    run = kgqa_bench.evaluate(
        **common, model="stub", base_url=stub_server.url, set={"model.tools": True}, out=tmp_path / "run"
    )
    again = kgqa_bench.evaluate(**common, model=f"replay/{run.path}", out=tmp_path / "again")
    assert len(stub_server.bodies) == 4
    records = [json.loads((result.path / "records.jsonl").read_text()) for result in (run, again)]
    assert [record["predictions"] for record in records] == [[["cid", None]]] * 2
    assert [record["trace"]["protocol"] for record in records] == ["tools"] * 2
    assert records[0]["prompt_tokens"] == records[1]["prompt_tokens"] == 4 * 7
    first, *_, last = map(json.loads, (run.path / "calls.jsonl").read_text().splitlines())
    assert [call["name"] for call in first["tool_calls"]] == ["explore"]
    assert len(first["settings"]["tools"]) == 3
    assert "tool_calls" not in last
