"""Writing and reading constrained paths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa_bench.evidence.path import ConstrainedPath, Constraint, PathStep, ScoredPath, read_step
from kgqa_bench.evidence.tags import KEPT, can_be_written, read_paths, write_path

SIBLING = ConstrainedPath((PathStep("sibling_of"),))
BROTHER = ConstrainedPath((PathStep("sibling_of"),), Constraint(PathStep("gender"), "male"))
LONG = ConstrainedPath(
    (PathStep("written_by"), PathStep("written_by", True), PathStep("has_genre")),
    Constraint(PathStep("has_genre", True), "If.... <1968>"),
)

names = st.text(max_size=12) | st.sampled_from(
    ["<", ">", "<SEP", "SEP>", "^", "\\", "^x", "\\^", "a < b > c", "</", "/"]
)
written = names.filter(can_be_written)
steps = st.builds(PathStep, written, st.booleans())
paths = st.builds(
    ConstrainedPath,
    st.lists(steps, min_size=1, max_size=4).map(tuple),
    st.none() | st.builds(Constraint, steps, written),
)


def test_the_published_form() -> None:
    assert (
        write_path(BROTHER, 0.75) == "<PATH confidence=0.75>sibling_of<CONSTRAINT>gender<SEP>male</CONSTRAINT></PATH>"
    )
    assert write_path(SIBLING, 0.5) == "<PATH confidence=0.50>sibling_of</PATH>"
    assert write_path(SIBLING, 0.75, decimals=1) == "<PATH confidence=0.8>sibling_of</PATH>"
    assert write_path(LONG) == (
        "<PATH>written_by<SEP>^written_by<SEP>has_genre<CONSTRAINT>^has_genre<SEP>If.... <1968></CONSTRAINT></PATH>"
    )


@given(st.lists(st.tuples(paths, st.integers(0, 100)), min_size=1, max_size=4))
def test_what_is_written_is_read(several: list[tuple[ConstrainedPath, int]]) -> None:
    text = " and\n".join(write_path(path, percent / 100) for path, percent in several)
    read = read_paths(text)
    assert read.paths == tuple(ScoredPath(path, percent / 100) for path, percent in several)
    assert read.problems == ()


@given(steps)
def test_steps(step: PathStep) -> None:
    assert read_step(str(step)) == step


@given(
    st.text()
    | st.lists(st.sampled_from(["<PATH>", "</PATH>", "<SEP>", "<CONSTRAINT>", "</CONSTRAINT>", "a", " "])).map(
        "".join
    )
)
def test_any_text_is_read_or_counted(text: str) -> None:
    read = read_paths(text)
    assert read.paths or read.problems
    for path, _confidence in read.paths:
        assert all(step.relation for step in path.steps)


@pytest.mark.parametrize(
    "name", ["", " male", "male ", "a<SEP>b", "x</ path >", "a\nb", "<path confidence=1>", "\ud800"]
)
def test_names_that_cannot_be_read_back_are_refused(name: str) -> None:
    assert not can_be_written(name)
    for path in (
        ConstrainedPath((PathStep(name),)),
        ConstrainedPath((PathStep("a"),), Constraint(PathStep("b"), name)),
        ConstrainedPath((PathStep("a"), PathStep(name, True))),
    ):
        with pytest.raises(ValueError):
            write_path(path, 0.5)


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan")])
def test_a_confidence_that_is_none_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError):
        write_path(SIBLING, confidence)
    with pytest.raises(ValueError):
        write_path(ConstrainedPath(()), 0.5)


@pytest.mark.parametrize(
    "text",
    [
        "<PATH confidence=0.75>sibling_of <CONSTRAINT>gender<SEP>male </CONSTRAINT></PATH>",
        "Sure! <PATH  confidence = '0.75' > sibling_of\n<CONSTRAINT> gender <SEP> male </CONSTRAINT> </PATH>!",
        '<path confidence="0.75">sibling_of<constraint>gender<sep>male</constraint></path>',
        "<PATH confidence=0.75>sibling_of<CONSTRAINT>gender<SEP>male</CONSTRAINT>",
        "<PATH confidence=0.75>sibling_of<CONSTRAINT>gender<SEP>male</PATH>",
        "<PATH confidence=0.75>sibling_of<CONSTRAINT>gender<SEP>male",
        "< PATH confidence=.75>sibling_of< CONSTRAINT >gender< SEP >male< / CONSTRAINT >< / PATH >",
        "<PATH confidence=75%>sibling_of<CONSTRAINT>gender<SEP>male</CONSTRAINT></PATH>",
        "</PATH><PATH confidence=“0.75”>sibling_of<CONSTRAINT>gender<SEP>male</CONSTRAINT></PATH><SEP>",
    ],
)
def test_tolerant_reading(text: str) -> None:
    assert read_paths(text) == ((ScoredPath(BROTHER, 0.75),), ())


def test_an_empty_constraint_is_none() -> None:
    text = "<PATH confidence=0.5>sibling_of<CONSTRAINT> </CONSTRAINT></PATH>"
    assert read_paths(text).paths == (ScoredPath(SIBLING, 0.5),)


def test_a_path_ends_where_the_next_begins() -> None:
    read = read_paths("<PATH confidence=0.5>sibling_of<PATH confidence=0.75>sibling_of<CONSTRAINT>gender<SEP>male")
    assert read.paths == (ScoredPath(SIBLING, 0.5), ScoredPath(BROTHER, 0.75))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no_path"),
        ("sibling_of<SEP>gender", "no_path"),
        ("<PATH confidence=0.7", "no_path"),
        ("<PATH confidence=0.75>", "no_relation"),
        ("<PATH confidence=0.75><CONSTRAINT>gender<SEP>male</CONSTRAINT></PATH>", "no_relation"),
        ("<PATH confidence=0.75>a<SEP></PATH>", "empty_relation"),
        ("<PATH confidence=0.75>a<SEP>^</PATH>", "empty_relation"),
        ("<PATH confidence=0.75>a<CONSTRAINT>gender", "bad_constraint"),
        ("<PATH confidence=0.75>a<CONSTRAINT>gender<SEP></CONSTRAINT></PATH>", "bad_constraint"),
        ("<PATH confidence=0.75>a<CONSTRAINT>b<SEP>c<SEP>d</CONSTRAINT></PATH>", "bad_constraint"),
        ("<PATH>a<CONSTRAINT>b<SEP>c</CONSTRAINT><CONSTRAINT>d<SEP>e</CONSTRAINT></PATH>", "several_constraints"),
        ("<PATH>a<CONSTRAINT>b<SEP>c</CONSTRAINT>d</PATH>", "text_after_constraint"),
        ("<PATH>a<CONSTRAINT>b<SEP>c</CONSTRAINT><SEP>d</PATH>", "text_after_constraint"),
    ],
)
def test_what_cannot_be_read_is_counted(text: str, reason: str) -> None:
    read = read_paths(text)
    assert [problem.reason for problem in read.problems] == [reason]
    assert reason in KEPT or not read.paths


@pytest.mark.parametrize(
    ("attribute", "confidence", "reason"),
    [
        ("", None, "no_confidence"),
        (" confidence=", None, "no_confidence"),
        (" confidence=high", None, "unreadable_confidence"),
        (" confidence=nan", None, "unreadable_confidence"),
        (" confidence=0.7.5", None, "unreadable_confidence"),
        (" confidence=1.2", 1.0, "clipped_confidence"),
        (" confidence=-0.2", 0.0, "clipped_confidence"),
        (" confidence=130%", 1.0, "clipped_confidence"),
        (" confidence=1", 1.0, None),
        (" confidence=0", 0.0, None),
        (" confidence: 7.5e-1,", 0.75, None),
    ],
)
def test_confidences(attribute: str, confidence: float | None, reason: str | None) -> None:
    read = read_paths(f"<PATH{attribute}>sibling_of</PATH>")
    assert read.paths == (ScoredPath(SIBLING, confidence),)  # never 0.5 for one that is not there
    assert [problem.reason for problem in read.problems] == ([] if reason is None else [reason])


def test_one_bad_path_does_not_spoil_the_others() -> None:
    read = read_paths(
        "<PATH confidence=0.5>sibling_of</PATH><PATH confidence=1><SEP></PATH><PATH confidence=0.75>sibling_of"
    )
    assert [path.confidence for path in read.paths] == [0.5, 0.75]
    assert read.problems[0].text == "<PATH confidence=1><SEP></PATH>"
    assert read.problems[0].reason == "no_relation"
