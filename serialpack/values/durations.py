"""Durations as ISO 8601-1 has them, with a minus before where they are negative (ISO 8601-2)."""

from __future__ import annotations

import re
from datetime import timedelta

_DURATION = re.compile(
    r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,9}))?S)?)?", re.ASCII
)


def duration_text(value: timedelta) -> str:
    """The text of a duration."""
    return nanoseconds_text(value // timedelta(microseconds=1) * 1000)


def nanoseconds_text(value: int) -> str:
    """The text of a duration of ``value`` nanoseconds."""
    sign = "-" if value < 0 else ""
    whole, nanoseconds = divmod(abs(value), 10**9)
    minutes, seconds = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    whole_days, hours = divmod(hours, 24)
    fraction = f".{nanoseconds:09}".rstrip("0") if nanoseconds else ""
    days = f"{whole_days}D" if whole_days else ""
    parts = [f"{hours}H" if hours else "", f"{minutes}M" if minutes else ""]
    if seconds or fraction:
        parts.append(f"{seconds}{fraction}S")
    of_day = "".join(parts)
    if not (days or of_day):
        of_day = "0S"
    return f"{sign}P{days}" + (f"T{of_day}" if of_day else "")


def interval_text(months: int, days: int, nanoseconds: int) -> str:
    """The text of an interval whose parts cannot be converted into each other, each with its own
    sign, as PostgreSQL writes it: ``P1Y2M-3DT4H5M6.789S``."""
    parts = [*_parts(months, ("Y", 12), ("M", 1)), *_parts(days, ("D", 1))]
    of_day = _parts(nanoseconds, ("H", 3600 * 10**9), ("M", 60 * 10**9))
    seconds = abs(nanoseconds) % (60 * 10**9)
    if seconds or not (parts or of_day):
        whole, rest = divmod(seconds, 10**9)
        fraction = f".{rest:09}".rstrip("0") if rest else ""
        of_day.append(f"{'-' if nanoseconds < 0 else ''}{whole}{fraction}S")
    return f"P{''.join(parts)}" + (f"T{''.join(of_day)}" if of_day else "")


def _parts(count: int, *units: tuple[str, int]) -> list[str]:
    """``count`` in ``units``, the largest first, each with its letter; units of which there is none
    are left out."""
    sign, left, found = "-" if count < 0 else "", abs(count), []
    for letter, size in units:
        whole, left = divmod(left, size)
        if whole:
            found.append(f"{sign}{whole}{letter}")
    return found


def duration_of(text: str) -> timedelta:
    """The duration that ``text`` says, in days and smaller units; ValueError, OverflowError."""
    micro, nano = divmod(nanoseconds_in(text), 1000)
    if nano:
        raise ValueError(text)
    return timedelta(microseconds=micro)


def nanoseconds_in(text: str) -> int:
    """The nanoseconds of the duration that ``text`` says, in days and smaller units; ValueError."""
    found = _DURATION.fullmatch(text)
    if found is None or text.endswith(("P", "T")):
        raise ValueError(text)
    sign, days, hours, minutes, seconds, fraction = found.groups(default="")
    whole = 0
    for part, times in ((days, 1), (hours, 24), (minutes, 60), (seconds, 60)):
        whole = whole * times + int(part or 0)
    length = whole * 10**9 + int(fraction.ljust(9, "0"))
    return -length if sign else length
