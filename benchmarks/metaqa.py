"""MetaQA (Zhang et al., AAAI 2018): questions on films over one, two and three hops, from the authors' files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from kgqa_bench.contracts import Benchmark, BenchmarkData, PluginSettings
from kgqa_bench.errors import DataError, DataNotFoundError
from kgqa_bench.question_sets.files import text_lines
from kgqa_bench.question_sets.metaqa import metaqa_files, read_metaqa
from kgqa_bench.question_sets.model import SetQuestion
from kgqa_bench.storage import DATA_VARIABLE

from ._base import Size
from ._question_sets import benchmark_data

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")
FOLDER = "metaqa"


class MetaQaSettings(PluginSettings):
    """Which questions are asked. The DoublyCal paper draws 1,000 of each test split (``size=1000``)."""

    split: Split = Field(default="test", description="The part that is asked.")
    size: Size = None


class _MetaQa(Benchmark):
    """One of the three parts.

    Attributes:
        hops: Triples between topic and answers.
        official: Questions of the parts, by their publishers' count.
    """

    Settings = MetaQaSettings
    graph: ClassVar[str | None] = "metaqa"
    hops: ClassVar[int]
    official: ClassVar[Mapping[Split, int]]

    def load(self, data: Path | None, seed: int) -> BenchmarkData:
        """Load the questions with their types, which are kept for tables and never shown to a method."""
        settings: MetaQaSettings = self.settings
        folder = data / FOLDER if data is not None else None
        files = metaqa_files(folder) if folder is not None and folder.is_dir() else {}
        at_hand: dict[Split, Path] = {
            split: file for split in SPLITS if (file := files.get(f"{split} {self.hops}hop"))
        }
        file = at_hand.get(settings.split)
        if file is None:
            raise self._missing(folder, settings.split, at_hand)
        types = self._types(file)
        return benchmark_data(
            self._rows(file, settings.split),
            place=str(file),
            source={"source": "MetaQA", "file": file.name, "types": types is not None},
            split=settings.split,
            size=settings.size,
            seed=seed,
            official=self.official.get(settings.split),
            solved=(lambda: self._rows(at_hand["train"], "train")) if "train" in at_hand else None,
            groups=lambda row: (
                {"topic": row.topics[0]} | ({} if types is None else {"question_type": types[row.line]})
            ),
        )

    def _rows(self, file: Path, split: Split) -> Iterator[SetQuestion]:
        """The rows of a file; ids do not depend on what files and folders are called."""
        for row in read_metaqa(file, split):
            yield replace(row, id=f"{split}-{self.hops}hop-{row.line}")

    def _types(self, file: Path) -> dict[int, str] | None:
        """The types by the questions' lines, from the file beside it or a folder above; None where there is none."""
        name = f"{file.stem}_qtype.txt"
        found = [place for place in (file.with_name(name), file.parent.parent / name) if place.is_file()]
        if not found:
            return None
        types = {line: written.strip() for line, written in text_lines(found[0])}
        if types.keys() != {line for line, _row in text_lines(file)}:
            message = f"It does not have one type for each question of {file.name}."
            raise DataError(message, file=found[0], hint="Get both files from the same place, or leave it out.")
        return types

    def _missing(self, folder: Path | None, split: Split, at_hand: Iterable[Split]) -> DataNotFoundError:
        looked = f"{folder} has no qa_{split}_{self.hops}hop.txt" if folder is not None else "no data folder is given"
        other = next(iter(at_hand), None)
        hint = f"--set benchmark.split={other} asks the questions that are at hand. Or get" if other else "Get"
        return DataNotFoundError(
            f"metaqa-{self.hops}hop, split {split}: {looked}.",
            hint=f"{hint} the authors' files (github.com/yuyuz/MetaQA names the place; no hub is asked for them), "
            f"such that FOLDER/{FOLDER} holds kb.txt and {self.hops}-hop/vanilla/qa_{split}.txt or "
            f"qa_{split}_{self.hops}hop.txt, and give FOLDER by --data or {DATA_VARIABLE}.",
        )


class MetaQa1Hop(_MetaQa):
    """MetaQA, 1 hop: 9,947 test questions on films, such as who directed one."""

    hops = 1
    official: ClassVar[Mapping[Split, int]] = {"dev": 9_992, "test": 9_947}


class MetaQa2Hop(_MetaQa):
    """MetaQA, 2 hops: 14,872 test questions on films, such as in which years an actor's films came out."""

    hops = 2
    official: ClassVar[Mapping[Split, int]] = {"dev": 14_872, "test": 14_872}


class MetaQa3Hop(_MetaQa):
    """MetaQA, 3 hops: 14,274 test questions on films, such as who acted in films by a film's director."""

    hops = 3
    official: ClassVar[Mapping[Split, int]] = {"dev": 14_274, "test": 14_274}
