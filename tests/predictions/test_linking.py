"""From words to ids: whole labels first, then normal forms, ambiguity told."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa_bench.contracts import ScoreRow
from kgqa_bench.errors import DataError
from kgqa_bench.predictions.linking import LabelLinker, read_labels

LABELS = {
    "m1": "Paris",
    "m2": "the paris",
    "m3": "University College, Oxford",
    "m4": "Rome",
    "m5": "Oslo",
    "m6": "Oslo",
}


@pytest.mark.parametrize(
    ("text", "entity", "outcome"),
    [
        ("m4", "m4", "linked"),
        ("Paris", "m1", "linked"),
        ("the paris", "m2", "linked"),
        ("PARIS", "PARIS", "ambiguous"),
        ("rome.", "m4", "linked"),
        ("Oslo", "Oslo", "ambiguous"),
        ("Bonn", "Bonn", "unlinked"),
        ("the", "the", "unlinked"),
        (" Rome ", "m4", "linked"),
    ],
)
def test_link(text: str, entity: str, outcome: str) -> None:
    assert LabelLinker(LABELS).link(text) == (entity, outcome)


def test_rows_get_ids_and_words() -> None:
    linker = LabelLinker(LABELS)
    row = ScoreRow("q", ("University College, Oxford", "Rome, Bonn", "no, way", ""), ("m3",), ("m3",), "m3", raw="x")
    linked = linker.ids(row)
    assert linked.predictions == ("m3", "m4", "Bonn", "no, way")
    assert linked.raw is None
    assert linker.outcomes == {"linked": 2, "unlinked": 2}
    named = linker.words(linked)
    assert named.predictions == ("University College, Oxford", "Rome", "Bonn", "no, way")
    assert (named.gold, named.hard, named.primary) == (
        ("University College, Oxford",), ("University College, Oxford",), "University College, Oxford",
    )  # fmt: skip


def test_label_files(tmp_path: Path) -> None:
    plain = tmp_path / "entity2text.txt"
    plain.write_text("m1\tParis\nm2\tRome\n")
    assert read_labels(plain) == {"m1": "Paris", "m2": "Rome"}
    (tmp_path / "labels.tsv").write_text("label\tid\ttext\n17\tm1\tParis\n")
    assert read_labels(tmp_path) == {"17": "Paris"}


@pytest.mark.parametrize("content", ["m1 Paris\n", "m1\tParis\nm1\tRome\n"])
def test_wrong_label_files(tmp_path: Path, content: str) -> None:
    path = tmp_path / "labels.tsv"
    path.write_text(content)
    with pytest.raises(DataError):
        read_labels(path)
