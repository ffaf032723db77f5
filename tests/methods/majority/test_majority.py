from __future__ import annotations

from collections.abc import Callable

import pytest

from kgqa_bench import registry
from kgqa_bench.domain import Gold, Item, Option, Question
from kgqa_bench.errors import ConfigError
from kgqa_bench.toolbox import NO_MODEL, Toolbox

OPTIONS = (Option("A", "x"), Option("B", "y"), Option("C", "z"))
CHOICE = Question("c", "?", "choice", OPTIONS)
BOOLEAN = Question("b", "?", "boolean")


def solved(*answers: str) -> list[Item]:
    questions = (BOOLEAN if answer in ("true", "false") else CHOICE for answer in answers)
    return [Item(question, Gold((answer,))) for question, answer in zip(questions, answers, strict=True)]


def ranking(answer: object) -> list[str]:
    return [prediction.value for prediction in answer.predictions]  # type: ignore[attr-defined]


@pytest.fixture
def tools() -> Callable[..., Toolbox]:
    return lambda *answers: Toolbox(NO_MODEL, "0", load_exemplars=lambda: solved(*answers))


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (["C", "C", "B", "true"], ["C", "B", "A"]),
        (["B", "A", "false", "false", "false"], ["A", "B", "C"]),
        ([], ["A", "B", "C"]),
        (["D", "D", "C"], ["C", "A", "B"]),
    ],
)
async def test_the_most_frequent_letter(
    answers: list[str], expected: list[str], tools: Callable[..., Toolbox]
) -> None:
    assert ranking(await registry.create("methods", "majority").answer(CHOICE, tools(*answers))) == expected


async def test_the_most_frequent_truth_value(tools: Callable[..., Toolbox]) -> None:
    majority = registry.create("methods", "majority")
    assert ranking(await majority.answer(BOOLEAN, tools("false", "A", "A", "A"))) == ["false", "true"]


async def test_without_exemplars_there_is_no_majority() -> None:
    with pytest.raises(ConfigError, match="solved examples"):
        await registry.create("methods", "majority").answer(CHOICE, Toolbox(NO_MODEL, "0"))
