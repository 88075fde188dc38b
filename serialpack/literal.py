"""Numbers that keep the text of their source."""

from __future__ import annotations


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


def number(text: str) -> float | Literal:
    """The float that ``text`` spells, where it is written so everywhere; else a Literal.

    Exponents are spelled in as many ways as there are writers.
    """
    value = float(text)
    if repr(value) == text and "e" not in text:
        return value
    return Literal(text, value if value - value == 0 else None)
