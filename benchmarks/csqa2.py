"""CommonsenseQA 2.0 (Talmor et al., NeurIPS 2021): statements and questions to call true or false."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kgqa_bench.domain import Gold, Item, Question

from ._base import HubName, PublishedSet, Revision, Row, Size, Split, SplitSettings

_TRUTH = {"yes": "true", "no": "false"}


class CommonsenseQA2Settings(SplitSettings):
    """500 of the dev split, as in the DoG paper; the test split's labels are not public."""

    split: Split = "dev"
    size: Size = 500
    hub: HubName = "tasksource/commonsense_qa_2.0"
    revision: Revision = "23ff83b18ed76882f3af1a403a7c464b72efcd86"


class CommonsenseQA2(PublishedSet):
    """CommonsenseQA 2.0: 500 true-or-false questions."""

    Settings = CommonsenseQA2Settings
    graph = "conceptnet"
    folder = "commonsenseqa2"
    files: ClassVar[Mapping[str, str]] = {"dev": "CSQA2_dev.json.gz", "train": "CSQA2_train.json.gz"}
    hub_splits: ClassVar[Mapping[str, str]] = {"dev": "validation"}
    columns = ("id", "question", "answer")

    def item(self, row: Row, index: int, split: str) -> Item:
        """See ``PublishedSet.item``."""
        if row["answer"] not in _TRUTH:
            raise ValueError(f"The answer {row['answer']!r} is neither yes nor no.")
        text = row["question"].strip()
        if not row["id"] or not text:
            raise ValueError("The id or the question is empty.")
        return Item(Question(row["id"], text, "boolean"), Gold((_TRUTH[row["answer"]],)))
