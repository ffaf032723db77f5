"""Degraded question sets: what their files hold, that rates are nested in them, and what is refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgqa_bench.benchmarks.incomplete.degraded_set import degrade_each, degrade_shared
from kgqa_bench.benchmarks.incomplete.degrees import Degree
from kgqa_bench.errors import ConfigError, DataError, StorageError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.question_sets.model import SetQuestion
from kgqa_bench.run.question_file import load_file

# a chain of ten people and, apart from it, two more
CHAIN = [(f"p{n}", "knows", f"p{n + 1}") for n in range(9)] + [("q0", "knows", "q1")]


def asked(number: int, topic: str, *answers: str, **more: Any) -> SetQuestion:
    base = {"id": f"{number}", "text": f"Who is near {topic}?", "split": "dev 1hop", "line": number}
    return SetQuestion(**{**base, "topics": (topic,), "answers": answers, "answer_entities": answers, **more})


QUESTIONS = [asked(n, f"p{n}", f"p{n + 1}") for n in range(9)] + [asked(9, "q0", "p0"), asked(10, "nobody", "p1")]


@pytest.fixture
def chain() -> MemoryGraph:
    heads, relations, tails = zip(*CHAIN, strict=True)
    return build_graph(heads, relations, tails, source="chain")


def shared(graph: MemoryGraph, out: Path, questions: list[SetQuestion] = QUESTIONS, **degree: Any) -> dict[str, Any]:
    chosen = {"removal": "shortest-path", "rate": 1, **degree}
    return degrade_shared(graph, lambda: questions, Degree(**chosen), out, name="chain-half", kg="chain")


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines(path)]


def test_all_questions_disrupted(chain: MemoryGraph, tmp_path: Path) -> None:
    figures = shared(chain, tmp_path / "out", hops=3)
    assert figures == {
        "triples": 10,
        "removed": 9,
        "questions": 11,
        "questions with a path": 9,
        "questions disrupted": 9,
        "hops": 3,
        "answerable before": 9,
        "answerable after": 0,
        "left unanswerable": 9,
        "share left unanswerable": 1.0,
        "nearest answer farther than before": 0,
    }
    assert lines(tmp_path / "out" / "triples.incomplete.tsv") == ["q0\tknows\tq1"]
    assert lines(tmp_path / "out" / "triples.complete.tsv") == ["\t".join(triple) for triple in CHAIN]
    meta = [row["meta"] for row in rows(tmp_path / "out" / "questions.dev-1hop.jsonl")]
    assert meta == [{"answerable": False, "disrupted": n < 9} for n in range(11)]


def test_a_way_round_is_farther(tmp_path: Path) -> None:
    ring = build_graph(["a", "b", "a"], ["r"] * 3, ["b", "c", "c"], source="ring")
    figures = shared(ring, tmp_path / "out", [asked(1, "a", "b")])
    assert (figures["answerable after"], figures["nearest answer farther than before"]) == (1, 1)
    assert shared(ring, tmp_path / "near", [asked(1, "a", "b")], hops=1)["answerable after"] == 0


def test_files_have_hashes_and_no_time_or_path(chain: MemoryGraph, tmp_path: Path) -> None:
    shared(chain, tmp_path / "one", rate=0.5)
    shared(chain, tmp_path / "two", rate=0.5)
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert [(tmp_path / "one" / name).read_bytes() for name in names] == [
        (tmp_path / "two" / name).read_bytes() for name in names
    ]
    manifest = json.loads((tmp_path / "one" / "manifest.json").read_text())
    assert manifest["files"] == {
        name: hashlib.sha256((tmp_path / "one" / name).read_bytes()).hexdigest()
        for name in names
        if name != "manifest.json"
    }
    assert manifest["settings"] == {"removal": "shortest-path", "rate": 0.5, "seed": 0, "hops": 4}
    assert manifest["source_fingerprint"] == chain.fingerprint
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


@pytest.mark.parametrize("removal", ["random", "shortest-path"])
def test_rates_are_nested_in_the_files(chain: MemoryGraph, tmp_path: Path, removal: str) -> None:
    before: set[str] = set()
    for rate in (0.1, 0.3, 0.5, 1):
        figures = shared(chain, tmp_path / f"{rate}", removal=removal, rate=rate, seed=3)
        folder = tmp_path / f"{rate}"
        removed = set(lines(folder / "triples.removed.tsv"))
        complete, incomplete = lines(folder / "triples.complete.tsv"), lines(folder / "triples.incomplete.tsv")
        assert before <= removed
        assert [line for line in complete if line not in removed] == incomplete
        assert len(removed) == figures["removed"]
        before = removed


def test_questions_are_run_as_they_are(chain: MemoryGraph, tmp_path: Path) -> None:
    shared(chain, tmp_path / "out", removal="random", rate=0.2)
    items = load_file(tmp_path / "out" / "questions.dev-1hop.jsonl").items
    assert items[0].question.topic_entities == ("p0",)
    assert items[0].gold.answers == ("p1",)
    assert len(items) == 11


def test_confidences_are_kept(tmp_path: Path) -> None:
    graph = build_graph(["a", "b"], ["r", "r"], ["b", "c"], [0.25, 1.0], source="weights")
    shared(graph, tmp_path / "out", [asked(1, "a", "b")])
    assert lines(tmp_path / "out" / "triples.complete.tsv") == ["a\tr\tb\t0.25", "b\tr\tc\t1.0"]
    assert lines(tmp_path / "out" / "triples.removed.tsv") == ["a\tr\tb\t0.25"]


OWN = (("a", "r", "b"), ("b", "s", "c"), ("a", "r", "b"), ("c", "t", "d"))
ROWS = [
    asked(1, "a", "c", split="train", triples=OWN),
    asked(2, "a", "b", split="train", triples=OWN[:1]),
    asked(1, "d", "c", split="test", triples=OWN[3:], text="From Ärzte"),
    asked(2, "x", "c", split="test", triples=()),
]


def each(out: Path, questions: list[SetQuestion] = ROWS, **degree: Any) -> dict[str, Any]:
    return degrade_each(lambda: iter(questions), Degree(**degree), out, name="own", kg="freebase")


def test_graphs_of_their_own_lose_a_triple_of_the_path(tmp_path: Path) -> None:
    figures = each(tmp_path / "out", removal="shortest-path", rate=1)
    assert (figures["triples"], figures["removed"], figures["questions disrupted"]) == (5, 3, 3)
    assert (figures["answerable before"], figures["answerable after"]) == (3, 0)
    train, test = (rows(tmp_path / "out" / f"questions.{split}.jsonl") for split in ("train", "test"))
    lost = rows(tmp_path / "out" / "removed.train.jsonl")
    assert lost[0]["removed"] in ([["a", "r", "b"]], [["b", "s", "c"]])
    assert train[0]["graph"] == [list(triple) for triple in OWN if list(triple) not in lost[0]["removed"]]
    assert (train[1]["graph"], test[0]["graph"], test[1]["graph"]) == ([], [], [])
    assert {key: test[0][key] for key in ("id", "question", "q_entity", "a_entity", "answer")} == {
        "id": "1",
        "question": "From Ärzte",
        "q_entity": ["d"],
        "a_entity": ["c"],
        "answer": ["c"],
    }


def test_a_random_triple_is_gone_from_all_graphs_or_none(tmp_path: Path) -> None:
    big = tuple((f"h{n}", "r", f"t{n}") for n in range(200))
    questions = [asked(n, "h0", "t0", triples=big[n:]) for n in range(3)]
    low, high = (each(tmp_path / f"{rate}", questions, removal="random", rate=rate) for rate in (0.1, 0.4))
    assert 0 < low["removed"] < high["removed"] < high["triples"]
    gone = [
        [
            {tuple(triple) for triple in row["removed"]}
            for row in rows(tmp_path / f"{rate}" / "removed.dev-1hop.jsonl")
        ]
        for rate in (0.1, 0.4)
    ]
    for less, more in zip(*gone, strict=True):
        assert less < more
    assert gone[1][0] & set(big[2:]) == gone[1][2]


def test_the_folders_load_as_datasets(tmp_path: Path, chain: MemoryGraph) -> None:
    datasets = pytest.importorskip("datasets")
    each(tmp_path / "own", ROWS[:1] + ROWS[2:3], removal="random", rate=0.01)
    shared(chain, tmp_path / "shared", rate=0.5)
    own = datasets.load_dataset(str(tmp_path / "own"), cache_dir=str(tmp_path / "cache"))
    assert {split: len(table) for split, table in own.items()} == {"train": 1, "test": 1}
    loaded = datasets.load_dataset(str(tmp_path / "shared"), cache_dir=str(tmp_path / "cache"))
    assert loaded["dev_1hop"][0]["topic_entities"] == ["p0"]


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        ([], "There is no question"),
        ([asked(1, "p0", "p1"), asked(1, "p1", "p2")], "twice in the split"),
        ([asked(1, "p0", "p1", kind="boolean")], "does not ask for entities"),
        ([asked(1, "p0", "q1")], "No question has a path"),
    ],
)
def test_bad_questions(chain: MemoryGraph, tmp_path: Path, questions: list[SetQuestion], message: str) -> None:
    with pytest.raises(DataError, match=message):
        shared(chain, tmp_path / "out", questions)
    with pytest.raises(DataError, match=message):
        each(tmp_path / "out", with_triples(questions), removal="shortest-path", rate=1)
    assert list(tmp_path.iterdir()) == []


def with_triples(questions: list[SetQuestion]) -> list[SetQuestion]:
    return [asked(q.line, q.topics[0], *q.answers, id=q.id, kind=q.kind, triples=tuple(CHAIN)) for q in questions]


def test_a_question_without_graph(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no graph"):
        each(tmp_path / "out", [asked(1, "a", "b")], removal="random", rate=0.5)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_use_and_a_full_disk(chain: MemoryGraph, tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").touch()
    with pytest.raises(ConfigError, match="in use"):
        shared(chain, tmp_path / "out")
    opened: Callable[..., Any] = Path.open

    def full(path: Path, *words: Any) -> Any:
        if path.name == "triples.removed.tsv":
            raise OSError(28, "No space left on device")
        return opened(path, *words)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(StorageError, match="No space left"):
        shared(chain, tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_names_that_break_lines(tmp_path: Path) -> None:
    graph = build_graph(["a\tb"], ["r"], ["c"], source="odd")
    with pytest.raises(DataError, match="tab or a line end"):
        shared(graph, tmp_path / "out", [asked(1, "a\tb", "c")])
