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
    """What the library takes for bytes, or for an extension of ours, and asks nobody."""
    import msgpack

    return frozenset({bytearray, memoryview, msgpack.ExtType})


def check_taken(value: Any) -> None:
    """TypeError where one of ``_taken`` is in a value that was written: in its own lists and maps,
    as all else is written apart."""
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
