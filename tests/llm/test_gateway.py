import asyncio
import dataclasses

import pytest

from kgqa_bench.domain import Call
from kgqa_bench.errors import BudgetExceededError, ConfigError, ModelError
from kgqa_bench.llm.budget import Budget
from kgqa_bench.llm.gateway import Gateway, Sampling
from kgqa_bench.llm.limits import Limits
from kgqa_bench.llm.replay import ReplayStore, own_key
from kgqa_bench.llm.types import Completion


def broken(reason="server_error", **options):
    return ModelError("no luck", reason=reason, retryable=True, **options)


def stored(*calls):
    store = ReplayStore()
    for call in calls:
        store.add(own_key("q1", 0, call.key), dataclasses.asdict(call))
    return store


async def test_a_call_is_recorded_with_all_that_it_took(client, prompt):
    client.outcomes = iter([Completion("Fire.", "stop", 12, 3, 0.5)])
    llm = Gateway(client, seed=3).bind("q1", 2)
    reply = await llm.call("answer", prompt(), temperature=0.5, max_tokens=9, stop=["\n"], sample=1)
    assert (reply.text, reply.truncated, reply.call) == ("Fire.", False, llm.calls[0])
    call = llm.calls[0]
    assert (call.role, call.messages, call.sample) == ("answer", prompt(), 1)
    assert (call.reply, call.finish_reason, call.prompt_tokens, call.completion_tokens) == ("Fire.", "stop", 12, 3)
    assert (call.cost_usd, call.attempts, call.error, call.parse) == (0.5, 1, None, None)
    assert call.settings["temperature"] == 0.5
    assert call.settings["max_tokens"] == 9
    assert call.settings["stop"] == ("\n",)
    assert call.settings["seed"] == client.requests[0].seed
    reply.parsed("repaired")
    assert call.parse == "repaired"


async def test_calls_stand_in_the_order_in_which_they_were_asked(client, prompt):
    client.delay = 0.001
    llm = Gateway(client).bind("q1")
    await asyncio.gather(*(llm.call("answer", prompt(), sample=number) for number in range(20)))
    assert [call.sample for call in llm.calls] == list(range(20))


async def test_the_runs_sampling_settings_override_the_methods(client, prompt):
    run = Sampling(temperature=0.0, max_tokens=5, top_p=0.9, extra={"top_k": 3})
    await Gateway(client, sampling=run).bind("q1").call("answer", prompt(), temperature=0.7, max_tokens=100)
    request = client.requests[0]
    assert (request.temperature, request.max_tokens, request.top_p, request.extra) == (0.0, 5, 0.9, {"top_k": 3})


async def test_defaults_where_neither_run_nor_method_says(client, prompt):
    await Gateway(client).bind("q1").call("answer", prompt())
    assert (client.requests[0].temperature, client.requests[0].max_tokens) == (0.0, 1024)


async def test_the_seed_depends_on_run_question_repeat_and_sample(client, prompt):
    for seed, question, repeat, sample in [
        (0, "a", 0, 0),
        (1, "a", 0, 0),
        (0, "b", 0, 0),
        (0, "a", 1, 0),
        (0, "a", 0, 1),
    ]:
        await Gateway(client, seed=seed).bind(question, repeat).call("answer", prompt(), sample=sample)
    seeds = [request.seed for request in client.requests]
    assert len(set(seeds)) == 5
    assert all(0 <= seed < 2**31 for seed in seeds)
    await Gateway(client, seed=0).bind("a", 0).call("answer", prompt())
    assert client.requests[-1].seed == seeds[0]


async def test_lone_surrogates_are_replaced_before_they_reach_key_and_client(client, prompt):
    llm = Gateway(client).bind("q1")
    await llm.call("answer", prompt("broken \ud83d label \U0001f600"))
    assert client.requests[0].messages[0]["content"] == "broken \ufffd label \U0001f600"
    assert llm.calls[0].messages[0]["content"] == "broken \ufffd label \U0001f600"
    assert llm.calls[0].key


# -- thinking ----------------------------------------------------------------------------------------------


async def test_thinking_is_taken_out_of_the_reply_and_kept(client, prompt):
    client.outcomes = iter([Completion("<think>hm</think>\n\nFire", "stop")])
    llm = Gateway(client).bind("q1")
    reply = await llm.call("answer", prompt())
    assert (reply.text, reply.truncated, llm.calls[0].thinking) == ("Fire", False, "hm")


async def test_a_thinking_block_cut_at_the_limit_is_an_empty_truncated_reply(client, prompt):
    client.outcomes = iter([Completion("<think>the answer is A or", None)])
    llm = Gateway(client).bind("q1")
    reply = await llm.call("answer", prompt())
    assert (reply.text, reply.truncated) == ("", True)
    assert llm.calls[0].thinking == "the answer is A or"


async def test_reasoning_without_content_is_an_empty_truncated_reply(client, prompt):
    client.outcomes = iter([Completion("", "stop", reasoning="long thoughts")])
    reply = await Gateway(client).bind("q1").call("answer", prompt())
    assert (reply.text, reply.truncated, reply.call.thinking) == ("", True, "long thoughts")


async def test_a_reply_cut_at_the_limit_is_truncated(client, prompt):
    client.outcomes = iter([Completion("Fire is", "length")])
    assert (await Gateway(client).bind("q1").call("answer", prompt())).truncated


# -- retries -----------------------------------------------------------------------------------------------


async def test_attempts_are_counted_and_one_call_recorded(client, prompt, impatient):
    client.outcomes = iter([broken(), broken("timeout")])
    gateway = Gateway(client, retry=impatient)
    llm = gateway.bind("q1")
    reply = await llm.call("answer", prompt())
    assert (reply.text, reply.call.attempts, len(llm.calls)) == ("reply 3", 3, 1)
    assert gateway.usage.calls == 1


async def test_retries_are_bounded_and_the_last_failure_is_raised_and_recorded(client, prompt, impatient):
    client.outcomes = iter([broken(), broken(), broken("timeout"), broken()])
    ended = []
    gateway = Gateway(client, retry=impatient, on_call=lambda llm, call: ended.append((llm.question_id, call)))
    llm = gateway.bind("q1")
    with pytest.raises(ModelError) as problem:
        await llm.call("answer", prompt())
    assert problem.value.reason == "timeout"
    assert len(client.requests) == 3
    assert ended == [("q1", llm.calls[0])]
    assert (llm.calls[0].error, llm.calls[0].attempts, llm.calls[0].reply) == ("timeout: no luck", 3, None)


async def test_a_failure_that_no_retry_mends_is_raised_at_once(client, prompt, impatient):
    client.outcomes = iter([ModelError("wrong key", reason="refused")])
    with pytest.raises(ModelError, match="wrong key"):
        await Gateway(client, retry=impatient).bind("q1").call("answer", prompt())
    assert len(client.requests) == 1


async def test_a_second_failure_that_no_retry_mends_ends_the_retries(client, prompt, impatient):
    client.outcomes = iter([broken(), ModelError("wrong key", reason="refused"), broken()])
    with pytest.raises(ModelError, match="wrong key"):
        await Gateway(client, retry=impatient).bind("q1").call("answer", prompt())
    assert len(client.requests) == 2


async def test_a_defect_in_a_client_is_not_retried(client, prompt, impatient):
    async def complete(request):
        client.requests.append(request)
        raise ZeroDivisionError

    client.complete = complete
    with pytest.raises(ZeroDivisionError):
        await Gateway(client, retry=impatient).bind("q1").call("answer", prompt())
    assert len(client.requests) == 1


async def test_a_cancelled_call_is_recorded_as_such_and_frees_its_slot(client, prompt):
    client.delay = 30
    gateway = Gateway(client, limits=Limits(concurrency=1))
    llm = gateway.bind("q1")
    task = asyncio.create_task(llm.call("answer", prompt()))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert llm.calls[0].error == "cancelled"
    client.delay = 0
    assert (await gateway.bind("q2").call("answer", prompt())).text


# -- budget ------------------------------------------------------------------------------------------------


async def test_the_budget_of_calls_stops_before_the_call_too_many_even_at_once(client, prompt):
    client.delay = 0.001
    gateway = Gateway(client, budget=Budget(calls=3))
    llm = gateway.bind("q1")
    results = await asyncio.gather(
        *(llm.call("answer", prompt(), sample=number) for number in range(8)), return_exceptions=True
    )
    assert [isinstance(result, BudgetExceededError) for result in results] == [False] * 3 + [True] * 5
    assert (len(client.requests), len(llm.calls), gateway.usage.calls) == (3, 3, 3)


async def test_the_budget_of_tokens_stops_as_soon_as_it_is_used_up(client, prompt):
    llm = Gateway(client, budget=Budget(tokens=31)).bind("q1")  # 15 a call
    for number in range(3):
        await llm.call("answer", prompt(), sample=number)
    with pytest.raises(BudgetExceededError, match="45 of 31 tokens"):
        await llm.call("answer", prompt(), sample=3)
    assert len(client.requests) == 3


async def test_the_budget_of_money_stops_as_soon_as_it_is_used_up(client, prompt):
    client.price_known = True
    llm = Gateway(client, budget=Budget(usd=0.5)).bind("q1")  # 0.25 a call
    await llm.call("answer", prompt())
    await llm.call("answer", prompt(), sample=1)
    with pytest.raises(BudgetExceededError, match=r"\$0.5000 of \$0.5000"):
        await llm.call("answer", prompt(), sample=2)


def test_a_budget_of_money_needs_a_known_price(client):
    with pytest.raises(ConfigError, match="price of 'fake' is unknown"):
        Gateway(client, budget=Budget(usd=1.0))


async def test_a_reply_without_price_ends_a_run_with_a_budget_of_money(client, prompt):
    client.price_known = True
    client.outcomes = iter([Completion("Fire", "stop", 1, 1, None)])
    llm = Gateway(client, budget=Budget(usd=1.0)).bind("q1")
    assert (await llm.call("answer", prompt())).text == "Fire"
    with pytest.raises(BudgetExceededError, match="without a price"):
        await llm.call("answer", prompt(), sample=1)


async def test_an_unknown_price_makes_the_total_unknown_not_smaller(client, prompt):
    client.outcomes = iter([Completion("a", "stop", 1, 1, 0.25), Completion("b", "stop", 1, 1, None)])
    gateway = Gateway(client)
    llm = gateway.bind("q1")
    await llm.call("answer", prompt())
    assert gateway.usage.cost_usd == 0.25
    await llm.call("answer", prompt(), sample=1)
    assert gateway.usage.cost_usd is None


@pytest.mark.parametrize("budget", [{"usd": -1}, {"tokens": -1}, {"calls": -5}, {"usd": float("nan")}])
def test_a_senseless_budget_is_refused(budget):
    with pytest.raises(ConfigError):
        Budget(**budget)


# -- replay ------------------------------------------------------------------------------------------------


async def test_stored_calls_are_served_and_nothing_is_asked_or_counted_twice(client, prompt):
    client.outcomes = iter([Completion("<think>hm</think>Fire", "length", 12, 3, 0.5)])
    first = Gateway(client, seed=1).bind("q1")
    before = await first.call("answer", prompt(), temperature=0.5)
    fresh = []
    gateway = Gateway(client, seed=1, replay=stored(*first.calls), on_call=lambda llm, call: fresh.append(call))
    llm = gateway.bind("q1")
    after = await llm.call("answer", prompt(), temperature=0.5)
    assert after == before
    assert (len(client.requests), fresh) == (1, [])
    usage = gateway.usage
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.cost_usd) == (1, 12, 3, 0.5)
    await llm.call("answer", prompt(), temperature=0.6)
    assert (len(client.requests), len(fresh), gateway.usage.calls) == (2, 1, 2)


async def test_what_the_earlier_part_used_counts_in_the_budget(client, prompt):
    first = Gateway(client).bind("q1")
    for number in range(2):
        await first.call("answer", prompt(), sample=number)
    llm = Gateway(client, budget=Budget(calls=3), replay=stored(*first.calls)).bind("q1")
    for number in range(3):
        await llm.call("answer", prompt(), sample=number)
    with pytest.raises(BudgetExceededError):
        await llm.call("answer", prompt(), sample=3)


async def test_failed_calls_are_counted_but_asked_again(client, prompt):
    failed = Call("answer", prompt(), {}, key="k", error="timeout: no luck")
    store = stored(failed)
    gateway = Gateway(client, replay=store)
    assert gateway.usage.calls == 1
    assert store.get("k") is None


async def test_equal_calls_of_one_question_are_replayed_in_their_order(client, prompt):
    first = Gateway(client).bind("q1")
    texts = [(await first.call("answer", prompt())).text for _ in range(3)]
    assert texts == ["reply 1", "reply 2", "reply 3"]
    llm = Gateway(client, replay=stored(*first.calls[:2])).bind("q1")
    assert [(await llm.call("answer", prompt())).text for _ in range(3)] == ["reply 1", "reply 2", "reply 4"]


async def test_another_question_or_repeat_is_not_served_the_same_reply(client, prompt):
    first = Gateway(client).bind("q1", 0)
    await first.call("answer", prompt(), temperature=1.0)
    gateway = Gateway(client, replay=stored(*first.calls))
    for question, repeat in [("q1", 1), ("q2", 0)]:
        assert (await gateway.bind(question, repeat).call("answer", prompt(), temperature=1.0)).text != "reply 1"


# -- likelihoods -------------------------------------------------------------------------------------------


async def test_likelihoods_are_recorded_and_replayed(scoring_client, prompt):
    llm = Gateway(scoring_client).bind("q1")
    assert await llm.log_likelihoods("score", prompt(), ["ab", "c"]) == [-2.0, -1.0]
    assert llm.calls[0].settings == {"continuations": ["ab", "c"]}
    again = Gateway(scoring_client, replay=stored(*llm.calls)).bind("q1")
    assert await again.log_likelihoods("score", prompt(), ["ab", "c"]) == [-2.0, -1.0]
    assert scoring_client.running == 1


async def test_likelihoods_of_another_repeat_or_question_are_asked(scoring_client, prompt):
    llm = Gateway(scoring_client).bind("q1")
    await llm.log_likelihoods("score", prompt(), ["ab", "c"])
    gateway = Gateway(scoring_client, replay=stored(*llm.calls))
    for question_id, repeat in (("q1", 1), ("q2", 0)):
        await gateway.bind(question_id, repeat).log_likelihoods("score", prompt(), ["ab", "c"])
    assert gateway.usage.calls == 3  # what an uninterrupted run counts


async def test_a_model_that_cannot_score_says_so(client, prompt):
    with pytest.raises(ModelError, match="cannot score") as problem:
        await Gateway(client).bind("q1").log_likelihoods("score", prompt(), ["a"])
    assert problem.value.reason == "unavailable"


async def test_close_closes_the_client(client):
    await Gateway(client).close()
    assert client.closed
