"""Every configuration that is shipped describes runs that could start."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa_bench import registry
from kgqa_bench.run.config import DEFAULT_MODEL, make_config, read_config_file
from kgqa_bench.run.model_settings import model_setup
from kgqa_bench.run.suite import read_suite

CONFIGS = Path(__file__).parents[2] / "configs"
SUITES = sorted((CONFIGS / "suites").glob("*.yaml"))
FILES = [path for path in sorted(CONFIGS.rglob("*.yaml")) if path not in SUITES]
NOT_BUILT = (
    *("g-retriever", "gnn-rag", "karpa", "mindmap", "oda"),
    *("paths-over-graph", "plan-on-graph", "rog", "structgpt", "tog"),
)
"""Systems of the papers' tables that no plugin stands for; suites list them all the same."""

RUNS = [
    pytest.param(values, id=f"{path.relative_to(CONFIGS).with_suffix('')}:{name}")
    for path in FILES
    for name, values in read_config_file(path).items()
]


@pytest.mark.parametrize("values", RUNS)
def test_flags_plugins_and_settings_are_valid(values):
    config = make_config(values)
    method = registry.create("methods", config.method, config.scoped(None))
    for name, value in config.scoped(None).items():
        assert getattr(method.settings, name) == (tuple(value) if isinstance(value, list) else value)
    assert registry.normalise(config.benchmark) in registry.names("benchmarks")
    model_setup(config.model or DEFAULT_MODEL, config)


def test_variants_of_a_file_differ():
    for path in FILES:
        runs = [make_config(values).model_dump_json() for values in read_config_file(path).values()]
        assert len(set(runs)) == len(runs), path


def test_dog_defaults_are_the_papers():
    settings = registry.create("methods", "dog").settings
    paper = {"alpha": 1.0, "width": 3, "max_distance": 3.0, "levels": (1, 3, 5), "max_rounds": 3}
    paper |= {"temperature": 0.5, "max_tokens": 1024, "direction": "out", "confidence": "stored"}
    assert {name: getattr(settings, name) for name in paper} == paper


def test_reported_figures_belong_to_variants():
    import yaml

    for path in (CONFIGS / "dog").glob("table[34].yaml"):
        content = yaml.safe_load(path.read_text())
        assert list(content["paper"]["reported"]) == list(content["variants"])


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.stem)
def test_suites_name_what_is_there(path):
    for row in read_suite(path, {}):
        if row.problem is not None:
            assert row.name.startswith(NOT_BUILT), row.problem
            continue
        assert row.config is not None
        registry.create("methods", row.config.method, row.config.scoped(None))
        assert registry.normalise(row.config.benchmark) in registry.names("benchmarks")
