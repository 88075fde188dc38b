"""A second decoder of spk containers, written from man/spk.5 alone: the oracle for the reader.

``python -m tests.spec_decoder FILE [DICTIONARY]... > out``. Capitals name sections of the page.
Every file is verified; restored is what has serializer raw, no filter, and codec none, zstd,
zlib, bz2 or xz.
"""

import bz2
import lzma
import sys
import zlib
from pathlib import Path
from struct import pack, unpack
from typing import Any, NamedTuple

import zstandard
from msgpack import Unpacker, UnpackException, packb
from xxhash import xxh3_64_intdigest, xxh3_128_digest

from tests.spec_rows import check_path, read_entries
from tests.spec_rules import SpecError as SpecError
from tests.spec_rules import Unsupported as Unsupported
from tests.spec_rules import array, must
from tests.spec_rules import read_objects as read_objects

OWN, OWN_END = bytes.fromhex("89 53 50 4B 0D 0A 1A 0A"), bytes.fromhex("89 53 50 4B 45 4E 44 0A")
SMALL = bytes.fromhex("89 53 50 6B")
EMPTY_FRAME = bytes.fromhex("28 B5 2F FD 20 00 01 00 00")
MAGIC, SEEK_MAGIC, SEEK_END = (bytes.fromhex(h) for h in ("532A4D18", "5E2A4D18", "B1EA928F"))
LONGEST = {b"SPKH": 32768, b"SPKB": 1048576, b"SPKX": 1048576}
RAW, COLUMNS, NONE, ZSTD, MOST = 32, 36, 0, 1, 67108864
#: HEADER: the types of each key's value.
KEYS = {"c": (list,), "f": (int,), "b": (int,), "n": (str, bytes, type(None)), "s": (dict,)}
KEYS |= {"t": (int, type(None)), "w": (int,), "m": (dict,), "u": (bool,), "y": (str,)}
KEYS |= {"e": (str, bytes), "d": (list,), "p": (list,), "a": (int,)}
#: DICTIONARY: those at hand, by their check.
DICTIONARIES: dict[int, bytes] = {}
#: SERIALIZERS, CODECS, FILTERS: of each parameter the ranges that it may be in.
LEVEL, ITEM, SIZE = (range(10),), (range(1, 256),), (range(1), range(1024, MOST + 1))
STAGES: dict[int, list[tuple[range, ...]]] = {n: [] for n in (0, 6, 8, *range(32, 61))}
STAGES |= {36: [(range(1, 10),)], 45: [(range(6),)], 46: [(range(5),)], 48: [(range(2),)]}
STAGES |= {1: [(range(-7, 23),)], 2: [LEVEL], 3: [(range(1, 10),)], 5: [(range(13),)]}
STAGES |= {7: [(range(12),)], 9: [(range(13),), (range(12),), (range(65537),)]}
INTEGER, LAG = (range(1, 3), range(4, 9, 4)), (range(1), range(2, 2147483649))
STAGES |= {64: [ITEM], 65: [ITEM], 66: [INTEGER, LAG], 67: [INTEGER, LAG], 71: [ITEM, LAG]}
STAGES |= {4: [LEVEL, (*INTEGER, range(1))], **{n: [INTEGER] for n in (68, 69, 70)}}
STAGES |= {n: [LEVEL, SIZE, (range(257),)] for n in range(16, 22)}
STAGES |= {72: [(range(4, 9, 4),), (range(1), range(2, 1073741825)), (range(2),)]}
#: FORMATS: those with values. SERIALIZERS: of each the format that its bytes are in.
VALUES, OBJECT = {1, 2, 3, 4, 5, *range(7, 20), *range(30, 34), 35}, 6
OWN_FORMAT = {35: 5, 42: 5, 43: 5, 44: 5, 45: 15, 46: 16, 47: 15, 48: 9, 49: 7, 50: 8, 51: 3}
OWN_FORMAT |= {52: 4, 53: 11, 54: 12, 55: 13, 56: 14, 57: 10, 58: 17, 59: 18}
#: CODECS: those that this decoder undoes.
STREAMS: dict[int, Any] = {2: zlib.decompressobj, 3: bz2.BZ2Decompressor}
STREAMS[ZSTD] = lambda **d: zstandard.ZstdDecompressor(max_window_size=2**27, **d).decompressobj()
STREAMS[4] = lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=80 * 1048576)
Chain = list[list[int]]
Frame = tuple[bytes, bytes, int, int]  # tag, body, checksum, size of all of it


class Block(NamedTuple):
    row: list[Any]  # what the index must say of it
    parts: list[tuple[int, int]]  # what the seek table must say of them
    serialized: bytes | None  # None: this decoder cannot undo its chain
    told: bytes | None  # what the digest is of
    entries: list[Any] | None = None  # path, mode, time, size, owner, target


class Member(NamedTuple):
    header: dict[Any, Any]
    blocks: list[Block]
    content: bytes | None  # None: this decoder cannot restore it


def decode(data: bytes) -> list[Member]:
    """FILE: one member or more, with nothing before, between or behind them."""
    if data.startswith(SMALL):
        return [read_small(data)]
    members, at = list[Member](), 0
    while at < len(data) or not members:
        member, at = read_member(data, at)
        members.append(member)
        kinds = {"e" in m.header or "archive" in m.header.get("needs", []) for m in members}
        must(len(kinds) == 1, "all members are of archives, or none is")
    before = 0
    for member in members:
        closes, before = (
            "a" in member.header,
            before + ("archive" in member.header.get("needs", [])),
        )
        must(not closes or member.header["a"] == before - 1, "the members before a closing one")
        before = 0 if closes else before
    must(before == 0, "a closing member", "truncated")
    return members


def read_small(data: bytes) -> Member:
    """SMALL FORM: the object in it, as a member without blocks."""
    must(12 <= len(data) <= 2097152, "the length of a small form", "truncated")
    must(pack("<Q", xxh3_64_intdigest(data[:-8])) == data[-8:], "the check of a small form")
    unpacker = Unpacker(raw=False, strict_map_key=True)
    unpacker.feed(data[4:-8])
    try:
        first = unpacker.unpack()
    except (ValueError, UnpackException) as error:
        raise SpecError("damaged: the fields of a small form") from error
    flags, given, size, *more = array(first, "cac", "the fields of a small form")
    must(flags < 4 and size <= 1048576, "flags and size of a small form")
    must(not more or isinstance(more[0], dict), "settings are a map")
    chain, payload = read_chain(given), data[4 + unpacker.tell() : -8]
    plain = chain[1:] == [[NONE]] or flags & 1 == 1
    content = payload if plain else undo(payload, size, chain)
    must(content is None or len(content) == size, "the size of a small form")
    return Member({"c": given, "f": OBJECT}, [], content)


def read_member(data: bytes, begin: int) -> tuple[Member, int]:
    """MEMBER, TRAILER, SEEK TABLE: the member and where it ends."""
    own, zstd = (data.startswith(start, begin) for start in (OWN, EMPTY_FRAME))
    must(own or zstd, f"a start at {begin}", "damaged" if begin else "not a container")
    at = begin + len(OWN if own else EMPTY_FRAME)
    if data[at + 8 : at + 12] == b"SPKS":
        return read_short(data, at, own)
    _, head, ident, size = read_frame(data, at, b"SPKH")
    header, chain = read_header(head, own)
    entries = [(at - begin, 0), (size, 0)]
    at += size
    blocks: list[Block] = []
    while (frame := read_frame(data, at, b"SPKB", b"SPKX"))[0] == b"SPKB":
        blocks.append(read_block(data, at, frame, [ident, len(blocks)], header, chain))
        entries += [(blocks[-1].row[0], 0), *blocks[-1].parts]
        here = blocks[-1].row[2] & 8 == 0 or (at - begin + blocks[-1].row[0]) % 64 == 0
        must(here and not (len(blocks) > 1 and blocks[0].row[2] & 8), "the place of a block")
        at += sum(blocks[-1].row[:2])
    digest, sizes = read_index(data, at, head, blocks)
    entries += [(size, 0) for size in sizes]
    at += sum(sizes)
    end = pack("<QQ", sum(sizes), at - begin + 32)
    end += pack("<Q", xxh3_64_intdigest(end)) + OWN_END
    if not own:
        table = b"".join(pack("<II", *entry) for entry in entries) + pack("<IB", len(entries), 0)
        end = SEEK_MAGIC + pack("<I", len(table) + len(SEEK_END)) + table + SEEK_END
    found = data[at : at + len(end)]
    must(found == end, f"the end at {at}", "truncated" if end.startswith(found) else "damaged")
    whole = b"".join(block.serialized or b"" for block in blocks)
    told = b"".join(block.told or b"" for block in blocks)
    undone = all(block.serialized is not None for block in blocks)
    kept = keeps(chain, header)
    # CHECKSUMS: of exact blocks it is the digest of the source, which is not known unless kept.
    if undone and (kept or not blocks or not all(block.row[2] & 2 for block in blocks)):
        must(xxh3_128_digest(told) == digest, "the digest")
    return Member(header, blocks, whole if kept and undone else None), at + len(end)


def read_short(data: bytes, at: int, own: bool) -> tuple[Member, int]:
    """SHORT MEMBER: read as the header and the block header that say the same."""
    must(at + 17 <= len(data), "a short member", "truncated")
    magic, length, size = unpack("<4sI4xI", data[at : at + 16])
    must(magic == MAGIC and 17 <= length <= 12 + LONGEST[b"SPKH"], "the frame of a short member")
    must(size <= 16777216, "at most 16777216 bytes of a short member's part")
    end = at + 8 + length + size
    must(end <= len(data), "a short member", "truncated")
    body, check, part = data[at + 12 : at + length], data[at + length :][:8], data[end - size : end]
    must(pack("<Q", xxh3_64_intdigest(b"SPKS" + body + part)) == check, "the check of a short one")
    must(body[4] == 1, f"version {body[4]} of a short member", "unsupported")
    chain, form, name, time, writer, flags, *more = array(read_objects(body[5:]), "ac..ccCcCc", "")
    records, restored, serialized, checked, *rest = more
    must(len(rest) <= 3, "at most 13 objects in a short member")
    source, keys = (*rest, *(None, {})[len(rest) :])[:2]
    must(isinstance(keys, dict) and not {*keys} & {*"cfnetwub"}, "the rest is a map")
    must(len(rest) < 3 or isinstance(rest[2], bytes), "the entries of a short member")
    must(flags & ~59 == 0, f"flags {flags}", "unsupported")
    said = {**keys, "c": chain, "f": form, "t": time, "w": writer, "u": flags & 8 != 0}
    said |= {"e" if flags & 16 else "n": name}
    needs = [need for flag, need in ((16, "entry"), (32, "dict")) if flags & flag]
    said |= {"needs": [*keys.get("needs", []), *needs]} if needs else {}
    header, stages = read_header(b"\1" + packb(said), own)
    first = [0, 0, flags & 3, records, restored, checked, source]
    first += [[[size, restored if serialized is None else serialized, xxh3_64_intdigest(part)]]]
    body = packb(first) + (packb({"e": rest[2]}) if len(rest) > 2 else b"")
    block = read_block(part, 0, (b"", body, 0, 0), [0, 0], header, stages)
    return Member(header, [block], block.serialized if keeps(stages, header) else None), end


def read_frame(data: bytes, at: int, *tags: bytes) -> Frame:
    """FRAME: length and tag are checked before the rest is read."""
    must(at + 12 <= len(data), f"a frame at {at}", "truncated")
    magic, length, tag = unpack("<4sI4s", data[at : at + 12])
    must(magic == MAGIC and tag in tags, f"a frame of {tags} at {at}")
    must(12 <= length <= 12 + LONGEST[tag], f"the length of the frame at {at}")
    must(at + 8 + length <= len(data), f"the frame at {at}", "truncated")
    body, check = data[at + 12 : at + length], data[at + length : at + 8 + length]
    must(pack("<Q", xxh3_64_intdigest(tag + body)) == check, f"the checksum of the frame at {at}")
    return tag, body, int.from_bytes(check, "little"), 8 + length


def read_header(body: bytes, own: bool) -> tuple[dict[Any, Any], Chain]:
    """HEADER: the version, needs, then all other keys; its map and its chain."""
    must(body[:1] == b"\1", f"version {body[:1]!r}", "unsupported" if body else "damaged")
    objects = read_objects(body[1:])
    must(len(objects) == 1 and isinstance(objects[0], dict), "a header is exactly one map")
    header: dict[Any, Any] = objects[0]
    needs = array(header.get("needs", []), "", "key needs")
    must(all(isinstance(name, str) for name in needs), "key needs")
    features = {"entry", "archive", "dict", "rows", "control"}
    must({*needs} <= features, f"needs {needs}", "unsupported")
    for key in KEYS.keys() & header.keys():
        must(type(header[key]) in KEYS[key], f"the type of key {key}")
    must(1 <= header.get("b", 1) <= MOST, "a block size of 1 to 67108864")
    must(all(type(x) is str for note in header.get("m", {}).items() for x in note), "notes are str")
    must(("e" in header) == ("entry" in needs), "an entry is in needs")
    must(
        "a" not in header or (header["a"] >= 0 and {*needs} - {"rows"} == {"archive"}),
        "a closing member",
    )
    access = header.get("p", [])
    must(len(array(access, "c" * len(access), "key p")) in (0, 1, 3), "one count or three")
    path = header.get("e", "a")
    check_path(path.encode() if isinstance(path, str) else path, "control" in needs)
    must(("d" in header) == ("dict" in needs), "a dictionary is in needs")
    chain = read_chain(header.get("c"))
    named = array(header.get("d", [0, ""]), "c.", "key d")
    must(isinstance(named[1], str | bytes), "the name of a dictionary")
    must("d" not in header or chain[-1][0] == ZSTD, "a dictionary is for zstd")
    known = keeps(chain, header) or header.get("f", 0) in VALUES or chain[0][0] == COLUMNS
    must(known, "the format of records", "unsupported")
    must(own != (len(chain) == 2 and chain[1][0] == ZSTD), "the envelope of the chain")
    return header, chain


def keeps(chain: Chain, header: dict[Any, Any]) -> bool:
    """SERIALIZERS: whether the serialized bytes are the source's."""
    serializer, source = chain[0][0], header.get("f", 0)
    if serializer == COLUMNS:
        return False
    own = {OBJECT, OWN_FORMAT.get(serializer), 19 if serializer == 49 else OBJECT}
    return serializer == RAW or source in own


def read_block(
    data: bytes, at: int, frame: Frame, place: list[int], header: dict[Any, Any], chain: Chain
) -> Block:
    """BLOCK HEADER with its parts; `place` is what its id and number must be."""
    _, body, frame_check, frame_size = frame
    head, *more = read_objects(body) or [None]
    must(not more or (len(more) == 1 and isinstance(more[0], dict)), "an array and maybe a map")
    style, listed = (more[0].get("s", {}), more[0].get("e")) if more else ({}, None)
    must(isinstance(style, dict) and isinstance(listed, bytes | None), "a spelling, entries")
    *where, flags, records, size, check, source, parts = array(head, "cccCccCa", "block header")[:8]
    must(where == place, f"the member's id and block {place[1]}")
    must(flags < 16, f"flags {flags}", "unsupported")
    in_place = flags & 8 != 0
    exact, kept = flags & 2 != 0, keeps(chain, header)
    must(exact or chain[0][0] != COLUMNS, "a column block is exact")
    must(kept or not exact or (type(source) is int and source >= 0), "a source check")
    sizes = [(part[0], part[1]) for part in (array(part, "ccc", "a part") for part in parts)]
    must(all(a <= b + b // 4096 + 64 for a, b in sizes), "a part's sizes")
    stored, serialized = sum(a for a, _ in sizes), sum(b for _, b in sizes)
    most = serialized if in_place else MOST
    must(len(parts) > 0 and size <= most, "a part or more, of at most 67108864")
    must(serialized <= most + most // 4096 + 64, "at most 67125312 serialized bytes")
    must(records is None or records <= MOST, "at most 67108864 records")
    must(not kept or (exact and serialized == size), "what is kept has its size of the source")
    if in_place:  # BLOCK HEADER, Blocks in place
        must(flags == 10 and source is None and len(chain) == 2, "flags, chain of a block in place")
        must(chain[1][0] == NONE and serialized == size, "what a block in place holds")
        must(all(a <= MOST and len(p) == 3 for (a, _), p in zip(sizes, parts, strict=True)), "part")
    pieces, at = list[bytes | None](), at + frame_size
    in_zstd = len(chain) == 2 and chain[1][0] == ZSTD
    for length, restored, part_check, *own in parts:
        under = read_chain(own[0]) if own else chain
        must(not own or not in_zstd, "a part's own chain in the zstd envelope", "unsupported")
        must(not own or (under[0] == chain[0] and flags & 1 == 0), "a part's own chain")
        # STORED BLOCKS: not in the zstd envelope. Codec none alone leaves bytes as they are, too.
        plain = under[1][0] == NONE or (flags & 1 != 0 and not in_zstd)
        must(length == restored or not plain, "a part's sizes")
        must(at + length <= len(data), f"the part at {at}", "truncated")
        payload, at = data[at : at + length], at + length
        must(xxh3_64_intdigest(payload) == part_check, f"the check of the part before {at}")
        pieces.append(
            payload if plain else undo(payload, restored, under, None if own else header.get("d"))
        )
    content = None if None in pieces else b"".join(piece or b"" for piece in pieces)
    told = content
    if in_place:
        told = b"".join(pack("<Q", part[2]) for part in parts)
    must(told is None or xxh3_64_intdigest(told) == check, f"the check of block {place[1]}")
    other = None if serialized == size else serialized
    repeated = [] if listed is None or listed[:1] == b"\2" else [listed]
    row = [frame_size, stored, flags, records, size, other, frame_check, *repeated]
    if "archive" not in header.get("needs", []) or "e" in header:
        return Block(row, sizes, content, told)
    entries = read_entries(listed, size, content if kept else None)
    return Block(row, sizes, content, told, entries)


def read_index(data: bytes, at: int, head: bytes, blocks: list[Block]) -> tuple[bytes, list[int]]:
    """INDEX: the digest and the size of each frame; `head` is the body of the header."""
    rows, sizes, left = list[Any](), list[int](), len(blocks) + 1
    while left != 0:
        _, body, _, size = read_frame(data, at, b"SPKX")
        at += size
        objects = read_objects(body)
        must(len(objects) == 1, "an index is exactly one array")
        fields = array(objects[0], "ca", "left and rows")
        # The first one may say less: there is at most one frame more than blocks.
        must(fields[0] == left - 1 or (not sizes and fields[0] < left), "left counts down")
        left = fields[0]
        sizes.append(size)
        rows += [read_row(row) for row in fields[1]]
    must(rows == [block.row for block in blocks], "the rows of the blocks")
    records = [row[3] for row in rows]
    serialized = sum(restored for block in blocks for _, restored in block.parts)
    sums = [None if None in records else sum(records), sum(row[4] for row in rows), serialized]
    array(fields, "cac.Ccc.", "the last frame of the index")
    must(fields[2:7] == [len(sizes), head, *sums], "frames, header and sums")
    must(isinstance(fields[7], bytes) and len(fields[7]) == 16, "a digest of 16 bytes")
    return fields[7], sizes


def read_row(value: Any) -> list[Any]:
    """INDEX: a row without what is for messages only."""
    row = array(value, "cccCcCc", "a row")[:8]
    if len(row) < 8 or not isinstance(row[7], list):
        return row
    _, first, last, *_ = array(row.pop(), "c..", "what a row covers")
    must(isinstance(first, str | bytes) and isinstance(last, str | bytes), "paths")
    return row


def read_chain(value: Any) -> Chain:
    """CHAIN: each of its stages as an array of its number and the parameters given."""
    chain = [stage if isinstance(stage, list) else [stage] for stage in array(value, "", "chain")]
    must(all({*map(type, stage)} == {int} and stage[0] >= 0 for stage in chain), "a stage")
    must(len(chain) >= 2, "a chain without codec", "unsupported")
    # The numbers of codecs are below 32, those of filters begin with 64.
    for kind, (number, *given) in zip([1, *[2] * (len(chain) - 2), 0], chain, strict=True):
        must(number in STAGES and number // 32 == kind, f"stage {number}", "unsupported")
        must(len(given) <= len(STAGES[number]), f"parameters of {number}", "unsupported")
        for one, ranges in zip(given, STAGES[number], strict=False):
            must(any(one in r for r in ranges), f"parameter {one} of {number}", "unsupported")
    return chain


def undo(payload: bytes, restored: int, chain: Chain, named: Any = None) -> bytes | None:
    """CODECS: one stream to its end and no further; None if this decoder cannot."""
    codec = chain[-1][0]
    dictionary = DICTIONARIES.get(named[0]) if named else b""
    if len(chain) > 2 or codec not in STREAMS or dictionary is None:
        return None
    try:
        if codec == ZSTD:
            head = zstandard.get_frame_parameters(payload)
            must(head.content_size == restored and head.has_checksum, "size, checksum of a frame")
            must(head.dict_id in (0, int.from_bytes(dictionary[4:8], "little")), "dictionary")
            must(head.window_size <= 134217728, "window")
            must(restored <= 32768 * len(payload) and (restored > 0 or len(payload) <= 32), "ratio")
        # One byte more than is right, so that a longer stream shows.
        given = {"dict_data": zstandard.ZstdCompressionDict(dictionary)} if dictionary else {}
        stream = STREAMS[codec](**given)
        data: bytes = stream.decompress(payload, *[restored + 1] * (codec != ZSTD))
    except (OSError, zlib.error, lzma.LZMAError, zstandard.ZstdError) as error:
        raise SpecError(f"damaged: {error}") from error
    must(len(data) == restored and stream.eof and not stream.unused_data, "a part is one stream")
    return data


if __name__ == "__main__":
    for path in sys.argv[2:]:
        DICTIONARIES[xxh3_64_intdigest(Path(path).read_bytes())] = Path(path).read_bytes()
    for one in decode(Path(sys.argv[1]).read_bytes()):
        must(one.content is not None, "verified, but not to be restored", "unsupported")
        sys.stdout.buffer.write(one.content or b"")
