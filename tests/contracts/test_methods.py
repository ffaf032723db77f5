"""The contract of methods, over every registered one; and the tripwire that no method can reach the gold answer."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

from kgqa_bench import registry
from kgqa_bench.contracts import Method
from kgqa_bench.domain import Answer, Call, Gold, Item, Option, Prediction, Question
from kgqa_bench.errors import ModelError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.llm.types import Message, Reply
from kgqa_bench.toolbox import NO_MODEL, Toolbox

ROWS = [
    ("sun", "causes", "heat", 0.9), ("heat", "causes", "melting", 0.9), ("ice", "capable_of", "melting", 0.8),
    ("sun", "is_a", "star", 1.0), ("shadow", "part_of", "night", 0.5), ("wind", "causes", "cold", 0.7),
    ("cold", "causes", "ice", 0.9), ("heat", "related_to", "ice", 0.6), ("moon", "is_a", "stone", 0.4),
]  # fmt: skip
QUESTIONS = [
    Question(
        "c", "What makes ice melt?", "choice",
        (Option("A", "wind"), Option("B", "heat"), Option("C", "shadow"), Option("D", "moon")),
    ),
    Question("b", "The sun causes heat.", "boolean"),
    Question("e", "What does the sun cause?", "entities", (), ("sun",)),
    Question("none", "Why?", "choice", (Option("A", "because"), Option("B", "therefore"))),
]  # fmt: skip
SOLVED = [
    Item(Question(f"s{number}{kind}", f"Solved {number}?", kind, options), Gold((answer,)))
    for number in range(6)
    for kind, options, answer in (
        ("choice", (Option("A", "cold"), Option("B", "heat")), "A" if number % 3 else "B"),
        ("boolean", (), "true"),
        ("entities", (), f"name {number}"),
    )
]
GOOD = {"choice": "It is hot.\nAnswer: B", "boolean": "So it is.\nAnswer: true", "entities": "Answers:\nheat\nlight"}
EXPECTED = {"choice": "B", "boolean": "true", "entities": "heat"}
UNREADABLE = ["", "   \n", "I do not know what to say about that, sorry", "<<>>", "A or B, true or false?"]

METHODS = registry.names("methods")
each_method = pytest.mark.parametrize("name", METHODS)


class FakeLlm:
    """Answers every call with ``reply``, one turn of the loop later."""

    takes_tools = False

    def __init__(self, reply: Callable[[Sequence[Message]], str]) -> None:
        self.reply = reply
        self.calls: list[Call] = []

    async def call(self, role: str, messages: Sequence[Message], *, sample: int = 0, **settings: Any) -> Reply:
        call = Call(role, [dict(message) for message in messages], settings, sample)
        self.calls.append(call)
        await asyncio.sleep(0)
        call.reply = self.reply(messages)
        return Reply(call.reply, False, call)

    async def log_likelihoods(self, role: str, messages: Sequence[Message], texts: Sequence[str]) -> list[float]:
        return [-float(len(text)) for text in texts]


class WordLinker:
    """Links every word that is an entity's label."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def link(self, question: Question) -> tuple[int, ...]:
        words = [*question.topic_entities, *question.text.lower().rstrip("?.").split()]
        found = (self.graph.find_entity(word) for word in words)
        return tuple(dict.fromkeys(entity for entity in found if entity is not None))


class HashEmbedder:
    """Sums of fixed vectors of words."""

    name, dimension = "hash", 16

    def encode(self, texts: Sequence[str]) -> Any:
        rows = [np.sum([self._word(word) for word in [*text.split(), "."]], axis=0) for text in texts]
        return np.array([row / np.linalg.norm(row) for row in rows], np.float32).reshape(len(texts), self.dimension)

    @staticmethod
    def _word(word: str) -> Any:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
        return np.random.default_rng(seed).normal(size=16)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return build_graph(*map(list, zip(*ROWS, strict=True)), source="contract")


@pytest.fixture
def tools(graph: Graph) -> Callable[..., Toolbox]:
    linker, embedder = WordLinker(graph), HashEmbedder()

    def make(method: Method, question: Question, reply: str | Callable[[Sequence[Message]], str] = "") -> Toolbox:
        answer = reply if callable(reply) else lambda messages: reply
        return Toolbox(
            llm=FakeLlm(answer) if method.uses_model else NO_MODEL,
            seed=f"0/{question.id}/0",
            load_graph=(lambda: graph) if method.uses_graph else None,
            load_embedder=lambda: embedder,
            load_linker=(lambda: linker) if method.uses_graph else None,
            load_exemplars=lambda: SOLVED,
        )

    return make


def create(name: str) -> Method:
    method: Method = registry.create("methods", name)
    return method


def asked(method: Method) -> list[Question]:
    return [question for question in QUESTIONS if question.kind in method.kinds]


def check(answer: Answer, question: Question) -> None:
    assert isinstance(answer, Answer)
    values = [prediction.value for prediction in answer.predictions]
    assert len(set(values)) == len(values)
    assert all(value in question.values if question.values else value.strip() for value in values)
    assert all(p.confidence is None or 0 <= p.confidence <= 1 for p in answer.predictions)
    assert answer.status in ("ok", "abstained", "closed_book", "parse_failed")
    assert bool(values) == (answer.status in ("ok", "closed_book"))
    assert isinstance(answer.raw, str)
    assert all(0 < triple.confidence <= 1 for path in answer.evidence for triple in path)


@each_method
def test_declarations(name: str) -> None:
    method = registry.load("methods", name)
    assert (method.__doc__ or "").strip()
    assert method.kinds and method.kinds <= {"choice", "boolean", "entities"}
    assert isinstance(method.prompts, Mapping)
    assert bool(method.prompts) == method.uses_model
    assert all(isinstance(text, str) and text.strip() for text in method.prompts.values())
    assert method.Settings() == create(name).settings
    assert all(field.description for field in method.Settings.model_fields.values())


@each_method
async def test_a_readable_reply_is_the_answer(name: str, tools: Callable[..., Toolbox]) -> None:
    method = create(name)
    for question in asked(method):
        answer = await method.answer(question, tools(method, question, GOOD[question.kind]))
        check(answer, question)
        if method.uses_model:
            assert answer.predictions[0].value == EXPECTED[question.kind]


@each_method
@pytest.mark.parametrize("reply", UNREADABLE)
async def test_an_unreadable_reply_is_said_to_be_so(name: str, reply: str, tools: Callable[..., Toolbox]) -> None:
    method = create(name)
    for question in asked(method):
        if question.kind == "entities" and reply.strip():
            continue  # any line may be a name
        toolbox = tools(method, question, reply)
        answer = await method.answer(question, toolbox)
        check(answer, question)
        if method.uses_model:
            assert answer.status == "parse_failed"
            assert {call.parse for call in toolbox.llm.calls} <= {"failed"}


@each_method
async def test_every_call_says_how_its_reply_was_read(name: str, tools: Callable[..., Toolbox]) -> None:
    method = create(name)
    for question in asked(method) if method.uses_model else ():
        toolbox = tools(method, question, GOOD[question.kind])
        await method.answer(question, toolbox)
        assert toolbox.llm.calls
        assert all(call.parse is not None for call in toolbox.llm.calls)


@each_method
async def test_no_state_between_questions(name: str, tools: Callable[..., Toolbox]) -> None:
    """The same answers and prompts alone, after others, and among others at the same time."""

    async def ask(method: Method, question: Question) -> tuple[Answer, Any]:
        toolbox = tools(method, question, lambda messages: GOOD[question.kind])
        answer = await method.answer(question, toolbox)
        return answer, [(call.role, call.messages) for call in getattr(toolbox.llm, "calls", ())]

    shared = create(name)
    before = dict(vars(shared))
    questions = asked(shared) * 3
    alone = [await ask(create(name), question) for question in questions]
    assert [await ask(shared, question) for question in questions] == alone
    assert await asyncio.gather(*(ask(shared, question) for question in questions)) == alone
    assert vars(shared) == before


@each_method
async def test_a_models_failure_is_left_to_the_runner(name: str, tools: Callable[..., Toolbox]) -> None:
    def fail(messages: Sequence[Message]) -> str:
        raise ModelError("down", reason="server_error")

    method = create(name)
    for question in asked(method) if method.uses_model else ():
        with pytest.raises(ModelError):
            await method.answer(question, tools(method, question, fail))


# -- the tripwire --------------------------------------------------------------------------------------


class Secret(str):
    """A gold answer that can be told from every equal string."""

    __slots__ = ()


def leads_to_gold(*roots: Any) -> bool:
    """Whether a chain of references leads from ``roots`` to a ``Secret``; modules and classes are not entered."""
    seen: set[int] = set()
    stack: list[Any] = list(roots)
    while stack:
        value = stack.pop()
        if isinstance(value, Secret):
            return True
        if id(value) in seen or isinstance(value, ModuleType | type):
            continue
        seen.add(id(value))
        stack += _referents(value)
    return False


def _referents(value: Any) -> Iterator[Any]:
    if isinstance(value, FunctionType):  # not its globals
        yield from (cell.cell_contents for cell in value.__closure__ or () if _is_filled(cell))
        yield from (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
    else:
        yield from (each for each in gc.get_referents(value) if not (isinstance(each, dict) and "__name__" in each))


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def gold_item(question: Question) -> Item:
    return Item(question, Gold((Secret(EXPECTED[question.kind]),)))


async def trips(method: Method, item: Item, toolbox: Toolbox) -> bool:
    """Whether gold can be reached from what the method holds and gets, before or after it answers."""
    if leads_to_gold(method, item.question, toolbox):
        return True
    answer = await method.answer(item.question, toolbox)
    return leads_to_gold(method, item.question, toolbox, answer)


@each_method
async def test_no_method_can_reach_the_gold_answer(name: str, tools: Callable[..., Toolbox]) -> None:
    method = create(name)
    for question in asked(method):
        item = gold_item(question)
        toolbox = tools(method, question, GOOD[question.kind])
        if method.uses_gold:
            toolbox.gold = item.gold
        assert await trips(method, item, toolbox) is method.uses_gold


class Cheat(Method):
    """Knows the items: through its settings, a closure, or what it kept from an earlier question."""

    def __init__(self, way: str, items: Sequence[Item]) -> None:
        super().__init__()
        if way == "attribute":
            self.known = {item.question.id: item.gold for item in items}
        elif way == "closure":
            self.look_up = lambda question: next(item.gold for item in items if item.question.id == question.id)
        self.late = list(items) if way == "late" else None

    async def answer(self, question: Question, tools: Toolbox) -> Answer:
        if vars(self).get("late"):
            tools.trace["note"] = self.late
        return Answer((Prediction("B"),))


@pytest.mark.parametrize("way", ["attribute", "closure", "late"])
async def test_a_method_that_knows_the_answers_is_caught(way: str, tools: Callable[..., Toolbox]) -> None:
    item = gold_item(QUESTIONS[0])
    method = Cheat(way, [item])
    assert await trips(method, item, tools(method, item.question, ""))
    assert not await trips(Cheat("not at all", [item]), item, tools(method, item.question, ""))


class Traitor(Question):
    """A question that carries its answer."""

    gold: Gold


async def test_a_toolbox_or_a_question_that_leaks_is_caught(tools: Callable[..., Toolbox]) -> None:
    method, item = Cheat("not at all", []), gold_item(QUESTIONS[0])
    leaking = dataclasses.replace(tools(method, item.question), load_exemplars=lambda: [item])
    assert await trips(method, item, leaking)
    question = Traitor(*dataclasses.astuple(item.question))
    object.__setattr__(question, "gold", item.gold)
    assert await trips(method, Item(question, item.gold), tools(method, question))
