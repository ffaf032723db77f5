"""The driver of AMIE 3's jar, against a program called java that answers in AMIE's form."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from kgqa_bench import registry
from kgqa_bench.errors import (
    ConfigError,
    DataNotFoundError,
    MissingDependencyError,
    PluginError,
    UnknownNameError,
)
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.horn.rule import Atom, MinedRule, canonical_rule
from kgqa_bench.rules.amie_jar import AmieJar

WIFE, HUSBAND = "wife ?x of", "=> husband\tof"

# finds the one inversion rule whose numbers it is told; everything else it says is log
JAVA = """\
#!{python}
import json, os, subprocess, sys, time
from pathlib import Path

here = Path(__file__).parent
triples = Path(sys.argv[-1])
(here / "call.json").write_text(json.dumps([sys.argv[1:], triples.read_text()]))
mode = (here / "mode").read_text()
print("Using the default schema relations", file=sys.stderr, flush=True)
if mode == "hang":
    helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    (here / "pids").write_text(f"{{os.getpid()}} {{helper.pid}}")
    time.sleep(600)
if mode == "memory":
    print("java.lang.OutOfMemoryError: Java heap space", file=sys.stderr)
    sys.exit(1)
if mode == "fails":
    sys.exit("Error: Invalid or corrupt jarfile")
print("Loaded 3 facts in 1 ms using 1 MB")
print("Starting the mining phase... Using 2 threads")
columns = ["Rule", "Head Coverage", "Std Confidence", "PCA Confidence", "Positive Examples", "Body size"]
print("\\t".join([*columns, "PCA Body size", "Functional variable"]))
if mode == "unknown":
    print("?b  r7  ?a   => ?a  r1  ?b\\t0.5\\t1\\t1\\t1\\t1\\t1\\t-1")
if mode == "miscounts":
    print("?b  r0  ?a   => ?a  r1  ?b\\t0.25\\t1\\t1\\t1\\t1\\t1\\t-1")
if mode in ("works", "cut"):
    print("?b  r0  ?a   => ?a  r1  ?b\\t0.5\\t1\\t1\\t1\\t1\\t1\\t-1")
if mode == "trace":
    print("\\tat amie.mining.AMIE.main(AMIE.java:99)")
if mode != "cut":
    print("Mining done in 3 ms")
    print("1 rules mined." if mode in ("works", "unknown", "miscounts") else "0 rules mined.")
"""


class Java:
    """The stand-in: what it was called with, and how it is to behave."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.jar = folder / "amie3.jar"
        self.jar.touch()
        program = folder / "java"
        program.write_text(textwrap.dedent(JAVA).format(python=sys.executable))
        program.chmod(0o755)
        self.behave("works")

    def behave(self, mode: str) -> None:
        (self.folder / "mode").write_text(mode)

    @property
    def call(self) -> tuple[list[str], str]:
        words, triples = json.loads((self.folder / "call.json").read_text())
        return words, triples

    def miner(self, **settings: Any) -> AmieJar:
        return registry.configure(AmieJar, {"jar": self.jar, "log": self.folder / "amie.log"} | settings)

    @property
    def log(self) -> str:
        return (self.folder / "amie.log").read_text()


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Java:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    return Java(tmp_path)


@pytest.fixture
def graph() -> MemoryGraph:
    rows = [("Ann", WIFE, "Bob"), ("Bob", HUSBAND, "Ann"), ("Cy <x>", WIFE, "Di\tdi")]
    heads, relations, tails = zip(*rows, strict=True)
    return build_graph(heads, relations, tails, source="couples")


def test_rules_come_back_by_name_and_the_log_apart(java: Java, graph: MemoryGraph) -> None:
    steps: list[tuple[str, int, int]] = []
    rules = java.miner().mine(graph, lambda *step: steps.append(step))
    assert rules == [MinedRule(canonical_rule(WIFE, [Atom(HUSBAND, 1, 0)]), 1, 2, 1, 1, "subject")]
    assert [step[1:] for step in steps] == [(0, 1), (1, 1)]
    assert "=>" not in java.log
    assert {"Using the default schema relations", "Loaded 3 facts in 1 ms using 1 MB"} <= set(java.log.splitlines())


def test_the_graph_is_handed_over_in_numbers(java: Java, graph: MemoryGraph) -> None:
    java.miner().mine(graph)
    written = {tuple(line.split("\t")) for line in java.call[1].splitlines()}
    expected = {(f"e{head}", f"r{relation}", f"e{tail}") for head, relation, tail, _ in graph.quads()}
    assert written == expected


def test_settings_become_options(java: Java, graph: MemoryGraph) -> None:
    java.miner(
        min_head_coverage=0.02,
        min_std_confidence=0.3,
        min_pca_confidence=0,
        max_length=4,
        min_head_size=1,
        threads=3,
        relations=(WIFE,),
        max_memory="8g",
    ).mine(graph)
    words = java.call[0]
    options = dict(zip(words[words.index("-jar") : -1 : 2], words[words.index("-jar") + 1 : -1 : 2], strict=True))
    assert options == {
        "-jar": str(java.jar),
        "-maxad": "4",
        "-minhc": "0.02",
        "-minc": "0.3",
        "-minpca": "0.0",
        "-minis": "1",
        "-nc": "3",
        "-htr": f"r{graph.relation(WIFE)}",
    }
    assert words[0] == "-Xmx8g"
    assert not Path(words[-1]).exists()


def test_what_is_missing(java: Java, graph: MemoryGraph) -> None:
    with pytest.raises(MissingDependencyError, match="--jar PATH"):
        java.miner(jar=None).mine(graph)
    with pytest.raises(DataNotFoundError, match=r"none\.jar"):
        java.miner(jar=java.folder / "none.jar").mine(graph)
    with pytest.raises(MissingDependencyError, match="no program 'java-of-nobody'"):
        java.miner(java="java-of-nobody").mine(graph)
    with pytest.raises(UnknownNameError, match="wives"):
        java.miner(relations=("wives",)).mine(graph)
    with pytest.raises(ConfigError, match="There is no folder"):
        java.miner(log=java.folder / "none" / "amie.log").mine(graph)
    with pytest.raises(ConfigError, match="max_memory"):
        java.miner(max_memory="8g -jar other.jar")
    assert not (java.folder / "call.json").exists()


@pytest.mark.parametrize(
    ("mode", "error", "message"),
    [
        ("memory", ConfigError, "ran out of memory"),
        ("fails", PluginError, "exit code 1: .*corrupt jarfile"),
        ("cut", PluginError, "does not end with the number of rules"),
        ("trace", PluginError, "neither a rule nor a known line"),
        ("unknown", PluginError, "r7"),
        ("miscounts", PluginError, "counts 4 facts"),
    ],
)
def test_when_amie_fails(java: Java, graph: MemoryGraph, mode: str, error: type[Exception], message: str) -> None:
    java.behave(mode)
    with pytest.raises(error, match=f"(?s){message}"):
        java.miner().mine(graph)
    assert "Using the default schema relations" in java.log


def test_no_rule(java: Java, graph: MemoryGraph) -> None:
    java.behave("finds nothing")
    assert java.miner().mine(graph) == []


def test_it_is_ended_with_its_children_when_its_time_is_up(java: Java, graph: MemoryGraph) -> None:
    java.behave("hang")
    with pytest.raises(ConfigError, match="not done after 6 s"):
        java.miner(timeout=6).mine(graph)
    for pid in (java.folder / "pids").read_text().split():
        assert not running(int(pid))


def running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_counts_are_asked_of_the_native_miner(java: Java, graph: MemoryGraph, monkeypatch: Any) -> None:
    class Native:
        def measure(self, graph: Any, rules: Any) -> list[str]:
            return [f"{len(rules)} rules"]

    asked = []
    monkeypatch.setattr(registry, "create", lambda *words: asked.append(words) or Native())
    assert java.miner(threads=2).measure(graph, [canonical_rule("r", [Atom("s", 0, 1)])]) == ["1 rules"]
    assert asked == [("miners", "native", {"threads": 2})]
