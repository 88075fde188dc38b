"""The version of serialpack that wrote a container, as a header has it: 1.2.3 is the number
10203."""

from __future__ import annotations

import re
from functools import cache
from typing import Any


def writer_of(values: Any) -> str:
    """The version that wrote the header with the map ``values``; empty where it does not say so."""
    number = values.get("w") if isinstance(values, dict) else None
    return version_text(number) if type(number) is int else ""


@cache
def version_number(text: str) -> int:
    """The number for the version ``text``. What follows the three numbers in it is left out."""
    numbers = [int(n) for n in re.findall(r"\d+", text)[:3]]
    major, minor, patch = numbers + [0] * (3 - len(numbers))
    return major * 10_000 + minor * 100 + patch


def version_text(number: int) -> str:
    """The version that ``number`` stands for; empty for 0."""
    return f"{number // 10_000}.{number // 100 % 100}.{number % 100}" if number > 0 else ""
