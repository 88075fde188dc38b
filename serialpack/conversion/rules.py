"""The rules of ``--lossy``: which losses there are, by name."""

from __future__ import annotations

from typing import NamedTuple

from serialpack.values.kinds import COLUMNS, COMMENTS, DIGITS, DUPLICATES, UTF8


class Rule(NamedTuple):
    """What a rule is about, in one line, and the kinds of values (``KINDS``) that it changes."""

    about: str
    kinds: frozenset[str]


#: The rules, in the order in which they are tried and reported.
RULES: dict[str, Rule] = {
    "bytes": Rule("bytes become base64 text (RFC 4648)", frozenset({"bytes", "bytearray"})),
    "timestamps": Rule(
        "dates, times and durations become ISO 8601 text",
        frozenset(
            {
                *("utc-datetime", "offset-datetime", "zoned-datetime", "local-datetime"),
                *("date", "time", "timedelta"),
            }
        ),
    ),
    "keys": Rule("keys that are no text become text", frozenset({"integer-key", "key"})),
    "nan": Rule("NaN and infinities become null", frozenset({"non-finite", "nan-bits"})),
    # None is about integers of more than 4300 digits: Python does not write them in decimal.
    "bigint": Rule(
        "integers that the target cannot hold become decimal text",
        frozenset({"inexact-integer", "uint64", "bigint"}),
    ),
    DIGITS: Rule(
        "numbers become the nearest double, times are cut to microseconds", frozenset({"digits"})
    ),
    DUPLICATES: Rule("the last of equal keys wins", frozenset({"duplicate-keys"})),
    COMMENTS: Rule("comments are dropped", frozenset()),
    COLUMNS: Rule("the names of columns are dropped, of a table without rows", frozenset()),
    UTF8: Rule(
        "invalid UTF-8 and lone surrogates become U+FFFD",
        frozenset({"surrogates"}),
    ),
    "types": Rule(
        "numbers, booleans and null become the text that JSON has for them",
        frozenset(
            {
                *("null", "boolean", "integer", "inexact-integer", "uint64", "bigint"),
                *("float", "integral-float"),
            }
        ),
    ),
}


def rule_for(kind: str) -> str | None:
    """The rule that allows the loss of a kind of values; None where none does."""
    return next((name for name, rule in RULES.items() if kind in rule.kinds), None)
