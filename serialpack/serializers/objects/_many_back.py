"""Many objects of one class made again together, at the speed of C code."""

from __future__ import annotations

from collections import deque
from itertools import chain, repeat
from operator import itemgetter
from typing import Any

from serialpack.serializers.objects._own_classes import is_struct, names_in, settable_fields
from serialpack.serializers.objects._own_types import ATTRIBUTED, DATACLASS, NAMED_TUPLE
from serialpack.values.derived import setter_of_attributes, slots_of
from serialpack.values.parts import ATTRS_HASH


def many_back(code: int, cls: Any, rows: list[list[Any]]) -> list[Any] | None:
    """The objects of ``cls`` that the ``rows`` of parts are of, under the extension ``code``; None
    where they are not all alike, or have what they may not: of these each is made by itself. The
    caller has looked at the class."""
    if code == NAMED_TUPLE:
        alike = set(map(len, rows)) == {len(names_in(cls))}
        return list(map(tuple.__new__, repeat(cls), rows)) if alike else None
    held = list(chain.from_iterable(rows)) if set(map(len, rows)) == {1} else []
    if set(map(type, held)) != {dict}:
        return None
    if not set(map(type, chain.from_iterable(held))) <= {str}:  # which may be equal to text
        return None
    if code == DATACLASS:
        names = set(chain.from_iterable(held))
        if is_struct(cls) or ATTRS_HASH in names or not settable_fields(cls) >= names:
            return None
    made: list[Any] = list(map(object.__new__, repeat(cls, len(held))))
    return made if _keep_all(code, cls, made, held) else None


def _keep_all(code: int, cls: Any, made: list[Any], held: list[dict[str, Any]]) -> bool:
    """Set the attributes of all objects; False where some cannot be set so."""
    in_dict, slots = setter_of_attributes(cls), slots_of(cls)
    if in_dict is not None:
        _for_all(map(in_dict, made, held))
        return True
    names = tuple(held[0])
    if set(map(tuple, held)) != {names} or (code == ATTRIBUTED and not slots.keys() >= {*names}):
        return False
    for name in names:
        column = map(itemgetter(name), held)
        if code == ATTRIBUTED:
            _for_all(map(slots[name].__set__, made, column))
        else:
            _for_all(map(object.__setattr__, made, repeat(name), column))
    return True


def _for_all(calls: map[Any]) -> None:
    deque(calls, maxlen=0)
