"""Tables of names with ids, and of names with labels, as data sets publish them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgqa_bench.errors import DataError
from kgqa_bench.graph.table import Id, Name, is_utf8, read_table, rows

_ANY_ID = Id(2**31 - 1)


def read_name_table(path: Path, *, delimiter: str, skip: int) -> pa.Array:
    """Names in id order from a file of (name, id) rows. The ids must be 0 to n - 1, each once."""
    table = read_table(path, {"name": Name(), "id": _ANY_ID}, delimiter=delimiter, skip=skip)
    ids = table["id"].to_numpy()
    order = np.argsort(ids, kind="stable")
    wrong = np.flatnonzero(ids[order] != np.arange(len(ids)))
    if len(wrong):
        raise DataError(
            f"the ids of the {len(ids)} names are not 0 to {len(ids) - 1}, each once: there is "
            f"{'a second' if wrong[0] and ids[order][wrong[0]] == wrong[0] - 1 else 'no'} "
            f"{min(wrong[0], ids[order][wrong[0]])}.",
            file=path,
            hint="Download the file again.",
        )
    names = pc.take(table["name"], pa.array(order))
    return pa.concat_arrays(names.chunks)


def read_label_table(path: Path, *, delimiter: str) -> dict[str, str] | None:
    """Labels by name from a file of (name, label) rows, a label may hold the delimiter; None without the file."""
    if not path.is_file():
        return None
    labels = {}
    for number, (name, *rest) in rows(path, delimiter, quoted=False):
        if not rest:
            raise DataError("1 column instead of 2 (name, label).", file=path, line=number)
        label = delimiter.join(rest)
        if not is_utf8(label):
            raise DataError("not UTF-8.", file=path, line=number, hint="Convert the file to UTF-8.")
        labels[name] = label
    return labels
