"""Writes records of any values as records of JSON, with tags for what JSON has no words for.

``Tagger.run`` takes a list of records and gives the list of what they become; ``extended_json``
has the table of tags.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

from serialpack.conversion.tagging.failures import (
    Place,
    TagFailure,
    TagsTooDeep,
    Untaggable,
    difference_at,
)
from serialpack.conversion.tagging.library_tags import library_tag
from serialpack.conversion.tagging.python_tags import LARGE, ODD, WRITERS
from serialpack.depth import MAX_DEPTH, TOO_DEEP
from serialpack.depth.values import depth_of
from serialpack.literal import Literal
from serialpack.values.kind_of import kind_of
from serialpack.values.kinds import key_kind, shown
from serialpack.values.parts import attributes
from serialpack.values.sets import in_order
from serialpack.values.yaml_tags import YamlTag

#: Arrays and objects in a tag that holds no other values, at most.
_TAG_DEPTH = 3

#: Types whose values JSON has words for, whatever they are.
_AS_IS = frozenset({str, bool, type(None), Literal})

_LISTED: dict[type, str] = {tuple: "$tuple", set: "$set", frozenset: "$frozenset"}


class _TaggedNames(dict[str, str]):
    """What keys of text are called."""

    def __missing__(self, key: str) -> str:
        self[key] = name = "$" + key if key[:1] == "$" else key
        return name


class _Pair(NamedTuple):
    """A member of a map whose keys are not all text."""

    key: Any
    part: Any


class Tagger:
    """Makes containers empty, and fills them later, one after the other: without recursion."""

    def __init__(self, decimal128: bool) -> None:
        self._decimal128 = decimal128
        self._writers = WRITERS | ({Decimal: _beside_bson} if decimal128 else {})
        #: What is to be put into an array or an object, and the place of that.
        self._todo: list[tuple[Any, Any, Place | None]] = []

    def run(self, records: list[Any]) -> list[Any]:
        """The records with tags; TagFailure for a value that has none."""
        tagged: list[Any] = []
        names = _TaggedNames().__getitem__
        self._todo.append((records, tagged, None))
        while self._todo:
            values, into, place = self._todo.pop()
            if type(values) is _Pair:
                assert place is not None
                into += [self._key(values.key, place), self._any(values.part, place, (values.key,))]
            elif type(into) is list:
                into += self._all(enumerate(values), place)
            else:
                into.update(zip(map(names, values), self._all(values.items(), place), strict=True))
        return tagged

    def _all(self, items: Iterable[tuple[Any, Any]], place: Place | None) -> list[Any]:
        """Values with their steps. Most are numbers and text, so those cost no call."""
        return [
            value
            if (kind := type(value)) in _AS_IS
            or (kind is int and -LARGE < value < LARGE)
            or (kind is float and value - value == 0)
            else self._tagged(value, place, step)
            for step, value in items
        ]

    def _tagged(self, value: Any, place: Place | None, step: Any) -> Any:
        """What a value becomes, empty where it holds others: these are put in later."""
        kind = type(value)
        if kind is dict:
            if {*map(type, value)} <= {str}:
                return self._object(value, {}, self._place(place, step, value, 1))
            return {"$map": self._pairs(value, self._place(place, step, value, 3))}
        if kind is list:
            return self._array(value, self._place(place, step, value, 1))
        if kind in _LISTED:
            inside = self._place(place, step, value, 2)
            return {_LISTED[kind]: self._array(value if kind is tuple else in_order(value), inside)}
        try:
            writer = self._writers.get(kind)
            found = self._of_library(value, place, step) if writer is None else writer(value)
        except ODD as error:
            if isinstance(error, TagFailure):
                raise
            lost = difference_at(place, step, shown(value), kind_of(value))
            raise Untaggable(lost, f"cannot be tagged ({error})") from None
        around = 0 if place is None else place[3]
        if around > MAX_DEPTH - _TAG_DEPTH and around + depth_of(found, _TAG_DEPTH) > MAX_DEPTH:
            raise self._too_deep(value, place, step)
        return found

    def _any(self, value: Any, place: Place | None, step: Any) -> Any:
        return value if type(value) in _AS_IS else self._tagged(value, place, step)

    def _array(self, values: Iterable[Any], place: Place) -> list[Any]:
        into: list[Any] = []
        self._todo.append((values, into, place))
        return into

    def _object(self, values: dict[str, Any], into: dict[str, Any], place: Place) -> dict[str, Any]:
        self._todo.append((values, into, place))
        return into

    def _pairs(self, value: Any, place: Place) -> list[list[Any]]:
        pairs: list[list[Any]] = [[] for _ in value]
        for pair, item in zip(pairs, value.items(), strict=True):
            self._todo.append((_Pair(*item), pair, place))
        return pairs

    def _key(self, key: Any, place: Place) -> Any:
        """A key of a map whose keys are not all text; an error says that it is one."""
        try:
            return self._any(key, place, (key,))
        except Untaggable as error:
            lost = error.difference
            kind = key_kind(key) or lost.kind
            raise Untaggable(
                difference_at(place[0], place[1], f"the key {shown(key)}", kind), error.reason
            ) from None

    def _of_library(self, value: Any, place: Place | None, step: Any) -> Any:
        """A value of no type of Python's own; one of ``ODD`` where it is none with a tag."""
        kind = type(value)
        name = f"{kind.__module__}.{kind.__name__}"
        if name == "cbor2.CBORTag":
            parts = [value.tag, value.value]
            return {"$cborTag": self._array(parts, self._place(place, step, value, 2))}
        if kind is YamlTag:
            parts = [value.tag, value.value]
            return {"$yamlTag": self._array(parts, self._place(place, step, value, 2))}
        if name == "cbor2.frozendict":
            return {"$frozenMap": self._pairs(value, self._place(place, step, value, 3))}
        if name == "bson.dbref.DBRef":
            return self._reference(value, self._place(place, step, value, 1))
        if name == "bson.code.Code" and value.scope is not None:
            scope = _map_of_json(value.scope)
            inside = self._place(place, step, value, 1)
            return {
                "$code": str.__str__(value),
                "$scope": self._object(scope, {}, self._place(inside, "$scope", scope, 1)),
            }
        found = library_tag(value)
        return found["$bson"] if self._decimal128 and _is_decimal128(found) else found

    def _reference(self, value: Any, inside: Place) -> dict[str, Any]:
        into = {"$ref": value.collection, "$id": self._any(value.id, inside, "$id")}
        if value.database is not None:
            into["$db"] = value.database
        rest = _map_of_json(attributes(value)["_DBRef__kwargs"])
        return self._object(rest, into, inside)

    def _place(self, place: Place | None, step: Any, value: Any, levels: int) -> Place:
        """The place of what is in ``value``, which is so many arrays and objects of JSON."""
        depth = levels + (0 if place is None else place[3])
        if depth > MAX_DEPTH:
            raise self._too_deep(value, place, step)
        return place, step, value, depth

    def _too_deep(self, value: Any, place: Place | None, step: Any) -> TagFailure:
        """The error for values nested too deeply, or within themselves."""
        around: list[Place] = [(place, step, value, 0)]
        while place is not None:
            around.append(place)
            place = place[0]
        met: set[int] = set()
        for above, last, container, _ in reversed(around):
            if id(container) in met:
                was = type(container).__name__
                return Untaggable(difference_at(above, last, was, "cycle"), "holds itself")
            met.add(id(container))
        lost = difference_at(None, around[-1][1], TOO_DEEP, "depth")
        return TagsTooDeep(lost, "within each other, with those of the tags")


def _map_of_json(value: Any) -> dict[str, Any]:
    if type(value) is not dict or not {*map(type, value)} <= {str}:
        raise TypeError("its fields are no map with keys of text")
    return value


def _beside_bson(value: Decimal) -> Any:
    return {"$decimal": WRITERS[Decimal](value)["$numberDecimal"]}


def _is_decimal128(found: dict[str, Any]) -> bool:
    return "$bson" in found and "$numberDecimal" in found["$bson"]
