"""Avro's object container files: header, schema and blocks, taken apart and put together.

What is compressed is decompressed here, within a limit; fastavro gets the values of it only.
"""

from __future__ import annotations

import bz2
import hashlib
import io
import json
import lzma
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

from serialpack.bounded import decompress
from serialpack.depth import MAX_DEPTH, TooDeep
from serialpack.depth.values import depth_of
from serialpack.errors import RefusedError
from serialpack.formats.avro.skim import Skimmer, read_long
from serialpack.formats.base import MAX_BLOCK, Difference, Unheld
from serialpack.formats.shared.document import Malformed
from serialpack.formats.shared.split import Scan
from serialpack.leb128 import read_varint, varint
from serialpack.stages.stage import import_library

MAGIC = b"Obj\x01"
_SYNC = 16


class AvroBlock(NamedTuple):
    """One block, decompressed: how many ``values`` it holds, and ``at`` which byte of the file."""

    values: int
    data: bytes
    at: int


class AvroSchema(NamedTuple):
    """A schema as JSON has it, as fastavro parses it, and the types in it that have names."""

    json: Any
    parsed: Any
    named: dict[str, Any]

    def skimmer(self) -> Skimmer:
        return Skimmer(self.parsed, self.named)

    def same(self, other: AvroSchema) -> bool:
        """Whether both say the same, in whichever words: fastavro's writer spells names out."""
        return bool(_plain(self.parsed) == _plain(other.parsed))


class Container(NamedTuple):
    """A file taken apart. ``meta``: what its header says, the schema too."""

    schema: AvroSchema
    codec: str
    meta: dict[str, bytes]
    sync: bytes
    blocks: list[AvroBlock]


def _plain(parsed: Any) -> Any:
    """A parsed schema without fastavro's notes in it."""
    if isinstance(parsed, list):
        return [_plain(each) for each in parsed]
    if not isinstance(parsed, dict):
        return parsed
    return {key: value for key, value in parsed.items() if not key.startswith("__")}


def parse_schema(text: str | bytes) -> AvroSchema:
    """The schema in ``text``; ValueError where it is none."""
    schema = import_library("fastavro.schema", "avro")
    try:
        found = json.loads(text)
        if isinstance(found, dict):
            # What fastavro takes for a sign that it has parsed a schema before.
            found = {key: v for key, v in found.items() if not key.startswith("__")}
        if depth_of(found, 2 * MAX_DEPTH) == 2 * MAX_DEPTH:
            raise TooDeep
        _ignore_unsound_decimals(found)
        named: dict[str, Any] = {}
        return AvroSchema(found, schema.parse_schema(found, named), named)
    except TooDeep:
        raise
    except Exception as error:  # whatever fastavro trips over
        raise ValueError(f"{type(error).__name__}: {error}"[:200]) from None


def _ignore_unsound_decimals(schema: Any) -> None:
    """Make decimals in ``schema`` that are none the bytes that they are stored as.

    Avro 1.11, Logical Types: a logical type that is not valid is ignored. Of a decimal the
    precision is required, the scale no larger, and so many digits must fit into a fixed type.
    """
    left = [schema]
    while left:
        part = left.pop()
        if isinstance(part, list):
            left += part
        elif isinstance(part, dict):
            left += [part[key] for key in ("type", "items", "values", "fields") if key in part]
            if part.get("logicalType") == "decimal" and not _is_sound_decimal(part):
                del part["logicalType"]


def _is_sound_decimal(schema: dict[str, Any]) -> bool:
    digits, scale, size = schema.get("precision"), schema.get("scale", 0), schema.get("size")
    if type(digits) is not int or type(scale) is not int or not 0 <= scale <= digits or not digits:
        return False
    if schema.get("type") != "fixed":
        return True
    # 8 * size - 1 bits hold so many digits; of fewer bits than 3 a digit no power is taken.
    bits = 8 * size - 1 if type(size) is int else 0
    return digits * 3 <= bits and 10**digits <= 1 << bits


class AvroHeader(NamedTuple):
    """What stands at the front of a file, up to byte ``end``. ``meta``: the schema too."""

    meta: dict[str, bytes]
    sync: bytes
    end: int

    @property
    def codec(self) -> str:
        return str(self.meta.get("avro.codec", b"null"), "utf-8", "replace")

    def schema(self) -> AvroSchema:
        """The schema in the header; Malformed where there is none."""
        if "avro.schema" not in self.meta:
            raise Malformed("it has no schema", len(MAGIC))
        try:
            return parse_schema(self.meta["avro.schema"])
        except ValueError as error:
            raise Malformed(f"its schema is none: {error}", len(MAGIC)) from None


def read_header(data: bytes) -> AvroHeader:
    """The header at the front of ``data``; Malformed where it is not whole."""
    if not data.startswith(MAGIC):
        raise Malformed("it does not begin as Avro's container files do", 0)
    try:
        meta, at = _metadata(data, len(MAGIC))
        return AvroHeader(meta, _bytes(data, at, at + _SYNC), at + _SYNC)
    except IndexError:
        raise Malformed("it ends too early", len(data)) from None


def take_apart(data: bytes, header: AvroHeader | None = None) -> Container:
    """The header and the blocks of a file; Malformed, or RefusedError for too much of it.

    ``header``: it stands before ``data``, which are blocks.
    """
    at = 0
    if header is None:
        header = read_header(data)
        at = header.end
    schema, codec = header.schema(), header.codec
    blocks: list[AvroBlock] = []
    room = max(MAX_BLOCK, len(data))
    try:
        while at < len(data):
            block, at = _block(data, at, header.sync, codec, room)
            room -= len(block.data)
            blocks.append(block)
    except IndexError:
        raise Malformed("it ends too early", len(data)) from None
    return Container(schema, codec, header.meta, header.sync, blocks)


class BlockScan:
    """Goes over the blocks of one file, from its front on; what they hold is counted.

    ``head``: the bytes of its header, which is the front of its first block.
    """

    def __init__(self) -> None:
        self.head = b""
        self._sync = b""

    def __call__(self, view: memoryview, most: int) -> Scan:
        data = bytes(view)
        values = blocks = at = 0
        if not self.head:
            if not data.startswith(MAGIC[: len(data)]):
                return Scan(0, 0, lost=True)
            try:
                header = read_header(data)
            except Malformed:  # or not whole yet
                return Scan(0, 0)
            self.head, self._sync, at = data[: header.end], header.sync, header.end
        while blocks != most and at < len(data):
            try:
                count, start = read_long(data, at)
                size, start = read_long(data, start)
            except IndexError:
                break
            except Malformed:
                return Scan(values, at, lost=True)
            end = start + size + _SYNC
            if end > len(data):
                break
            if count < 0 or size < 0 or data[end - _SYNC : end] != self._sync:
                return Scan(values, at, lost=True)
            values, blocks, at = values + count, blocks + 1, end
        return Scan(values, at)


def _metadata(data: bytes, at: int) -> tuple[dict[str, bytes], int]:
    meta: dict[str, bytes] = {}
    while True:
        count, at = read_long(data, at)
        if count == 0:
            return meta, at
        if count < 0:
            count, (_, at) = -count, read_long(data, at)
        if count > len(data):
            raise Malformed(f"{count} entries are announced", at)
        for _ in range(count):
            key, at = _sized(data, at)
            meta[str(key, "utf-8", "replace")], at = _sized(data, at)


def _sized(data: bytes, at: int) -> tuple[bytes, int]:
    size, start = read_long(data, at)
    return _bytes(data, start, start + size), start + size


def _bytes(data: bytes, start: int, end: int) -> bytes:
    if not start <= end <= len(data):
        raise Malformed(f"{end - start} bytes are announced, {len(data) - start} are there", start)
    return data[start:end]


def _block(data: bytes, at: int, sync: bytes, codec: str, room: int) -> tuple[AvroBlock, int]:
    count, start = read_long(data, at)
    if count < 0:
        raise Malformed(f"a block of {count} values", at)
    stored, end = _sized(data, start)
    if _bytes(data, end, end + _SYNC) != sync:
        raise Malformed("no sync marker behind a block", end)
    inflate = _CODECS.get(codec)
    if inflate is None:
        raise Malformed(f"compressed by {codec[:40]!r}, which is not in the specification", at)
    try:
        inflated = inflate(stored, room)
    except (ValueError, OSError, zlib.error, lzma.LZMAError) as error:
        raise Malformed(f"a block that {codec} does not decompress ({error})", at) from None
    if len(inflated) > room:
        raise RefusedError(
            "the blocks of an Avro file restore to more than 64 MiB",
            hint="pack -s raw keeps the bytes",
        )
    return AvroBlock(count, inflated, end - len(stored)), end + _SYNC


def _stored(data: bytes, _: int) -> bytes:
    return data


def _deflate(data: bytes, room: int) -> bytes:
    return decompress(zlib.decompressobj(-15), data, room)


def _bzip2(data: bytes, room: int) -> bytes:
    return decompress(bz2.BZ2Decompressor(), data, room)


def _xz(data: bytes, room: int) -> bytes:
    return decompress(lzma.LZMADecompressor(memlimit=2 * MAX_BLOCK), data, room)


def _zstandard(data: bytes, room: int) -> bytes:
    import zstandard

    try:
        with zstandard.ZstdDecompressor(max_window_size=MAX_BLOCK).stream_reader(data) as stream:
            return stream.read(room + 1)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None


def _snappy(data: bytes, room: int) -> bytes:
    cramjam = import_library("cramjam", "snappy")
    size, _ = read_varint(data, 0, min(len(data), 5))
    if size > room:
        return bytes(room + 1)
    try:
        out = bytes(cramjam.snappy.decompress_raw(data[:-4]))
    except cramjam.DecompressionError as error:
        raise ValueError(str(error)) from None
    if zlib.crc32(out) != int.from_bytes(data[-4:], "big"):
        raise ValueError("its checksum is another")
    return out


_CODECS: dict[str, Callable[[bytes, int], bytes]] = {
    "null": _stored,
    "deflate": _deflate,
    "bzip2": _bzip2,
    "xz": _xz,
    "zstandard": _zstandard,
    "snappy": _snappy,
}


def read_values(
    container: Container, *, reader: AvroSchema | None = None, careful: bool = True
) -> list[Any]:
    """The values of a file; as those of ``reader``, another schema, as Avro's rules allow.

    ``careful``: it comes from a stranger, and all of its bytes are gone over first; otherwise
    that is done only where it must be.
    """
    try:
        skimmer = container.schema.skimmer()
    except Malformed as bad:
        raise Malformed(bad.message, len(MAGIC)) from None
    if careful or skimmer.risky:
        before = 0
        for block in container.blocks:
            try:
                skimmer.skim(block.data, block.values, block.at)
            except Unheld as lost:
                place = lost.difference.record + before
                raise Unheld(lost.difference._replace(record=place)) from None
            before += block.values
    if reader is not None:
        reader.skimmer()
    fastavro = import_library("fastavro", "avro")
    file = io.BytesIO(_uncompressed(container))
    records: list[Any] = []
    try:
        for record in fastavro.reader(file, reader.json if reader else None):
            records.append(record)
    except Exception as error:  # what the bytes say is right, but no value of Python's
        if reader is not None:
            raise ValueError(f"the schema does not read it: {error}"[:200]) from None
        raise Unheld(Difference(len(records), "$", f"{error}"[:80], "", "value")) from None
    return records


def _uncompressed(container: Container) -> bytes:
    """The file again, nothing in it compressed."""
    schema = json.dumps(container.schema.json).encode()
    out = [MAGIC, write_long(2)]
    for part in (b"avro.schema", schema, b"avro.codec", b"null"):
        out += write_long(len(part)), part
    out += write_long(0), container.sync
    for block in container.blocks:
        out += write_long(block.values), write_long(len(block.data)), block.data, container.sync
    return b"".join(out)


def write_long(number: int) -> bytes:
    """A number from 0 up, as Avro writes it."""
    return varint(number << 1)


def write_values(
    records: list[Any],
    schema: Any,
    *,
    tagged: bool = False,
    codec: str = "null",
    meta: dict[str, str] | None = None,
) -> bytes:
    """A file of ``records`` under ``schema``; ValueError or TypeError where they do not fit it.

    ``tagged``: tuples in the records tell the branch of a union, and are no values.
    """
    fastavro = import_library("fastavro", "avro")
    file = io.BytesIO()
    marker = hashlib.sha256(json.dumps(schema).encode()).digest()[:_SYNC]
    try:
        fastavro.writer(
            file,
            schema,
            records,
            codec=codec,
            metadata=meta,
            sync_marker=marker,
            strict=True,
            disable_tuple_notation=not tagged,
        )
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise
    except Exception as error:  # whatever it trips over where a value is not of the schema
        raise ValueError(f"{type(error).__name__}: {error}"[:200]) from None
    return file.getvalue()
