"""The large values of a dumped object: buffers beside its message, long bytes in it."""

from __future__ import annotations

from serialpack.extents import LargeValue
from serialpack.formats import FORMATS
from serialpack.formats.arrays.layout import layout_of
from serialpack.formats.python.buffers import MARK, Scattered, frame_layout, is_framed
from serialpack.formats.shared.long_bytes import LEAST, long_bytes
from serialpack.serializers.base import RecordSerializer


def large_values(serializer: RecordSerializer, data: Scattered) -> list[LargeValue]:
    """Those in ``data``, which ``serializer`` wrote of one object, in their order."""
    if is_framed(data.read(0, len(MARK))):
        layout = frame_layout(data.read, len(data))
        headers = serializer.beside(data.read(layout.pickle.start, layout.pickle.stop))
        known = [*headers, *[None] * (len(layout.buffers) - len(headers))]
        return [
            LargeValue(place.start, place.stop, None if header is None else layout_of(header))
            for place, header in zip(layout.buffers, known, strict=True)
        ]
    heads = FORMATS.get(serializer.stored_format or "bytes").heads
    if heads is None or len(data) < LEAST:
        return []
    return [LargeValue(*span) for span in long_bytes(data.read(0, len(data)), heads)]
