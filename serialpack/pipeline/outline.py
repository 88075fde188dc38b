"""An outline of the object, or the arrays, in a container, for ``inspect``.

Large values are not read: words stand for them.
"""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import IO, Any

from serialpack.errors import SerialpackError
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.formats.messages.long_bytes import without_long
from serialpack.formats.python.buffers import MARK, frame_layout, is_framed
from serialpack.formats.shared.document import DocumentFormat
from serialpack.pipeline.buffer_places import heads_of
from serialpack.pipeline.stored import StoredBytes
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import FAILURES
from serialpack.serializers.one_object import of_values
from serialpack.stages.stage import Buffer

#: The most bytes of a message that is outlined: to read a longer one would be to unpack it.
_MOST = 1 << 20

#: The most elements shown of a list or a map, the most characters of a text, the most levels.
_FEW, _SHORT, _DEEP = 20, 100, 10


def holds(file: IO[bytes]) -> Any:
    """The outline of a container of one member, in types that JSON has: of an object its values, of
    a file of arrays the shape and the chain of each by its name. None for anything else, and where
    it would take long to find out.
    """
    try:
        # No trust is needed, for nothing that can run code is loaded: of a pickle only sizes are
        # told.
        stored = StoredBytes(Source(file), trust=True)
        if FORMATS.get(stored.plan.format).serialized:
            return _short(_object(stored), _DEEP)
        fmt = FORMATS.get(stored.plan.format)
        values = fmt.large_values(stored.read, len(stored))
        found = {v.name: f"{v.words}, {stored.chain_at(v.start)}" for v in values if v.name}
        if isinstance(fmt, DocumentFormat):
            found |= fmt.small_values(stored.read, len(stored), _FEW)
        return found or None
    except (SerialpackError, *FAILURES):  # unpacking will say what is wrong
        return None


def _object(stored: StoredBytes) -> Any:
    """What is told of a Python object, without its arrays and long bytes; None where even the
    rest is too long to be read."""
    serializer = of_values(SERIALIZERS.create(*stored.plan.chain.serializer))
    start, stop, sizes = 0, len(stored), list[int]()
    if is_framed(stored.read(0, len(MARK))):
        layout = frame_layout(stored.read, len(stored))
        start, stop = layout.pickle.start, layout.pickle.stop
        sizes = [place.stop - place.start for place in layout.buffers]
    if not serializer.safe:
        return {serializer.name: f"<{stop - start} bytes>", "buffers": sizes}
    heads = heads_of(serializer)
    if heads is not None:
        read = partial(_block_until, stored, stop)
        message = without_long(lambda at: read(start + at), stop - start, heads, _MOST)
    elif stop - start <= _MOST:
        message = bytes(stored.read(start, stop))
    else:
        return None
    outline = serializer.outline(message)
    if outline is not None:
        return outline.value
    records = serializer.load_object([message])
    return records if serializer.tabular else records[0]


def _block_until(stored: StoredBytes, stop: int, start: int) -> Buffer:
    """The bytes from ``start`` to the end of their block, or to ``stop`` if that comes first."""
    return memoryview(stored.block_from(start))[: stop - start]


def _short(value: Any, levels: int) -> Any:
    """``value`` in the types of JSON, cut down to what people look at."""
    if isinstance(value, list | tuple | set | frozenset | dict) and not levels:
        return "..."
    if isinstance(value, dict):
        found = {str(key): _short(each, levels - 1) for key, each in islice(value.items(), _FEW)}
        return found | ({"...": f"{len(value) - _FEW} more"} if len(value) > _FEW else {})
    if isinstance(value, list | tuple | set | frozenset):
        more = [f"... {len(value) - _FEW} more"] if len(value) > _FEW else []
        return [*(_short(each, levels - 1) for each in islice(value, _FEW)), *more]
    if (
        value is None
        or isinstance(value, bool | int)
        or (isinstance(value, float) and value == value)
    ):
        return value
    text = f"<{len(value)} bytes>" if isinstance(value, bytes) else str(value)
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}..."
