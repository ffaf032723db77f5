"""A second reading of built benchmarks, in plain Python and from files alone: no line of it is the project's."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from kgqa_bench.cli.build_incomplete import build_incomplete

Triple = tuple[str, str, str]
SPLITS = ("train", "validation", "test")


def read_triples(path: Path) -> list[Triple]:
    return [tuple(line.split("\t")[:3]) for line in path.read_text("utf-8").splitlines()]  # type: ignore[misc]


def read_table(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text("utf-8").splitlines()[1:]]


def atoms_of(text: str) -> list[Triple]:
    words = text.split()
    return [tuple(words[at : at + 3]) for at in range(0, len(words), 3)]  # type: ignore[misc]


def unifies(atoms: list[Triple], facts: list[Triple]) -> bool:
    bound: dict[str, str] = {}
    pairs = [
        (v, e) for atom, fact in zip(atoms, facts, strict=True) for v, e in zip(atom[::2], fact[::2], strict=True)
    ]
    return [a[1] for a in atoms] == [f[1] for f in facts] and all(bound.setdefault(v, e) == e for v, e in pairs)


def check_folder(folder: Path, source: set[Triple], family: bool = True) -> Counter[str]:
    """Assert everything that a corrected build promises; returns what was counted."""
    complete, left, gone = (read_triples(folder / f"triples.{v}.tsv") for v in ("complete", "incomplete", "removed"))
    triples, there, removed = set(complete), set(left), set(gone)
    assert len(triples) == len(complete) and there | removed == triples and not there & removed and removed
    assert complete == sorted(complete) and left == sorted(left) and gone == sorted(gone)
    ids = {label: name for label, name, _text in read_table(folder / "labels.tsv")}
    assert len(set(ids.values())) == len(ids)
    assert {(ids[h], r, ids[t]) for h, r, t in triples} == source
    assert not set(ids) & set(ids.values()) and len({len(label) for label in ids}) == 1
    assert all(label.isdigit() for label in ids)

    tails, heads, between = defaultdict(set), defaultdict(set), defaultdict(set)
    for h, r, t in triples:
        tails[h, r].add(t)
        heads[r, t].add(h)
    for h, r, t in there:
        between[h, t].add(r)
    rules = {int(row[0]): row for row in read_table(folder / "rules.tsv")}
    inversions = {
        (atoms_of(head)[0][1], atoms_of(body)[0][1])
        for body, head in (row[1].split("=>") for row in rules.values() if row[2] == "inversion")
    }
    certificates = [json.loads(line) for line in (folder / "certificate.jsonl").read_text("utf-8").splitlines()]
    proof = {tuple(row["removed"]): row for row in certificates}
    assert len(proof) == len(certificates) and set(proof) == removed
    for fact, row in proof.items():
        body, head = rules[row["rule"]][1].split("=>")
        facts = [tuple(triple) for triple in row["body"]]
        assert unifies([*atoms_of(body), *atoms_of(head)], [*facts, fact]) and set(facts) <= there
        assert row["std_confidence"] == float(rules[row["rule"]][5]) >= 0.3
        assert row["pca_confidence"] == float(rules[row["rule"]][6]) >= 0.4
        assert row["twin_of"] is None

    counted: Counter[str] = Counter()
    owner: dict[object, str] = {}
    texts, numbers, asks, covered = set(), set(), set(), set()
    for split in SPLITS:
        for line in (folder / f"questions.{split}.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            (topic,), relation, tail_asked = row["topic_entities"], row["relation"], row["asked"] == "tail"
            answers = tails[topic, relation] if tail_asked else heads[relation, topic]
            direct = {a: (topic, relation, a) if tail_asked else (a, relation, topic) for a in answers}
            assert row["answer"] == sorted(answers) and 0 < len(answers) <= 100
            assert row["hard_answers"] == sorted(a for a in answers if direct[a] in removed)
            fact = tuple(row["removed"])
            assert direct[row["primary"]] == fact and row["primary"] in row["hard_answers"]
            assert (row["rule"], row["grounding"]) == (proof[fact]["rule"], proof[fact]["body"])
            assert (row["rule_type"], row["rule_subtype"]) == tuple(rules[row["rule"]][2:4])
            ends = {frozenset(triple[::2]) for triple in row["grounding"]}
            assert (row["hops"] == 1) == (frozenset(fact[::2]) in ends) and 1 <= row["hops"] <= len(row["grounding"])
            back = between[fact[2], fact[0]]
            inverse = any((relation, r) in inversions for r in back)
            twin = "symmetric" if relation in back else "inverse" if inverse else "other reverse" if back else "none"
            assert row["twin"] == twin
            words = re.findall(r"\w+", row["question"])
            assert topic in words and not set(words) & (set(ids) - {topic})
            if family:  # h is the RELATION of t
                asked = f"Who is {topic} the {relation} of?" if tail_asked else f"Who is the {relation} of {topic}?"
                assert row["question"] == asked
            keys = {direct[a] for a in row["hard_answers"]} | {(topic, relation, tail_asked, "asked")}
            assert all(owner.setdefault(key, split) == split for key in keys)
            covered |= {direct[a] for a in row["hard_answers"]}
            for seen, new in ((texts, row["question"]), (numbers, row["id"]), (asks, (topic, relation, tail_asked))):
                assert new not in seen
                seen.add(new)
            counted.update((split, "questions", f"{split} {row['rule_type']}", row["rule_type"], row["asked"]))
    assert covered == removed  # nothing is removed that no question is about
    for split, share in (("train", 0.8), ("validation", 0.1), ("test", 0.1)):
        for part in ("questions", *{row[2] for row in rules.values()}):
            found = counted[split if part == "questions" else f"{split} {part}"]
            assert abs(found - share * counted[part]) <= max(2, 0.02 * counted[part])
    # where tails are few and heads many, more questions about a tail fall together
    assert not family or abs(counted["head"] - counted["tail"]) < 4 * counted["questions"] ** 0.5
    return counted


def test_synthetic_family(tmp_path: Path) -> None:
    from kgqa_bench import registry

    graph = registry.create("graphs", "family-synthetic", {"people": 400}).load(None)
    source = {
        (graph.entity_name(quad.head), graph.relation_name(quad.relation), graph.entity_name(quad.tail))
        for quad in graph.quads()
    }
    build_incomplete(kg="family-synthetic", people=400, out=tmp_path / "built")
    assert check_folder(tmp_path / "built", source)["questions"] > 300


@pytest.mark.data
def test_family(tmp_path: Path, real_data: Path) -> None:
    build_incomplete(kg="family", data=real_data, out=tmp_path / "built")
    counted = check_folder(tmp_path / "built", set(read_triples(real_data / "family" / "facts.txt")))
    assert counted["questions"] > 2000
