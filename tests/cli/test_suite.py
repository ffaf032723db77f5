"""`kgqa-bench suite`: rows, table, what is missing, and going on."""

from __future__ import annotations

import json
from pathlib import Path

SUITE = """
methods: [retrieval-only, majority, {method: not-there, name: absent}]
benchmarks: [obqa-mini, {benchmark: family-mini, settings: [incomplete, complete]}]
limit: 4
"""


def test_all_rows_run_and_what_is_missing_is_listed(cli, tmp_path: Path) -> None:
    file = tmp_path / "rows.yaml"
    file.write_text(SUITE)
    code, out, err = cli("suite", str(file), "--out", str(tmp_path / "runs"), "--json")
    assert code == 1  # the suite is not whole
    rows = json.loads(out)
    assert list(rows) == [
        "retrieval-only-obqa-mini", "majority-obqa-mini",
        "retrieval-only-family-mini-incomplete", "retrieval-only-family-mini-complete",
    ]  # fmt: skip
    assert "absent-obqa-mini: Unknown method 'not-there'" in err
    assert "majority-family-mini: " in err  # it answers no questions of that kind
    assert rows["retrieval-only-family-mini-complete"]["scores"][0]["name"] == "hits_any"
    before = {path: path.read_bytes() for path in (tmp_path / "runs").rglob("records.jsonl")}
    again = cli("suite", str(file), "--out", str(tmp_path / "runs"))
    assert again.code == 1
    assert "retrieval-only, majority on obqa-mini" in again.out
    assert "Hits@Any" in again.out
    assert {path: path.read_bytes() for path in (tmp_path / "runs").rglob("records.jsonl")} == before


def test_a_dry_run_lists_the_rows(cli, tmp_path: Path) -> None:
    file = tmp_path / "rows.yaml"
    file.write_text(SUITE)
    code, out, _ = cli("suite", str(file), "--dry-run")
    assert code == 0
    assert out.splitlines()[:2] == ["retrieval-only-obqa-mini", "majority-obqa-mini"]
    assert not (tmp_path / "runs").exists()
