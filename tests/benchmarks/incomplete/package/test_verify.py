"""Every kind of tampering is caught, also where the manifest's hashes were made to fit again."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from kgqa_bench.benchmarks.incomplete.model import SPLITS
from kgqa_bench.benchmarks.incomplete.package import write_package
from kgqa_bench.benchmarks.incomplete.released import row_split
from kgqa_bench.benchmarks.incomplete.verify import verify_folder

Tamper = Callable[[Path], None]


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines()


def write_lines(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines))


def edit(name: str, line: int, change: Callable[[str], str]) -> Tamper:
    """Changes one line, counted from 1."""

    def tamper(folder: Path) -> None:
        lines = lines_of(folder / name)
        before = lines[line - 1]
        lines[line - 1] = change(before)
        assert lines[line - 1] != before
        write_lines(folder / name, lines)

    return tamper


def field(name: str, line: int, **changes: Any) -> Tamper:
    """Changes keys of one row of JSON; a function is given the old value."""

    def change(text: str) -> str:
        row = orjson.loads(text)
        for key, value in changes.items():
            row[key] = value(row[key]) if callable(value) else value
        return orjson.dumps(row).decode()

    return edit(name, line, change)


def cell(name: str, line: int, column: int, change: Callable[[str], str]) -> Tamper:
    """Changes one field of a table."""

    def changed(text: str) -> str:
        fields = text.split("\t")
        fields[column] = change(fields[column])
        return "\t".join(fields)

    return edit(name, line, changed)


def removed_triple_put_back(folder: Path) -> None:
    triple = lines_of(folder / "triples.removed.tsv")[4]
    lines = [*lines_of(folder / "triples.incomplete.tsv"), triple]
    write_lines(folder / "triples.incomplete.tsv", sorted(lines))


def removed_triple_put_back_everywhere(folder: Path) -> None:
    """Also out of the list of removed triples and without its certificate."""
    triple = lines_of(folder / "triples.removed.tsv")[4]
    removed_triple_put_back(folder)
    write_lines(
        folder / "triples.removed.tsv",
        [line for line in lines_of(folder / "triples.removed.tsv") if line != triple],
    )
    write_lines(
        folder / "certificate.jsonl",
        [row for row in lines_of(folder / "certificate.jsonl") if orjson.loads(row)["removed"] != triple.split("\t")],
    )


def body_triple_deleted(folder: Path) -> None:
    body = "\t".join(orjson.loads(lines_of(folder / "certificate.jsonl")[7])["body"][0])
    for name in ("triples.incomplete.tsv", "triples.complete.tsv"):
        kept = [line for line in lines_of(folder / name) if line != body]
        assert len(kept) < len(lines_of(folder / name))
        write_lines(folder / name, kept)


def body_triple_deleted_from_the_incomplete_graph(folder: Path) -> None:
    body = "\t".join(orjson.loads(lines_of(folder / "certificate.jsonl")[7])["body"][0])
    lines = lines_of(folder / "triples.incomplete.tsv")
    write_lines(folder / "triples.incomplete.tsv", [line for line in lines if line != body])


def body_triple_moved_to_the_removed(folder: Path) -> None:
    body = "\t".join(orjson.loads(lines_of(folder / "certificate.jsonl")[7])["body"][0])
    body_triple_deleted_from_the_incomplete_graph(folder)
    write_lines(folder / "triples.removed.tsv", sorted([*lines_of(folder / "triples.removed.tsv"), body]))


def question_moved_to_another_split(folder: Path) -> None:
    moved, *rest = lines_of(folder / "questions.test.jsonl")
    write_lines(folder / "questions.test.jsonl", rest)
    write_lines(folder / "questions.train.jsonl", sorted([moved, *lines_of(folder / "questions.train.jsonl")]))


def questions_exchanged_between_splits(folder: Path) -> None:
    """Two of the same rule type, asked end and size, so that no count changes."""
    there = {name: lines_of(folder / f"questions.{name}.jsonl") for name in ("test", "train")}

    def kind(line: str) -> tuple[Any, ...]:
        row = orjson.loads(line)
        return (row["rule"], row["asked"], len(row["answer"]), len(row["hard_answers"]))

    one, other = next((a, b) for a in there["test"] for b in there["train"] if kind(a) == kind(b))
    for name, old, new in (("test", one, other), ("train", other, one)):
        lines = [line for line in there[name] if line != old]
        write_lines(folder / f"questions.{name}.jsonl", sorted([*lines, new]))


def question_deleted(folder: Path) -> None:
    write_lines(folder / "questions.train.jsonl", lines_of(folder / "questions.train.jsonl")[1:])


def question_repeated(folder: Path) -> None:
    lines = lines_of(folder / "questions.train.jsonl")
    write_lines(folder / "questions.train.jsonl", [lines[0], *lines])


def two_labels_swapped(folder: Path) -> None:
    """Those of two persons who stand alike in the graph, so that it stays the same."""
    header, *lines = lines_of(folder / "labels.tsv")
    rows = [line.split("\t") for line in lines]
    one, other = (next(row for row in rows if row[1] == name) for name in ("gr1", "gr3"))
    one[1:], other[1:] = other[1:], one[1:]
    write_lines(folder / "labels.tsv", [header, *("\t".join(row) for row in rows)])


def label_rows_swapped_for_unlike_persons(folder: Path) -> None:
    header, *lines = lines_of(folder / "labels.tsv")
    rows = [line.split("\t") for line in lines]
    one, other = (next(row for row in rows if row[1] == name) for name in ("gr1", "fa3"))
    one[1], other[1] = other[1], one[1]
    write_lines(folder / "labels.tsv", [header, *("\t".join(row) for row in rows)])


def certificate_deleted(folder: Path) -> None:
    write_lines(folder / "certificate.jsonl", lines_of(folder / "certificate.jsonl")[:-1])


def certificate_repeated(folder: Path) -> None:
    lines = lines_of(folder / "certificate.jsonl")
    write_lines(folder / "certificate.jsonl", [lines[0], *lines])


def last_of(rows: list[Any]) -> list[Any]:
    return rows[:-1] or ["nobody"]


TAMPERINGS: dict[str, tuple[Tamper, str]] = {
    "removed triple put back": (removed_triple_put_back, "triples.incomplete.tsv, line "),
    "removed triple put back everywhere": (removed_triple_put_back_everywhere, "is not removed"),
    "body triple deleted": (body_triple_deleted, "is not there"),
    "body triple deleted from the incomplete graph": (
        body_triple_deleted_from_the_incomplete_graph, "triples.complete.tsv, line ",
    ),
    "body triple moved to the removed": (body_triple_moved_to_the_removed, "has no certificate"),
    "a removed triple made up": (
        edit("triples.removed.tsv", 3, lambda text: text.replace("_of", "_off")), "triples.removed.tsv, line 3",
    ),
    "question": (field("questions.train.jsonl", 2, question="Who is it?"), "questions.train.jsonl, line 2"),
    "direction of the question": (
        field("questions.test.jsonl", 1, asked=lambda end: "tail" if end == "head" else "head"),
        "questions.test.jsonl, line 1",
    ),
    "relation": (field("questions.test.jsonl", 1, relation="child_off"), "questions.test.jsonl, line 1"),
    "gold answer left out": (field("questions.train.jsonl", 3, answer=last_of), "questions.train.jsonl, line 3"),
    "gold answer added": (
        field("questions.train.jsonl", 3, answer=lambda rows: sorted([*rows, "1"])), "answer is not what",
    ),
    "hard flag left out": (field("questions.train.jsonl", 3, hard_answers=[]), "hard_answers is not what"),
    "hard flag added": (
        field("questions.train.jsonl", 3, hard_answers=lambda rows: sorted([*rows, "1"])), "hard_answers is not what",
    ),
    "primary answer": (field("questions.train.jsonl", 3, primary="1"), "primary answer '1'"),
    "topic": (field("questions.train.jsonl", 5, topic_entities=["1"]), "the topic '1'"),
    "removed triple of a question": (
        field("questions.train.jsonl", 5, removed=lambda triple: triple[::-1]), "questions.train.jsonl, line 5",
    ),
    "grounding": (field("questions.train.jsonl", 5, grounding=lambda rows: rows[::-1] * 2), "rule and grounding"),
    "hops": (field("questions.train.jsonl", 5, hops=7), "hops is 7"),
    "twin stratum": (
        field("questions.train.jsonl", 5, twin=lambda twin: "none" if twin != "none" else "inverse"), "twin is",
    ),
    "rule type": (field("questions.train.jsonl", 5, rule_type="other"), "is of type"),
    "rule subtype": (field("questions.train.jsonl", 5, rule_subtype="rest"), "is of type"),
    "rule number of a question": (field("questions.train.jsonl", 5, rule=lambda n: n % 4 + 1), "line 5"),
    "rule number out of range": (field("questions.train.jsonl", 5, rule=5), "there is no rule 5"),
    "rule number of a certificate": (field("certificate.jsonl", 5, rule=lambda n: n % 4 + 1), "no grounding of rule"),
    "rule number of a certificate, out of range": (field("certificate.jsonl", 5, rule=0), "there is no rule 0"),
    "rule number in the list of rules": (cell("rules.tsv", 3, 0, lambda number: "7"), "rules.tsv, line "),
    "rule": (
        cell("rules.tsv", 3, 1, lambda text: "?b mother_of ?a => ?a child_of ?b"), "rules.tsv, line 3",
    ),
    "counts of a rule": (
        cell("rules.tsv", 2, 8, lambda text: str(int(text) + 1)), "rules.tsv, line 2",
    ),
    "question id": (field("questions.train.jsonl", 5, id="0999"), "not in its form"),
    "question in another split": (question_moved_to_another_split, "figures: questions is"),
    "questions exchanged between splits": (questions_exchanged_between_splits, "the draw has it in"),
    "question deleted": (question_deleted, "figures: questions is"),
    "question repeated": (question_repeated, "the same id"),
    "label map": (two_labels_swapped, "labels.tsv, line "),
    "label map, seen from the graph": (label_rows_swapped_for_unlike_persons, "source_fingerprint"),
    "label map: label": (cell("labels.tsv", 2, 0, lambda label: label + "1"), "labels.tsv"),
    "label map: text": (cell("labels.tsv", 2, 2, lambda text: text + "x"), "ids and texts"),
    "relation label": (cell("relations.tsv", 2, 1, lambda text: "is no child of"), "questions."),
    "certificate deleted": (certificate_deleted, "has no certificate"),
    "certificate repeated": (certificate_repeated, "certificate.jsonl, line 2"),
    "certificate's removed triple": (
        field("certificate.jsonl", 5, removed=lambda triple: triple[::-1]), "certificate.jsonl, line 5",
    ),
    "certificate's body": (field("certificate.jsonl", 5, body=lambda rows: [rows[0][::-1]]), "no grounding of rule"),
    "certificate's confidence": (field("certificate.jsonl", 5, std_confidence=0.5), "std_confidence is 0.5"),
    "certificate's other confidence": (field("certificate.jsonl", 5, pca_confidence=0.5), "pca_confidence is 0.5"),
    "data card": (edit("README.md", 30, lambda text: text + "x"), "README.md, line 30"),
}  # fmt: skip


@pytest.fixture(params=["native miner", "brute force"])
def counter(request, measure):
    return measure if request.param == "brute force" else None


def test_an_honest_folder_passes(folder, counter) -> None:
    assert verify_folder(folder, counter) == []


@pytest.mark.parametrize("hashes", ["old", "made to fit"])
@pytest.mark.parametrize("what", TAMPERINGS)
def test_tampering_is_caught(folder, rehash, measure, what, hashes) -> None:
    tamper, expected = TAMPERINGS[what]
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    tamper(folder)
    changed = {name for name, content in before.items() if (folder / name).read_bytes() != content}
    if hashes == "made to fit":
        rehash(folder)
    problems = verify_folder(folder, measure)
    if hashes == "old":
        for name in changed:
            assert f"{name}: the file is not the one that manifest.json has the hash of." in problems
    else:
        assert not any("has the hash of" in problem for problem in problems)
        assert any(expected in problem for problem in problems), problems


@pytest.mark.parametrize("name", ["README.md", "triples.complete.tsv", "questions.validation.jsonl"])
def test_a_changed_hash_is_caught(folder, measure, name) -> None:
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    manifest["files"][name] = "0" * 64
    (folder / "manifest.json").write_bytes(orjson.dumps(manifest))
    assert verify_folder(folder, measure) == [f"{name}: the file is not the one that manifest.json has the hash of."]


@pytest.mark.parametrize(
    ("keys", "value", "expected"),
    [
        (("source_fingerprint",), "0" * 64, "source_fingerprint"),
        (("settings", "seed"), 1, "seed 1"),
        (("settings", "labels"), "id", "labels.tsv, line 2"),
        (("settings", "labels"), "nonsense", "not possible"),
        (("settings", "max_answers"), 1, "more than max_answers"),
        (("settings", "twins"), "keep", "twin is"),
        (("settings", "mode"), "released", "answer is not what"),
        (("figures", "triples", "removed"), 61, "figures: triples"),
        (("figures", "graph", "complete", "components"), 1, "figures: graph"),
        (("figures", "more"), {}, "not those of a built benchmark"),
        (("files", "more.txt"), "0" * 64, "no file of a built benchmark"),
    ],
)
def test_a_changed_manifest_is_caught(folder, measure, keys, value, expected) -> None:
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    place = manifest
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    (folder / "manifest.json").write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2) + b"\n")
    problems = verify_folder(folder, measure)
    assert any(expected in problem for problem in problems), problems


@pytest.mark.parametrize("name", ["triples.incomplete.tsv", "rules.tsv", "README.md", "manifest.json"])
def test_a_missing_file_is_named(folder, measure, name) -> None:
    (folder / name).unlink()
    problems = verify_folder(folder, measure)
    assert any(name in problem for problem in problems), problems


def test_twins_that_were_removed_too_have_certificates(tmp_path, content, measure) -> None:
    """Both directions of a marriage gone: the other one's certificate stands for both."""
    row = next(row for row in content.certificates if row.rule == 4)
    mother, child = row.removed[0], row.removed[2]
    twin = (child, "child_of", mother)
    certificate = row.model_copy(update={"removed": twin, "twin_of": row.removed})
    questions = {
        split: [
            each.model_copy(update={"twin": "none"}) if each.removed == row.removed else each for each in rows
        ]
        for split, rows in content.questions.items()
    }  # fmt: skip
    changed = dataclasses.replace(
        content,
        removed=content.removed | {twin},
        certificates=[*content.certificates, certificate],
        questions=questions,
    )
    write_package(changed, tmp_path / "twins")
    assert verify_folder(tmp_path / "twins", measure) == []

    other = certificate.model_copy(update={"body": row.body * 2})
    wrong = dataclasses.replace(changed, certificates=[*content.certificates, other])
    write_package(wrong, tmp_path / "wrong")
    assert any(
        "are not those of the certificate" in problem for problem in verify_folder(tmp_path / "wrong", measure)
    )


@pytest.mark.parametrize("seed", range(40))
def test_any_changed_byte_is_caught(folder, rehash, measure, seed) -> None:
    """Wherever it is, with hashes that fit, and without any other error."""
    draw = random.Random(seed)
    path = folder / draw.choice(sorted(path.name for path in folder.iterdir()))
    content = bytearray(path.read_bytes())
    place = draw.randrange(len(content))
    content[place] = draw.choice([byte for byte in b'0123"\\\n\t ax\xff' if byte != content[place]])
    path.write_bytes(content)
    if path.name != "manifest.json":
        rehash(folder)
    assert verify_folder(folder, measure) != [], (path.name, place)


@pytest.mark.parametrize(
    "value", [10**30, None, "x", [], {"a": 10**30}, -1, True, "[" * 500 + "]" * 500, 1e308], ids=str
)
@pytest.mark.parametrize("place", ["figures", "build", "triples", "settings", "seed", "rule", "hops", "certificate"])
def test_odd_values_are_told_and_not_stumbled_over(folder, rehash, measure, place, value) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    name = {"certificate": "certificate.jsonl", "rule": "questions.test.jsonl", "hops": "questions.test.jsonl"}.get(
        place
    )
    text = value if isinstance(value, str) and value != "x" else json.dumps(value)
    if name is not None:
        lines = lines_of(folder / name)
        key = "rule" if place == "certificate" else place
        lines[0] = re.sub(rf'"{key}":\d+', lambda _: f'"{key}":{text}', lines[0])
        write_lines(folder / name, lines)
        rehash(folder)
    else:
        slot = {
            "figures": (manifest, "figures"),
            "build": (manifest["figures"], "build"),
            "triples": (manifest["figures"], "triples"),
            "settings": (manifest, "settings"),
            "seed": (manifest["settings"], "seed"),
        }[place]
        slot[0][slot[1]] = "@@"
        (folder / "manifest.json").write_text(json.dumps(manifest).replace('"@@"', text))
    assert verify_folder(folder, measure) != []


class TestQuestionsInAModelsWords:
    def worded(self, tmp_path: Path, content, text: str, whose: str = "llm") -> Path:
        """The first test question's wording replaced; ``{topic}`` and ``{answer}`` stand for its own."""
        first, *rest = content.questions["test"]
        other = text.format(topic=first.topic_entities[0], answer=first.primary)
        changed = dataclasses.replace(
            content,
            settings={**content.settings, "wording": "llm"},
            questions={
                **content.questions,
                "test": [first.model_copy(update={"question": other, "wording": whose}), *rest],
            },
        )
        write_package(changed, tmp_path / "worded")
        return tmp_path / "worded"

    def test_the_templates_words_are_fit(self, tmp_path, content, measure) -> None:
        changed = dataclasses.replace(content, settings={**content.settings, "wording": "llm"})
        write_package(changed, tmp_path / "worded")
        assert verify_folder(tmp_path / "worded", measure) == []

    @pytest.mark.parametrize(
        ("text", "problem"),
        [("Who is it?", "no topic"), ("Is {answer} the child of {topic}?", "yes or no"), ("{topic}", "no question")],
    )
    def test_unfit_words_are_told(self, tmp_path, content, measure, text, problem) -> None:
        problems = verify_folder(self.worded(tmp_path, content, text), measure)
        assert len(problems) == 1
        assert problem in problems[0]
        assert problems[0].startswith("questions.test.jsonl, line 1")

    def test_words_that_are_not_the_templates_are_a_models(self, tmp_path, content, measure) -> None:
        text = "Of whom is {topic} the relative?"
        problems = verify_folder(self.worded(tmp_path, content, text, "template"), measure)
        assert len(problems) == 1
        assert "but its wording is" in problems[0]

    def test_no_model_was_asked(self, tmp_path, content, measure) -> None:
        first, *rest = content.questions["test"]
        rows = [first.model_copy(update={"wording": "llm"}), *rest]
        write_package(dataclasses.replace(content, questions={**content.questions, "test": rows}), tmp_path / "x")
        problems = verify_folder(tmp_path / "x", measure)
        where = f"questions.test.jsonl, line 1: question {first.id}"
        assert problems == [f"{where}: it is said to be in a model's words, but no model was asked."]


def test_a_file_that_would_be_read_as_a_split(folder, measure) -> None:
    (folder / "questions.more.jsonl").write_text("")
    assert verify_folder(folder, measure) == ["questions.more.jsonl: no file of this benchmark."]


class TestReleasedMode:
    """It is held to the published procedure: the tails of the removed triple's head, a split of rows."""

    @pytest.fixture
    def released(self, tmp_path: Path, content) -> Path:
        rows = sorted(itertools.chain(*content.questions.values()), key=lambda row: row.id)
        changed = []
        for row in rows:
            head, relation, _tail = row.removed
            tails = sorted(triple.tail for triple in content.complete if triple[:2] == (head, relation))
            hard = [tail for tail in tails if (head, relation, tail) in content.removed]
            changed.append(row.model_copy(update={"answer": tuple(tails), "hard_answers": tuple(hard)}))
        splits = row_split(len(rows))
        questions = {
            split: [row for row, its in zip(changed, splits, strict=True) if its == split] for split in SPLITS
        }  # fmt: skip
        settings = {**content.settings, "mode": "released"}
        write_package(dataclasses.replace(content, settings=settings, questions=questions), tmp_path / "released")
        return tmp_path / "released"

    def test_its_defects_are_no_tampering(self, released, measure) -> None:
        rows = [orjson.loads(line) for line in lines_of(released / "questions.train.jsonl")]
        assert any(row["primary"] not in row["answer"] for row in rows)
        assert verify_folder(released, measure) == []

    @pytest.mark.parametrize(
        "what",
        ["gold answer added", "hard flag added", "topic", "question", "grounding", "question in another split",
         "questions exchanged between splits", "removed triple put back", "certificate's body", "rule subtype"],
    )  # fmt: skip
    def test_tampering_is_caught(self, released, rehash, measure, what) -> None:
        TAMPERINGS[what][0](released)
        rehash(released)
        assert verify_folder(released, measure) != []

    def test_corrected_answers_are_not_the_procedures(self, tmp_path, content, measure) -> None:
        settings = {**content.settings, "mode": "released"}
        write_package(dataclasses.replace(content, settings=settings), tmp_path / "other")
        assert any("answer is not what" in problem for problem in verify_folder(tmp_path / "other", measure))
