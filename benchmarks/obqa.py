"""OpenBookQA (Mihaylov et al., EMNLP 2018): elementary science, four options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kgqa_bench.domain import Item

from ._base import HubName, PublishedSet, Revision, Row, Split, SplitSettings, choice_item


class OpenBookQASettings(SplitSettings):
    """The whole test split (500), as the DoG paper's 500 most probably are."""

    split: Split = "test"
    hub: HubName = "allenai/openbookqa"
    revision: Revision = "388097ea7776314e93a529163e0fea805b8a6454"


class OpenBookQA(PublishedSet):
    """OpenBookQA: 500 four-option questions on elementary science."""

    Settings = OpenBookQASettings
    graph = "conceptnet"
    folder = "openbookqa"
    files: ClassVar[Mapping[str, str]] = {"test": "test.jsonl", "dev": "dev.jsonl", "train": "train.jsonl"}
    hub_config = "main"
    hub_splits: ClassVar[Mapping[str, str]] = {"dev": "validation"}
    columns = ("id", "question_stem", "choices", "answerKey")

    def columns_of(self, row: Row) -> Row:
        """The authors' file nests stem and choices under ``question``."""
        choices = row["question"]["choices"]
        return {
            "id": row["id"],
            "question_stem": row["question"]["stem"],
            "choices": {key: [choice[key] for choice in choices] for key in ("label", "text")},
            "answerKey": row["answerKey"],
        }

    def item(self, row: Row, index: int, split: str) -> Item:
        """See ``PublishedSet.item``."""
        choices = row["choices"]
        return choice_item(row["id"], row["question_stem"], choices["label"], choices["text"], row["answerKey"])
