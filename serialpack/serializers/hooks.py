"""Turns objects of the user's classes into plain values and back, by ``default`` and
``object_hook`` as ``json`` has them.

An object that stands in two places is turned once, and is one object again. A value that is inside
itself is refused with ValueError.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from serialpack.depth import MAX_DEPTH, TooDeep
from serialpack.formats.shared.recursion import frames_for
from serialpack.text import with_article
from serialpack.values.kind_of import kind_of

#: Kinds of values that formats have no words for.
OWN = frozenset({"object", "function", "number-array"})

#: Types whose values are never of such a kind, and hold none.
_LEAVES = frozenset({type(None), bool, int, float, str, bytes})


def lower(value: Any, default: Callable[[Any], Any], kinds: frozenset[str] = OWN) -> Any:
    """``value`` with ``default(part)`` for every part of one of ``kinds``; the very same without
    any.

    What ``default`` gives is looked through too. A TypeError from it means that it does not know
    the part, which stays as it is; so do keys, and what is in sets.
    """
    with frames_for(2):
        return _Lower(default, kinds).turned(value)


def lift(value: Any, object_hook: Callable[[dict[Any, Any]], Any]) -> Any:
    """``value`` with ``object_hook(map)`` for every map, innermost first; lists are changed."""
    with frames_for(2):
        return _Lift(object_hook).turned(value)


class _Turn(ABC):
    """Goes through a value, with two calls for each level."""

    def __init__(self) -> None:
        #: By id each value that was met (held, so that no other gets its id), and what it is turned
        #: into; without that while it is being turned.
        self._met: dict[int, tuple[Any, ...]] = {}
        self._level = 0

    @abstractmethod
    def _new(self, value: Any) -> Any:
        """What ``value`` is turned into."""

    def _is_leaf(self, value: Any) -> bool:
        return type(value) in _LEAVES

    def turned(self, value: Any) -> Any:
        if self._is_leaf(value):
            return value
        if id(value) in self._met:
            if len(met := self._met[id(value)]) == 1:
                raise ValueError(f"{with_article(type(value).__name__)} is inside itself")
            return met[1]
        if self._level > MAX_DEPTH:
            raise TooDeep
        self._met[id(value)] = (value,)
        self._level += 1
        found = self._new(value)
        self._level -= 1
        self._met[id(value)] = (value, found)
        return found


class _Lower(_Turn):
    def __init__(self, default: Callable[[Any], Any], kinds: frozenset[str]) -> None:
        super().__init__()
        self._default = default
        self._kinds = kinds

    def _is_leaf(self, value: Any) -> bool:
        return super()._is_leaf(value) and (self._kinds is OWN or not self._wanted(value))

    def _wanted(self, value: Any) -> bool:
        return kind_of(value) in self._kinds

    def _new(self, value: Any) -> Any:
        if self._wanted(value):
            try:
                plain = self._default(value)
            except TypeError:
                return value
            return value if plain is value else self.turned(plain)
        if type(value) is dict:
            parts = dict(value)
            for key, part in value.items():
                parts[key] = self.turned(part)
            return parts if _changed(value.values(), parts.values()) else value
        if type(value) in (list, tuple):
            found = list(value)
            for i, part in enumerate(value):
                found[i] = self.turned(part)
            return type(value)(found) if _changed(value, found) else value
        return value


def _changed(before: Any, after: Any) -> bool:
    return any(old is not new for old, new in zip(before, after, strict=True))


class _Lift(_Turn):
    def __init__(self, object_hook: Callable[[dict[Any, Any]], Any]) -> None:
        super().__init__()
        self._object_hook = object_hook

    def _new(self, value: Any) -> Any:
        if type(value) is dict:
            for key, part in value.items():
                value[key] = self.turned(part)
            return self._object_hook(value)
        if type(value) is list:
            for i, part in enumerate(value):
                value[i] = self.turned(part)
            return value
        if type(value) is tuple:
            found = list(value)
            for i, part in enumerate(value):
                found[i] = self.turned(part)
            return tuple(found) if _changed(value, found) else value
        return value
