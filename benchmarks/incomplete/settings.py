"""What can be chosen in a build, and the paper's choices by graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from kgqa_bench.contracts import MiningSettings


class BuildSettings(MiningSettings):
    """How a benchmark over an incomplete graph is built.

    The thresholds, 30 groundings a rule and private labels are the GR-Agent paper's (arXiv 2512.14766, section 3 and
    appendix A.2).
    """

    name: str = Field(default="", description="The benchmark's name in its files. Default: KG-incomplete.")
    kg: str = Field(default="", description="The graph's name in its files.")
    mode: Literal["corrected", "released"] = Field(
        default="corrected",
        description="`corrected`: answers for the question's own direction, splits that share nothing, a certificate "
        "for every removed triple; `released`: the published procedure with its defects, for comparison.",
    )
    seed: int = Field(default=0, ge=0, description="Seeds every draw.")
    miner: str = Field(default="native", description="The miner of the rules, where no rule file is given.")
    rules: Path | None = Field(default=None, description="A file of rules to take instead of mining.")
    groundings: int = Field(default=30, ge=1, description="Most groundings taken of a rule.")
    max_rules: int | None = Field(
        default=None, ge=1, description="Most rules, drawn evenly over the rule types; none takes all."
    )
    max_questions: int | None = Field(
        default=None,
        ge=1,
        description="Most questions, drawn evenly over the rule types; none takes all, as the released mode does.",
    )
    max_answers: int = Field(default=100, ge=1, description="Questions with more answers are left out, and counted.")
    removal: Literal["rules", "random", "shortest-path"] = Field(
        default="rules",
        description="`rules`: triples that a rule restores; `random`: any triples; `shortest-path`: of each "
        "disrupted question one triple of a shortest path from topic to answer. The last two certify nothing.",
    )
    rate: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="Share that is removed, of the removable triples, of all triples, or of the questions disrupted; "
        "nested by seed: what a lower rate removes, a higher one does too.",
    )
    questions: Path | None = Field(
        default=None,
        description="With removal `random` or `shortest-path`: a question set; none for the rules' questions.",
    )
    hops: int = Field(
        default=4,
        ge=1,
        le=32,
        description="With removal `random` or `shortest-path`: a question is answerable if an answer is so near.",
    )
    twins: Literal["mark", "keep", "remove"] = Field(
        default="mark",
        description="Triples from the tail back to the head of a removed one. `mark`: they stay, and each question "
        "says whether there is one; `keep`: they stay; `remove`: they are removed too.",
    )
    wording: Literal["template", "llm"] = Field(
        default="template", description="Questions by sentences of the relation, or by a language model."
    )
    model: str | None = Field(default=None, description="The model that words questions; only with wording=llm.")
    base_url: str | None = Field(default=None, description="Address of that model's OpenAI-compatible server.")
    labels: Literal["private", "id", "text"] = Field(
        default="private",
        description="Names of the entities in all files. `private`: random integers; `id`: the graph's own names; "
        "`text`: the graph's labels.",
    )
    max_share: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="Most questions of a split with the same primary answer, as a share of it; none for no limit.",
    )


def default_settings(kg: str) -> dict[str, Any]:
    """The choices that depend on the graph: the paper's length and sizes (appendix A.2, Tables 1 and 2).

    At length 4 FB15k-237 has some 20,000 rules; the paper used 1,066 and made 5,449 questions.
    """
    if kg == "fb15k237":
        return {"max_length": 4, "max_rules": 1066, "max_questions": 5449}
    return {"max_length": 3}
