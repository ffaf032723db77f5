"""Wrong names, settings and values are told before anything is written; faults that hit all questions end a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kgqa_bench.errors import ConfigError, DataNotFoundError, KgqaBenchError, RunDirectoryError, UnknownNameError
from kgqa_bench.run.config import make_config
from kgqa_bench.run.execute import execute
from kgqa_bench.run.summary import summarise


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question_file) -> Path:
    monkeypatch.chdir(tmp_path)
    question_file(2).rename("questions.jsonl")
    Path("script.jsonl").write_text('{"reply": "ANSWER: A"}\n')
    Path("graph.tsv").write_text("a\tr\tb\t0.5\n")
    return tmp_path


def config(**values: Any) -> Any:
    return make_config(
        {"method": "zero-shot", "benchmark": "questions.jsonl", "model": "scripted/script.jsonl"} | values
    )


@pytest.mark.parametrize(
    ("values", "error", "said"),
    [
        ({"model": "local/smollm3"}, UnknownNameError, "Did you mean smollm2"),
        ({"model": ""}, ConfigError, "No model is given"),
        ({"model": "scripted/none.jsonl"}, DataNotFoundError, "none.jsonl"),
        ({"model": "replay/none"}, RunDirectoryError, "none is no run directory"),
        ({"base_url": "ftp://x"}, ConfigError, "'ftp://x' is no server address"),
        ({"base_url": "http://127.0.0.1:1", "budget_usd": 1}, ConfigError, "price of 'scripted/script.jsonl'"),
        ({"set": {"model.temperature": -1}}, ConfigError, "'temperature'"),
        ({"set": {"model.first_wait": True, "model.requests_per_minute": 0}}, ConfigError, "requests_per_minute"),
        ({"set": {"model.tempreature": 1}}, ConfigError, "tempreature"),
        ({"method": "dog", "graph": "graph.tsv", "set": {"linker.max_entites": 1}}, ConfigError, "max_entities"),
        ({"method": "dog", "graph": "graph.tsv", "set": {"linker.max_entities": 0}}, ConfigError, "'max_entities'"),
    ],
)
def test_nothing_is_written_before_names_and_settings_are_right(
    here: Path, values: dict[str, Any], error: type[KgqaBenchError], said: str
) -> None:
    before = sorted(here.rglob("*"))
    with pytest.raises(error, match=said):
        execute(config(**values))
    assert sorted(here.rglob("*")) == before


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"limit": 10**20}, "--limit: 1000"),
        ({"seed": -(10**20)}, "--seed: -1000"),
        ({"budget_usd": float("inf")}, "--budget-usd"),
        ({"set": {"max_rounds": 10**22}}, "--set max_rounds: 1000"),
        ({"set": {"model.extra": {"top_k": [10**30]}}}, "--set model.extra"),
        ({"set": {"model.extra": {"penalty": float("nan")}}}, "--set model.extra"),
        ({"set": {"model.extra": {"words": {"a", "b"}}}}, "--set model.extra"),
        ({"set": {"temperature": float("inf")}}, "--set temperature"),
        ({"set": {"name": "\ud800"}}, "--set name"),
        ({"set": {"graph": 1}}, "graph.NAME=VALUE"),
        ({"set": {"linker.": 1}}, "linker.NAME=VALUE"),
    ],
)
def test_values_that_cannot_be_recorded_are_refused(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        config(**values)


def test_what_a_question_cannot_help_ends_the_run_as_wrong_usage(here: Path, finish) -> None:
    code, figures, err = finish("--method", "few-shot", "--benchmark", "questions.jsonl", "--model",
                                "scripted/script.jsonl")  # fmt: skip
    assert code == 2
    assert "needs solved examples" in err
    assert figures["ledger"]["unscored"] == {"not reached (ConfigError)": 2}


@pytest.mark.parametrize("file", ["records.jsonl", "calls.jsonl", "metrics.json", "letter.txt"])
def test_a_folder_of_other_files_is_left_alone(here: Path, file: str) -> None:
    Path("mine").mkdir()
    Path("mine", file).write_text('{"without": "line end"}')
    with pytest.raises(RunDirectoryError, match=f"no run directory .* holds {file}"):
        execute(config(out="mine"))
    assert [path.name for path in Path("mine").iterdir()] == [file]
    assert Path("mine", file).read_text() == '{"without": "line end"}'


def test_what_a_kill_at_the_start_leaves_is_used(here: Path) -> None:
    Path("run").mkdir()
    for file in (".lock", "records.jsonl", "calls.jsonl", ".run.json.k1x2"):
        Path("run", file).touch()
    assert execute(config(out="run")).metrics.complete


def test_figures_of_the_variants_before_a_wrong_one_are_shown(here: Path, finish) -> None:
    Path("two.yaml").write_text(
        "method: zero-shot\nbenchmark: questions.jsonl\n"
        "variants:\n  good: {model: scripted/script.jsonl}\n  bad: {model: scripted/none.jsonl}\n"
    )
    process_code, figures, err = finish("--config", "two.yaml")
    assert process_code == 2
    assert "none.jsonl" in err
    assert figures["good"]["ledger"]["scored"] == 2
    assert json.loads((Path(figures["good"]["path"]) / "metrics.json").read_text())["complete"]


def figures(path: str) -> dict[str, Any]:
    metrics = json.loads((Path(path) / "metrics.json").read_text())
    return {key: value for key, value in metrics["cost"].items() if "seconds" not in key} | metrics["ledger"]


@pytest.mark.parametrize("keep", [0, 1, 0.5, 0.999])
def test_calls_lost_in_a_power_cut_are_asked_once_more(here: Path, keep: float) -> None:
    execute(config(out="run", repeats=2))
    whole = figures("run")
    assert whole["calls"] == 4
    calls = Path("run/calls.jsonl")
    content = calls.read_bytes()
    calls.write_bytes(content[: int(keep if keep == 1 else keep * len(content))])
    with pytest.raises(RunDirectoryError, match=r"calls\.jsonl lacks calls of .*run's command again"):
        summarise(Path("run"))
    execute(config(out="run", repeats=2))
    assert figures("run") == whole


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"asked": 2', '"asked": "2"', "asked is '2'"),
        ('"asked": 2', '"asked": 0', "asked is 0"),
        ('"asked": 2', '"asked": 1', "more than the 1 questions"),
        ('"repeats": 2', '"repeats": null', "repeats is None"),
        ('"repeats": 2', '"repeats": 1', "has repeat 1 of 1"),
    ],
)
def test_figures_of_a_damaged_directory_are_refused(here: Path, old: str, new: str, said: str) -> None:
    execute(config(out="run", repeats=2))
    file = Path("run/run.json")
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(RunDirectoryError, match=said):
        summarise(Path("run"))
