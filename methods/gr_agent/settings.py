"""Every choice of the environment and of the agent, by name.

The paper gives the three actions and hop limits from 1 to 3. It gives no caps, no order, no prompts and no number
of steps: those are the project's defaults, and say so.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from kgqa_bench.contracts import PluginSettings
from kgqa_bench.graph.protocol import Direction

MOST_HOPS = 3
"""The largest hop limit of the paper (section 4.1)."""


class EnvironmentSettings(PluginSettings):
    """Settings of the environment: what the actions may return."""

    hop_limit: int = Field(default=MOST_HOPS, ge=1, le=MOST_HOPS, description="Largest hop limit of explore (paper).")
    inverse_steps: bool = Field(
        default=True,
        description="Whether a path may walk an edge backwards. The worked example of section 4.1 does not; the case "
        "studies of Table 4 need it.",
    )
    exclude_returns: bool = Field(
        default=True,
        description="Whether paths that come back to their start are left out, as in the worked example; Table 4's "
        "first case study needs them.",
    )
    max_relation_paths: int = Field(
        default=200, ge=1, description="Most relation paths that one explore returns, by score (our default)."
    )
    beam: int = Field(
        default=30,
        ge=1,
        description="Relation paths of each length that are made longer, by score (our default): what bounds the "
        "work at entities with many neighbours. Where there are fewer, exploration is complete.",
    )
    max_grounded: int = Field(
        default=20, ge=1, description="Most relation paths that one ground takes (our default)."
    )
    groundings_per_path: int = Field(
        default=20,
        ge=1,
        description="Most reasoning paths kept for each relation path: one to each end first, then by confidence "
        "(our default).",
    )
    grounding_pool: int = Field(
        default=100, ge=1, description="Groundings of a relation path that are looked at (our default)."
    )
    max_reasoning_paths: int = Field(
        default=1000, ge=1, description="Most reasoning paths in the state; no more are taken up then (our default)."
    )

    @property
    def direction(self) -> Direction:
        """The edges that a path may walk."""
        return "both" if self.inverse_steps else "out"


class GrAgentSettings(EnvironmentSettings):
    """Settings of the agent. Temperature, tokens, steps and what happens in doubt are ours: the paper names none."""

    protocol: Literal["auto", "tools", "json"] = Field(
        default="auto",
        description="How the model acts: by native `tools` calls, by one `json` object a reply, or `auto`: tools "
        "where the model takes them.",
    )
    offer: Literal["all", "open"] = Field(
        default="all",
        description="Actions that the schema of a `json` reply allows: `all`, or the `open` ones, which can be done "
        "in the present state and have not been done; the answers to an entity question are then entities of the "
        "chosen paths. Small models need `open` (ours). It holds where the server enforces schemas, and `auto` then "
        "means `json`.",
    )
    max_steps: int = Field(default=8, ge=1, description="Most actions, wrong ones included (our default).")
    max_unread: int = Field(
        default=2, ge=1, description="Replies in a row that name no action before the question is given up (ours)."
    )
    at_limit: Literal["abstain", "synthesize"] = Field(
        default="abstain",
        description="What happens to a model that never synthesizes: `abstain`, or `synthesize` for it from the "
        "reasoning paths of highest score. The trace tells either.",
    )
    memory_tokens: int = Field(
        default=2000,
        ge=100,
        description="About how many tokens of relation and reasoning paths a prompt shows, the highest scores first "
        "(our default); a token is taken as three characters.",
    )
    temperature: float = Field(default=0.0, ge=0, description="Of every call (our default).")
    max_tokens: int = Field(default=512, ge=1, description="Most tokens of a reply (our default).")

    @model_validator(mode="after")
    def _open_actions_need_a_schema(self) -> Self:
        if self.protocol == "tools" and self.offer == "open":
            raise ValueError("offer=open needs protocol=json: the schema of a reply is what holds a model to it")
        return self
