import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from kgqa_bench.benchmarks.incomplete.llm_wording import (
    Worded,
    WordingRequest,
    open_gateway,
    template,
    word_all,
    word_questions,
)
from kgqa_bench.errors import ModelError
from kgqa_bench.llm.gateway import Gateway
from kgqa_bench.llm.replay import ReplayClient, ReplayStore
from kgqa_bench.llm.types import Completion, Request

AUNT = WordingRequest("0001", "aunt", "is the aunt of", "head", "72", ("7", "8"))
NIECE = WordingRequest("0002", "niece", "is the niece of", "tail", "5", ("72",))


class Client:
    """Words by a function of (request, attempt); compares rightly, by what the prompt shows."""

    def __init__(self, word: Any, compare: Any = None) -> None:
        self.model = "test/client"
        self.word = word
        self.compare = compare or (lambda prompt: right_letter(prompt))
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        if request.role == "word_question":
            return Completion(self.word(request.messages, request.sample))
        return Completion(json.dumps({"same_as": self.compare(request.messages[-1]["content"])}))

    async def close(self) -> None:
        pass


def right_letter(prompt: str) -> str:
    """Which of the two questions has its topic where the one asked about has it."""
    lines = dict(line.split(": ", 1) for line in prompt.split("\n") if ": " in line)
    ends_in_topic = lines["This one"].rstrip("?").split()[-1].isdigit()
    return next(letter for letter in "AB" if lines[letter].rstrip("?").split()[-1].isdigit() == ends_in_topic)


def worded(client: Any, *requests: WordingRequest, **kwargs: Any) -> tuple[list[Worded], dict[str, Any]]:
    return word_questions(requests, Gateway(client, **kwargs))


def question(text: str) -> str:
    return json.dumps({"question": text})


def test_accepted_questions_come_in_order_with_their_counts() -> None:
    def word(messages: Any, sample: int) -> str:
        return question(
            "Who are the aunts of 72?"
            if "___ is the aunt of 72" in messages[-1]["content"]
            else "Who is 5 a niece of?"
        )

    texts, counts = worded(Client(word), AUNT, NIECE)
    assert texts == [Worded("Who are the aunts of 72?", "llm"), Worded("Who is 5 a niece of?", "llm")]
    assert counts == {"llm": 2, "template": 0, "calls": 4, "rejected": {}}


def test_the_prompt_says_the_direction_and_hides_the_answers() -> None:
    client = Client(lambda messages, sample: question("Who are the aunts of 72?"))
    worded(client, AUNT)
    prompt = client.requests[0].messages[-1]["content"]
    assert "___ is the aunt of 72" in prompt
    assert template(AUNT) in prompt
    compare = client.requests[1].messages[-1]["content"]
    assert template(AUNT) in compare and template(AUNT, opposite=True) in compare
    assert not any(f" {answer} " in text or f'"{answer}"' in text for text in (prompt, compare) for answer in "78")


def test_rejected_questions_are_asked_for_again_with_the_reason() -> None:
    replies = ["no JSON", question("Is 7 the aunt of 72?"), question("Who is the aunt of 72?")]
    client = Client(lambda messages, sample: replies[sample])
    texts, counts = worded(client, AUNT)
    assert texts == [Worded("Who is the aunt of 72?", "llm")]
    assert counts == {"llm": 1, "template": 0, "calls": 4, "rejected": {"unreadable": 1, "yes or no": 1}}
    assert "was not JSON" in client.requests[1].messages[-1]["content"]
    assert client.requests[2].messages[-2]["content"] == replies[1]


def test_the_template_is_taken_after_the_last_attempt() -> None:
    replies = [
        question("Who is the aunt of 7?"),
        question("Who is 72 the aunt of?"),
        question("Is 7, the aunt of 72, 7?"),
    ]
    texts, counts = worded(Client(lambda messages, sample: replies[sample]), AUNT)
    assert texts == [Worded("Who is the aunt of 72?", "template")]
    assert counts == {
        "llm": 0,
        "template": 1,
        "calls": 3,
        "rejected": {"direction": 1, "no topic": 1, "yes or no": 1},
    }


def test_a_question_that_asks_the_other_way_by_the_second_call_is_rejected() -> None:
    def wrong(prompt: str) -> str:
        return "B" if right_letter(prompt) == "A" else "A"

    texts, counts = worded(Client(lambda messages, sample: question("Who is the aunt of 72?"), wrong), AUNT)
    assert texts == [Worded("Who is the aunt of 72?", "template")]
    assert counts["rejected"] == {"direction": 3}


def test_the_right_letter_is_not_always_the_same() -> None:
    letters = set()
    client = Client(
        lambda messages, sample: question(messages[-1]["content"].split("asks: ")[1].split("\n")[0]),
        lambda prompt: letters.add(right_letter(prompt)) or right_letter(prompt),
    )
    requests = [AUNT._replace(id=str(number)) for number in range(20)]
    assert worded(client, *requests)[1]["llm"] == 20
    assert letters == {"A", "B"}


def test_texts_do_not_depend_on_concurrency_or_other_questions() -> None:
    class Slow(Client):
        async def complete(self, request: Request) -> Completion:
            await asyncio.sleep(0.002 * (int(request.seed or 0) % 5))
            return await super().complete(request)

    def word(messages: Any, sample: int) -> str:
        topic = messages[1]["content"].split("is the aunt of ")[1].split("\n")[0]
        # every other topic gets a bad question first
        return question(f"Who is the aunt of {topic}?" if sample or int(topic) % 2 else "?")

    from kgqa_bench.llm.limits import Limits

    requests = [AUNT._replace(id=f"{number:03}", topic=str(100 + number)) for number in range(40)]
    results = [worded(Slow(word), *requests, limits=Limits(concurrency)) for concurrency in (1, 7, 40)]
    assert results[0] == results[1] == results[2]
    assert [text.text for text in results[0][0]] == [f"Who is the aunt of {100 + number}?" for number in range(40)]
    assert worded(Slow(word), requests[5])[0] == [results[0][0][5]]


def test_a_recorded_wording_is_replayed_without_its_model() -> None:
    replies = [question("Is it?"), question("Who are the aunts of 72?")]
    rows: list[dict[str, Any]] = []
    client = Client(lambda messages, sample: replies[sample])
    first = worded(client, AUNT, on_call=lambda llm, call: rows.append(asdict(call)), seed=3)
    store = ReplayStore()
    for row in rows:
        store.add(row["key"], row)
    replay = ReplayClient("test/client", store, Path("run"))
    assert worded(replay, AUNT, seed=3) == first
    assert len(rows) == first[1]["calls"] == 3


def test_a_scripted_model(tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    rules = [
        {"role": "compare_questions", "contains": "A: Who is the aunt of 72?", "reply": '{"same_as": "A"}'},
        {"role": "compare_questions", "contains": "B: Who is the aunt of 72?", "reply": '{"same_as": "B"}'},
        {"contains": "is the aunt of 72", "reply": ["Hm.", question("Which aunts does 72 have?")]},
        {"reply": question("Who is 5?")},
    ]
    script.write_text("".join(json.dumps(rule) + "\n" for rule in rules))
    texts, counts = word_questions([AUNT, NIECE], open_gateway(f"scripted/{script}"))
    assert texts == [Worded("Which aunts does 72 have?", "llm"), Worded("Who is 5 the niece of?", "template")]
    assert counts == {"llm": 1, "template": 1, "calls": 6, "rejected": {"relation lost": 3, "unreadable": 1}}


async def test_a_server(stub_server: Any) -> None:
    def reply(body: dict[str, Any]) -> str:
        prompt = body["messages"][-1]["content"]
        return (
            json.dumps({"same_as": right_letter(prompt)})
            if "Which of two" in prompt
            else question("Who is 72's aunt?")
        )

    stub_server.reply = reply
    stub_server.latency = 0.01
    gateway = open_gateway("any", base_url=stub_server.url)
    try:
        texts, counts = await word_all([AUNT._replace(id=str(number)) for number in range(30)], gateway)
    finally:
        await gateway.close()
    assert {text.wording for text in texts} == {"template"}  # 72 is not the last word: the second call says no
    assert counts["rejected"] == {"direction": 90}
    assert stub_server.max_in_flight > 1


def test_a_failed_call_costs_an_attempt_and_nothing_else() -> None:
    class Failing(Client):
        async def complete(self, request: Request) -> Completion:
            if request.sample < failures and "of 73" in request.messages[-1]["content"]:
                raise ModelError("no content", reason="bad_response")
            return await super().complete(request)

    def word(messages: Any, sample: int) -> str:
        return question("Who is the aunt of 73?" if "of 73" in messages[-1]["content"] else "Who is the aunt of 72?")

    requests = [AUNT._replace(id=str(number)) for number in range(20)] + [AUNT._replace(id="x", topic="73")]
    for failures, wording in ((2, "llm"), (3, "template")):
        texts, counts = worded(Failing(word), *requests)
        assert {text.wording for text in texts[:20]} == {"llm"}
        assert texts[20] == Worded("Who is the aunt of 73?", wording)
        assert counts["rejected"] == {"model error": failures}


def test_a_model_out_of_reach_ends_the_build() -> None:
    class Dead(Client):
        async def complete(self, request: Request) -> Completion:
            self.requests.append(request)
            raise ModelError("no such model", reason="refused")

    client = Dead(None)
    with pytest.raises(ModelError, match="No question could be worded: no such model"):
        worded(client, *(AUNT._replace(id=str(number)) for number in range(500)))
    assert len(client.requests) < 60


def test_progress_is_told() -> None:
    told: list[tuple[str, int, int]] = []
    client = Client(lambda messages, sample: question("Who is the aunt of 72?"))
    word_questions([AUNT, NIECE], Gateway(client), lambda *step: told.append(step))
    assert told == [("wording", 1, 2), ("wording", 2, 2)]
