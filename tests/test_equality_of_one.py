"""The comparison of values that hold no others, each alone, without a pickle of them."""

from __future__ import annotations

import datetime
import math
from typing import Any

import pytest

from serialpack.values import quick_equality
from serialpack.values.equality import difference

_UTC = datetime.UTC
_TIME = datetime.datetime(2024, 10, 27, 2, 30)
_SAME: dict[str, tuple[Any, Any]] = {
    "bytes": (b"ab", bytes(bytearray(b"ab"))),
    "complex": (complex(-0.0, math.nan), complex(-0.0, math.nan)),
    "date": (datetime.date(2024, 1, 2), datetime.date.fromisoformat("2024-01-02")),
    "time": (_TIME, datetime.datetime.fromisoformat("2024-10-27T02:30:00")),
    "time of a zone": (_TIME.replace(tzinfo=_UTC), _TIME.replace(tzinfo=_UTC)),
    "duration": (datetime.timedelta(1, 2), datetime.timedelta(seconds=86402)),
}
_OTHERS: dict[str, tuple[Any, Any]] = {
    "bytes": (b"ab", bytearray(b"ab")),
    "sign of zero": (complex(0.0, 1), complex(-0.0, 1)),
    "sign of a part": (complex(1, 0.0), complex(1, -0.0)),
    "date": (datetime.date(2024, 10, 27), _TIME),
    "fold": (_TIME, _TIME.replace(fold=1)),
    "zone": (_TIME, _TIME.replace(tzinfo=_UTC)),
    "two zones": (
        _TIME.replace(tzinfo=_UTC),
        _TIME.replace(tzinfo=datetime.timezone(datetime.timedelta(0), "zero")),
    ),
    "duration": (datetime.timedelta(1), datetime.timedelta(1, 0, 1)),
}


@pytest.mark.parametrize("name", _SAME)
def test_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pickle of each took most of the time in which complex numbers, times and bytes became
    text."""

    def written(*_: Any, **__: Any) -> None:
        raise AssertionError("a pickle was made")

    monkeypatch.setattr(quick_equality, "_written_alike", written)
    assert difference(*_SAME[name]) is None


@pytest.mark.parametrize("name", _OTHERS)
def test_others(name: str) -> None:
    was, became = _OTHERS[name]
    assert difference(was, became) is not None
    assert difference(became, was) is not None
