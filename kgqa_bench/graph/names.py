"""Tables of strings: one block of UTF-8 bytes and where each string begins."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int32] | npt.NDArray[np.int64]
Scalar = TypeVar("Scalar", bound=np.generic)


class StringTable(Sequence[str]):
    """Strings by position, decoded when asked for.

    Attributes:
        blob: The UTF-8 bytes of all strings, one after the other.
        offsets: String ``i`` is ``blob[offsets[i]:offsets[i + 1]]``; one longer than the table.
    """

    __slots__ = ("blob", "offsets")

    def __init__(self, blob: Bytes, offsets: Offsets) -> None:
        self.blob = frozen(blob)
        self.offsets = frozen(offsets)

    @classmethod
    def of(cls, strings: Sequence[str]) -> Self:
        """A table of ``strings`` in their order."""
        encoded = [string.encode() for string in strings]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(string) for string in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), np.uint8), narrow(offsets))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        return self.encoded(index).decode()

    def __iter__(self) -> Iterator[str]:
        block = self.blob.tobytes()
        start = 0
        for end in self.offsets[1:].tolist():
            yield block[start:end].decode()
            start = end

    def encoded(self, index: int) -> bytes:
        """The UTF-8 bytes of string ``index``. IndexError where there is none."""
        if not 0 <= index < len(self):
            raise IndexError(f"no string {index}: the table has {len(self)}")
        return self.blob[self.offsets[index] : self.offsets[index + 1]].tobytes()

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self.blob.nbytes + self.offsets.nbytes)


class NameTable(StringTable):
    """Distinct strings sorted by their UTF-8 bytes: the id of a name is its position.

    So ids depend on the names alone, and a name is found by binary search on the bytes without a hash table.
    """

    __slots__ = ()

    def find(self, name: str) -> int | None:
        """The id of ``name``, or None."""
        try:
            wanted = name.encode()
        except UnicodeEncodeError:  # a lone surrogate is in no UTF-8 table
            return None
        position = bisect_left(range(len(self)), wanted, key=self.encoded)
        return position if position < len(self) and self.encoded(position) == wanted else None


def narrow(offsets: npt.NDArray[np.int64]) -> Offsets:
    """Offsets in four bytes each where they fit."""
    return offsets.astype(np.int32) if offsets[-1] <= np.iinfo(np.int32).max else offsets


def frozen(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """A view that cannot be written through."""
    view = array.view()
    view.flags.writeable = False
    return view
