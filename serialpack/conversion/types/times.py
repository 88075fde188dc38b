"""The text of dates and times, read and written."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Any

from serialpack.formats.losses.exact import Inexact

_ANY_DAY_FIRST = re.compile(r"\d\d?\.\d\d?\.\d{4}", re.ASCII)
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
