"""What an object keeps in its ``__dict__``, whatever its class says that is."""

from __future__ import annotations

from functools import lru_cache
from gc import get_referents
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

#: What gives the real attributes of an object.
_PLACES = GetSetDescriptorType | MemberDescriptorType


@lru_cache(256)
def hides_attributes(cls: Any) -> bool:
    """Whether ``cls`` says itself what ``__dict__`` is, which everybody asks for attributes."""
    there = (vars(each).get("__dict__") for each in cls.__mro__)
    return any(place is not None and not isinstance(place, _PLACES) for place in there)


def held_in_dict(value: Any) -> dict[str, Any]:
    """The attributes of ``value`` that are in no slot; of one whose class hides them, at least the
    values of these."""
    cls: Any = type(value)
    if not hides_attributes(cls):
        return dict(getattr(value, "__dict__", {}))
    places = (vars(each).get("__dict__") for each in cls.__mro__)
    for place in places:
        if isinstance(place, _PLACES):
            return {**place.__get__(value)}
    return {"__dict__": [part for part in get_referents(value) if part is not cls]}
