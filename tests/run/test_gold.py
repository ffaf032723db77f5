"""No way leads from what a method is given to the gold answers, unless it declares itself an oracle."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import pytest

from kgqa_bench.contracts import BenchmarkData, Method
from kgqa_bench.domain import Answer, Gold, Item, Option, Prediction, Question
from kgqa_bench.llm.gateway import Gateway
from kgqa_bench.metrics.accuracy import Accuracy
from kgqa_bench.run.assemble import Plan
from kgqa_bench.run.config import RunConfig
from kgqa_bench.run.directory import RunDirectory
from kgqa_bench.run.resources import Resources
from kgqa_bench.run.runner import Runner
from kgqa_bench.toolbox import Toolbox


class SecretLabel(str):
    """A gold answer that can be told from every other string."""


def reachable(roots: list[Any]) -> Iterator[Any]:
    """Every object to which a chain of references leads; modules and classes lead everywhere and are left out."""
    seen: set[int] = set()
    stack = list(roots)
    while stack:
        value = stack.pop()
        if id(value) in seen or isinstance(value, ModuleType | type):
            continue
        seen.add(id(value))
        yield value
        if isinstance(value, FunctionType):
            stack += [cell.cell_contents for cell in value.__closure__ or ()] + list(value.__defaults__ or ())
        else:
            stack += [
                each for each in gc.get_referents(value) if not isinstance(each, dict) or "__name__" not in each
            ]


class Spy(Method):
    """Looks for gold wherever it can reach."""

    kinds = frozenset({"choice"})
    found: bool

    async def answer(self, question: Question, tools: Toolbox) -> Answer:
        self.found = any(isinstance(value, Gold | SecretLabel) for value in reachable([self, question, tools]))
        return Answer((Prediction("A"),))


class Oracle(Spy):
    """A spy that says so."""

    uses_gold = True


class Silent:
    """A model nobody asks."""

    model = "silent"

    async def close(self) -> None:
        """Nothing to close."""


class Quiet:
    """No progress shown."""

    def start(self, total: int, done: int) -> None: ...
    def record(self, record: object) -> None: ...
    def wait(self, seconds: float, reason: str) -> None: ...
    def finish(self) -> None: ...


@pytest.mark.parametrize(("method", "expected"), [(Spy, False), (Oracle, True)])
async def test_the_runner_hands_out_no_gold(tmp_path, method: type[Spy], expected: bool) -> None:
    options = (Option("A", "a"), Option("B", "b"))
    items = tuple(Item(Question(f"q{i}", "?", "choice", options), Gold((SecretLabel("B"),))) for i in range(3))
    config = RunConfig(method="spy", benchmark="b", concurrency=1)
    spy = method()
    plan = Plan(config, "spy", spy, "b", BenchmarkData(items), items, Resources(config, "b", lambda: ()))
    with RunDirectory(tmp_path) as directory:
        gateway = Gateway(Silent())
        runner = Runner(plan, gateway, directory, Accuracy(), Quiet())
        await runner.run((item, 0) for item in items)
    assert spy.found is expected
