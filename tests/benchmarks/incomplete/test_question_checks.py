import pytest

from kgqa_bench.benchmarks.incomplete.question_checks import names, question_problem

AUNT = "is the aunt of"


@pytest.mark.parametrize(
    ("text", "label", "whole"),
    [
        ("Who is 139's aunt?", "3", False),
        ("Who is 139's aunt?", "139", True),
        ("Who is the aunt of 72?", "72", True),
        ("Who is the aunt of 721?", "72", False),
        ("Where is Washington, D.C.?", "washington, d.c.", True),
        ("Who wrote It?", "it", True),
        ("Who wrote (500) Days of Summer?", "(500) Days of Summer", True),
    ],
)
def test_names_are_whole_words(text: str, label: str, whole: bool) -> None:
    assert names(text, label) is whole


@pytest.mark.parametrize(
    ("question", "asked", "problem"),
    [
        ("Who is the aunt of 72?", "head", None),
        ("Who is 72's aunt?", "head", None),
        ("Which aunts does 72 have?", "head", None),
        ("Who is 72 the aunt of?", "head", "direction"),
        ("Whose aunt is 72?", "head", "direction"),
        ("Whose aunt is 72?", "tail", None),
        ("Who is 72 an aunt to?", "tail", None),
        ("Who has 72 as an aunt?", "tail", None),
        ("Who is the aunt of 72?", "tail", "direction"),
        ("Who is 72’s aunt?", "tail", "direction"),
        ("Who is the uncle of 72?", "head", "relation lost"),
        ("Who is the aunt of 721?", "head", "no topic"),
        ("Who is the aunt of 72", "head", "no question"),
        ("Who is the aunt of 72? 7?", "head", "no question"),
        ("Who is\nthe aunt of 72?", "head", "no question"),
        ("", "head", "no question"),
        ("Who is the aunt of 72 " + "really " * 60 + "?", "head", "no question"),
        ("Is 9 the aunt of 72?", "head", "yes or no"),
        ("Does 72 have an aunt?", "head", "yes or no"),
        ("Who, if not 7, is the aunt of 72?", "head", "answer given"),
        ("Who is the aunt of 72 and 7's niece?", "head", "answer given"),
        ("Who is the aunt of 72 and 77?", "head", None),
    ],
)
def test_problems(question: str, asked: str, problem: str | None) -> None:
    assert question_problem(question, AUNT, asked, "72", ("7", "8")) == problem


def test_an_answer_within_the_topics_name_is_not_given_away() -> None:
    label = "sports team location teams"
    assert question_problem("Where do the Denver Broncos play?", label, "head", "Denver Broncos", ["Denver"]) is None
    text = "Where in Denver do the Denver Broncos play?"
    assert question_problem(text, label, "head", "Denver Broncos", ["Denver"]) == "answer given"


def test_a_topic_may_end_in_a_question_mark() -> None:
    topic = "Who's Afraid of Virginia Woolf?"
    assert question_problem(f"Who designed the costumes of {topic}?", "x", "tail", topic, ["Irene"]) is None
