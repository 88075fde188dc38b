"""Classes derived from dates, times and decimals may tell pickle less than these keep."""

from __future__ import annotations

import pickle
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import serialpack
from serialpack.values.equality import difference
from serialpack.values.quick_equality import quickly_same

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


def _of_pandas() -> dict[str, tuple[Any, Any]]:
    """Pairs of times of pandas that differ in one thing."""
    pandas = pytest.importorskip("pandas")
    moment, zone = pandas.Timestamp, _BERLIN
    twice = datetime(2020, 10, 25, 2, 30, tzinfo=zone)
    marked = moment("2020")
    marked.mark = 1
    return {
        "time": (moment("2020"), moment("2021")),
        "fold": (moment(twice), moment(twice.replace(fold=1))),
        "attribute": (moment("2020"), marked),
        "unit": (moment("2020").as_unit("us"), moment("2020").as_unit("ns")),
        "zone": (moment("2020"), moment("2020", tz="UTC")),
        "zones": (moment("2020", tz=zone), moment("2020", tz="Europe/Paris")),
        "duration": (pandas.Timedelta("1s"), pandas.Timedelta("2s")),
        "missing": (pandas.NaT, pandas.NA),
        "class": (moment("2020"), datetime(2020, 1, 1)),
    }


@pytest.mark.parametrize(
    "name",
    ["time", "fold", "attribute", "unit", "zone", "zones", "duration", "missing", "class"],
)
def test_times_of_pandas_are_compared_all_at_once(name: str) -> None:
    """Each was looked into, which took five times as long as dumping a list of them."""
    one, other = _of_pandas()[name]
    again = pickle.loads(pickle.dumps(one))
    if name not in ("fold", "attribute"):  # which pickle loses
        assert quickly_same([one], [again], identity=False)
    assert quickly_same([one], [one], identity=False)
    assert not quickly_same([one], [other], identity=False)
    assert difference([one], [other]) is not None
