"""A small built benchmark made by hand, and ways to tamper with it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from kgqa_bench.benchmarks.incomplete.content import Certificate, Content, EntityLabel, QuestionRow
from kgqa_bench.benchmarks.incomplete.figures import named_graph
from kgqa_bench.benchmarks.incomplete.labels import entity_labels
from kgqa_bench.benchmarks.incomplete.package import write_package
from kgqa_bench.benchmarks.incomplete.split import SplitRow, split_rows
from kgqa_bench.benchmarks.incomplete.wording import question_text
from kgqa_bench.domain import Triple
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.horn.rule import Atom, MinedRule, Rule, canonical_rule

FAMILIES = 30
RELATIONS = {
    "father_of": "is the father of",
    "mother_of": "is the mother of",
    "spouse_of": "is the spouse of",
    "child_of": "is the child of",
    "grandfather_of": "is the grandfather of",
}
RULES = (
    canonical_rule("spouse_of", [Atom("spouse_of", 1, 0)]),
    canonical_rule("child_of", [Atom("father_of", 1, 0)]),
    canonical_rule("grandfather_of", [Atom("father_of", 0, 2), Atom("father_of", 2, 1)]),
    canonical_rule("mother_of", [Atom("spouse_of", 0, 2), Atom("father_of", 2, 1)]),
)


def family(number: int) -> list[tuple[str, str, str]]:
    """Father, mother, two children, of whom the first has a child; the odd families have another daughter's."""
    father, mother, child, other, grandchild = (f"{role}{number}" for role in ("fa", "mo", "ch", "si", "gr"))
    triples = [
        (father, "spouse_of", mother),
        (mother, "spouse_of", father),
        (father, "father_of", child),
        (mother, "mother_of", child),
        (father, "father_of", other),
        (mother, "mother_of", other),
        (child, "child_of", father),
        (child, "child_of", mother),
        (other, "child_of", father),
        (child, "father_of", grandchild),
        (father, "grandfather_of", grandchild),
    ]
    return (
        triples
        if number % 2
        else [*triples, (father, "grandfather_of", f"x{number}"), (child, "father_of", f"x{number}")]
    )


def removals(number: int) -> list[tuple[tuple[str, str, str], int, list[tuple[str, str, str]]]]:
    """Removed triple, number of the rule and body, for some family."""
    father, mother, child, other, grandchild = (f"{role}{number}" for role in ("fa", "mo", "ch", "si", "gr"))
    kinds = [
        ((father, "spouse_of", mother), 1, [(mother, "spouse_of", father)]),
        ((other, "child_of", father), 2, [(father, "father_of", other)]),
        (
            (father, "grandfather_of", grandchild),
            3,
            [(father, "father_of", child), (child, "father_of", grandchild)],
        ),
        ((mother, "mother_of", child), 4, [(mother, "spouse_of", father), (father, "father_of", child)]),
    ]
    return [kinds[number % 4], kinds[(number + 1) % 4]]


def count_rules(graph: Graph, rules: Sequence[Rule]) -> list[MinedRule]:
    """Counts by trying all entities; for small graphs."""
    facts = {(quad.head, quad.relation, quad.tail) for quad in graph.quads()}
    return [_counted(rule, facts, graph) for rule in rules]


def _counted(rule: Rule, facts: set[tuple[int, int, int]], graph: Graph) -> MinedRule:
    bindings: list[dict[int, int]] = [{}]
    for atom in rule.body:
        relation = graph.relation(atom.relation)
        grown = []
        for binding, (head, name, tail) in itertools.product(bindings, sorted(facts)):
            if (
                name == relation
                and binding.get(atom.subject, head) == head
                and binding.get(atom.object, tail) == tail
            ):
                grown.append({**binding, atom.subject: head, atom.object: tail})
        bindings = grown
    body = {(binding[0], binding[1]) for binding in bindings}
    heads = {(head, tail) for head, name, tail in facts if name == graph.relation(rule.head)}
    subjects, objects = {head for head, _ in heads}, {tail for _, tail in heads}
    by_subject = len(subjects) >= len(objects)
    pca = [pair for pair in body if (pair[0] in subjects if by_subject else pair[1] in objects)]
    side = "subject" if by_subject else "object"
    return MinedRule(rule, len(body & heads), len(heads), len(body), len(pca), side)


@pytest.fixture(scope="session")
def measure() -> Callable[[Graph, Sequence[Rule]], list[MinedRule]]:
    """A counter of rules that is not the miner."""
    return count_rules


def make_content(**changes: Any) -> Content:
    """The hand-made benchmark: two removed triples a family, a question for each."""

    triples = sorted({triple for number in range(FAMILIES) for triple in family(number)})
    names = sorted({name for head, _, tail in triples for name in (head, tail)})
    source = named_graph(
        [Triple(*triple) for triple in triples],
        [EntityLabel(name, name, f"text of {name}") for name in names],
        sorted(RELATIONS),
        RELATIONS,
        by="id",
    )
    label = dict(zip(names, entity_labels(source, "private", 0), strict=True))

    def named(triple: tuple[str, str, str]) -> tuple[str, str, str]:
        return (label[triple[0]], triple[1], label[triple[2]])

    complete = sorted(Triple(*named(triple)) for triple in triples)
    entities = [EntityLabel(label[name], name, f"text of {name}") for name in names]
    rules = count_rules(named_graph(complete, entities, sorted(RELATIONS)), RULES)
    chosen = [
        (named(removed), rule, tuple(map(named, body)))
        for number in range(FAMILIES)
        for removed, rule, body in removals(number)
    ]
    removed = frozenset(triple for triple, _, _ in chosen)
    certificates = [
        Certificate(
            removed=triple,
            rule=rule,
            body=body,
            std_confidence=rules[rule - 1].std_confidence,
            pca_confidence=rules[rule - 1].pca_confidence,
        )
        for triple, rule, body in chosen
    ]
    rows = [
        question(number, triple, rules[rule - 1].rule, rule, body, complete, removed)
        for number, (triple, rule, body) in enumerate(sorted(chosen))
    ]
    values: dict[str, Any] = {
        "name": "small-incomplete",
        "kg": "small",
        "source_fingerprint": source.fingerprint,
        "complete": complete,
        "removed": removed,
        "rules": rules,
        "questions": assign_splits(rows),
        "certificates": certificates,
        "entities": entities,
        "relations": RELATIONS,
        "settings": {
            "mode": "corrected", "seed": 0, "labels": "private", "wording": "template", "twins": "mark",
            "max_answers": 100,
        },
        "figures": {"sampled groundings": len(chosen), "dropped": {"too many answers": 0}},
    }  # fmt: skip
    return Content(**(values | changes))


def assign_splits(rows: list[QuestionRow]) -> dict[str, list[QuestionRow]]:
    drawn = split_rows(
        [
            SplitRow(
                row.id,
                ((row.topic_entities[0], row.relation, row.asked), row.removed),
                row.rule_type,
            )
            for row in rows
        ],
        0,
    )
    return {split: [row for row in rows if drawn[row.id] == split] for split in ("train", "validation", "test")}


def question(
    number: int,
    removed: tuple[str, str, str],
    rule: Rule,
    rule_number: int,
    body: tuple[tuple[str, str, str], ...],
    complete: list[Triple],
    gone: frozenset[tuple[str, str, str]],
) -> QuestionRow:
    head, relation, tail = removed
    asked = "head" if number % 2 else "tail"
    topic, primary = (tail, head) if asked == "head" else (head, tail)
    if asked == "tail":
        answers = {triple.tail for triple in complete if triple[:2] == (head, relation)}
        hard = {answer for answer in answers if (head, relation, answer) in gone}
    else:
        answers = {triple.head for triple in complete if triple[1:3] == (relation, tail)}
        hard = {answer for answer in answers if (answer, relation, tail) in gone}
    twin = {1: "symmetric", 2: "inverse", 3: "none", 4: "other reverse"}[rule_number]
    return QuestionRow(
        id=f"{number:04d}",
        question=question_text(relation, asked, topic, RELATIONS[relation]),
        topic_entities=(topic,),
        answer=tuple(sorted(answers)),
        hard_answers=tuple(sorted(hard)),
        primary=primary,
        relation=relation,
        asked=asked,
        rule=rule_number,
        rule_type=rule.type,
        rule_subtype=rule.subtype or "",
        removed=removed,
        grounding=body,
        hops=len(body),
        twin=twin,
        wording="template",
    )


@pytest.fixture(scope="session")
def content() -> Content:
    return make_content()


@pytest.fixture
def changed_content() -> Callable[..., Content]:
    """The hand-made benchmark with some of its attributes replaced."""
    return make_content


@pytest.fixture
def folder(tmp_path: Path, content: Content) -> Path:
    """The written folder of the hand-made benchmark."""
    write_package(content, tmp_path / "built")
    return tmp_path / "built"
