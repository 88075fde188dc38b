"""objects: MessagePack with extensions for what Python has beside it; safe to read."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from serialpack.formats.python.buffers import (
    MARK,
    Scattered,
    frame_layout,
    is_framed,
    take_frame,
    whole_frame,
)
from serialpack.serializers.base import FAILURES, ObjectOutline, RecordSerializer
from serialpack.serializers.objects._outline import outline
from serialpack.serializers.objects.arrays import ARRAY, array_over
from serialpack.serializers.objects.passes import written
from serialpack.serializers.objects.read import load_over
from serialpack.serializers.refused import with_reason
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import TEXT_KINDS, Difference

#: An array of 256 bytes or more in a message: its extension, and the length of its items; and the
#: type behind these, of numbers.
_ARRAY = re.compile(rb"%c\x95(?:\xc5(..)|\xc6(....))" % ARRAY, re.DOTALL)
_TYPE = re.compile(rb"[\xa5\xa6]'[<>][a-zA-Z](2|4|8|16)'")


class ObjectsSerializer(RecordSerializer):
    """Plain values, dataclasses, named tuples and enums of them, arrays; reading runs no code.

    The large buffers of arrays stand beside the message, as they do for pickle.
    """

    library = "msgpack"
    distribution = "msgpack"
    compiled = True
    portable = False
    stored_format = "object"
    messages = "msgpack"
    holds_objects = True
    cannot = TEXT_KINDS | {
        *("depth", "surrogates"),
        *("tag", "function", "cycle", "value"),
    }
    partly = frozenset({"number-array", "object"})
    about = (
        "Python objects of plain values and arrays, as MessagePack with extensions; safe to read"
    )

    def _dump(self, records: list[Any]) -> bytes:
        return written(records).data

    def dump_looked_at(self, records: list[Any]) -> list[Buffer]:
        return written(records, beside=True).pieces()

    def dump_otherwise(self, records: list[Any], *, whole: bool) -> list[Buffer] | None:
        try:
            found = written(records, beside=whole, bytearrays=True)
        except FAILURES:
            return None
        return found.pieces() if found.met_bytearrays else None

    def dump_by_columns(self, obj: Any) -> list[Buffer] | None:
        """As ``dump_object``, of a long object that may have columns; None where it has none."""
        try:
            found = written([obj], beside=True, columns=True)
        except FAILURES:
            return None
        return found.pieces() if found.made else None

    def message(self, obj: Any) -> tuple[bytes, list[memoryview]]:
        """An object, and the large buffers that stand beside it, for ``load_over`` elsewhere: of no
        class of the user's, which need not be imported there. One of ``FAILURES``, or TooDeep.
        Nobody proves it: what would come back as another type is refused."""
        found = written([obj], beside=True, alone=True)
        return found.data, found.buffers

    def _load(self, data: Buffer) -> list[Any]:
        return load_over(data, [], array_over)

    def load_object(self, pieces: list[Buffer]) -> list[Any]:
        if (whole := whole_frame(pieces)) is None:
            return super().load_object(pieces)
        frame = take_frame(memoryview(whole), 0)
        if frame.end < len(whole):
            raise ValueError("a frame with more behind it")
        return load_over(frame.pickle, frame.buffers, array_over)

    def outline(self, message: Buffer) -> ObjectOutline:
        return outline(message)

    def item_of_arrays(self, message: Buffer) -> int:
        data = bytes(message)
        sizes = Counter[int]()
        for found in _ARRAY.finditer(data):
            size = int.from_bytes(found[found.lastindex or 0])
            if kind := _TYPE.match(data, found.end() + size):
                sizes[int(kind[1])] += size
        ((item, size),) = sizes.most_common(1) or [(0, 0)]
        return item if 2 * size > len(data) else 0

    def blame_one(self, record: Any, error: Exception) -> Difference:
        return with_reason(super().blame_one(record, error), str(error))

    def reload_object(self, pieces: list[Buffer]) -> list[Any]:
        data = Scattered(pieces)
        if not is_framed(data.read(0, len(MARK))):
            return self.load_object(pieces)
        layout = frame_layout(data.read, len(data))
        buffers = [data.read(place.start, place.stop) for place in layout.buffers]
        return load_over(data.read(layout.pickle.start, layout.pickle.stop), buffers, array_over)
