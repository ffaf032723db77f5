"""One question's episode: the model acts until it synthesizes, gives up, or has used its steps."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from kgqa_bench.domain import Question
from kgqa_bench.graph.protocol import Path
from kgqa_bench.llm.types import Llm, Message, Reply
from kgqa_bench.text.choices import parse_answers

from .actions import Action, Explore, Refusal, Requested, Synthesize
from .environment import Environment, Observation, State
from .memory import Memory, Shown
from .open_actions import Done
from .prompts import PROMPTS, situation, synthesis, system
from .settings import GrAgentSettings
from .wire import ActionProtocol, action_schema, answers_schema, choose_protocol, read_answers

Ending = Literal["synthesized", "answered in words", "step limit", "nothing left to do", "unread"]


class Episode:
    """What happens between a question and its answer.

    Attributes:
        state: The present state.
        ending: How it ended.
        chosen: C', the reasoning paths answered from.
        answers: The answers read, best first; empty where there are none.
        raw: The reply that they were read from.
    """

    def __init__(
        self, question: Question, llm: Llm, environment: Environment, topics: Sequence[int], settings: GrAgentSettings
    ) -> None:
        self._question, self._llm, self._settings = question, llm, settings
        self._environment, self._topics = environment, topics
        self._memory = Memory(environment, settings.memory_tokens)
        self._protocol: ActionProtocol = choose_protocol(llm, settings)
        self._done = Done(environment)
        self._problems: Counter[str] = Counter()
        self._actions: list[str] = []
        self._hops: list[int] = []
        self._cut = 0
        self._steps = 0
        self.state: State = environment.start(topics)
        self.ending: Ending = "step limit"
        self.chosen: tuple[Path, ...] = ()
        self.answers: tuple[str, ...] = ()
        self.raw = ""

    async def run(self) -> None:
        """Act until the end. Model, graph and budget errors are left to the runner."""
        settings, unread = self._settings, 0
        last: list[Message] = []
        listed: set[str] = set()
        used = 0
        while self._steps < settings.max_steps:
            messages, shown = self._prompt(last, listed, used)
            schema = self._schema(shown)
            if schema is None:
                self.ending = "nothing left to do"
                break
            reply = await self._protocol.ask(self._llm, messages, settings, schema)
            self.raw = reply.text
            requested, outcome = self._protocol.read(reply)
            if not requested and self._answered_in_words(reply):
                return
            reply.parsed(outcome)
            if not requested:
                self._steps += 1
                unread += 1
                if unread == settings.max_unread:
                    self.ending = "unread"
                    return
                form = PROMPTS[f"act_unread_{self._protocol.name}"]
                last, listed, used = self._unread(reply, PROMPTS["act_unread"].format(form=form)), set(), 0
                continue
            unread = 0
            observations: list[str] = []
            listed = set()
            for each in requested:
                action, text, ids = await self._act(each)
                observations.append(text)
                listed |= ids
                if isinstance(action, Synthesize):
                    self.ending, self.chosen = "synthesized", action.reasoning_paths
                    await self._synthesize()
                    return
            last, used = self._protocol.exchange(reply, observations), sum(map(len, observations))
        if settings.at_limit == "synthesize":
            self.chosen = self.state.reasoning_paths
            await self._synthesize()

    def trace(self) -> dict[str, Any]:
        """JSON-able facts: how it ended, the actions and their problems, and the sizes of P, C, E and C'."""
        return {
            "protocol": self._protocol.name,
            "ending": self.ending,
            "steps": self._steps,
            "actions": self._actions,
            "hop_limits": self._hops,
            "problems": dict(self._problems),
            "capped": self._cut,
            "relation_paths": len(self.state.relation_paths),
            "reasoning_paths": len(self.state.reasoning_paths),
            "entities": len(self.state.entities),
            "chosen": len(self.chosen),
        }

    # -- turns -----------------------------------------------------------------------------------------

    def _prompt(self, last: Sequence[Message], listed: set[str], used: int) -> tuple[list[Message], Shown]:
        environment, settings = self._environment, self._settings
        topics = [environment.entity_text(topic) for topic in self._topics]
        memory, shown = self._memory.state(self.state, listed, used)
        messages: list[Message] = [
            {
                "role": "system",
                "content": system(settings.hop_limit, settings.inverse_steps, self._protocol.name),
            },
            {
                "role": "user",
                "content": situation(self._question, topics, memory, settings.max_steps - self._steps),
            },
            *last,
        ]
        return messages, shown

    def _schema(self, shown: Shown) -> dict[str, Any] | None:
        """The form of the next action; None where no action is open."""
        settings = self._settings
        if settings.offer == "all":
            return action_schema(settings.hop_limit)
        actions = self._done.open(self.state, shown)
        return actions.schema(self._question.text, settings.max_grounded) if any(actions) else None

    def _unread(self, reply: Reply, said: str) -> list[Message]:
        return [{"role": "assistant", "content": reply.text}, {"role": "user", "content": said}]

    async def _act(self, requested: Requested) -> tuple[Action | None, str, set[str]]:
        """Do one action: the action if it could be done, what is said about it, and the ids of paths named there."""
        if self._steps >= self._settings.max_steps:
            self._problems["beyond the step limit"] += 1
            return None, "Not done: no actions are left.", set()
        self._steps += 1
        try:
            action = self._environment.read(requested, self.state)
        except Refusal as refusal:
            self._problems[refusal.problem] += 1
            observation = Observation(str(refusal), problem=refusal.problem)
            return None, self._memory.observation(observation, self.state)[0], set()
        self._actions.append(requested.name)
        if isinstance(action, Explore):
            self._hops.append(action.hop_limit)
        # in a thread, so that other questions go on
        self.state, observation = await asyncio.to_thread(self._environment.step, self.state, action)
        self._done.add(action, observation)
        self._cut += observation.cut
        if not observation.new:
            self._problems["nothing new"] += 1
        text, listed = self._memory.observation(observation, self.state)
        return action, text, listed

    # -- answers ---------------------------------------------------------------------------------------

    def _answered_in_words(self, reply: Reply) -> bool:
        """Whether a reply without an action gives the answer in the form asked of every method."""
        answers, outcome = parse_answers(reply.text, self._question)
        if not answers or outcome != "ok":
            return False
        reply.parsed("repaired")
        self.ending, self.answers = "answered in words", answers
        return True

    async def _synthesize(self) -> None:
        """Have the answer written from C', the paths of highest score first, within the budget of tokens."""
        self.chosen = tuple(self._environment.by_score(self.chosen))
        paths = self._memory.within([self._environment.path_text(path) for path in self.chosen])
        self.chosen = self.chosen[: len(paths)]
        names = self._answerable()
        reply = await self._llm.call(
            "synthesise",
            synthesis(self._question, paths, by_schema=bool(names)),
            temperature=self._settings.temperature,
            max_tokens=self._settings.max_tokens,
            schema=answers_schema(names) if names else None,
        )
        self.answers, outcome = read_answers(reply) if names else parse_answers(reply.text, self._question)
        self.raw = reply.text
        reply.parsed(outcome)

    def _answerable(self) -> list[str]:
        """Entities on C' other than topics, by name, where the form of the answer is held to them; else none."""
        if self._settings.offer == "all" or self._question.kind != "entities":
            return []
        ends = (entity for path in self.chosen for edge in path for entity in (edge.source, edge.target))
        others = [entity for entity in dict.fromkeys(ends) if entity not in self._topics]
        return list(self._environment.entity_names(others).values())
