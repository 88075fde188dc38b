"""Durations as ISO 8601-1 has them, with a minus before where they are negative (ISO 8601-2)."""

from __future__ import annotations

import re
from datetime import timedelta

_DURATION = re.compile(
    r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,6}))?S)?)?", re.ASCII
)


def duration_text(value: timedelta) -> str:
    """The text of a duration."""
    sign = "-" if value < timedelta(0) else ""
    value = abs(value)
    minutes, seconds = divmod(value.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{value.microseconds:06}".rstrip("0.") if value.microseconds else ""
    days = f"{value.days}D" if value.days else ""
    parts = [f"{hours}H" if hours else "", f"{minutes}M" if minutes else ""]
    if seconds or fraction:
        parts.append(f"{seconds}{fraction}S")
    of_day = "".join(parts)
    if not (days or of_day):
        of_day = "0S"
    return f"{sign}P{days}" + (f"T{of_day}" if of_day else "")


def duration_of(text: str) -> timedelta:
    """The duration of a text, of days and below; ValueError, OverflowError."""
    found = _DURATION.fullmatch(text)
    if found is None or text.endswith(("P", "T")):
        raise ValueError(text)
    sign, days, hours, minutes, seconds, fraction = found.groups(default="")
    parts = (int(part or 0) for part in (days, seconds, (fraction or "0").ljust(6, "0")))
    of_days, of_seconds, of_micros = parts
    length = timedelta(of_days, of_seconds, of_micros, 0, int(minutes or 0), int(hours or 0))
    return -length if sign else length
