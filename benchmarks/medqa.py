"""MedQA-US (Jin et al., 2021): questions of the United States medical licensing examination, four options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kgqa_bench.domain import Item

from ._base import HubName, PublishedSet, Revision, Row, Size, Split, SplitSettings, choice_item


class MedQASettings(SplitSettings):
    """200 of the test split, as in the DoG paper."""

    split: Split = "test"
    size: Size = 200
    hub: HubName = "GBaker/MedQA-USMLE-4-options"
    revision: Revision = "0fb93dd23a7339b6dcd27e241cb9b5eca62d4d18"


class MedQA(PublishedSet):
    """MedQA-US: 200 four-option questions of the medical licensing examination."""

    Settings = MedQASettings
    graph = "medkgent"
    folder = "medqa"
    files: ClassVar[Mapping[str, str]] = {"test": "test.jsonl"}
    columns = ("question", "options", "answer_idx")
    exemplar_split = "test"

    def item(self, row: Row, index: int, split: str) -> Item:
        """See ``PublishedSet.item``. Rows have no id: it is made of split and row number, counted from 0."""
        options = row["options"]
        labels, texts = list(options), list(options.values())
        return choice_item(f"medqa-{split}-{index:04}", row["question"], labels, texts, row["answer_idx"])
