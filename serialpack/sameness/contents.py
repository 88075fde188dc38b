"""What containers hold, looked at by C code: many of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from gc import get_referents
from typing import Any

#: Few enough that what they hold stays in the processor's cache.
_TOGETHER = 1000


def contents(containers: list[Any]) -> Iterator[list[Any]]:
    """The values in ``containers``, of many at a time.

    Of a map whose keys are all text, those are not among them.
    """
    for start in range(0, len(containers), _TOGETHER):
        yield get_referents(*containers[start : start + _TOGETHER])
