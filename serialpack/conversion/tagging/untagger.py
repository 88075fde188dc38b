"""Reads records of JSON with tags as the values that the tags stand for.

``Untagger.run`` takes what ``Tagger.run`` gave, or another writer of Extended JSON v2, and gives
the values back; ``extended_json`` has the table of tags.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

from serialpack.conversion.tagging.failures import BadTag, Place, difference_at
from serialpack.conversion.tagging.library_tags import READERS, pymongo_bson, read_decimal128
from serialpack.conversion.tagging.python_tags import ODD, integer_of, text_of
from serialpack.stages.stage import import_library
from serialpack.values.kinds import shown
from serialpack.values.yaml_tags import YamlTag

_Container = TypeVar("_Container", list[Any], dict[Any, Any])


class _Names(dict[str, str | None]):
    """What keys are called once they are read; None for those of tags."""

    def __missing__(self, key: str) -> str | None:
        escaped = key[:2] == "$$"
        self[key] = name = key[1:] if escaped else None if key[:1] == "$" else key
        return name


class Untagger:
    """Fills containers as ``Tagger`` does; what cannot be filled later is made at the end."""

    def __init__(self, decimal128: bool) -> None:
        self._readers = READERS | ({"$numberDecimal": read_decimal128} if decimal128 else {})
        self._name = _Names().__getitem__
        #: What is to be put into an array, or an object, and its place in the text.
        self._todo: list[tuple[Any, Any, Place | None]] = []
        #: What makes a value of a filled container, where it goes, and where it stands in the text.
        self._made: list[tuple[Callable[[], Any], Any, Any, Place]] = []

    def run(self, records: list[Any]) -> list[Any]:
        """The values that the records stand for; BadTag."""
        plain: list[Any] = []
        self._todo.append((records, plain, None))
        while self._todo:
            values, into, place = self._todo.pop()
            if type(into) is list:
                into += self._all(enumerate(values), place, into)
            else:
                read = self._all(values.items(), place, into)
                into.update(zip(map(self._name, values), read, strict=True))
        # What is inside of another was met after it.
        for make, into, key, place in reversed(self._made):
            try:
                into[key] = make()
            except ODD as error:
                raise self._bad(place, str(error)) from None
        return plain

    def _all(self, items: Iterable[tuple[Any, Any]], place: Place | None, into: Any) -> list[Any]:
        return [
            self._plain(value, place, step, into)
            if (kind := type(value)) is dict or kind is list
            else value
            for step, value in items
        ]

    def _plain(self, value: Any, above: Place | None, step: Any, into: Any) -> Any:
        """The value itself, to be filled; or None, where it is made later and put there."""
        place = above, step, value, 0
        if type(value) is list:
            return self._fill([], value, place)
        if len(value) == 1:
            ((name, content),) = value.items()
            reader = self._readers.get(name)
            if reader is not None:
                try:
                    return reader(content)
                except ODD as error:
                    raise self._bad(place, str(error)) from None
        if None not in [*map(self._name, value)]:
            return self._fill({}, value, place)
        key = step if type(step) is int else self._name(step)
        self._made.append((self._maker(value, place), into, key, place))
        return None

    def _fill(self, into: _Container, values: _Container, place: Place) -> _Container:
        self._todo.append((values, into, place))
        return into

    def _maker(self, value: dict[str, Any], place: Place) -> Callable[[], Any]:
        """Makes the value of a tag that holds others, once they are there."""
        known = {name: part for name, part in value.items() if self._name(name) is None}
        if {"$ref", "$id"} <= {*known} <= {"$ref", "$id", "$db"}:
            rest = {name: part for name, part in value.items() if name not in known}
            return partial(
                _reference, known, self._held(value, "$id", place), self._fill({}, rest, place)
            )
        if {*value} == {"$code", "$scope"}:
            return partial(_code, value["$code"], self._held(value, "$scope", place))
        name = next(iter(known))
        make = _MAKERS.get(name)
        if make is None and name not in self._readers:
            raise self._bad(place, "is none that is known")
        if make is None or len(value) > 1:
            raise self._bad(place, "has other keys beside it")
        if type(value[name]) is not list:
            raise self._bad(place, "must have an array")
        return partial(make, self._fill([], value[name], (place, name, value, 0)))

    def _held(self, value: dict[str, Any], name: str, place: Place) -> dict[Any, Any]:
        """The one value at ``name`` in a tag, which will be there."""
        return self._fill({}, {name: value[name]}, place)

    def _bad(self, place: Place, reason: str) -> BadTag:
        above, step, value, _ = place
        name = next(key for key in value if self._name(key) is None)
        return BadTag(difference_at(above, step, f"the tag {shown(name)}", "value"), reason)


def _elements(
    kind: type[set[Any]] | type[frozenset[Any]],
) -> Callable[[list[Any]], Any]:
    """Makes a set of the type ``kind``; ValueError where an element comes twice."""

    def make(values: list[Any]) -> Any:
        found = kind(values)
        if len(found) < len(values):
            raise ValueError("has an element twice")
        return found

    return make


def _map(pairs: list[Any]) -> dict[Any, Any]:
    if any(type(pair) is not list or len(pair) != 2 for pair in pairs):
        raise ValueError("must have arrays of a key and a value")
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("has a key twice")
    return found


def _frozen_map(pairs: list[Any]) -> Any:
    return import_library("cbor2", "cbor").frozendict(_map(pairs))


def _cbor_tag(parts: list[Any]) -> Any:
    if len(parts) != 2:
        raise ValueError("must have a number and a value")
    return import_library("cbor2", "cbor").CBORTag(integer_of(parts[0], 64), parts[1])


def _yaml_tag(parts: list[Any]) -> Any:
    if len(parts) != 2 or type(parts[1]) not in (str, list, dict):
        raise ValueError("must have a tag and text, an array or a map")
    if text_of(parts[0]) in ("", "!"):
        raise ValueError("must have a tag of its own")
    return YamlTag(*parts)


def _code(text: Any, held: dict[Any, Any]) -> Any:
    (scope,) = held.values()
    if type(scope) is not dict:
        raise ValueError("must have a map as $scope")
    return pymongo_bson().Code(text_of(text), scope)


def _reference(known: dict[str, Any], held: dict[Any, Any], rest: dict[str, Any]) -> Any:
    (identity,) = held.values()
    database = text_of(known["$db"]) if "$db" in known else None
    return pymongo_bson().DBRef(text_of(known["$ref"]), identity, database, rest)


_MAKERS: dict[str, Callable[[list[Any]], Any]] = {
    "$tuple": tuple,
    "$set": _elements(set),
    "$frozenset": _elements(frozenset),
    "$map": _map,
    "$frozenMap": _frozen_map,
    "$cborTag": _cbor_tag,
    "$yamlTag": _yaml_tag,
}
