"""Rule for rule and count for count what AMIE3 gives on real graphs."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from kgqa_bench.contracts import MiningSettings
from kgqa_bench.graph.open import open_graph
from kgqa_bench.horn.rule import Atom, MinedRule, Rule, canonical_rule
from kgqa_bench.rules.miner import NativeMiner

pytestmark = pytest.mark.data

FAMILY_FACTS = ("family", ("facts",), "family_facts_maxad3.tsv")
FAMILY_ALL = ("family", ("facts", "train", "valid", "test"), "family_all_maxad3.tsv")
FB15K237 = ("fb15k237", ("train",), "fb15k237_train_maxad3.tsv")


def _of_amie(path: Path) -> dict[Rule, MinedRule]:
    """AMIE's rules; its head variables are ?a and ?b."""
    rules = {}
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            body, head = row["rule"].split(" => ")
            variables = {"?a": 0, "?b": 1}
            words = body.split()
            atoms = []
            for subject, relation, object_ in zip(words[::3], words[1::3], words[2::3], strict=True):
                ends = [variables.setdefault(variable, len(variables)) for variable in (subject, object_)]
                atoms.append(Atom(relation, *ends))
            assert head.split()[::2] == ["?a", "?b"]
            rule = canonical_rule(head.split()[1], atoms)
            support = int(row["positives"])
            head_size = round(support / float(row["head_coverage"]))
            rules[rule] = MinedRule(
                rule, support, head_size, int(row["body_size"]), int(row["pca_body_size"]),
                "subject" if row["functional_variable"] == "?a" else "object",
            )  # fmt: skip
    return rules


def _ours(real_data: Path, name: str, parts: tuple[str, ...], **settings: float) -> dict[Rule, MinedRule]:
    graph = open_graph(name, real_data, {"parts": parts})
    return {mined.rule: mined for mined in NativeMiner(MiningSettings(**settings)).mine(graph)}


@pytest.mark.parametrize(("graph", "number"), [(FAMILY_FACTS, 145), (FAMILY_ALL, 273)])
def test_family(real_data: Path, graph: tuple[str, tuple[str, ...], str], number: int) -> None:
    name, parts, file = graph
    expected = _of_amie(real_data / "amie" / file)
    assert len(expected) == number
    assert _ours(real_data, name, parts) == expected


def test_fb15k237(real_data: Path) -> None:
    """AMIE's 1,175, and two that its queue dropped: both beat every output part, not every part."""
    name, parts, file = FB15K237
    expected = _of_amie(real_data / "amie" / file)
    assert len(expected) == 1175
    ours = _ours(real_data, name, parts)
    assert {rule: ours[rule] for rule in expected} == expected
    extra = [ours[rule] for rule in ours.keys() - expected.keys()]
    assert len(extra) == 2
    every = _ours(real_data, name, parts, min_std_confidence=0.0)
    for mined in extra:
        parts_of_it = list(mined.rule.closed_subrules())
        assert all(ours[part].pca_confidence < mined.pca_confidence for part in parts_of_it if part in ours)
        assert any(
            part in every and part not in ours and every[part].pca_confidence >= mined.pca_confidence
            for part in parts_of_it
        )


def test_counting_given_rules_gives_the_same_numbers(real_data: Path) -> None:
    name, parts, file = FB15K237
    expected = list(_of_amie(real_data / "amie" / file).values())
    graph = open_graph(name, real_data, {"parts": parts})
    assert NativeMiner().measure(graph, [mined.rule for mined in expected]) == expected
