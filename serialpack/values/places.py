"""Whether what may be changed in a value stands in one place of it only."""

from __future__ import annotations

from typing import Any

from serialpack.depth.values import contents


def in_one_place(value: Any, kinds: frozenset[type], known: frozenset[type]) -> bool:
    """Whether each object in ``value`` that is of one of ``kinds``, which hold others, stands in
    one place of it. Those in others are not looked for.

    Of ``known`` an object may stand in several places, and of tuples and frozensets one that holds
    none of ``kinds``.
    """
    met: set[int] = {id(value)}
    level = [value]
    while level:
        below = []
        for values in contents(level):
            for each in values:
                kind = type(each)
                if kind not in kinds:
                    continue
                if id(each) not in met:
                    met.add(id(each))
                    below.append(each)
                elif kind not in known and not (
                    kind in (tuple, frozenset) and kinds.isdisjoint(map(type, each))
                ):
                    return False
        level = below
    return True
