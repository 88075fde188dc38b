"""Classes derived from dates, times and decimals may tell pickle less than these keep."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import serialpack
from serialpack.values.equality import difference

_BERLIN = ZoneInfo("Europe/Berlin")


class Moment(datetime):
    """As those of pendulum, it does not tell pickle its fold."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        zone = self.tzinfo
        return type(self), (self.year, self.month, self.day, self.hour, self.minute, 0, 0, zone)


class Day(date):
    def __reduce__(self) -> Any:
        return Day, (self.year, self.month, 1)


class Clock(time):
    def __reduce_ex__(self, protocol: Any) -> Any:
        return Clock, (self.hour, self.minute)


class Lasting(timedelta):
    days = 0

    def __reduce__(self) -> Any:
        return Lasting, (1,)


class Rounded(Decimal):
    def __reduce__(self) -> Any:
        return Rounded, (str(int(self)),)


class Broken(tzinfo):
    utcoffset = dst = tzname = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return Broken, ()

    def __repr__(self) -> str:
        return "Broken"


@pytest.mark.parametrize(
    "value",
    [
        Moment(2024, 10, 27, 2, 30, tzinfo=_BERLIN, fold=1),
        Moment(2024, 1, 1, tzinfo=Broken(), fold=1),
        Moment(2024, 1, 1, fold=1),
        Moment(2024, 1, 1, 0, 0, 1),
        Day(2024, 1, 2),
        Clock(1, 2, 3),
        Lasting(2),
        Rounded("1.5"),
    ],
    ids=repr,
)
def test_what_a_class_does_not_tell_pickle_is_not_lost(value: Any) -> None:
    """The proof asked what the class tells pickle, which was the same before and after."""
    with pytest.raises(serialpack.ValueRefusedError):
        serialpack.dumps(value, "pickle")


@pytest.mark.parametrize(
    "value",
    [
        Moment(2024, 10, 27, 2, 30, tzinfo=_BERLIN),
        Moment(2024, 10, 27, 4, tzinfo=_BERLIN, fold=1),
        Moment(2024, 1, 1, tzinfo=UTC, fold=1),
        Day(2024, 1, 1),
        Clock(1, 2),
        Lasting(1),
        Rounded("3"),
    ],
    ids=repr,
)
def test_what_it_tells_whole_is_taken(value: Any) -> None:
    """``fold`` says nothing of a time that the clock shows once."""
    again = serialpack.loads(serialpack.dumps(value, "pickle"), trust=True)
    assert difference(value, again) is None
