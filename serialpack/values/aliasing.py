"""Whether what may be changed in a value stands in one place of it only."""

from __future__ import annotations

from enum import Enum
from itertools import compress
from typing import Any

from serialpack.depth.values import contents
from serialpack.values.alone import of_ipaddress
from serialpack.values.models import is_text_of_pydantic


def is_fixed(cls: Any) -> bool:
    """Whether objects of ``cls`` are values that nobody changes, so that one may stand in several
    places: addresses, members of enums, URLs, secrets."""
    of_text = of_ipaddress(cls) or is_text_of_pydantic(cls)
    return of_text or issubclass(cls, Enum)


def in_one_place(value: Any, kinds: frozenset[type], known: frozenset[type]) -> bool:
    """Whether each object in ``value`` that is of one of ``kinds``, which hold others, stands in
    one place of it. Those in others are not looked for.

    Of ``known`` an object may stand in several places, and of tuples and frozensets one that holds
    none of ``kinds``.
    """
    met: set[int] = {id(value)}
    level = [value]
    while level:
        held: list[Any] = []
        for values in contents(level):
            held += compress(values, map(kinds.__contains__, map(type, values)))
        ids = set(map(id, held))
        if len(ids) == len(held) and met.isdisjoint(ids):  # as nearly always
            met |= ids
            level = held
            continue
        level = []
        for each in held:
            if id(each) not in met:
                met.add(id(each))
                level.append(each)
            elif not _may_stand_twice(each, kinds, known):
                return False
    return True


def _may_stand_twice(value: Any, kinds: frozenset[type], known: frozenset[type]) -> bool:
    kind = type(value)
    if kind in (tuple, frozenset):
        return kinds.isdisjoint(map(type, value))
    return kind in known
