"""Losses that the user names: by which rule a value becomes one that the target holds.

Nothing is changed but what a named rule is about, and only where the target does not hold it. Each
change is counted, and the first one of each rule is kept with its place. Losses that only the
source's text shows (``formats.base.ValueFormat.parse_lossy``) are changed while it is read, and
merged here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple

from serialpack.errors import UsageError
from serialpack.values.kinds import COLUMNS, COMMENTS, DIGITS, DUPLICATES, UTF8, Loss, totals


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


class Losses:
    """Counts what was changed on purpose, by rule."""

    def __init__(self, allowed: Collection[str]) -> None:
        """UsageError for a rule that there is not."""
        for name in allowed:
            if name not in RULES:
                raise UsageError(f"unknown loss {name!r}", hint=_suggest(name))
        self.allowed = frozenset(allowed)
        self._found: list[Loss] = []

    def apply(
        self,
        records: list[Any],
        refused: frozenset[str],
        holds: Callable[[Any], bool],
        first_record: int,
        never: frozenset[str] = frozenset(),
    ) -> list[Any]:
        """The records, with each value changed that the target refuses and a rule is about.

        ``refused``: the kinds that the target may refuse; of a value of such a kind, ``holds``
        says whether it takes this one, alone; of a key, ``{key: "x"}``. ``never``: those of which
        it takes none, so that ``holds`` is not asked. Where what becomes of a value is refused
        too, by whatever rules, the value stays what it was. All other values, and containers of
        such, stay the very same objects. ``first_record``: the number of the first, in the whole
        source.

        ValueRefusedError where two keys of a map, or elements of a set, would become one.
        """
        from serialpack.conversion._changes import Applied

        changer = Applied(self.allowed, refused, holds, never)
        if not changer.active:
            return records
        changed = changer.changed(records, first_record)
        self.merge(changer.losses())
        return changed

    def merge(self, other: Losses | Iterable[Loss]) -> None:
        """Count what ``other`` counts too."""
        more = other._found if isinstance(other, Losses) else other
        self._found = totals([*self._found, *more])

    def report(self) -> list[Loss]:
        """One for each rule that changed something, in the order of ``RULES``."""
        return sorted(self._found, key=lambda loss: list(RULES).index(loss.rule))


def _suggest(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, RULES, n=3)
    if near:
        return "did you mean " + " or ".join(near) + "?"
    return "known: " + ", ".join(RULES)
