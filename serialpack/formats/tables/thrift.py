"""Thrift's compact protocol, as far as it takes to look into Parquet's footer before pyarrow does:
that one ends the process where some of what it says is contradictory.

Source: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

from typing import Any

from serialpack.binary import read_varint, unzigzag
from serialpack.formats.shared.filed import FileBytes

_MOST_LEVELS = 32
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = (
    *(1, 2, 3, 7, 8),
    *(9, 10, 11, 12, 13),
)
_INTEGERS = (4, 5, 6)
_SIZES = {_BYTE: 1, _DOUBLE: 8, _UUID: 16}


#: What it reads: bytes, or those of a file.
Bytes = bytes | FileBytes


class ThriftReader:
    """Reads structs from bytes, maps of field numbers: one from ``at`` on, and what follows it.

    ValueError where there is none.
    """

    def __init__(self, data: Bytes, at: int = 0) -> None:
        self._data = data
        self.at = at

    def struct(self, depth: int = 0) -> dict[int, Any]:
        if depth > _MOST_LEVELS:
            raise ValueError("nested too deeply")
        found: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            kind = head & 15
            found[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in _INTEGERS:
            return self._integer()
        if kind == _BINARY:
            return self._take(self._varint())
        if kind in _SIZES:
            return self._take(_SIZES[kind])
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._varint()
            return [self._item(head & 15, depth) for _ in range(self._fits(count))]
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
        return self._byte() if kind in (_TRUE, _FALSE) else self._value(kind, depth + 1)

    def _byte(self) -> int:
        return self._take(1)[0]

    def _take(self, size: int) -> bytes:
        end = self.at + size
        if end > len(self._data):
            raise ValueError("it ends too early")
        start, self.at = self.at, end
        return self._data[start:end]

    def _fits(self, count: int) -> int:
        """``count``, if there is a byte for each."""
        if count > len(self._data) - self.at:
            raise ValueError(f"{count} items are announced")
        return count

    def _varint(self) -> int:
        number, self.at = read_varint(self._data, self.at, len(self._data))
        return number

    def _integer(self) -> int:
        return unzigzag(self._varint())
