"""From words to entity ids and back: a step of its own before scoring, with a version of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from kgqa_bench.contracts import ScoreRow
from kgqa_bench.errors import DataError
from kgqa_bench.metrics.normal_form import normal_form
from kgqa_bench.question_sets.files import text_lines

VERSION = "1"

LINKED, AMBIGUOUS, UNLINKED = "linked", "ambiguous", "unlinked"


class LabelLinker:
    """Links texts to entities by their labels.

    A text is the entity whose id it is; else the one whose label it is letter by letter; else the one whose label has
    the same normal form (``kgqa_bench.metrics.normal_form``). Where several share it, it is ambiguous and stays text,
    as does one that no label has: it counts as a wrong prediction. A line that is no entity is tried piece by piece
    between commas, and stays whole where no piece is one.

    Args:
        labels: Label by entity id; several entities may share a label.
    """

    def __init__(self, labels: Mapping[str, str]) -> None:
        self.labels = labels
        self.outcomes: Counter[str] = Counter()
        self._exact: dict[str, str | None] = {}
        self._normal: dict[str, str | None] = {}
        for entity, label in labels.items():
            for index, form in ((self._exact, label), (self._normal, normal_form(label))):
                index[form] = entity if index.get(form, entity) == entity else None
        self._normal.pop("", None)

    def link(self, text: str) -> tuple[str, str]:
        """The id, or the text itself, and the outcome."""
        text = text.strip()
        if text in self.labels:
            return text, LINKED
        for index, form in ((self._exact, text), (self._normal, normal_form(text))):
            if form in index:
                entity = index[form]
                return (text, AMBIGUOUS) if entity is None else (entity, LINKED)
        return text, UNLINKED

    def ids(self, row: ScoreRow) -> ScoreRow:
        """The row with ids for predictions; the gold answers are ids already. Outcomes are counted."""
        return row._replace(predictions=tuple(self._ids(row.predictions)), raw=None)

    def words(self, row: ScoreRow) -> ScoreRow:
        """The row with labels for all ids among its predictions and gold answers."""
        return row._replace(
            predictions=tuple(self._label(each) for each in row.predictions),
            gold=tuple(self._label(each) for each in row.gold),
            hard=tuple(self._label(each) for each in row.hard),
            primary=None if row.primary is None else self._label(row.primary),
        )

    def _label(self, entity: str) -> str:
        return self.labels.get(entity, entity)

    def _ids(self, lines: Iterable[str]) -> Iterable[str]:
        for line in lines:
            if not line.strip():
                continue
            found = [self.link(line)]
            if found[0][1] == UNLINKED and "," in line:
                pieces = [self.link(piece) for piece in line.split(",") if piece.strip()]
                if any(outcome == LINKED for _text, outcome in pieces):
                    found = pieces
            for text, outcome in found:
                self.outcomes[outcome] += 1
                yield text


def read_labels(path: Path) -> dict[str, str]:
    """Labels by entity id: lines of id, tab, label; or the ``labels.tsv`` of a built benchmark, or its folder.

    Raises:
        DataNotFoundError: There is no such file.
        DataError: A line has no tab, or an id comes twice.
    """
    if path.is_dir():
        path = path / "labels.tsv"
    labels: dict[str, str] = {}
    last = 1
    for line, row in text_lines(path):
        cells = row.split("\t")
        if len(cells) < 2:
            raise DataError("There is no tab.", file=path, line=line, hint="Write id, tab, label.")
        if line == 1 and cells == ["label", "id", "text"]:
            last = 2
            continue
        if cells[0] in labels:
            raise DataError(f"The id {cells[0]!r} comes twice.", file=path, line=line)
        labels[cells[0]] = cells[min(last, len(cells) - 1)]
    return labels
