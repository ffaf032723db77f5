"""`kgqa-bench list`."""

from __future__ import annotations

import json

import pytest

from kgqa_bench import registry


def test_everything_is_listed_with_its_summary(cli) -> None:
    done = cli("list")
    assert done.code == 0
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    for kind in registry.KINDS:
        assert kind in lines
        for name in registry.names(kind):
            assert f"{name} {registry.summary(registry.load(kind, name))}" in lines


@pytest.mark.parametrize("word", ["metrics", "metric"])
def test_one_kind_as_json(cli, word: str) -> None:
    done = cli("list", word, "--json")
    listed = json.loads(done.out)
    assert list(listed) == ["metrics"]
    assert listed["metrics"]["accuracy"].startswith("Share of questions answered right")


def test_an_unknown_kind_gets_suggestions(cli) -> None:
    done = cli("list", "metods")
    assert done.code == 2
    assert "Did you mean methods?" in done.err
