"""What a conversion makes of bytes, and what records are read in them."""

from __future__ import annotations

import io
from typing import Any

import serialpack
from serialpack.formats import FORMATS
from serialpack.formats.base import ValueFormat


def converted(data: bytes, source: str, target: str, **how: Any) -> bytes:
    out = io.BytesIO()
    serialpack.convert(io.BytesIO(data), out, format=source, to=target, trust=True, **how)
    return out.getvalue()


def records_of(data: bytes, name: str) -> list[Any]:
    """The records of a file, as its format reads them."""
    fmt = FORMATS.get(name)
    assert isinstance(fmt, ValueFormat)
    blocks = fmt.split(io.BytesIO(data).read, 1 << 22, for_values=True)
    return [record for block in blocks for record in fmt.parse(block)]
