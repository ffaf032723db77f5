"""The folder is whole or absent, equal for equal content, and read back as it was written."""

from __future__ import annotations

import dataclasses
import errno
import os
import random
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import orjson
import pytest

from kgqa_bench.benchmarks.incomplete.content import EntityLabel
from kgqa_bench.benchmarks.incomplete.package import FILES, write_package
from kgqa_bench.benchmarks.incomplete.reading import read_package
from kgqa_bench.domain import Triple
from kgqa_bench.errors import ConfigError, DataError, DataNotFoundError, StorageError


def test_what_is_read_is_what_was_written(folder, content) -> None:
    read = read_package(folder)
    assert list(read.complete) == list(content.complete)
    assert read.removed == content.removed
    assert list(read.rules) == list(content.rules)
    assert {split: list(rows) for split, rows in read.questions.items()} == content.questions
    assert read.certificates == sorted(content.certificates, key=lambda row: row.removed)
    assert read.entities == sorted(content.entities)
    assert read.relations == content.relations
    assert (read.settings, read.figures) == (content.settings, content.figures)
    assert sorted(path.name for path in folder.iterdir()) == sorted([*FILES, "manifest.json"])


def test_equal_content_in_any_order_gives_equal_bytes(tmp_path, folder, content) -> None:
    def shuffled(rows):
        return random.Random(3).sample(list(rows), len(rows))

    other = dataclasses.replace(
        content,
        complete=shuffled(content.complete),
        removed=frozenset(shuffled(sorted(content.removed))),
        certificates=shuffled(content.certificates),
        entities=shuffled(content.entities),
        relations=dict(reversed(content.relations.items())),
        questions={split: shuffled(rows) for split, rows in reversed(content.questions.items())},
    )
    write_package(other, tmp_path / "other")
    for name in [*FILES, "manifest.json"]:
        assert (tmp_path / "other" / name).read_bytes() == (folder / name).read_bytes(), name


def test_the_manifest_holds_neither_time_nor_path(folder, tmp_path) -> None:
    text = (folder / "manifest.json").read_text()
    assert str(tmp_path) not in text
    assert set(orjson.loads(text)) == {"format", "name", "kg", "source_fingerprint", "settings", "figures", "files"}


def test_confidences_are_a_fourth_column_only_where_they_say_something(tmp_path, content) -> None:
    first, *rest = content.complete
    weighted = dataclasses.replace(content, complete=[first._replace(confidence=0.1 + 0.2), *rest])
    write_package(weighted, tmp_path / "weighted")
    lines = (tmp_path / "weighted" / "triples.complete.tsv").read_text().splitlines()
    assert all(line.count("\t") == 3 for line in lines)
    assert read_package(tmp_path / "weighted").complete[0].confidence == 0.30000000000000004


@pytest.mark.parametrize("label", ["", "a\tb", "a\nb", "a\rb", "\ufeffa", "\ud800"])
def test_labels_that_would_break_a_line_are_refused(tmp_path, content, label) -> None:
    old = content.entities[0].label

    def renamed(name: str) -> str:
        return label if name == old else name

    broken = dataclasses.replace(
        content,
        complete=[Triple(renamed(head), relation, renamed(tail)) for head, relation, tail, _ in content.complete],
        entities=[entity._replace(label=renamed(entity.label)) for entity in content.entities],
        removed=frozenset((renamed(head), relation, renamed(tail)) for head, relation, tail in content.removed),
    )
    with pytest.raises(DataError, match="label"):
        write_package(broken, tmp_path / "broken")
    assert list(tmp_path.iterdir()) == []


def test_two_entities_of_one_label_are_refused(tmp_path, content) -> None:
    entities = [*content.entities, EntityLabel(content.entities[0].label, "another", "x")]
    with pytest.raises(DataError, match="same label"):
        write_package(dataclasses.replace(content, entities=entities), tmp_path / "broken")


def test_what_labels_stand_for_is_escaped(tmp_path, content) -> None:
    odd = 'a\tb\nc\\t"\r| <b>'
    first, *rest = content.entities
    changed = dataclasses.replace(
        content, entities=[first._replace(text=odd), *rest], relations=content.relations | {"child_of": odd}
    )
    write_package(changed, tmp_path / "odd")
    read = read_package(tmp_path / "odd")
    assert odd in {entity.text for entity in read.entities}
    assert read.relations["child_of"] == odd


class TestNothingHalfWritten:
    def test_a_folder_in_use_is_refused_and_left_alone(self, tmp_path, content) -> None:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "notes.txt").write_text("mine")
        with pytest.raises(ConfigError, match=r"in use: it holds notes\.txt"):
            write_package(content, tmp_path / "out")
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["notes.txt"]

    def test_a_file_in_its_place_is_refused(self, tmp_path, content) -> None:
        (tmp_path / "out").write_text("mine")
        with pytest.raises(ConfigError, match="no folder"):
            write_package(content, tmp_path / "out")

    def test_an_empty_folder_is_taken(self, tmp_path, content, folder) -> None:
        (tmp_path / "out").mkdir()
        write_package(content, tmp_path / "out")
        assert (tmp_path / "out" / "manifest.json").read_bytes() == (folder / "manifest.json").read_bytes()

    @pytest.mark.parametrize("writes", [0, 1, 5, 9])
    def test_a_full_disk_leaves_nothing(self, tmp_path, content, monkeypatch, writes) -> None:
        done = []

        def fsync(descriptor: int) -> None:
            done.append(descriptor)
            if len(done) > writes:
                raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "fsync", fsync)
        with pytest.raises(StorageError, match="No space left"):
            write_package(content, tmp_path / "out")
        assert list(tmp_path.iterdir()) == []

    def test_an_interrupt_leaves_nothing(self, tmp_path, content, monkeypatch) -> None:
        def fsync(descriptor: int) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "fsync", fsync)
        with pytest.raises(KeyboardInterrupt):
            write_package(content, tmp_path / "out")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.skipif(os.name == "nt", reason="no SIGKILL there")
    def test_a_kill_leaves_no_folder_of_that_name(self, tmp_path, folder) -> None:
        program = textwrap.dedent(
            """
            import os, signal, sys
            from pathlib import Path
            from kgqa_bench.benchmarks.incomplete import package
            from kgqa_bench.benchmarks.incomplete.reading import read_package
            content = read_package(Path(sys.argv[1]))
            done = []
            def fsync(descriptor):
                done.append(descriptor)
                if len(done) == 6:
                    os.kill(os.getpid(), signal.SIGKILL)
            os.fsync = fsync
            package.write_package(content, Path(sys.argv[2]))
            """
        )
        out = tmp_path / "killed" / "out"
        ended = subprocess.run([sys.executable, "-c", program, folder, out], timeout=120, check=False)
        assert ended.returncode == -signal.SIGKILL
        assert not out.exists()

    def test_a_folder_filled_meanwhile_is_not_overwritten(self, tmp_path, content, monkeypatch) -> None:
        out = tmp_path / "out"
        real = os.fsync

        def fsync(descriptor: int) -> None:
            out.mkdir(exist_ok=True)
            (out / "theirs").touch()
            real(descriptor)

        monkeypatch.setattr(os, "fsync", fsync)
        with pytest.raises(StorageError):
            write_package(content, out)
        assert [path.name for path in tmp_path.iterdir()] == ["out"]
        assert [path.name for path in out.iterdir()] == ["theirs"]


class TestMalformedFiles:
    @pytest.mark.parametrize(
        ("name", "line", "text", "message"),
        [
            ("triples.complete.tsv", 3, "a\tb", "columns instead of"),
            ("triples.removed.tsv", 1, "a\t\tb", "field is empty"),
            ("triples.incomplete.tsv", 2, "", "line is empty"),
            ("labels.tsv", 2, "a\tb\\q\tc", "no escape sequence"),
            ("labels.tsv", 1, "id\tlabel\ttext", "header must be"),
            ("relations.tsv", 3, "child_of\tx", "there twice"),
            ("rules.tsv", 2, "1\tnot a rule", "rules.tsv"),
            ("certificate.jsonl", 4, "[]", "certificate.jsonl"),
            ("certificate.jsonl", 4, '{"removed": ["a","b"]}', "removed"),
            ("questions.train.jsonl", 2, "{", "JSON"),
            ("questions.train.jsonl", 2, '{"id": 3}', "question"),
        ],
    )
    def test_file_and_line_are_named(self, folder, name, line, text, message) -> None:
        lines = (folder / name).read_text().splitlines()
        lines[line - 1] = text
        (folder / name).write_text("".join(f"{each}\n" for each in lines))
        with pytest.raises(DataError, match=message) as caught:
            read_package(folder)
        assert (Path(str(caught.value.file)).name, caught.value.line) == (name, line)

    def test_a_file_that_is_cut_off(self, folder) -> None:
        content = (folder / "triples.removed.tsv").read_bytes()
        (folder / "triples.removed.tsv").write_bytes(content[:-3])
        with pytest.raises(DataError, match="cut off"):
            read_package(folder)

    def test_bytes_that_are_no_text(self, folder) -> None:
        (folder / "triples.removed.tsv").write_bytes(b"\xff\tb\tc\n")
        with pytest.raises(DataError, match="UTF-8"):
            read_package(folder)

    def test_a_missing_file(self, folder) -> None:
        (folder / "certificate.jsonl").unlink()
        with pytest.raises(DataNotFoundError, match=r"certificate\.jsonl"):
            read_package(folder)

    @pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2}', "nul"])
    def test_a_manifest_that_is_none(self, folder, text) -> None:
        (folder / "manifest.json").write_text(text)
        with pytest.raises(DataError, match=r"manifest\.json"):
            read_package(folder)

    def test_a_folder_that_is_no_benchmark(self, tmp_path) -> None:
        with pytest.raises(DataNotFoundError, match="no built benchmark"):
            read_package(tmp_path)
