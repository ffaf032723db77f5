"""The graphs known by name, read from the user's data folder and kept in the cache once built."""

from __future__ import annotations

from pathlib import Path

from kgqa_bench.contracts import GraphSource, PluginSettings
from kgqa_bench.errors import DataNotFoundError
from kgqa_bench.graph.build import MergeRule
from kgqa_bench.graph.cache import file_hashes, load_cached
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.storage import DATA_VARIABLE


class MergeSettings(PluginSettings):
    """Settings of a graph with confidences.

    Attributes:
        merge: Confidence of a triple that stands in several rows.
    """

    merge: MergeRule = "max"


class Cn15k(GraphSource):
    """CN15k: 15,000 entities of ConceptNet with confidences, as UKGE published them."""

    Settings = MergeSettings

    def load(self, data: Path | None) -> MemoryGraph:
        """Read DATA/cn15k."""
        from kgqa_bench.graph.sources.cn15k import read_cn15k

        folder = require_folder(data, "cn15k", "data.tsv, entity_id.csv and relation_id.csv")
        key = {"source": "cn15k", "merge": self.settings.merge, "files": file_hashes(sorted(folder.iterdir()))}
        return load_cached(key, lambda: read_cn15k(folder, merge=self.settings.merge))


def require_folder(data: Path | None, name: str, holds: str) -> Path:
    """The folder ``name`` of the data folder. DataNotFoundError says how to get one."""
    remedy = f"Give --data FOLDER, or set {DATA_VARIABLE}, such that FOLDER/{name} holds {holds}."
    if data is None:
        raise DataNotFoundError(f"The graph {name} needs a data folder, and none is given.", hint=remedy)
    folder = data / name
    if not folder.is_dir():
        raise DataNotFoundError(f"There is no folder {folder}.", hint=remedy)
    return folder
