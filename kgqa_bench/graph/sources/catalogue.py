"""The graphs that are known by name."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from kgqa_bench.contracts import GraphSource
from kgqa_bench.errors import ConfigError, DataNotFoundError
from kgqa_bench.graph.sources.settings import (
    Cn15kSettings,
    ConceptNetSettings,
    FactsSettings,
    MedKGentSettings,
    SplitSettings,
)
from kgqa_bench.storage import DATA_VARIABLE

if TYPE_CHECKING:
    from kgqa_bench.graph.memory import MemoryGraph

_log = logging.getLogger(__name__)

_DUMP = "conceptnet-assertions-*.csv*"


class Cn15k(GraphSource):
    """CN15k: 15,000 entities of ConceptNet with confidences, as UKGE published them."""

    Settings = Cn15kSettings

    def load(self, data: Path | None) -> MemoryGraph:
        """Read DATA/cn15k."""
        from kgqa_bench.graph.sources.cached import cached_cn15k

        folder = require_folder(data, "cn15k", "data.tsv, entity_id.csv and relation_id.csv")
        return cached_cn15k(folder, self.settings.mapping, self.settings.merge)


class ConceptNet(GraphSource):
    """ConceptNet 5, its English part with confidences: the assertions dump, else CN15k, a part of it."""

    Settings = ConceptNetSettings

    def load(self, data: Path | None) -> MemoryGraph:
        """Read the dump in DATA/conceptnet; where there is none DATA/cn15k, which is logged and recorded.

        Raises:
            DataNotFoundError: Neither is there, or not the one asked for.
            ConfigError: Several dumps lie there, or CN15k is read with a mapping that it cannot have.
        """
        from kgqa_bench.graph.sources.cached import cached_conceptnet

        settings = self.settings
        dump = _dump(data) if settings.part != "cn15k" else None
        if dump is not None:
            return cached_conceptnet(dump, settings.mapping, settings.merge)
        part = data / "cn15k" if data is not None and settings.part != "dump" else None
        if part is not None and part.is_dir():
            return self._cn15k(part)
        what = {"auto": "neither the assertions dump nor CN15k", "dump": "no assertions dump", "cn15k": "no CN15k"}
        raise DataNotFoundError(
            f"ConceptNet is not at hand: there is {what[settings.part]} "
            f"in {f'the data folder {data}' if data is not None else 'a data folder, for none is given'}.",
            hint=f"Put {_DUMP} from conceptnet.io into FOLDER/conceptnet, or CN15k (data.tsv, entity_id.csv, "
            f"relation_id.csv) into FOLDER/cn15k, and give FOLDER by --data or {DATA_VARIABLE}; or give a graph "
            "of your own by --graph FILE.",
        )

    def _cn15k(self, folder: Path) -> MemoryGraph:
        from kgqa_bench.graph.memory import MemoryGraph
        from kgqa_bench.graph.sources.cached import cached_cn15k

        settings = self.settings
        if settings.mapping not in ("ukge", "one"):
            raise ConfigError(
                f"CN15k has confidences by the mapping ukge, not weights: {settings.mapping} cannot be had from it.",
                hint="Set graph.mapping to ukge or one, or use ConceptNet's assertions dump.",
            )
        graph = cached_cn15k(folder, settings.mapping, settings.merge)
        if settings.part == "cn15k":
            return graph
        note = "CN15k stands in for ConceptNet: a part of it with 15,000 entities, since the dump is not there"
        _log.warning("%s (looked for %s).", note, folder.parent / "conceptnet" / _DUMP)
        return MemoryGraph(graph.store, facts={"note": note})


def _dump(data: Path | None) -> Path | None:
    found = sorted((data / "conceptnet").glob(_DUMP)) if data is not None else []
    if len(found) > 1:
        raise ConfigError(
            f"There are several dumps of ConceptNet: {', '.join(map(str, found))}.",
            hint="Leave one there, or give one by --graph FILE.",
        )
    return found[0] if found else None


class MedKGent(GraphSource):
    """MedKGent: 156,275 biomedical entities in 12 relations with confidences (Zhang et al. 2025)."""

    Settings = MedKGentSettings

    def load(self, data: Path | None) -> MemoryGraph:
        """Read the CSV export in DATA/medkgent."""
        from kgqa_bench.graph.sources.cached import cached_neo4j
        from kgqa_bench.graph.sources.neo4j import exports_at

        folder = data / "medkgent" if data is not None else None
        if folder is None or not folder.is_dir() or not exports_at(folder):
            raise DataNotFoundError(
                f"MedKGent is not at hand: there is no CSV export of it in {folder or 'a data folder'}.",
                hint="Load its Neo4j dump (Hugging Face data set ShowerMaker/MedKGent-KG) into Neo4j 4.4 or later, "
                "export it as CSV (neo4j-admin, or CALL apoc.export.csv.all), put them into FOLDER/medkgent, and "
                f"give FOLDER by --data or {DATA_VARIABLE}. Or give another graph by --graph.",
            )
        return cached_neo4j(folder, self.settings, "medkgent")


class Family(GraphSource):
    """Family: 3,007 people in 12 family relations (Sadeghian et al. 2019); head is the RELATION of tail."""

    Settings = FactsSettings

    def load(self, data: Path | None) -> MemoryGraph:
        """Read DATA/family."""
        from kgqa_bench.graph.sources.cached import cached_parts

        folder = require_folder(data, "family", "facts.txt, train.txt, valid.txt and test.txt")
        return cached_parts(folder, self.settings.parts, "family", relation_form="is the {} of")


class Umls(GraphSource):
    """UMLS: 135 medical concepts in 46 relations, a small classic graph."""

    Settings = FactsSettings

    def load(self, data: Path | None) -> MemoryGraph:
        """Read DATA/umls."""
        from kgqa_bench.graph.sources.cached import cached_parts

        folder = require_folder(data, "umls", "facts.txt, train.txt, valid.txt and test.txt")
        return cached_parts(folder, self.settings.parts, "umls")


class Fb15k237(GraphSource):
    """FB15k-237: 14,541 entities of Freebase in 237 relations (Toutanova and Chen 2015)."""

    Settings = SplitSettings

    def load(self, data: Path | None) -> MemoryGraph:
        """Read DATA/fb15k237."""
        from kgqa_bench.graph.sources.cached import cached_openke

        folder = require_folder(data, "fb15k237", "entity2id.txt, relation2id.txt and train2id.txt")
        return cached_openke(folder, self.settings.parts, "max", "fb15k237")


class MetaQa(GraphSource):
    """MetaQA: films, people, years and genres in 9 relations (Zhang et al. 2018)."""

    def load(self, data: Path | None) -> MemoryGraph:
        """Read DATA/metaqa/kb.txt."""
        from kgqa_bench.graph.sources.cached import cached_metaqa

        return cached_metaqa(require_folder(data, "metaqa", "kb.txt") / "kb.txt")


def require_folder(data: Path | None, name: str, holds: str) -> Path:
    """The folder ``name`` of the data folder, else as fetched from its publisher (``sources.fetch``).

    Raises:
        DataNotFoundError: There is neither; says how to get one.
    """
    from kgqa_bench.graph.sources.fetch import PINNED, fetched_folder

    folder = data / name if data is not None else None
    if folder is not None and folder.is_dir():
        return folder
    remedy = f"Give --data FOLDER, or set {DATA_VARIABLE}, such that FOLDER/{name} holds {holds}."
    if name in PINNED:
        return fetched_folder(name, remedy if folder is None else f"There is no folder {folder}. {remedy}")
    if folder is None:
        raise DataNotFoundError(f"The graph {name} needs a data folder, and none is given.", hint=remedy)
    raise DataNotFoundError(f"There is no folder {folder}.", hint=remedy)
