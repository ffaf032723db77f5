"""From rules to questions without words and the groundings that certify what is removed, in either mode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from kgqa_bench.contracts import MiningProgress
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.horn.rule import MinedRule, Rule

from .balance import balanced
from .degrees import part_of
from .groundings import Grounder
from .model import SPLITS, Draft, Fact, Grounding
from .questions import ask_of, draw_questions, make_drafts
from .released import cross_filtered, first_groundings, released_drafts
from .removal import certificates_of, certified_removal
from .settings import BuildSettings
from .split import SplitRow, draft_keys, split_rows
from .twins import inversions_of, twin_stratum, twins_of

_STAGE = "groundings"


@dataclass
class Made:
    """What a build consists of, by ids.

    Attributes:
        drafts: The questions.
        certificates: The grounding that each removed triple follows by; of a twin that of the triple it is a twin of.
        figures: What was counted, JSON-able.
    """

    drafts: list[Draft]
    certificates: dict[Fact, Grounding]
    figures: dict[str, Any]


def corrected(
    graph: MemoryGraph, mined: Sequence[MinedRule], settings: BuildSettings, progress: MiningProgress
) -> Made:
    """Drawn groundings, certified removal, one question for each thing asked, splits that share nothing.

    Only triples that a question is made of are removed: the draw of questions comes first, then the rate. Self-loops
    stay, since a question about one would name its answer.
    """
    rules = [each.rule for each in mined]
    seed = settings.seed
    progress(_STAGE, 0, len(rules))
    sampled = Grounder(graph).sample(rules, settings.groundings, seed)
    progress(_STAGE, len(rules), len(rules))
    askable = [grounding for grounding in sampled if grounding.head.head != grounding.head.tail]
    reverse = partial(twins_of, graph) if settings.twins == "remove" else None
    removal = certified_removal(askable, seed, reverse)
    every = make_drafts(graph, removal.kept, frozenset(), seed, settings.max_answers)
    asks = {draft.ask for draft in draw_questions(every.drafts, rules, settings.max_questions, seed)}
    kept = [grounding for grounding in removal.kept if ask_of(grounding.head, seed) in asks]
    kept = kept[: part_of(settings.rate, len(kept))]
    certificates = certificates_of(kept, reverse)
    drafts = make_drafts(graph, kept, certificates.keys(), seed).drafts
    _draw_splits(drafts, rules, seed)
    figures: dict[str, Any] = {
        "groundings": len(sampled),
        "groundings dropped": {"head is a self-loop": len(sampled) - len(askable)} | removal.dropped,
        "questions with too many answers": every.too_many_answers,
        "questions not drawn": len(every.drafts) - len(asks),
        "removed triples merged into another's question": len(kept) - len(drafts),
    }
    return _finished(graph, rules, Made(drafts, certificates, figures), settings)


def released(
    graph: MemoryGraph, mined: Sequence[MinedRule], settings: BuildSettings, progress: MiningProgress
) -> Made:
    """The published procedure, see ``released``."""
    rules = [each.rule for each in mined]
    progress(_STAGE, 0, len(rules))
    sampled = first_groundings(graph, rules, settings.groundings)
    progress(_STAGE, len(rules), len(rules))
    rows = cross_filtered(sampled)
    certificates: dict[Fact, Grounding] = {}
    for grounding in rows:
        certificates.setdefault(grounding.head, grounding)
    every = released_drafts(graph, rows, certificates.keys(), settings.seed)
    short = [draft for draft in every if len(draft.answers) <= settings.max_answers]
    figures = {
        "groundings": len(sampled),
        "groundings dropped": {"head in a sampled body": len(sampled) - len(rows)},
        "questions with too many answers": len(every) - len(short),
    }
    return _finished(graph, rules, Made(short, certificates, figures), settings)


def _draw_splits(drafts: Sequence[Draft], rules: Sequence[Rule], seed: int) -> None:
    if not drafts:
        return
    width = len(str(len(drafts)))
    rows = [
        SplitRow(f"{number:0{width}}", draft_keys(draft), rules[draft.grounding.rule].type)
        for number, draft in enumerate(drafts, start=1)
    ]
    splits = split_rows(rows, seed)
    for row, draft in zip(rows, drafts, strict=True):
        draft.split = splits[row.id]


def _finished(graph: MemoryGraph, rules: Sequence[Rule], made: Made, settings: BuildSettings) -> Made:
    """With twin strata where they are marked, and balanced where that is asked for."""
    if settings.twins != "keep":
        inversions = inversions_of(graph, rules)
        for draft in made.drafts:
            draft.twin = twin_stratum(graph, draft.grounding.head, made.certificates.keys(), inversions)
    if settings.max_share is not None:
        parts = [[draft for draft in made.drafts if draft.split == split] for split in SPLITS]
        kept = {id(draft) for part in parts for draft in balanced(part, settings.max_share, settings.seed)}
        made.figures["questions beyond the cap of an answer"] = len(made.drafts) - len(kept)
        made.drafts = [draft for draft in made.drafts if id(draft) in kept]
    return made
