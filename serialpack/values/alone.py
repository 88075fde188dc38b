"""Values that hold no others: whether two certainly are the same, without a pickle of them.

Conversions compare such values by the million, each alone: a pickle of one takes many times as
long.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from operator import eq
from struct import Struct
from typing import Any

_PARTS = Struct("2d").pack


def of_ipaddress(cls: Any) -> bool:
    """Whether ``cls`` is a class of ``ipaddress``, whose values hold no others."""
    return bool(cls.__module__ == "ipaddress")


def same_alone(was: Any, became: Any) -> bool:
    """Whether two values are of one type that is known here, and the same."""
    same = _SAME.get(type(was))
    return same is not None and type(became) is type(was) and same(was, became)


def same_complex(was: complex, became: complex) -> bool:
    """Whether both parts of two complex numbers are the same in every bit."""
    return _PARTS(was.real, was.imag) == _PARTS(became.real, became.imag)


def _same_time(was: datetime, became: datetime) -> bool:
    # Of one zone, times are equal where their digits are.
    return was.tzinfo is became.tzinfo and was.fold == became.fold and was == became


_SAME: dict[type, Callable[[Any, Any], bool]] = {
    **dict.fromkeys((bytes, date, timedelta), eq),
    complex: same_complex,
    datetime: _same_time,
}
