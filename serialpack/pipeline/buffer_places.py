"""Where the large values lie in the serialized bytes of a dumped object.

They are the buffers that stand beside its message (arrays), and the long byte strings in it. Each
may be packed by a chain of its own.
"""

from __future__ import annotations

from serialpack.formats import FORMATS
from serialpack.formats.arrays.layout import layout_of
from serialpack.formats.messages.format import MessageFormat
from serialpack.formats.messages.long_bytes import LEAST, Heads, LongBytes
from serialpack.formats.python.buffers import MARK, Scattered, frame_layout, is_framed
from serialpack.formats.shared.large import LargeValue
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import RecordSerializer
from serialpack.serializers.one_object import of_values
from serialpack.stages.chain import StageSpec


def large_values(called: StageSpec, data: Scattered) -> list[LargeValue]:
    """The large values in ``data``, in order; ``data``: one object, written by the serializer
    ``called``."""
    serializer = of_values(SERIALIZERS.create(*called))
    if not is_framed(data.read(0, len(MARK))):
        return _long_bytes(serializer, data, slice(0, len(data)))
    layout = frame_layout(data.read, len(data))
    outline = serializer.outline(data.read(layout.pickle.start, layout.pickle.stop))
    headers = outline.beside if outline is not None else []
    known = [*headers, *[None] * (len(layout.buffers) - len(headers))]
    listed = outline.listed if outline is not None else frozenset()
    # A buffer ends where the next one begins, with the bytes that align that.
    ends = [*(place.start for place in layout.buffers[1:]), layout.end]
    return [
        *_long_bytes(serializer, data, layout.pickle),
        *(
            LargeValue(
                *(place.start, end, None if header is None else layout_of(header)),
                listed=number in listed,
            )
            for number, (place, end, header) in enumerate(
                zip(layout.buffers, ends, known, strict=True)
            )
        ),
    ]


def heads_of(serializer: RecordSerializer) -> Heads | None:
    """What reads the heads of values (type and length) in the messages of ``serializer``; None
    where its messages have no such heads."""
    fmt = FORMATS.get(serializer.messages or serializer.stored_format or "bytes")
    return fmt.heads if isinstance(fmt, MessageFormat) else None


def _long_bytes(serializer: RecordSerializer, data: Scattered, message: slice) -> list[LargeValue]:
    """The long byte strings within ``message``, the part of ``data`` that is not buffers."""
    heads = heads_of(serializer) if message.stop - message.start >= LEAST else None
    if heads is None:
        return []
    spans = LongBytes(heads).within(data.read(message.start, message.stop))
    return [LargeValue(message.start + start, message.start + stop) for start, stop in spans]
