"""A second decoder of spk containers, written from man/spk.5 alone: the oracle for the reader.

``python tests/spec_decoder.py FILE > out``. Slow, in memory, and in the order of the page. It
verifies every file, and restores those of serializer raw whose parts have codec none, zstd, zlib,
bz2 or xz, or are stored. Names in capitals are sections of the page.
"""

from __future__ import annotations

import bz2
import lzma
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from struct import pack, unpack
from typing import Any, NamedTuple

import zstandard
from msgpack import ExtType, Timestamp, Unpacker, UnpackException
from xxhash import xxh3_64_intdigest, xxh3_128_digest

OWN, OWN_END = bytes.fromhex("89 53 50 4B 0D 0A 1A 0A"), bytes.fromhex("89 53 50 4B 45 4E 44 0A")
EMPTY_FRAME = bytes.fromhex("28 B5 2F FD 20 00 01 00 00")
MAGIC, SEEK_MAGIC, SEEK_END = (bytes.fromhex(h) for h in ("532A4D18", "5E2A4D18", "B1EA928F"))
LIMIT = {b"SPKH": 32768, b"SPKB": 1048576, b"SPKX": 1048576}
RAW, ZSTD, MOST = 32, 1, 67108864


class SpecError(Exception):
    """A file to be refused; the text says in which way, and which rule of the page it breaks."""


class Unsupported(SpecError):
    """A file that asks for what the page does not know."""


class Member(NamedTuple):
    """A member; each block is what it restores to, None where this decoder cannot undo it."""

    header: dict[Any, Any]
    blocks: list[dict[str, Any]]
    content: bytes | None


def must(holds: bool, rule: str, otherwise: str = "damaged") -> None:
    """NOTATION, Refusing."""
    if not holds:
        raise (Unsupported if otherwise == "unsupported" else SpecError)(f"{otherwise}: {rule}")


def is_count(value: Any) -> bool:
    """NOTATION: an integer of 0 or more, which neither a float nor a boolean is."""
    return type(value) is int and value >= 0


def same(found: list[Any], wanted: list[Any]) -> bool:
    """Equal in type too: Python has 1 == 1.0 == True."""
    return found == wanted and [*map(type, found)] == [*map(type, wanted)]


def take(data: bytes, at: int, size: int) -> bytes:
    """FILE: it does not end inside a member."""
    must(at + size <= len(data), f"no {size} bytes at {at}", "truncated")
    return data[at : at + size]


def decode(data: bytes) -> list[Member]:
    """FILE: one member or more, with nothing before, between or behind them."""
    members, at = [], 0
    while at < len(data) or not members:
        member, at = read_member(data, at)
        members.append(member)
    return members


def read_member(data: bytes, begin: int) -> tuple[Member, int]:
    """MEMBER, TRAILER, SEEK TABLE. Gives the member and where it ends."""
    own, other = data.startswith(OWN, begin), "damaged" if begin else "not a container"
    must(own or data.startswith(EMPTY_FRAME, begin), f"a start at {begin}", other)
    at = begin + len(OWN if own else EMPTY_FRAME)
    # Prefixes pass: where the file ends here, it is truncated.
    mine = MAGIC.startswith(data[at : at + 4]) and b"SPKH".startswith(data[at + 8 : at + 12])
    must(own or mine, "behind the start stands a header", other)
    entries = [(at - begin, 0)]

    _, body, ident, size = read_frame(data, at, b"SPKH")
    header, chain = read_header(body, own)
    entries.append((size, 0))
    at += size
    blocks: list[dict[str, Any]] = []
    while (frame := read_frame(data, at, b"SPKB", b"SPKX"))[0] == b"SPKB":
        block = read_block(data, at + frame[3], frame, [ident, len(blocks)], chain, own)
        blocks.append(block)
        entries += [(frame[3], 0), *block["parts"]]
        at += sum(block["row"][:2])
    digest, sizes = read_index(data, at, body, blocks)
    entries += [(size, 0) for size in sizes]
    at += sum(sizes)

    end = pack("<QQ", sum(sizes), at - begin + 32)
    end += pack("<Q", xxh3_64_intdigest(end)) + OWN_END
    if not own:
        table = b"".join(pack("<II", *entry) for entry in entries)
        end = SEEK_MAGIC + pack("<I", len(table) + 9) + table + pack("<IB", len(entries), 0) + SEEK_END
    found = data[at : at + len(end)]
    must(found == end, f"the end at {at}", "truncated" if end.startswith(found) else "damaged")

    pieces = [block["serialized"] for block in blocks]
    content = None if None in pieces else b"".join(pieces)
    # CHECKSUMS: the digest of what is exact is of the source, which is this only with raw.
    if content and chain[0][0] != RAW and all(block["exact"] for block in blocks):
        content = None
    must(content is None or xxh3_128_digest(content) == digest, "the digest")
    return Member(header, blocks, content if chain[0][0] == RAW else None), at + len(end)


def read_frame(data: bytes, at: int, *tags: bytes) -> tuple[bytes, bytes, int, int]:
    """FRAME: its tag, body, checksum and size; length and tag are checked before the rest."""
    magic, length, tag = unpack("<4sI4s", take(data, at, 12))
    must(magic == MAGIC and tag in tags, f"a frame of {tags} at {at}")
    must(12 <= length <= 12 + LIMIT[tag], f"the length of the frame at {at}")
    frame = take(data, at, 8 + length)
    (check,) = unpack("<Q", frame[-8:])
    must(xxh3_64_intdigest(frame[8:-8]) == check, f"the checksum of the frame at {at}")
    return tag, frame[12:-8], check, len(frame)


def read_objects(body: bytes) -> list[Any]:
    """FRAME, MessagePack in bodies. The library sees to UTF-8 and to the types of keys."""
    unpacker = Unpacker(raw=False, strict_map_key=True, max_buffer_size=len(body) or 1)
    unpacker.feed(body)
    objects: list[Any] = []
    try:
        while unpacker.tell() < len(body):
            objects.append(unpacker.unpack())
    except (ValueError, UnpackException) as error:
        raise SpecError("damaged: a body is whole, valid objects") from error
    todo = [(item, 1) for item in objects]
    for item, depth in todo:
        must(not isinstance(item, ExtType | Timestamp), "no extension types")
        must(depth <= 1024 or not isinstance(item, list | dict), "nested at most 1024 deep")
        below = item.values() if isinstance(item, dict) else item if isinstance(item, list) else []
        todo += [(one, depth + 1) for one in below]
    return objects


NONE = type(None)
KEYS = {"c": (list,), "f": (int,), "b": (int,), "n": (str, bytes, NONE), "t": (int, NONE)}
KEYS |= {"s": (dict,), "w": (str,), "m": (dict,), "u": (bool,)}


def read_header(body: bytes, own: bool) -> tuple[dict[Any, Any], list[list[int]]]:
    """HEADER: the version, needs, then all other keys; its map and its chain."""
    must(body != b"", "a header begins with its version")
    must(body[0] == 1, f"version {body[0]}", "unsupported")
    objects = read_objects(body[1:])
    must(len(objects) == 1 and isinstance(objects[0], dict), "a header is exactly one map")
    header: dict[Any, Any] = objects[0]
    needs = header.get("needs", [])
    must(isinstance(needs, list) and all(isinstance(name, str) for name in needs), "key needs")
    must(not needs, f"needs {needs}", "unsupported")
    for key, types in KEYS.items():
        must(key not in header or type(header[key]) in types, f"the type of key {key}")
    must(1 <= header.get("b", 1) <= MOST, "a block size of 1 to 67108864")
    notes = [*header.get("m", {}).items()]
    must(all(isinstance(word, str) for note in notes for word in note), "notes are str")
    chain = read_chain(header.get("c"))
    known = chain[0][0] == RAW or header.get("f", 0) in FORMATS[chain[0][0]]
    must(known, "a format that goes with the serializer", "unsupported")
    must(own != (len(chain) == 2 and chain[1][0] == ZSTD), "the envelope of the chain")
    return header, chain


def read_block(
    data: bytes, at: int, frame: tuple[Any, ...], place: list[int], chain: list[Any], own: bool
) -> dict[str, Any]:
    """BLOCK HEADER, and the parts, which begin at `at`; `place` is the member's id and a number."""
    objects = read_objects(frame[1])
    must(1 <= len(objects) <= 2 and isinstance(objects[0], list), "an array and maybe a map")
    must(isinstance(objects[-1], list if len(objects) == 1 else dict), "an array and maybe a map")
    must(len(objects) == 1 or isinstance(objects[1].get("s", {}), dict), "a spelling is a map")
    must(len(objects[0]) >= 8 and same(objects[0][:2], place), f"id and block {place[1]}")
    flags, records, size, check, source_check, parts = objects[0][2:8]
    must(is_count(flags), "flags")
    must(flags < 8, f"flags {flags}", "unsupported")
    plain, exact, raw = own and flags & 1, bool(flags & 2), chain[0][0] == RAW
    must(exact or not raw, "a block of raw is exact")
    must(records is None or is_count(records), "records")
    must(is_count(size) and is_count(check), "size and check")
    must(raw or not exact or is_count(source_check), "an exact block has a source check")
    must(isinstance(parts, list) and len(parts) > 0, "at least one part")
    for part in parts:
        must(isinstance(part, list) and len(part) >= 3 and all(map(is_count, part[:3])), "a part")
        must(part[0] <= part[1] + part[1] // 4096 + 64, "the stored size of a part")
        must(not plain or part[0] == part[1], "a stored part has one size")
        must(len(part) == 3 or own and read_chain(part[3])[0] == chain[0], "a part's chain")
        must(len(part) == 3, "a part's own chain", "unsupported")
    stored, serialized = (sum(part[i] for part in parts) for i in (0, 1))
    must(max(size, serialized) <= MOST, "size and serialized are at most 67108864")
    must(records is None or records <= max(size, serialized), "more records than bytes")
    must(not raw or serialized == size, "an exact block restores to its size")

    pieces = []
    for length, restored, part_check in (part[:3] for part in parts):
        payload = take(data, at, length)
        at += length
        must(xxh3_64_intdigest(payload) == part_check, f"the check of a part at {at - length}")
        pieces.append(payload if plain else undo(payload, restored, chain))
    content = None if None in pieces else b"".join(piece for piece in pieces if piece is not None)
    must(content is None or xxh3_64_intdigest(content) == check, f"the check of block {place[1]}")
    other = None if serialized == size else serialized
    row = [frame[3], stored, flags, records, size, other, frame[2]]
    sizes = [(part[0], part[1]) for part in parts]
    return {"row": row, "parts": sizes, "exact": exact, "size": serialized, "serialized": content}


def read_index(
    data: bytes, at: int, head: bytes, blocks: list[dict[str, Any]]
) -> tuple[bytes, list[int]]:
    """INDEX: the digest and the size of each frame; `head` is the body of the header."""
    rows: list[Any] = []
    sizes: list[int] = []
    left = None
    while left != 0:
        _, body, _, size = read_frame(data, at, b"SPKX")
        at += size
        sizes.append(size)
        objects = read_objects(body)
        must(len(objects) == 1 and isinstance(objects[0], list), "an index is exactly one array")
        array = [*objects[0], None, None]
        must(is_count(array[0]) and isinstance(array[1], list), "left and rows")
        must(array[0] <= len(blocks) if left is None else array[0] == left - 1, "left counts down")
        left = array[0]
        rows += array[1]
    must(len(rows) == len(blocks) and all(isinstance(row, list) for row in rows), "a row a block")
    must(all(same(r[:7], b["row"]) for r, b in zip(rows, blocks, strict=True)), "equal rows")
    records = [row[3] for row in rows]
    sums = [None if None in records else sum(records), sum(row[4] for row in rows)]
    wanted = [len(sizes), head, *sums, sum(block["size"] for block in blocks)]
    must(same(array[2:7], wanted), "frames, header and sums")
    must(len(objects[0]) > 7 and isinstance(array[7], bytes) and len(array[7]) == 16, "a digest")
    return array[7], sizes
