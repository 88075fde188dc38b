"""Prints the worked examples of man/spk.5: three small containers, annotated byte by byte.

The bytes come from the writer; the notes come from taking those bytes apart again, so a byte
that is not accounted for is an error. Run it from the repository's root:

    python -m tools.spec_example
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple
from unittest.mock import patch

from xxhash import xxh3_64_intdigest

from serialpack.container import short
from serialpack.container.frames import END_OWN, START_OWN, START_ZSTD
from serialpack.pipeline.pack import pack_stream
from serialpack.pipeline.packing import Packing
from serialpack.stages.chain import parse_chain

CONTENT = b"Hello, world!\n"
NAME = "hello.txt"
MTIME = 1_700_000_000_000_000_000

#: Bytes shown on a line; the notes beside them fit a manual page of 80 columns.
_WIDTH = 8


def own_example() -> bytes:
    """The content in the own envelope, chain raw+none, with name and modification time."""
    return _long("raw+none", name=NAME, mtime=MTIME)


def zstd_example() -> bytes:
    """The content in the zstd envelope, chain raw+zstd:3. Its one block is stored, so no byte
    depends on how libzstd compresses."""
    return _long("raw+zstd:3")


def short_example() -> bytes:
    """The content as a short member, chain raw+none, with name and modification time."""
    return _pack("raw+none", name=NAME, mtime=MTIME)


def _long(chain: str, name: str | None = None, mtime: int | None = None) -> bytes:
    """As a member is written that is longer."""
    with patch.object(short, "MOST_WRITTEN", -1):
        return _pack(chain, name, mtime)


def _pack(chain: str, name: str | None = None, mtime: int | None = None) -> bytes:
    out = io.BytesIO()
    packing = Packing(parse_chain(chain), "bytes", block_size=4 << 20, name=name, mtime=mtime)
    pack_stream(io.BytesIO(CONTENT).read, out.write, packing)
    return out.getvalue()


class Note(NamedTuple):
    """Some bytes, and what they are."""

    data: bytes
    text: str


class _Cursor:
    """Takes bytes off the front."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        if self.at + size > len(self.data):
            raise ValueError(f"no {size} bytes at {self.at}")
        self.at += size
        return self.data[self.at - size : self.at]


def annotate(data: bytes) -> list[str]:
    """Lines of offset, bytes and note for every byte of a container of one member."""
    lines = []
    at = 0
    for note in _notes(_Cursor(data)):
        texts = [note.text]
        for start in range(0, len(note.data), _WIDTH):
            shown = note.data[start : start + _WIDTH].hex(" ").upper()
            text = texts.pop() if texts else ""
            lines.append(f"{at + start:4}  {shown:{3 * _WIDTH - 1}}  {text}".rstrip())
        at += len(note.data)
    if at != len(data):
        raise ValueError(f"{len(data) - at} bytes are not accounted for")
    return lines


def _notes(c: _Cursor) -> Iterator[Note]:
    zstd = c.data.startswith(START_ZSTD)
    start = START_ZSTD if zstd else START_OWN
    yield Note(c.take(len(start)), f"start of the {'zstd' if zstd else 'own'} envelope")
    if c.data[c.at + 8 : c.at + 12] == b"SPKS":
        yield from _short(c)
        return
    parts: list[int] = []
    while c.data[c.at + 8 : c.at + 12] in _BODIES:
        tag = c.data[c.at + 8 : c.at + 12]
        yield from _frame(c)
        if tag == b"SPKB":
            parts = _stored_sizes(c.data, c.at)
            for size in parts:
                yield from _zstd_part(c, size) if zstd else _own_part(c, size)
    yield from _seek_table(c) if zstd else _trailer(c)


def _frame(c: _Cursor) -> Iterator[Note]:
    yield Note(c.take(4), "magic of a frame")
    length = c.take(4)
    (size,) = struct.unpack("<I", length)
    content = c.data[c.at : c.at + size - 8]
    yield Note(length, f"{size} bytes follow")
    tag = c.take(4)
    what, schema = _BODIES[tag]
    yield Note(tag, f"tag {tag.decode()}: {what}")
    end = c.at + size - 12
    if tag == b"SPKH":
        yield Note(c.take(1), "version 1")
    yield from _value(c, schema)
    if c.at != end:
        raise ValueError(f"the body does not end at {end}")
    check = c.take(8)
    if int.from_bytes(check, "little") != xxh3_64_intdigest(content):
        raise ValueError("the checksum is wrong")
    yield Note(check, "checksum of tag and body" + (": the id" if tag == b"SPKH" else ""))


def _short(c: _Cursor) -> Iterator[Note]:
    yield Note(c.take(4), "magic of a frame")
    length = c.take(4)
    (size,) = struct.unpack("<I", length)
    content = c.data[c.at : c.at + size - 8] + c.data[c.at + size :]
    yield Note(length, f"{size} bytes follow")
    yield Note(c.take(4), "tag SPKS: short member")
    payload = c.take(4)
    (stored,) = struct.unpack("<I", payload)
    yield Note(payload, f"the part has {stored} bytes")
    yield Note(c.take(1), "version 1")
    for schema in _SHORT:
        yield from _value(c, schema)
    check = c.take(8)
    if int.from_bytes(check, "little") != xxh3_64_intdigest(content):
        raise ValueError("the checksum is wrong")
    yield Note(check, "checksum of tag, body and part")
    yield from _own_part(c, stored)


class _Array(NamedTuple):
    """An array: the notes of its elements, or the one of each where ``each``."""

    name: str
    elements: tuple[Any, ...] = ()
    each: Any = None


class _Map(NamedTuple):
    """A map: a note for each key."""

    name: str
    values: dict[str, Any]


_CHAIN = _Array("chain", ("serializer", _Array("codec", ("codec", "level"))))

#: The objects of a short member, as far as they are written without style or source check.
_SHORT = (
    _CHAIN,
    *("format", "name", "modification time", "writer", "flags", "records", "size"),
    *("serialized", "check of the serialized bytes"),
)

_BODIES: dict[bytes, tuple[str, Any]] = {
    b"SPKH": (
        "header",
        _Map("keys", {"c": _CHAIN, "n": "name", "t": "modification time"}),
    ),
    b"SPKB": (
        "block header",
        _Array(
            "block header",
            (
                "id of the member",
                "number of the block",
                "flags",
                "records",
                "size",
                "check of the serialized bytes",
                "source check",
                _Array("parts", each=_Array("part", ("stored size", "restored size", "check"))),
            ),
        ),
    ),
    b"SPKX": (
        "index",
        _Array(
            "index",
            (
                "left",
                _Array(
                    "rows",
                    each=_Array(
                        "row",
                        (
                            "frame",
                            "payload",
                            "flags",
                            "records",
                            "size",
                            "serialized",
                            "check of the block header",
                        ),
                    ),
                ),
                "frames",
                "body of the header",
                "records",
                "size",
                "serialized",
                "digest",
            ),
        ),
    ),
}


def _value(c: _Cursor, schema: Any) -> Iterator[Note]:
    """One MessagePack object; arrays and maps give a note of their own before what they hold."""
    first = c.data[c.at]
    if isinstance(schema, _Map):
        if not 0x80 <= first <= 0x8F:
            raise ValueError(f"{schema.name}: not a short map")
        yield Note(c.take(1), f"map of {first & 15}")
        for _ in range(first & 15):
            start = c.at
            key = str(_scalar(c))
            yield Note(c.data[start : c.at], f"key {key}")
            yield from _value(c, schema.values[key])
        return
    if isinstance(schema, _Array) and 0x90 <= first <= 0x9F:
        size = first & 15
        yield Note(c.take(1), f"{schema.name}: array of {size}")
        for inner in schema.elements or (schema.each,) * size:
            yield from _value(c, inner)
        return
    start = c.at
    value = _scalar(c)
    name: str = schema.name if isinstance(schema, _Array) else schema
    # Checksums and byte strings say nothing in decimal.
    opaque = isinstance(value, bytes) or name.startswith(("check", "id of"))
    shown = "nil" if value is None else str(value)
    yield Note(c.data[start : c.at], name if opaque else f"{name}: {shown}")


def _scalar(c: _Cursor) -> int | str | bytes | None:
    """The short forms of MessagePack that the examples use."""
    first = c.take(1)[0]
    if first <= 0x7F:
        return first
    if 0xA0 <= first <= 0xBF:
        return c.take(first & 31).decode()
    if first == 0xC0:
        return None
    if first == 0xC4:
        return c.take(c.take(1)[0])
    if 0xCC <= first <= 0xCF:
        return int.from_bytes(c.take(1 << (first - 0xCC)), "big")
    raise ValueError(f"MessagePack byte {first:02X} is not expected in an example")


def _stored_sizes(data: bytes, end: int) -> list[int]:
    """The stored sizes of the block whose header's frame ends at ``end``, from that frame."""
    start = data.rindex(b"SPKB", 0, end)
    c = _Cursor(data[start + 4 : end - 8])
    notes = [n for n in _value(c, _BODIES[b"SPKB"][1]) if n.text.startswith("stored size")]
    return [int(n.text.split(": ")[1]) for n in notes]


def _own_part(c: _Cursor, size: int) -> Iterator[Note]:
    yield Note(c.take(size), "the part: the data as it is")


def _zstd_part(c: _Cursor, size: int) -> Iterator[Note]:
    """A frame of one raw block of fewer than 256 bytes (RFC 8878, 3.1.1)."""
    end = c.at + size
    yield Note(c.take(4), "the part: magic of a zstd frame")
    yield Note(c.take(1), "content size in one byte, checksum")
    content_size = c.take(1)
    yield Note(content_size, f"content size {content_size[0]}")
    yield Note(c.take(3), f"last block, raw, {content_size[0]} bytes")
    yield Note(c.take(content_size[0]), "the data as it is")
    yield Note(c.take(4), "XXH64 of it, lower half")
    if c.at != end:
        raise ValueError("the part is not one raw block")


def _trailer(c: _Cursor) -> Iterator[Note]:
    lengths = c.take(16)
    index, member = struct.unpack("<QQ", lengths)
    yield Note(lengths[:8], f"trailer: the index has {index} bytes")
    yield Note(lengths[8:], f"the member has {member} bytes")
    yield Note(c.take(8), "checksum of these 16 bytes")
    yield Note(c.take(len(END_OWN)), "end of the own envelope")


def _seek_table(c: _Cursor) -> Iterator[Note]:
    yield Note(c.take(4), "magic of the seek table")
    length = c.take(4)
    (size,) = struct.unpack("<I", length)
    yield Note(length, f"{size} bytes follow")
    for name in ("start", "header", "block header", "part", "index"):
        entry = c.take(8)
        stored, restored = struct.unpack("<II", entry)
        yield Note(entry, f"{name}: {stored} bytes restore to {restored}")
    count = c.take(4)
    yield Note(count, f"{int.from_bytes(count, 'little')} entries")
    yield Note(c.take(1), "descriptor: no checksums")
    yield Note(c.take(4), "end of the seek table")


if __name__ == "__main__":
    for example in (own_example, zstd_example, short_example):
        print("\n".join(annotate(example())), end="\n\n")
