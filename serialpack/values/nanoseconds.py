"""Times to the nanosecond: what Python value holds one, and how many nanoseconds it is.

A time of whole microseconds is Python's own datetime or timedelta, as any other. One that is not is
a msgpack.Timestamp in UTC, a numpy.datetime64 where it has no zone, and a numpy.timedelta64 where
it is a duration, both in nanoseconds: the types that people have for it. As in Arrow and NumPy, the
number has 64 bits and a sign: the years 1678 to 2261, counted from 1970.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

UTC_TIME, LOCAL_TIME, DURATION = "utc", "local", "timedelta"

#: The number of nanoseconds that stands for no time (NaT).
NO_TIME = -1 << 63

#: The types that hold what Python's own would cut, by module and name: so nobody need import them.
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
    """The kind of time that values of type ``kind`` are, which may have nanoseconds; None for all
    other types."""
    return _FINE.get((kind.__module__, kind.__name__))


def time_of(kind: str, nanoseconds: int) -> Any:
    """The value for a time of ``kind``, ``nanoseconds`` being 64 bits with a sign."""
    if nanoseconds % 1000 == 0:
        return _EPOCHS[kind] + timedelta(microseconds=nanoseconds // 1000)
    if kind == UTC_TIME:
        import msgpack

        return msgpack.Timestamp(*divmod(nanoseconds, 10**9))
    import numpy as np

    return (np.datetime64 if kind == LOCAL_TIME else np.timedelta64)(nanoseconds, "ns")


def nanoseconds_of(value: Any) -> int:
    """The nanoseconds of a time as ``time_of`` gives it, or of one of whole microseconds in a
    library's type. ValueError for any other time, OverflowError beyond 64 bits."""
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
