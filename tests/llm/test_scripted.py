import pytest

from kgqa_bench.contracts import ModelOptions
from kgqa_bench.errors import DataError, DataNotFoundError, ModelError
from kgqa_bench.llm.gateway import Gateway
from kgqa_bench.llm.resolve import open_model
from kgqa_bench.llm.types import Tool

JSONL = """\
{"role": "judge", "reply": "B"}

{"role": "proponent", "contains": ["hot", "cold"], "reply": "both"}
{"contains": "hot", "reply": ["fire", "sun"]}
"""
YAML = """\
# the same rules
- {role: judge, reply: B}
- role: proponent
  contains: [hot, cold]
  reply: both
- contains: hot
  reply: [fire, sun]
"""


@pytest.fixture(params=[("script.jsonl", JSONL), ("script.yaml", YAML)], ids=["jsonl", "yaml"])
def script(request, tmp_path):
    name, text = request.param
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


async def test_the_first_rule_that_fits_answers(script, prompt):
    llm = Gateway(open_model(f"scripted/{script}", ModelOptions())).bind("q1")
    assert (await llm.call("judge", prompt("hot"))).text == "B"
    assert (await llm.call("proponent", prompt("hot or cold?"))).text == "both"
    assert (await llm.call("proponent", prompt("only hot"))).text == "fire"
    assert [(await llm.call("answer", prompt("hot"), sample=n)).text for n in range(3)] == ["fire", "sun", "fire"]
    call = llm.calls[1]
    assert (call.prompt_tokens, call.completion_tokens, call.cost_usd) == (3, 1, 0.0)


async def test_a_call_that_no_rule_fits_is_a_typed_error(script, prompt):
    llm = Gateway(open_model(f"scripted/{script}", ModelOptions())).bind("q1")
    with pytest.raises(ModelError, match=r"role 'answer' that ends in 'What is wet\?'") as problem:
        await llm.call("answer", prompt("What is wet?"))
    assert (problem.value.reason, problem.value.retryable) == ("unavailable", False)


TOOLS = """\
{"contains": "42 paths", "reply": "done"}
{"reply": "Let me see.", "tool_calls": [{"name": "go", "arguments": {"hops": 1}}, {"name": "x", "arguments": "{"}]}
{"reply": "no tools"}
"""


async def test_a_rule_with_tool_calls_answers_what_offers_tools(tmp_path, prompt):
    script = tmp_path / "tools.jsonl"
    script.write_text(TOOLS)
    llm = Gateway(open_model(f"scripted/{script}", ModelOptions())).bind("q1")
    tools = (Tool("go", "Finds paths.", {"type": "object"}),)
    assert llm.takes_tools
    assert (await llm.call("act", prompt())).text == "no tools"
    reply = await llm.call("act", prompt(), tools=tools)
    assert reply.text == "Let me see."
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("go", {"hops": 1}), ("x", "{")]
    # three words, and the JSON of two calls without a space in it
    assert (reply.call.prompt_tokens, reply.call.completion_tokens, reply.call.cost_usd) == (3, 5, 0.0)
    results = [{"role": "tool", "tool_call_id": call.id, "content": "42 paths"} for call in reply.tool_calls]
    again = await llm.call("act", [*prompt(), reply.message, *results], tools=tools)
    assert (again.text, again.tool_calls) == ("done", ())
    more = await llm.call("act", [*prompt(), reply.message], tools=tools)
    assert len({call.id for call in (*reply.tool_calls, *more.tool_calls)}) == 4


@pytest.mark.parametrize(
    ("script", "setting", "takes"),
    [
        (TOOLS, {}, True),
        (JSONL, {}, False),
        (TOOLS, {"tools": False}, False),
        (JSONL, {"tools": True}, True),
    ],
)
def test_a_script_takes_tools_where_a_rule_calls_one_unless_told_otherwise(tmp_path, script, setting, takes):
    path = tmp_path / "s.jsonl"
    path.write_text(script)
    assert open_model(f"scripted/{path}", ModelOptions(), setting).takes_tools is takes


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s.jsonl", '{"reply": "a"}\n{"reply": 3}\n', "line 2: reply"),
        ("s.jsonl", '{"reply": "a"}\n{"reply"\n', "line 2: not valid JSON"),
        ("s.jsonl", '{"reply": "a", "rolle": "x"}\n', "line 1: rolle"),
        ("s.jsonl", '{"reply": []}\n', "line 1: reply: the list is empty"),
        ("s.jsonl", '{"reply": "a", "tool_calls": [{"arguments": {}}]}\n', "line 1: tool_calls"),
        ("s.jsonl", '{"tool_calls": []}\n', "line 1: reply or tool_calls"),
        ("s.jsonl", "\n\n", "holds no rule"),
        ("s.jsonl", "[1]\n", "line 1: rule"),
        ("s.yaml", "- reply: a\n- role: b\n", "line 2: reply"),
        ("s.yaml", "- reply: [a\n", "line 2: not valid YAML"),
        ("s.yaml", "reply: a\n", "list of rules"),
        ("s.yaml", "- !!python/object/apply:os.getcwd []\n", "line 1: not valid YAML"),
        ("s.yaml", "", "list of rules"),
    ],
)
def test_a_malformed_script_is_named_with_its_line(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message) as problem:
        open_model(f"scripted/{path}", ModelOptions())
    assert str(path) in str(problem.value)


def test_a_missing_script_is_named(tmp_path):
    with pytest.raises(DataNotFoundError, match=r"nothing\.jsonl"):
        open_model(f"scripted/{tmp_path}/nothing.jsonl", ModelOptions())
