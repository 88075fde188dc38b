"""Gives all values of one place the same type, for targets that have arrays.

An array has one type for all its items: so integers beside floats become doubles, null becomes NaN,
bytes beside text become base64, and all maps get the order of keys of the first (``of_one_type``).
"""

from __future__ import annotations

import math
from base64 import b64encode
from itertools import chain, islice
from typing import Any

from serialpack.conversion.losses.losses import Losses
from serialpack.depth import TooDeep
from serialpack.depth.values import check_values
from serialpack.values.kinds import Loss, shown, value_step

#: The rules of which these are.
NUMBERS, NULL, KEY_ORDER, BYTES = "numbers", "null", "key-order", "bytes"

_NUMBERS = {int, float}


def of_one_type(records: list[Any], losses: Losses, first_record: int) -> list[Any]:
    """The records with doubles for integers that stand where others have floats, NaN for null
    alone or beside numbers, base64 for bytes beside text, and keys in the order of the first map.

    A place is the same key of maps, and all elements of lists. Nothing is changed where a double
    is not exact, or where ``losses`` does not allow it.
    """
    if not records or not losses.allowed & {NUMBERS, NULL, KEY_ORDER, BYTES}:
        return records
    try:
        check_values(records)
    except TooDeep:  # which is refused
        return records
    widener = _Widener(len(records), first_record, losses.allowed)
    made = widener.column(records, "$")
    losses.merge(widener.told)
    return made


class _Widener:
    """Goes through records place by place, and changes the values of each as a whole."""

    def __init__(self, count: int, first_record: int, allowed: frozenset[str]) -> None:
        self._count = count
        self._allowed = allowed
        self._first_record = first_record
        self.told: list[Loss] = []

    def column(self, values: list[Any], path: str) -> list[Any]:
        """What becomes of the values of one place; the very list where nothing is changed."""
        types = set(map(type, values))
        if types == {list}:
            inner = list(chain.from_iterable(values))
            made = self.column(inner, f"{path}[]")
            items = iter(made)
            return (
                values if made is inner else [list(islice(items, len(value))) for value in values]
            )
        if types == {dict}:
            return self._maps(values, path)
        if types == {bytes, str} and BYTES in self._allowed:
            at = [number for number, value in enumerate(values) if type(value) is bytes]
            self._tell(BYTES, at, values, path, "base64")
            return [b64encode(v).decode() if type(v) is bytes else v for v in values]
        kinds = types - {type(None)} if NULL in self._allowed else types
        if (types == kinds and len(types) < 2) or not kinds <= _NUMBERS:
            return values
        return self._numbers(values, path)

    def _maps(self, values: list[Any], path: str) -> list[Any]:
        """Maps with the same keys, each key a place of its own; others as they are."""
        names = list(values[0])
        if not all(value.keys() == values[0].keys() for value in values):
            return values
        if KEY_ORDER in self._allowed:
            values = self._ordered(values, names, path)
        made = dict[str, list[Any]]()
        for name in names:
            inner = [value[name] for value in values]
            found = self.column(inner, path + value_step(name))
            if found is not inner:
                made[name] = found
        if not made:
            return values
        return [
            {**value, **dict(zip(made, row, strict=True))}
            for value, row in zip(values, zip(*made.values(), strict=True), strict=True)
        ]

    def _ordered(self, values: list[Any], names: list[str], path: str) -> list[Any]:
        other = [number for number, value in enumerate(values) if list(value) != names]
        if not other:
            return values
        self._tell(KEY_ORDER, other, values, path, "other order")
        return [{name: value[name] for name in names} for value in values]

    def _numbers(self, values: list[Any], path: str) -> list[Any]:
        """Doubles for integers beside floats, and NaN for null, where no double is inexact."""
        whole = [number for number, value in enumerate(values) if type(value) is int]
        none = [number for number, value in enumerate(values) if value is None]
        if whole and NUMBERS not in self._allowed:
            return values
        if any(abs(values[number]) > 1 << 53 for number in whole):
            return values
        for rule, at, became in ((NUMBERS, whole, "a double"), (NULL, none, "NaN")):
            if at:
                self._tell(rule, at, values, path, became)
        return [math.nan if value is None else float(value) for value in values]

    def _tell(self, rule: str, at: list[int], values: list[Any], path: str, became: str) -> None:
        """That the values at those places were changed."""
        first = self._first_record + at[0] * self._count // len(values)
        self.told.append(Loss(rule, len(at), first, path, shown(values[at[0]]), became))
