"""Columns of plain records, of which a rule makes text: all values of one at a time.

To walk the records, and to prove each value alone, takes ten times as long. What is not as simple
as that is left to who walks (``changes``): then nothing comes of it here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import compress
from operator import attrgetter, is_not
from typing import Any, NamedTuple
from uuid import UUID

from serialpack.conversion.losses.reversal import read_back
from serialpack.depth import TooDeep
from serialpack.depth.values import CONTAINERS, check_values
from serialpack.values.kind_of import kind_of
from serialpack.values.quick_equality import quickly_same

#: Columns by their names.
Columns = dict[str, Sequence[Any]]

#: The types of values of which a rule makes text.
_TYPES: frozenset[type] = frozenset({date, datetime, time, timedelta, Decimal, UUID, bytes})

#: Of these, equal ones are the same: to compare them takes a twentieth of what writing them takes.
_ALL_IN_EQUAL: frozenset[type] = frozenset({date, timedelta, bytes})


class TextColumn(NamedTuple):
    """What became of a column by ``rule``; ``first``: the number of the first value of it that was
    changed, ``changed``: how many were."""

    rule: str
    values: list[Any]
    first: int
    changed: int


class ColumnRules(NamedTuple):
    """The ``rules`` for each kind of values, in their order; of the kinds ``refused`` the target
    may hold some, of those in ``never`` none. ``changes``: what each rule makes of a value."""

    rules: Mapping[str, Sequence[str]]
    refused: frozenset[str]
    never: frozenset[str]
    changes: Mapping[str, Callable[[Any], Any]]

    def text_of(self, values: Sequence[Any]) -> TextColumn | None:
        """The column with the text of all that is not null, proved to be read again; None where
        that is not all there is to it."""
        kinds = set(map(type, values)) - {type(None)}
        if len(kinds) != 1 or not kinds <= _TYPES or "text" in self.refused:
            return None
        there = list(map(is_not, values, [None] * len(values)))
        some = list(compress(values, there))
        rule = self._rule_of(some)
        if rule is None:
            return None
        try:
            written, read = self._ways(rule, type(some[0]))
            texts = list(map(written, some))
            back = list(map(read, texts))
        except (ValueError, TypeError, OverflowError, ArithmeticError):
            return None
        if not {str}.issuperset(map(type, texts)) or not _are_same(some, back):
            return None
        each = iter(texts)
        made = texts if len(some) == len(values) else [next(each) if is_ else None for is_ in there]
        return TextColumn(rule, made, there.index(True), len(some))

    def _ways(self, rule: str, kind: type) -> tuple[Callable[[Any], Any], Callable[[str], Any]]:
        """What makes text of a value, and reads it again."""
        if rule == "timestamps" and (kind is date or kind is datetime or kind is time):
            return kind.isoformat, kind.fromisoformat  # as the rule does, found once
        return self.changes[rule], lambda text: read_back(rule, text, kind)

    def _rule_of(self, values: Sequence[Any]) -> str | None:
        """The one rule that is tried first for each of the values, none of which is held."""
        kinds = {"date"} if type(values[0]) is date else set(map(kind_of, values))
        first = {next(iter(self.rules.get(kind, ())), None) for kind in kinds}
        return first.pop() if len(first) == 1 and kinds <= self.never & self.refused else None


def columns_of(records: list[Any]) -> Columns | None:
    """The columns of maps with the same keys, which are text, in the same order; None for any other
    records, and where one of them stands twice."""
    if not records or not {dict}.issuperset(map(type, records)):
        return None
    names, others = list(records[0]), set(map(tuple, records))
    is_text = bool(names) and {str}.issuperset(map(type, names))
    if not is_text or len(others) > 1 or len(set(map(id, records))) < len(records):
        return None
    return dict(zip(names, zip(*map(dict.values, records), strict=True), strict=True))


def records_of(columns: Columns) -> list[dict[str, Any]]:
    """The records that columns are of."""
    return [dict(zip(columns, row)) for row in zip(*columns.values())]  # noqa: B905 (it is slow)


def are_shallow(values: Sequence[Any], kinds: set[type]) -> bool:
    """Whether no value, of one of the ``kinds``, is nested too deeply, or holds itself."""
    if kinds.isdisjoint(CONTAINERS):
        return True
    try:
        check_values([*values])
    except TooDeep:
        return False
    return True


def _are_same(was: list[Any], became: list[Any]) -> bool:
    """Whether values of one type are the same again, in all that they say."""
    if type(was[0]) not in _ALL_IN_EQUAL:
        return quickly_same(was, became, identity=False)
    return {type(was[0])}.issuperset(map(type, became)) and was == became


def _are_finite(values: Iterable[float]) -> bool:
    return math.isfinite(sum(values))


def _are_plain(values: Iterable[datetime]) -> bool:
    """Whether all are without a zone, or in UTC, as ``kind_of`` has it."""
    return {id(None), id(UTC)}.issuperset(map(id, map(attrgetter("tzinfo"), values)))


#: Of types of which most values stay, whether some are such, all at once.
OFTEN: dict[type, Callable[[Iterable[Any]], bool]] = {float: _are_finite, datetime: _are_plain}
