"""Every number of the paper and every gap it leaves, by name."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from pydantic import Field, field_validator

from .equations import ExtractionSettings


class DogSettings(ExtractionSettings):
    """Settings of the debate, beside those of the subgraph extraction (``ExtractionSettings``).

    The paper's (sections 4.2, 5.1.3):

    Attributes:
        levels: Θ, the expansion levels K in rising order; one level fixes K (Table 4), and the Decision-Making
            Agent may then only continue or stop.
        max_rounds: r_max, most debate rounds.
        temperature: Of every agent.
        max_tokens: Most tokens of a reply, of every agent.
        debate: False: one model answers from the subgraph of the first level (Table 3, w/o MAD).
        use_graph: False: both debaters argue from their own knowledge (Table 3, w/o UKG).
        asymmetry: False: the Challenger sees the subgraph too (Table 3, w/o Info Asymmetry).

    Left open by the paper, and what is taken instead:

        retrieval_options: Whether the question that paths are compared with includes the options. Default: the
            question alone.
        verbalisation: How a triple is written: ``sentence`` (head, relation in words, tail) or ``triple``
            (in parentheses, separated by commas). Triples are always written in stored direction.
        show_confidence: Whether a triple's confidence is written behind it. The paper never says so: no.
        evidence_limit: Most triples written into a prompt at a level; None for all.
        evidence_order: Which come first, and so which a limit keeps: those on the paths of highest ``score``, or
            those on paths to the entity ``visited`` first.
        expansion: Whether the subgraph of the next level takes the place of the one before (``replace``, as
            Eq. 12 reads) or is added to it (``union``).
        at_last_level: What a wish to expand means where there is no further level.
        on_unread_decision: What an unreadable reply of the Decision-Making Agent means.
        on_unread_verdict: What is answered where the Judge's reply is unreadable: ``debaters`` takes the answer
            both closing statements give, else the Proponent's; ``fail`` answers nothing. Recorded in the trace.
        without_evidence: What is shown where no topic entity is found or the subgraph is empty: ``state`` says that
            there is no evidence, ``omit`` leaves the facts out, as if the agent were not given any.
        structured_decision: Ask the Decision-Making Agent for JSON and give the server its schema.
    """

    levels: tuple[int, ...] = (1, 3, 5)
    max_rounds: int = Field(default=3, ge=1)
    temperature: float = Field(default=0.5, ge=0)
    max_tokens: int = Field(default=1024, ge=1)
    debate: bool = True
    use_graph: bool = True
    asymmetry: bool = True

    retrieval_options: bool = False
    verbalisation: Literal["sentence", "triple"] = "sentence"
    show_confidence: bool = False
    evidence_limit: int | None = Field(default=None, ge=1)
    evidence_order: Literal["score", "visited"] = "score"
    expansion: Literal["replace", "union"] = "replace"
    at_last_level: Literal["continue", "stop"] = "continue"
    on_unread_decision: Literal["continue", "stop", "expand"] = "continue"
    on_unread_verdict: Literal["debaters", "fail"] = "debaters"
    without_evidence: Literal["state", "omit"] = "state"
    structured_decision: bool = False

    @field_validator("levels")
    @classmethod
    def _rising(cls, levels: tuple[int, ...]) -> tuple[int, ...]:
        if not levels or levels[0] < 1 or any(low >= high for low, high in pairwise(levels)):
            raise ValueError("the levels must be whole numbers of at least 1, each larger than the one before")
        return levels
