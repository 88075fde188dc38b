"""``document_in``: a file that is one document, packed or not, as the value that it is."""

from __future__ import annotations

import io
from functools import partial
from typing import IO, Any, cast

from serialpack.api import pack
from serialpack.errors import UsageError, ValueRefusedError
from serialpack.files.source import Source
from serialpack.records.sequence import Records, sought
from serialpack.records.units import members_of, refused
from serialpack.values.kinds import Difference, shown, value_step
from serialpack.values.structure import Structure

#: Of a pipe so many bytes are read at a time.
_PIECE = 1 << 20


def document_in(source: Source, format: str | None, *, trust: bool) -> Any:
    """The value of the document in ``source``, a container of a format that has documents; or a
    file of that ``format``.

    UsageError where there are several; and what ``open`` raises, as for a value that Python does
    not hold as the source has it.
    """
    if format is not None:
        return _document_of(source, format, trust=trust)
    if not source.seekable():
        packed = b"".join(iter(partial(source.read, _PIECE), b""))
        source = Source(io.BytesIO(packed), source.path)
    hint = "unpack(path, target) makes the file again"
    return _value_of(sought(source), f"open(path) has them, {hint}", hint, trust=trust)


def _document_of(source: Source, format: str, *, trust: bool) -> Any:
    """That of a file, which is packed in memory, so that it is read as a container is."""
    packed, file = io.BytesIO(), cast("IO[bytes]", source)
    pack(file, packed, serializer="raw", codec="none", format=format, trust=trust)
    packed.seek(0)
    hint = 'convert(path, target, to="ndjson") writes each'
    try:
        return _value_of(Source(packed, source.path), hint, None, trust=trust)
    except ValueRefusedError as error:
        error.hint = "the file has it as it is spelled"  # and none that unpack gives
        raise


def _value_of(source: Source, several: str, none: str | None, *, trust: bool) -> Any:
    """The value of the one document in ``source``; UsageError where there are ``several`` or
    ``none``, with these as hints."""
    records = Records(source, trust=trust)
    members = members_of(source, trust=trust)
    if len(members) == 1:
        if members[0].structure == Structure.ARRAY:
            return list(records)
        if members[0].structure == Structure.MAP:
            return _map_of(records)
        if len(records) == 1:
            return records[0]
    count, hint = ("several documents", several) if len(records) else ("no document", none)
    raise UsageError(f"holds {count} ({records.format}), not one object", hint=hint)


def _map_of(records: Records) -> dict[Any, Any]:
    """The map whose members they are, which come in several blocks."""
    found: dict[Any, Any] = {}
    for number, record in enumerate(records):
        for key, value in record.items():
            if key in found:
                path = f"${value_step(key)}"
                raise refused(Difference(0, path, shown(key), "", "duplicate-keys"), number)
            found[key] = value
    return found
