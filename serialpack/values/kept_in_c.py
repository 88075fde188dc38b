"""What C code keeps of dates, times, durations and decimals, whatever a class derived from these
tells pickle of it."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

_DAY = "year", "month", "day"
_CLOCK = "hour", "minute", "second", "microsecond"


def _places(cls: type, *names: str) -> list[Any]:
    """What gets the fields of objects of ``cls``, which a derived class may hide."""
    return [next(vars(each)[name] for each in cls.__mro__ if name in vars(each)) for name in names]


#: A datetime is a date, too: the first type that an object is of counts.
_FIELDS = {
    datetime: _places(datetime, *_DAY, *_CLOCK),
    date: _places(date, *_DAY),
    time: _places(time, *_CLOCK),
    timedelta: _places(timedelta, "days", "seconds", "microseconds"),
}
_FOLD_AND_ZONE = {cls: _places(cls, "fold", "tzinfo") for cls in (datetime, time)}


def kept_in_c(value: Any) -> list[Any]:
    """The fields of a date, a time, a duration or a decimal; none of any other value."""
    if isinstance(value, Decimal):
        return [*Decimal.as_tuple(value)]
    for cls, places in _FIELDS.items():
        if isinstance(value, cls):
            found = [place.__get__(value) for place in places]
            return [*found, _fold(cls, value, found)] if cls in _FOLD_AND_ZONE else found
    return []


def _fold(cls: Any, value: Any, fields: list[int]) -> int:
    """Which of two equal times of a clock that is set back it is; 0 where there is but one, of
    which that says nothing (those of pendulum all say 1, and do not tell pickle so)."""
    fold, zone = (place.__get__(value) for place in _FOLD_AND_ZONE[cls])
    if fold and zone is not None:
        both = (cls(*fields, tzinfo=zone, fold=each) for each in (0, 1))
        try:
            first, second = (each.utcoffset() for each in both)
        except Exception:  # of somebody's zone
            return int(fold)
        return int(fold) if first != second else 0
    return int(fold)
