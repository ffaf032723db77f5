"""The native miner: closed Horn rules of up to four atoms with AMIE3's semantics (Lajus et al. 2020)."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import cast

import numba
import numpy as np

from kgqa_bench.contracts import Miner, MiningProgress, MiningSettings
from kgqa_bench.errors import UnknownNameError
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.horn.rule import MinedRule, Rule

from . import kernels_count, kernels_support, memory
from .index import SignedIndex, index_bytes
from .measure import count_bodies, measure_rules, mined
from .shapes import BODY, FIRST, HEAD, PCA, SECOND, SHAPE, SUPPORT, Table, body_of, empty_table, rule_of
from .skyline import select
from .thresholds import Thresholds

_log = logging.getLogger(__name__)


class NativeMiner(Miner):
    """Mines rules with AMIE3's semantics by compiled kernels, the same rules for any number of threads."""

    Settings = MiningSettings

    def mine(self, graph: Graph, progress: MiningProgress | None = None) -> list[MinedRule]:
        """All rules within the settings; see ``skyline`` for which those are."""
        settings = cast(MiningSettings, self.settings)
        report = progress or _silent
        _announce_compiling(report)
        memory.require(
            index_bytes(graph.num_entities, graph.num_relations, graph.num_triples), f"{graph.num_triples} triples"
        )
        index = SignedIndex.of(graph)
        heads = head_relations(index, settings)
        if settings.max_length < 4:
            return _rules(index, select(mine_short(index, heads, settings, report)))
        from .four import lay_out, mine_four

        doubles = lay_out(index, heads, settings)  # first: it may say that there is too little memory
        shorter = mine_short(index, heads, settings, report)
        longer = mine_four(doubles, heads, select(shorter), settings, report)
        return _rules(index, select(np.concatenate([shorter, longer])))

    def measure(self, graph: Graph, rules: Sequence[Rule]) -> list[MinedRule]:
        """The counts of given rules on a graph, in their order, whatever the settings' thresholds."""
        settings = cast(MiningSettings, self.settings)
        _announce_compiling(_silent)
        return measure_rules(SignedIndex.of(graph), rules, settings.threads)


def head_relations(index: SignedIndex, settings: MiningSettings) -> list[int]:
    """The relations whose rules are mined: those asked for, or all, that have enough facts; by id.

    Raises:
        UnknownNameError: A relation asked for is not in the graph.
    """
    ids = {name: number for number, name in enumerate(index.relation_names)}
    for name in settings.relations:
        if name not in ids:
            raise UnknownNameError("relation", name, ids)
    asked = {ids[name] for name in settings.relations} or set(ids.values())
    return sorted(head for head in asked if index.facts[head] >= settings.min_head_size)


def mine_short(index: SignedIndex, heads: Sequence[int], settings: MiningSettings, progress: MiningProgress) -> Table:
    """All candidates of two and three atoms that have the support, with their counts, by head."""
    thresholds = Thresholds.of(settings)
    least = {head: thresholds.least_support(int(index.facts[head])) for head in heads}
    threads = settings.threads or os.cpu_count() or 1
    longest = min(settings.max_length, 3)
    memory.require(_most_bytes(index, least, longest, threads), "with these settings")
    tables: dict[int, Table] = {}
    with ThreadPoolExecutor(threads) as pool:
        largest_first = sorted(heads, key=lambda head: (-index.facts[head], head))
        tasks = {
            pool.submit(_candidates, index, head, least[head], longest, thresholds): head for head in largest_first
        }
        try:
            for done, task in enumerate(as_completed(tasks), start=1):
                tables[tasks[task]] = task.result()
                progress("short rules", done, len(tasks))
        finally:
            for task in tasks:
                task.cancel()
    return np.concatenate([empty_table(), *(tables[head] for head in heads)])


def _candidates(index: SignedIndex, head: int, least: int, longest: int, thresholds: Thresholds) -> Table:
    """The candidates of one head."""
    bodies, supports = kernels_support.supported_bodies(index.arrays, index.num_relations, head, least, longest)
    table = empty_table(len(bodies))
    table[:, HEAD] = head
    table[:, (FIRST, SECOND, SHAPE)] = bodies
    table[:, SUPPORT] = supports
    most_pca, most_body = thresholds.most_pca(supports.tolist()), thresholds.most_body(supports.tolist())
    table[:, (PCA, BODY)] = count_bodies(index, table, most_pca, most_body)[:, 1:]
    return table


def _rules(index: SignedIndex, table: Table) -> list[MinedRule]:
    """Mined rules by (head relation, PCA confidence falling, text of the rule)."""
    rows = []
    for row in table.tolist():
        rule = rule_of(row[HEAD], body_of(row), index.relation_names)
        # an exact order of fractions: two that differ do so by more than 2^-127
        rows.append((rule.head, -((row[SUPPORT] << 127) // row[PCA]), str(rule), rule, row))
    rows.sort(key=lambda entry: entry[:3])
    return [mined(index, rule, row) for *_order, rule, row in rows]


def _most_bytes(index: SignedIndex, least: dict[int, int], longest: int, threads: int) -> int:
    """Most bytes that counting supports and pairs takes at one moment, beside the index and the candidates."""
    sizes = []
    for head, support in least.items() if longest == 3 else ():
        ends = [
            int(np.count_nonzero(kernels_support.facts_with(index.arrays, index.num_signed, signed) >= support))
            for signed in (head, index.inverse(head))
        ]
        sizes.append(8 * ends[0] * ends[1] + 4 * ends[0] ** 2)  # counters of pairs of relations
    edges = len(index.arrays.target)
    fixed = 16 * edges + 60 * index.num_entities  # edges at both ends of a head's facts; marks of entities
    return sum(sorted(sizes)[-threads:]) + threads * fixed


def _announce_compiling(progress: MiningProgress) -> None:
    kept = Path(numba.config.CACHE_DIR)
    if next(kept.rglob(f"{kernels_count.__name__.rpartition('.')[2]}*.nbi"), None) is None:
        _log.info("Compiling the miner's kernels (once; they are kept in %s).", kept)
        progress("compiling", 0, 1)


def _silent(stage: str, done: int, total: int) -> None:
    return None
