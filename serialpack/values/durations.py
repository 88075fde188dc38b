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
    """The text of a duration of so many nanoseconds."""
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


def duration_of(text: str) -> timedelta:
    """The duration of a text, of days and below; ValueError, OverflowError."""
    micro, nano = divmod(nanoseconds_in(text), 1000)
    if nano:
        raise ValueError(text)
    return timedelta(microseconds=micro)


def nanoseconds_in(text: str) -> int:
    """The nanoseconds of a text, of days and below; ValueError."""
    found = _DURATION.fullmatch(text)
    if found is None or text.endswith(("P", "T")):
        raise ValueError(text)
    sign, days, hours, minutes, seconds, fraction = found.groups(default="")
    whole = 0
    for part, times in ((days, 1), (hours, 24), (minutes, 60), (seconds, 60)):
        whole = whole * times + int(part or 0)
    length = whole * 10**9 + int(fraction.ljust(9, "0"))
    return -length if sign else length
