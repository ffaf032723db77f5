"""From ids to the names that the files of a build use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kgqa_bench.domain import Triple
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.horn.rule import MinedRule

from .content import Certificate, EntityLabel, Named, QuestionRow
from .model import SPLITS, Draft, Fact, Grounding, Split


class Names:
    """The names of a graph's entities and relations in the files.

    Args:
        graph: The complete graph.
        labels: What each entity is called in the files.
    """

    def __init__(self, graph: MemoryGraph, labels: Sequence[str]) -> None:
        self.graph = graph
        self._labels = labels
        self._relations = [graph.relation_name(relation) for relation in range(graph.num_relations)]

    def entity(self, entity: int) -> str:
        """The label of an entity."""
        return self._labels[entity]

    def relation(self, relation: int) -> str:
        """The name of a relation."""
        return self._relations[relation]

    def fact(self, fact: Fact) -> Named:
        """A triple by names."""
        return self._labels[fact.head], self._relations[fact.relation], self._labels[fact.tail]

    def triples(self) -> list[Triple]:
        """All triples of the graph."""
        columns = (column.tolist() for column in self.graph.columns())
        return [
            Triple(*self.fact(Fact(head, relation, tail)), confidence)
            for head, relation, tail, confidence in zip(*columns, strict=True)
        ]

    def entities(self) -> list[EntityLabel]:
        """The map from labels to the graph's own names and labels."""
        return [
            EntityLabel(label, self.graph.entity_name(entity), self.graph.entity_label(entity))
            for entity, label in enumerate(self._labels)
        ]

    def relation_labels(self) -> dict[str, str]:
        """The relations in words."""
        return {name: self.graph.relation_label(relation) for relation, name in enumerate(self._relations)}


def question_rows(
    drafts: Sequence[Draft], rules: Sequence[MinedRule], names: Names
) -> dict[Split, list[QuestionRow]]:
    """The rows of each split; ids are the questions' numbers over all splits."""
    width = len(str(len(drafts)))
    rows: dict[Split, list[QuestionRow]] = {split: [] for split in SPLITS}
    for number, draft in enumerate(drafts, start=1):
        rule = rules[draft.grounding.rule].rule
        row = QuestionRow(
            id=f"{number:0{width}}",
            question=draft.text,
            topic_entities=(names.entity(draft.ask.topic),),
            answer=tuple(sorted(map(names.entity, draft.answers))),
            hard_answers=tuple(sorted(map(names.entity, draft.hard))),
            primary=names.entity(draft.primary),
            relation=names.relation(draft.ask.relation),
            asked=draft.ask.asked,
            rule=draft.grounding.rule + 1,
            rule_type=rule.type,
            rule_subtype=rule.subtype or "",
            removed=names.fact(draft.grounding.head),
            grounding=tuple(map(names.fact, draft.grounding.body)),
            hops=draft.hops,
            twin=draft.twin or "",
            wording=draft.wording,
        )
        if draft.split is None:
            raise ValueError(f"question {row.id} has no split")
        rows[draft.split].append(row)
    return rows


def certificate_rows(
    certificates: Mapping[Fact, Grounding], rules: Sequence[MinedRule], names: Names
) -> list[Certificate]:
    """A row for each removed triple."""
    return [
        Certificate(
            removed=names.fact(fact),
            rule=grounding.rule + 1,
            body=tuple(map(names.fact, grounding.body)),
            std_confidence=rules[grounding.rule].std_confidence,
            pca_confidence=rules[grounding.rule].pca_confidence,
            twin_of=names.fact(grounding.head) if fact != grounding.head else None,
        )
        for fact, grounding in certificates.items()
    ]
