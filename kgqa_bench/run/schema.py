"""The files of a run directory as versioned schemas.

run.json       what was asked, with which versions, and hashes of code, graph, split and prompts
records.jsonl  one row per question and repeat, appended when it is answered; the last row of a question counts
calls.jsonl    one row per model call, appended when its reply comes
metrics.json   scores, ledger and cost, written when the run ends or stops
"""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from kgqa_bench.domain import Derivation, Gold, Triple, TwinStratum

SCHEMA_VERSION = 1


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")
    schema_version: int = SCHEMA_VERSION


class Hashes(BaseModel):
    """What the results depend on besides the configuration."""

    code: str
    prompts: str
    split: str
    graph: str | None = None


class RunInfo(_File):
    """run.json."""

    created: str
    config: dict[str, Any]
    method_settings: dict[str, Any]
    model: str | None
    uses_gold: bool
    versions: dict[str, str]
    hashes: Hashes
    benchmark: dict[str, Any]
    graph: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _counted(self) -> Self:
        for name, value in (("repeats", self.config.get("repeats")), ("asked", self.benchmark.get("asked"))):
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {value!r}")
        return self


class CallSummary(BaseModel):
    """What a record says of each of its calls; the messages are in calls.jsonl."""

    role: str
    key: str
    parse: Literal["ok", "repaired", "failed"] | None = None


class DerivationRow(BaseModel):
    """How the primary hard answer of a built question follows, see ``kgqa_bench.domain.Derivation``."""

    model_config = ConfigDict(extra="forbid")
    rule: int
    rule_type: str
    rule_subtype: str | None
    removed: tuple[str, str, str, float]
    grounding: list[tuple[str, str, str, float]]
    hops: int
    twin: TwinStratum | None

    def derivation(self) -> Derivation:
        """The same as a value."""
        return Derivation(
            self.rule,
            self.rule_type,
            self.rule_subtype,
            Triple(*self.removed),
            tuple(Triple(*triple) for triple in self.grounding),
            self.hops,
            self.twin,
        )


class RecordRow(BaseModel):
    """One row of records.jsonl. ``at`` is seconds since the start of session number ``session``.

    The gold answer is stored whole, so that a run can be scored again from its directory alone. Rows of questions
    without hard answers leave out the three fields of these, and rows without groups those.
    """

    model_config = ConfigDict(extra="forbid")
    question_id: str
    repeat: int
    status: Literal["ok", "abstained", "closed_book", "parse_failed", "error"]
    predictions: list[tuple[str, float | None]] = Field(default_factory=list)
    raw: str = ""
    evidence: list[list[tuple[str, str, str, float]]] = Field(default_factory=list)
    gold: list[str]
    hard_answers: list[str] = Field(default_factory=list)
    primary: str | None = None
    derivation: DerivationRow | None = None
    groups: dict[str, str] = Field(default_factory=dict)
    score: float
    calls: list[CallSummary] = Field(default_factory=list)
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    cost_usd: float | None = None
    seconds: float = 0.0
    error: dict[str, str] | None = None
    trace: dict[str, Any] = Field(default_factory=dict)
    session: int = 0
    at: float = 0.0

    def whole_gold(self) -> Gold:
        """The gold answer with its hard answers, their derivation and its groups."""
        derivation = None if self.derivation is None else self.derivation.derivation()
        return Gold(tuple(self.gold), tuple(self.hard_answers), self.primary, derivation, self.groups)


class Ledger(BaseModel):
    """asked = scored + unscored by reason. ``statuses`` splits the scored ones."""

    asked: int
    scored: int
    unscored: dict[str, int] = Field(default_factory=dict)
    statuses: dict[str, int] = Field(default_factory=dict)


class Score(BaseModel):
    """One metric over all asked questions, with its signature."""

    name: str
    value: float
    low: float
    high: float
    n: int
    signature: str
    per_repeat: list[float] = Field(default_factory=list)


class Cost(BaseModel):
    """What the run took, all sessions together. None where it is not known."""

    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None
    usd: float | None
    wall_seconds: float
    calls_per_question: float
    tokens_per_question: float | None
    seconds_per_question: float


class Metrics(_File):
    """metrics.json."""

    ledger: Ledger
    scores: list[Score]
    cost: Cost
    complete: bool
    stopped: str | None = None
