"""family-mini is what its module builds, and verifies."""

from __future__ import annotations

from pathlib import Path

from kgqa_bench import registry
from kgqa_bench.benchmarks.family_mini import FOLDER
from kgqa_bench.benchmarks.family_mini.__main__ import build


def test_it_is_built_to_the_same_bytes(tmp_path: Path) -> None:
    build(tmp_path / "again")
    built = {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()}
    shipped = {
        path.name: path.read_bytes() for path in FOLDER.iterdir() if path.suffix in (".tsv", ".jsonl", ".md", ".json")
    }
    assert sorted(built) == sorted(shipped)
    assert built == shipped


def test_it_is_small_and_verifies() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) < 300_000
    assert registry.create("builders", "incomplete").verify(FOLDER) == []


def test_it_asks_what_its_graph_no_longer_says() -> None:
    loaded = registry.create("benchmarks", "family-mini").load(None, 0)
    incomplete = registry.create("graphs", "family-mini").load(None)
    complete = registry.create("graphs", "family-mini", {"view": "complete"}).load(None)
    assert incomplete.num_relations == complete.num_relations == 12
    assert incomplete.num_triples < complete.num_triples
    assert len(loaded.items) == 28
    for question, gold in loaded.items:
        assert gold.derivation is not None and gold.primary in gold.hard_answers
        head, relation, tail, _ = gold.derivation.removed
        ids = (complete.entity(head), complete.relation(relation), complete.entity(tail))
        assert complete.has_triple(*ids) and not incomplete.has_triple(*ids)
        (topic,) = question.topic_entities
        assert topic in question.text and topic in (head, tail)
        asked_tail = topic == head
        answers = complete.edges(ids[0] if asked_tail else ids[2], "out" if asked_tail else "in", ids[1])
        assert sorted(complete.entity_name(edge.target) for edge in answers) == sorted(gold.answers)
    assert {item.gold.derivation.rule_type for item in loaded.items if item.gold.derivation} >= {
        "composition",
        "other",
    }
