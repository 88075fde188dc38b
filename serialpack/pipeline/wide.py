"""Serializes a block of one large record part by part, and back, so that its values are never all
in memory at once.

Both functions return None for a record that is unusual in any way. Then ``writing`` does it in the
general way, with all values in memory, or says what is wrong. The words are those of
``formats.pieces.parts``.
"""

from __future__ import annotations

from typing import Any

from serialpack.errors import SerialpackError
from serialpack.formats import FORMATS
from serialpack.formats.base import Format, SourceBlock, Style, Unheld, ValueFormat
from serialpack.formats.cutting import cutter_of, record_text_of
from serialpack.formats.pieces.join import Join
from serialpack.formats.pieces.parts import Cutter, RecordPart, rewritten
from serialpack.serializers.base import FAILURES, RecordSerializer
from serialpack.stages.stage import Buffer

#: What is raised where a record is not as usual.
_UNUSUAL = (SerialpackError, Unheld, *FAILURES)


def encoded(block: SourceBlock, fmt: Format, serializer: RecordSerializer) -> Buffer | None:
    """The serialized bytes of a block of one large record; None where anything is unusual."""
    cutter, join = cutter_of(fmt, {}), _join_of(serializer)
    if cutter is None or join is None or block.records != 1:
        return None
    reader = _value_format(cutter.part_format)

    def write(part: RecordPart) -> tuple[Any, Buffer]:
        (value,) = reader.parse(part.block)
        return value, serializer.dump_parsed([value])

    try:
        return _one(cutter, block, join, write)
    except _UNUSUAL:
        return None


def decoded(
    data: Buffer, fmt: Format, style: Style, serializer: RecordSerializer, *, first: bool
) -> Buffer | None:
    """The text, in ``style``, of the one record that was serialized as ``data``; None where
    anything is unusual."""
    if _join_of(serializer) is None:
        return None
    try:
        cutter = cutter_of(_value_format(serializer.stored_format), {})
        text = record_text_of(fmt, style)
        if cutter is None or text is None:
            return None
        writer = text

        def write(part: RecordPart) -> tuple[Any, Buffer]:
            (value,) = serializer.load_unchecked(part.data)
            return value, writer.write(value)

        block = SourceBlock(data, index=1, offset=1, records=1)
        record = _one(cutter, block, text.join, write)
        return None if record is None else text.text(record, first=first)
    except _UNUSUAL:
        return None


def _one(cutter: Cutter, block: SourceBlock, join: Join, write: Any) -> bytearray | None:
    records = cutter.records(block)
    return None if records is None else rewritten(next(records), join, write).data


def _join_of(serializer: RecordSerializer) -> Join | None:
    """How to join parts that the serializer writes; None where they must not be joined."""
    if any(serializer.values):  # a parameter, as canonical, may be about the whole (order of keys)
        return None
    join = _value_format(serializer.stored_format).join
    return join if join is not None and join.record is not None else None


def _value_format(name: str) -> ValueFormat:
    fmt = FORMATS.get(name)
    assert isinstance(fmt, ValueFormat)
    return fmt
