"""Containers with one value changed, and all checksums made right again.

A container is taken apart into the objects of its bodies and its parts; in ``mutants`` each value
of a body in turn becomes others: of another type, huge, negative, empty. In ``described`` bytes of
what describes columns change.
"""

from __future__ import annotations

import copy
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from random import Random
from typing import Any, NamedTuple

import pytest

from serialpack.columns.stored.read import header_end
from serialpack.columns.stored.wire import WireReader
from serialpack.container import short
from serialpack.container.ends import seek_table, trailer
from serialpack.container.frames import (
    BLOCK,
    HEADER,
    INDEX,
    SHORT,
    START_OWN,
    START_ZSTD,
    FrameSource,
    checksum,
    pack_body,
    unpack_body,
    write_frame,
)

#: What each value becomes. Of these, some are what it was, or as good.
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 2, 7, 255, -1, -(2**63), 2**31, 2**63, 2**64 - 1),
    *(0.5, float("nan"), float("inf"), -1e308),
    *("", "x", "a", "m", "n", "\n", "{", "é" * 40, "x" * 2000, b"", b"x", b"\xff" * 2000),
    *([], [0], [[]], ["x", 1], ["", ""], [None] * 300, {}, {"x": 1}, {"k": "a", "n": 64, "x": 15}),
)

#: Keys that some map has a meaning for, to be there where they are not.
KEYS = ("s", "k", "h", "j", "t", "n", "b", "x", "f", "z", "e", "q", "p", "d", "schema", "codec")

Path = tuple[Any, ...]


class Taken(NamedTuple):
    """A container of one member, taken apart. ``blocks``: the objects of its header, its parts.

    Of a short one ``header`` has all objects, the one block has none, and ``tail`` is empty.
    """

    zstd: bool
    header: list[Any]
    blocks: list[tuple[list[Any], list[bytes]]]
    tail: list[Any]


@contextmanager
def long_members() -> Iterator[None]:
    """Members of one block are written as those of several."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(short, "MOST_WRITTEN", -1)
        yield


def taken(container: bytes) -> Taken:
    """The parts of ``container``."""
    zstd = container.startswith(START_ZSTD)
    start = START_ZSTD if zstd else START_OWN
    file = BytesIO(container)
    source = FrameSource(file.read)
    source.exactly(len(start), "")
    tag, body, _, _ = source.frame("")
    if tag == SHORT:
        objects = unpack_body(body[5:], 0, "")
        return Taken(zstd, objects, [([], [source.exactly(short.payload_size(body, 0), "")])], [])
    header = unpack_body(body[1:], 0, "")
    blocks: list[tuple[list[Any], list[bytes]]] = []
    while True:
        tag, body, _, _ = source.frame("")
        objects = unpack_body(body, 0, "")
        if tag == INDEX:
            return Taken(zstd, header, blocks, objects)
        blocks.append((objects, [source.exactly(part[0], "") for part in objects[0][7]]))


def put(parts: Taken) -> bytes:
    """The container again: ids, sizes of frames, rows, sums and checksums follow from the rest."""
    start = START_ZSTD if parts.zstd else START_OWN
    if not parts.tail:
        ((_, (only,)),) = parts.blocks
        said = struct.pack("<IB", len(only), 1) + pack_body(*parts.header)
        return b"".join((start, write_frame(SHORT, said, only), only))
    body = b"\1" + pack_body(*parts.header)
    member = checksum(HEADER + body)
    head = write_frame(HEADER, body)
    pieces, sizes, rows = [start, head], [(len(start), 0), (len(head), 0)], []
    for objects, payload in parts.blocks:
        fixed, *more = objects
        if isinstance(fixed, list) and fixed:
            fixed = [member, *fixed[1:]]
        frame = write_frame(BLOCK, pack_body(fixed, *more))
        pieces += [frame, *payload]
        check = int.from_bytes(frame[-8:], "little")
        entries = [more[0]["e"]] if more and isinstance(more[0], dict) and "e" in more[0] else []
        rows.append([len(frame), sum(map(len, payload)), *_told(fixed), check, *entries])
        sizes += [(len(frame), 0)]
        sizes += zip(map(len, payload), _restored(fixed, payload), strict=True)
    sums = [
        None if None in (column := [row[place] for row in rows]) else _sum(column)
        for place in (3, 4)
    ]
    serialized = _sum([row[4] if row[5] is None else row[5] for row in rows])
    fields = [0, rows, 1, body, *sums, serialized, parts.tail[0][7]]
    index = write_frame(INDEX, pack_body(fields))
    sizes.append((len(index), 0))
    length = sum(map(len, pieces)) + len(index)
    end = seek_table(sizes) if parts.zstd else trailer(len(index), length + 32)
    return b"".join([*pieces, index, end])


def _told(fixed: Any) -> list[Any]:
    """Flags, records, size and serialized size, as a row of the index has them."""
    try:
        serialized = sum(part[1] for part in fixed[7])
        return [fixed[2], fixed[3], fixed[4], None if serialized == fixed[4] else serialized]
    except (TypeError, IndexError, KeyError):
        return [2, 1, 1, None]


def _restored(fixed: Any, payload: list[bytes]) -> list[int]:
    """What each part restores to, as the seek table has it."""
    try:
        return [part[1] % 2**32 for part, _ in zip(fixed[7], payload, strict=True)]
    except (TypeError, ValueError, IndexError, KeyError):
        return [0] * len(payload)


def _sum(values: list[Any]) -> Any:
    try:
        return sum(values)
    except TypeError:
        return 0


def mutants(container: bytes, most: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Up to ``most`` mutants of a container, drawn from all there are, and what each is."""
    parts = taken(container)
    bodies = [parts.header, *(objects for objects, _ in parts.blocks[:2])]
    all_of_them = [
        (number, path, value)
        for number, body in enumerate(bodies)
        for path in _places(body)
        for value in (*VALUES, *_near(_at(body, path)))
    ]
    random = Random(seed)
    # What is told of few places must not be drowned by many parts: places first, then values.
    by_place: dict[tuple[int, Path], list[Any]] = {}
    for number, path, value in all_of_them:
        by_place.setdefault((number, path), []).append(value)
    places = sorted(by_place, key=repr)
    chosen = [
        (place, value)
        for place in places
        for value in random.sample(by_place[place], min(len(by_place[place]), 6))
    ]
    for (number, path), value in random.sample(chosen, min(len(chosen), most)):
        bent = copy.deepcopy(parts)
        body = [bent.header, *(objects for objects, _ in bent.blocks)][number]
        _set(body, path, value)
        try:
            yield f"{number} {path} = {value!r:.60}", put(bent)
        except (OverflowError, ValueError, TypeError, struct.error):  # which no body holds
            continue


def described(container: bytes, most: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Up to ``most`` mutants of a container of columns under the codec none: each has other bytes
    in the structure or in the description of the columns of a block."""
    random = Random(seed)
    parts = taken(container)
    for _ in range(most):
        bent = copy.deepcopy(parts)
        objects, payload = bent.blocks[random.randrange(len(bent.blocks))]
        data = bytearray(b"".join(payload))
        end = len(data)
        if data[0] == 1:
            reader = WireReader(bytes(data[:12]), 1)
            outline = reader.varint(len(data)) + reader.position
            end = outline + header_end(memoryview(bytes(data[outline:])))
        what = []
        for _ in range(random.choice((1, 1, 1, 2, 3))):
            at = random.randrange(end)
            data[at] = random.choice((0, 1, 127, 128, 255, data[at] ^ 1, (data[at] + 1) & 255))
            what.append(f"{at}: {data[at]}")
        at = 0
        if not objects:  # of a short member
            payload[0], bent.header[9] = bytes(data), checksum(bytes(data))
        for number, part in enumerate(objects[0][7] if objects else ()):
            payload[number] = bytes(data[at : at + part[0]])
            part[2] = checksum(payload[number])
            at += part[0]
        if objects:
            objects[0][5] = checksum(bytes(data))
        yield ", ".join(what), put(bent)


def _places(value: Any, path: Path = ()) -> Iterator[Path]:
    """The way to each value within ``value``, and to keys that could be there."""
    if isinstance(value, dict):
        for key in [*value, *(k for k in KEYS if k not in value)]:
            yield (*path, key)
            if key in value:
                yield from _places(value[key], (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value[:8]):
            yield (*path, number)
            yield from _places(item, (*path, number))


def _at(value: Any, path: Path) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else value[key]
    return value


def _near(value: Any) -> list[Any]:
    if type(value) is int:
        return [value + 1, value - 1, value * 2]
    if isinstance(value, str | bytes | list):
        return [value * 2, value[:-1], value[1:], [value]]
    return []


def _set(value: Any, path: Path, new: Any) -> None:
    *way, last = path
    _at(value, tuple(way))[last] = new
