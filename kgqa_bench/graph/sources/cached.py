"""The readers of files and folders behind the cache: nothing is read twice with the same settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from kgqa_bench.graph.build import MergeRule
from kgqa_bench.graph.cache import file_hashes, load_cached
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.sources.cn15k import read_cn15k
from kgqa_bench.graph.sources.openke import read_openke
from kgqa_bench.graph.sources.parts import read_parts
from kgqa_bench.graph.sources.settings import WeightMapping
from kgqa_bench.graph.text_format import read_text


def cached_text(path: Path, merge: MergeRule) -> MemoryGraph:
    """``read_text``, cached."""
    key = {"source": "text", "merge": merge, "files": file_hashes([path])}
    return load_cached(key, lambda: read_text(path, merge=merge))


def cached_cn15k(folder: Path, mapping: Literal["ukge", "one"], merge: MergeRule) -> MemoryGraph:
    """``read_cn15k``, cached; with the mapping ``one`` all confidences are 1."""
    names = ("data.tsv", "entity_id.csv", "relation_id.csv", "relation_text.csv")
    key = {
        "source": "cn15k",
        "mapping": mapping,
        "merge": merge,
        "files": file_hashes(folder / name for name in names),
    }
    return load_cached(key, lambda: read_cn15k(folder, mapping=mapping, merge=merge))


def cached_conceptnet(path: Path, mapping: WeightMapping, merge: MergeRule) -> MemoryGraph:
    """``read_conceptnet``, cached."""
    from kgqa_bench.graph.sources.conceptnet import read_conceptnet

    key = {"source": "conceptnet", "mapping": mapping, "merge": merge, "files": file_hashes([path])}
    return load_cached(key, lambda: read_conceptnet(path, mapping=mapping, merge=merge))


def cached_openke(folder: Path, parts: Sequence[str], merge: MergeRule, source: str) -> MemoryGraph:
    """``read_openke``, cached."""
    names = ("entity2id", "relation2id", "entity2text", "relation2text", *(f"{part}2id" for part in parts))
    key = {
        "source": ["openke", source],
        "merge": merge,
        "parts": list(parts),
        "files": file_hashes(folder / f"{name}.txt" for name in names),
    }
    return load_cached(key, lambda: read_openke(folder, parts=parts, merge=merge, source=source))


def cached_parts(folder: Path, parts: Sequence[str], source: str, relation_form: str = "{}") -> MemoryGraph:
    """``read_parts``, cached."""
    key = {
        "source": ["parts", source, relation_form],
        "parts": list(parts),
        "files": file_hashes(folder / f"{part}.txt" for part in parts),
    }
    return load_cached(key, lambda: read_parts(folder, parts, source=source, relation_form=relation_form))
