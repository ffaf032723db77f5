"""What the text tools look like from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from kgqa_bench.domain import Question

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]
else:  # for annotations only
    Vectors = Any


class Embedder(Protocol):
    """Sentences to unit vectors."""

    name: str
    dimension: int

    def encode(self, texts: Sequence[str]) -> Vectors:
        """L2-normalised vectors, shape (len(texts), dimension), float32. Thread-safe; repeated texts are cheap."""
        ...


class Linker(Protocol):
    """Questions to topic entities."""

    def link(self, question: Question) -> tuple[int, ...]:
        """Entity ids in the graph, in order of mention; empty where nothing is found."""
        ...
