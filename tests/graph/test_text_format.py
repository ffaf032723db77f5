from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from kgqa_bench.errors import ConfigError, DataError, DataNotFoundError
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.sources.file import open_file
from kgqa_bench.graph.text_format import read_text


def triples(graph: MemoryGraph) -> list[tuple[str, str, str, float]]:
    name, relation = graph.entity_name, graph.relation_name
    return [(name(q.head), relation(q.relation), name(q.tail), q.confidence) for q in graph.quads()]


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    data = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


EXPECTED = [("a", "r", "b", 0.5), ("b", "s", "c d", 1.0)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("g.tsv", "a\tr\tb\t0.5\nb\ts\tc d\t1\n"),
        ("g.tsv", "a\tr\tb\t0.5\r\nb\ts\tc d\t1.0"),
        ("g.txt", "\n\na\tr\tb\t0.5\n\nb\ts\tc d\t1e0\n\n"),
        ("g.csv", 'a,r,b,0.5\n"b",s,"c d",1\n'),
        ("g.tsv.gz", "a\tr\tb\t0.5\nb\ts\tc d\t1\n"),
        ("g.csv.gz", "head,relation,tail,confidence\r\na,r,b,.5\r\nb,s,c d,1\r\n"),
        ("g.tsv", "\nhead\trelation\ttail\tconfidence\na\tr\tb\t0.5\nb\ts\tc d\t1\n"),
        ("g.tsv", "\ufeffa\tr\tb\t0.5\nb\ts\tc d\t1\n"),
    ],
)
def test_formats(tmp_path: Path, name: str, content: str) -> None:
    graph = read_text(written(tmp_path, name, content))
    assert triples(graph) == EXPECTED
    assert graph.provenance["confidences"] == "fourth column"


def test_three_columns_are_certain(tmp_path: Path) -> None:
    graph = read_text(written(tmp_path, "g.tsv", "head\trelation\ttail\na\tr\tb\n1\tr\t2\n"))
    assert triples(graph) == [("1", "r", "2", 1.0), ("a", "r", "b", 1.0)]
    assert graph.provenance["confidences"] == "all 1"


def test_tab_separated_fields_are_raw(tmp_path: Path) -> None:
    graph = read_text(written(tmp_path, "g.tsv", '"a\tr"s\\t\tb""\t0.5\n a \tNULL\tNA\t0.5\n'))
    assert triples(graph) == [(" a ", "NULL", "NA", 0.5), ('"a', 'r"s\\t', 'b""', 0.5)]


def test_quotes_count_in_comma_separated_fields(tmp_path: Path) -> None:
    graph = read_text(written(tmp_path, "g.csv", '"Paris, Texas","says ""hi""",b\n'))
    assert triples(graph) == [("Paris, Texas", 'says "hi"', "b", 1.0)]


def test_duplicates_are_merged_by_the_named_rule(tmp_path: Path) -> None:
    path = written(tmp_path, "g.tsv", "a\tr\tb\t0.5\na\tr\tb\t0.25\n")
    assert triples(read_text(path, merge="last")) == [("a", "r", "b", 0.25)]


LONG = "a\tr\tb\t0.5\n" * 200_000  # several blocks of the fast reader


@pytest.mark.parametrize(
    ("name", "content", "line", "message"),
    [
        ("g.tsv", "a\tr\tb\t0.5\n\na\tr\tb\t0\n", 3, r"confidence: 0 is not in \(0, 1\]"),
        ("g.tsv", "a\tr\tb\t0.5\na\tr\tb\t1.01\n", 2, "1.01"),
        ("g.tsv", "a\tr\tb\t0.5\na\tr\tb\t-0.5\n", 2, "-0.5"),
        ("g.tsv", "a\tr\tb\t0.5\r\na\tr\tb\tnan\r\n", 2, "nan"),
        ("g.tsv", "a\tr\tb\t0.5\na\tr\tb\tinf\n", 2, "inf"),
        ("g.tsv", "a\tr\tb\t0.5\na\tr\tb\thigh\n", 2, "'high' is not a number"),
        ("g.tsv", "a\tr\tb\t0.5\na\tr\tb\t\n", 2, "'' is not a number"),
        ("g.tsv", "head\trelation\ttail\tconfidence\na\tr\tb\t2\n", 2, "2 is not in"),
        ("g.tsv", "a\tr\tb\t0.5\na\tr\tb\n", 2, "3 columns instead of 4"),
        ("g.tsv", "a\tr\tb\na\tr\tb\tc\td\n", 2, "5 columns instead of 3"),
        ("g.tsv", "a b c\n", 1, "1 column instead of 3 or 4.*tab"),
        ("g.csv", "a\tb\tc\n", 1, "1 column instead of 3 or 4.*comma"),
        ("g.tsv", "a\tr\tb\n\tr\tb\n", 2, "head: is empty"),
        ("g.tsv", "a\tr\tb\na\tr\t\n", 2, "tail: is empty"),
        ("g.tsv", b"a\tr\tb\na\tr\t\xff\n", 2, "tail: not UTF-8"),
        ("g.tsv", b"\xff\tr\tb\n", 1, "head: not UTF-8"),
        ("g.csv", 'a,r,b\na,"r,b\n', 2, "quotes"),
        ("g.csv", 'a,r,b\na,"r,b\na,r,b\n' * 100, 2, "quotes"),
        ("g.csv", 'a,r,b\n\na,"r\nr",b\na,r,b\n', 3, "relation: holds a line break"),
        ("g.tsv", LONG + "a\tr\tb\t7\n", 200_001, "7 is not in"),
        ("g.tsv.gz", LONG + "a\tr\tb\n", 200_001, "3 columns instead of 4"),
        ("g.tsv", "a\tr\tb\n" + "x" * (3 << 20) + "\tr\tb\na\tr\tb\n", 2, "longer than 1 MiB"),
        ("g.csv", "a,r,b\n" + "é" * (2 << 20) + ",r,b\n", 2, "field larger than field limit"),
    ],
)
def test_bad_rows_are_named_by_line(tmp_path: Path, name: str, content: str | bytes, line: int, message: str) -> None:
    path = written(tmp_path, name, content)
    with pytest.raises(DataError, match=message) as caught:
        read_text(path)
    assert (caught.value.file, caught.value.line) == (path, line)
    assert caught.value.hint


@pytest.mark.parametrize("content", ["", "\n\n", "head\trelation\ttail\n"])
def test_a_file_without_rows_is_an_error(tmp_path: Path, content: str) -> None:
    with pytest.raises(DataError, match=r"empty|no rows"):
        read_text(written(tmp_path, "g.tsv", content))


def test_a_truncated_archive_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path, "g.tsv.gz", "".join(f"a{n}\tr\tb{n * 7919}\n" for n in range(20_000)))
    path.write_bytes(path.read_bytes()[:-2_000])
    with pytest.raises(DataError, match="cannot be read"):
        read_text(path)
    path.write_bytes(b"no archive")
    with pytest.raises(DataError, match="cannot be read"):
        read_text(path)


def test_a_missing_file_and_an_unknown_suffix(tmp_path: Path) -> None:
    with pytest.raises(DataNotFoundError, match="none"):
        read_text(tmp_path / "none.tsv")
    with pytest.raises(ConfigError, match=r"\.tsv"):
        read_text(tmp_path / "graph.parquet")


@pytest.mark.parametrize("name", ["g.tsv.gz", "g.ttl.gz", "nodes.csv.gz"])
@pytest.mark.parametrize("place", [12, 0.5, -4])
def test_a_damaged_gzip_file_is_named(tmp_path: Path, name: str, place: float) -> None:
    """A flipped byte at the start of the content, in its middle, or in the checksum at its end."""
    path = written(tmp_path, name, "".join(f"a{row}\tr\tb{row * 7919}\t0.5\n" for row in range(2000)))
    content = bytearray(path.read_bytes())
    content[int(place * len(content)) if place == 0.5 else int(place)] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(DataError, match=name):
        open_file(path, {})
