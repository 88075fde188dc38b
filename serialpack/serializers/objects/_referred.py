"""The values of a message that later ones may refer to, so that each is written once, and one again
where it is read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any

from serialpack.serializers.objects.arrays import SAME_OBJECT
from serialpack.serializers.objects.of_pandas import SAME_INDEX
from serialpack.values.aliasing import in_one_place, is_fixed

#: Stands for the number of an object that is being written.
_OPEN = (SAME_OBJECT, -1, None)


class Entangled(Exception):
    """One of many objects of a class, which were to be written together, stands in another."""


class MetArrays:
    """The arrays of a message, in order. ``referring``: whether any is referred to."""

    def __init__(self, *, referring: bool) -> None:
        self._referring = referring
        #: The number of each that the user's own values hold, by its identity, and the array, which
        #: must live on for that. What a library makes of its values may be one in memory by chance,
        #: and to be changed apart.
        self._known: dict[int, tuple[int, Any]] = {}
        self._count = 0

    def number_of(self, array: Any) -> int | None:
        found = self._known.get(id(array))
        return None if found is None else found[0]

    def keep(self, array: Any, *, again: bool) -> None:
        """Count ``array``; ``again``: it may be referred to."""
        if again and self._referring:
            self._known[id(array)] = self._count, array
        self._count += 1

    def begin(self, arrays: Sequence[Any]) -> bytes:
        """Many arrays are written together: as ``Referred.begin``."""
        met = bytes(map(self._known.__contains__, map(id, arrays)))
        return met if 1 in met else b""

    def end(self, arrays: Sequence[Any], *, again: bool) -> None:
        """They are written: only then each of them counts; ``again``: as of ``keep``."""
        if again and self._referring:
            numbers = range(self._count, self._count + len(arrays))
            self._known.update(zip(map(id, arrays), zip(numbers, arrays, strict=True), strict=True))
        self._count += len(arrays)


class Referred:
    """What is ``COUNTED``, indexes of pandas, which do not change, and generators, which change
    together, also those that others hold. ``referring``: whether any is referred to."""

    def __init__(self, *, referring: bool) -> None:
        self._referring = referring
        #: By identity by which extension it is said, the number, and the value, which must live on.
        self.known: dict[int, tuple[int, int, Any]] = {}
        self._objects = self._indexes = 0
        #: The classes of objects that were met of ``REFERRED``.
        self.classes: set[type] = set()
        #: The objects in each array of objects: the collector does not find them there.
        self.in_arrays: list[list[Any]] = []

    def known_as(self, value: Any) -> tuple[int, int] | None:
        """By which extension ``value`` is said, and its number, if it was written."""
        found = self.known.get(id(value))
        if found is _OPEN:
            raise Entangled
        return found and found[:2]

    def keep(self, value: Any, *, again: bool = True) -> None:
        """Count ``value``; ``again``: it may be referred to."""
        if again and self._referring:
            self.known[id(value)] = SAME_OBJECT, self._objects, value
        self._objects += 1

    def keep_index(self, value: Any, *, again: bool) -> None:
        """As ``keep``, of what pandas has beside frames and series."""
        if again and self._referring:
            self.known[id(value)] = SAME_INDEX, self._indexes, value
        self._indexes += 1

    def meet(self, cls: type) -> None:
        """An object of ``cls``, one with attributes alone or an exception, is kept."""
        if cls not in self.classes and not is_fixed(cls):
            self.classes.add(cls)

    def begin(self, objects: Sequence[Any]) -> bytes:
        """Many objects are written together; where some were written before, nothing begins, and of
        each it is told whether it was."""
        ids = list(map(id, objects))
        if not self.known.keys().isdisjoint(ids):
            return bytes(map(self.known.__contains__, ids))
        self.known.update(dict.fromkeys(ids, _OPEN))
        return b""

    def end(self, objects: Sequence[Any], *, again: bool) -> None:
        """They are written: only then each of them counts; ``again``: as of ``keep``."""
        if again:
            numbers = range(self._objects, self._objects + len(objects))
            kept = zip(repeat(SAME_OBJECT), numbers, objects, strict=False)
            self.known.update(zip(map(id, objects), kept, strict=True))
        self._objects += len(objects)

    def check_places(
        self, records: list[Any], holding: frozenset[type], with_fields: set[type]
    ) -> None:
        """TypeError where a list or the like stands in two places: it would be two, and who changes
        one by an attribute of an object that is written once means both. ``holding``: the types of
        what may change or hold others, ``with_fields``: those written wherever they stand."""
        known = self.classes - with_fields if self._referring else ()
        if not in_one_place([records, *self.in_arrays], holding, frozenset(known)):
            raise TypeError("one list or the like in two places of objects with attributes")
