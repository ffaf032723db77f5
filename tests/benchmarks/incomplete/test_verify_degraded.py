"""Degraded question sets are re-checked from their files: fresh ones are right, and tampering is caught."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgqa_bench import registry
from kgqa_bench.benchmarks.incomplete.degraded_set import degrade_each, degrade_shared
from kgqa_bench.benchmarks.incomplete.degrees import Degree
from kgqa_bench.benchmarks.incomplete.verify import verify_folder
from kgqa_bench.errors import DataError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.question_sets.model import SetQuestion

Tamper = Callable[[list[str]], list[str]]

# a wheel: every hub-and-rim way has detours, so that paths are drawn from several
TRIPLES = [("hub", "spoke", f"rim{n}") for n in range(12)] + [
    (f"rim{n}", "next", f"rim{(n + 1) % 12}") for n in range(12)
]


def question(number: int, topic: str, answer: str, split: str, **more: Any) -> SetQuestion:
    return SetQuestion(
        id=f"{number}",
        text=f"Ünder {topic}?\r",
        split=split,
        line=number,
        topics=(topic,),
        answers=(answer,),
        answer_entities=(answer,),
        **more,
    )


QUESTIONS = [question(n, f"rim{n}", f"rim{(n + 5) % 12}", "dev 1hop") for n in range(12)] + [
    question(n, f"rim{n}", "hub", "test 2hop") for n in range(12)
]


def shared(out: Path, removal: str, rate: float = 0.4, **settings: Any) -> Path:
    # names that are in no triple, and none of the questions' names but one
    names = sorted({name for head, _, tail in TRIPLES for name in (head, tail)} | {"alone"})
    heads, relations, tails = zip(*TRIPLES, strict=True)
    graph = build_graph(
        [names.index(head) for head in heads],
        [["next", "spoke", "unused"].index(relation) for relation in relations],
        [names.index(tail) for tail in tails],
        source="wheel",
        entity_names=names,
        relation_names=["next", "spoke", "unused"],
    )
    questions = [*QUESTIONS, question(99, "alone", "alone", "dev 1hop")]
    degree = Degree(removal=removal, rate=rate, seed=3, **settings)
    degrade_shared(graph, lambda: questions, degree, out, name="wheel | less", kg="wheel")
    return out


def own(out: Path, removal: str, rate: float = 0.4) -> Path:
    graphs = [tuple(TRIPLES[n % 5 :] + TRIPLES[n % 5 :][:1]) for n in range(len(QUESTIONS))]
    rows = [
        question(int(each.id), each.topics[0], each.answers[0], each.split.split()[0], triples=graph)
        for each, graph in zip(QUESTIONS, graphs, strict=True)
    ]
    degrade_each(lambda: rows, Degree(removal=removal, rate=rate, seed=3), out, name="own", kg="wheel")
    return out


@pytest.mark.parametrize("make", [shared, own])
@pytest.mark.parametrize("removal", ["random", "shortest-path"])
@pytest.mark.parametrize("rate", [0.01, 0.4, 1])
def test_a_fresh_set_is_right(tmp_path: Path, make: Callable[..., Path], removal: str, rate: float) -> None:
    assert registry.create("builders", "incomplete").verify(make(tmp_path / "set", removal, rate)) == []


def test_confidences_are_part_of_it(tmp_path: Path) -> None:
    graph = build_graph(["a", "b"], ["r", "r"], ["b", "c"], [0.25, 1.0], source="weights")
    rows = [question(1, "a", "b", "test")]
    degrade_shared(graph, lambda: rows, Degree(removal="random", rate=0.5), tmp_path / "set", name="x", kg="y")
    assert verify_folder(tmp_path / "set") == []


def test_two_splits_of_one_file_are_refused(tmp_path: Path) -> None:
    rows = [question(1, "rim1", "hub", "dev 1"), question(2, "rim1", "hub", "dev-1")]
    with pytest.raises(DataError, match="one file"):
        degrade_each(
            lambda: [question(int(row.id), "rim1", "hub", row.split, triples=tuple(TRIPLES)) for row in rows],
            Degree(removal="random", rate=0.5),
            tmp_path / "set",
            name="x",
            kg="y",
        )
    assert list(tmp_path.iterdir()) == []


def tampered(folder: Path, name: str, change: Tamper) -> None:
    lines = (folder / name).read_text().split("\n")[:-1]
    changed = change(list(lines))
    assert changed != lines
    (folder / name).write_text("".join(line + "\n" for line in changed))


def sub(old: str, new: str, at: int = 0) -> Tamper:
    def change(lines: list[str]) -> list[str]:
        assert old in lines[at], lines[at]
        return [*lines[:at], lines[at].replace(old, new), *lines[at + 1 :]]

    return change


def flipped(key: str) -> Tamper:
    """The flag ``key`` of the last question turned round."""

    def change(lines: list[str]) -> list[str]:
        row = json.loads(lines[-1])
        place = row.get("meta", row)
        place[key] = not place[key]
        return [*lines[:-1], json.dumps(row, separators=(",", ":"), ensure_ascii=False)]

    return change


def dropped(lines: list[str]) -> list[str]:
    return lines[1:]


def doubled(lines: list[str]) -> list[str]:
    return [lines[0], *lines]


def swapped(lines: list[str]) -> list[str]:
    return [lines[1], lines[0], *lines[2:]]


def added(line: str) -> Tamper:
    return lambda lines: sorted([*lines, line])


COMPLETE, INCOMPLETE, REMOVED = (f"triples.{view}.tsv" for view in ("complete", "incomplete", "removed"))
SHARED_QUESTIONS = "questions.dev-1hop.jsonl"
SHARED = [
    (COMPLETE, dropped, COMPLETE),
    (COMPLETE, doubled, COMPLETE),
    (COMPLETE, swapped, COMPLETE),
    (COMPLETE, added("rim1\tnext\trim9"), COMPLETE),
    (COMPLETE, sub("hub", "rim3"), COMPLETE),
    (INCOMPLETE, dropped, INCOMPLETE),
    (INCOMPLETE, doubled, INCOMPLETE),
    (INCOMPLETE, swapped, INCOMPLETE),
    (INCOMPLETE, added("rim1\tnext\trim9"), INCOMPLETE),
    (REMOVED, dropped, REMOVED),
    (REMOVED, swapped, REMOVED),
    (REMOVED, added("rim1\tnext\trim9"), REMOVED),
    (SHARED_QUESTIONS, flipped("answerable"), SHARED_QUESTIONS),
    (SHARED_QUESTIONS, dropped, "figures: questions"),
    (SHARED_QUESTIONS, doubled, SHARED_QUESTIONS),
    (SHARED_QUESTIONS, sub('"id":"0"', '"id": "0"'), SHARED_QUESTIONS),
    (SHARED_QUESTIONS, sub('"kind":"entities"', '"kind":"boolean"'), SHARED_QUESTIONS),
    (SHARED_QUESTIONS, sub("{", "["), SHARED_QUESTIONS),
    ("README.md", sub("wheel", "wheal", 10), "README.md"),
    ("README.md", dropped, "README.md"),
    ("manifest.json", sub('"name": "wheel', '"name": "wheal', 2), "README.md"),
]


@pytest.mark.parametrize("removal", ["random", "shortest-path"])
@pytest.mark.parametrize(("name", "change", "told"), SHARED)
def test_tampering_with_a_shared_graph(
    tmp_path: Path, rehash: Any, removal: str, name: str, change: Tamper, told: str
) -> None:
    folder = shared(tmp_path / "set", removal)
    tampered(folder, name, change)
    if name != "manifest.json":
        assert any(problem.startswith(f"{name}: ") for problem in verify_folder(folder))  # its hash
    rehash(folder)
    problems = verify_folder(folder)
    assert any(told in problem for problem in problems), problems


@pytest.mark.parametrize("removal", ["random", "shortest-path"])
def test_a_triple_that_was_put_back_or_taken_instead(tmp_path: Path, rehash: Any, removal: str) -> None:
    folder = shared(tmp_path / "set", removal)
    gone, *rest = (folder / REMOVED).read_text().splitlines()
    left = (folder / INCOMPLETE).read_text().splitlines()
    (folder / INCOMPLETE).write_text("".join(f"{line}\n" for line in sorted([*left, gone])))
    rehash(folder)
    assert any("the removed triple (hub, spoke" in problem for problem in verify_folder(folder))
    # both files agree, and the count is right, but another triple is gone
    instead = next(line for line in left if line > rest[0])
    (folder / INCOMPLETE).write_text("".join(f"{x}\n" for x in sorted({*left, gone} - {instead})))
    (folder / REMOVED).write_text("".join(f"{line}\n" for line in sorted([*rest, instead])))
    rehash(folder)
    problems = verify_folder(folder)
    assert any(
        problem.startswith(f"{REMOVED}, line 1: ") and gone.replace("\t", "\\t") in problem for problem in problems
    )


OWN = [
    ("questions.dev.jsonl", sub('["rim4","next","rim5"]', '["rim4","next","rim6"]'), "source_fingerprint"),
    ("questions.dev.jsonl", sub('["rim4","next","rim5"],', ""), "source_fingerprint"),
    ("questions.dev.jsonl", dropped, "removed.dev.jsonl, line 1"),
    ("questions.dev.jsonl", swapped, "removed.dev.jsonl, line 1"),
    ("questions.dev.jsonl", sub('"q_entity":["rim0"]', '"q_entity":["rim1","nobody"]'), "questions"),
    ("removed.dev.jsonl", flipped("answerable"), "removed.dev.jsonl, line 12: question 11: answerable"),
    ("removed.dev.jsonl", dropped, "removed.dev.jsonl, line 1"),
    ("removed.dev.jsonl", doubled, "removed.dev.jsonl, line 2"),
    ("removed.dev.jsonl", sub('"removed":[', '"removed":[["rim1","next"],'), "removed.dev.jsonl, line 1: removed"),
    ("removed.dev.jsonl", sub('"removed":[', '"removed":[["a","b","c"],'), "removed.dev.jsonl, line 1"),
    ("README.md", sub("own", "one", 10), "README.md"),
]


@pytest.mark.parametrize(("name", "change", "told"), OWN)
def test_tampering_with_graphs_of_their_own(
    tmp_path: Path, rehash: Any, name: str, change: Tamper, told: str
) -> None:
    folder = own(tmp_path / "set", "random")
    if told == "questions":  # a topic shows where a path is cut
        folder = own(tmp_path / "paths", "shortest-path", 1)
    tampered(folder, name, change)
    assert any(problem.startswith(f"{name}: ") for problem in verify_folder(folder))
    rehash(folder)
    problems = verify_folder(folder)
    assert any(told in problem for problem in problems), problems


@pytest.mark.parametrize("removal", ["random", "shortest-path"])
def test_a_removed_triple_of_its_own_graph_put_back(tmp_path: Path, rehash: Any, removal: str) -> None:
    folder = own(tmp_path / "set", removal, 1)
    path = folder / "questions.test.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    lost = json.loads((folder / "removed.test.jsonl").read_text().splitlines()[3])
    rows[3]["graph"].append(lost["removed"][0])
    path.write_text("".join(json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n" for row in rows))
    rehash(folder)
    assert verify_folder(folder) == [
        "questions.test.jsonl, line 4: question 3: graph: not what the other files and the settings give."
    ]


@pytest.mark.parametrize("make", [shared, own])
@pytest.mark.parametrize("removal", ["random", "shortest-path"])
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", 2),
        ("source_fingerprint", "0" * 64),
        ("settings.seed", 4),
        ("settings.rate", 0.5),
        ("settings.rate", 7),
        ("settings.hops", 1),
        ("settings.removal", "rules"),
        ("settings.more", 1),
        ("splits", []),
        ("splits", ["test"]),
        ("splits", ["test", "dev"]),
        ("splits", ["dev 1hop", "dev-1hop"]),
        ("splits", ["../../x"]),
        ("figures.removed", 0),
        ("figures.answerable after", True),
        ("figures.more", 1),
        ("figures", {}),
        ("more", 1),
        ("files", {}),
        ("kg", "other"),
        ("name", 3),
    ],
)
def test_tampering_with_the_manifest(
    tmp_path: Path, make: Callable[..., Path], removal: str, key: str, value: Any
) -> None:
    folder = make(tmp_path / "set", removal)
    manifest = json.loads((folder / "manifest.json").read_text())
    *path, last = key.split(".")
    place = manifest
    for name in path:
        place = place[name]
    place[last] = value
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    assert verify_folder(folder) != []


@pytest.mark.parametrize("make", [shared, own])
def test_the_form_and_the_files_of_the_folder(tmp_path: Path, make: Callable[..., Path]) -> None:
    folder = make(tmp_path / "set", "random")
    manifest = (folder / "manifest.json").read_text()
    (folder / "manifest.json").write_text(manifest.replace("  ", "   "))
    assert verify_folder(folder) == ["manifest.json: not in the form that it is written in."]
    (folder / "manifest.json").write_text(manifest)
    (folder / "questions.more.jsonl").write_text("")
    assert verify_folder(folder) == ["questions.more.jsonl: no file of this benchmark."]
    (folder / "questions.more.jsonl").unlink()
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        path.unlink()
        problems = verify_folder(folder)
        assert problems and any(path.name in problem for problem in problems)
        path.write_bytes(b"\xff\n")
        assert verify_folder(folder) != []
        path.write_bytes(content)
    assert verify_folder(folder) == []
