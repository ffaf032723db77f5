"""The rows of a suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa_bench.errors import ConfigError, UnknownNameError
from kgqa_bench.run.suite import read_suite


def _suite(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "suite.yaml"
    path.write_text(text)
    return path


def test_every_combination_is_a_row_and_what_a_method_does_not_use_makes_no_more(tmp_path: Path) -> None:
    path = _suite(
        tmp_path,
        """
        methods: [majority, retrieval-only, zero-shot, {method: dog, name: DoG-E, set: {confidence: one}}]
        benchmarks: [obqa-mini, {benchmark: family-mini, settings: [incomplete, complete]}]
        models: [a/b, {model: openai-server/c, name: c, base-url: "http://x/v1"}]
        limit: 5
        paper: {source: somewhere}
        """,
    )
    rows = {row.name: row for row in read_suite(path, {"out": Path("here"), "limit": 3})}
    assert list(rows)[:6] == [
        "majority-obqa-mini", "retrieval-only-obqa-mini", "zero-shot-obqa-mini-a-b", "DoG-E-obqa-mini-a-b",
        "zero-shot-obqa-mini-c", "DoG-E-obqa-mini-c",
    ]  # fmt: skip
    family = [name for name in rows if "family" in name]
    assert sorted(family) == sorted(
        ["majority-family-mini", "zero-shot-family-mini-a-b", "zero-shot-family-mini-c"]
        + [f"retrieval-only-family-mini-{view}" for view in ("incomplete", "complete")]
        + [f"DoG-E-family-mini-{model}-{view}" for model in ("a-b", "c") for view in ("incomplete", "complete")]
    )
    config = rows["DoG-E-family-mini-c-complete"].config
    assert config is not None
    assert (config.limit, config.out, config.base_url) == (
        3, Path("here/DoG-E-family-mini-c-complete"), "http://x/v1",
    )  # fmt: skip
    assert config.set == {"confidence": "one", "graph.view": "complete"}
    assert all(row.problem is None for row in rows.values())


def test_a_missing_plugin_is_a_row_that_says_so(tmp_path: Path) -> None:
    path = _suite(tmp_path, "methods: [majority, not-there]\nbenchmarks: [obqa-mini]\n")
    there, missing = read_suite(path, {})
    assert there.config is not None
    assert missing.config is None
    assert isinstance(missing.problem, UnknownNameError)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("methods: [dog]\n", "names `methods` and `benchmarks`"),
        ("methods: dog\nbenchmarks: [obqa]\n", "`methods` must be a list"),
        ("methods: [3]\nbenchmarks: [obqa]\n", "an entry of `methods`"),
        ("methods: [dog]\nbenchmarks: [{benchmark: obqa, settings: [half]}]\n", "incomplete and complete"),
        ("methods: [dog]\nbenchmarks: [obqa]\nlimits: 3\n", "no flag 'limits'.*limit"),
        ("- dog\n", "a mapping"),
        ("methods: [\n", "line 2: not valid YAML"),
    ],
)
def test_what_is_no_suite(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_suite(_suite(tmp_path, text), {})
