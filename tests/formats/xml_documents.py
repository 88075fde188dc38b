"""XML made of values, and values of XML, for tests."""

from __future__ import annotations

import io
import json
import pickle
from functools import cache
from typing import Any

import pytest

import serialpack
from serialpack.errors import SerialpackError
from serialpack.formats.xml.write import xml_name
from serialpack.reports import ConvertReport


def convert(data: bytes, source: str, target: str, **how: Any) -> tuple[bytes, ConvertReport]:
    out = io.BytesIO()
    report = serialpack.convert(io.BytesIO(data), out, format=source, to=target, **how)
    return out.getvalue(), report


def values(text: str, **how: Any) -> Any:
    return json.loads(convert(text.encode(), "xml", "json", **how)[0])


def xml(value: Any, **how: Any) -> str:
    """What a value becomes, without the declaration."""
    data, _ = convert(json.dumps(value).encode(), "json", "xml", **how)
    head, text = data.decode().split("\n", 1)
    assert head == '<?xml version="1.0" encoding="utf-8"?>'
    assert text.endswith("\n")
    return text[:-1]


def refused(data: bytes | str, source: str, target: str, **how: Any) -> SerialpackError:
    with pytest.raises(SerialpackError) as caught:
        convert(data.encode() if isinstance(data, str) else data, source, target, **how)
    assert "\n" not in str(caught.value)
    return caught.value


def as_elements(value: Any) -> Any:
    """What a value is in elements, which have text alone."""
    if isinstance(value, dict):
        return {xml_name(key): as_elements(part) for key, part in value.items()} or None
    if isinstance(value, list):
        items = []
        for part in value:  # a level of it is one of Python's: there are 400
            item = as_elements(part)
            items.append({"item": item} if isinstance(part, list) and part else item)
        return items[0] if len(items) == 1 else items or None
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, bool | int | float):
        return _as_text(pickle.dumps(value))
    return value or None


@cache
def _as_text(pickled: bytes) -> str:
    """The text of a number: many stand in many values."""
    out = io.BytesIO()
    serialpack.convert(io.BytesIO(pickled), out, format="pickle", to="ndjson", trust=True)
    return out.getvalue().decode().strip()
