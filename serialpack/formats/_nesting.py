"""How deeply values are nested, and of which types they are: looked at before a library is given
them that recurses without a limit, or that takes what it then changes.

All values of one level are looked at together, in C as far as that goes: about a tenth of what
it costs to serialize them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from serialpack.formats.base import MAX_DEPTH
from serialpack.sameness.contents import contents

#: Containers whose elements the collector knows: all of them, and (of maps whose keys are all
#: text) no keys.
CONTAINERS = frozenset({list, dict, tuple, set, frozenset})


def levels(
    records: list[Any],
    plain: frozenset[type],
    inside: Callable[[Any], list[Any]],
    containers: frozenset[type] = CONTAINERS,
) -> int:
    """How many containers stand within each other in ``records``, which itself does not count.

    ``plain`` are the types that hold no other values. What is neither plain nor one of
    ``containers`` is given to ``inside``, which returns the values in it, or raises TypeError for
    what is not to be taken. Types are told exactly: a subclass is another type.

    RecursionError beyond MAX_DEPTH, which every container that holds itself is.
    """
    level: list[Any] = [records]
    depth = -1
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise RecursionError(f"nested more than {MAX_DEPTH} levels deep, or holding itself")
        above, level = level, []
        for values in contents(above):
            if not plain.issuperset(map(type, values)):
                level += [value for value in values if type(value) not in plain]
        odd = set(map(type, level)) - containers
        while odd:
            level = [
                part
                for value in level
                for part in (inside(value) if type(value) in odd else (value,))
                if type(part) not in plain
            ]
            odd = {type(value) for value in level} - containers
    return depth
