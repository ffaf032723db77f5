"""Flags, YAML files and their errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa_bench.errors import ConfigError
from kgqa_bench.run.config import identity, make_config, override, parse_settings, read_config_file


def test_settings_are_yaml_values_by_scope() -> None:
    values = parse_settings(["alpha=0.5", "levels=[1, 3]", "model.temperature=0", "note=a=b", "graph.merge=max"])
    config = make_config({"method": "m", "benchmark": "b", "set": values})
    assert config.scoped(None) == {"alpha": 0.5, "levels": [1, 3], "note": "a=b"}
    assert config.scoped("model") == {"temperature": 0}
    assert config.scoped("graph") == {"merge": "max"}


@pytest.mark.parametrize("word", ["alpha", "=1", "alpha=[1", "alpha=*a", "alpha=2020-02-30", "alpha=" + "9" * 5000])
def test_malformed_settings_are_named(word: str) -> None:
    with pytest.raises(ConfigError, match="--set"):
        parse_settings([word])


def test_variants_override_key_by_key(tmp_path: Path) -> None:
    file = tmp_path / "table.yaml"
    file.write_text(
        "method: dog\nbenchmark: obqa\nset: {alpha: 1, width: 3}\npaper: {table: 3}\n"
        "variants:\n  a: {set: {alpha: 0}}\n  b: {method: cot, budget-usd: 2}\n"
    )
    runs = read_config_file(file)
    assert runs["a"] == {"method": "dog", "benchmark": "obqa", "set": {"alpha": 0, "width": 3}}
    assert runs["b"]["method"] == "cot"
    assert runs["b"]["budget_usd"] == 2


def test_flags_win_over_the_file() -> None:
    assert override({"limit": 5, "set": {"a": 1, "b": 2}}, {"limit": None, "seed": 3, "set": {"b": 9}}) == {
        "limit": 5,
        "seed": 3,
        "set": {"a": 1, "b": 9},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("method: [", "line 1"),
        ("- a", "mapping"),
        ("methd: dog", "Did you mean method"),
        ("method: dog\nvariants: [a]", "variants"),
        ("method: dog\nset: 3", "`set`"),
        ("method: !!python/object/apply:os.system ['true']", "not valid YAML"),
        ("set: &s {a: *s}", "line 1: not valid YAML: aliases"),
        ("set:\n  a: &a [x, x]\n  b: [*a, *a]", "line 3: not valid YAML: aliases"),
        ("limit: 1\nlimit: 2", "line 2: not valid YAML: the key 'limit' is there twice"),
        ("set: " + "[" * 5000 + "]" * 5000, "nested more than 50"),
        ("seed: 2020-13-45", "not valid YAML: month must be"),
        ("method: dog\nvariants: {}", "`variants` is empty"),
        ("method: dog\nvariants: {../a: {}}", "'../a' is no name for a folder"),
        ("method: dog\nvariants: {..: {}}", "'..' is no name"),
    ],
)
def test_bad_files_name_themselves(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        read_config_file(file)
    assert "bad.yaml" in str(caught.value)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"benchmark": "b"}, "--method is missing"),
        ({"method": "m", "benchmark": "b", "limit": 0}, "--limit"),
        ({"method": "m", "benchmark": "b", "budget_usd": -1}, "--budget-usd"),
        ({"method": "m", "benchmark": "b", "repeats": "x"}, "--repeats"),
        ({"method": "m", "benchmark": "b", "sead": 1}, "Did you mean seed"),
    ],
)
def test_bad_values_name_the_flag(values: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make_config(values)


def test_identity_ignores_where_and_how_far() -> None:
    base = {"method": "m", "benchmark": "b"}
    one = make_config(base | {"out": "x", "concurrency": 2, "budget_calls": 5}).model_dump(mode="json")
    two = make_config(base | {"out": "y", "data": "/d"}).model_dump(mode="json")
    other = make_config(base | {"seed": 1}).model_dump(mode="json")
    assert identity(one) == identity(two)
    assert identity(one) != identity(other)
