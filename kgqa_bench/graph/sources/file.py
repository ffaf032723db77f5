"""Graph files and folders of the user's own: what kind a path is, and its reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from kgqa_bench import registry
from kgqa_bench.contracts import PluginSettings
from kgqa_bench.errors import ConfigError, DataNotFoundError
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.rdf_terms import RDF_SUFFIXES, is_rdf
from kgqa_bench.graph.sources.cached import (
    cached_built,
    cached_cn15k,
    cached_conceptnet,
    cached_neo4j,
    cached_openke,
    cached_parts,
    cached_rdf,
    cached_text,
)
from kgqa_bench.graph.sources.neo4j import exports_at
from kgqa_bench.graph.sources.settings import (
    BuiltSettings,
    Cn15kSettings,
    DumpSettings,
    FactsSettings,
    MergeSettings,
    Neo4jSettings,
    OpenkeSettings,
    RdfSettings,
)
from kgqa_bench.graph.text_format import DELIMITERS


class Kind(NamedTuple):
    """One kind of graph file or folder: what it is called, its settings, and how it is read with them."""

    title: str
    settings: type[PluginSettings]
    read: Callable[[Path, Any], MemoryGraph]


TEXT = Kind("delimited text", MergeSettings, lambda path, chosen: cached_text(path, chosen.merge))
DUMP = Kind(
    "ConceptNet's assertions",
    DumpSettings,
    lambda path, chosen: cached_conceptnet(path, chosen.mapping, chosen.merge),
)
CN15K = Kind(
    "a folder like CN15k's",
    Cn15kSettings,
    lambda path, chosen: cached_cn15k(path, chosen.mapping, chosen.merge),
)
OPENKE = Kind(
    "a folder in OpenKE's format",
    OpenkeSettings,
    lambda path, chosen: cached_openke(path, chosen.parts, chosen.merge, path.resolve().name),
)
NEO4J = Kind(
    "a CSV export of Neo4j",
    Neo4jSettings,
    lambda path, chosen: cached_neo4j(path, chosen, path.resolve().name),
)
RDF = Kind(
    "RDF",
    RdfSettings,
    lambda path, chosen: cached_rdf(path, chosen.confidence_predicate, chosen.literals, chosen.merge),
)
BUILT = Kind(
    "the graph of a built benchmark",
    BuiltSettings,
    lambda path, chosen: cached_built(path, chosen.view),
)
PARTS = Kind(
    "a folder of parts",
    FactsSettings,
    lambda path, chosen: cached_parts(path, chosen.parts, path.resolve().name),
)

# what a folder must hold to be of a kind
_FOLDERS: dict[tuple[str, ...], Kind] = {
    ("entity2id.txt", "relation2id.txt"): OPENKE,
    ("data.tsv", "entity_id.csv", "relation_id.csv"): CN15K,
    ("facts.txt",): PARTS,
    ("manifest.json", "triples.complete.tsv", "triples.incomplete.tsv"): BUILT,
}


def open_file(path: Path, settings: Mapping[str, Any]) -> MemoryGraph:
    """The graph in a file or folder, cached by the content of what is read.

    Files: delimited text (.tsv, .txt, .csv); RDF (.ttl, .nt, .nq, .trig, .rdf, .owl, .jsonld, .n3, .trix);
    ConceptNet's dump (conceptnet-assertions…); APOC's CSV export of Neo4j; each perhaps gzipped. Folders: OpenKE's
    format, CN15k's, parts (facts.txt …), a built benchmark, a CSV export of Neo4j.

    Args:
        path: The file or folder.
        settings: Those of its kind, see ``kgqa_bench.graph.sources.settings``.

    Raises:
        DataNotFoundError: There is nothing at ``path``.
        ConfigError: It is no kind of graph that is known, or a setting is wrong.
        DataError: It is malformed; names file and line.
    """
    if not path.exists():
        raise DataNotFoundError(f"There is no graph file {path}.", hint="Check the path.")
    kind = kind_of(path)
    chosen = registry.checked_settings(f"{path} ({kind.title})", kind.settings, dict(settings))
    return kind.read(path, chosen)


def kind_of(path: Path) -> Kind:
    """What kind of graph the file or folder ``path`` is. ConfigError where it is none that is known."""
    return _kind_of_folder(path) if path.is_dir() else _kind_of_file(path)


def _kind_of_file(path: Path) -> Kind:
    if path.name.startswith("conceptnet-assertions"):
        return DUMP
    suffix = Path(path.name.removesuffix(".gz")).suffix
    if suffix in DELIMITERS:
        return NEO4J if exports_at(path) else TEXT
    if is_rdf(path):
        return RDF
    raise ConfigError(
        f"{path}: unknown kind of graph file.",
        hint=f"Text is named {', '.join(DELIMITERS)}, RDF {', '.join(RDF_SUFFIXES)}, each perhaps with .gz.",
    )


def _kind_of_folder(folder: Path) -> Kind:
    for names, kind in _FOLDERS.items():
        if all((folder / name).is_file() for name in names):
            return kind
    if exports_at(folder):
        return NEO4J
    known = "; ".join(f"{kind.title} has {', '.join(names)}" for names, kind in _FOLDERS.items())
    raise ConfigError(f"{folder}: unknown kind of graph folder.", hint=f"{known}; an export of Neo4j has CSV files.")
