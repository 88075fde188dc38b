"""Reads and writes records with the same keys as msgspec's structs, in half the time of dicts.

A struct has the keys of its type in the order of its type. Whether the records had just these, in
this order and none of them twice, is not seen while they are read; it shows in the text that is
written of what comes back, which must be that of the source. Where it is not, the caller goes the
long way, which says what is wrong.
"""

from __future__ import annotations

import functools
import operator
from itertools import chain
from typing import Any

from serialpack.conversion.sources.reading import SourceReader
from serialpack.conversion.targets.writers import TargetWriter
from serialpack.formats.base import SourceBlock, ValueFormat
from serialpack.formats.json.text import JsonText
from serialpack.serializers.base import FAILURES

#: With more keys than these in one map, they are data and no names.
_MOST_KEYS = 256


_SCALARS = {type(None), bool, int, float, str}

#: Containers within each other, at most.
_DEEPEST = 8


class NoCommonType(Exception):
    """Values that have no type of a fixed depth in common."""


class RecordStruct:
    """The type that records have in common. Its depth is fixed, so that nobody need look."""

    def __init__(self, record: Any) -> None:
        import msgspec

        self._lines = msgspec.json.Decoder(record)
        self._array = msgspec.json.Decoder(list[record])
        self._messages = msgspec.msgpack.Decoder(list[record])

    @classmethod
    def of(cls, records: list[Any]) -> RecordStruct | None:
        """The type of records that are maps with the same keys; None where they are not."""
        if not records or type(records[0]) is not dict:
            return None
        try:
            return cls(_type_of(records, 0))
        except (NoCommonType, *FAILURES):  # or a key that no field can be called
            return None

    def read(self, block: SourceBlock, fmt: JsonText) -> list[Any] | None:
        """The records of a block's text; None where they are not of this type."""
        return fmt.parse_as(block, self._array.decode, self._lines.decode_lines)

    def read_again(self, data: bytes, count: int, target: ValueFormat) -> list[Any]:
        """The records of what was written of them; ValueError where they are none."""
        if (one := target.as_list(data, count)) is not None:
            messages: list[Any] = self._messages.decode(one)
            return messages
        lines: list[Any] = self._lines.decode_lines(data)
        return lines

    def convert(
        self, block: SourceBlock, reader: SourceReader, writer: TargetWriter
    ) -> tuple[list[Any], bytes] | None:
        """The records of a block and what ``writer`` makes of them, proved; else None."""
        assert isinstance(reader.format, JsonText)
        records = self.read(block, reader.format)
        if records is None:
            return None
        try:
            data = writer.dump(records)
            again = self.read_again(data, len(records), writer.format)
            # As with dicts: the text tells apart what Python takes for one.
            if again != records or not reader.is_usual(block, again):
                return None
        except FAILURES:
            return None
        return records, data


def _type_of(values: list[Any], depth: int) -> Any:
    """A struct for maps with the same keys in the same order, else what the values are.

    NotAlike where that is of no fixed depth, or of too many kinds.
    """
    import msgspec

    kinds = set(map(type, values))
    if kinds <= _SCALARS:
        kinds = kinds or _SCALARS
        # A number may be written with a fraction here and without one there.
        both = {int, float} if kinds & {int, float} else set()
        return functools.reduce(operator.or_, sorted(kinds | both, key=str), None)
    if depth > _DEEPEST or len(kinds) > 1:
        raise NoCommonType
    if kinds == {list}:
        return list[_type_of([*chain.from_iterable(values)], depth + 1)]  # type: ignore[misc]
    if len({*map(tuple, values)}) != 1 or not 0 < len(values[0]) <= _MOST_KEYS:
        raise NoCommonType
    keys = list(values[0])
    names = [f"f{number}" for number in range(len(keys))]
    fields = [
        (name, _type_of([value[key] for value in values], depth + 1))
        for name, key in zip(names, keys, strict=True)
    ]
    return msgspec.defstruct(
        "Record",
        fields,
        rename=dict(zip(names, keys, strict=True)),
        forbid_unknown_fields=True,
        gc=False,
    )
