"""The text of dates and times, read and written."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Any

from serialpack.formats.losses.exact import Inexact

_ANY_DAY_FIRST = re.compile(r"\d\d?\.\d\d?\.\d{4}", re.ASCII)
#: A date whose first number is a month or a day.
SLASHED = re.compile(r"(\d\d?)([/.-])(\d\d?)\2(\d{4}|\d\d)", re.ASCII)
_FIRST_OF_1900 = 69
#: Digits of seconds that no value of Python's has.
_FINER = re.compile(r"[.,][0-9]{6}0*[1-9]")


def times_text(values: Sequence[Any], style: str) -> list[str]:
    """The text of times in a style; ValueError for one in another zone."""
    zone = ""
    if type(values[0]) is datetime:
        between, digits, zone = style[:1] or "T", style[1:2] or "6", style[2:]
        aware = datetime.fromisoformat(f"2000-01-01T00:00:00{zone}").tzinfo
        if not {aware}.issuperset([value.tzinfo for value in values]):
            raise ValueError("a time in another zone")
        if aware is not None:
            values = [value.replace(tzinfo=None) for value in values]
        how: tuple[str, ...] = (between,)
    else:
        digits, how = style or "6", ()
    spec = {"m": "minutes", "0": "seconds"}.get(digits, "microseconds")
    if digits == "p":
        return [value.isoformat(*how) + zone for value in values]
    texts = [value.isoformat(*how, timespec=spec) for value in values]
    if digits == "t":
        return [text.rstrip("0").rstrip(".") + zone for text in texts]
    end = int(digits) - 6 if digits not in "m06" else None
    return [text[:end] + zone for text in texts]


def date_of(text: str) -> date:
    """The date that a text says, also with the day first; ValueError."""
    if "." not in text:
        return date.fromisoformat(text)
    if _ANY_DAY_FIRST.fullmatch(text) is None:
        raise ValueError(text)
    day, month, year = map(int, text.split("."))
    return date(year, month, day)


def month_first(text: str) -> date:
    """The date of ``12/31/2023``, or of a text that begins with the year; ValueError."""
    return _slashed(text, "month", "day")


def day_first(text: str) -> date:
    """As ``month_first``, of ``31/12/2023``."""
    return _slashed(text, "day", "month")


def _slashed(text: str, *order: str) -> date:
    found = SLASHED.fullmatch(text)
    if found is None:
        return date.fromisoformat(text)
    year = int(found[4])
    if len(found[4]) == 2:  # as strptime of POSIX reads it
        year += 1900 if year >= _FIRST_OF_1900 else 2000
    parts = dict(zip(order, map(int, found.group(1, 3)), strict=True))
    return date(year, parts["month"], parts["day"])


def in_utc(text: str) -> datetime:
    """The moment of a time with an offset; ValueError for one without."""
    value = datetime.fromisoformat(text)
    if value.tzinfo is None:
        raise ValueError(text)
    return value.astimezone(UTC)


def to_microseconds(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """What reads a time as ``parse`` does, and raises Inexact for one that is finer."""

    def parsed(text: str) -> Any:
        value = parse(text)
        if _FINER.search(text):
            raise Inexact("digits", text, value)
        return value

    return parsed
