"""JSON text to values, with what these cannot hold noted: digits beyond a double, ``-0``, a key
that stands twice. For ``--lossy``, and for literals, which keep the text of a number."""

from __future__ import annotations

from functools import cache
from typing import Any

from serialpack.formats.json.parse import Scanner, scanner_with
from serialpack.formats.losses.exact import MAX_DIGITS, Inexact, exact_float
from serialpack.formats.losses.marks import Marks
from serialpack.literal import integer as literal_integer
from serialpack.literal import number as literal_number
from serialpack.values.kinds import NAN


@cache
def literal_scanner() -> Scanner:
    """A scanner to Python values, in which a number that Python writes otherwise is a literal."""
    return scanner_with(parse_float=literal_number, parse_int=literal_integer)


def marking_scanner(marks: Marks, *, literals: bool) -> Scanner:
    """A scanner to Python values that notes in ``marks`` what these do not hold of the text.

    NaN and infinities, which are no JSON, are floats where the user allows their loss.
    ``literals``: a number that Python writes otherwise is a literal instead.
    """
    constants = {"parse_constant": float} if NAN in marks.allowed else {}
    if literals:
        return scanner_with(
            parse_float=literal_number,
            parse_int=literal_integer,
            object_pairs_hook=marks.pairs,
            **constants,
        )

    def number(text: str) -> Any:
        try:
            return exact_float(text)
        except Inexact as lost:
            return marks.lost_number(lost)

    def integer(text: str) -> Any:
        if text == "-0":
            return marks.lost_number(Inexact("negative-zero", text, 0))
        if len(text) - text.startswith("-") > MAX_DIGITS:
            return marks.lost_number(Inexact("huge-integer", text))
        return int(text)

    return scanner_with(
        parse_float=number, parse_int=integer, object_pairs_hook=marks.pairs, **constants
    )
