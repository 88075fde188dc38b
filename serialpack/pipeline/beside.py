"""The large values of a dumped object: buffers beside its message, long bytes in it."""

from __future__ import annotations

from serialpack.formats import FORMATS
from serialpack.formats.arrays.layout import layout_of
from serialpack.formats.python.buffers import MARK, Scattered, frame_layout, is_framed
from serialpack.formats.shared.elements import MessageFormat
from serialpack.formats.shared.large import LargeValue
from serialpack.formats.shared.long_bytes import LEAST, LongBytes
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.whole import of_values
from serialpack.stages.chain import StageSpec


def large_values(called: StageSpec, data: Scattered) -> list[LargeValue]:
    """Those in ``data``, which the serializer ``called`` wrote of one object, in their order."""
    serializer = of_values(SERIALIZERS.create(*called))
    if is_framed(data.read(0, len(MARK))):
        layout = frame_layout(data.read, len(data))
        headers = serializer.beside(data.read(layout.pickle.start, layout.pickle.stop))
        known = [*headers, *[None] * (len(layout.buffers) - len(headers))]
        # Each with what aligns the next one.
        ends = [*(place.start for place in layout.buffers[1:]), layout.end]
        return [
            LargeValue(place.start, end, None if header is None else layout_of(header))
            for place, end, header in zip(layout.buffers, ends, known, strict=True)
        ]
    stored = FORMATS.get(serializer.stored_format or "bytes")
    if len(data) < LEAST or not isinstance(stored, MessageFormat):
        return []
    return [LargeValue(*span) for span in LongBytes(stored.heads).within(data.read(0, len(data)))]
