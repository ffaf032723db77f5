"""The data card of a built benchmark, made from its manifest alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .model import SPLITS

_KINDS: dict[str, dict[str, Any]] = {
    "text": {"dtype": "string"},
    "number": {"dtype": "int64"},
    "texts": {"sequence": "string"},
    "triples": {"sequence": {"sequence": "string"}},
}
_FEATURES: tuple[tuple[str, str], ...] = (
    ("id", "text"),
    ("question", "text"),
    ("kind", "text"),
    ("topic_entities", "texts"),
    ("answer", "texts"),
    ("hard_answers", "texts"),
    ("primary", "text"),
    ("relation", "text"),
    ("asked", "text"),
    ("rule", "number"),
    ("rule_type", "text"),
    ("rule_subtype", "text"),
    ("removed", "texts"),
    ("grounding", "triples"),
    ("hops", "number"),
    ("twin", "text"),
    ("wording", "text"),
)

_INTRODUCTION = """\
Questions over a knowledge graph from which triples were removed that still follow, by a mined rule, from triples that
are left. A question asks for the entities at one end of a relation; at least one answer's direct triple is gone.

- `triples.incomplete.tsv` is the graph that methods get to see, `triples.complete.tsv` the one that gold answers are
  read from, `triples.removed.tsv` the difference (head, relation, tail{confidence}).
- `questions.train.jsonl`, `questions.validation.jsonl`, `questions.test.jsonl`: the questions. `answer` holds all
  answers on the complete graph, `hard_answers` those whose direct triple is removed, `primary` the one that the
  question was made for; `removed`, `grounding` and `rule` say how that one follows.
- `certificate.jsonl`: for every removed triple a rule and the triples of its body, all of them in the incomplete
  graph.
- `rules.tsv`: the rules with their counts on the complete graph. `relations.tsv`: the relations in words.
- `labels.tsv`: what the entities' labels stand for. It is for people; no method may see it.
- `manifest.json`: settings, figures and the SHA-256 of every file. `kgqa-bench verify FOLDER` re-checks all of it.
"""


def render_card(manifest: Mapping[str, Any]) -> str:
    """README.md: front matter that `datasets.load_dataset(folder)` reads, and the tables of the manifest's figures.

    Args:
        manifest: The manifest; its list of files is not needed. All texts in it are escaped.
    """
    figures, settings = manifest["figures"], manifest["settings"]
    weighted = "complete" in figures["graph"] and figures["graph"]["complete"].get("mean confidence", 1.0) != 1.0
    sections = [
        _front_matter(manifest["name"], figures["questions"]),
        f"# {_escaped(manifest['name'])}\n",
        _INTRODUCTION.format(confidence=", confidence" if weighted else ""),
        f"Graph: {_escaped(manifest['kg'])}, fingerprint `{_escaped(manifest['source_fingerprint'])}`. Mode: "
        f"{_escaped(settings.get('mode', 'corrected'))}.\n",
        _section("Rules by type", ("type", "rules"), _totalled(figures["rules"])),
        _section("Rules of the type other", ("subtype", "rules"), figures["rule subtypes"].items()),
        _section("Triples", ("graph", "triples"), figures["triples"].items()),
        _section("Questions", ("split", "questions"), _totalled(figures["questions"])),
        *(
            _section(f"Questions by {what}", (what, *SPLITS, "total"), _split_rows(figures[f"questions by {what}"]))
            for what in ("rule type", "asked end", "twin", "hops", "wording")
        ),
        _section(
            "Answers of a question",
            ("", "mean", "median", "most"),
            ((name, *figures[name].values()) for name in ("answers", "hard answers") if figures[name]),
        ),
        _section("Graph statistics", ("", "complete", "incomplete"), _graph_rows(figures["graph"])),
        _section("Counted in the build", ("", ""), _flat(figures.get("build", {}))),
        _section("Settings", ("setting", "value"), _flat(settings)),
    ]
    return "\n".join(section for section in sections if section)


def _front_matter(name: str, questions: Mapping[str, int]) -> str:
    import yaml

    value = {
        "pretty_name": name,
        "task_categories": ["question-answering"],
        "configs": [
            {
                "config_name": "default",
                "data_files": [
                    {"split": split, "path": f"questions.{split}.jsonl"} for split in SPLITS if questions[split]
                ],
            }
        ],
        "dataset_info": {"features": [{"name": feature, **_KINDS[kind]} for feature, kind in _FEATURES]},
    }
    return f"---\n{yaml.safe_dump(value, sort_keys=False, allow_unicode=True)}---\n"


def _section(title: str, columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    lines = [_line(row) for row in rows]
    if not lines:
        return ""
    head = [_line(columns), _line("---" if not number else "---:" for number in range(len(columns)))]
    return "\n".join([f"## {title}", "", *head, *lines, ""])


def _line(cells: Iterable[Any]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    if isinstance(value, int):
        return f"{value:,}"
    return _escaped(value)


def _escaped(value: Any) -> str:
    """Text that Markdown shows as it is, on one line."""
    text = "".join(letter if letter.isprintable() else " " for letter in str(value))
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]<>()#+!|~$&" else letter for letter in text)


def _totalled(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return [*counts.items(), ("total", sum(counts.values()))]


def _split_rows(table: Mapping[str, Mapping[str, int]]) -> list[tuple[Any, ...]]:
    rows = ((value, *counts.values(), sum(counts.values())) for value, counts in table.items())
    return [row for row in rows if row[-1]]


def _graph_rows(graph: Mapping[str, Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    names = list(dict.fromkeys(name for view in ("complete", "incomplete") for name in graph[view]))
    return [(name, graph["complete"].get(name), graph["incomplete"].get(name)) for name in names]


def _flat(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            rows += _flat(value, f"{prefix}{name}: ")
        else:
            rows.append((f"{prefix}{name}", ", ".join(map(str, value)) if isinstance(value, list | tuple) else value))
    return rows
