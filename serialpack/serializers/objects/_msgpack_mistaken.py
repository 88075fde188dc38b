"""Values that msgpack-python takes for others of MessagePack's own, without asking anybody."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from serialpack.depth.values import contents

#: What is written as these, bytes or an extension, may have been of a type of ``_taken``.
ANY_TAKEN = re.compile(rb"[\xc4-\xc9\xd4-\xd8]")
_BELOW = frozenset({list, dict})
_PLAIN = _BELOW | {type(None), bool, int, float, str, bytes}


@cache
def _taken() -> frozenset[type]:
    """The types that msgpack-python writes as bytes, or as an extension, without calling
    ``default``."""
    import msgpack

    return frozenset({bytearray, memoryview, msgpack.ExtType})


def check_taken(value: Any) -> None:
    """TypeError where a value of one of ``_taken`` is in the lists and maps of ``value``. All else
    in it is written by a call of its own, which looks there."""
    level, taken = [[value]], _taken()
    while level:
        below: list[Any] = []
        for values in contents(level):
            kinds = set(map(type, values))
            for kind in kinds & taken:
                raise TypeError(f"cannot hold {kind.__name__}")
            if kinds & _BELOW:
                plain = kinds <= _PLAIN  # in others of these the collector finds nothing
                below += values if plain else [v for v in values if type(v) in _BELOW]
        level = below
