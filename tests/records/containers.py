"""Containers for the tests of ``serialpack.open``."""

from __future__ import annotations

import io
import json
from typing import Any

import serialpack

#: Records of two shapes and of none, which columns keep as exceptions.
MIXED: list[Any] = [
    {"n": n, "s": "x" * (n % 50), "in": {"list": [n, {"d": None}]}} if n % 9 else [n, "odd"]
    for n in range(1000)
]


def packed(data: bytes, format: str, **how: Any) -> bytes:
    out = io.BytesIO()
    serialpack.pack(io.BytesIO(data), out, format=format, threads=1, **how)
    return out.getvalue()


def opened(data: bytes, **how: Any) -> serialpack.Records:
    return serialpack.open(io.BytesIO(data), **how)


def lines(records: list[Any]) -> bytes:
    """NDJSON."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)
