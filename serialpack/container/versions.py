"""The version of a writer, as a header holds it."""

from __future__ import annotations

import re
from functools import cache
from typing import Any


def writer_of(values: Any) -> str:
    """The version that wrote a header, as far as it says so."""
    number = values.get("w") if isinstance(values, dict) else None
    return version_text(number) if type(number) is int else ""


@cache
def version_number(text: str) -> int:
    """A version as one small number: 1.2.3 is 10203. What stands behind the digits is left out."""
    numbers = [int(n) for n in re.findall(r"\d+", text)[:3]]
    major, minor, patch = numbers + [0] * (3 - len(numbers))
    return major * 10_000 + minor * 100 + patch


def version_text(number: int) -> str:
    return f"{number // 10_000}.{number // 100 % 100}.{number % 100}" if number > 0 else ""
