"""The multi-agent debate over an uncertain graph (section 4.2, Eq. 10 to 15)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from kgqa_bench.domain import Question
from kgqa_bench.llm.types import Llm, Message, Reply
from kgqa_bench.text.choices import parse_answers

from . import prompts
from .prompts import Action, Role
from .replies import agree, read_action
from .settings import DogSettings


class Facts(Protocol):
    """What the debate gets to know of the graph."""

    @property
    def text(self) -> str | None:
        """The subgraph at the present level as it is shown; None where nothing is to be shown."""
        ...

    @property
    def level(self) -> int | None:
        """The present K; None where no graph is used."""
        ...

    @property
    def can_expand(self) -> bool:
        """Whether there is a next level to go to."""
        ...

    async def expand(self) -> None:
        """Go to the next level."""
        ...


@dataclass(frozen=True, slots=True)
class Statement:
    """A reply that gives an answer, and the answers read from it; () where none could be read."""

    text: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Round:
    """One round: both statements, the level K they were made at, and what was decided after it."""

    proponent: Statement
    challenger: Statement
    level: int | None
    action: Action


@dataclass(frozen=True, slots=True)
class Verdict:
    """The final answers and where they come from.

    ``source`` is ``judge``; or, where the Judge's reply could not be read, ``debaters`` (both closing statements
    agree), ``proponent``, or ``none``; or ``single`` where there was no debate.
    """

    statement: Statement
    source: str


@dataclass(slots=True)
class Debate:
    """The debate about one question.

    Attributes:
        question: The question.
        llm: The model, which plays all agents.
        settings: The method's settings.
        rounds: The rounds held so far.
        unread: Replies that could not be read, by role.
        truncated: Replies cut at the token limit, by role.
    """

    question: Question
    llm: Llm
    settings: DogSettings
    rounds: list[Round] = field(default_factory=list)
    unread: Counter[str] = field(default_factory=Counter)
    truncated: Counter[str] = field(default_factory=Counter)

    async def hold(self, facts: Facts) -> Verdict:
        """Debate until the Decision-Making Agent stops it or r_max rounds are over, then have it judged.

        Three calls a round and one of the Judge. The decision after the last round has no effect, yet it is asked
        for: the paper counts 3 · r_max + 1 calls.
        """
        for number in range(self.settings.max_rounds):
            proponent, challenger = await self._exchange(facts, number)
            action = await self._decide(facts, proponent, challenger, number)
            self.rounds.append(Round(proponent, challenger, facts.level, action))
            if action == "stop":
                break
            if action == "expand" and number + 1 < self.settings.max_rounds:
                await facts.expand()
        return await self._judge()

    async def answer_alone(self, facts: Facts) -> Verdict:
        """One model's answer from the subgraph, without debate (Table 3)."""
        messages = prompts.single_answer(self.question, facts.text)
        return Verdict(await self._state("answer", messages), "single")

    def trace(self) -> dict[str, Any]:
        """JSON-able facts about the course of the debate."""
        return {
            "rounds": len(self.rounds),
            "levels": [held.level for held in self.rounds],
            "actions": [held.action for held in self.rounds],
            "answers": [
                {"proponent": list(held.proponent.answers), "challenger": list(held.challenger.answers)}
                for held in self.rounds
            ],
            "unread": dict(self.unread),
            "truncated": dict(self.truncated),
        }

    async def _exchange(self, facts: Facts, number: int) -> tuple[Statement, Statement]:
        """Both statements of a round. Each answers the round before, so they are asked for at the same time."""
        statements = await asyncio.gather(
            self._argue("proponent", facts.text, number),
            self._argue("challenger", None if self.settings.asymmetry else facts.text, number),
            return_exceptions=True,  # the other call is not left running, unattended, when one fails
        )
        proponent, challenger = statements
        if isinstance(proponent, BaseException):
            raise proponent
        if isinstance(challenger, BaseException):
            raise challenger
        return proponent, challenger

    async def _argue(self, role: Role, facts: str | None, number: int) -> Statement:
        own = [held.proponent if role == "proponent" else held.challenger for held in self.rounds]
        opponent = None
        if self.rounds:
            last = self.rounds[-1]
            opponent = (last.challenger if role == "proponent" else last.proponent).text
        messages = prompts.debater(role, self.question, facts, [statement.text for statement in own], opponent)
        return await self._state(role, messages, number)

    async def _decide(self, facts: Facts, proponent: Statement, challenger: Statement, number: int) -> Action:
        """The Decision-Making Agent's choice (Eq. 14)."""
        settings = self.settings
        # with K fixed or no graph it may only continue or stop (Table 4)
        expandable = facts.level is not None and len(settings.levels) > 1
        actions: tuple[Action, ...] = ("stop", "continue", "expand") if expandable else ("stop", "continue")
        structured = settings.structured_decision
        messages = prompts.decision(self.question, facts.text, proponent.text, challenger.text, actions, structured)
        reply = await self._call(
            "decision", messages, number, prompts.decision_schema(actions) if structured else None
        )
        action, outcome = read_action(reply.text)
        reply.parsed(outcome)
        if action is None:
            self.unread["decision"] += 1
            action = settings.on_unread_decision
        return settings.at_last_level if action == "expand" and not facts.can_expand else action

    async def _judge(self) -> Verdict:
        """The Judge's answer (Eq. 15); where it cannot be read, what the settings say."""
        proponent, challenger = self.rounds[-1].proponent, self.rounds[-1].challenger
        verdict = await self._state("judge", prompts.judge(self.question, proponent.text, challenger.text))
        if verdict.answers:
            return Verdict(verdict, "judge")
        if self.settings.on_unread_verdict == "fail" or not proponent.answers:
            return Verdict(verdict, "none")
        return Verdict(proponent, "debaters" if agree(proponent.answers, challenger.answers) else "proponent")

    async def _state(self, role: str, messages: Sequence[Message], number: int = 0) -> Statement:
        reply = await self._call(role, messages, number)
        answers, outcome = parse_answers(reply.text, self.question)
        reply.parsed(outcome)
        if not answers:
            self.unread[role] += 1
        return Statement(reply.text, answers)

    async def _call(
        self, role: str, messages: Sequence[Message], number: int, schema: Mapping[str, Any] | None = None
    ) -> Reply:
        reply = await self.llm.call(
            role,
            messages,
            temperature=self.settings.temperature,
            max_tokens=self.settings.max_tokens,
            schema=schema,
            sample=number,  # equal prompts in two rounds are two draws, not one kept reply
        )
        if reply.truncated:
            self.truncated[role] += 1
        return reply
