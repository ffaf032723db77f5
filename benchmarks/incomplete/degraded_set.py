"""A question set over a graph made incomplete to a degree: what is removed, what is left reachable, and its files.

Over one graph that all questions share: ``triples.complete.tsv``, ``triples.incomplete.tsv``,
``triples.removed.tsv``, and ``questions.SPLIT.jsonl`` as ``kgqa_bench.run.question_file`` reads them. Where every
question has a graph of its own: ``questions.SPLIT.jsonl`` in RoG's columns with the graphs pruned, and
``removed.SPLIT.jsonl``. With both ``manifest.json``: settings, the names of the splits, figures, and the SHA-256 of
all other files. ``verify_degraded`` makes the set again from what is in the files.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import orjson

from kgqa_bench.contracts import MiningProgress
from kgqa_bench.errors import DataError
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.question_sets.model import SetQuestion

from .degrees import Degree, Links, Named, drawn_questions, is_drawn, least_hops, path_triple, random_triples
from .package import COMPLETE, INCOMPLETE, REMOVED
from .set_files import Files, check_field, set_folder, split_file

Cut = TypeVar("Cut")
Rows = Callable[[], Iterable[SetQuestion]]
"""Reads all questions; may be called again."""

_TELL_EVERY = 50


class _Asked(NamedTuple):
    """A question by the ids of a graph; names that the graph has not are left out."""

    links: Links
    topics: list[int]
    answers: list[int]

    def cut(self, question: SetQuestion, degree: Degree) -> int | None:
        """The triple that disrupts it, the same at every rate; None where no path does."""
        draw = random.Random(f"{degree.seed}|path|{_key(question)}")
        return path_triple(self.links, self.topics, self.answers, draw)


class _Counts:
    """What is counted over the questions."""

    def __init__(self, degree: Degree) -> None:
        self._degree = degree
        self.questions = self.with_path = self.disrupted = self.triples = self.removed = 0
        self._before = self._after = self._farther = 0

    def add(self, asked: _Asked, gone: npt.NDArray[np.bool_]) -> bool:
        """Count one question; whether it is still answerable."""
        links, topics, answers, hops = *asked, self._degree.hops
        near = least_hops(links, topics, answers, hops)
        left = None if near is None else least_hops(links, topics, answers, hops, gone)
        self.questions += 1
        self._before += near is not None
        self._after += left is not None
        self._farther += near is not None and left is not None and left > near
        return left is not None

    def figures(self) -> dict[str, Any]:
        figures: dict[str, Any] = {
            "triples": self.triples,
            "removed": self.removed,
            "questions": self.questions,
        }
        if self._degree.removal == "shortest-path":
            figures |= {"questions with a path": self.with_path, "questions disrupted": self.disrupted}
        lost = self._before - self._after
        return figures | {
            "hops": self._degree.hops,
            "answerable before": self._before,
            "answerable after": self._after,
            "left unanswerable": lost,
            "share left unanswerable": round(lost / self._before, 4) if self._before else 0.0,
            "nearest answer farther than before": self._farther,
        }


def degrade_shared(
    graph: MemoryGraph,
    rows: Rows,
    degree: Degree,
    out: Path,
    *,
    name: str,
    kg: str,
    progress: MiningProgress | None = None,
) -> dict[str, Any]:
    """Make one graph incomplete for all questions over it, and write the folder ``out``.

    A triple that disrupts one question is gone for all of them.

    Args:
        graph: The complete graph.
        rows: The questions; topics and answers by the graph's names.
        degree: What is removed.
        out: The folder to make; it must not be in use.
        name: The set's name in its manifest.
        kg: The graph's name there.
        progress: Told how far it is.

    Returns:
        The figures of the manifest.

    Raises:
        ConfigError: ``out`` is in use.
        DataError: There is no question, or one that does not ask for entities; two have the same split and id; no
            topic and answer are joined; a name has a tab or a line end.
        StorageError: The disk is full, or the folder cannot be written; nothing is left behind.
    """
    with set_folder(out) as files:
        return write_shared(graph, rows, degree, files, name=name, kg=kg, progress=progress)


def write_shared(
    graph: MemoryGraph,
    rows: Rows,
    degree: Degree,
    files: Files,
    *,
    name: str,
    kg: str,
    progress: MiningProgress | None = None,
) -> dict[str, Any]:
    """What ``degrade_shared`` writes."""
    heads, relations, tails, confidences = graph.columns()
    links = Links.of(heads, tails, graph.num_entities)
    joined = np.diff(links.start) > 0

    def find(name: str) -> int | None:
        """An entity of the triples; others are not in the files."""
        entity = graph.find_entity(name)
        return entity if entity is not None and joined[entity] else None

    entities = [check_field(entity) for entity in graph.store.entity_names]
    labels = [check_field(graph.relation_name(relation)) for relation in range(graph.num_relations)]
    # ids follow the sorted names, so this is sorted by name
    triples: list[Named] = [
        (entities[head], labels[relation], entities[tail])
        for head, relation, tail in zip(heads.tolist(), relations.tolist(), tails.tolist(), strict=True)
    ]
    splits: dict[str, str] = {}
    questions = list(_checked(rows(), splits))
    asked = [_Asked(links, _known(question.topics, find), _known(_answers(question), find)) for question in questions]
    counts = _Counts(degree)
    disrupted: dict[str, int] = {}
    if degree.removal == "random":
        positions = random_triples(triples, degree.rate, degree.seed)
    else:
        cuts: dict[str, int] = {}
        for at, (question, each) in enumerate(zip(questions, asked, strict=True)):
            cut = each.cut(question, degree)
            if cut is not None:
                cuts[_key(question)] = cut
            _tell(progress, "shortest paths", at + 1, len(questions))
        disrupted = _drawn(cuts, degree, counts)
        positions = sorted(set(disrupted.values()))
    gone = np.zeros(max(len(triples), 1), np.bool_)
    gone[positions] = True
    counts.triples, counts.removed = len(triples), len(positions)
    weighted = bool(np.any(confidences != 1.0))
    lines = [
        "\t".join((*triple, repr(confidence)) if weighted else triple) + "\n"
        for triple, confidence in zip(triples, confidences.tolist(), strict=True)
    ]
    files.write(COMPLETE, "".join(lines).encode())
    for file, removed in ((INCOMPLETE, False), (REMOVED, True)):
        files.write(file, "".join(lines[at] for at in range(len(lines)) if gone[at] == removed).encode())
    for at, (question, each) in enumerate(zip(questions, asked, strict=True)):
        meta = {"answerable": counts.add(each, gone)}
        if degree.removal == "shortest-path":
            meta["disrupted"] = _key(question) in disrupted
        row = {
            "id": question.id,
            "question": question.text,
            "kind": "entities",
            "topic_entities": question.topics,
            "answer": _answers(question),
            "meta": meta,
        }
        files.write(split_file("questions", question.split), orjson.dumps(row) + b"\n")
        _tell(progress, "reachability", at + 1, len(questions))
    figures = counts.figures()
    used = bool(joined.all()) and len(np.unique(relations)) == graph.num_relations
    source = graph.fingerprint if used else _fingerprint(triples, confidences)
    files.finish(_facts(name, kg, source, degree, splits, figures))
    return figures


def degrade_each(
    rows: Rows,
    degree: Degree,
    out: Path,
    *,
    name: str,
    kg: str,
    progress: MiningProgress | None = None,
) -> dict[str, Any]:
    """Make the graph of every question incomplete, and write the folder ``out``.

    With ``random`` a triple is gone from all graphs that have it, or from none.

    Args:
        rows: The questions with their triples; read once, or twice for ``shortest-path``.
        degree: What is removed.
        out: The folder to make; it must not be in use.
        name: The set's name in its manifest.
        kg: What the graphs are taken from, there.
        progress: Told how many questions are done; the total is not known before the first reading.

    Returns:
        The figures of the manifest; triples are counted in each graph anew.

    Raises:
        ConfigError: ``out`` is in use.
        DataError: As for ``degrade_shared``, or a question has no graph.
        StorageError: The disk is full, or the folder cannot be written; nothing is left behind.
    """
    with set_folder(out) as files:
        return write_each(rows, degree, files, name=name, kg=kg, progress=progress)


def write_each(
    rows: Rows,
    degree: Degree,
    files: Files,
    *,
    name: str,
    kg: str,
    progress: MiningProgress | None = None,
) -> dict[str, Any]:
    """What ``degrade_each`` writes."""
    counts = _Counts(degree)
    disrupted: dict[str, Named] = {}
    splits: dict[str, str] = {}
    total = 0
    if degree.removal == "shortest-path":
        cuts: dict[str, Named] = {}
        for question in _checked(rows(), splits):
            total += 1
            own, triples = _own(question)
            cut = own.cut(question, degree)
            if cut is not None:
                cuts[_key(question)] = triples[cut]
            _tell(progress, "shortest paths", total, total + 1)  # how many there are is not known yet
        disrupted = _drawn(cuts, degree, counts)
    source = hashlib.sha256()
    for question in _checked(rows(), splits):
        own, triples = _own(question)
        if degree.removal == "random":
            removed = {triple for triple in triples if is_drawn(triple, degree.rate, degree.seed)}
        else:
            removed = {disrupted[_key(question)]} if _key(question) in disrupted else set()
        gone = np.array([triple in removed for triple in triples] or [False])
        counts.triples += len(triples)
        counts.removed += len(removed)
        row = {
            "id": question.id,
            "question": question.text,
            "answer": question.answers,
            "q_entity": question.topics,
            "a_entity": question.answer_entities,
            "graph": [triple for triple in question.triples or () if triple not in removed],
        }
        files.write(split_file("questions", question.split), orjson.dumps(row) + b"\n")
        lost = {"id": question.id, "answerable": counts.add(own, gone), "removed": sorted(removed)}
        files.write(split_file("removed", question.split), orjson.dumps(lost) + b"\n")
        source.update(orjson.dumps((question.split, question.id, triples)))
        _tell(progress, "graphs", counts.questions, max(total, counts.questions))
    figures = counts.figures()
    files.finish(_facts(name, kg, source.hexdigest(), degree, splits, figures))
    return figures


def _checked(rows: Iterable[SetQuestion], splits: dict[str, str]) -> Iterator[SetQuestion]:
    """The questions, none of which is wrong; ``splits`` gets their splits by the file for their questions."""
    seen: set[str] = set()
    for question in rows:
        if question.kind != "entities":
            raise DataError(f"Question {question.id!r} does not ask for entities.", line=question.line)
        if _key(question) in seen:
            raise DataError(f"The id {question.id!r} is twice in the split {question.split!r}.", line=question.line)
        seen.add(_key(question))
        other = splits.setdefault(split_file("questions", question.split), question.split)
        if other != question.split:
            what = f"The splits {other!r} and {question.split!r} would have one file."
            raise DataError(what, line=question.line, hint="Rename one of them.")
        yield question
    if not seen:
        raise DataError("There is no question.", hint="Check the file given by --questions.")


def _key(question: SetQuestion) -> str:
    return f"{question.split}|{question.id}"


def _answers(question: SetQuestion) -> tuple[str, ...]:
    return question.answer_entities or question.answers


def _known(names: Iterable[str], find: Callable[[str], int | None]) -> list[int]:
    return [found for found in map(find, names) if found is not None]


def _own(question: SetQuestion) -> tuple[_Asked, list[Named]]:
    """The question in its own graph, and the distinct triples of that in order of their names."""
    if question.triples is None:
        raise DataError(f"Question {question.id!r} has no graph.", line=question.line)
    triples = sorted(set(question.triples))
    names = sorted({name for head, _relation, tail in triples for name in (head, tail)})
    number = {name: at for at, name in enumerate(names)}
    heads, tails = [number[triple[0]] for triple in triples], [number[triple[2]] for triple in triples]
    asked = _Asked(
        Links.of(heads, tails, len(names)),
        _known(question.topics, number.get),
        _known(_answers(question), number.get),
    )
    return asked, triples


def _drawn(cuts: dict[str, Cut], degree: Degree, counts: _Counts) -> dict[str, Cut]:
    """Those of the questions with a path that are disrupted, with what is cut."""
    if not cuts:
        raise DataError(
            "No question has a path from its topic to an answer.", hint="Check that names of topics and graph agree."
        )
    drawn = drawn_questions(cuts, degree.rate, degree.seed)
    counts.with_path, counts.disrupted = len(cuts), len(drawn)
    return {key: cut for key, cut in cuts.items() if key in drawn}


def _fingerprint(triples: Sequence[Named], confidences: npt.NDArray[np.float64]) -> str:
    """That of the graph without entities and relations that are in no triple: those are in no file."""
    from kgqa_bench.graph.build import build_graph

    heads, relations, tails = zip(*triples, strict=True)
    return build_graph(heads, relations, tails, confidences, source="the triples").fingerprint


def _facts(
    name: str, kg: str, source: str, degree: Degree, splits: Mapping[str, str], figures: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "name": name,
        "kg": kg,
        "source_fingerprint": source,
        "settings": degree.model_dump(mode="json"),
        "splits": list(splits.values()),
        "figures": dict(figures),
    }


def _tell(progress: MiningProgress | None, stage: str, done: int, total: int) -> None:
    if progress is not None and (done % _TELL_EVERY == 0 or done == total):
        progress(stage, done, total)
