"""Many small arrays of one type and shape as the part of an extension, which is one array; and
back."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter, methodcaller
from typing import Any

from serialpack.formats.python.buffers import LARGE
from serialpack.serializers.objects._alike import in_common_parts
from serialpack.serializers.objects.arrays import is_of_numbers
from serialpack.serializers.objects.columns import STACK, Together, array_in

_FACTS = attrgetter("dtype", "shape", "flags.c_contiguous", "flags.writeable")


def arrays_together(
    arrays: list[Any], together: Callable[[list[Any]], Together | None]
) -> Together | None:
    """What stands for a list of arrays of NumPy's own class, of which each stands there once, and
    others may refer to it; those of one type and shape in a list of their own. None where they are
    of many, or are none that could be read as others are: large, read-only, without items, or in
    pieces. ``together``: what gives what stands for a list."""
    facts = list(map(_FACTS, arrays))
    if len(set(facts)) > 1:
        return in_common_parts(arrays, facts, together)
    kind, shape, whole, writeable = facts[0]
    held = 0 < arrays[0].nbytes < LARGE and shape and is_of_numbers(kind)
    if not (held and whole and writeable) or any(map(attrgetter("dtype.metadata"), arrays)):
        return None
    import numpy as np

    data = bytearray().join(map(methodcaller("tobytes"), arrays))
    return Together(STACK, [np.frombuffer(data, kind).reshape(len(arrays), *shape)], arrays)


def arrays_back(part: Any) -> list[Any]:
    """The arrays that the part of STACK has; ValueError for any other."""
    found = array_in(part)
    if found.ndim < 2 or not found.size or not is_of_numbers(found.dtype):
        raise ValueError("no array of arrays")
    return list(map(methodcaller("copy"), found))
