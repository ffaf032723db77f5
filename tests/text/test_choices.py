"""The shared parser: a table of replies, and properties that hold for every reply."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa_bench.domain import Option, Question
from kgqa_bench.text.choices import parse_answer, parse_entities
from kgqa_bench.text.question import answer_form


def choice(*texts: str, labels: str = "ABCDEFGHIJ") -> Question:
    return Question("q", "Where?", "choice", tuple(map(Option, labels, texts)))


FIVE = choice("bank", "library", "department store", "mall", "new york")
BOOLEAN = Question("q", "Ice floats.", "boolean")

OK = [
    # nothing but an answer
    ("B", "B"), ("b", "B"), ("(B)", "B"), ("[B]", "B"), ("**B**", "B"), ("B.", "B"), ("B)", "B"), ("b)", "B"),
    ("  B\n", "B"), ("`B`", "B"), ("A", "A"), ("a", "A"), ("E", "E"),
    ("library", "B"), ("Library.", "B"), ("the library", "B"), ("a library", "B"), ("new york", "E"),
    ("B) library", "B"), ("B. library", "B"), ("B: library", "B"), ("(B) library", "B"), ("B - library", "B"),
    ("Option B", "B"), ("option b", "B"), ("Option B) library", "B"), ("Choice D.", "D"),
    # Answer:, answer is
    ("Answer: B", "B"), ("ANSWER: B", "B"), ("answer: b", "B"), ("Answer - no. Answer: B", "B"),
    ("Answer:\nB", "B"), ("Answer:\n\nB", "B"), ("Answer: **B**", "B"), ("**Answer:** B", "B"),
    ("**Answer: B**", "B"), ("**Answer: B) library**", "B"), ("Answer: (B) library.", "B"),
    ("Answer: A", "A"), ("Answer: a", "A"), ("Answer: library", "B"), ("Answer: A library", "B"),
    ("Answer: \"mall\"", "D"), ("Answer: 'mall'", "D"), ("Final Answer: option C", "C"),
    ("The answer is B", "B"), ("The answer is: B", "B"), ("the answer is (b).", "B"),
    ("The correct answer is B.", "B"),
    ("The answer is option B, library.", "B"), ("The answer is the library.", "B"), ("the answer is a library", "B"),
    ("The answer is A because books are there.", "A"), ("My answer would be D.", "D"), ("The answer = C", "C"),
    ("The answer is most likely new york.", "E"), ("The correct option is D", "D"), ("The answer: E. New York", "E"),
    ("The answer choice is B.", "B"), ("B. It is not C.", "B"),
    # braces, boxed, tags, JSON
    ("\\boxed{B}", "B"), ("So $\\boxed{\\text{B}}$.", "B"), ("\\boxed{(\\mathrm{B})}", "B"), ("{B}", "B"),
    ("I think {library} fits.", "B"), ('{"answer": "B"}', "B"), ('{"answer": "library"}', "B"),
    ("<answer>B</answer>", "B"), ("<answer> library </answer>", "B"),
    # bold, choosing, verdicts
    ("It must be **library** then.", "B"), ("I pick **B**, not the others.", "B"),
    ("I choose B.", "B"), ("I would choose B, since a bank is loud.", "B"),
    ("Between A and B I would go with B.", "B"),
    ("(B) is the correct option.", "B"), ("B is the best answer.", "B"),
    # the last marker wins; earlier ones and discussion do not count
    ("The answer is A. Wait. The answer is B.", "B"), ("Answer: A\nOn reflection...\nAnswer: C", "C"),
    ("A. bank: no\nB. library: yes\nSo the answer is B.", "B"),
    ("**A) bank**: loud.\n**B) library**: quiet.\nAnswer: B", "B"),
    ("**A) bank** is wrong and **C** too. The answer is D.", "D"),
    ("The answer is not A. The answer is B.", "B"), ("The answer is B. The answer is not A.", "B"),
    ("The answer is B, not C.", "B"), ("Answer: B (not A or C)", "B"),
    ("The answer is obvious. Answer: B. The answer is clear.", "B"),
]  # fmt: skip

REPAIRED = [
    ("So the most plausible place is the mall.", "D"),
    ("Many people are there. It has to be a department store.", "C"),
    ("I think it's D", "D"),
    ("It could only be (C) in this case.", "C"),
    ("Option B. A quiet place.", "B"),
    ("People read there. Library!", "B"),
    ("A place of many books: the library", "B"),
    ("A dog would not help. I say option D", "D"),
]

FAILED = [
    None, "", " ", "\n\n", "!!", "...", "null", "None", "N/A", "I don't know", "I don't know.",
    "I cannot answer that.",
    "none of the above", "lorem ipsum dolor sit amet", "Answer:", "Answer: X", "Answer: F", "The answer is",
    # two different letters or texts
    "A or B", "B or C", "A and B", "B/C", "Answer: A, B", "Answer: A or B", "The answer is A and B",
    "The answer is B or C, hard to say.", "Answer: B) mall", "Answer: library or mall", "A. bank\nB. library",
    "**A) bank**: no\n**B) library**: yes", "It is B. It is C.", "It is the mall or the library.",
    "Option B is a library, and I like the mall", "The answer is B. Or rather, the answer is C or D.",
    # negations
    "The answer is not B", "Not B", "It is not the library.", "It isn't the library",
    "It is in the department store, not the mall",
    # articles and pronouns are no letters
    "A dog barks", "a dog and a cat", "I think so", "A library is quiet. I am unsure", "Such a thing",
]  # fmt: skip


@pytest.mark.parametrize(("reply", "label"), OK)
def test_explicit_answers(reply: str, label: str) -> None:
    assert parse_answer(reply, FIVE) == (label, "ok")


@pytest.mark.parametrize(("reply", "label"), REPAIRED)
def test_answers_read_by_repair(reply: str, label: str) -> None:
    assert parse_answer(reply, FIVE) == (label, "repaired")


@pytest.mark.parametrize("reply", FAILED)
def test_unreadable(reply: str | None) -> None:
    assert parse_answer(reply, FIVE) == (None, "failed")


def test_an_option_text_inside_another_does_not_count() -> None:
    question = choice("water", "hot water", "very hot water", "steam")
    assert parse_answer("The answer is hot water", question) == ("B", "ok")
    assert parse_answer("It needs very hot water.", question) == ("C", "repaired")
    assert parse_answer("Answer: water", question) == ("A", "ok")
    # two different ones are still two
    assert parse_answer("It is water or very hot water.", question) == (None, "failed")


def test_letters_win_over_texts_that_are_letters() -> None:
    question = choice("B", "A", "vitamin C", "D")
    assert parse_answer("B", question) == ("B", "ok")
    assert parse_answer("Answer: A", question) == ("A", "ok")
    assert parse_answer("The answer is vitamin C", question) == ("C", "ok")
    assert parse_answer("**D**", question) == ("D", "ok")


def test_a_repeated_text_names_no_option_but_its_letter_does() -> None:
    question = choice("bank", "shop", "bank", "mall")
    assert parse_answer("bank", question) == (None, "failed")
    assert parse_answer("The answer is bank", question) == (None, "failed")
    assert parse_answer("C) bank", question) == ("C", "ok")
    assert parse_answer("Answer: A", question) == ("A", "ok")
    assert parse_answer("shop", question) == ("B", "ok")


def test_texts_with_articles_points_and_punctuation() -> None:
    question = choice("a dog", "the U.S.A.", "1.5", "5", "don't move!")
    assert parse_answer("The answer is a dog.", question) == ("A", "ok")
    assert parse_answer("Answer: A dog", question) == ("A", "ok")
    assert parse_answer("Answer: U.S.A.", question) == ("B", "ok")
    assert parse_answer("The answer is 1.5.", question) == ("C", "ok")
    assert parse_answer("Answer: 5", question) == ("D", "ok")
    assert parse_answer("Answer: Don't move", question) == ("E", "ok")


def test_the_article_before_the_text_of_another_option_is_no_letter() -> None:
    assert parse_answer("Answer: A dog", choice("cat", "dog")) == ("B", "ok")


def test_digit_labels() -> None:
    question = choice("two", "three", "four", labels="123")
    assert parse_answer("2", question) == ("2", "ok")
    assert parse_answer("Answer: (3)", question) == ("3", "ok")
    assert parse_answer("Answer: 12", question) == (None, "failed")


def test_labels_beyond_e() -> None:
    ten = choice(*(f"thing number {number}" for number in range(10, 20)))
    assert parse_answer("Answer: J", ten) == ("J", "ok")
    assert parse_answer("I do think so", ten) == (None, "failed")
    assert parse_answer("Answer: I", ten) == ("I", "ok")


TRUTH = [
    ("True", "true", "ok"), ("true.", "true", "ok"), ("yes", "true", "ok"), ("No.", "false", "ok"),
    ("FALSE", "false", "ok"), ("**True**", "true", "ok"), ("T", "true", "ok"), ("Answer: true", "true", "ok"),
    ("Answer: no", "false", "ok"), ("Answer: F", "false", "ok"), ("The answer is yes.", "true", "ok"),
    ("The correct answer is no.", "false", "ok"), ("\\boxed{False}", "false", "ok"),
    ('{"answer": true}', "true", "ok"),
    ("Answer: not true", "false", "ok"), ("not true", "false", "ok"), ("It is not false.", "true", "ok"),
    ("The statement is not true.", "false", "ok"), ("It isn't true", "false", "ok"),
    ("This is untrue", "false", "ok"),
    ("The statement is not entirely true.", "false", "ok"), ("The statement is incorrect.", "false", "ok"),
    ("Yes, ice floats.", "true", "ok"), ("No, ice sinks.", "false", "ok"),
    ("Ice is lighter.\nAnswer: True", "true", "ok"), ("Answer: false\nNo wait.\nAnswer: true", "true", "ok"),
    ("No. Ice is lighter than water.", "false", "repaired"),
    ("Ice is lighter than water. So the statement is true.", "true", "repaired"),
    ("Ice sinks. This is not true.", "false", "repaired"), ("Yes.\nIce is lighter.", "true", "repaired"),
    ("False!\nIt sinks. The claim is false.", "false", "repaired"),
    (None, None, "failed"), ("", None, "failed"), ("I don't know", None, "failed"), ("nonsense", None, "failed"),
    ("True or false", None, "failed"), ("Answer: true or false", None, "failed"), ("Yes and no", None, "failed"),
    ("There is no evidence that this is true", None, "failed"), ("Cats are never true", None, "failed"),
    ("Answer: No evidence either way", None, "failed"), ("Ice floats.", None, "failed"),
    ("True.\nOr rather it is false.", None, "failed"), ("B", None, "failed"),
    ("It cannot be said whether it is true.", None, "failed"),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "value", "outcome"), TRUTH)
def test_truth_values(reply: str | None, value: str | None, outcome: str) -> None:
    assert parse_answer(reply, BOOLEAN) == (value, outcome)


ENTITIES = [
    ("Answers:\nParis\nRome", ("Paris", "Rome"), "ok"),
    ("Thinking...\nAnswers:\n1. Paris\n2) Rome\n- Oslo\n* Bern", ("Paris", "Rome", "Oslo", "Bern"), "ok"),
    ("Answer: Paris; Rome", ("Paris", "Rome"), "ok"),
    ("The answer is **Paris**.", ("Paris",), "ok"),
    ("**Answers:**\nParis\nParis", ("Paris",), "ok"),
    ("Paris\nRome\n", ("Paris", "Rome"), "repaired"),
    ("42", ("42",), "repaired"),
    ("", (), "failed"),
    (None, (), "failed"),
    ("Answers:\n", (), "failed"),
    ("Answers: none", (), "failed"),
    ("I don't know.", (), "failed"),
]


@pytest.mark.parametrize(("reply", "names", "outcome"), ENTITIES)
def test_entity_lists(reply: str | None, names: tuple[str, ...], outcome: str) -> None:
    assert parse_entities(reply) == (names, outcome)


@given(st.text(max_size=200))
def test_any_text_gives_an_allowed_value_or_none(text: str) -> None:
    for question in (FIVE, BOOLEAN):
        value, outcome = parse_answer(text, question)
        assert (value in question.values) == (outcome != "failed")
        assert value is not None or outcome == "failed"
    names, outcome = parse_entities(text)
    assert bool(names) == (outcome != "failed")


@given(
    st.lists(
        st.sampled_from(["A", "B", "or", "answer is", "Answer:", "not", "(", ")", "**", "{", "}", "\n", ".", " "])
    )
)
def test_fragments_of_the_forms_never_break_it(parts: list[str]) -> None:
    value, _ = parse_answer(" ".join(parts), FIVE)
    assert value in (None, "A", "B")


@pytest.mark.parametrize("label", "ABCDE")
def test_the_form_that_prompts_ask_for_is_read_without_repair(label: str) -> None:
    assert '"Answer: X", where X is the letter of one option (A, B, C, D, E)' in answer_form(FIVE)
    assert parse_answer(f"A bank is loud and a mall too.\nAnswer: {label}", FIVE) == (label, "ok")


@pytest.mark.parametrize(
    "unit",
    ["<answer>", "{", "**", "__", "answer is ", " ", "not ", "A or ", "\n", "(", "the ", "1.", "is not entirely "],
)
def test_long_replies_take_linear_work(unit: str) -> None:
    """No pattern backtracks over the whole reply: 50,000 characters would otherwise take minutes."""
    text = unit * (50_000 // len(unit))
    parse_answer(text, FIVE)
    parse_answer(text, BOOLEAN)
    parse_entities(text)
