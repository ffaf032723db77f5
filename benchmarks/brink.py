"""BRINK (Zhou et al., arXiv 2508.08344): questions whose direct triple was removed from the graph, as published.

The gold answers are the published ones; ``kgqa-bench audit`` says how many of them the questions do not ask for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from kgqa_bench.contracts import Benchmark, BenchmarkData, GraphSource, PluginSettings
from kgqa_bench.domain import Gold, Item, Question
from kgqa_bench.errors import ConfigError, DataError, DataNotFoundError
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.question_sets.brink import brink_files, brink_graph_files, checked_question, read_brink
from kgqa_bench.question_sets.model import SetQuestion
from kgqa_bench.run.split import SAMPLING_RULE, draw, split_hash
from kgqa_bench.storage import DATA_VARIABLE

from ._base import Size
from ._hub import HubSet, hub_rows

COLUMNS = ("id", "question", "q_entity", "answer", "hard_answer")
Labels = Field(
    default="",
    description="Folder within the set's, where it comes in several labellings (Private_ID, Text_Label …).",
)


class BrinkSettings(PluginSettings):
    """Which questions are asked and where they come from."""

    split: Literal["train", "validation", "test"] = Field(default="test", description="The part that is asked.")
    size: Size = None
    labels: str = Labels
    revision: str | None = Field(
        default=None,
        pattern="^[0-9a-f]{40}$",
        description="Commit of the hub's repository; without it only the data folder is looked at.",
    )


class BrinkGraphSettings(PluginSettings):
    """Which of the two graphs is meant."""

    view: Literal["incomplete", "complete"] = Field(
        default="incomplete", description="`incomplete`: without the removed triples; `complete`: with them."
    )
    labels: str = Labels


class _Brink(Benchmark):
    """One of the three sets.

    Attributes:
        folder: Its folder under the data folder, and its name on the hub after ``ZDZR/``.
    """

    Settings = BrinkSettings
    folder: ClassVar[str]

    def load(self, data: Path | None, seed: int) -> BenchmarkData:
        """Load the questions; rows without a gold answer cannot be scored: they are left out and counted."""
        settings: BrinkSettings = self.settings
        items, source = self._items(data, settings.split)
        drawn = list(items) if settings.size is None or settings.size >= len(items) else draw(items, seed)
        asked = tuple(items[question_id] for question_id in drawn[: settings.size])
        taken = frozenset(item.question.id for item in asked)

        @cache
        def exemplars() -> Sequence[Item]:
            solved, _source = self._items(data, "train")
            return [solved[question_id] for question_id in draw(solved.keys() - taken, seed)]

        provenance = {
            **source,
            "split": settings.split,
            "rows": len(items),
            "sampling": SAMPLING_RULE if len(asked) < len(items) else "all, in the set's order",
            "seed": seed,
            "split_hash": split_hash(asked),
        }
        has_exemplars = settings.split != "train" or len(asked) < len(items)
        return BenchmarkData(asked, exemplars if has_exemplars else None, provenance)

    def _items(self, data: Path | None, split: str) -> tuple[dict[str, Item], Mapping[str, Any]]:
        settings: BrinkSettings = self.settings
        folder = _folder(data, self.folder, settings.labels)
        rows: Iterable[SetQuestion]
        if folder is not None:
            file = brink_files(folder).get(split)
            if file is None:
                message = f"{folder} has no questions of the split {split}."
                raise DataNotFoundError(message, hint=_remedy(self.folder))
            place, source, rows = str(file), {"file": file.name}, read_brink(file, split)
        elif settings.revision is not None:
            hub = HubSet(f"ZDZR/{self.folder}", settings.revision, None, split, COLUMNS)
            place, source = str(hub), {"hub": hub.name, "revision": hub.revision}
            found = hub_rows(hub, f"{self.folder}/{split}.tsv", data)
            rows = (checked_question(row, split, number, place) for number, row in enumerate(found, 1))
        else:
            raise _not_found(data, self.folder)
        items: dict[str, Item] = {}
        unscorable = 0
        for row in rows:
            if not row.answers:
                unscorable += 1
                continue
            if items.setdefault(row.id, item := _item(row)) is not item:
                raise DataError("An earlier row has the same id.", file=place, line=row.line, row=row.id)
        if not items:
            raise ConfigError(f"{place} has no question with a gold answer.")
        return items, {"source": "BRINK", **source, "rows without gold answer": unscorable}


class _BrinkGraph(GraphSource):
    """The graph of one of the three sets."""

    Settings = BrinkGraphSettings
    folder: ClassVar[str]

    def load(self, data: Path | None) -> Graph:
        """Read the complete or the incomplete graph from the data folder."""
        from kgqa_bench.graph.sources.cached import cached_text

        settings: BrinkGraphSettings = self.settings
        folder = _folder(data, self.folder, settings.labels)
        if folder is None:
            raise _not_found(data, self.folder)
        files = brink_graph_files(folder)
        if files is None:
            raise DataNotFoundError(f"{folder} does not hold the two graphs.", hint=_remedy(self.folder))
        return cached_text(files[0] if settings.view == "complete" else files[1], "max")


class BrinkFamily(_Brink):
    """BRINK-Family: 198 test questions on family relations, the direct triple of each removed."""

    graph = "brink-family"
    folder = "BRINK-family"


class BrinkFb15k237(_Brink):
    """BRINK-FB15k-237: 540 test questions on a part of Freebase, the direct triple of each removed."""

    graph = "brink-fb15k237"
    folder = "BRINK-FB15k-237"


class BrinkWikidata5m(_Brink):
    """BRINK-Wikidata5m: 3,465 test questions on Wikidata5m, the direct triple of each removed."""

    graph = "brink-wikidata5m"
    folder = "BRINK-Wikidata5m"


class BrinkFamilyGraph(_BrinkGraph):
    """The graph of BRINK-Family: 15,785 of 17,615 triples are left in the incomplete one."""

    folder = "BRINK-family"


class BrinkFb15k237Graph(_BrinkGraph):
    """The graph of BRINK-FB15k-237: 198,183 of 204,087 triples are left in the incomplete one."""

    folder = "BRINK-FB15k-237"


class BrinkWikidata5mGraph(_BrinkGraph):
    """The graph of BRINK-Wikidata5m: 20,478,006 of 20,510,107 triples are left in the incomplete one."""

    folder = "BRINK-Wikidata5m"


def _item(row: SetQuestion) -> Item:
    gold = Gold(tuple(dict.fromkeys(row.answers)), tuple(dict.fromkeys(row.hard_answers)), row.primary)
    return Item(Question(row.id, row.text, "entities", topic_entities=row.topics), gold)


def _folder(data: Path | None, name: str, labels: str) -> Path | None:
    """The set's folder in the data folder, or None. DataNotFoundError where it lacks the labelling asked for."""
    if data is None or not (data / name).is_dir():
        return None
    folder = data / name / labels
    if not folder.is_dir():
        raise DataNotFoundError(f"There is no folder {folder}.", hint="Check the setting `labels`.")
    return folder


def _not_found(data: Path | None, name: str) -> DataNotFoundError:
    looked = f"{data / name} is not there" if data is not None else "no data folder is given"
    return DataNotFoundError(f"{name} is not at hand: {looked}.", hint=_remedy(name))


def _remedy(name: str) -> str:
    return (
        f"Get the set ZDZR/{name} from the Hugging Face hub (hf download ZDZR/{name} --repo-type dataset --local-dir "
        f"FOLDER/{name}), such that FOLDER/{name} holds its questions (train, validation or val, test; .tsv, .json "
        f"or .jsonl) and both graphs, and give FOLDER by --data or {DATA_VARIABLE}. The questions alone can also be "
        "read from the hub: the setting `revision` must then give the commit, for none is pinned."
    )
