import pytest

from kgqa_bench.contracts import ModelOptions
from kgqa_bench.errors import DataError, DataNotFoundError, ModelError
from kgqa_bench.llm.gateway import Gateway
from kgqa_bench.llm.resolve import open_model

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


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s.jsonl", '{"reply": "a"}\n{"reply": 3}\n', "line 2: reply"),
        ("s.jsonl", '{"reply": "a"}\n{"reply"\n', "line 2: not valid JSON"),
        ("s.jsonl", '{"reply": "a", "rolle": "x"}\n', "line 1: rolle"),
        ("s.jsonl", '{"reply": []}\n', "line 1: reply: the list is empty"),
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
