"""A question in words: one text form for all methods, so that rows differ in the method alone."""

from __future__ import annotations

from kgqa_bench.domain import Question


def format_question(question: Question, options: bool = True) -> str:
    """The question as it stands in a prompt.

    Args:
        question: Any question.
        options: With the lettered options of a choice question, or the two truth values of a boolean one.
            False gives the bare stem (for retrieval and linking).
    """
    if not options or question.kind == "entities":
        return question.text
    if question.kind == "boolean":
        return f"{question.text}\nIs this true or false? (true also stands for yes, false for no)"
    return "\n".join([question.text, *[f"{option.label}) {option.text}" for option in question.options]])


def answer_form(question: Question) -> str:
    """What the last line of a reply has to look like, in the imperative, to end a prompt with.

    ``kgqa_bench.text.choices.parse_answer`` reads exactly these forms without repair.
    """
    if question.kind == "entities":
        return 'End with a line "Answers:" and then name each answer on a line of its own, the surest first.'
    if question.kind == "boolean":
        return 'End with a line "Answer: true" or "Answer: false".'
    labels = ", ".join(option.label for option in question.options)
    return f'End with a line "Answer: X", where X is the letter of one option ({labels}).'


def format_answer(question: Question, answers: tuple[str, ...]) -> str:
    """A gold answer in the form that ``answer_form`` asks for, for solved examples in prompts."""
    if question.kind == "entities":
        return "Answers:\n" + "\n".join(answers)
    return f"Answer: {answers[0]}"
