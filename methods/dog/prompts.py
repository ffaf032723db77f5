"""The debate's prompts: who is told what.

The paper's own templates are in a supplement that is not public; these are the project's. They are short because
the paper's average (Table 5: 3,542 tokens in 9.0 calls) leaves about 390 tokens a call, prompt and reply together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from kgqa_bench.domain import Question
from kgqa_bench.llm.types import Message
from kgqa_bench.text.question import answer_form, format_question

Role = Literal["proponent", "challenger"]
Action = Literal["stop", "continue", "expand"]

PROMPTS: Mapping[str, str] = MappingProxyType(
    {
        "proponent": (
            "You are the Proponent in a debate about a question. {ground} "
            "Say in two or three sentences which answer is right and why. {form}"
        ),
        "challenger": (
            "You are the Challenger in a debate about a question. {ground} Say in two or three sentences "
            "which answer is right and why, and do not give way without a good reason. {form}"
        ),
        "rebuttal": (
            "Answer your opponent: say what is wrong or unproved in that reply, accept what is right in it, "
            "and then give the answer you now hold to be right."
        ),
        "decision": (
            "You lead a debate between a Proponent and a Challenger. Read the question, {facts}and what both say "
            "now, and choose how to go on:\n{actions}\n{reply}"
        ),
        "judge": (
            "You judge a debate about a question. Weigh the arguments in the two closing statements; neither side "
            "is right by default, and both may be wrong. Give your reason in one sentence. {form}"
        ),
        "answer": "Answer the question. {ground} Give your reason in one sentence. {form}",
        "ground_facts": "You are given facts from a knowledge graph; some may be wrong or beside the point.",
        "ground_memory": "Rely on your own knowledge.",
        "decision_facts": "the facts given to the Proponent ",
        "action_stop": "STOP: they give the same answer and it has been argued out.",
        "action_continue": "CONTINUE: they disagree, or have not argued it out, but the facts can settle it.",
        "action_expand": "EXPAND: the Proponent lacks facts to support its answer or to refute the Challenger.",
        "decision_word": "Reply with that one word and nothing else.",
        "decision_json": 'Reply with JSON and nothing else: {"action": the word in lower case}.',
        "no_facts": "(no evidence: the knowledge graph holds nothing about this question)",
        "no_reply": "(no reply)",
    }
)


def debater(
    role: Role, question: Question, facts: str | None, own: Sequence[str], opponent: str | None
) -> list[Message]:
    """The prompt of the Proponent or the Challenger (Eq. 10 to 13).

    Args:
        role: Which of the two.
        question: The question; shown with its options.
        facts: The subgraph as text; None for a debater that may not see it.
        own: The debater's own earlier replies, oldest first.
        opponent: The opponent's reply of the previous round; None in the first.
    """
    sections = [*_facts(facts), f"Question: {format_question(question)}"]
    if own:
        sections.append("\n".join(["Your earlier replies:", *(f"({i}) {_shown(r)}" for i, r in enumerate(own, 1))]))
    if opponent is not None:
        sections += [f"Your opponent's last reply:\n{_shown(opponent)}", PROMPTS["rebuttal"]]
    return _chat(PROMPTS[role].format(ground=_ground(facts), form=answer_form(question)), sections)


def decision(
    question: Question,
    facts: str | None,
    proponent: str,
    challenger: str,
    actions: Sequence[Action],
    structured: bool = False,
) -> list[Message]:
    """The prompt of the Decision-Making Agent (Eq. 14): question, subgraph and both current replies.

    Args:
        question: The question; shown with its options.
        facts: The subgraph as text; None where there is none to see.
        proponent: The Proponent's reply of this round.
        challenger: The Challenger's reply of this round.
        actions: What may be chosen.
        structured: Ask for JSON instead of a word.
    """
    system = PROMPTS["decision"].format(
        facts="" if facts is None else PROMPTS["decision_facts"],
        actions="\n".join(PROMPTS[f"action_{action}"] for action in actions),
        reply=PROMPTS["decision_json" if structured else "decision_word"],
    )
    sections = [*_facts(facts), f"Question: {format_question(question)}", *_statements(proponent, challenger)]
    return _chat(system, sections)


def judge(question: Question, proponent: str, challenger: str) -> list[Message]:
    """The prompt of the Judge (Eq. 15): question and the last two replies, no subgraph, no earlier rounds."""
    system = PROMPTS["judge"].format(form=answer_form(question))
    return _chat(system, [f"Question: {format_question(question)}", *_statements(proponent, challenger)])


def single_answer(question: Question, facts: str | None) -> list[Message]:
    """The prompt of the variant without debate (Table 3): one model answers from the subgraph."""
    system = PROMPTS["answer"].format(ground=_ground(facts), form=answer_form(question))
    return _chat(system, [*_facts(facts), f"Question: {format_question(question)}"])


def decision_schema(actions: Sequence[Action]) -> dict[str, object]:
    """JSON schema of the Decision-Making Agent's reply, for servers that can enforce one."""
    return {
        "type": "object",
        "properties": {"action": {"type": "string", "enum": list(actions)}},
        "required": ["action"],
        "additionalProperties": False,
    }


def _shown(reply: str) -> str:
    """A reply as others get to read it: an empty one is named, so that no section is left blank."""
    return reply.strip() or PROMPTS["no_reply"]


def _statements(proponent: str, challenger: str) -> list[str]:
    return [f"Proponent:\n{_shown(proponent)}", f"Challenger:\n{_shown(challenger)}"]


def _facts(facts: str | None) -> list[str]:
    return [] if facts is None else [f"Facts:\n{facts}"]


def _ground(facts: str | None) -> str:
    return PROMPTS["ground_memory" if facts is None else "ground_facts"]


def _chat(system: str, sections: Sequence[str]) -> list[Message]:
    return [{"role": "system", "content": system}, {"role": "user", "content": "\n\n".join(sections)}]
