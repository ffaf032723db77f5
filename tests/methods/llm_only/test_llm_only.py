"""The rows without a graph: what is asked, how replies become answers, how votes are counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kgqa_bench import registry
from kgqa_bench.domain import Gold, Item, Option, Prediction, Question
from kgqa_bench.errors import ConfigError, ModelError
from kgqa_bench.text.choices import parse_answer
from kgqa_bench.toolbox import Toolbox

CHOICE = Question("c", "What melts ice?", "choice", (Option("A", "wind"), Option("B", "heat"), Option("C", "night")))
BOOLEAN = Question("b", "Ice floats.", "boolean")
ENTITIES = Question("e", "What is hot?", "entities")
Tools = Callable[..., Toolbox]


def method(name: str, **settings: Any) -> Any:
    return registry.create("methods", name, settings)


def solved(count: int, question: Question = CHOICE, answer: str = "A") -> list[Item]:
    return [
        Item(Question(f"s{number}", f"Solved {number}?", question.kind, question.options), Gold((answer,)))
        for number in range(count)
    ]


@pytest.mark.parametrize("name", ["zero-shot", "cot"])
async def test_one_call_with_the_question_its_options_and_the_form(name: str, scripted_tools: Tools) -> None:
    tools = scripted_tools("So it is.\nAnswer: B")
    answer = await method(name, temperature=0.2, max_tokens=99).answer(CHOICE, tools)
    assert answer.predictions == (Prediction("B"),)
    assert (answer.status, answer.raw) == ("ok", "So it is.\nAnswer: B")
    (call,) = tools.llm.calls
    (message,) = call.messages
    assert message["role"] == "user"
    for part in ("What melts ice?", "A) wind", "B) heat", "C) night", "Answer: X"):
        assert part in message["content"]
    assert call.settings == {"temperature": 0.2, "max_tokens": 99}
    assert call.parse == "ok"


async def test_the_papers_generation_settings_are_the_default(scripted_tools: Tools) -> None:
    for name in ("zero-shot", "few-shot", "cot", "self-consistency"):
        tools = scripted_tools("B", exemplars=solved(5))
        await method(name).answer(CHOICE, tools)
        assert all(call.settings == {"temperature": 0.5, "max_tokens": 1024} for call in tools.llm.calls)


async def test_only_chain_of_thought_asks_for_steps(scripted_tools: Tools) -> None:
    asked = {}
    for name in ("zero-shot", "cot", "self-consistency"):
        tools = scripted_tools("B")
        await method(name).answer(CHOICE, tools)
        asked[name] = tools.llm.calls[0].messages[0]["content"]
    assert "step by step" not in asked["zero-shot"]
    assert "step by step" in asked["cot"]
    assert asked["self-consistency"] == asked["cot"]


async def test_a_repaired_reading_is_recorded(scripted_tools: Tools) -> None:
    tools = scripted_tools("Ice is cold. What melts it must be heat.")
    answer = await method("zero-shot").answer(CHOICE, tools)
    assert answer.predictions == (Prediction("B"),)
    assert tools.llm.calls[0].parse == "repaired"


async def test_entity_questions_give_every_line(scripted_tools: Tools) -> None:
    answer = await method("zero-shot").answer(ENTITIES, scripted_tools("Answers:\nsun\nfire\nsun"))
    assert answer.predictions == (Prediction("sun"), Prediction("fire"))


# -- likelihood ----------------------------------------------------------------------------------------


async def test_likelihood_ranks_the_option_texts_given_the_bare_question(scripted_tools: Tools) -> None:
    tools = scripted_tools(scores={"wind": -2.0, "heat": -0.5, "night": -1.0})
    answer = await method("zero-shot", answer_by="likelihood").answer(CHOICE, tools)
    assert [prediction.value for prediction in answer.predictions] == ["B", "C", "A"]
    assert tools.trace["log_likelihoods"] == {"A": -2.0, "B": -0.5, "C": -1.0}
    assert "wind" not in tools.llm.calls[0].messages[0]["content"]


async def test_likelihood_of_truth_values_and_ties(scripted_tools: Tools) -> None:
    likelihood = method("zero-shot", answer_by="likelihood")
    answer = await likelihood.answer(BOOLEAN, scripted_tools(scores={"true": -3.0, "false": -1.0}))
    assert answer.predictions[0] == Prediction("false")
    twice = Question("t", "?", "choice", (Option("A", "wind"), Option("B", "wind")))
    answer = await likelihood.answer(twice, scripted_tools(scores={"wind": -1.0}))
    assert [prediction.value for prediction in answer.predictions] == ["A", "B"]


async def test_likelihood_has_no_way_to_answer_entity_questions(scripted_tools: Tools) -> None:
    with pytest.raises(ConfigError, match="answer_by=generate"):
        await method("zero-shot", answer_by="likelihood").answer(ENTITIES, scripted_tools(scores={}))


async def test_a_model_that_cannot_score_is_not_replaced_by_generation(scripted_tools: Tools) -> None:
    with pytest.raises(ModelError, match="cannot score"):
        await method("zero-shot", answer_by="likelihood").answer(CHOICE, scripted_tools("B"))


# -- few-shot ------------------------------------------------------------------------------------------


async def test_shots_are_turns_in_the_benchmarks_order(scripted_tools: Tools) -> None:
    tools = scripted_tools("B", exemplars=[*solved(1, BOOLEAN, "true"), *solved(4)])
    await method("few-shot", shots=3).answer(CHOICE, tools)
    messages = tools.llm.calls[0].messages
    assert [message["role"] for message in messages] == ["user", "assistant"] * 3 + ["user"]
    for number in range(3):
        assert f"Solved {number}?" in messages[2 * number]["content"]
        assert parse_answer(messages[2 * number + 1]["content"], CHOICE) == ("A", "ok")
    assert "What melts ice?" in messages[-1]["content"]


@pytest.mark.parametrize("exemplars", [[], solved(4), solved(9, BOOLEAN, "true")])
async def test_too_few_shots_of_the_kind_are_an_error(exemplars: list[Item], scripted_tools: Tools) -> None:
    with pytest.raises(ConfigError, match="5 solved choice questions"):
        await method("few-shot").answer(CHOICE, scripted_tools("B", exemplars=exemplars))


async def test_a_benchmark_without_exemplars_is_an_error(scripted_tools: Tools) -> None:
    with pytest.raises(ConfigError, match="solved examples"):
        await method("few-shot").answer(CHOICE, scripted_tools("B"))


# -- self-consistency ----------------------------------------------------------------------------------


async def test_the_majority_of_the_readable_samples_wins(scripted_tools: Tools) -> None:
    tools = scripted_tools("Answer: A", "no idea", "Answer: B", "Answer: B", "")
    answer = await method("self-consistency").answer(CHOICE, tools)
    # confidence is the share of all five samples
    assert answer.predictions == (Prediction("B", 0.4), Prediction("A", 0.2))
    assert answer.status == "ok"
    assert tools.trace["votes"] == {"A": 1, "B": 2}
    assert [call.sample for call in tools.llm.calls] == [0, 1, 2, 3, 4]
    assert [call.parse for call in tools.llm.calls] == ["ok", "failed", "ok", "ok", "failed"]


async def test_of_equal_votes_the_first_drawn_wins(scripted_tools: Tools) -> None:
    tools = scripted_tools("Answer: C", "Answer: A", "Answer: A", "Answer: C")
    answer = await method("self-consistency", samples=4).answer(CHOICE, tools)
    assert [prediction.value for prediction in answer.predictions] == ["C", "A"]


async def test_no_readable_sample_is_a_failed_parse(scripted_tools: Tools) -> None:
    answer = await method("self-consistency").answer(CHOICE, scripted_tools("no idea"))
    assert (answer.predictions, answer.status) == ((), "parse_failed")


async def test_samples_are_asked_at_the_same_time(scripted_tools: Tools) -> None:
    tools = scripted_tools("B")
    await method("self-consistency", samples=7).answer(CHOICE, tools)
    assert (len(tools.llm.calls), tools.llm.in_flight) == (7, 7)


async def test_a_failed_sample_is_raised_after_the_others_were_received(scripted_tools: Tools) -> None:
    tools = scripted_tools("Answer: A", ModelError("down", reason="timeout"), "Answer: B")
    with pytest.raises(ModelError, match="down"):
        await method("self-consistency", samples=3).answer(CHOICE, tools)
    assert [call.reply for call in tools.llm.calls] == ["Answer: A", None, "Answer: B"]


async def test_entities_named_by_half_of_the_readable_samples_are_kept(scripted_tools: Tools) -> None:
    tools = scripted_tools("Answers:\nsun\nfire", "Answers:\nfire\nlava", "Answers:\nsun\nfire", "")
    answer = await method("self-consistency", samples=4).answer(ENTITIES, tools)
    assert answer.predictions == (Prediction("fire", 0.75), Prediction("sun", 0.5))
    tools = scripted_tools("Answers:\nsun", "Answers:\nfire", "Answers:\nlava")
    answer = await method("self-consistency", samples=3).answer(ENTITIES, tools)
    assert [prediction.value for prediction in answer.predictions] == ["sun"]


async def test_truth_values_are_voted_on(scripted_tools: Tools) -> None:
    tools = scripted_tools("Answer: yes", "Answer: false", "Answer: true")
    answer = await method("self-consistency", samples=3).answer(BOOLEAN, tools)
    assert answer.predictions[0].value == "true"
