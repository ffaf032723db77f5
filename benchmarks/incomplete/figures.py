"""What can be counted of a built benchmark from its content alone."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

import orjson

from kgqa_bench.domain import Triple, TwinStratum
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.horn.rule import RULE_SUBTYPES, RULE_TYPES

from .content import Content, EntityLabel, QuestionRow, Wording
from .model import SPLITS

TWINS: tuple[TwinStratum, ...] = get_args(TwinStratum)


def named_graph(
    triples: Sequence[Triple],
    entities: Sequence[EntityLabel],
    relations: Iterable[str],
    relation_labels: Mapping[str, str] | None = None,
    by: Literal["label", "id"] = "label",
) -> MemoryGraph:
    """The graph of some triples with all entities and relations, called by their labels or by the graph's names."""
    from kgqa_bench.graph.build import build_graph

    position = {entity.label: number for number, entity in enumerate(entities)}
    names = list(relations)
    number_of = {name: number for number, name in enumerate(names)}
    return build_graph(
        [position[triple.head] for triple in triples],
        [number_of[triple.relation] for triple in triples],
        [position[triple.tail] for triple in triples],
        [triple.confidence for triple in triples],
        source="the built benchmark",
        entity_names=[getattr(entity, by) for entity in entities],
        relation_names=names,
        entity_labels={entity.id: entity.text for entity in entities} if by == "id" else None,
        relation_labels=relation_labels,
    )


def measured_figures(content: Content) -> dict[str, Any]:
    """Figures by what they count, JSON-able: rules, triples, questions and both graphs (the latter by igraph)."""
    incomplete = content.incomplete()
    rows = [(split, row) for split in SPLITS for row in content.questions.get(split, ())]
    questions = [row for _split, row in rows]
    return {
        "rules": _counts((mined.rule.type for mined in content.rules), RULE_TYPES),
        "rule subtypes": _counts((mined.rule.subtype for mined in content.rules), RULE_SUBTYPES),
        "triples": {
            "complete": len(content.complete),
            "incomplete": len(incomplete),
            "removed": len(content.removed),
        },
        "questions": _counts((split for split, _row in rows), SPLITS),
        "questions by rule type": _by_split(rows, "rule_type", RULE_TYPES),
        "questions by asked end": _by_split(rows, "asked", ("head", "tail")),
        "questions by twin": _by_split(rows, "twin", TWINS),
        "questions by hops": _by_split(rows, "hops", sorted({row.hops for row in questions})),
        "questions by wording": _by_split(rows, "wording", get_args(Wording)),
        "ids and texts": text_digest(content.entities),
        "answers": _spread(len(row.answer) for row in questions),
        "hard answers": _spread(len(row.hard_answers) for row in questions),
        "graph": {
            view: _statistics(triples, content)
            for view, triples in (("complete", content.complete), ("incomplete", incomplete))
        },
    }


def text_digest(entities: Iterable[EntityLabel]) -> str:
    """Digest of the entities' names and labels in the graph, whatever they are called in the files."""
    pairs = sorted((entity.id, entity.text) for entity in entities)
    return hashlib.sha256(orjson.dumps(pairs)).hexdigest()[:32]


def _counts(values: Iterable[Any], known: Iterable[Any]) -> dict[str, int]:
    count = Counter(values)
    return {str(value): count[value] for value in known}


def _by_split(rows: Sequence[tuple[str, QuestionRow]], attribute: str, known: Iterable[Any]) -> dict[str, Any]:
    return {
        str(value): _counts((split for split, row in rows if getattr(row, attribute) == value), SPLITS)
        for value in known
    }


def _spread(sizes: Iterable[int]) -> dict[str, float]:
    ordered = sorted(sizes)
    if not ordered:
        return {}
    return {
        "mean": round(sum(ordered) / len(ordered), 3),
        "median": ordered[(len(ordered) - 1) // 2],
        "most": ordered[-1],
    }


def _statistics(triples: Sequence[Triple], content: Content) -> Mapping[str, Any]:
    if not triples:
        return {}
    from kgqa_bench.graph.whole import statistics

    return statistics(named_graph(triples, content.entities, sorted(content.relations)))
