from __future__ import annotations

from kgqa_bench.domain import Option, Question
from kgqa_bench.text.choices import parse_answer, parse_entities
from kgqa_bench.text.question import answer_form, format_answer, format_question

CHOICE = Question("1", "What melts ice?", "choice", (Option("A", "heat"), Option("B", "a shadow")))
BOOLEAN = Question("2", "Ice floats.", "boolean")
ENTITIES = Question("3", "Who wrote it?", "entities")


def test_options_are_lettered_lines() -> None:
    assert format_question(CHOICE) == "What melts ice?\nA) heat\nB) a shadow"


def test_without_options_only_the_stem_is_left() -> None:
    for question in (CHOICE, BOOLEAN, ENTITIES):
        assert format_question(question, options=False) == question.text


def test_boolean_questions_say_what_true_and_false_stand_for() -> None:
    text = format_question(BOOLEAN)
    assert text.startswith("Ice floats.\n")
    assert all(word in text for word in ("true", "false", "yes", "no"))


def test_the_form_names_the_labels_of_this_question() -> None:
    assert "(A, B)" in answer_form(CHOICE)


def test_solved_answers_are_in_the_form_asked_for() -> None:
    assert parse_answer(format_answer(CHOICE, ("B",)), CHOICE) == ("B", "ok")
    assert parse_answer(format_answer(BOOLEAN, ("false",)), BOOLEAN) == ("false", "ok")
    assert parse_entities(format_answer(ENTITIES, ("Ann", "Bo"))) == (("Ann", "Bo"), "ok")
