"""What in the lists and maps of a value is written together, as one extension.

The library asks nobody about the items of a list or a map, so they are looked through before it
gets them, which takes about as long as it takes itself.
"""

from __future__ import annotations

from typing import Any

from serialpack.serializers.objects._own_classes import names_in, names_of_fields
from serialpack.serializers.objects._own_types import (
    DATACLASS,
    NAMED_TUPLE,
    OWN_TYPES,
    Makers,
    maker_of,
)
from serialpack.serializers.objects.arrays import is_array
from serialpack.serializers.objects.columns import (
    FEW_NUMBERS,
    MAP,
    OBJECTS_OF,
    Together,
    list_together,
    map_together,
    rows_together,
)

#: The extensions of objects that are grouped.
GROUPED = frozenset({DATACLASS, NAMED_TUPLE})
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
        return list_together(value) or self._objects_of_one_class(value)

    def _map_of_objects(self, value: dict[Any, Any]) -> Together | None:
        if len(value) < FEW_NUMBERS:
            return None
        found = self._objects_of_one_class([*value.values()])
        return found and Together(MAP, [[*value], found])

    def _objects_of_one_class(self, value: list[Any]) -> Together | None:
        if self._makers is None or len(value) < FEW_NUMBERS:
            return None
        kinds = set(map(type, value))
        if len(kinds) > 1:
            return None
        cls = kinds.pop()
        if cls is Together or cls in OWN_TYPES or is_array(value[0]):
            return None
        if not (names_of_fields(cls) or names_in(cls)):
            return None
        make = self._makers.get(cls) or maker_of(cls)
        if make is None:
            return None
        self._makers[cls] = make
        made = [make(each) or (0, []) for each in value]
        if len({code for code, _ in made}) > 1 or made[0][0] not in GROUPED:
            return None
        code, (module, name, *_) = made[0]
        if code == DATACLASS:
            self.with_fields.add(cls)
        return Together(OBJECTS_OF, [code, module, name, [parts[2:] for _, parts in made]])
