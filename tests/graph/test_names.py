from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa_bench.graph.names import NameTable, StringTable

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)


@given(st.sets(TEXT, min_size=1))
def test_every_name_is_found_at_its_place(names: set[str]) -> None:
    ordered = sorted(names, key=str.encode)
    table = StringTable.of(ordered)
    names_table = NameTable(table.blob, table.offsets)
    assert list(names_table) == ordered
    assert [names_table.find(name) for name in ordered] == list(range(len(ordered)))
    assert all(names_table.find(name + "x") is None for name in names if name + "x" not in names)


def test_order_is_that_of_the_bytes() -> None:
    table = StringTable.of(["10", "9", "a", "é", "\U0001f600"])
    assert NameTable(table.blob, table.offsets).find("\U0001f600") == 4
    assert table[1:3] == ["9", "a"]


def test_a_lone_surrogate_is_no_name() -> None:
    table = StringTable.of(["a"])
    assert NameTable(table.blob, table.offsets).find("\ud800") is None


@pytest.mark.parametrize("position", [-1, 2])
def test_a_position_outside_is_an_error(position: int) -> None:
    with pytest.raises(IndexError, match="2"):
        StringTable.of(["a", "b"])[position]


def test_tables_cannot_be_written() -> None:
    table = StringTable.of(["a", "b"])
    with pytest.raises(ValueError, match="read-only"):
        table.blob[0] = np.uint8(0)
    assert table.nbytes == 2 + 3 * 4
