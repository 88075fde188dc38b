"""A second decoder of columns, written from man/spk-columns.5 alone: slow, and nothing is shared.

It notes what each byte is, so that the test vectors can be shown with their meaning.
"""

from __future__ import annotations

import lzma
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import zstandard
from pcodec import standalone


class Damaged(ValueError):
    """A rule of the page is broken."""


class Note(NamedTuple):
    """Some bytes, and what they are."""

    data: bytes
    text: str


class Cursor:
    """Takes bytes off the front, and notes what they are."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.notes: list[Note] = []

    def take(self, size: int, text: str = "") -> bytes:
        if size < 0 or self.at + size > len(self.data):
            raise Damaged(f"no {size} bytes at {self.at}")
        self.at += size
        data = self.data[self.at - size : self.at]
        if data:
            self.notes.append(Note(data, text))
        return data

    def renote(self, text: str, size: int) -> None:
        """One note instead of those of the last ``size`` bytes."""
        del self.notes[-size:]
        self.notes.append(Note(self.data[self.at - size : self.at], text))

    def v(self, text: str, names: tuple[str, ...] = (), most: int = 2**64 - 1) -> int:
        """An unsigned LEB128, ``most`` at most; ``names`` of its values."""
        number = size = 0
        while True:
            byte = self.take(1)[0]
            number |= (byte & 127) << 7 * size
            size += 1
            if byte < 128:
                break
        if size > 10 or (size > 1 and not byte):
            raise Damaged("a number is longer than it need be")
        if number > most or (names and number >= len(names)):
            raise Damaged(f"{text} {number}")
        self.renote(f"{text}: {names[number] if names else number}", size)
        return number

    def z(self, text: str) -> int:
        """A signed number, in zigzag."""
        at = self.at
        number = self.v("")
        number = -(number >> 1) - 1 if number & 1 else number >> 1
        self.renote(f"{text}: {number}", self.at - at)
        return number

    def counted(self, text: str) -> bytes:
        size = self.v(f"{text}, size")
        return self.take(size, text)

    def end(self) -> None:
        if self.at != len(self.data):
            raise Damaged("bytes behind the end")


CODERS = ("store", "zstd", "pcodec", "shared", "lzma")
KINDS = ("bytes", "u8", "u16", "u32", "u64", "f64")
LAYOUTS = ("plain", "planes", "1 bit", "2 bits", "4 bits")
WIDTHS = (1, 1, 2, 4, 8, 8)
STORE, ZSTD, PCODEC, SHARED, LZMA = range(5)


class Stream(NamedTuple):
    """A stream as it is stored; what is shared, raw."""

    coder: int
    kind: int
    size: int
    data: bytes


def unzstd(data: bytes, size: int) -> bytes:
    """A frame without its magic number, and with nothing but a window in its header."""
    if data[:1] != b"\0":
        raise Damaged("a frame of another form")
    reader = zstandard.ZstdDecompressor().decompressobj()
    raw = reader.decompress(b"\x28\xb5\x2f\xfd" + data)
    if len(raw) != size or not reader.eof or reader.unused_data:
        raise Damaged("a frame of another size")
    return raw


def unlzma(data: bytes, size: int) -> bytes:
    """LZMA without a header, with an end mark."""
    form = {"id": lzma.FILTER_LZMA1, "lc": 3, "lp": 0, "pb": 0, "dict_size": max(size, 4096)}
    reader = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[form])
    raw = reader.decompress(data)
    if len(raw) != size or not reader.eof or reader.unused_data:
        raise Damaged("an LZMA stream of another size")
    return raw


def raw_bytes(stream: Stream) -> bytes:
    """The raw form of a stream that is not pcodec's."""
    if stream.coder == ZSTD:
        return unzstd(stream.data, stream.size)
    if stream.coder == LZMA:
        return unlzma(stream.data, stream.size)
    if stream.coder == PCODEC or len(stream.data) != stream.size:
        raise Damaged("a stream of another size")
    return stream.data


def elements(stream: Stream, layout: int, number: int) -> list[Any]:
    """The array of ``number`` elements that a stream holds."""
    width = WIDTHS[stream.kind]
    if stream.coder == PCODEC:
        found: list[Any] = standalone.simple_decompress(stream.data).tolist()
        if layout or len(found) != number:
            raise Damaged("an array of pcodec's of another length")
        return found
    raw = raw_bytes(stream)
    if layout >= 2:
        bits = 1 << (layout - 2)
        shifts, mask = range(8 - bits, -1, -bits), (1 << bits) - 1
        each = [byte >> shift & mask for byte in raw for shift in shifts]
        if stream.kind != 1 or len(raw) != -(-number * bits // 8):
            raise Damaged("bits of another length")
        return each[:number]
    if len(raw) != width * number:
        raise Damaged("an array of another length")
    if layout == 1:
        raw = bytes(raw[plane * number + at] for at in range(number) for plane in range(width))
    return list(struct.unpack(f"<{number}{'BBHIQd'[stream.kind]}", raw))


def int64(number: int) -> int:
    """Modulo 2^64, from -2^63 on."""
    return (number + 2**63) % 2**64 - 2**63


class Description(Cursor):
    """A column's description, with its streams and the columns before it."""

    def __init__(
        self, data: bytes, streams: list[Stream], earlier: Callable[[int], list[bytes]]
    ) -> None:
        super().__init__(data)
        self.streams = iter(streams)
        self.earlier = earlier
        self.depth = 0

    def end(self) -> None:
        super().end()
        if next(self.streams, None) is not None:
            raise Damaged("a stream too many")

    def raw(self) -> bytes:
        return raw_bytes(self._stream())

    def _stream(self) -> Stream:
        stream = next(self.streams, None)
        if stream is None:
            raise Damaged("a stream is missing")
        return stream

    def array(self, text: str, number: int) -> list[Any]:
        form = self.take(1)[0]
        kind, layout = divmod(form, 8)
        if not 0 < kind < len(KINDS) or layout >= len(LAYOUTS):
            raise Damaged("an array of an unknown kind")
        self.renote(f"{text}: array of {KINDS[kind]}, {LAYOUTS[layout]}", 1)
        stream = self._stream()
        if stream.kind != kind:
            raise Damaged("a stream of another kind")
        return elements(stream, layout, number)

    def codes(self, text: str, count: int, number: int) -> list[int]:
        found = self.array(text, number) if count > 1 and number else [0] * number
        if found and max(found) >= count:
            raise Damaged("a code beyond the last entry")
        return found

    def numbers(self, text: str, number: int, depth: int = 0) -> list[int]:
        if not number:
            return []
        if depth > 5:
            raise Damaged("numbers nested too deep")
        modes = ("all the same", "steps", "offsets", "differences", "table")
        mode = self.v(text, modes)
        if mode == 0:
            return [self.z("number")] * number
        if mode == 1:
            first, step = self.z("first"), self.z("step")
            return [int64(first + step * place) for place in range(number)]
        if mode == 2:
            least = self.z("least")
            return [int64(least + above) for above in self.array("above it", number)]
        if mode == 3:
            found = [self.z("first")]
            for step in self.numbers("steps", number - 1, depth + 1):
                found.append(int64(found[-1] + step))
            return found
        count = self.v("entries")
        table = self.numbers("entries", count, depth + 1)
        return [table[code] for code in self.codes("codes", count, number)]

    def counts(self, text: str, number: int) -> list[int]:
        found = self.numbers(text, number)
        if found and min(found) < 0:
            raise Damaged("a number below 0")
        return found

    def places(self, number: int) -> list[bool]:
        if self.v("exceptions", ("a bit for each value", "gaps")) == 0:
            return [bool(code) for code in self.codes("which", 2, number)]
        found = [False] * number
        at = -1
        for gap in self.counts("values before it", self.v("exceptions")):
            at += gap + 1
            if at >= number:
                raise Damaged("an exception nowhere")
            found[at] = True
        return found

    def merged(self, values: list[bytes], odd: list[bool]) -> list[bytes]:
        """``values`` and, if there are any, the exceptions that stand next."""
        beside = iter(self.column(sum(odd)) if any(odd) else [])
        rest = iter(values)
        return [next(beside) if is_odd else next(rest) for is_odd in odd]

    def column(self, number: int) -> list[bytes]:
        """The next column: ``number`` values."""
        from tests.columns.oracle_encodings import ENCODINGS

        code = self.take(1)[0]
        if code not in ENCODINGS or self.depth >= 16:
            raise Damaged(f"encoding {code}")
        name, decode = ENCODINGS[code]
        self.renote(f"encoding {code}: {name}", 1)
        self.depth += 1
        values = decode(self, number)
        self.depth -= 1
        return values
