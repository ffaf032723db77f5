"""CommonsenseQA (Talmor et al., NAACL 2019): five options; each question was written for one ConceptNet concept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kgqa_bench.domain import Item

from ._base import HubName, PublishedSet, Revision, Row, Size, Split, SplitSettings, choice_item


class CommonsenseQASettings(SplitSettings):
    """500 of the dev split, as in the DoG paper; the test split's labels are not public."""

    split: Split = "dev"
    size: Size = 500
    hub: HubName = "tau/commonsense_qa"
    revision: Revision = "94630fe30dad47192a8546eb75f094926d47e155"


class CommonsenseQA(PublishedSet):
    """CommonsenseQA: 500 five-option questions on everyday concepts."""

    Settings = CommonsenseQASettings
    graph = "conceptnet"
    folder = "commonsenseqa"
    files: ClassVar[Mapping[str, str]] = {"dev": "dev_rand_split.jsonl", "train": "train_rand_split.jsonl"}
    hub_splits: ClassVar[Mapping[str, str]] = {"dev": "validation"}
    columns = ("id", "question", "question_concept", "choices", "answerKey")

    def columns_of(self, row: Row) -> Row:
        """The authors' file nests stem, concept and choices under ``question``."""
        choices = row["question"]["choices"]
        return {
            "id": row["id"],
            "question": row["question"]["stem"],
            "question_concept": row["question"]["question_concept"],
            "choices": {key: [choice[key] for choice in choices] for key in ("label", "text")},
            "answerKey": row["answerKey"],
        }

    def item(self, row: Row, index: int, split: str) -> Item:
        """See ``PublishedSet.item``. The concept is a surface form, left to the linker as topic entity."""
        choices = row["choices"]
        concept = row["question_concept"].strip()
        return choice_item(
            row["id"],
            row["question"],
            choices["label"],
            choices["text"],
            row["answerKey"],
            (concept,) if concept else (),
        )
