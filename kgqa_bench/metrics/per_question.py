"""The scores of a run question by question, as comparisons need them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kgqa_bench import registry
from kgqa_bench.contracts import Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class PerQuestion:
    """Scores of a run under one protocol.

    Attributes:
        ids: The questions, each once. Such as were never reached have made-up ids in brackets and score 0.
        clusters: What each belongs to: its topic entity where that is known, else itself.
        scores: By field of ``Scores`` that the protocol defines, one value a question: the mean over repeats; nan
            where a field is not defined for the question (Hits@Hard without a hard answer). Failures are 0.
        signature: Parts of the signature by name, without the metric.
        groups: The facts that tables are split by.
    """

    ids: tuple[str, ...]
    clusters: tuple[str, ...]
    scores: Mapping[str, NDArray[np.float64]]
    signature: Mapping[str, str]
    groups: tuple[Mapping[str, str], ...]


def per_question(run: Path, protocol: str) -> PerQuestion:
    """The scores of the run in ``run`` under the protocol called ``protocol``.

    Raises:
        RunDirectoryError: It is no run directory, or damaged.
        UnknownNameError: There is no such protocol.
    """
    from kgqa_bench.metrics.question_scores import score_questions
    from kgqa_bench.metrics.signature import protocol_parts
    from kgqa_bench.predictions.run_rows import read_run

    rule: Protocol = registry.create("protocols", protocol)
    predictions = read_run(run)
    found = score_questions(rule, predictions.rows[rule.unit])
    return PerQuestion(
        found.ids,
        tuple(facts.get("topic", question_id) for question_id, facts in zip(found.ids, found.groups, strict=True)),
        found.columns,
        protocol_parts(protocol_name(protocol), rule, predictions.parts),
        found.groups,
    )


def protocol_name(name: str) -> str:
    """A protocol's name as signatures and tables write it: in lower case with underscores."""
    return registry.normalise(name).replace("-", "_")
