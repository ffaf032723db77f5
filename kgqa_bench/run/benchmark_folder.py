"""A built benchmark: questions over a graph from which triples were removed (``--benchmark FOLDER``).

``kgqa-bench build-incomplete`` writes such folders. Its graph is the folder too, without the removed triples unless
``--set graph.view=complete`` asks for all. Gold answers come with the hard ones and their derivations.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kgqa_bench.contracts import Benchmark, BenchmarkData, PluginSettings
from kgqa_bench.domain import Derivation, Gold, Item, Question, Triple, TwinStratum
from kgqa_bench.errors import ConfigError, DataError, DataNotFoundError
from kgqa_bench.horn.rule import RuleSubtype, RuleType
from kgqa_bench.run.split import SAMPLING_RULE, draw, split_hash

Named = tuple[str, str, str]
"""Head, relation and tail, as the files write them."""

Wording = Literal["template", "llm"]
"""Whose words a question is in."""

MOST = 1_000_000_000
"""No number in a row is greater."""

_REMEDY = "Build it again, or see what is wrong with kgqa-bench verify."


class QuestionRow(BaseModel):
    """One line of questions.SPLIT.jsonl.

    Attributes:
        id: Unique over all splits: a number with leading zeros, so that text order is number order.
        question: The wording.
        kind: Always ``entities``.
        topic_entities: The one topic.
        answer: All answers on the complete graph, sorted.
        hard_answers: Those whose direct triple is removed, sorted.
        primary: The entity at the asked end of ``removed``.
        relation: Name of the relation asked for.
        asked: The end of the triple that is asked for; the topic is the other end.
        rule: Number of the rule, counted from 1.
        rule_type: Its type.
        rule_subtype: Its subtype, "" where it has none.
        removed: The removed triple the question was made for.
        grounding: The body triples of its certificate, in the order of the rule's atoms.
        hops: Triples on the shortest way between its ends within the grounding.
        twin: The twin stratum, "" where twins are not marked.
        wording: Whose words the question is in: the template's, also where it stands in for a model's, or a model's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    kind: Literal["entities"] = "entities"
    topic_entities: tuple[str]
    answer: tuple[str, ...] = Field(min_length=1)
    hard_answers: tuple[str, ...]
    primary: str
    relation: str
    asked: Literal["head", "tail"]
    rule: int = Field(ge=0, le=MOST)
    rule_type: RuleType
    rule_subtype: RuleSubtype | Literal[""]
    removed: Named
    grounding: tuple[Named, ...]
    hops: int = Field(ge=0, le=MOST)
    twin: TwinStratum | Literal[""]
    wording: Wording

    def item(self) -> Item:
        """The question as methods see it, and its gold answer."""
        derivation = Derivation(
            rule=self.rule,
            rule_type=self.rule_type,
            rule_subtype=self.rule_subtype or None,
            removed=Triple(*self.removed),
            grounding=tuple(Triple(*triple) for triple in self.grounding),
            hops=self.hops,
            twin=self.twin or None,
        )
        return Item(
            Question(self.id, self.question, self.kind, topic_entities=self.topic_entities),
            Gold(self.answer, self.hard_answers, self.primary, derivation),
        )


class FolderSettings(PluginSettings):
    """Which questions of a built benchmark are asked."""

    split: Literal["train", "validation", "test"] = Field(default="test", description="The part that is asked.")
    size: int | None = Field(
        default=None, ge=1, description="Questions drawn by the run's seed; none asks all, in the file's order."
    )


class BenchmarkFolder(Benchmark):
    """The questions of a built benchmark, over its own incomplete graph."""

    Settings = FolderSettings

    def __init__(self, folder: Path, settings: PluginSettings | None = None) -> None:
        super().__init__(settings)
        self.folder = folder

    @property
    def implied_graph(self) -> str:
        """The folder, written such that it is no registered name."""
        return str(self.folder) if len(self.folder.parts) > 1 else f"./{self.folder}"

    def load(self, data: Path | None, seed: int) -> BenchmarkData:
        """Read the folder; ``data`` is not used. Errors as for ``load_folder``."""
        return load_folder(self.folder, self.settings, seed)


def is_built(path: Path) -> bool:
    """Whether a path is the folder of a built benchmark."""
    return (path / "manifest.json").is_file()


def load_folder(folder: Path, settings: FolderSettings, seed: int) -> BenchmarkData:
    """The questions of one split of a built benchmark; solved examples come from train and are not asked.

    Raises:
        DataNotFoundError: It is no built benchmark, or a file of it is missing.
        DataError: A file is damaged, or not the one the manifest has the hash of; names file and line.
        ConfigError: The split has no question.
    """
    manifest = _manifest(folder)
    by_id = _questions(folder, settings.split, manifest)
    if not by_id:
        raise ConfigError(f"{folder} has no question in the split {settings.split}.", hint="Set benchmark.split.")
    drawn = list(by_id) if settings.size is None or settings.size >= len(by_id) else draw(by_id, seed)
    items = tuple(by_id[question_id] for question_id in drawn[: settings.size])
    asked = frozenset(item.question.id for item in items)

    @cache
    def exemplars() -> Sequence[Item]:
        solved = _questions(folder, "train", manifest)
        return [solved[question_id] for question_id in draw(solved.keys() - asked, seed)]

    trained = settings.split != "train" or len(items) < len(by_id)
    provenance = {
        "source": "built benchmark",
        "name": str(manifest["name"]),
        "kg": str(manifest.get("kg", "")),
        "settings": manifest.get("settings", {}),
        "files": manifest["files"],
        "split": settings.split,
        "rows": len(by_id),
        "sampling": SAMPLING_RULE if len(items) < len(by_id) else "all, in the set's order",
        "seed": seed,
        "split_hash": split_hash(items),
    }
    return BenchmarkData(items, exemplars if trained else None, provenance)


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / "manifest.json"
    content = _content(path)
    try:
        manifest = orjson.loads(content)
    except orjson.JSONDecodeError as problem:
        raise DataError(f"Not JSON: {problem.msg}.", file=path, hint=_REMEDY) from problem
    if (
        not isinstance(manifest, dict)
        or manifest.get("format") != 1
        or not isinstance(manifest.get("name"), str)
        or not isinstance(manifest.get("files"), dict)
    ):
        raise DataError("Not a manifest of format 1.", file=path, hint=_REMEDY)
    return manifest


def _questions(folder: Path, split: str, manifest: dict[str, Any]) -> dict[str, Item]:
    """The items of a split by id, in the file's order."""
    path = folder / f"questions.{split}.jsonl"
    content = _content(path)
    if hashlib.sha256(content).hexdigest() != manifest["files"].get(path.name):
        raise DataError("Not the file that manifest.json has the hash of.", file=path, hint=_REMEDY)
    items: dict[str, Item] = {}
    for line, text in enumerate(content.splitlines(), 1):
        try:
            item = QuestionRow.model_validate_json(text).item()
        except ValidationError as problem:
            first = problem.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            message = f"{where}: {first['msg']}." if where else f"{first['msg']}."
            raise DataError(message, file=path, line=line, hint=_REMEDY) from problem
        if items.setdefault(item.question.id, item) is not item:
            raise DataError("An earlier line has the same id.", file=path, line=line, row=item.question.id)
    return items


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as problem:
        raise DataNotFoundError(
            f"There is no file {path}.", hint="Build the benchmark with kgqa-bench build-incomplete."
        ) from problem
    except OSError as problem:
        raise DataError(f"Cannot be read: {problem.strerror or problem}.", file=path) from problem
