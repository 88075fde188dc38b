"""Checks that values are those of JSON, before they are written as such.

The libraries that write JSON have words for others, too: a tuple becomes an array, a date a text.
Read again, these would be other values.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterator
from gc import get_referents
from itertools import chain
from math import isfinite
from typing import Any

from serialpack.depth import MAX_DEPTH, TooDeep
from serialpack.literal import Literal

_CONTAINERS = {list, dict}
_JSON_TYPES = {type(None), bool, int, float, str, Literal, *_CONTAINERS}

#: Containers whose contents are looked at together: few enough to stay in the processor's cache.
_TOGETHER = 1000


def is_json(records: list[Any]) -> bool:
    """Whether all that is in ``records`` are values of JSON: see ``check_json``."""
    try:
        check_json(records)
    except ValueError:
        return False
    return True


def check_json(records: list[Any]) -> None:
    """ValueError where something in ``records`` is not a value of JSON, or is nested too deeply.

    Looks at many values together, in C; that takes about a third as long as to build them did.
    """
    level: list[Any] = [records]
    for _ in range(MAX_DEPTH + 2):
        if not level:
            return
        below: list[Any] = []
        for start in range(0, len(level), _TOGETHER):
            containers = level[start : start + _TOGETHER]
            values = get_referents(*containers)
            kinds = set(map(type, values))
            _check_types(kinds)
            # Of maps whose keys are all text, the collector knows no keys.
            if len(values) != sum(map(len, containers)):
                _check_keys([m for m in containers if type(m) is dict])
            if float in kinds:
                _check_finite(of_type(float, values, kinds))
            if kinds <= _CONTAINERS:
                below += values
            elif kinds & _CONTAINERS:
                below += [value for value in values if type(value) in _CONTAINERS]
        level = below
    raise TooDeep


def _check_types(kinds: set[type]) -> None:
    if not kinds <= _JSON_TYPES:
        names = sorted(kind.__name__ for kind in kinds - _JSON_TYPES)
        raise ValueError(f"{names[0]} is not a type of JSON")


def _check_finite(floats: list[float]) -> None:
    if not all(map(isfinite, floats)):
        raise ValueError("a NaN or an infinity is not JSON")


def _check_keys(maps: list[dict[Any, Any]]) -> None:
    if not {*map(type, chain.from_iterable(maps))} <= {str}:
        raise ValueError("a key that is no text is not JSON")


def json_levels(
    records: list[Any],
) -> Iterator[tuple[list[Any], set[type], list[dict[str, Any]]]]:
    """All values of one level, their types, and the maps among them; then of the next level.

    ValueError as ``check_json``, once it is met. It works in C; that takes about half as long as
    to build the values did.
    """
    level = records
    for _ in range(MAX_DEPTH + 2):
        if not level:
            return
        kinds = set(map(type, level))
        _check_types(kinds)
        if float in kinds:
            _check_finite(of_type(float, level, kinds))
        maps, lists = of_type(dict, level, kinds), of_type(list, level, kinds)
        _check_keys(maps)
        yield level, kinds, maps
        level = [*chain.from_iterable(map(dict.values, maps)), *chain.from_iterable(lists)]
    raise TooDeep


def of_type(kind: type, level: list[Any], kinds: set[type]) -> list[Any]:
    """The values of ``kind`` in ``level``, whose types are ``kinds``."""
    if kind not in kinds:
        return []
    return level if len(kinds) == 1 else [value for value in level if type(value) is kind]


def same_json(before: list[Any], after: list[Any]) -> bool:
    """Whether two lists certainly hold the same values of JSON, and nothing else.

    marshal writes the type and the last bit of each of these; other types it may write alike.
    """
    try:
        check_json(before)
        check_json(after)
        return marshal.dumps(before, 0) == marshal.dumps(after, 0)
    except ValueError:
        return False
