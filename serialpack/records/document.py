"""A packed file that is one document, as the value that it is."""

from __future__ import annotations

import io
from functools import partial
from typing import Any

from serialpack.errors import UsageError
from serialpack.files.source import Source
from serialpack.records.sequence import Records, sought
from serialpack.records.units import members_of, refused
from serialpack.values.kinds import Difference, shown, value_step
from serialpack.values.structure import Structure

#: Of a pipe so many bytes are read at a time.
_PIECE = 1 << 20


def document_in(source: Source, *, trust: bool) -> Any:
    """The value of the document in ``source``, a container of a format that has documents.

    UsageError where there are several; and what ``open`` raises, as for a value that Python does
    not hold as the source has it.
    """
    if not source.seekable():
        packed = b"".join(iter(partial(source.read, _PIECE), b""))
        source = Source(io.BytesIO(packed), source.path)
    source = sought(source)
    records = Records(source, trust=trust)
    members = members_of(source, trust=trust)
    if len(members) == 1:
        if members[0].structure == Structure.ARRAY:
            return list(records)
        if members[0].structure == Structure.MAP:
            return _map_of(records)
        if len(records) == 1:
            return records[0]
    several = "several documents" if len(records) else "no document"
    hint = "open(path) has them, " if len(records) else ""
    raise UsageError(
        f"holds {several} ({records.format}), not one object",
        hint=f"{hint}unpack(path, target) makes the file again",
    )


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
