"""What a plugin of each kind must offer. ``kgqa_bench.registry`` finds them, ``tests/contracts`` checks them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple
from typing import Protocol as Structural

from pydantic import BaseModel, ConfigDict, Field, field_validator

from kgqa_bench.domain import Answer, Gold, Item, Question, QuestionKind
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.llm.types import Client
from kgqa_bench.toolbox import Toolbox

if TYPE_CHECKING:
    from kgqa_bench.horn.rule import MinedRule, Rule


class PluginSettings(BaseModel):
    """Named, typed settings of a plugin, each with a ``description`` in its ``Field``.

    Unknown names are refused, and numbers that are not finite, or whole and of more than 64 bits: no JSON that is
    written holds them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*")
    @classmethod
    def _within_64_bits(cls, value: Any) -> Any:
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise ValueError("an integer of more than 64 bits")
        return value


class Plugin:
    """Common to all kinds: a one-line summary (the class docstring's first line) and settings."""

    Settings: ClassVar[type[PluginSettings]] = PluginSettings

    def __init__(self, settings: PluginSettings | None = None) -> None:
        self.settings: Any = settings if settings is not None else self.Settings()


class Method(Plugin):
    """A way to answer a question. Holds no state between questions, opens no file, reads no environment.

    Attributes:
        uses_model: It asks a language model.
        uses_graph: It works on a graph: the run must have one.
        uses_gold: It is an oracle: the toolbox gives it the gold answer, and its rows are marked so.
        kinds: The kinds of question it can answer.
        prompts: Its prompt templates by role; they are hashed into the run's signature.
    """

    uses_model: ClassVar[bool] = True
    uses_graph: ClassVar[bool] = False
    uses_gold: ClassVar[bool] = False
    kinds: ClassVar[frozenset[QuestionKind]] = frozenset({"choice", "boolean", "entities"})
    prompts: ClassVar[Mapping[str, str]] = {}

    def call_range(self) -> tuple[int, int] | None:
        """Fewest and most model calls a question may take, for estimates; None where it cannot be said."""
        return None

    @abstractmethod
    async def answer(self, question: Question, tools: Toolbox) -> Answer:
        """Answer one question. Model, graph and budget errors are left to the runner."""


class OwnGraphs(Structural):
    """The graphs of a benchmark in which every question has one of its own; holds and leads to no gold answer."""

    @property
    def fingerprint(self) -> str:
        """Hash over the graphs of all questions of the split, asked or not."""
        ...

    @property
    def facts(self) -> Mapping[str, Any]:
        """JSON-able: how many questions, triples, questions without a triple."""
        ...

    def load(self, question_id: str) -> Graph:
        """The graph of a question, built anew: nothing is kept. May be called from any thread."""
        ...


@dataclass(frozen=True, slots=True)
class BenchmarkData:
    """A loaded benchmark.

    Attributes:
        items: The evaluated questions with their gold answers, in a fixed order; ids are unique.
        exemplars: Loads solved questions outside ``items`` in a seeded order; None where there are none.
        provenance: Where the rows came from: source, revision, split, sampling rule, hash of the id list.
        graphs: The graph of each question, where there is no graph for all of them.
        unasked: By reason, questions that belong to the split and cannot be asked. Where the whole split is asked
            they count as wrong, so that the official count is the denominator whatever a file holds.
    """

    items: tuple[Item, ...]
    exemplars: Callable[[], Sequence[Item]] | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    graphs: OwnGraphs | None = None
    unasked: Mapping[str, int] = field(default_factory=dict)


class Benchmark(Plugin):
    """A set of questions with gold answers.

    Attributes:
        graph: Name of the graph plugin it implies, or None.
    """

    graph: ClassVar[str | None] = None

    @property
    def implied_graph(self) -> str | None:
        """The graph that it is asked over as it is set up: ``graph`` unless a benchmark knows better."""
        return self.graph

    @abstractmethod
    def load(self, data: Path | None, seed: int) -> BenchmarkData:
        """Load the questions.

        Args:
            data: The user's data folder (--data, KGQA_BENCH_DATA), tried before the hub; None for none.
            seed: Seeds every draw.

        Raises:
            DataNotFoundError: Naming every way to get the data.
            DataError: Naming file and line of a malformed row.
        """


class GraphSource(Plugin):
    """A knowledge graph by name."""

    @abstractmethod
    def load(self, data: Path | None) -> Graph:
        """Load the graph. Errors as for ``Benchmark.load``."""


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How to reach a model.

    Attributes:
        base_url: An OpenAI-compatible server's address, where one is given.
        data: The user's data folder, where weights may lie.
        concurrency: Most requests in flight.
        timeout: Seconds before a request is given up.
    """

    base_url: str | None = None
    data: Path | None = None
    concurrency: int = 8
    timeout: float = 120.0


class ModelSource(Plugin):
    """A family of models. ``local/smollm2`` is opened by the source ``local`` with the name ``smollm2``.

    Attributes:
        concurrency: Questions worked on at once where the run does not say: 1 for a model that answers one call
            after the other, so that a question's seconds are its own.
        timeout: Seconds before a request is given up, where the run does not say.
    """

    concurrency: ClassVar[int] = 8
    timeout: ClassVar[float] = 120.0

    @abstractmethod
    def open(self, name: str, options: ModelOptions) -> Client:
        """A client for the model called ``name``. Loads weights no earlier than the first call, or with progress."""


class Interval(NamedTuple):
    """A value with its 95 % interval over ``n`` questions."""

    value: float
    low: float
    high: float
    n: int


class Metric(Plugin):
    """A score of one answer and its mean over questions.

    Attributes:
        name: The metric's name in tables and signatures.
        matching: Name of the rule by which an answer matches the gold.
    """

    name: ClassVar[str]
    matching: ClassVar[str]

    @abstractmethod
    def score(self, gold: Gold, answer: Answer) -> float:
        """The score of one answer."""

    @abstractmethod
    def interval(self, scores: Sequence[float]) -> Interval:
        """Mean and interval over questions, failures included. ValueError where there is no score."""


class ScoreRow(NamedTuple):
    """One question with what was answered and what is right: all that a protocol sees.

    Attributes:
        id: The question.
        predictions: Ids, or lines of text, best first; repetitions and empty texts as they came.
        gold: All right answers, as they came.
        hard: Those of them whose direct triple the method did not see.
        primary: The hard answer that the question was made for.
        raw: The output as one text, where the source gives that and no list; ``predictions`` is then its lines.
        answered: False where no answer came or none could be read: scores 0 under every protocol.
        question: Its wording, where it is known: one published rule looks at it.
        groups: What tables are split by, such as ``rule_type``, ``rule_subtype``, ``hops`` and ``topic``.
    """

    id: str
    predictions: tuple[str, ...]
    gold: tuple[str, ...]
    hard: tuple[str, ...] = ()
    primary: str | None = None
    raw: str | None = None
    answered: bool = True
    question: str = ""
    groups: Mapping[str, str] = MappingProxyType({})


class Scores(NamedTuple):
    """The scores of one question. None stands for what a protocol does not define, or not for this question.

    Attributes:
        hits_any: 1 where a right answer is among the predictions (Hits@Any, "Hit").
        hits_at_1: 1 where the first prediction is right (Hits@1, "Hit1").
        precision: Right ones among the predictions.
        recall: Found ones among the right answers.
        f1: Harmonic mean of the two.
        exact_match: 1 where the predictions are the right answers, no more and no less.
        hits_hard_primary: 1 where the primary hard answer is among the predictions (Hits@Hard).
        hits_hard_any: 1 where any of the hard answers is.
    """

    hits_any: float | None = None
    hits_at_1: float | None = None
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    exact_match: float | None = None
    hits_hard_primary: float | None = None
    hits_hard_any: float | None = None

    @property
    def accuracy(self) -> float | None:
        """What RoG and its followers call accuracy: the recall."""
        return self.recall


class Protocol(Plugin):
    """A published or own rule by which predictions are matched with gold answers and scored, one question at a time.

    Attributes:
        unit: ``ids`` where predictions are compared as entity ids, ``text`` where as words.
        version: Changes whenever any score may change; it is part of the signature.
    """

    unit: ClassVar[Literal["ids", "text"]]
    version: ClassVar[str]

    @abstractmethod
    def score(self, row: ScoreRow) -> Scores:
        """The scores of one answered question. The same fields are None for all rows with the same gold fields."""

    def score_all(self, rows: Sequence[ScoreRow]) -> list[Scores]:
        """The scores of many answered questions; a protocol may know a faster way to the same."""
        return [self.score(row) for row in rows]


class MiningSettings(PluginSettings):
    """Which rules are mined. The defaults are the GR-Agent paper's (arXiv 2512.14766, section 5 and appendix A)."""

    min_head_coverage: float = Field(default=0.1, gt=0, le=1, description="Least head coverage of a rule.")
    min_std_confidence: float = Field(default=0.3, ge=0, le=1, description="Least standard confidence of a rule.")
    min_pca_confidence: float = Field(default=0.4, ge=0, le=1, description="Least PCA confidence of a rule.")
    max_length: int = Field(default=3, ge=2, le=4, description="Most atoms of a rule, its head included.")
    min_head_size: int = Field(default=100, ge=1, description="Fewest facts of a head relation.")
    relations: tuple[str, ...] = Field(
        default=(), description="Head relations; empty for all. Bodies use all relations either way."
    )
    threads: int = Field(default=0, ge=0, description="Threads; 0 for all cores. The rules do not depend on it.")


class MiningProgress(Structural):
    """Told how far a miner is."""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """``done`` of ``total`` parts of the stage (one word or two) are finished."""
        ...


class Miner(Plugin):
    """Mines closed Horn rules from a graph. Its Settings are MiningSettings or a subclass."""

    Settings: ClassVar[type[PluginSettings]] = MiningSettings

    @abstractmethod
    def mine(self, graph: Graph, progress: MiningProgress | None = None) -> list[MinedRule]:
        """All rules within the settings, by (head relation, PCA confidence falling, text of the rule).

        Raises:
            UnknownNameError: A head relation asked for is not in the graph.
            ConfigError: The graph is too large for the memory there is; said before anything is mined.
        """

    @abstractmethod
    def measure(self, graph: Graph, rules: Sequence[Rule]) -> list[MinedRule]:
        """The counts of given rules on a graph, in their order, whatever the settings' thresholds.

        Raises:
            UnknownNameError: A rule has a relation that the graph has not.
        """


class Builder(Plugin):
    """Makes a benchmark folder from a graph."""

    @classmethod
    def defaults(cls, kg: str) -> dict[str, Any]:
        """The settings that stand for the graph called ``kg`` where the user gives none."""
        return {}

    @abstractmethod
    def check(self, out: Path) -> None:
        """Refuse, before a large graph is read, what ``build`` would refuse after.

        Raises:
            ConfigError: Settings contradict one another, or ``out`` is in use.
            DataNotFoundError: A file that a setting names is not there.
        """

    @abstractmethod
    def build(self, graph: Graph | None, out: Path, progress: MiningProgress | None = None) -> Mapping[str, Any]:
        """Write the folder ``out``, whole or not at all, and return the figures of its manifest.

        Args:
            graph: The complete graph; None where the settings name questions that have one.
            out: The folder to make.
            progress: Told how far it is.

        Raises:
            ConfigError: A setting is wrong, or ``out`` is in use.
            DataError: Nothing can be built from this graph.
        """

    @abstractmethod
    def verify(self, folder: Path) -> list[str]:
        """Everything that is wrong with a built folder, from its files alone; empty where nothing is."""
