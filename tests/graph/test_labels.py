from __future__ import annotations

from kgqa_bench.graph.labels import LabelSearch

LABELS = ["Barack Obama", "Obama, Japan", "obama", "Oban", "a", "Paris", "PARIS", "Paris Hilton", "Pariss"]


def test_exact_then_prefix_then_near() -> None:
    search = LabelSearch(LABELS)
    found = [LABELS[at] for at in search.find("OBAMA", 4)]
    assert found[:2] == ["obama", "Obama, Japan"]
    assert "Barack Obama" in found


def test_exact_matches_come_by_id_and_prefixes_by_length() -> None:
    assert LabelSearch(LABELS).find(" paris ", 4) == [5, 6, 8, 7]


def test_a_misspelt_label_is_found() -> None:
    assert LabelSearch(LABELS).find("Barak Obbama", 1) == [0]


def test_a_prefix_before_any_other_letter() -> None:
    assert LabelSearch(["ab", "ab\U0001f600", "ac"]).find("ab", 2) == [0, 1]


def test_nothing_is_like_nothing() -> None:
    search = LabelSearch(LABELS)
    assert search.find("  ", 5) == search.find("paris", 0) == search.find("zzzzqqqq", 5) == []


def test_no_label_is_found_twice() -> None:
    found = LabelSearch(LABELS).find("paris", 50)
    assert len(found) == len(set(found))
