"""Thrift's compact protocol, as far as it takes to look into Parquet's footer before pyarrow does:
that one ends the process where some of what it says is contradictory.

Source: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any

from serialpack.formats.shared.random_access import FileBytes
from serialpack.leb128 import read_varint, unzigzag

_MOST_LEVELS = 32
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = (
    *(1, 2, 3, 7, 8),
    *(9, 10, 11, 12, 13),
)
_INTEGERS = (4, 5, 6)
_SIZES = {_BYTE: 1, _DOUBLE: 8, _UUID: 16}


#: What it reads from: bytes, or an open file.
Bytes = bytes | FileBytes


class ThriftReader:
    """Reads structs of Thrift, each as a map of field numbers, from byte ``at`` on.

    ValueError where there is none.
    """

    def __init__(self, data: Bytes, at: int = 0) -> None:
        self._data, self._size = data, len(data)
        self.at = at

    def struct(self, depth: int = 0) -> dict[int, Any]:
        return {number: self.value(kind, depth) for number, kind in self.fields(depth)}

    def fields(self, depth: int = 0) -> Iterator[tuple[int, int]]:
        """The number and type of each field of a struct. Its value is to be read before the next
        one is asked for."""
        if depth > _MOST_LEVELS:
            raise ValueError("nested too deeply")
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            yield number, head & 15

    def items(self, kind: int) -> Iterator[int]:
        """The type of each item of a list, which is a field of type ``kind``; otherwise as
        ``fields``."""
        if kind not in (_LIST, _SET):
            raise ValueError(f"no list, but type {kind}")
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._varint()
        yield from repeat(head & 15, self._fits(count))

    def value(self, kind: int, depth: int = 0) -> Any:
        """The value of a field of type ``kind``."""
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind in _INTEGERS:
            return self._integer()
        if kind == _BINARY:
            return self._take(self._varint())
        if kind in _SIZES:
            return self._take(_SIZES[kind])
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            return [self._item(item, depth) for item in self.items(kind)]
        if kind == _MAP:
            count = self._fits(self._varint())
            kinds = self._byte() if count else 0
            return [
                (self._item(kinds >> 4, depth), self._item(kinds & 15, depth)) for _ in range(count)
            ]
        raise ValueError(f"a value of type {kind}")

    def _item(self, kind: int, depth: int) -> Any:
        if depth > _MOST_LEVELS:
            raise ValueError("nested too deeply")
        return self._byte() if kind in (_TRUE, _FALSE) else self.value(kind, depth + 1)

    def _byte(self) -> int:
        at = self.at
        if at >= self._size:
            raise ValueError("it ends too early")
        self.at = at + 1
        return self._data[at]

    def _take(self, size: int) -> bytes:
        end = self.at + size
        if end > self._size:
            raise ValueError("it ends too early")
        start, self.at = self.at, end
        return self._data[start:end]

    def _fits(self, count: int) -> int:
        """``count``; ValueError where fewer bytes than that are left."""
        if count > self._size - self.at:
            raise ValueError(f"{count} items are announced")
        return count

    def _varint(self) -> int:
        number, self.at = read_varint(self._data, self.at, self._size)
        return number

    def _integer(self) -> int:
        return unzigzag(self._varint())
