"""Every number of the paper and every gap it leaves, by name."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from pydantic import Field, field_validator

from kgqa_bench.contracts import PluginSettings
from kgqa_bench.graph.protocol import Direction

NegativeSimilarity = Literal["zero", "shift", "keep"]


class ExtractionSettings(PluginSettings):
    """Settings of the subgraph extraction: alpha, width and max_distance are the paper's, the others fill its gaps.

    Fixed, because every other reading contradicts the text or makes results depend on chance: parallel edges are
    paths of their own; a visited entity is neither a candidate again nor re-opened; the centre starts with the empty
    path; an entity's priority only ever falls, to the least Hop / Conf among the paths that passed Eq. 9 (kept or
    not); equal distances are visited in the order of entity ids; equal scores are ordered by the path's steps,
    each by (inverse, relation, entity), and neighbours of equal score by their best path.
    """

    alpha: float = Field(default=1.0, ge=0, description="Weight of the path confidence in Eq. 5 (section 5.1.3).")
    width: int = Field(
        default=3, ge=1, description="W, neighbours selected at each expansion (Eq. 8; section 5.1.3)."
    )
    max_distance: float = Field(
        default=3.0,
        gt=0,
        description="D_max (section 5.1.3). An entity at exactly this distance is still expanded, since the search "
        'stops when the distance "exceeds" it; a slightly smaller value gives the other reading. Together with the '
        "graph's confidences it sets the radius: at 3, one hop needs a confidence of 1/3, two 2/3, three 1.",
    )

    direction: Direction = Field(
        default="out",
        description="The edges that a path may follow: `out`, from head to tail as in Definition 4, `in` or `both`.",
    )
    confidence: Literal["stored", "one"] = Field(
        default="stored", description="`stored`, or `one` for the variant DoG-E, which takes every confidence as 1."
    )
    negative_similarity: NegativeSimilarity = Field(
        default="zero",
        description="With a negative cosine Eq. 5 prefers the path of lower confidence, against the sentence that "
        "follows it. `zero` takes a negative cosine as 0, `shift` maps every cosine to (1 + cosine) / 2, `keep` "
        "leaves it.",
    )
    limit_new: bool = Field(
        default=True,
        description="Whether an entity keeps at most K paths from the start. The text names K only where paths are "
        "merged, yet defines it as the most paths kept for an entity.",
    )
    keep_distant_paths: bool = Field(
        default=True,
        description="Whether a path with Hop / Conf above D_max may be kept at an entity that is near by another "
        "path, as the text has no such filter. If not, such a path takes no place among the K; it still counts in "
        "Eq. 8 and 9.",
    )


class DogSettings(ExtractionSettings):
    """Settings of DoG.

    The paper's are alpha, width, max_distance and those from levels to asymmetry; the others fill gaps it leaves.
    """

    levels: tuple[int, ...] = Field(
        default=(1, 3, 5),
        description="Θ, the expansion levels K in rising order (section 5.1.3); one level fixes K (Table 4), and the "
        "Decision-Making Agent may then only continue or stop.",
    )
    max_rounds: int = Field(default=3, ge=1, description="r_max, most debate rounds (section 5.1.3).")
    temperature: float = Field(default=0.5, ge=0, description="Of every agent (section 5.1.3).")
    max_tokens: int = Field(default=1024, ge=1, description="Most tokens of a reply, of every agent (section 5.1.3).")
    debate: bool = Field(
        default=True,
        description="False: one model answers from the subgraph of the first level (Table 3, w/o MAD).",
    )
    use_graph: bool = Field(
        default=True, description="False: both debaters argue from their own knowledge (Table 3, w/o UKG)."
    )
    asymmetry: bool = Field(
        default=True, description="False: the Challenger sees the subgraph too (Table 3, w/o Info Asymmetry)."
    )

    retrieval_options: bool = Field(
        default=False, description="Whether the question that paths are compared with includes the options."
    )
    verbalisation: Literal["sentence", "triple"] = Field(
        default="sentence",
        description="How a triple is written, always in stored direction: `sentence` (head, relation in words, tail) "
        "or `triple` (in parentheses, separated by commas).",
    )
    show_confidence: bool = Field(
        default=False,
        description="Whether a triple's confidence is written behind it; the paper never says so.",
    )
    evidence_limit: int | None = Field(
        default=None, ge=1, description="Most triples written into a prompt at a level; None for all."
    )
    evidence_order: Literal["score", "visited"] = Field(
        default="score",
        description="Which come first, and so which a limit keeps: those on the paths of highest `score`, or those "
        "on paths to the entity `visited` first.",
    )
    expansion: Literal["replace", "union"] = Field(
        default="replace",
        description="Whether the subgraph of the next level takes the place of the one before (`replace`, as Eq. 12 "
        "reads) or is added to it (`union`).",
    )
    at_last_level: Literal["continue", "stop"] = Field(
        default="continue", description="What a wish to expand means where there is no further level."
    )
    on_unread_decision: Literal["continue", "stop", "expand"] = Field(
        default="continue", description="What an unreadable reply of the Decision-Making Agent means."
    )
    on_unread_verdict: Literal["debaters", "fail"] = Field(
        default="debaters",
        description="What is answered where the Judge's reply is unreadable: `debaters` takes the answer that both "
        "closing statements give, else the Proponent's; `fail` answers nothing. Recorded in the trace.",
    )
    without_evidence: Literal["state", "omit"] = Field(
        default="state",
        description="What is shown where no topic entity is found or the subgraph is empty: `state` says that there "
        "is no evidence, `omit` leaves the facts out, as if the agent were not given any.",
    )
    structured_decision: bool = Field(
        default=False, description="Ask the Decision-Making Agent for JSON and give the server its schema."
    )

    @field_validator("levels")
    @classmethod
    def _rising(cls, levels: tuple[int, ...]) -> tuple[int, ...]:
        if not levels or levels[0] < 1 or any(low >= high for low, high in pairwise(levels)):
            raise ValueError("the levels must be whole numbers of at least 1, each larger than the one before")
        return levels
