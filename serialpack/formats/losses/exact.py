"""Numbers and times of text formats whose value in Python would be another one: ``Inexact``.

And the other way round: values of which the text of a format would say less than they are.
"""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal, DecimalException
from typing import Any

from serialpack.errors import ValueRefusedError
from serialpack.literal import MAX_DIGITS as MAX_DIGITS
from serialpack.literal import Literal
from serialpack.text import with_article
from serialpack.values.kinds import KINDS, TEXT_KINDS, Difference, Unheld


class Inexact(Exception):
    """What a text says is more than Python's value of it; ``kind`` is one of ``KINDS``.

    ``nearest``: the nearest value that there is: an infinity for a number beyond all doubles, 0 for
    an integer -0; None where there is none.
    """

    def __init__(self, kind: str, text: str, nearest: Any = None) -> None:
        super().__init__(kind, text)
        self.kind = kind
        self.text = text
        self.nearest = nearest


def not_held(lost: Difference, message: str = "") -> ValueRefusedError:
    """The error for a value in a source that no serializer can hold, as Python has none for it."""
    return ValueRefusedError(
        message or f"Python has no value for {lost.was}",
        record=lost.record,
        value_path=lost.value_path,
        kind=lost.kind,
        hint="pack -s raw keeps the bytes",
    )


def not_read(title: str, lost: Difference) -> Unheld | ValueRefusedError:
    """The error for a value in a source that has no place among Python's values.

    A serializer's refusal names one that holds the value. Here none does: the reader cannot hold
    it.
    """
    if lost.kind in TEXT_KINDS or lost.kind == "depth":
        return Unheld(lost)
    what = f"{with_article(title)} source with {KINDS[lost.kind]}"
    return not_held(lost, f"{what} is not read as values: {lost.was}")


def exact_float(text: str) -> float:
    """The double that a decimal ``text`` means; Inexact where it is another number.

    It is the same where the double, written with the fewest digits that tell it from all others,
    is the number in the text: 0.1 is, 0.1000000000000000000001 is not. ValueError for no number.
    """
    value = float(text)
    if value - value != 0:
        raise Inexact("overflow", text, value)
    if repr(value) != text and not _same(text, repr(value)):
        raise Inexact("digits" if value else "overflow", text, value)
    return value


def _same(text: str, other: str) -> bool:
    """Whether two decimal texts are one number."""
    try:
        return Decimal(text) == Decimal(other)
    except DecimalException:
        # An exponent that even decimal cannot count: only zero is the same with it, which is
        # zero times any power of ten (0e99999999999999999999).
        return not text.lower().partition("e")[0].strip("-+.0")


#: The most digits that a double has.
_MOST_OF_DOUBLE = 767


def held(literal: Literal) -> int | float:
    """Python's value of a literal; Inexact where that is another number.

    A double is the number of a text that it equals when it is rounded to as many digits as the
    text has: then the text says all that it says, and nothing else. -65.613616999999977 does.
    """
    text, value = literal.text, literal.value
    if value is None:
        if text == "-0":
            raise Inexact("negative-zero", text, 0)
        if text.lstrip("-").isdigit():
            raise Inexact("huge-integer", text)
        raise Inexact("overflow", text, float(text))
    if type(value) is int or value - value != 0:
        return value
    # This tells most numbers (12.50, and all digits of a double) in a third of the time.
    if f"{value:.{max(len(text) - text.find('.') - 1, 0)}f}" == text:
        return value
    text = text.replace("_", "").lower()
    if _same(text, repr(value)):
        return value
    digits = text.partition("e")[0].lstrip("+-").replace(".", "").lstrip("0")
    if not value or not _same(text, f"{value:.{min(len(digits), _MOST_OF_DOUBLE) - 1}e}"):
        raise Inexact("digits" if value else "overflow", literal.text, value)
    return value


def checked_integer(value: int, text: str) -> int:
    """``value``; Inexact where Python would not write it in decimal digits."""
    if value.bit_length() > 14280:  # at most MAX_DIGITS digits
        raise Inexact("huge-integer", text)
    return value


def check_zone(value: datetime) -> None:
    """ValueError where a text like ``2023-10-25T00:44:28+02:00`` says less than ``value``."""
    zone, offset = value.tzinfo, value.utcoffset()
    if value.fold:
        raise ValueError("there are no words for a fold")
    if zone is None or offset is None:
        return
    if type(zone) is not timezone or repr(zone) != repr(timezone(offset)):
        raise ValueError("there are no words for the name of a zone")
    if offset.seconds % 60 or offset.microseconds:
        raise ValueError("there are no words for the seconds of an offset")
