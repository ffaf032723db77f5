"""The readers of files and folders behind the cache: nothing is read twice with the same settings."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from kgqa_bench.graph.cache import file_hashes, load_cached
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.merging import MergeRule
from kgqa_bench.graph.sources.built import COMPLETE, RELATIONS, View, read_built
from kgqa_bench.graph.sources.cn15k import read_cn15k
from kgqa_bench.graph.sources.metaqa import read_metaqa_graph
from kgqa_bench.graph.sources.openke import read_openke
from kgqa_bench.graph.sources.parts import read_parts
from kgqa_bench.graph.sources.settings import Neo4jSettings, WeightMapping
from kgqa_bench.graph.text_format import read_text
from kgqa_bench.storage import atomic_write, cache_folder, locked

_log = logging.getLogger(__name__)


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


def cached_neo4j(path: Path, settings: Neo4jSettings, source: str) -> MemoryGraph:
    """``read_neo4j`` of a folder or a single file, cached; the aliases are read and cached when first asked for."""
    from kgqa_bench.graph.sources.aliased import AliasedGraph
    from kgqa_bench.graph.sources.neo4j import exports_at, read_aliases, read_neo4j

    exports = exports_at(path)
    files = file_hashes(export.path for export in exports)
    key = {
        "source": ["neo4j", source],
        "merge": settings.merge,
        "undirected": sorted(settings.undirected),
        "confidence": settings.confidence,
        "files": files,
    }
    graph = load_cached(
        key,
        lambda: read_neo4j(
            exports,
            undirected=settings.undirected,
            confidence=settings.confidence,
            merge=settings.merge,
            source=source,
        ),
    )
    if not any(settings.aliases in export.columns for export in exports):
        return graph
    aliases_key = {"source": "neo4j aliases", "property": settings.aliases, "files": files}
    return AliasedGraph(
        graph.store,
        lambda: cached_json(aliases_key, lambda: read_aliases(exports, settings.aliases)),
        {"aliases": settings.aliases},
    )


def cached_json(key: Mapping[str, Any], build: Callable[[], Any]) -> Any:
    """What ``build`` makes, JSON-able, from the cache if it was built before with the same key."""
    import orjson

    identity = json.dumps(key, sort_keys=True)
    path = cache_folder("graphs") / f"{hashlib.sha256(identity.encode()).hexdigest()[:32]}.json"
    with locked(path):
        if path.is_file():
            try:
                return orjson.loads(path.read_bytes())
            except orjson.JSONDecodeError as problem:
                _log.warning("%s is damaged and built anew: %s", path, problem)
        value = build()
        with atomic_write(path) as stream:
            stream.write(orjson.dumps(value))
        return value


def cached_rdf(
    path: Path, confidence_predicate: str | None, literals: Literal["skip", "keep"], merge: MergeRule
) -> MemoryGraph:
    """``read_rdf``, cached."""
    from kgqa_bench.graph.rdf import read_rdf

    key = {
        "source": "rdf",
        "confidence_predicate": confidence_predicate,
        "literals": literals,
        "merge": merge,
        "files": file_hashes([path]),
    }
    return load_cached(
        key, lambda: read_rdf(path, confidence_predicate=confidence_predicate, literals=literals, merge=merge)
    )


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


def cached_built(folder: Path, view: View) -> MemoryGraph:
    """``read_built``, cached."""
    names = (COMPLETE, f"triples.{view}.tsv", RELATIONS)
    key = {
        "source": ["built", folder.resolve().name],
        "view": view,
        "files": file_hashes(folder / name for name in names),
    }
    return load_cached(key, lambda: read_built(folder, view))


def cached_parts(folder: Path, parts: Sequence[str], source: str, relation_form: str = "{}") -> MemoryGraph:
    """``read_parts``, cached."""
    key = {
        "source": ["parts", source, relation_form],
        "parts": list(parts),
        "files": file_hashes(folder / f"{part}.txt" for part in parts),
    }
    return load_cached(key, lambda: read_parts(folder, parts, source=source, relation_form=relation_form))


def cached_metaqa(path: Path) -> MemoryGraph:
    """``read_metaqa_graph``, cached."""
    return load_cached({"source": "metaqa", "files": file_hashes([path])}, lambda: read_metaqa_graph(path))
