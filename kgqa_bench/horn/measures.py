"""The measures of a rule as text, as AMIE and this project write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from kgqa_bench.horn.rule import MinedRule, Rule

COUNTS = frozenset(
    {"head_coverage", "std_confidence", "pca_confidence", "positives", "body_size", "pca_body_size"}
    | {"functional_variable"}
)
LOG_HINT = "Rules and log of AMIE are told apart by known lines: leave out what the miner did not print."

_RATIO = re.compile(r"\d{1,3}(?:[.,](\d{1,30}))?(?:[eE](-\d{1,2}))?", re.ASCII)
_COUNT = re.compile(r"\d{1,15}(?:[.,]0+)?", re.ASCII)
_NINE_DIGITS = 5.0001e-10  # AMIE rounds to nine digits
_COARSEST = 5e-3
# AMIE 3 numbers its variables: -1 is ?a, -2 is ?b
_NUMBERED = {"-1": "?a", "-2": "?b"}


class Measured(ValueError):
    """Measures that cannot be; ``hint`` says what to do."""

    hint = "Measure the rules again, or give them without numbers."


def read_measures(rule: Rule, subject: str, object_: str, given: Mapping[str, str]) -> MinedRule:
    """The counts of a rule from the fields named in ``COUNTS``.

    Args:
        rule: The rule.
        subject: What its head subject is called in the text.
        object_: What its head object is called.
        given: Text of each field. Ratios may be rounded and have a decimal comma.

    Raises:
        Measured: A field is no such number, or two contradict each other.
    """
    support = _count("positives", given)
    body_size = _count("body_size", given)
    pca_body_size = _count("pca_body_size", given)
    coverage, rounding = _ratio("head_coverage", given)
    if not 0 < coverage <= 1:
        raise Measured(f"head_coverage {given['head_coverage']!r} is not in (0, 1].")
    head_size = round(support / coverage)
    if not 1 <= support <= min(pca_body_size, head_size) or pca_body_size > body_size:
        raise Measured(
            f"positives ({support}), pca_body_size ({pca_body_size}) and body_size ({body_size}) must rise from 1."
        )
    if abs(support / head_size - coverage) > _NINE_DIGITS and support / (head_size + 1) > coverage - rounding:
        raise Measured(f"head_coverage {given['head_coverage']} has too few digits to tell the size of the head.")
    _agree("head_coverage", coverage, rounding, support, head_size)
    _agree("std_confidence", *_ratio("std_confidence", given), support, body_size)
    _agree("pca_confidence", *_ratio("pca_confidence", given), support, pca_body_size)
    variable = _NUMBERED.get(given["functional_variable"], given["functional_variable"])
    sides: dict[str, Literal["subject", "object"]] = {subject: "subject", object_: "object"}
    if variable not in sides:
        raise Measured(f"the functional variable {given['functional_variable']!r} is not in the head.")
    return MinedRule(rule, support, head_size, body_size, pca_body_size, sides[variable])


def _count(name: str, given: Mapping[str, str]) -> int:
    if not _COUNT.fullmatch(given[name]):
        raise Measured(f"{name} {given[name]!r} is no count.")
    return int(re.split("[.,]", given[name])[0])


def _ratio(name: str, given: Mapping[str, str]) -> tuple[float, float]:
    """The number, and by how much it may be rounded."""
    match = _RATIO.fullmatch(given[name])
    if match is None:
        raise Measured(f"{name} {given[name]!r} is no number.")
    digits = len(match.group(1) or "") - int(match.group(2) or 0)
    # zeros at the end are not printed: 0.5 may have nine digits
    return float(given[name].replace(",", ".")), min(max(0.5 * 10.0**-digits, _NINE_DIGITS), _COARSEST)


def _agree(name: str, value: float, rounding: float, part: int, whole: int) -> None:
    if abs(part / whole - value) > rounding:
        raise Measured(f"{name} {value} is not {part} / {whole}.")
