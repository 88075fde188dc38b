"""What in the lists and maps of a value is written together, as one extension.

The library asks nobody about the items of a list or a map, so they are looked through before it
gets them, which takes about as long as it takes itself.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from operator import itemgetter
from typing import Any

from serialpack.serializers.objects._alike import (
    alike_together,
    few_together,
    maps_together,
    parted,
    parts_together,
    several_together,
)
from serialpack.serializers.objects._own_classes import all_attributes, names_in, names_of_fields
from serialpack.serializers.objects._own_types import (
    ADDRESS,
    ATTRIBUTED,
    BY_PARTS,
    DATACLASS,
    ENUM,
    IPV4,
    NAMED_TUPLE,
    OWN_TYPES,
    REFERRED,
    Makers,
    is_address,
    maker_of,
    maker_of_others,
)
from serialpack.serializers.objects._stacked import arrays_together
from serialpack.serializers.objects.arrays import is_array
from serialpack.serializers.objects.columns import (
    ALIKE,
    FEW,
    FEW_ROWS,
    MAP,
    OBJECTS_OF,
    SEVERAL,
    STACK,
    Together,
    list_together,
    map_together,
    rows_together,
    states_together,
)
from serialpack.serializers.objects.guessed import FEW_NUMBERS
from serialpack.values.arrays import is_plain_array
from serialpack.values.attributed import has_attributes_alone, is_of_library
from serialpack.values.derived import attributes_of, columns_in_slots
from serialpack.values.parts import ATTRS_HASH

#: The extensions of values that are grouped where all are of one class; and all that are grouped.
_OF_ONE_CLASS = frozenset({DATACLASS, NAMED_TUPLE, ATTRIBUTED, *BY_PARTS})
GROUPED = _OF_ONE_CLASS | {ENUM}
#: Those that stand for a group.
GROUPS = frozenset({OBJECTS_OF, FEW, ALIKE, SEVERAL, STACK})
_HOLDING = frozenset({list, dict, bytearray})


class Grouping:
    """``bytearrays``: as they are, not as the bytes that the library takes them for; ``rows``:
    lists of tuples together; ``columns``: so also many numbers, rows of any kind, and, with
    ``makers``, of which there is one for each class that was met, objects of a class; with
    ``referring`` also of one whose objects may stand in several places."""

    def __init__(
        self,
        *,
        bytearrays: bool,
        rows: bool,
        columns: bool,
        referring: bool,
        makers: Makers | None,
    ) -> None:
        self.bytearrays = bytearrays
        self.rows = rows or columns
        self.columns = columns
        self.referring = referring
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
            if len(value) < FEW_ROWS and _HOLDING.isdisjoint(map(type, value)):
                return value
            if self.rows and (found := self._of_list(value)):
                return found
            if _HOLDING.isdisjoint(map(type, value)) or _are_short_lists(value):
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
        if len(kinds) > 1:
            return several_together(value, kinds, self._of_list)
        if kinds == {dict}:
            return maps_together(value, self._of_list)
        return self._of_one_class(value, kinds.pop(), makers)

    def _of_one_class(self, value: list[Any], cls: Any, makers: Makers) -> Together | None:
        if cls is Together:
            return None
        if is_plain_array(value[0]):
            again = _are_again(value)
            return (
                self.parted_by(value, again)
                if 1 in again
                else arrays_together(value, self._of_list)
            )
        if is_array(value[0]):
            return None
        make = OWN_TYPES.get(cls) or makers.get(cls) or _maker_of(cls)
        first = None if make is None else make(value[0])
        if make is None or first is None or first[0] not in _OF_ONE_CLASS:
            return None
        if cls not in OWN_TYPES:
            makers[cls] = make
        code, parts = first
        if code == ADDRESS and parts[0] == IPV4:
            return Together(ALIKE, [code, IPV4, list(map(int, value))])
        columns, items = _attributes_of(code, value, parts[-1]), _items_of(code, value)
        told = columns is not None or items is not None
        made = [] if told else [make(each) or (0, []) for each in value]
        if len({code for code, _ in made}) > 1:
            return None
        if code in BY_PARTS:
            return alike_together(code, [parts for _, parts in made])
        objects = value if code in REFERRED else ()
        if objects and not self.referring:
            return None
        if len(set(map(id, objects))) < len(objects):
            return self.parted_by(value, _are_again(value))
        if code == DATACLASS:
            self.with_fields.add(cls)
        held: Any = items or [parts[2:] for _, parts in made]
        if columns is not None:
            held = states_together(columns, len(value))
        return Together(OBJECTS_OF, [code, *parts[:2], held], objects)

    def parted_by(self, value: list[Any], known: bytes) -> Together | None:
        """What stands for arrays, or objects of one class, those that are ``known`` apart from the
        others; None where these are few."""
        if known.count(0) < FEW_NUMBERS:
            return None
        new, others = parted(value, known)
        found = self._of_objects(new)
        return found and parts_together(known, [found, others])


def _are_again(values: list[Any]) -> bytes:
    """Of each of ``values`` whether it stands before in them."""
    met: set[int] = set()
    before = bytearray(len(values))
    for place, each in enumerate(map(id, values)):
        before[place] = each in met
        met.add(each)
    return bytes(before)


def _attributes_of(code: int, values: list[Any], first: Any) -> dict[str, list[Any]] | None:
    """The attributes of objects of one class, by columns, where all have those of the ``first``,
    which are written as they are; else None. For most in a fifth of the time of their maker."""
    if code not in (DATACLASS, ATTRIBUTED) or type(first) is not dict or ATTRS_HASH in first:
        return None
    if (columns := columns_in_slots(type(values[0]), values)) is not None:
        alike = columns.keys() == first.keys()
        return {name: columns[name] for name in first} if alike else None
    get: Callable[[Any], Any] = attributes_of if code == ATTRIBUTED else all_attributes
    if type(object.__getstate__(values[0])) is dict:  # as it has no slots
        get = object.__getstate__
    states: list[Any] = list(map(get, values))
    if set(map(type, states)) != {dict} or set(map(tuple, states)) != {tuple(first)}:
        return None
    if not set(map(type, chain.from_iterable(states))) <= {str}:
        return None
    return {name: list(map(itemgetter(name), states)) for name in first}


def _items_of(code: int, values: list[Any]) -> list[list[Any]] | None:
    """The items of named tuples of one class, where they have nothing else; else None."""
    if code != NAMED_TUPLE or type(values[0]).__dictoffset__:
        return None
    return list(map(list, map(tuple.__iter__, values)))


def _are_short_lists(value: list[Any]) -> bool:
    """Whether a list has nothing but lists that are written as they are."""
    if set(map(type, value)) != {list} or max(map(len, value)) >= FEW_ROWS:
        return False
    return _HOLDING.isdisjoint(map(type, chain.from_iterable(value)))


def _maker_of(cls: Any) -> Any:
    """As ``maker_of`` and ``maker_of_others``, for classes whose objects may stand together."""
    if is_address(cls) or names_of_fields(cls) or names_in(cls):
        return maker_of(cls)
    return maker_of_others(cls) if has_attributes_alone(cls) and not is_of_library(cls) else None
