import asyncio
import json
import math
import time
from dataclasses import replace

import pytest

from kgqa_bench.contracts import ModelOptions
from kgqa_bench.errors import DataNotFoundError, ModelError
from kgqa_bench.llm.huggingface import HuggingFaceSettings, HuggingFaceSource
from kgqa_bench.llm.types import Request

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

MESSAGES = ({"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is hot?"})
REQUEST = Request("hf/tiny", MESSAGES, max_tokens=24)
PROMPT = "s:Be brief.</s>u:What is hot?</s>a:"


def _open(name, *, timeout=60.0, **settings):
    return HuggingFaceSource(HuggingFaceSettings(**settings)).open(str(name), ModelOptions(timeout=timeout))


@pytest.fixture
async def client(tiny_chat_model):
    client = _open(tiny_chat_model)
    yield client
    await client.close()


@pytest.fixture(scope="session")
def parts(tiny_chat_model):
    """Model and tokenizer themselves, for computing by hand."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    return AutoModelForCausalLM.from_pretrained(tiny_chat_model).eval(), AutoTokenizer.from_pretrained(
        tiny_chat_model
    )


def _greedy(parts, tokens):
    model, tokenizer = parts
    ids = tokenizer(PROMPT, add_special_tokens=False)["input_ids"]
    start = len(ids)
    with torch.inference_mode():
        for _ in range(tokens):
            ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
            if ids[-1] == tokenizer.eos_token_id:
                break
    return start, ids[start:]


async def test_greedy_text_and_counts_are_those_of_a_loop_by_hand(client, parts):
    start, tokens = _greedy(parts, 24)
    reply = await client.complete(REQUEST)
    assert reply.text == parts[1].decode(tokens, skip_special_tokens=True)
    assert (reply.prompt_tokens, reply.completion_tokens) == (start, len(tokens))
    assert reply.finish_reason == ("stop" if tokens[-1] == parts[1].eos_token_id else "length")
    assert reply.cost_usd == 0.0


async def test_the_end_token_ends_the_reply(tiny_chat_model, parts, tmp_path):
    """With the third greedy token declared the end token, the reply has three tokens."""
    third = _greedy(parts, 3)[1][2]
    folder = tmp_path / "ends"
    folder.mkdir()
    for file in tiny_chat_model.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    generation = json.loads((folder / "generation_config.json").read_text())
    (folder / "generation_config.json").write_text(json.dumps(generation | {"eos_token_id": [third]}))
    client = _open(folder)
    reply = await client.complete(REQUEST)
    await client.close()
    first = _greedy(parts, 3)[1].index(third)
    assert (reply.completion_tokens, reply.finish_reason) == (first + 1, "stop")


async def test_a_loaded_model_is_silent(client, capfd):
    await client.complete(REQUEST)
    capfd.readouterr()
    await client.complete(REQUEST)
    await client.complete(replace(REQUEST, temperature=0.5, top_p=0.9, seed=1))
    await client.log_likelihoods(MESSAGES, ["fire"])
    assert capfd.readouterr() == ("", "")


async def test_a_stop_string_cuts_the_reply(client):
    whole = (await client.complete(REQUEST)).text
    stop = whole[4:6]
    reply = await client.complete(replace(REQUEST, stop=("never in it", stop)))
    assert reply.text == whole[: whole.index(stop)]
    assert reply.finish_reason == "stop"
    assert reply.completion_tokens < 24


async def test_equal_seeds_draw_equal_replies_and_leave_the_global_generator_alone(client):
    sampled = replace(REQUEST, temperature=1.0, seed=5)
    first = await client.complete(sampled)
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    second, other = await asyncio.gather(client.complete(sampled), client.complete(replace(sampled, seed=6)))
    assert torch.equal(torch.rand(1), expected)
    assert first.text == second.text != other.text


async def test_sampling_is_plain_whatever_the_models_own_settings_say(tiny_chat_model, tmp_path):
    """A generation_config.json with top_k = 1 would make every draw greedy."""
    folder = tmp_path / "greedy"
    folder.mkdir()
    for file in tiny_chat_model.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    generation = json.loads((folder / "generation_config.json").read_text())
    (folder / "generation_config.json").write_text(
        json.dumps(generation | {"top_k": 1, "do_sample": True, "temperature": 0.01, "repetition_penalty": 9.0})
    )
    tuned, plain = _open(folder), _open(tiny_chat_model)
    for request in (REQUEST, replace(REQUEST, temperature=1.0, seed=3)):
        assert (await tuned.complete(request)).text == (await plain.complete(request)).text
    greedy = await tuned.complete(replace(REQUEST, temperature=1.0, seed=3, extra={"top_k": 1}))
    assert greedy.text == (await plain.complete(REQUEST)).text
    await tuned.close()
    await plain.close()


async def test_max_tokens_is_cut_to_the_context(client):
    room = 256 - len(PROMPT.replace("</s>", "$"))
    reply = await client.complete(replace(REQUEST, max_tokens=5000, temperature=1.5, seed=1))
    assert reply.completion_tokens <= room


async def test_a_prompt_longer_than_the_context_is_refused(client):
    with pytest.raises(ModelError, match="256") as problem:
        await client.complete(Request("hf/tiny", ({"role": "user", "content": "x" * 300},)))
    assert problem.value.reason == "refused"
    assert not problem.value.retryable


def _by_hand(parts, continuation):
    """Mean log-likelihood, one continuation at a time and one token at a time, without cache or padding."""
    model, tokenizer = parts
    ids = tokenizer(PROMPT, add_special_tokens=False)["input_ids"]
    tokens = tokenizer(continuation, add_special_tokens=False)["input_ids"]
    total = 0.0
    for token in tokens:
        with torch.inference_mode():
            logits = model(torch.tensor([ids])).logits[0, -1].double()
        total += float(logits[token] - torch.logsumexp(logits, dim=0))
        ids = [*ids, token]
    return total / len(tokens)


@pytest.mark.parametrize("batch", [1, 2, 8])
async def test_log_likelihoods_are_those_computed_by_hand(tiny_chat_model, parts, batch):
    continuations = ["fire", "x", "the sun at noon", "ice", "a rather long answer, much longer than all others"]
    client = _open(tiny_chat_model, batch=batch)
    scores = await client.log_likelihoods(MESSAGES, continuations)
    await client.close()
    assert scores == pytest.approx([_by_hand(parts, text) for text in continuations], abs=1e-5)
    assert all(math.isfinite(score) and score < 0 for score in scores)


async def test_what_has_no_likelihood_is_refused(client):
    assert await client.log_likelihoods(MESSAGES, []) == []
    with pytest.raises(ModelError, match="Continuation 1 is empty"):
        await client.log_likelihoods(MESSAGES, ["a", ""])
    with pytest.raises(ModelError, match="256"):
        await client.log_likelihoods(MESSAGES, ["a" * 300])


async def test_a_request_that_takes_too_long_is_given_up_and_the_next_one_answered(tiny_chat_model):
    client = _open(tiny_chat_model, timeout=2.0)
    slow = replace(REQUEST, max_tokens=200, temperature=2.0, seed=1, stop=("never",))
    generate = None

    def throttled(*args, **kwargs):
        kwargs["stopping_criteria"].append(lambda *_, **__: time.sleep(0.1) or torch.tensor([False]))
        return generate(*args, **kwargs)

    loaded = await client._worker.run(lambda loaded, stop: loaded)
    generate, loaded.model.generate = loaded.model.generate, throttled
    with pytest.raises(ModelError, match="more than 2 s") as problem:
        await client.complete(slow)
    assert problem.value.reason == "timeout"
    loaded.model.generate = generate
    assert (await client.complete(replace(REQUEST, max_tokens=2))).completion_tokens <= 2
    await client.close()


async def test_a_model_without_chat_template_is_refused(tiny_chat_model, tmp_path):
    folder = tmp_path / "base"
    folder.mkdir()
    for file in tiny_chat_model.iterdir():
        if file.name != "chat_template.jinja":
            (folder / file.name).write_bytes(file.read_bytes())
    client = _open(folder)
    with pytest.raises(ModelError, match="no chat template"):
        await client.complete(REQUEST)
    await client.close()


async def test_pickled_weights_are_not_loaded(tiny_chat_model, parts, tmp_path):
    folder = tmp_path / "pickled"
    folder.mkdir()
    for file in tiny_chat_model.iterdir():
        if file.suffix != ".safetensors":
            (folder / file.name).write_bytes(file.read_bytes())
    torch.save(parts[0].state_dict(), folder / "pytorch_model.bin")
    client = _open(folder)
    with pytest.raises(ModelError, match="cannot load") as problem:
        await client.complete(REQUEST)
    assert problem.value.reason == "unavailable"
    await client.close()


@pytest.mark.parametrize("name", ["./nowhere", "/nowhere/at/all", "nowhere.gguf"])
def test_a_path_where_nothing_is_is_reported_at_once(name):
    with pytest.raises(DataNotFoundError, match="nowhere"):
        _open(name)
