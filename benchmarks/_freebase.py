"""WebQSP and ComplexWebQuestions: the rows of RoG's sets, each with its own part of Freebase, or the authors' files.

RoG's sets (Luo et al., ICLR 2024) are read from a folder or from the hub; their graphs are kept on disk and had one
at a time. Gold answers never name a node: a graph of machine ids stays one, although the answers' names are known.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from kgqa_bench.contracts import Benchmark, BenchmarkData, OwnGraphs, PluginSettings
from kgqa_bench.errors import DataError, DataNotFoundError
from kgqa_bench.question_sets.model import SetQuestion
from kgqa_bench.question_sets.subgraphs import SUFFIXES, split_of
from kgqa_bench.storage import DATA_VARIABLE

from ._base import HubName, Revision, Size
from ._hub import hub_folder
from ._question_sets import benchmark_data

Split = Literal["train", "dev", "test"]
SPLITS: Mapping[Split, tuple[str, ...]] = {
    "train": ("train",),
    "dev": ("dev", "validation", "valid", "val"),
    "test": ("test",),
}
_log = logging.getLogger(__name__)
_MACHINE_ID = re.compile(r"[mg]\.[0-9a-z_]+")
_SHARD = re.compile(r"-(\d+)-of-(\d+)")


class FreebaseSettings(PluginSettings):
    """Which questions are asked and where they come from."""

    split: Split = Field(default="test", description="The part that is asked.")
    size: Size = None
    hub: HubName
    revision: Revision = "main"


class _Source(NamedTuple):
    """Where a split was found, nothing of it read yet."""

    files: Sequence[Path]
    place: str
    provenance: Mapping[str, Any]
    key: Mapping[str, Any] | None  # of the rows on the hub; None for files of the user's


class FreebaseSet(Benchmark):
    """Questions over Freebase, each with its own part of it where the rows bring one.

    Attributes:
        folder: The set's folder under the data folder.
        official: Questions of a split that have an answer, by its publishers' count.
        exemplar_split: Where solved examples come from.
    """

    folder: ClassVar[str]
    official: ClassVar[Mapping[Split, int]]
    exemplar_split: ClassVar[Split] = "train"

    def load(self, data: Path | None, seed: int) -> BenchmarkData:
        """Load the questions; see ``Benchmark.load``. Graphs are read once and then kept under the cache folder."""
        settings: FreebaseSettings = self.settings
        source = self._source(data, settings.split)
        questions, graphs, facts = _read(source, settings.split)
        return benchmark_data(
            questions,
            place=source.place,
            source={**source.provenance, **facts},
            split=settings.split,
            size=settings.size,
            seed=seed,
            official=self.official.get(settings.split),
            solved=self._solved(data, source),
            graphs=graphs,
        )

    def _source(self, data: Path | None, split: Split) -> _Source:
        folder = data / self.folder if data is not None else None
        files = split_files(folder, split) if folder is not None and folder.is_dir() else []
        if files:
            names = [file.name for file in files]
            return _Source(files, f"{folder}, {', '.join(names)}", {"source": "folder", "files": names}, None)
        settings: FreebaseSettings = self.settings
        at_hand = [each for each in SPLITS if folder is not None and folder.is_dir() and split_files(folder, each)]
        names = [f"*{word}-*.parquet" for word in SPLITS[split]]
        snapshot = hub_folder(
            settings.hub, settings.revision, names, lambda why: self._missing(data, split, at_hand, why)
        )
        files = split_files(snapshot, split)
        if not files:
            raise self._missing(data, split, at_hand, "it has no Parquet file of that split")
        identity = {"hub": settings.hub, "revision": snapshot.name}
        key = {**identity, "split": split, "files": [file.name for file in files]}
        return _Source(files, f"{settings.hub}@{snapshot.name[:12]} ({split})", {"source": "hub", **identity}, key)

    def _solved(self, data: Path | None, asked: _Source) -> Callable[[], Iterable[SetQuestion]] | None:
        settings: FreebaseSettings = self.settings
        split: Split = self.exemplar_split if self.exemplar_split != settings.split else "train"
        if asked.key is None and not (data is not None and split_files(data / self.folder, split)):
            return None

        def rows() -> Iterator[SetQuestion]:
            from kgqa_bench.question_sets.subgraph_columns import subgraph_rows

            for file in self._source(data, split).files:
                reader = _questions_only(file)
                if reader is not None:
                    yield from reader(file, split)
                else:
                    yield from (row.question for row in subgraph_rows(file, split, graphs=False))

        return rows

    def _missing(self, data: Path | None, split: Split, at_hand: Sequence[Split], why: str) -> DataNotFoundError:
        settings: FreebaseSettings = self.settings
        folder = data / self.folder if data is not None else None
        looked = f"{folder} has no file of it" if folder is not None else "no data folder is given"
        other = f"--set benchmark.split={at_hand[0]} asks the questions that are at hand. Or " if at_hand else ""
        return DataNotFoundError(
            f"{self.folder}, split {split}: {looked}, and {settings.hub} cannot be had from the hub ({why}).",
            hint=f"{other}reach the Hugging Face hub (HF_HUB_OFFLINE unset; settings `hub` and `revision` name the "
            f"set); or put the set's files (as {split}-00000-of-00001.parquet, or {split}.jsonl) into "
            f"FOLDER/{self.folder} and give FOLDER by --data or {DATA_VARIABLE}.",
        )


def split_files(folder: Path, split: Split) -> list[Path]:
    """The files of a split in a folder or its ``data``: shards of Parquet, or one other file; empty for none.

    Where several may be meant, the one whose rows have graphs is.

    Raises:
        DataError: A shard is missing, or several files may be meant.
    """
    found = [
        file
        for place in (folder, folder / "data")
        if place.is_dir()
        for file in sorted(place.iterdir())
        if file.name.endswith(SUFFIXES) and split_of(file) in SPLITS[split] and ".partial." not in file.name
    ]
    shards = [file for file in found if file.suffix == ".parquet" and _SHARD.search(file.name)]
    if shards:
        return _whole(shards, folder)
    if len(found) > 1:
        found = [file for file in found if _questions_only(file) is None]
        if len(found) != 1:
            names = ", ".join(file.name for file in found)
            raise DataError(f"Several files may be the split {split}: {names}.", file=folder, hint="Leave one.")
    return found


def _whole(shards: Sequence[Path], folder: Path) -> list[Path]:
    numbers = [tuple(map(int, match.groups())) for file in shards if (match := _SHARD.search(file.name))]
    if numbers != [(number, len(shards)) for number in range(len(shards))]:
        names = ", ".join(file.name for file in shards)
        raise DataError(f"A part is missing or there twice: {names}.", file=folder, hint="Get the set again.")
    return list(shards)


def _questions_only(file: Path) -> Callable[[Path, str], Iterator[SetQuestion]] | None:
    """The reader of the authors' own files; None for rows that may have graphs."""
    from kgqa_bench.question_sets.freebase_questions import reader_of

    return reader_of(file) if file.suffix == ".json" else None


def _read(source: _Source, split: Split) -> tuple[Iterable[SetQuestion], OwnGraphs | None, Mapping[str, Any]]:
    """The questions of a source, their graphs, and what is recorded of these."""
    reader = _questions_only(source.files[0]) if len(source.files) == 1 else None
    if reader is not None:
        rows = list(reader(source.files[0], split))
        answers = [answer for row in rows for answer in row.answers]
        unnamed = 2 * sum(map(bool, map(_MACHINE_ID.fullmatch, answers))) > len(answers)  # the others are values
        ids = ", and gold answers are machine ids: an answer given as a name counts as wrong" if unnamed else ""
        _log.warning("%s holds questions without graphs: methods that use one need --graph%s.", source.place, ids)
        return rows, None, {"graphs": "none in the file", "answers": "machine ids" if unnamed else "names"}
    from kgqa_bench.graph.cache import file_hashes
    from kgqa_bench.question_sets.own_graphs import stored
    from kgqa_bench.question_sets.subgraph_columns import subgraph_rows

    key = source.key if source.key is not None else {"split": split, "files": file_hashes(source.files)}
    found = stored(key, lambda: (row for file in source.files for row in subgraph_rows(file, split)))
    return found.questions, found.graphs, {"graphs": dict(found.graphs.facts)}
