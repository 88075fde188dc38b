"""Times to the nanosecond: what holds one, and how many nanoseconds it is.

One of whole microseconds is Python's own datetime or timedelta, as any other. One that is not is
msgpack.Timestamp in UTC, numpy.datetime64 without a zone and numpy.timedelta64 where it is a
duration, both in nanoseconds: the types that people have for it. Signed 64 bits, as Arrow and NumPy
have it: the years 1678 to 2261, counted from 1970.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

UTC_TIME, LOCAL_TIME, DURATION = "utc", "local", "timedelta"

#: What stands for no time (NaT) among the numbers of nanoseconds.
NO_TIME = -1 << 63

#: The types that hold what Python's would cut, by module and name: they are not imported to ask.
_FINE = {
    ("msgpack.ext", "Timestamp"): UTC_TIME,
    ("numpy", "datetime64"): LOCAL_TIME,
    ("numpy", "timedelta64"): DURATION,
}
_EPOCHS: dict[str, Any] = {
    UTC_TIME: datetime(1970, 1, 1, tzinfo=UTC),
    LOCAL_TIME: datetime(1970, 1, 1),
    DURATION: timedelta(0),
}


def fine_kind(kind: type) -> str | None:
    """What values of a type are that may have nanoseconds; None for all other types."""
    return _FINE.get((kind.__module__, kind.__name__))


def time_of(kind: str, nanoseconds: int) -> Any:
    """What holds a time of ``kind``, in signed 64 bits."""
    if nanoseconds % 1000 == 0:
        return _EPOCHS[kind] + timedelta(microseconds=nanoseconds // 1000)
    if kind == UTC_TIME:
        import msgpack

        return msgpack.Timestamp(*divmod(nanoseconds, 10**9))
    import numpy as np

    return (np.datetime64 if kind == LOCAL_TIME else np.timedelta64)(nanoseconds, "ns")


def nanoseconds_of(value: Any) -> int:
    """The nanoseconds of what ``time_of`` gives; ValueError for another time.

    Also of whole microseconds in the types of others. OverflowError beyond 64 bits.
    """
    kind = fine_kind(type(value))
    if kind is None:
        length = value if type(value) is timedelta else value - _EPOCHS[_kind_of(value)]
        count = length // timedelta(microseconds=1) * 1000
    elif kind == UTC_TIME:
        count = value.seconds * 10**9 + value.nanoseconds
    elif value.dtype.str[3:] != "[ns]" or value != value:  # NaT
        raise ValueError(f"no time in nanoseconds: {value!r}")
    else:
        count = int(value.astype("i8"))
    if not NO_TIME < count < 1 << 63:
        raise OverflowError(f"beyond the years of nanoseconds: {value!r}")
    return count


def has_nanoseconds(value: Any) -> bool:
    """Whether a value is a time of a library's type that ``nanoseconds_of`` counts."""
    if fine_kind(type(value)) is None:
        return False
    try:
        nanoseconds_of(value)
    except (ValueError, OverflowError):
        return False
    return True


def _kind_of(value: datetime) -> str:
    return LOCAL_TIME if value.tzinfo is None else UTC_TIME
