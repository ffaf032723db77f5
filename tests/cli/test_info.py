"""`kgqa-bench info`: every setting is described, however its class documents it."""

from __future__ import annotations

import pytest
from pydantic import Field
from typer.testing import CliRunner

from kgqa_bench import registry
from kgqa_bench.cli.main import app
from kgqa_bench.cli.settings_text import describe, remarks
from kgqa_bench.contracts import PluginSettings
from kgqa_bench.text.linking import LinkerSettings


class Base(PluginSettings):
    """Settings of a base.

    Of the paper:

    Attributes:
        alpha: Weight of
            one: and of
            another.
        beta: The base's.

    Left open:

        gamma: Behind a heading.

    Fixed, because
    it must be.
    """

    alpha: float = 1.0
    beta: int = 2
    gamma: int = 3


class Own(Base):
    """Settings of its own.

    Attributes:
        beta: Its own.
        other: No setting.
    """

    beta: int = 4
    delta: int = Field(default=5, description="By its field.")
    epsilon: int = 6


class Silent(Own):
    pass


@pytest.mark.parametrize("settings", [Own, Silent])
def test_descriptions_of_a_class_and_its_bases(settings: type[PluginSettings]) -> None:
    assert describe(settings) == {
        "alpha": "Weight of one: and of another.",
        "beta": "Its own.",
        "gamma": "Behind a heading.",
        "delta": "By its field.",
    }


def test_remarks_are_about_no_single_setting() -> None:
    assert remarks(Base) == ["Settings of a base.", "Fixed, because it must be."]
    assert remarks(Own) == ["Settings of its own.", "Fixed, because it must be."]
    assert remarks(Silent) == ["Fixed, because it must be."]
    assert remarks(PluginSettings) == []


@pytest.mark.parametrize("kind", registry.KINDS)
def test_every_setting_of_every_plugin_is_described(kind: registry.Kind) -> None:
    for name in registry.names(kind):
        settings = registry.load(kind, name).Settings
        assert set(describe(settings)) == set(settings.model_fields), name


def test_info_shows_inherited_settings() -> None:
    shown = CliRunner().invoke(app, ["info", "dog"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    assert "alpha = 1.0  float\n    Weight of the path confidence in Eq. 5." in shown.output
    assert "max_rounds = 3  int\n    r_max, most debate rounds." in shown.output


def test_info_of_the_linker() -> None:
    shown = CliRunner().invoke(app, ["info", "linker"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    for name, field in LinkerSettings.model_fields.items():
        assert f"{name} = {field.default!r}" in shown.output
        assert str(field.description) in shown.output
