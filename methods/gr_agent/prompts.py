"""The agent's prompts. The paper's own are in appendices that are not public; these are the project's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from kgqa_bench.domain import Question
from kgqa_bench.llm.types import Message
from kgqa_bench.text.question import answer_form, format_question

PROMPTS: Mapping[str, str] = MappingProxyType(
    {
        "act": (
            "You answer a question with the help of a knowledge graph. The graph is incomplete: the triple that "
            "would answer directly may be missing, so look for other paths that imply the answer. You act in steps:\n"
            "- explore(entity, hop_limit): lists the relation paths of up to hop_limit steps (1 to {hops}) from an "
            "entity. Begin with few hops and take more only if you need them.\n"
            "- ground(entity, relation_paths): follows relation paths, named by their ids (P1, P2, …), from an "
            "entity, and lists the reasoning paths and the entities reached. Explore from these if you need to.\n"
            "- synthesize(path_ids, question): chooses the reasoning paths (C1, C2, …) that imply the answer, all of "
            "them where there are several answers, and ends. Do this as soon as they suffice.\n"
            "{inverse}Take one action at a time, and use the entities, ids and relations exactly as they are shown."
        ),
        "act_inverse": "A step that begins with ^ walks its relation backwards, from tail to head. ",
        "act_json": (
            " Reply with JSON and nothing else, one of:\n"
            '{"action": {"name": "explore", "entity": "…", "hop_limit": 1}}\n'
            '{"action": {"name": "ground", "entity": "…", "relation_paths": ["P1", "P2"]}}\n'
            '{"action": {"name": "synthesize", "path_ids": ["C1", "C2"], "question": "…"}}'
        ),
        "act_tools": " Act by calling the tools.",
        "act_unread": "That names no action. {form}",
        "act_unread_json": "Reply with one JSON object as described.",
        "act_unread_tools": "Call one of the tools.",
        "act_steps": "Actions left: {left}.",
        "act_no_topic": "none was found in the graph",
        "synthesise": (
            "Answer the question from the paths of a knowledge graph that were chosen for it. The graph is "
            "incomplete: conclude what the paths imply, also where no triple says it directly, and name every answer "
            "that they support. {form}"
        ),
        "synthesise_json": 'Reply with JSON and nothing else, the surest answer first: {"answers": ["…"]}',
        "synthesise_no_paths": "(no paths were found)",
    }
)


def system(hops: int, inverse: bool, form: str) -> str:
    """The system prompt of the acting model; ``form`` is ``json`` or ``tools``."""
    text = PROMPTS["act"].format(hops=hops, inverse=PROMPTS["act_inverse"] if inverse else "")
    return text + PROMPTS[f"act_{form}"]


def situation(question: Question, topics: Sequence[str], memory: str, left: int) -> str:
    """The question and the state, as they stand before the last exchange."""
    named = "; ".join(topics) or PROMPTS["act_no_topic"]
    sections = [f"Question: {format_question(question)}", f"Topic entities: {named}", memory]
    return "\n\n".join([*sections, PROMPTS["act_steps"].format(left=left)])


def synthesis(question: Question, paths: Sequence[str], by_schema: bool) -> list[Message]:
    """The prompt that writes the answer from the chosen paths C' (section 4.1, answer synthesis).

    ``by_schema`` asks for it as JSON, else for the form that every method's answers have.
    """
    form = PROMPTS["synthesise_json"] if by_schema else answer_form(question)
    listed = "\n".join(f"- {path}" for path in paths) or PROMPTS["synthesise_no_paths"]
    return [
        {"role": "system", "content": PROMPTS["synthesise"].format(form=form)},
        {"role": "user", "content": f"Paths:\n{listed}\n\nQuestion: {format_question(question)}"},
    ]
