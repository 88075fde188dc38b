"""What the tests of projections share: a naive one, of parsed values, and broken structures."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any

from serialpack.columns.fields.json import Projection, untied
from serialpack.columns.parse.shape import Split, split
from serialpack.columns.stored import structure
from serialpack.columns.stored.structure import TextShape
from serialpack.columns.texts import Broken, Texts
from serialpack.values.structure import Structure

Field = tuple[str, ...]


class Map(list[tuple[str, Any]]):
    """The pairs of a map, in order; no list is the same."""

    __hash__ = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Map) and super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other


def spelled(number: str) -> tuple[str]:
    """A number or constant, which no string is the same as."""
    return (number,)


parse = json.JSONDecoder(
    object_pairs_hook=Map, parse_float=spelled, parse_int=spelled, parse_constant=spelled
).decode


def naive(value: Any, fields: list[Field]) -> Any:
    """Some fields of a map, or of the maps in a list."""
    if isinstance(value, Map):
        pairs = Map()
        for key, member in value:
            inner = [field[1:] for field in fields if field[0] == key]
            if () in inner:
                pairs.append((key, member))
            elif inner and isinstance(member, list):
                pairs.append((key, naive(member, inner)))
        return pairs
    return [naive(element, fields) if isinstance(element, list) else None for element in value]


def projected(
    found: Split,
    fields: list[Field],
    inside: str = "n",
    *,
    first: bool = True,
    last: bool = True,
) -> bytes:
    """Through the structure's bytes, and with the promised columns alone."""
    size = found.shape.size + sum(len(column.data) for column in found.columns)
    shape = found.shape
    if shape.columns and found.shape.walk.size:
        shape = structure.read(structure.write(shape, 3), size)
    projection = Projection(shape, fields, inside=Structure(inside), first=first, last=last)

    def texts(number: int) -> Any:
        assert number in projection.columns
        return found.columns[number]

    return projection.lines(texts)


def check(
    data: bytes,
    records: list[Any],
    fields: list[Field],
    inside: str = "n",
    *,
    first: bool = True,
    last: bool = True,
) -> None:
    """As columns, if there are any, and without."""
    for found in (split(data, "json"), untied(data)):
        if found is not None:
            lines = projected(found, fields, inside, first=first, last=last)
            assert lines.endswith(b"\n") or not records
            assert [parse(line) for line in lines.decode().split("\n")[:-1]] == [
                naive(record, fields) for record in records
            ]
            assert set(re.findall(rb'"(?:[^"\\]|\\.)*"', lines)) <= set(
                re.findall(rb'"(?:[^"\\]|\\.)*"', data)
            )


def paths_of(value: Any) -> set[Field]:
    """All fields that a value has."""
    if isinstance(value, Map):
        below = {(key, *path) for key, member in value for path in paths_of(member)}
        return below | {(key,) for key, _ in value}
    return set().union(*map(paths_of, value)) if isinstance(value, list) else set()


def flipped(found: Split, size: int, seed: int) -> Iterator[tuple[TextShape, list[Texts]]]:
    """What is read of the structure of a text of ``size`` bytes, some of its bits turned, wherever
    it is read; and columns for it."""
    stored = structure.write(found.shape, 3)
    flips = random.Random(seed)
    for _ in range(600):
        changed = bytearray(stored)
        for _ in range(flips.choice([1, 1, 4])):
            changed[flips.randrange(len(changed))] ^= 1 << flips.randrange(8)
        try:
            shape = structure.read(bytes(changed), size)
        except Broken:
            continue
        value = flips.choice([b"1", b""])
        yield shape, [Texts.from_list([value] * number) for number in shape.numbers]
