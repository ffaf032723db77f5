"""From a graph to a benchmark folder: rules, groundings, removal, questions, splits, words, files."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kgqa_bench import registry
from kgqa_bench.contracts import Builder, Miner, MiningProgress, MiningSettings
from kgqa_bench.errors import ConfigError, DataError, DataNotFoundError, suggest
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.horn.rule import MinedRule
from kgqa_bench.whole_folder import require_free

from .content import Content
from .degrees import Degree, Removal
from .kept_replies import forget_replies, keeping_replies, replies_folder
from .labels import entity_labels
from .making import Made, corrected, released
from .naming import Names, certificate_rows, question_rows
from .package import write_package
from .questions import draw_rules
from .settings import BuildSettings, default_settings
from .wording import question_text

_UNRECORDED = {"threads", "rules", "base_url", "questions"}  # paths and addresses, and what changes no result

# what makes the rules' questions, and so nothing of another set
_OF_RULES = (
    "rules", "mode", "groundings", "twins", "wording", "model", "base_url", "labels", "max_answers", "max_share",
)  # fmt: skip


class IncompleteBuilder(Builder):
    """incomplete: questions whose direct triple is removed from a graph while what implies it stays."""

    Settings = BuildSettings

    @classmethod
    def defaults(cls, kg: str) -> dict[str, Any]:
        """The paper's length and sizes for a graph."""
        return default_settings(kg)

    def check(self, out: Path) -> None:
        """See ``Builder.check``."""
        settings: BuildSettings = self.settings
        require_free(out)
        for path in (settings.rules, settings.questions):
            if path is not None and not path.exists():
                raise DataNotFoundError(f"There is no file {path}.", hint="Check the path.")
        if settings.questions is not None and settings.removal == "rules":
            raise ConfigError(
                "Questions of another set have no rules to remove triples by.",
                hint="Give --removal random or --removal shortest-path.",
            )
        if settings.questions is not None:
            useless = [name for name in _OF_RULES if name in settings.model_fields_set]
            if useless:
                option = f"--{useless[0].replace('_', '-')}"
                raise ConfigError(f"{option} does nothing to the questions of another set.", hint="Leave it out.")
        if settings.wording == "llm" and settings.model is None:
            raise ConfigError("--wording llm needs a model.", hint="Give --model NAME.")
        for option, value in (("--model", settings.model), ("--base-url", settings.base_url)):
            if settings.wording == "template" and value is not None:
                raise ConfigError(f"{option} words questions only with --wording llm.", hint="Give both, or neither.")
        if settings.mode == "released" and (settings.twins == "remove" or settings.rate < 1):
            raise ConfigError(
                "The released procedure removes no twins and has no rates.", hint="Leave --mode out, or the others."
            )

    def build(self, graph: Graph | None, out: Path, progress: MiningProgress | None = None) -> dict[str, Any]:
        """See ``Builder.build``."""
        self.check(out)
        settings: BuildSettings = self.settings
        if settings.questions is not None:
            return self._degraded(settings.questions, graph, out, progress)
        if not isinstance(graph, MemoryGraph):
            raise ConfigError("Benchmarks are built from graphs in memory.", hint="Download the graph.")
        if settings.removal == "rules":
            content = self.content(graph, progress or _silent)
            figures = write_package(content, out)
        else:  # the questions are the same at every rate
            whole = type(self)(settings.model_copy(update={"removal": "rules", "rate": 1.0}))
            content = whole.content(graph, progress or _silent)
            with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as folder:
                made = Path(folder) / "built"
                write_package(content, made)
                figures = self._degraded(made, None, out, progress)
        if settings.wording == "llm":
            forget_replies(self._replies(content.settings, content.source_fingerprint))
        return figures

    def verify(self, folder: Path) -> list[str]:
        """See ``Builder.verify``."""
        from .verify import verify_folder

        return verify_folder(folder)

    def content(self, graph: MemoryGraph, progress: MiningProgress) -> Content:
        """Everything that the folder will hold."""
        settings: BuildSettings = self.settings
        names = Names(graph, entity_labels(graph, settings.labels, settings.seed))  # refused before the mining
        every, source = self._rules(graph, progress)
        rules = draw_rules(every, settings.max_rules, settings.seed)
        make = released if settings.mode == "released" else corrected
        made = make(graph, rules, settings, progress)
        if not made.drafts:
            raise DataError(
                f"{len(rules)} rules give no question.",
                hint="Take lower thresholds, a higher --rate or --max-answers, or a larger graph.",
            )
        recorded = {**settings.model_dump(mode="json", exclude=_UNRECORDED), **source}
        words = self._words(names, made, recorded, progress)
        return Content(
            name=self._name,
            kg=settings.kg,
            source_fingerprint=graph.fingerprint,
            complete=names.triples(),
            removed=frozenset(map(names.fact, made.certificates)),
            rules=rules,
            questions=question_rows(made.drafts, rules, names),
            certificates=certificate_rows(made.certificates, rules, names),
            entities=names.entities(),
            relations=names.relation_labels(),
            settings=recorded,
            figures={"rules found": len(every), **made.figures, **words},
        )

    @property
    def _name(self) -> str:
        settings: BuildSettings = self.settings
        return settings.name or f"{settings.kg or 'graph'}-incomplete"

    def _rules(self, graph: MemoryGraph, progress: MiningProgress) -> tuple[list[MinedRule], dict[str, Any]]:
        """The rules with their counts on the graph, and where they are from."""
        settings: BuildSettings = self.settings
        options = settings.model_dump(include=set(MiningSettings.model_fields))
        miner: Miner = registry.create("miners", settings.miner, options)
        if settings.rules is None:
            rules = miner.mine(graph, progress)
            if not rules:
                raise DataError(
                    "The graph has no rule within the thresholds.",
                    hint="Lower --min-head-coverage, --min-std-confidence, --min-pca-confidence or --min-head-size.",
                )
            return rules, {}
        from kgqa_bench.horn.rule_files import read_rules

        rows = read_rules(settings.rules).rows
        known = {graph.relation_name(relation) for relation in range(graph.num_relations)}
        for row in rows:
            unknown = sorted({row.rule.head, *(atom.relation for atom in row.rule.body)} - known)
            if unknown:
                near = suggest(unknown[0], known)
                what = f"The graph has no relation {unknown[0]!r}, which is in the rule {row.rule}."
                hint = f"Did you mean {near[0]!r}?" if near else "Give the rules of this graph and part."
                raise DataError(what, file=settings.rules, line=row.line, hint=hint)
        rules = miner.measure(graph, [row.rule for row in rows])
        unsupported = [row for row, mined in zip(rows, rules, strict=True) if mined.support == 0]
        if unsupported:
            raise DataError(
                f"{len(unsupported)} rules have no support in this graph, first of all {unsupported[0].rule}.",
                file=settings.rules,
                line=unsupported[0].line,
                hint="Give the rules of this graph and part.",
            )
        return rules, {"rules_sha256": hashlib.sha256(settings.rules.read_bytes()).hexdigest()}

    def _replies(self, recorded: Mapping[str, Any], fingerprint: str) -> Path:
        """Where the replies to this build's requests are kept until it is done."""
        return replies_folder({**recorded, "graph": fingerprint, "base_url": self.settings.base_url})

    def _words(
        self, names: Names, made: Made, recorded: Mapping[str, Any], progress: MiningProgress
    ) -> dict[str, Any]:
        """Word every question; returns what was counted."""
        settings: BuildSettings = self.settings
        if settings.wording == "template" or settings.model is None:
            for draft in made.drafts:
                ask, graph = draft.ask, names.graph
                label = graph.relation_label(ask.relation)
                draft.text = question_text(names.relation(ask.relation), ask.asked, names.entity(ask.topic), label)
            return {}
        from kgqa_bench.storage import data_folder

        from .llm_wording import WordingRequest, open_gateway, word_questions

        requests = [
            WordingRequest(
                str(number),
                names.relation(draft.ask.relation),
                names.graph.relation_label(draft.ask.relation),
                draft.ask.asked,
                names.entity(draft.ask.topic),
                tuple(map(names.entity, draft.answers)),
            )
            for number, draft in enumerate(made.drafts)
        ]
        gateway = open_gateway(settings.model, settings.base_url, data_folder(), settings.seed)
        with keeping_replies(gateway, self._replies(recorded, names.graph.fingerprint)):
            worded, counts = word_questions(requests, gateway, progress)
        for draft, text in zip(made.drafts, worded, strict=True):
            draft.text, draft.wording = text
        return {"wording": counts}

    def _degraded(
        self, questions: Path, graph: Graph | None, out: Path, progress: MiningProgress | None
    ) -> dict[str, Any]:
        """A question set over a graph from which triples are removed without regard to rules."""
        from kgqa_bench.question_sets.find import find_set

        from .degraded_set import degrade_each, degrade_shared

        settings: BuildSettings = self.settings
        removal: Removal = "random" if settings.removal == "random" else "shortest-path"
        degree = Degree(removal=removal, rate=settings.rate, seed=settings.seed, hops=settings.hops)
        names = {"name": self._name, "kg": settings.kg}
        found = find_set(questions)
        first = next(iter(found.rows()), None)
        if first is not None and first.triples is not None:
            return degrade_each(found.rows, degree, out, **names, progress=progress)
        lies_beside = found.complete or found.seen
        shared = graph if graph is not None else lies_beside() if lies_beside is not None else None
        if not isinstance(shared, MemoryGraph):
            raise ConfigError(f"The questions in {questions} have no graph.", hint="Give --kg NAME or --kg FILE.")
        return degrade_shared(shared, found.rows, degree, out, **names, progress=progress)


def _silent(stage: str, done: int, total: int) -> None:
    """No progress is shown."""
