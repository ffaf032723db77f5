"""Files of rules: every form that is read, what is refused, and that writing and reading lose nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa_bench.errors import DataError, DataNotFoundError
from kgqa_bench.horn.rule import RULE_TYPES, Atom, MinedRule, canonical_rule, is_closed
from kgqa_bench.horn.rule_files import check_relation_names, read_rules, rule_table, write_rules
from kgqa_bench.horn.rule_text import unwritable

UNCLE = canonical_rule("uncle", [Atom("father", 0, 2), Atom("brother", 2, 1)])
WIFE = canonical_rule("wife", [Atom("husband", 1, 0)])

# worded as AMIE 3 prints its rules and its log, with a decimal comma as in some locales
AMIE = """\
Assuming 9 as type relation
Loading files...
  Starting graph.tsv
  Finished graph.tsv, still running: 0
Loaded 40 facts in 10 ms using -1 MB
Using HeadCoverage as pruning metric with minimum threshold 0.1
Using recursivity limit 3
Filtering on PCA confidence with minimum threshold 0.4
Constants in the arguments of relations are disabled
Lossless (query refinement) heuristics enabled
MRT calls: 0
Starting the mining phase... Using 2 threads
Rule\tHead Coverage\tStd Confidence\tPCA Confidence\tPositive Examples\tBody size\tPCA Body size\tFunctional variable
?h  husband  ?g   => ?g  wife  ?h\t0,638537271\t0,633193863\t0,926530612\t454\t717\t490\t?g
?a  father  ?c  ?c  brother  ?b   => ?a  uncle  ?b\t1\t0.5\t1\t20\t40\t20\t-2
Mining done in 31 ms
Total time 64 ms
2 rules mined.
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def plain(tmp_path: Path, *lines: str) -> Path:
    return write(tmp_path / "rules.txt", "\n".join(lines) + "\n")


def problem(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        read_rules(path)
    assert caught.value.file == path
    return str(caught.value)


def test_amies_output_is_read_with_its_log_apart(tmp_path: Path) -> None:
    found = read_rules(write(tmp_path / "amie.txt", AMIE))
    assert found.rules == [WIFE, UNCLE]
    assert found.measured == [
        MinedRule(WIFE, 454, 711, 717, 490, "subject"),
        MinedRule(UNCLE, 20, 20, 40, 20, "object"),
    ]
    assert [row.line for row in found.rows] == [14, 15]
    assert (len(found.log), found.complete) == (15, True)


def test_windows_line_ends_and_a_log_that_runs_into_the_rules(tmp_path: Path) -> None:
    text = AMIE.replace("Using 2 threads\nRule", "Using 2 threadsRule")
    path = tmp_path / "amie.txt"
    path.write_bytes(text.replace("\n", "\r\n").encode())
    assert read_rules(path).rules == [WIFE, UNCLE]


def test_amies_output_without_its_end_is_incomplete(tmp_path: Path) -> None:
    assert read_rules(write(tmp_path / "amie.txt", AMIE.partition("Mining done")[0])).complete is False


def test_amie_counts_its_rules(tmp_path: Path) -> None:
    cut = AMIE.replace("?h  husband  ?g   => ?g  wife  ?h\t0,638537271", "?h  husband  ?g   => ?g  wife  ?h\t1,", 1)
    assert "line 14" in problem(write(tmp_path / "amie.txt", cut))
    lines = AMIE.splitlines()
    without = "\n".join([*lines[:13], *lines[14:]])
    assert "AMIE mined 2 rules, but 1" in problem(write(tmp_path / "amie.txt", without))


def test_no_rule_mined_is_no_error(tmp_path: Path) -> None:
    head, _, _ = AMIE.partition("?h  husband")
    found = read_rules(write(tmp_path / "amie.txt", f"{head}Mining done in 3 ms\n0 rules mined.\n"))
    assert (found.rules, found.complete) == ([], True)


@pytest.mark.parametrize(
    "line",
    [
        "Exception in thread main java.lang.OutOfMemoryError: Java heap space",
        "\tat amie.mining.AMIE.main",
        "father",
        "9" * 5000 + " rules mined.",  # more digits than int() takes
    ],
)
def test_a_line_that_is_neither_rule_nor_log(tmp_path: Path, line: str) -> None:
    message = problem(write(tmp_path / "amie.txt", AMIE.replace("Total time 64 ms", line)))
    assert "line 17" in message
    assert "neither a rule nor a known line" in message


def test_plain_lines_may_differ_in_spaces_and_variables(tmp_path: Path) -> None:
    path = plain(tmp_path, "?x father  ?z  ?z brother ?y   => ?x  uncle ?y", "", "  ?b husband ?a => ?a wife ?b  ")
    found = read_rules(path)
    assert found.rules == [UNCLE, WIFE]
    assert (found.measured, found.complete, [row.line for row in found.rows]) == (None, None, [1, 3])


def test_odd_relation_names(tmp_path: Path) -> None:
    names = ["is the father of", "<http://x.org/a?b=>c>", "/film/actor./film", "ärzt:in", "=>?", "?"]
    path = plain(tmp_path, *(f"?b  {name}  ?a   => ?a  r{number}  ?b" for number, name in enumerate(names)))
    assert [rule.body[0].relation for rule in read_rules(path).rules] == names


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("?a father ?b", "neither a rule"),
        ("?a father ?b => ?a r ?b => ?a s ?b", "has 2"),
        ("?a father => ?a r ?b", "the body '?a father' is not made of atoms"),
        ("=> ?a r ?b", "has no body"),
        ("?a s ?b =>", "has no head"),
        ("?a s ?b => ?a r ?b ?a t ?b", "one head atom, this one has 2"),
        ("father(?a,?b) => uncle(?a,?b)", "not made of atoms"),
        ("?a  type  <Man>  ?a  knows  ?b   => ?a  likes  ?b", "the body has the constant '<Man>'"),
        ("?a knows ?b ?a lives Rome => ?a likes ?b", "the body has the constant 'Rome'"),
        ("?a  s  ?b   => ?a  lives  <Rome>", "the head has the constant '<Rome>'"),
        ("?a  r  A  B  s  ?b   => ?a  t  ?b", "the constant 'A'"),
        ("?a s ?c => ?a r ?b", "not closed"),
        ("?a s ?b ?b t ?c => ?a r ?b", "not closed"),
        ("?a s ?b ?c t ?d ?d u ?c => ?a r ?b", "not connected"),
        ("?a s ?a ?a s ?b => ?a r ?b", "joins a variable with itself"),
        ("?a s ?b => ?a r ?a", "joins a variable with itself"),
        ("?a r ?b => ?a r ?b", "the same atom twice"),
        ("?a s ?b ?a s ?b => ?a r ?b", "the same atom twice"),
        ("?a s ?c ?c t ?d ?d u ?e ?e v ?b => ?a r ?b", "has 5 atoms"),
        ("?a s ?b => ?a r ?b\t0.5\t0.5", "3 columns and no header"),
    ],
)
def test_what_is_no_rule(tmp_path: Path, line: str, message: str) -> None:
    found = problem(plain(tmp_path, str(WIFE), line))
    assert "line 2" in found
    assert message in found


def test_the_same_rule_twice(tmp_path: Path) -> None:
    message = problem(plain(tmp_path, str(UNCLE), str(WIFE), "?z brother ?y ?x father ?z => ?x uncle ?y"))
    assert "line 3" in message
    assert "is in line 1 already" in message


ROW = "?b husband ?a => ?a wife ?b\tinversion\t\t0.638537271\t0.633193863\t0.926530612\t454\t717\t490\t?a"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0.638537271", "0.738537271", "head_coverage"),
        ("0.638537271", "0", "is not in (0, 1]"),
        ("0.638537271", "0.64", "too few digits to tell the size of the head"),
        ("0.638537271", "nan", "is no number"),
        ("0.633193863", "0.643193863", "std_confidence"),
        ("0.926530612", "-0.926530612", "is no number"),
        ("\t454\t", "\t455\t", "is not 455"),
        ("\t717\t", "\t-717\t", "is no count"),
        ("\t717\t490", "\t489\t490", "must rise"),
        ("?a\n", "?c\n", "not in the head"),
        ("inversion", "hierarchy", "the type of the rule is 'inversion', not 'hierarchy'"),
        ("\t\t0.6", "\trest\t0.6", "the subtype of the rule is 'none', not 'rest'"),
        ("\t?a\n", "\n", "9 columns instead of 10"),
        ("\t717\t", "\t718\t", "std_confidence"),
    ],
)
def test_numbers_that_contradict(tmp_path: Path, old: str, new: str, message: str) -> None:
    header = "rule type subtype head_coverage std_confidence pca_confidence positives body_size pca_body_size"
    text = "\t".join([*header.split(), "functional_variable"]) + f"\n{ROW}\n"
    assert read_rules(write(tmp_path / "good.tsv", text)).measured == [MinedRule(WIFE, 454, 711, 717, 490, "subject")]
    assert old in text
    found = problem(write(tmp_path / "bad.tsv", text.replace(old, new)))
    assert "line 2" in found
    assert message in found


def test_headers(tmp_path: Path) -> None:
    assert "'confidence' is unknown" in problem(write(tmp_path / "a.tsv", "rule\tconfidence\n"))
    assert "each there once" in problem(write(tmp_path / "b.tsv", "rule\trule\n"))
    assert "each there once" in problem(write(tmp_path / "c.tsv", "number\tpositives\n"))
    some = write(tmp_path / "d.tsv", f"Rule\tPCA Confidence\n{WIFE}\t0.5\n")
    assert (read_rules(some).rules, read_rules(some).measured) == ([WIFE], None)
    assert "second header" in problem(write(tmp_path / "e.tsv", f"rule\n{WIFE}\nrule\ttype\n"))


def test_rule_numbers(tmp_path: Path) -> None:
    text = f"number\trule\n3\t{WIFE}\n7\t{UNCLE}\n"
    assert [row.number for row in read_rules(write(tmp_path / "a.tsv", text)).rows] == [3, 7]
    assert "does not follow 3" in problem(write(tmp_path / "b.tsv", text.replace("7\t", "3\t")))
    assert "no number of a rule" in problem(write(tmp_path / "c.tsv", text.replace("7\t", "x\t")))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataNotFoundError, match="--rules"):
        read_rules(tmp_path / "none.tsv")
    assert "no rule in the file" in problem(write(tmp_path / "empty.txt", "\n"))
    path = tmp_path / "latin.txt"
    path.write_bytes(f"{WIFE}\n?a v\xe4ter ?b => ?a r ?b\n".encode("latin-1"))
    assert "not UTF-8" in problem(path)


WRITABLE = st.text(min_size=1, max_size=8).filter(lambda name: unwritable(name) is None) | st.sampled_from(
    ["is the father of", "=>x", "a?b", "?", "<p>", "0.5", "Rule", "rule", "\x0b", "\u2028", "\x85", "a_=>_b"]
)


@st.composite
def mined_rules(draw: st.DrawFn) -> list[MinedRule]:
    pairs = st.sampled_from([(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1), (2, 3), (3, 2), (3, 1), (0, 3)])
    atoms = st.builds(lambda name, pair: Atom(name, *pair), WRITABLE, pairs)
    bodies = draw(st.lists(st.tuples(WRITABLE, st.lists(atoms, min_size=1, max_size=3, unique=True)), max_size=8))
    rules = {
        canonical_rule(head, body)
        for head, body in bodies
        if is_closed(body)
        and Atom(head, 0, 1) not in body
        and not ({(2, 3)} <= {atom.pair for atom in body} <= {(0, 1), (2, 3)})
    }
    result = []
    for rule in sorted(rules, key=str):
        support = draw(st.integers(1, 10**6))
        head = support + draw(st.integers(0, 10**6))
        pca = support + draw(st.integers(0, 10**9))
        body = pca + draw(st.integers(0, 10**9))
        result.append(MinedRule(rule, support, head, body, pca, draw(st.sampled_from(["subject", "object"]))))
    return result


@settings(deadline=None)
@given(mined=mined_rules(), numbered=st.booleans())
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, mined: list, numbered: bool) -> None:
    path = tmp_path_factory.getbasetemp() / "round-trip.tsv"
    numbers = range(5, 5 + len(mined)) if numbered else None
    write_rules(path, mined, numbers)
    if not mined:
        assert "no rule" in problem(path)
        return
    found = read_rules(path)
    assert found.measured == mined
    assert [row.number for row in found.rows] == (list(numbers) if numbers else [None] * len(mined))
    assert rule_table(found.measured, numbers).encode() == path.read_bytes()
    bare = path.with_name("bare.txt")
    bare.write_text("\n".join(str(each.rule) for each in mined))
    assert read_rules(bare).rules == [each.rule for each in mined]


@settings(deadline=None)
@given(name=st.text(max_size=6))
def test_names_that_cannot_be_written_are_refused(name: str) -> None:
    rule = canonical_rule("r", [Atom(name, 0, 1)])
    mined = MinedRule(rule, 1, 2, 3, 2, "object")
    if unwritable(name) is None:
        assert str(rule) in rule_table([mined])
    else:
        with pytest.raises(DataError, match="could not be read back"):
            rule_table([mined])


@pytest.mark.parametrize("name", ["a\tb", "a\nb", " a", "a ", "a  b", "", "a ?x b", "=>", "a => b", "\ud800"])
def test_unwritable_names(name: str) -> None:
    with pytest.raises(DataError):
        check_relation_names({"fine", name})


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("family_facts_maxad3", [0, 6, 0, 56, 83]),
        ("family_all_maxad3", [2, 20, 0, 61, 190]),
        ("fb15k237_train_maxad3", [28, 40, 69, 435, 603]),
    ],
)
def test_rules_that_amie_mined(real_data: Path, tmp_path: Path, name: str, counts: list[int]) -> None:
    found = read_rules(real_data / "amie" / f"{name}.tsv")
    assert [sum(rule.type == each for rule in found.rules) for each in RULE_TYPES] == counts
    assert found.measured is not None
    write_rules(tmp_path / "again.tsv", found.measured)
    assert read_rules(tmp_path / "again.tsv").measured == found.measured
