"""What the published question sets have in common: where rows come from, and which of them are asked."""

from __future__ import annotations

import gzip
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar

import orjson
from pydantic import Field

from kgqa_bench.contracts import Benchmark, BenchmarkData, PluginSettings
from kgqa_bench.domain import Gold, Item, Option, Question
from kgqa_bench.errors import ConfigError, DataError
from kgqa_bench.run.split import SAMPLING_RULE, draw, split_hash
from kgqa_bench.storage import UNREADABLE

from ._hub import HubSet, hub_rows

Row = Mapping[str, Any]


# the settings' types carry their descriptions, because each benchmark gives its own defaults
Split = Annotated[str, Field(description="The part of the set, by its authors' name for it.")]
Size = Annotated[
    int | None,
    Field(ge=1, description="Questions drawn by the run's seed; none asks all, in the set's own order."),
]
HubName = Annotated[str, Field(description="Name of the data set on the Hugging Face hub.")]
Revision = Annotated[str, Field(description="Commit of the hub's repository.")]


class SplitSettings(PluginSettings):
    """Which questions are asked and where they come from."""

    split: Split
    size: Size = None
    hub: HubName
    revision: Revision


class PublishedSet(Benchmark):
    """A published question set, from a folder in the data folder or from the hub: the same rows either way.

    Attributes:
        folder: Its folder under the data folder.
        files: Its file there, by split.
        hub_config: Its configuration's name on the hub.
        hub_splits: What the hub calls a split, where it has another name.
        columns: The hub's columns that are read.
        exemplar_split: Where solved examples come from; rows that are asked are left out.
    """

    folder: ClassVar[str]
    files: ClassVar[Mapping[str, str]]
    hub_config: ClassVar[str | None] = None
    hub_splits: ClassVar[Mapping[str, str]] = {}
    columns: ClassVar[tuple[str, ...]]
    exemplar_split: ClassVar[str] = "train"

    @abstractmethod
    def item(self, row: Row, index: int, split: str) -> Item:
        """A row in the hub's columns as a question with its answer; ``index`` counts the split's rows from 0."""

    def columns_of(self, row: Row) -> Row:
        """A row of the local file in the hub's columns."""
        return row

    def load(self, data: Path | None, seed: int) -> BenchmarkData:
        """Load the questions; see ``Benchmark.load``."""
        settings: SplitSettings = self.settings
        if settings.split not in self.files:
            raise ConfigError(
                f"{type(self).__name__} has no split {settings.split!r}.", hint=f"It has: {', '.join(self.files)}."
            )
        by_id, source = self._items(data, settings.split)
        drawn = list(by_id) if settings.size is None or settings.size >= len(by_id) else draw(by_id, seed)
        items = tuple(by_id[question_id] for question_id in drawn[: settings.size])
        asked = frozenset(item.question.id for item in items)

        @cache
        def exemplars() -> Sequence[Item]:
            solved, _ = self._items(data, self.exemplar_split)
            return [solved[question_id] for question_id in draw(solved.keys() - asked, seed)]

        provenance = {
            "source": source,
            "split": settings.split,
            "rows": len(by_id),
            "sampling": SAMPLING_RULE if len(items) < len(by_id) else "all, in the set's order",
            "seed": seed,
            "ids": [item.question.id for item in items],
            "split_hash": split_hash(items),
        }
        has_exemplars = self.exemplar_split != settings.split or len(items) < len(by_id)
        return BenchmarkData(items, exemplars if has_exemplars else None, provenance)

    def _items(self, data: Path | None, split: str) -> tuple[dict[str, Item], dict[str, Any]]:
        """The split's items by id in the set's order, and where they came from."""
        settings: SplitSettings = self.settings
        name = f"{self.folder}/{self.files[split]}"
        rows: Iterable[tuple[int, Any]]
        columns_of: Callable[[Any], Row]
        file = data / name if data is not None else None
        if file is not None and file.is_file():
            place, source = str(file), {"file": name}
            rows, columns_of = _json_lines(file), self.columns_of
        else:
            hub = HubSet(
                settings.hub, settings.revision, self.hub_config, self.hub_splits.get(split, split), self.columns
            )
            place, source = str(hub), {"hub": hub.name, "revision": hub.revision}
            rows, columns_of = enumerate(hub_rows(hub, name, data), start=1), dict
        items: dict[str, Item] = {}
        for index, (line, row) in enumerate(rows):
            try:
                item = self.item(columns_of(row), index, split)
                if items.setdefault(item.question.id, item) is not item:
                    raise ValueError("An earlier row has the same id.")
            except (KeyError, TypeError, ValueError, IndexError, AttributeError) as problem:
                reason = f"There is no {problem}." if isinstance(problem, KeyError) else str(problem)
                row_id = row.get("id") if isinstance(row, Mapping) else None
                raise DataError(reason, file=place, line=line, row=row_id, hint=_DAMAGED) from problem
        if not items:
            raise DataError("There are no rows.", file=place, hint=_DAMAGED)
        return items, source


_DAMAGED = "The file is damaged or of another version: get it again from its publisher."


def _json_lines(file: Path) -> Iterator[tuple[int, Any]]:
    """(line number, row) of a file of JSON lines, plain or gzip."""
    try:
        content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    except UNREADABLE as problem:
        raise DataError(f"Cannot be read: {problem}.", file=file, hint=_DAMAGED) from problem
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            try:
                yield number, orjson.loads(line)
            except orjson.JSONDecodeError as problem:
                raise DataError(f"Not JSON: {problem.msg}.", file=file, line=number, hint=_DAMAGED) from problem


def choice_item(
    question_id: str,
    text: str,
    labels: Sequence[str],
    texts: Sequence[str],
    answer: str,
    topics: tuple[str, ...] = (),
) -> Item:
    """A choice question. Options may share a text (24 do in CommonsenseQA's dev split): labels tell them apart.

    Raises:
        ValueError: Saying what is wrong with the row.
    """
    options = tuple(Option(label, option.strip()) for label, option in zip(labels, texts, strict=True))
    if len(options) < 2 or not all(option.label and option.text for option in options):
        raise ValueError("A choice question needs at least two options, each with a label and a text.")
    if len(set(labels)) < len(labels):
        raise ValueError("Two options have the same label.")
    if answer not in labels:
        raise ValueError(f"The gold answer {answer!r} is not among the options {', '.join(labels)}.")
    if not question_id or not text.strip():
        raise ValueError("The id or the question is empty.")
    return Item(Question(question_id, text.strip(), "choice", options, topics), Gold((answer,)))
