"""Rules of man/spk.5 that the second decoder of it (``tests.spec_decoder``) asks in several places.

Capitals name sections of the page.
"""

from struct import unpack
from typing import Any

import zstandard
from msgpack import ExtType, Timestamp, Unpacker, UnpackException
from xxhash import xxh3_64_intdigest


class SpecError(Exception):
    """A file to be refused; the text says in which way, and which rule of the page it breaks."""


class Unsupported(SpecError):
    """A file that asks for what the page does not know."""


def must(holds: bool, rule: str, otherwise: str = "damaged") -> None:
    """NOTATION, Refusing."""
    if not holds:
        raise (Unsupported if otherwise == "unsupported" else SpecError)(f"{otherwise}: {rule}")


def read_objects(body: bytes) -> list[Any]:
    """FRAME, MessagePack in bodies. To UTF-8, types of keys and depth, 1024, the library sees."""
    unpacker = Unpacker(raw=False, strict_map_key=True, max_buffer_size=len(body) or 1)
    unpacker.feed(body)
    objects: list[Any] = []
    try:
        while unpacker.tell() < len(body):
            objects.append(unpacker.unpack())
    except (ValueError, UnpackException) as error:
        raise SpecError("damaged: a body is whole, valid objects") from error
    todo = [*objects]
    for item in todo:
        must(not isinstance(item, ExtType | Timestamp), "no extension types")
        todo += item if isinstance(item, list) else item.values() if isinstance(item, dict) else ()
    return objects


def array(value: Any, kinds: str, rule: str) -> list[Any]:
    """An array of these elements or more: c count, C count or nil, a array, . anything."""
    must(isinstance(value, list) and len(value) >= len(kinds), rule)
    for kind, item in zip(kinds, value, strict=False):
        count = type(item) is int and item >= 0  # a boolean is none
        right = {"c": count, "C": count or item is None, "a": isinstance(item, list), ".": True}
        must(right[kind], rule)
    return list(value)


def check_path(path: bytes) -> None:
    """ARCHIVE: which paths there are."""
    must({b"", b".", b".."}.isdisjoint(path.split(b"/")), "parts of a path")
    must(not {*range(32), 127} & {*path}, "no control characters in a path")


def read_entries(data: Any, size: int, content: bytes | None) -> list[Any]:
    """ENTRIES: what `data`, the value of key e, says of a block of `size` bytes."""
    stream = zstandard.ZstdDecompressor().decompressobj()
    try:
        must(1 <= zstandard.get_frame_parameters(data).content_size <= 524288, "the rows' size")
        rows = stream.decompress(data)
    except (zstandard.ZstdError, TypeError) as error:
        raise SpecError("damaged: the frame of entries") from error
    must(stream.eof and not stream.unused_data and len(rows) > 4, "one frame of entries")
    (n, flags), at, columns = unpack("<IB", rows[:5]), 5, list[list[int]]()
    must(flags < 2 and 5 + (30 + 8 * flags) * n <= len(rows), "the head of entries")
    for width in (4, 8, 8, 8, *([4, 4] if flags else []), 2):
        planes, at = rows[at : at + width * n], at + width * n
        columns.append([int.from_bytes(planes[i::n], "little") for i in range(n)])
    modes, deltas, sizes, checks, *owners, shared = columns
    *texts, end = rows[at:].split(b"\0")
    entries, path, time, begin = list[Any](), b"", 0, 0
    for i, (mode, length) in enumerate(zip(modes, sizes, strict=True)):
        must(shared[i] <= len(path) and bool(texts), "a path")
        path = path[: shared[i]] + texts.pop(0)
        check_path(path)
        time = (time + (deltas[i] >> 1 ^ -(deltas[i] & 1)) + 2**63) % 2**64 - 2**63
        kind = mode & 0xF000
        must(kind == 0x8000 or (kind in (0x4000, 0xA000) and length == 0), "type and bytes")
        must(kind != 0xA000 or [*texts, b""][0] != b"", "the target of a link")
        target = texts.pop(0) if kind == 0xA000 else None
        piece, begin = (content or b"")[begin : begin + length], begin + length
        must(content is None or kind != 0x8000 or xxh3_64_intdigest(piece) == checks[i], "a check")
        entries.append((path, mode, time, length, [own[i] for own in owners], target))
    must(not texts and not end and begin == size, "as many paths and bytes as entries")
    return entries
