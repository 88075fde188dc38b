"""A source through a serializer and back, block by block, as packing and unpacking do it."""

from __future__ import annotations

import io
import json
from decimal import Decimal, InvalidOperation
from typing import Any

from serialpack.formats import FORMATS
from serialpack.formats.base import ValueFormat
from serialpack.pipeline.writing import Writing
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import RecordSerializer
from serialpack.values.kind_of import kind_of
from serialpack.values.kinds import KINDS

#: Those that are installed, for one of them excludes another, and write: java only reads.
VALUE_SERIALIZERS = [
    entry.name
    for entry in SERIALIZERS
    if not SERIALIZERS.cls(entry.name).exact
    and SERIALIZERS.cls(entry.name).missing(entry.name) is None
    and SERIALIZERS.cls(entry.name).cannot != KINDS.keys()
]


def record_serializer(name: str, *values: int) -> RecordSerializer:
    """A new serializer of records; ``values``: its parameters."""
    serializer = SERIALIZERS.create(name, values)
    assert isinstance(serializer, RecordSerializer)
    return serializer


def takes(serializer: str, *kinds: str) -> bool:
    """Whether a serializer says that it holds all values of these kinds."""
    cls = SERIALIZERS.cls(serializer)
    return not (cls.cannot | cls.partly) & {*kinds}


def kinds_in(record: Any) -> set[str]:
    """The kinds of what is in a record, as ``takes`` asks for them."""
    found = set() if isinstance(record, dict) else {"bare"}
    stack = [record]
    while stack:
        value = stack.pop()
        if isinstance(value, dict | list):
            found |= {"nested"} if value is not record else set()
            stack.extend(value.values() if isinstance(value, dict) else value)
        else:
            found.add(kind_of(value))
    return found


def writing(serializer: str, fmt_name: str) -> Writing:
    """The writing half of a source in a format."""
    created = SERIALIZERS.create(serializer)
    assert isinstance(created, RecordSerializer)
    return Writing(created, FORMATS.get(fmt_name))


def round_trip(
    serializer: str, fmt_name: str, source: bytes, block_size: int = 1 << 20
) -> tuple[bytes, bool]:
    """What comes back, and whether every block was proved exact; the errors of the stages."""
    fmt = FORMATS.get(fmt_name)
    assert isinstance(fmt, ValueFormat)
    packer, unpacker = writing(serializer, fmt_name), writing(serializer, fmt_name)
    restored, exact = b"", True
    style = None
    for block in fmt.split(io.BytesIO(source).read, block_size, for_values=True):
        if style is None:
            style = fmt.detect_style(block)
        data, records = packer.encode(block)
        assert block.records in (None, records)
        proof = packer.prove(block, data, style)
        if proof.lost is not None:
            raise packer.serializer.refuse(proof.lost, block.first_record)
        written = {**style, **proof.style}
        text = unpacker.decode(data, written, first=block.index == 0, exact=False)
        assert not proof.exact or bytes(text) == bytes(block.data)
        exact = exact and proof.exact
        restored += bytes(text)
    return restored, exact


def _number(text: str) -> tuple[Any, ...]:
    try:
        value = Decimal(text)
    except InvalidOperation:  # an exponent that even decimal cannot count
        mantissa = text.lower().partition("e")[0]
        if Decimal(mantissa):
            return ("float", text)
        value = Decimal(mantissa)
    return ("float", value.is_signed(), value)


def _refuse(name: str) -> Any:
    raise ValueError(name)


def strict_values(fmt_name: str, source: bytes) -> Any:
    """The values of a source by the standard library alone, nothing lost; ValueError: not JSON."""

    def loads(text: str) -> Any:
        return json.loads(
            text,
            parse_int=lambda digits: ("int", digits),
            parse_float=_number,
            parse_constant=_refuse,
            object_pairs_hook=lambda pairs: ("object", pairs),
        )

    text = source.decode().removeprefix("\ufeff")
    if fmt_name == "json":
        return loads(text)
    return [loads(line) for line in text.split("\n") if line.strip(" \t\r")]


def object_and_records(serializer: RecordSerializer, data: bytes) -> list[list[Any] | None]:
    """What ``data`` is as an object, and as records; None for each where it is none."""
    found: list[list[Any] | None] = []
    for read in (serializer.load_object, lambda pieces: serializer.load(b"".join(pieces))):
        try:
            found.append(read([data]))
        except ValueError:
            found.append(None)
    return found
