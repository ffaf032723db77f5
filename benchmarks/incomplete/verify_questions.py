"""Re-checks the questions of a built benchmark against its triples, rules and certificates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from kgqa_bench.domain import TwinStratum
from kgqa_bench.errors import DataError
from kgqa_bench.horn.rule import Rule

from .content import Certificate, Content, Named, QuestionRow
from .model import SPLITS, Asked, Split
from .package import questions_file
from .question_checks import question_problem
from .reading import at, shown
from .released import row_split
from .split import SplitRow, split_rows
from .wording import question_text

LEFT_OUT = ("questions with too many answers", "questions not drawn")
"""What the figures of a build call the questions that it left out."""


@dataclass(frozen=True)
class _Facts:
    """The content, indexed for what its questions need.

    Attributes:
        content: The content.
        left: The triples of groundings that are in the incomplete graph.
        tails: Tails on the complete graph by (head, relation), for the questions' topics and heads.
        heads: Heads by (relation, tail), likewise.
        back: Relations left in the incomplete graph by (head, tail), for the removed triples' ends turned round.
        certificates: Those of removed triples that are not removed as twins, by triple.
        inversions: (head relation, body relation) of the inversion rules.
    """

    content: Content
    left: frozenset[Named]
    tails: Mapping[tuple[str, str], set[str]]
    heads: Mapping[tuple[str, str], set[str]]
    back: Mapping[tuple[str, str], set[str]]
    certificates: Mapping[Named, Certificate]
    inversions: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, content: Content) -> _Facts:
        rows = [row for split in SPLITS for row in content.questions[split]]
        tails: dict[tuple[str, str], set[str]] = {(row.topic_entities[0], row.relation): set() for row in rows}
        tails |= {row.removed[:2]: set() for row in rows}
        heads: dict[tuple[str, str], set[str]] = {(row.relation, row.topic_entities[0]): set() for row in rows}
        back: dict[tuple[str, str], set[str]] = {(row.removed[2], row.removed[0]): set() for row in rows}
        grounding = {triple for row in rows for triple in row.grounding} - content.removed
        left = set()
        for head, relation, tail, _confidence in content.complete:
            if (head, relation, tail) in grounding:
                left.add((head, relation, tail))
            if (head, relation) in tails:
                tails[head, relation].add(tail)
            if (relation, tail) in heads:
                heads[relation, tail].add(head)
            if (head, tail) in back and (head, relation, tail) not in content.removed:
                back[head, tail].add(relation)
        return cls(
            content,
            frozenset(left),
            tails,
            heads,
            back,
            {row.removed: row for row in content.certificates if row.twin_of is None},
            frozenset(
                (mined.rule.head, mined.rule.body[0].relation)
                for mined in content.rules
                if mined.rule.type == "inversion"
            ),
        )

    @property
    def released(self) -> bool:
        return self.content.settings.get("mode") == "released"

    @property
    def left_out(self) -> bool:
        """Whether questions were left out after the draw of splits, so that it cannot be done again."""
        if self.content.settings.get("max_share") is not None:
            return True
        return self.released and any(self.content.figures.get(name) for name in LEFT_OUT)

    def answers(self, entity: str, relation: str, asked: Asked) -> set[str]:
        """All answers on the complete graph."""
        return self.tails[entity, relation] if asked == "tail" else self.heads[relation, entity]

    def twin(self, removed: Named) -> TwinStratum:
        """What is left from the tail to the head of a removed triple."""
        head, relation, tail = removed
        back = self.back[tail, head]
        if relation in back:
            return "symmetric"
        if any((relation, other) in self.inversions for other in back):
            return "inverse"
        return "other reverse" if back else "none"


def question_problems(content: Content) -> list[str]:
    """Everything wrong with the questions, by file and line."""
    facts = _Facts.of(content)
    places = [(split, line) for split in SPLITS for line, _row in enumerate(content.questions[split], 1)]
    rows = [row for split in SPLITS for row in content.questions[split]]
    problems: list[str] = []
    first: dict[str, str] = {}
    asked: dict[tuple[str, str, str], str] = {}
    for (split, line), row in zip(places, rows, strict=True):
        place = f"{questions_file(split)}, line {line}"
        found = [*_own_problems(row, facts), *_text_problems(row, facts)]
        if first.setdefault(row.id, place) != place:
            found.append(f"{first[row.id]} has the same id {row.id!r}.")
        ask = (row.topic_entities[0], row.relation, row.asked)
        if not facts.released and asked.setdefault(ask, place) != place:
            found.append(f"{asked[ask]} asks the same.")
        problems += [at(questions_file(split), line, f"question {row.id}: {what}") for what in found]
    if len({len(row.id) for row in rows}) > 1 or not all(row.id.isascii() and row.id.isdigit() for row in rows):
        problems.append("questions: the ids are not numbers of one width.")
    elif not problems:  # the split is drawn over all questions: one wrong question may move many
        problems += _split_problems(facts)
    return problems


def _own_problems(row: QuestionRow, facts: _Facts) -> Iterator[str]:
    """What is wrong with a question besides its words."""
    content, removed = facts.content, row.removed
    (topic,) = row.topic_entities
    far, near = (removed[0], removed[2]) if row.asked == "head" else (removed[2], removed[0])
    if topic != near:
        yield f"the topic {topic!r} is not at the end of {shown(removed)} that is not asked for."
    if row.primary != far:
        yield f"the primary answer {row.primary!r} is not at the end of {shown(removed)} that is asked for."
    if row.relation != removed[1]:
        yield f"the relation {row.relation!r} is not that of {shown(removed)}."
    if removed not in content.removed:
        yield f"the triple {shown(removed)} is not removed."
    if facts.released:
        answers = facts.answers(removed[0], removed[1], "tail")
        hard = {answer for answer in answers if (removed[0], removed[1], answer) in content.removed}
    else:
        answers = facts.answers(topic, row.relation, row.asked)
        hard = {answer for answer in answers if _direct(row, answer) in content.removed}
    yield from _set_problems("answer", row.answer, answers)
    yield from _set_problems("hard_answers", row.hard_answers, hard)
    if not facts.released and row.primary not in row.hard_answers:
        yield f"the primary answer {row.primary!r} is not among the hard answers."
    most = content.settings.get("max_answers")
    if not facts.released and isinstance(most, int) and len(row.answer) > most:
        yield f"{len(row.answer)} answers are more than max_answers ({most})."
    yield from _derivation_problems(row, facts)


def _set_problems(name: str, stated: Sequence[str], right: set[str]) -> Iterator[str]:
    if list(stated) != sorted(right):
        wrong, missing = set(stated) - right, right - set(stated)
        parts = [f"{what} {', '.join(sorted(those))}" for what, those in (("wrong", wrong), ("missing", missing))
                 if those]  # fmt: skip
        yield f"{name} is not what the complete graph gives ({'; '.join(parts) or 'not sorted, or twice'})."


def _derivation_problems(row: QuestionRow, facts: _Facts) -> Iterator[str]:
    rules = facts.content.rules
    certificate = facts.certificates.get(row.removed)
    if not 1 <= row.rule <= len(rules):
        yield f"there is no rule {row.rule}."
        return
    rule = rules[row.rule - 1].rule
    if (row.rule_type, row.rule_subtype) != (rule.type, rule.subtype or ""):
        yield f"rule {row.rule} is of type {rule.type!r} and subtype {rule.subtype or ''!r}."
    if facts.released:
        left = all(triple in facts.left for triple in row.grounding)
        if not left or not grounds(rule, row.removed, row.grounding):
            yield f"the grounding is none of rule {row.rule}, or not in the incomplete graph."
    elif certificate is None:
        yield f"the triple {shown(row.removed)} has no certificate."
    elif (certificate.rule, certificate.body) != (row.rule, row.grounding):
        yield f"rule and grounding are not those of the certificate of {shown(row.removed)}."
    hops = shortest_way(row.removed[0], row.removed[2], row.grounding)
    if row.hops != hops:
        yield f"hops is {row.hops}, but the grounding gives {hops}."
    twin = "" if facts.content.settings.get("twins", "mark") == "keep" else facts.twin(row.removed)
    if row.twin != twin:
        yield f"twin is {row.twin!r}, but the incomplete graph gives {twin!r}."


def _text_problems(row: QuestionRow, facts: _Facts) -> Iterator[str]:
    (topic,) = row.topic_entities
    label = facts.content.relations.get(row.relation, row.relation)
    if row.wording == "template":
        wanted = question_text(row.relation, row.asked, topic, label)
        if row.question != wanted:
            yield f"the question is {row.question!r}, but its wording is {wanted!r}."
    elif facts.content.settings.get("wording", "template") == "template":
        yield "it is said to be in a model's words, but no model was asked."
    else:
        problem = question_problem(row.question, label, row.asked, topic, row.answer)
        if problem is not None:
            yield f"the question {row.question!r} is not fit: {problem}."


def _split_problems(facts: _Facts) -> list[str]:
    """Questions that are in another split than the draw gives, or share with another split what they must not."""
    content = facts.content
    rows = {row.id: row for split in SPLITS for row in content.questions[split]}
    ordered = [rows[question_id] for question_id in sorted(rows)]
    drawn: Mapping[str, Split] = {}
    if facts.left_out:
        pass  # the draw was over questions that are not there
    elif facts.released:
        drawn = dict(zip(sorted(rows), row_split(len(rows)), strict=True))
    else:
        try:
            seed = content.settings.get("seed")
            drawn = split_rows([SplitRow(row.id, _keys(row), row.rule_type) for row in ordered], cast(int, seed))
        except DataError as problem:
            return [str(problem)]
    problems: list[str] = []
    first: dict[tuple[str, ...], tuple[Split, str]] = {}
    for split in SPLITS:
        for line, row in enumerate(content.questions[split], 1):
            found = []
            if drawn.get(row.id, split) != split:
                found.append(f"the draw has it in {drawn[row.id]}.")
            for key in () if facts.released else _keys(row):
                other, other_id = first.setdefault(key, (split, row.id))
                if other != split:
                    found.append(f"it shares {', '.join(key[:3])} with question {other_id} of {other}.")
            problems += [at(questions_file(split), line, f"question {row.id}: {what}") for what in found]
    return problems


def _keys(row: QuestionRow) -> tuple[tuple[str, ...], ...]:
    """What no other split may share: what is asked, and the removed triples."""
    (topic,) = row.topic_entities
    triples = {row.removed, *(_direct(row, answer) for answer in row.hard_answers)}
    return ((topic, row.relation, row.asked, "asked"), *sorted(triples))


def _direct(row: QuestionRow, answer: str) -> Named:
    """The triple that says directly that ``answer`` is one."""
    (topic,) = row.topic_entities
    return (topic, row.relation, answer) if row.asked == "tail" else (answer, row.relation, topic)


def grounds(rule: Rule, head: Named, body: Sequence[Named]) -> bool:
    """Whether triples are a grounding of a rule: right relations, and every variable one entity throughout."""
    if len(body) != len(rule.body) or head[1] != rule.head:
        return False
    bound = {0: head[0]}
    if bound.setdefault(1, head[2]) != head[2]:
        return False
    return all(
        triple[1] == atom.relation
        and bound.setdefault(atom.subject, triple[0]) == triple[0]
        and bound.setdefault(atom.object, triple[2]) == triple[2]
        for atom, triple in zip(rule.body, body, strict=True)
    )


def shortest_way(source: str, target: str, triples: Sequence[Named]) -> int:
    """Triples on the shortest way between two entities within a few triples, in any direction; 0 for none."""
    reached, frontier, hops = {source}, {source}, 0
    while frontier and target not in reached:
        hops += 1
        there = {tail for head, _relation, tail in triples if head in frontier}
        back = {head for head, _relation, tail in triples if tail in frontier}
        frontier = (there | back) - reached
        reached |= frontier
    return hops if target in reached else 0
