"""`kgqa-bench info`: every setting is described."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kgqa_bench import registry
from kgqa_bench.cli.main import app
from kgqa_bench.contracts import PluginSettings
from kgqa_bench.graph.sources import settings as graph_settings
from kgqa_bench.run.model_settings import GatewaySettings
from kgqa_bench.text.linking import LinkerSettings


def info(*words: str) -> str:
    shown = CliRunner().invoke(app, ["info", *words], env={"COLUMNS": "200"})
    assert shown.exit_code == 0, shown.output
    return shown.output


def settings_classes() -> Iterator[type[PluginSettings]]:
    for kind in registry.KINDS:
        for name in registry.names(kind):
            yield registry.load(kind, name).Settings
    for value in vars(graph_settings).values():  # those of graph files have no plugin
        if isinstance(value, type) and issubclass(value, PluginSettings):
            yield value
    yield from (GatewaySettings, LinkerSettings)


@pytest.mark.parametrize("settings", sorted(set(settings_classes()), key=lambda each: each.__qualname__))
def test_every_setting_is_described(settings: type[PluginSettings]) -> None:
    assert [name for name, field in settings.model_fields.items() if not field.description] == []


def test_a_method_with_inherited_settings() -> None:
    shown = info("dog")
    assert shown.startswith("dog (method)\nDebate-on-Graph (DoG): agents debate")
    assert "alpha = 1.0  float\n    Weight of the path confidence in Eq. 5" in shown
    assert "max_rounds = 3  int\n    r_max, most debate rounds" in shown
    assert "Fixed, because every other reading contradicts the text" in shown  # said by the class inherited from
    assert shown.count("Settings of") == 1


def test_a_model_shows_what_holds_for_any_model() -> None:
    shown = info("local")
    assert "context = 8192" in shown
    assert "attempts = 5" in shown


def test_the_linker() -> None:
    shown = info("linker")
    for name, field in LinkerSettings.model_fields.items():
        assert f"{name} = {field.default!r}" in shown
        assert str(field.description) in shown


def test_a_graph_file_shows_its_statistics(tmp_path: Path) -> None:
    file = tmp_path / "small[1].tsv"
    file.write_text("a\tr\tb\t0.5\nb\tr\tc\t1.0\n")
    rows = [line.strip(" │┃").split("│") for line in info(str(file)).splitlines()]
    facts = {row[0].strip(): row[1].strip() for row in rows if len(row) == 2}
    assert (facts["entities"], facts["triples"], facts["mean confidence"]) == ("3", "2", "0.75")
    assert facts["source"] == "small[1].tsv"


def test_a_graph_that_is_not_at_hand_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KGQA_BENCH_DATA", raising=False)
    shown = info("cn15k")
    assert "mapping = 'ukge'" in shown
    assert "not at hand" in shown
    assert "--data" in shown


def test_an_unknown_name_gets_suggestions() -> None:
    shown = CliRunner().invoke(app, ["info", "linkr"])
    assert "Did you mean linker?" in str(shown.exception)
