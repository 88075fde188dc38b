"""Numbers that keep the text of their source."""

from __future__ import annotations

import re

#: A number of JSON (RFC 8259, section 6).
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")

#: The most digits of an integer that Python turns into text and back (its default limit).
MAX_DIGITS = 4300


class Literal:
    """A number as a source's text spells it, where Python's value would be written otherwise.

    ``value`` is Python's: the very number, or the nearest one; None where there is none. It
    stands among records only between formats that write numbers as text. It is no number of
    Python's, so that whatever does not know it fails, and drops no digit.
    """

    __slots__ = ("text", "value")

    def __init__(self, text: str, value: int | float | None) -> None:
        self.text = text
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is Literal and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return self.text

    def __json__(self) -> str:
        """What ujson writes of it, as it stands."""
        return self.text


def is_number(text: str) -> bool:
    """Whether ``text`` is a number of JSON."""
    return _NUMBER.fullmatch(text) is not None


def integer(text: str) -> int | Literal:
    """The integer that ``text`` spells, as a Literal where Python would not write it so."""
    if text == "-0" or len(text) - text.startswith("-") > MAX_DIGITS:
        return Literal(text, None)
    return int(text)


def number(text: str) -> float | Literal:
    """The float that ``text`` spells, where it is written so everywhere; else a Literal.

    Exponents are spelled in as many ways as there are writers.
    """
    value = float(text)
    if repr(value) == text and "e" not in text:
        return value
    return Literal(text, value if value - value == 0 else None)
