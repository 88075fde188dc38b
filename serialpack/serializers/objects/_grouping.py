"""What in the lists and maps of a value is written together, as one extension.

The library asks nobody about the items of a list or a map, so they are looked through before it
gets them, which takes about as long as it takes itself.
"""

from __future__ import annotations

from typing import Any

from serialpack.serializers.objects._alike import alike_together, few_together
from serialpack.serializers.objects._own_classes import names_in, names_of_fields
from serialpack.serializers.objects._own_types import (
    BY_PARTS,
    DATACLASS,
    ENUM,
    NAMED_TUPLE,
    OWN_TYPES,
    Makers,
    is_address,
    maker_of,
)
from serialpack.serializers.objects.arrays import is_array
from serialpack.serializers.objects.columns import (
    ALIKE,
    FEW,
    FEW_NUMBERS,
    MAP,
    OBJECTS_OF,
    Together,
    list_together,
    map_together,
    rows_together,
)

#: The extensions of values that are grouped where all are of one class; and all that are grouped.
_OF_ONE_CLASS = frozenset({DATACLASS, NAMED_TUPLE, *BY_PARTS})
GROUPED = _OF_ONE_CLASS | {ENUM}
#: Those that stand for a group.
GROUPS = frozenset({OBJECTS_OF, FEW, ALIKE})
_HOLDING = frozenset({list, dict, bytearray})


class Grouping:
    """``bytearrays``: as they are, not as the bytes that the library takes them for; ``rows``:
    lists of tuples together; ``columns``: so also many numbers, rows of any kind, and, with
    ``makers``, of which there is one for each class that was met, objects of a class."""

    def __init__(
        self, *, bytearrays: bool, rows: bool, columns: bool, makers: Makers | None
    ) -> None:
        self.bytearrays = bytearrays
        self.rows = rows or columns
        self.columns = columns
        self._makers = makers
        #: Whether there was a bytearray.
        self.met = False
        #: The classes of objects with fields, which are written wherever they stand.
        self.with_fields: set[type] = set()

    def apart(self, value: Any) -> Any:
        """``value`` with ``Together`` in place of what is written together."""
        kind = type(value)
        if kind is bytearray and self.bytearrays:
            self.met = True
            made = OWN_TYPES[bytearray](value)
            return made and Together(*made)
        if kind is list:
            if self.rows and (found := self._of_list(value)):
                return found
            if _HOLDING.isdisjoint(map(type, value)):
                return value
            return [self.apart(each) for each in value]
        if kind is dict:
            if self.columns and (found := map_together(value) or self._map_of_objects(value)):
                return found
            if _HOLDING.isdisjoint(map(type, value.values())):
                return value
            return {key: self.apart(each) for key, each in value.items()}
        return value

    def _of_list(self, value: list[Any]) -> Together | None:
        if not self.columns:
            return rows_together(value)
        return list_together(value) or self._of_objects(value)

    def _map_of_objects(self, value: dict[Any, Any]) -> Together | None:
        if len(value) < FEW_NUMBERS:
            return None
        found = self._of_objects([*value.values()])
        return found and Together(MAP, [[*value], found])

    def _of_objects(self, value: list[Any]) -> Together | None:
        makers = self._makers
        if makers is None or len(value) < FEW_NUMBERS:
            return None
        kinds = set(map(type, value))
        if found := few_together(value, kinds):
            return found
        return self._of_one_class(value, kinds.pop(), makers) if len(kinds) == 1 else None

    def _of_one_class(self, value: list[Any], cls: Any, makers: Makers) -> Together | None:
        if cls is Together or is_array(value[0]):
            return None
        make = OWN_TYPES.get(cls) or makers.get(cls)
        if make is None and (is_address(cls) or names_of_fields(cls) or names_in(cls)):
            make = maker_of(cls)
        first = None if make is None else make(value[0])
        if make is None or first is None or first[0] not in _OF_ONE_CLASS:
            return None
        if cls not in OWN_TYPES:
            makers[cls] = make
        made = [make(each) or (0, []) for each in value]
        if len({code for code, _ in made}) > 1:
            return None
        code, parts = first
        if code in BY_PARTS:
            return alike_together(code, [parts for _, parts in made])
        if code == DATACLASS:
            self.with_fields.add(cls)
        return Together(OBJECTS_OF, [code, *parts[:2], [parts[2:] for _, parts in made]])
