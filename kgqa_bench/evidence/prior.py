"""How far evidence can be trusted: the Beta-Bernoulli model (section 4.1, Eq. 4, and appendix A).

A candidate answer drawn from the n that evidence leads to is right with probability p. Before anything is seen, p is
Beta(alpha, beta); s of the n are right; so p is Beta(alpha + s, beta + n - s), and its mean is the confidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
else:
    Floats = Any

PriorName = Literal["jeffreys", "uniform", "mle"]


class BetaPrior(NamedTuple):
    """What is held of the share of right candidates before any is seen: Beta(``alpha``, ``beta``), both >= 0."""

    alpha: float
    beta: float

    def confidence(self, right: int, candidates: int) -> float:
        """The posterior mean (alpha + s) / (alpha + beta + n), Eq. 4.

        Args:
            right: s, how many of the candidates are right.
            candidates: n, how many distinct entities the evidence leads to.

        Raises:
            ValueError: Not 0 <= s <= n, or n is 0: evidence that leads to nothing has no confidence, though the
                formula gives the prior's mean for it.
        """
        if candidates < 1:
            raise ValueError("Evidence that leads to no candidate has no confidence.")
        if not 0 <= right <= candidates:
            raise ValueError(f"{right} of {candidates} candidates cannot be right.")
        return (self.alpha + right) / (self.alpha + self.beta + candidates)

    def curve(self, candidates: int) -> PriorCurve:
        """The confidence over all outcomes of ``candidates`` >= 1 draws (Fig. 6)."""
        import numpy as np

        if candidates < 1:
            raise ValueError("Evidence that leads to no candidate has no confidence.")
        right = np.arange(candidates + 1, dtype=np.float64)
        return PriorCurve(
            candidates, right / candidates, (self.alpha + right) / (self.alpha + self.beta + candidates)
        )


class PriorCurve(NamedTuple):
    """One curve of Fig. 6.

    Attributes:
        candidates: n.
        shares: s / n for s = 0 … n, the maximum-likelihood estimate; n + 1 values.
        confidences: The posterior mean for each.
    """

    candidates: int
    shares: Floats
    confidences: Floats


PRIORS: Mapping[PriorName, BetaPrior] = MappingProxyType(
    {"jeffreys": BetaPrior(0.5, 0.5), "uniform": BetaPrior(1.0, 1.0), "mle": BetaPrior(0.0, 0.0)}
)
"""Jeffreys' (the paper's choice), Bayes' uniform one, and Haldane's, whose mean is the maximum likelihood's."""


def prior_curves(prior: BetaPrior, sizes: Iterable[int] = (1, 2, 5, 10, 50, 100)) -> list[PriorCurve]:
    """Fig. 6 for one prior, (a) ``mle``, (b) ``jeffreys``, (c) ``uniform``; the paper does not print which n."""
    return [prior.curve(size) for size in sizes]
