"""Regular expressions and fractions as the parts of extensions of MessagePack, and back. Of both
some take more calls, or more time, than their bytes allow for: so there is a bound on them."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import accumulate
from typing import Any

#: So many brackets within each other a regular expression may have: ``re`` takes some calls for
#: each, of which Python allows 1000 as a rule.
_MOST_BRACKETS = 250

#: The most bits of a numerator and a denominator together: Python looks for what divides both in
#: time that grows with the square of them, and takes a minute for a megabyte.
_MOST_BITS = 1 << 17


def parts_of_fraction(value: Fraction) -> list[Any]:
    """The numerator and the denominator; TypeError for a fraction beyond the bound."""
    parts = [value.numerator, value.denominator]
    if sum(map(int.bit_length, parts)) > _MOST_BITS:
        raise TypeError("a fraction of too many digits")
    return parts


def fraction_back(numerator: int, denominator: int) -> Fraction:
    """The fraction of its parts; ValueError for others, and beyond the bound."""
    parts = numerator, denominator
    if any(type(part) is not int for part in parts) or sum(map(int.bit_length, parts)) > _MOST_BITS:
        raise ValueError("no fraction, or one of too many digits")
    return Fraction(numerator, denominator)


def parts_of_pattern(value: re.Pattern[Any]) -> list[Any]:
    """The text and the flags of a regular expression; TypeError for one beyond the bound."""
    if _brackets(value.pattern) > _MOST_BRACKETS:
        raise TypeError("a regular expression with too many brackets within each other")
    return [value.pattern, value.flags]


def pattern_back(text: Any, flags: int) -> Any:
    """The regular expression of its parts; ValueError where they are of none."""
    if type(text) not in (str, bytes) or type(flags) is not int or flags & re.DEBUG:  # it prints
        raise ValueError("no regular expression")
    if _brackets(text) > _MOST_BRACKETS:  # whatever calls are allowed just now
        raise ValueError("no regular expression (too many brackets within each other)")
    try:
        return re.compile(text, flags)
    except (re.error, RecursionError, FutureWarning) as error:
        raise ValueError(f"no regular expression ({error})") from None


def _brackets(pattern: str | bytes) -> int:
    """How deep brackets are nested in a regular expression, counting those that stand for
    themselves."""
    marks = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
    return max(accumulate((mark == "(") - (mark == ")") for mark in marks), default=0)
