"""MetaQA (Zhang et al., AAAI 2018): ``question with [topic]``, a tab, ``answer|answer``, one question a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from kgqa_bench.errors import DataError
from kgqa_bench.question_sets.files import REMEDY, text_lines
from kgqa_bench.question_sets.model import SetQuestion

GRAPH_FILE = "kb.txt"
_HOPS = re.compile(r"([123])-?hop")
_SPLIT = re.compile(r"qa_(train|dev|test)")


def read_metaqa(path: Path, split: str | None = None) -> Iterator[SetQuestion]:
    """The questions of a file in its order; the brackets around the topic are taken out of the text.

    Args:
        path: A ``qa_*.txt``.
        split: Its split; by default what ``metaqa_split`` says.

    Raises:
        DataNotFoundError: There is no such file.
        DataError: A line is malformed; names it.
    """
    split = split if split is not None else metaqa_split(path)
    for line, row in text_lines(path):
        question, tab, answers = row.partition("\t")
        # names may hold brackets themselves, as the film [Rec] does
        before, opened, rest = question.partition("[")
        topic, closed, after = rest.rpartition("]")
        if not (tab and opened and closed and topic):
            message = "Not a question with a [topic], a tab, and answers with | between them."
            raise DataError(message, file=path, line=line, hint=REMEDY)
        gold = tuple(answer for answer in answers.split("|") if answer)
        yield SetQuestion(
            id=f"{path.stem}-{line}",
            text=f"{before}{topic}{after}",
            split=split,
            line=line,
            topics=(topic,),
            answers=gold,
            answer_entities=gold,
        )


def metaqa_files(path: Path) -> dict[str, Path]:
    """The question files of a folder, at any depth, by split; or of a file, itself. Empty where there is none."""
    if path.is_file():
        return {metaqa_split(path): path} if is_metaqa_file(path) else {}
    return {metaqa_split(file): file for file in sorted(path.rglob("qa_*.txt")) if is_metaqa_file(file)}


def is_metaqa_file(path: Path) -> bool:
    """Whether a file is called as MetaQA's questions are; the types of questions lie in files of similar names."""
    return path.suffix == ".txt" and _SPLIT.match(path.name) is not None and not path.stem.endswith("_qtype")


def metaqa_split(path: Path) -> str:
    """``dev 1hop`` of ``qa_dev_1hop.txt`` and of ``1-hop/vanilla/qa_dev.txt``."""
    named = _SPLIT.match(path.name)
    hops = _HOPS.search("/".join(path.parts[-3:]))
    parts = (named[1] if named else path.stem, f"{hops[1]}hop" if hops else "")
    return " ".join(filter(None, parts))


def metaqa_graph_file(path: Path) -> Path | None:
    """The kb.txt that belongs to a file or folder of questions: there or up to three folders above."""
    folder = (path if path.is_dir() else path.parent).resolve()
    for place in (folder, *folder.parents[:3]):
        if (place / GRAPH_FILE).is_file():
            return place / GRAPH_FILE
    return None
