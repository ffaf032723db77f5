"""`kgqa-bench mine`: what is asked of the miner, what is written, and what is refused before anything is mined."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from kgqa_bench import registry
from kgqa_bench.contracts import Miner, MiningSettings
from kgqa_bench.errors import ConfigError
from kgqa_bench.graph import open_parts
from kgqa_bench.horn.rule import Atom, MinedRule, canonical_rule
from kgqa_bench.horn.rule_files import read_rules

WIFE = MinedRule(canonical_rule("wife", [Atom("husband", 1, 0)]), 454, 711, 717, 490, "subject")
UNCLE = MinedRule(canonical_rule("uncle", [Atom("father", 0, 2), Atom("brother", 2, 1)]), 20, 20, 40, 20, "object")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> type[Miner]:
    """A miner called native that finds two rules."""

    class Fake(Miner):
        """Finds what it is told to."""

        found: ClassVar[list[MinedRule]]
        asked: ClassVar[list[MiningSettings]]
        triples: ClassVar[list[int]]

        def mine(self, graph: Any, progress: Any = None) -> list[MinedRule]:
            self.asked.append(self.settings)
            self.triples.append(graph.num_triples)
            for done in range(101):
                progress("counting", done, 100)
            return self.found

    Fake.asked, Fake.triples, Fake.found = [], [], [UNCLE, WIFE]
    load = registry.load
    monkeypatch.setattr(
        registry, "load", lambda kind, name: Fake if (kind, name) == ("miners", "native") else load(kind, name)
    )
    return Fake


@pytest.fixture
def graph(tmp_path: Path) -> str:
    path = tmp_path / "graph.tsv"
    path.write_text("a\twife\tb\nb\thusband\ta\na\tlives, in\tc\n")
    return str(path)


def test_rules_go_to_the_file_and_the_summary_to_stdout(cli, fake, graph: str, tmp_path: Path) -> None:
    out = tmp_path / "rules.tsv"
    done = cli("mine", "--kg", graph, "--out", str(out))
    assert done.code == 0
    assert read_rules(out).measured == [UNCLE, WIFE]
    header, first, _ = out.read_text().splitlines()
    assert header.split("\t")[0] == "rule"
    assert header.split("\t")[-2:] == ["type", "subtype"]
    assert first.split("\t")[-2:] == ["composition", ""]
    assert "=>" not in done.out
    assert "rules.tsv" in done.out
    assert [line for line in done.err.splitlines() if line.startswith("counting: ")][-1] == "counting: 100/100"
    assert len(done.err.splitlines()) == 11
    assert fake.asked == [MiningSettings()]


def test_settings_reach_the_miner(cli, fake, graph: str, tmp_path: Path) -> None:
    words = "--min-head-coverage 0.2 --min-std-confidence 0 --min-pca-confidence 1 --max-length 4 --min-head-size 7"
    done = cli(
        "mine", "--kg", graph, *words.split(), "--threads", "2", "--relations", "wife, husband,wife", "--out", "-"
    )
    assert done.code == 0
    assert fake.asked == [
        MiningSettings(
            min_head_coverage=0.2,
            min_std_confidence=0,
            min_pca_confidence=1,
            max_length=4,
            min_head_size=7,
            threads=2,
            relations=("wife", "husband"),
        )
    ]


def test_a_relation_with_a_comma_in_its_name(cli, fake, graph: str) -> None:
    assert cli("mine", "--kg", graph, "--relations", "lives, in", "--out", "-").code == 0
    assert fake.asked[0].relations == ("lives, in",)


def test_rules_on_stdout_leave_it_to_them_alone(cli, fake, graph: str, tmp_path: Path) -> None:
    done = cli("mine", "--kg", graph, "--out", "-")
    (tmp_path / "piped.tsv").write_text(done.out)
    assert read_rules(tmp_path / "piped.tsv").measured == [UNCLE, WIFE]
    assert "composition" in done.err


def test_json(cli, fake, graph: str, tmp_path: Path) -> None:
    fake.found = [
        UNCLE,
        WIFE,
        MinedRule(canonical_rule("r", [Atom("s", 0, 1), Atom("t", 0, 1)]), 1, 2, 4, 4, "object"),
    ]
    facts = json.loads(cli("mine", "--kg", graph, "--out", str(tmp_path / "r.tsv"), "--json").out)
    assert (facts["rules"], facts["triples"], facts["out"]) == (3, 3, str(tmp_path / "r.tsv"))
    assert facts["types"] == {"symmetry": 0, "inversion": 1, "hierarchy": 0, "composition": 1, "other": 1}
    assert facts["other_subtypes"]["intersection"] == 1
    assert facts["settings"]["min_head_coverage"] == 0.1
    assert facts["peak_memory_bytes"] > 10_000_000
    assert set(facts["seconds"]) == {"load", "mine"}
    both = cli("mine", "--kg", graph, "--out", "-", "--json")
    assert (both.code, both.out) == (2, "")


def test_the_default_file_is_not_written_over(cli, fake, graph: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli("mine", "--kg", graph).code == 0
    assert read_rules(tmp_path / "graph-rules.tsv").measured == [UNCLE, WIFE]
    again = cli("mine", "--kg", graph)
    assert again.code == 2
    assert "graph-rules.tsv is there already" in again.err
    assert len(fake.asked) == 1
    assert cli("mine", "--kg", graph, "--out", "graph-rules.tsv").code == 0


def test_parts(cli, fake, tmp_path: Path) -> None:
    folder = tmp_path / "people"
    folder.mkdir()
    for size, part in enumerate(["facts", "train", "test"], 1):
        rows = [f"{part}{row}\tknows\t{part}{row + 1}\n" for row in range(size)]
        (folder / f"{part}.txt").write_text("".join(rows))
    for part, triples in [(None, 1), ("facts", 1), ("train", 2), ("test, facts,facts", 4), ("all", 6)]:
        done = cli("mine", "--kg", str(folder), *(() if part is None else ("--part", part)), "--out", "-")
        assert (done.code, fake.triples[-1]) == (0, triples)


BAD = [
    (["--part", "facts"], "is not in parts"),
    (["--min-head-coverage", "0"], "min_head_coverage"),
    (["--min-head-coverage", "1.5"], "min_head_coverage"),
    (["--min-std-confidence", "-0.1"], "min_std_confidence"),
    (["--min-pca-confidence", "nan"], "min_pca_confidence"),
    (["--max-length", "5"], "max_length"),
    (["--max-length", "1"], "max_length"),
    (["--min-head-size", "0"], "min_head_size"),
    (["--threads", "-1"], "threads"),
    (["--relations", "husbnad"], "Did you mean husband?"),
    (["--relations", " , "], "names no relation"),
    (["--miner", "nativ"], "Did you mean native?"),
    (["--jar", "amie.jar"], "has no jar"),
    (["--people", "30"], "people"),
    (["--kg", "graaph.tsv"], "Unknown graph"),
    (["--out", "nowhere/rules.tsv"], "There is no folder nowhere"),
    (["--out", "."], "is a folder"),
    (["--data", "~nobody-of-this-name/x"], "home"),
]


@pytest.mark.parametrize(("words", "message"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_what_is_refused_before_mining(cli, fake, graph: str, words: list[str], message: str, tmp_path: Path) -> None:
    done = cli("mine", "--kg", graph, "--out", str(tmp_path / "r.tsv"), *words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert fake.asked == []
    assert not (tmp_path / "r.tsv").exists()


@pytest.mark.parametrize(
    ("row", "message"), [("a\t?x\tb", "could not be read back"), ("a\tr", "2 columns"), ("a\tr\tb\t2", "(0, 1]")]
)
def test_bad_graphs(cli, fake, tmp_path: Path, row: str, message: str) -> None:
    path = tmp_path / "bad.tsv"
    path.write_text(f"{row}\n")
    done = cli("mine", "--kg", str(path), "--out", "-")
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert fake.asked == []


def test_no_rule_within_the_thresholds(cli, fake, graph: str, tmp_path: Path) -> None:
    fake.found = []
    done = cli("mine", "--kg", graph, "--out", str(tmp_path / "r.tsv"))
    assert (done.code, done.out) == (2, "")
    assert "Lower --min-head-coverage" in done.err
    assert not (tmp_path / "r.tsv").exists()


@pytest.mark.parametrize(("kg", "part"), [("family", "tran"), ("fb15k237", "facts"), ("cn15k", "train")])
def test_unknown_parts_of_known_graphs(cli, fake, kg: str, part: str) -> None:
    done = cli("mine", "--kg", kg, "--part", part, "--out", "-")
    assert done.code == 2
    assert part in done.err
    assert "has " in done.err or "not in parts" in done.err


def test_an_endpoint_is_not_mined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_parts, "open_graph", lambda name, data, settings: object())
    with pytest.raises(ConfigError, match="over the network"):
        open_parts.open_kg("sparql:https://example.org/sparql", None, None)


def test_further_settings_of_the_miner(cli, fake, graph: str) -> None:
    assert cli("mine", "--kg", graph, "--set", "min_head_size=12", "--out", "-").code == 0
    assert fake.asked[0].min_head_size == 12
    done = cli("mine", "--kg", graph, "--set", "max_memory=8g", "--out", "-")
    assert (done.code, done.out) == (2, "")
    assert "max_memory" in done.err


@pytest.mark.data
def test_family(cli, real_data: Path, tmp_path: Path) -> None:
    out = tmp_path / "family.tsv"
    done = cli("mine", "--kg", "family", "--part", "all", "--data", str(real_data), "--out", str(out), "--json")
    facts = json.loads(done.out)
    assert (facts["part"], facts["triples"], facts["rules"]) == ("facts,train,valid,test", 28_356, 273)
    found = {mined.rule: mined for mined in read_rules(out).measured or ()}
    expected = read_rules(real_data / "amie" / "family_all_maxad3.tsv").measured or []
    assert found == {mined.rule: mined for mined in expected}
