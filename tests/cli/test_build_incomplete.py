"""`kgqa-bench build-incomplete` on a made-up family tree: what the options do, and what is refused with no trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgqa_bench.benchmarks.family_mini import FOLDER as FAMILY_MINI
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.turtle import write_turtle

TREE = [
    "--kg", "family-synthetic", "--people", "120", "--min-head-size", "20", "--max-rules", "40", "--groundings", "3",
]  # fmt: skip
COMPLETE, INCOMPLETE, REMOVED = (f"triples.{view}.tsv" for view in ("complete", "incomplete", "removed"))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the command runs in, empty."""
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def build(cli: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """Builds the folder ``out``, and verifies it; the figures."""

    def call(out: str, *words: str, kg: list[str] = TREE) -> dict[str, Any]:
        done = cli("build-incomplete", *kg, *words, "--out", out, "--json")
        assert done.code == 0, done.err
        checked = cli("verify", out)
        assert (checked.code, checked.err) == (0, ""), checked.err
        return json.loads(done.out)

    return call


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def questions(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted(folder.glob("questions.*.jsonl")) for line in lines(path)]


def manifest(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_text())


def test_defaults_are_the_papers_and_go_to_a_folder_of_the_graphs_name(cli: Any, here: Path) -> None:
    done = cli("build-incomplete", "--kg", "Family_Synthetic", "--people", "300")
    assert done.code == 0
    assert [path.name for path in here.iterdir()] == ["family-synthetic-incomplete"]
    folder = here / "family-synthetic-incomplete"
    made = manifest(folder)
    assert (made["name"], made["kg"]) == ("family-synthetic-incomplete", "family-synthetic")
    expected = {
        "min_head_coverage": 0.1,
        "min_std_confidence": 0.3,
        "min_pca_confidence": 0.4,
        "min_head_size": 100,
        "max_length": 3,
        "groundings": 30,
        "max_answers": 100,
        "labels": "private",
        "mode": "corrected",
        "removal": "rules",
        "rate": 1.0,
        "twins": "mark",
        "wording": "template",
        "max_rules": None,
        "max_questions": None,
        "seed": 0,
    }
    assert expected.items() <= made["settings"].items()
    assert "folder family-synthetic-incomplete" in done.out
    assert f"{made['figures']['triples']['removed']:,}" in done.out
    assert done.err.splitlines()[-1].startswith("groundings: ")
    assert {row["twin"] for row in questions(folder)} <= {"symmetric", "inverse", "other reverse", "none"}


def test_json_is_the_manifests_figures_and_nothing_else_on_stdout(build: Any, here: Path) -> None:
    figures = build("out")
    assert figures.pop("out") == "out"
    assert figures == manifest(here / "out")["figures"]


def test_equal_commands_give_equal_bytes_and_another_seed_others(build: Any, here: Path) -> None:
    for out, words in (("a", ["--threads", "1"]), ("b", ["--threads", "3"]), ("c", ["--seed", "1"])):
        build(out, *words)
    a, b, c = ({path.name: path.read_bytes() for path in (here / out).iterdir()} for out in "abc")
    assert a == b
    assert a["triples.removed.tsv"] != c["triples.removed.tsv"]


def test_the_released_procedure(build: Any, here: Path) -> None:
    figures = build("out", "--mode", "released")
    asked = [(*row["topic_entities"], row["relation"], row["asked"]) for row in questions(here / "out")]
    assert len(set(asked)) < len(asked)  # duplicates stay
    assert figures["build"]["groundings"] <= 40 * 3


@pytest.mark.parametrize("twins", ["mark", "keep", "remove"])
def test_twins(build: Any, here: Path, twins: str) -> None:
    build("out", "--twins", twins)
    removed = {tuple(line.split("\t")) for line in lines(here / "out" / REMOVED)}
    left = {tuple(line.split("\t")) for line in lines(here / "out" / INCOMPLETE)}
    ends = {(tail, head) for head, _, tail in left}
    rows = questions(here / "out")
    back = [(row["removed"][0], row["removed"][2]) in ends for row in rows]
    certified = [json.loads(line)["twin_of"] for line in lines(here / "out" / "certificate.jsonl")]
    assert len(certified) == len(removed)
    if twins == "remove":
        assert not any(back) and any(certified)
        assert {row["twin"] for row in rows} == {"none"}
    else:
        assert any(back) and not any(certified)
        assert [row["twin"] not in ("", "none") for row in rows] == [found and twins == "mark" for found in back]


@pytest.mark.parametrize("removal", ["rules", "random", "shortest-path"])
def test_rates_are_nested(build: Any, here: Path, removal: str) -> None:
    before: set[str] = set()
    for rate in ("0.05", "0.3", "0.7", "1"):
        build(rate, "--removal", removal, "--rate", rate, "--seed", "2")
        complete, incomplete, removed = (lines(here / rate / name) for name in (COMPLETE, INCOMPLETE, REMOVED))
        assert sorted([*incomplete, *removed]) == sorted(complete)
        assert before < set(removed)
        before = set(removed)
    if removal == "random":
        assert len(lines(here / "0.3" / REMOVED)) == int(len(complete) * 0.3 + 0.5)


@pytest.mark.parametrize("removal", ["random", "shortest-path"])
def test_the_rules_questions_are_the_same_at_every_rate(build: Any, here: Path, removal: str) -> None:
    figures = [build(rate, "--removal", removal, "--rate", rate) for rate in ("0.1", "0.9")]
    low, high = (
        [(row["id"], row["question"], row["topic_entities"], row["answer"]) for row in questions(here / rate)]
        for rate in ("0.1", "0.9")
    )
    assert low == high
    assert figures[0]["left unanswerable"] <= figures[1]["left unanswerable"]
    build("whole")
    assert [row["question"] for row in questions(here / "whole")] == [row[1] for row in low]


class TestLabels:
    def entities(self, folder: Path) -> set[str]:
        return {end for line in lines(folder / COMPLETE) for end in line.split("\t")[::2]}

    def test_private_ones_are_numbers_that_are_no_ids(self, build: Any, here: Path) -> None:
        build("out", "--labels", "private")
        names = self.entities(here / "out")
        assert all(name.isdigit() for name in names)
        rows = [line.split("\t") for line in lines(here / "out" / "labels.tsv")[1:]]
        assert not {label for label, _, _ in rows} & {name for _, name, _ in rows}

    def test_ids(self, build: Any, here: Path) -> None:
        build("out", "--labels", "id")
        assert self.entities(here / "out") <= {str(number) for number in range(1, 121)}
        assert all(
            label == name for label, name, _ in (x.split("\t") for x in lines(here / "out" / "labels.tsv")[1:])
        )

    def test_text_is_an_error_where_the_graph_has_none(self, cli: Any, here: Path) -> None:
        done = cli("build-incomplete", *TREE, "--labels", "text")
        assert done.code == 2
        assert "no labels for its entities" in done.err
        assert "rules:" not in done.err  # refused before the mining
        assert list(here.iterdir()) == []

    def test_text(self, build: Any, here: Path, tmp_path: Path) -> None:
        ways = [("wife", 2 * n, 2 * n + 1) for n in range(30)] + [("husband", 2 * n + 1, 2 * n) for n in range(30)]
        graph = build_graph(
            [f"e{head}" for _, head, _ in ways],
            [relation for relation, _, _ in ways],
            [f"e{tail}" for _, _, tail in ways],
            source="pairs",
            entity_labels={f"e{n}": f"Person {n}" for n in range(60)},
        )
        write_turtle(graph, tmp_path / "pairs.ttl")
        build("out", "--labels", "text", kg=["--kg", str(tmp_path / "pairs.ttl"), "--min-head-size", "5"])
        assert self.entities(here / "out") == {f"Person {n}" for n in range(60)}
        assert all("Person" in row["question"] for row in questions(here / "out"))


class TestRules:
    GIVEN = "?a  wife  ?b   => ?b  husband  ?a\n?a son ?c ?b father ?c => ?a brother ?b\n"

    def rules(self, tmp_path: Path, text: str) -> list[str]:
        (tmp_path / "rules.tsv").write_text(text)
        return ["--rules", str(tmp_path / "rules.tsv")]

    def test_given_rules_are_taken_instead_of_mined_ones(self, build: Any, here: Path, tmp_path: Path) -> None:
        text = "?a husband ?b => ?b wife ?a\n\n?a wife ?b => ?b husband ?a\n"
        figures = build("out", *self.rules(tmp_path, text))
        assert figures["rules"] == {"symmetry": 0, "inversion": 2, "hierarchy": 0, "composition": 0, "other": 0}
        assert {row["relation"] for row in questions(here / "out")} <= {"wife", "husband"}
        assert len(manifest(here / "out")["settings"]["rules_sha256"]) == 64
        assert str(tmp_path) not in (here / "out" / "manifest.json").read_text()

    def test_mined_rules_given_back_make_the_same_questions(self, cli: Any, build: Any, here: Path) -> None:
        mined = cli("mine", *TREE[:6], "--out", "rules.tsv")
        assert mined.code == 0
        build("mined")
        build("given", "--rules", "rules.tsv")
        assert questions(here / "mined") == questions(here / "given")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("?a wife ?b => ?b husband ?a\n\n?a wyfe ?b => ?b husband ?a\n", ["line 3", "'wyfe'", "'wife'"]),
            ("?a wife ?b => ?b cousin ?a\n", ["line 1", "'cousin'", "?a cousin ?b"]),
            ("?a wife ?b => ?a wife ?b\n?a uncle ?b => ?a wife ?b\n", ["line"]),
            ("?a uncle ?b => ?a wife ?b\n", ["line 1", "no support", "?a wife ?b"]),
            ("?a wife ?b => ?b husband ?a\n?a wife ?b => ?b husband ?a\n", ["line 2", "line 1 already"]),
            ("?a wife => ?b husband ?a\n", ["line 1"]),
            ("not a rule\n", ["line 1", "neither a rule"]),
            ("", ["no rule"]),
        ],
    )
    def test_a_bad_rule_is_named_with_file_and_line(
        self, cli: Any, here: Path, tmp_path: Path, text: str, message: list[str]
    ) -> None:
        done = cli("build-incomplete", *TREE, *self.rules(tmp_path, text))
        assert done.code == 2
        assert all(part in done.err for part in ["rules.tsv", *message]), done.err
        assert list(here.iterdir()) == []

    @pytest.mark.parametrize(("most", "number"), [("5", 5), ("3", 3), ("0", None), ("100000", None)])
    def test_most_rules(self, build: Any, here: Path, most: str, number: int | None) -> None:
        tree = TREE[:6]
        figures = build("out", "--max-rules", most, "--groundings", "2", kg=tree)
        assert sum(figures["rules"].values()) == (number or figures["build"]["rules found"])
        assert manifest(here / "out")["settings"]["max_rules"] == (int(most) or None)


@pytest.mark.parametrize(("most", "number"), [("30", 30), ("0", None), ("100000", None)])
def test_most_questions(build: Any, here: Path, most: str, number: int | None) -> None:
    figures = build("out", "--max-questions", most)
    count = sum(figures["questions"].values())
    assert count == len(questions(here / "out"))
    assert count == number if number else count > 30
    assert (figures["build"]["questions not drawn"] > 0) == (number is not None)


def test_questions_with_many_answers_are_left_out_and_counted(build: Any, here: Path) -> None:
    figures = build("out", "--max-answers", "2")
    assert figures["build"]["questions with too many answers"] > 0
    assert max(len(row["answer"]) for row in questions(here / "out")) <= 2


def test_a_cap_on_one_answers_share(build: Any, here: Path) -> None:
    whole = build("whole")
    capped = build("capped", "--max-share", "0.02")
    assert sum(capped["questions"].values()) < sum(whole["questions"].values())


OWN = {
    "folder": str(FAMILY_MINI),
    "split": str(FAMILY_MINI / "questions.test.jsonl"),
    "jsonl": "own.jsonl",
    "graphs": "graphs.jsonl",
}


class TestAnotherSetsQuestions:
    @pytest.fixture(autouse=True)
    def sets(self, tmp_path: Path, here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        place = tmp_path / "sets"
        place.mkdir()
        own = [
            {
                "id": f"{n}",
                "kind": "entities",
                "question": f"Who is {n}?",
                "topic_entities": [f"{n}"],
                "answer": [f"{m}"],
            }
            for n, m in ((1, 2), (3, 4), (5, 6), (7, 8))
        ]
        (place / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in own))
        rog = [
            {
                "id": f"q{n}", "question": f"Q{n}?", "answer": ["c"], "q_entity": ["a"], "a_entity": ["c"],
                "graph": [["a", "r", "b"], ["b", "s", "c"], ["a", "r", f"x{n}"]],
            }
            for n in range(8)
        ]  # fmt: skip
        (place / "graphs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rog))
        return place

    @pytest.mark.parametrize("removal", ["random", "shortest-path"])
    @pytest.mark.parametrize(("form", "kg"), [("folder", []), ("split", []), ("jsonl", TREE[:4]), ("graphs", [])])
    def test_forms(self, build: Any, here: Path, sets: Path, form: str, removal: str, kg: list[str]) -> None:
        path = str(sets / OWN[form])
        figures = [
            build(f"{rate}", "--questions", path, "--removal", removal, "--rate", rate, kg=kg)
            for rate in ("0.2", "1")
        ]
        counts = {"folder": 280, "split": 28, "jsonl": 4, "graphs": 8}
        assert abs(figures[0]["questions"] - counts[form]) <= 5
        assert figures[0]["removed"] < figures[1]["removed"]
        if removal == "random":
            assert figures[1]["answerable after"] == 0

    def test_a_folder_takes_its_name_from_the_questions(self, cli: Any, here: Path) -> None:
        done = cli("build-incomplete", "--questions", str(FAMILY_MINI), "--removal", "random", "--rate", "0.5")
        assert done.code == 0
        assert [path.name for path in here.iterdir()] == ["family_mini-incomplete"]

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--questions", "{folder}"], "--removal random or --removal shortest-path"),
            (["--questions", "{jsonl}", "--removal", "random"], "have no graph"),
            (["--questions", "none.jsonl", "--removal", "random"], "no file none.jsonl"),
            (["--questions", "{folder}", "--removal", "random", "--people", "50"], "--people is about a graph"),
            (["--questions", "{folder}", "--removal", "random", "--part", "all"], "--part is about a graph"),
            (["--questions", "{folder}", "--removal", "random", "--labels", "id"], "--labels does nothing"),
            (["--questions", "{folder}", "--removal", "random", "--max-answers", "5"], "--max-answers does nothing"),
            (["--questions", "{jsonl}", "--removal", "shortest-path", "--kg", "{pair}"], "No question has a path"),
        ],
    )
    def test_refused(self, cli: Any, here: Path, sets: Path, words: list[str], message: str) -> None:
        (sets / "pair.tsv").write_text("x\tr\ty\n")
        places = {name: str(sets / path) for name, path in {**OWN, "pair": "pair.tsv"}.items()}
        done = cli("build-incomplete", *(word.format(**places) for word in words))
        assert done.code == 2
        assert message in done.err
        assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--min-head-coverage 0", "min_head_coverage"),
        ("--min-head-coverage 1.1", "min_head_coverage"),
        ("--min-std-confidence -0.1", "min_std_confidence"),
        ("--min-std-confidence nan", "min_std_confidence"),
        ("--min-pca-confidence 2", "min_pca_confidence"),
        ("--max-length 1", "max_length"),
        ("--max-length 5", "max_length"),
        ("--min-head-size 0", "min_head_size"),
        ("--max-rules -1", "max_rules"),
        ("--max-questions -1", "max_questions"),
        ("--max-answers 0", "max_answers"),
        ("--max-share 0", "max_share"),
        ("--max-share 1.5", "max_share"),
        ("--groundings 0", "groundings"),
        ("--threads -1", "threads"),
        (f"--seed {2**64}", "more than 64 bits"),
        (f"--min-head-size {2**70}", "more than 64 bits"),
        ("--rate 0", "rate"),
        ("--rate 1.01", "rate"),
        ("--seed -1", "--seed"),
        ("--rate half", "--rate"),
        ("--mode old", "mode"),
        ("--removal all", "removal"),
        ("--twins both", "twins"),
        ("--labels names", "labels"),
        ("--wording human", "wording"),
        ("--wording llm", "--model NAME"),
        ("--model m", "--wording llm"),
        ("--base-url http://127.0.0.1:9/v1", "--wording llm"),
        ("--mode released --twins remove", "released"),
        ("--mode released --rate 0.5", "released"),
        ("--people 5", "people"),
        ("--part facts", "no part 'facts'"),
        ("--min-head-size 100000", "no rule within the thresholds"),
        ("--kg nosuchgraph", "'nosuchgraph'"),
        ("--kg nosuch.tsv", "nosuch.tsv"),
    ],
)
def test_refused_with_nothing_left_behind(cli: Any, here: Path, words: str, message: str) -> None:
    done = cli("build-incomplete", *TREE, *words.split())
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
    assert done.out == ""
    assert list(here.iterdir()) == []


def test_no_graph(cli: Any, here: Path) -> None:
    done = cli("build-incomplete")
    assert done.code == 2
    assert "no graph to build from" in done.err and "--kg NAME" in done.err
    assert list(here.iterdir()) == []


def test_a_graph_whose_rules_give_no_question(cli: Any, here: Path, tmp_path: Path) -> None:
    (tmp_path / "loops.tsv").write_text("".join(f"e{n}\tlikes\te{n}\n" for n in range(30)))
    done = cli("build-incomplete", "--kg", str(tmp_path / "loops.tsv"), "--min-head-size", "5")
    assert done.code == 2
    assert "no rule" in done.err or "no question" in done.err
    assert list(here.iterdir()) == []


def test_an_unknown_part_of_a_known_graph(cli: Any, here: Path, tmp_path: Path) -> None:
    (tmp_path / "umls").mkdir()
    for part in ("facts", "train", "valid", "test"):
        (tmp_path / "umls" / f"{part}.txt").write_text("a\tr\tb\n")
    done = cli("build-incomplete", "--kg", "umls", "--data", str(tmp_path), "--part", "facts,tset")
    assert done.code == 2
    assert "'tset'" in done.err
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("used", ["a folder", "a file", "a link"])
def test_an_output_in_use_is_refused_before_the_graph_is_read(cli: Any, here: Path, used: str) -> None:
    out = here / "out"
    if used == "a folder":
        out.mkdir()
        (out / "notes.txt").write_text("mine")
    elif used == "a file":
        out.write_text("mine")
    else:
        out.symlink_to(here / "nowhere")
    done = cli("build-incomplete", "--kg", "nosuch.tsv", "--out", "out")
    assert done.code == 2
    assert "out is in use" in done.err
    assert [path.name for path in here.iterdir()] == ["out"]


def test_a_free_folder_below_missing_ones_is_made(build: Any, here: Path) -> None:
    build("some/new/out")
    assert (here / "some" / "new" / "out" / "manifest.json").is_file()
    assert [path.name for path in (here / "some" / "new").iterdir()] == ["out"]
