"""The data card: a data set for `datasets`, tables that add up, nothing that a name could break."""

from __future__ import annotations

import dataclasses

import yaml

from kgqa_bench.benchmarks.incomplete.package import write_package


def table(card: str, title: str) -> dict[str, list[str]]:
    """The rows of a section's table by their first cell."""
    section = card.split(f"## {title}\n")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    return {row[0]: row[1:] for row in rows[2:]}


def test_datasets_loads_the_folder(folder, tmp_path, content) -> None:
    from datasets import load_dataset

    loaded = load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
    assert {split: rows.num_rows for split, rows in loaded.items()} == {
        split: len(rows) for split, rows in content.questions.items()
    }
    row, first = loaded["test"][0], sorted(content.questions["test"], key=lambda row: row.id)[0]
    assert row["answer"] == list(first.answer)
    assert row["grounding"] == [list(triple) for triple in first.grounding]
    assert set(row) == set(first.model_dump())


def test_a_split_without_questions_is_left_out(tmp_path, content) -> None:
    from datasets import load_dataset

    empty = dataclasses.replace(content, questions={**content.questions, "validation": ()})
    write_package(empty, tmp_path / "empty")
    assert set(load_dataset(str(tmp_path / "empty"), cache_dir=str(tmp_path / "cache"))) == {"train", "test"}


def test_the_tables_say_what_is_in_the_files(folder, content) -> None:
    card = (folder / "README.md").read_text()
    removed, complete = len(content.removed), len(content.complete)
    assert table(card, "Triples") == {
        "complete": [str(complete)], "incomplete": [str(complete - removed)], "removed": [str(removed)],
    }  # fmt: skip
    assert table(card, "Rules by type")["composition"] == ["2"]
    assert table(card, "Rules by type")["total"] == ["4"]
    assert table(card, "Questions")["total"] == ["60"]
    twins = table(card, "Questions by twin")
    assert [twins[stratum][-1] for stratum in ("symmetric", "inverse", "other reverse", "none")] == [
        "15", "16", "14", "15",
    ]  # fmt: skip
    assert table(card, "Questions by hops")["2"][-1] == "29"
    assert table(card, "Graph statistics")["triples"] == [str(complete), str(complete - removed)]
    assert table(card, "Graph statistics")["entities"] == ["165", "165"]
    assert table(card, "Settings")["max\\_answers"] == ["100"]


def test_names_cannot_break_the_card(tmp_path, content) -> None:
    name = "evil: |\n---\n<script>alert(1)</script> | [x](y) `z`"
    write_package(dataclasses.replace(content, name=name, kg=name), tmp_path / "evil")
    card = (tmp_path / "evil" / "README.md").read_text()
    front, body = card.removeprefix("---\n").split("\n---\n", 1)
    assert yaml.safe_load(front)["pretty_name"] == name
    assert "<script>" not in body
    assert "\n# evil: \\| \\-\\-\\- \\<script" in body or "\n# evil: \\| --- \\<script" in body
