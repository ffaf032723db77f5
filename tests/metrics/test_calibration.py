"""Calibration errors against values worked out by hand and by other libraries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa_bench.metrics.calibration import ace, ace_statistic, ece, ece_statistic

CASES = {
    "no edge, no tie": (
        [0.05, 0.15, 0.35, 0.45, 0.62, 0.68, 0.77, 0.83, 0.91, 0.97], [0, 0, 1, 0, 1, 0, 1, 1, 1, 1], 5, 0.166, 0.122,
    ),
    "0, 1 and edges": ([0, 0, 0.5, 0.5, 0.95, 1, 1, 1], [0, 1, 1, 0, 1, 1, 0, 1], 10, 0.24375, 0.220833),
    "ties of a language model": (
        [0.8, 0.9, 0.9, 0.9, 0.9, 0.9, 0.95, 0.95, 1, 1], [0, 1, 1, 1, 0, 1, 1, 0, 1, 1], 5, 0.22, 0.3375,
    ),
    "1 is in the last bin": ([0.95, 1], [1, 0], 10, 0.475, 0.525),
    "one value": ([0.9] * 10, [1] * 6 + [0] * 4, 10, 0.3, 0.3),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_known_values(case: str) -> None:
    confidence, correct, bins, expected_ece, expected_ace = CASES[case]
    arrays = np.array(confidence, dtype=float), np.array(correct, dtype=float)
    assert ece(*arrays, bins) == pytest.approx(expected_ece, abs=1e-6)
    assert ace(*arrays, bins) == pytest.approx(expected_ace, abs=1e-6)


def test_multiples_of_a_tenth_lie_in_the_bin_above_their_edge() -> None:
    tenths = np.array([0.3, 0.6, 0.7])  # where np.linspace rounds the edge up
    within = np.array([0.35, 0.65, 0.75])  # bins of one right and one wrong answer: their gaps cancel
    confidence, correct = np.concatenate([tenths, within]), np.array([1.0, 1, 1, 0, 0, 0])
    expected = np.abs((tenths - 1) + within).sum() / 6
    assert ece(confidence, correct) == pytest.approx(expected)


answers = st.lists(
    st.tuples(st.one_of(st.sampled_from([0.0, 0.5, 0.9, 0.95, 1.0]), st.floats(0, 1)), st.sampled_from([0.0, 1.0])),
    min_size=1, max_size=40,
)  # fmt: skip


@given(answers, st.integers(1, 12), st.data())
def test_samples_by_weight_are_samples_written_out(
    rows: list[tuple[float, float]], bins: int, data: st.DataObject
) -> None:
    confidence, correct = (np.array(column) for column in zip(*rows, strict=True))
    draws = st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=60)
    samples = [np.array(data.draw(draws)) for _ in range(2)]
    weights = np.stack([np.bincount(sample, minlength=len(rows)) for sample in samples]).astype(float)
    for statistic, value in ((ece_statistic, ece), (ace_statistic, ace)):
        found = statistic(confidence, correct, bins)(weights)
        assert found == pytest.approx([value(confidence[each], correct[each], bins) for each in samples], abs=1e-9)


@given(answers, st.integers(2, 12))
def test_adaptive_bins_are_those_of_quantiles(rows: list[tuple[float, float]], bins: int) -> None:
    confidence, correct = (np.array(column) for column in zip(*rows, strict=True))
    edges = np.unique([0.0, *np.quantile(confidence, np.arange(1, bins) / bins), 1.0])
    number = np.clip(np.searchsorted(edges, confidence, side="right") - 1, 0, len(edges) - 2)
    gaps = [abs((confidence - correct)[number == each].mean()) for each in np.unique(number)]
    shifted = ace(confidence, correct, bins)
    if all(np.abs(confidence[:, None] - edges[None]).min(axis=0) > 1e-12):  # no value a rounding away from an edge
        assert shifted == pytest.approx(np.mean(gaps))
    assert 0 <= shifted <= 1


@pytest.mark.parametrize("confidence", [[95.0], [np.nan], [-0.1]])
def test_a_confidence_out_of_range_is_refused(confidence: list[float]) -> None:
    for measure in (ece, ace):
        with pytest.raises(ValueError, match="no number between 0 and 1"):
            measure(np.array(confidence), np.array([1.0]))


def test_no_answers_and_half_right_answers_are_refused() -> None:
    with pytest.raises(ValueError, match="undefined"):
        ece(np.array([]), np.array([]))
    with pytest.raises(ValueError, match="0 or 1"):
        ece(np.array([0.5]), np.array([0.5]))
