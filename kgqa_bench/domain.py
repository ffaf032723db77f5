"""Questions, gold answers, answers and records: plain values, no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

QuestionKind = Literal["choice", "boolean", "entities"]
AnswerStatus = Literal["ok", "abstained", "closed_book", "parse_failed", "error"]
ParseOutcome = Literal["ok", "repaired", "failed"]

BOOLEAN_VALUES = ("true", "false")


class Triple(NamedTuple):
    """One statement by name, in stored direction; ``confidence`` in (0, 1]."""

    head: str
    relation: str
    tail: str
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Option:
    """One answer option: its letter and its text."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """What a method gets to see. Never holds the gold answer nor anything derived from it.

    Attributes:
        id: Unique within the benchmark.
        text: The question or stem, without the options.
        kind: ``choice`` (answer with an option label), ``boolean`` (``true`` / ``false``) or ``entities``.
        options: The options of a choice question, in benchmark order; empty otherwise.
        topic_entities: Entity names given by the benchmark, if it gives any.
    """

    id: str
    text: str
    kind: QuestionKind
    options: tuple[Option, ...] = ()
    topic_entities: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[str, ...]:
        """The answers allowed: option labels, truth values, or () where any entity may be the answer."""
        if self.kind == "boolean":
            return BOOLEAN_VALUES
        return tuple(option.label for option in self.options)


TwinStratum = Literal["symmetric", "inverse", "other reverse", "none"]


@dataclass(frozen=True, slots=True)
class Derivation:
    """How the primary hard answer of a built question follows although its direct triple was removed.

    Attributes:
        rule: Number of the rule in the benchmark's rules.tsv.
        rule_type: Its type, see ``kgqa_bench.horn.rule``.
        rule_subtype: The part of the type *other* it belongs to, else None.
        removed: The removed triple.
        grounding: The body triples in the rule's order, all still in the graph.
        hops: Triples on the shortest way from head to tail of the removed triple within the grounding.
        twin: What is left between tail and head of the removed triple in the incomplete graph: the same relation
            (``symmetric``), one that a mined inversion rule turns into it (``inverse``), another one (``other
            reverse``), or nothing.
    """

    rule: int
    rule_type: str
    rule_subtype: str | None
    removed: Triple
    grounding: tuple[Triple, ...]
    hops: int
    twin: TwinStratum | None = None


@dataclass(frozen=True, slots=True)
class Gold:
    """The right answers: option labels, a truth value, or entity names. For the scorer only.

    Attributes:
        answers: All right answers.
        hard_answers: Those of them whose direct triple is not in the graph that methods get to see.
        primary: The hard answer that the question was made for.
        derivation: How ``primary`` follows, in built benchmarks.
        groups: What the benchmark says of the question that tables are split by, such as its type.
    """

    answers: tuple[str, ...]
    hard_answers: tuple[str, ...] = ()
    primary: str | None = None
    derivation: Derivation | None = None
    groups: Mapping[str, str] = field(default_factory=dict, hash=False)


class Item(NamedTuple):
    """A question with its gold answer, as benchmarks yield them."""

    question: Question
    gold: Gold


@dataclass(frozen=True, slots=True)
class Prediction:
    """One ranked answer: an option label, a truth value or an entity name; ``confidence`` in [0, 1] or None."""

    value: str
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a method returns.

    Attributes:
        predictions: Best first; empty where nothing was answered.
        raw: The reply text the answer was read from.
        status: ``ok``; ``abstained``; ``closed_book`` (answered without the graph although the method uses
            one); ``parse_failed`` (a reply came but no answer could be read); ``error``.
        evidence: The paths of triples that the answer rests on.
    """

    predictions: tuple[Prediction, ...] = ()
    raw: str = ""
    status: AnswerStatus = "ok"
    evidence: tuple[tuple[Triple, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that a model asks for.

    Attributes:
        id: Tells it from the other calls of its reply; the tool's result names it.
        name: The tool, as the model writes it.
        arguments: By name; the text as it came where that is no JSON object.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | str


@dataclass(slots=True)
class Call:
    """One model call of one question, as it is recorded."""

    role: str
    messages: list[dict[str, Any]]
    settings: dict[str, Any]
    sample: int = 0
    reply: str | None = None
    thinking: str | None = None
    finish_reason: str | None = None
    parse: ParseOutcome | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    seconds: float = 0.0
    attempts: int = 1
    key: str = ""
    error: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()


@dataclass(slots=True)
class Record:
    """One question of one repeat: answer, score and cost; enough to score again without a model.

    Attributes:
        score: The headline score of the answer.
        calls: Its model calls in order.
        seconds: From taking the question up to having its answer.
        error: Why no answer came, as (reason, message); None where one came.
        trace: What the method recorded about how it answered.
    """

    question_id: str
    repeat: int
    answer: Answer
    gold: Gold
    score: float
    calls: Sequence[Call] = ()
    seconds: float = 0.0
    error: tuple[str, str] | None = None
    trace: Mapping[str, Any] = field(default_factory=dict)
