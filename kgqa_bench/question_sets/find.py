"""What kind of question set a path is, with its files and graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kgqa_bench.errors import ConfigError, DataError, DataNotFoundError
from kgqa_bench.question_sets.brink import brink_files, brink_graph_files, is_brink_row, read_brink
from kgqa_bench.question_sets.built import (
    MANIFEST,
    built_files,
    is_built_row,
    read_built_questions,
    read_own_questions,
    split_of_built,
)
from kgqa_bench.question_sets.files import Row, json_rows
from kgqa_bench.question_sets.metaqa import is_metaqa_file, metaqa_files, metaqa_graph_file, read_metaqa
from kgqa_bench.question_sets.model import QuestionSet, SetQuestion
from kgqa_bench.question_sets.subgraphs import SUFFIXES, has_subgraph, read_subgraphs, split_of

if TYPE_CHECKING:
    from kgqa_bench.graph.memory import MemoryGraph

Reader = Callable[[Path, str], Iterator[SetQuestion]]
Files = Iterable[tuple[str, Path]]

KNOWN = (
    "a built benchmark; BRINK's files; MetaQA's qa_*.txt; rows with a graph each as RoG's (.json, .jsonl, .parquet); "
    "questions of your own (.jsonl)"
)


def find_set(path: Path, graph: Callable[[], MemoryGraph] | None = None) -> QuestionSet:
    """The question set at a path.

    Args:
        path: A folder or a file, see ``KNOWN``.
        graph: Loads the graph that methods see, instead of the one that lies with the set.

    Raises:
        DataNotFoundError: There is nothing there.
        ConfigError: It is no question set that is known.
        DataError: A first row is malformed.
    """
    if path.is_dir():
        return _in_folder(path, graph)
    if not path.is_file():
        raise DataNotFoundError(f"There is no question set {path}.", hint="Give a folder or a file of questions.")
    return _in_file(path, graph)


def _in_folder(path: Path, graph: Callable[[], MemoryGraph] | None) -> QuestionSet:
    built = built_files(path)
    if built:
        return _built(path, built, graph)
    if brink_graph_files(path) is not None and (brink := brink_files(path)):
        return _brink(path, brink, graph)
    metaqa = metaqa_files(path)
    if metaqa:
        return _metaqa(path, metaqa, graph)
    files = sorted(file for file in path.rglob("*") if file.name.endswith(SUFFIXES) and file.is_file())
    named = [(split_of(file), file) for file in files if has_subgraph(_first_row(file))]
    if named:
        order = {split: number for number, split in enumerate(("train", "dev", "valid", "val", "validation", "test"))}
        named.sort(key=lambda each: order.get(each[0], len(order)))
        return _set("subgraphs", named, read_subgraphs, graph)
    if brink := brink_files(path):
        return _brink(path, brink, graph)
    raise ConfigError(f"{path} is no question set that is known.", hint=f"Known are: {KNOWN}.")


def _in_file(path: Path, graph: Callable[[], MemoryGraph] | None) -> QuestionSet:
    if is_metaqa_file(path):
        return _metaqa(path, metaqa_files(path), graph)
    if path.suffix == ".tsv":
        return _brink(path.parent, {split_of(path): path}, graph)
    if path.name.endswith(SUFFIXES):
        first = _first_row(path)
        if is_built_row(first):
            return _built(path.parent, {split_of_built(path): path}, graph)
        if has_subgraph(first):
            return _set("subgraphs", [(split_of(path), path)], read_subgraphs, graph)
        if is_brink_row(first):
            return _brink(path.parent, {split_of(path): path}, graph)
        if "kind" in first:
            return _set("questions", [("questions", path)], read_own_questions, graph)
    raise ConfigError(f"{path} is no question set that is known.", hint=f"Known are: {KNOWN}.")


def _built(folder: Path, files: Mapping[str, Path], graph: Callable[[], MemoryGraph] | None) -> QuestionSet:
    first = next((row for path in files.values() for _line, row in json_rows(path)), {})
    if has_subgraph(first):
        return _set("subgraphs", files.items(), read_subgraphs, graph)
    form, reader = ("built", read_built_questions) if is_built_row(first) else ("questions", read_own_questions)
    if graph is not None or not (folder / MANIFEST).is_file():
        return _set(form, files.items(), reader, graph)
    if form == "built":
        seen, complete = (_open(folder, view) for view in ("incomplete", "complete"))
    else:
        seen, complete = (_text(folder / f"triples.{view}.tsv") for view in ("incomplete", "complete"))
    return _set(form, files.items(), reader, seen, complete)


def _open(folder: Path, view: str) -> Callable[[], MemoryGraph]:
    def load() -> MemoryGraph:
        from kgqa_bench.graph.sources.file import open_file

        return open_file(folder, {"view": view})

    return load


def _brink(folder: Path, files: Mapping[str, Path], graph: Callable[[], MemoryGraph] | None) -> QuestionSet:
    pair = brink_graph_files(folder)
    if graph is not None or pair is None:
        return _set("brink", files.items(), read_brink, graph)
    return _set("brink", files.items(), read_brink, _text(pair[1]), _text(pair[0]))


def _text(path: Path) -> Callable[[], MemoryGraph]:
    def load() -> MemoryGraph:
        from kgqa_bench.graph.sources.cached import cached_text

        return cached_text(path, "max")

    return load


def _metaqa(path: Path, files: Mapping[str, Path], graph: Callable[[], MemoryGraph] | None) -> QuestionSet:
    found = metaqa_graph_file(path)
    if graph is None and found is not None:
        place = found

        def load() -> MemoryGraph:
            from kgqa_bench.graph.sources.cached import cached_metaqa

            return cached_metaqa(place)

        graph = load
    return _set("metaqa", files.items(), read_metaqa, graph)


def _set(
    form: str,
    files: Files,
    reader: Reader,
    seen: Callable[[], MemoryGraph] | None,
    complete: Callable[[], MemoryGraph] | None = None,
) -> QuestionSet:
    listed = tuple(files)

    def rows() -> Iterator[SetQuestion]:
        for split, path in listed:
            yield from reader(path, split)

    return QuestionSet(form, listed, rows, seen, complete)


def _first_row(path: Path) -> Row:
    for _line, row in json_rows(path):
        return row
    raise DataError("There are no rows.", file=path)
