"""Reads columns as ``write`` wrote them, one by one or all. Layout: man/spk-columns.5, COLUMNS."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from serialpack.columns.encodings import DECODERS, NAMES, reference
from serialpack.columns.stored.source import ColumnSource, Stored
from serialpack.columns.stored.streams import KINDS, LZMA, PCO, SHARED, STORE, ZSTD, unlzma, unzstd
from serialpack.columns.stored.wire import WireReader
from serialpack.columns.stored.write import BUNDLED, VERSION
from serialpack.columns.texts import Broken, Texts, Unknown

_UNPACK = {ZSTD: unzstd, LZMA: unlzma}

#: The budget of a column: so many bytes for each byte that comes out of it, and so many in any
#: case.
_STEPS = 64
_LEAST_BUDGET = 1 << 16

#: The most bytes that the version and the two sizes before the header take.
_START = 21

#: No size in a header is larger.
_HUGE = 1 << 48


class _Column(NamedTuple):
    """What the header says of a column, or of a bundle."""

    number: int
    """How many values it has."""
    size: int
    """How many bytes these have together."""
    streams: range
    """The indices of its streams, among those of all columns."""
    description: bytes
    budget: int
    """How many bytes may be restored for it in all; see ``ColumnSource``."""


class _Line(NamedTuple):
    """A line of the table of streams, or of the table of groups."""

    coder: int
    kind: int
    raw_size: int
    start: int
    """Where its stored bytes start; in a group, where its raw bytes do."""
    stop: int


def header_end(data: bytes | memoryview) -> int:
    """Where the header ends in the bytes of columns: so many are read before any column."""
    start = WireReader(data[:_START], 1)
    start.varint(_HUGE)
    return start.varint(len(data)) + start.position


class StoredColumns:
    """The columns of a block; each is decoded when it is first asked for.

    ``most_values``, ``most_bytes``: how many values, and bytes of these, all columns together may
    have. The header is read at once. Broken and Unknown are raised by the constructor, or by
    whatever is called later.
    """

    def __init__(
        self, data: bytes | memoryview, most_values: int = 1 << 32, most_bytes: int = 1 << 40
    ) -> None:
        self._data = memoryview(data)
        start = WireReader(self._data[:_START])
        if start.byte() != VERSION:
            raise Unknown("columns of an unknown version")
        # Each value may be a column of its own, whose description takes some bytes.
        raw_size = start.varint(1024 + 64 * (most_values + most_bytes))
        stored_size = start.varint(len(data))
        self._header_end = start.position + stored_size
        stored = bytes(self._data[start.position : self._header_end])
        if len(stored) != stored_size:
            raise Broken("the header of columns ends early")
        header = WireReader(stored if stored_size == raw_size else unzstd(stored, raw_size))
        self._bundles = 0
        # The values of bundles count twice: they are values of other columns, too.
        self._columns = self._read_columns(header, 2 * most_values, 2 * most_bytes)
        self._most = sum(column.budget for column in self._columns)
        self._order = self._read_order(header)
        self._groups: dict[int, _Line] = {}
        self._lines: list[_Line] = []
        self._read_streams(header)
        header.end()
        if sum(column.number for column in self._columns[: len(self)]) > most_values:
            raise Broken("more values than there can be")
        if sum(column.size for column in self._columns[: len(self)]) > most_bytes:
            raise Broken("longer values than there can be")
        self._places = self._place()
        self._texts: dict[int, Texts] = {}
        self._restored: dict[int, memoryview] = {}

    def _read_columns(self, header: WireReader, values: int, size: int) -> list[_Column]:
        """The columns, with the bundles behind them.
        ``values``, ``size``: the most of all together."""
        count = header.varint(len(header.data))
        self._bundles = header.varint(count)
        numbers = [header.varint(values) for _ in range(count)]
        sizes = [header.varint(size) for _ in range(count)]
        streams = [header.varint(len(header.data)) for _ in range(count)]
        lengths = [header.varint(len(header.data)) for _ in range(count)]
        if sum(numbers) > values or sum(sizes) > size or sum(streams) > len(header.data):
            raise Broken("columns that hold more than there can be")
        columns = []
        first = 0
        for index in range(count):
            budget = _LEAST_BUDGET + _STEPS * (sizes[index] + 8 * numbers[index])
            own = range(first, first + streams[index])
            description = header.take(lengths[index])
            columns.append(_Column(numbers[index], sizes[index], own, description, budget))
            first = own.stop
        return columns

    def _read_order(self, header: WireReader) -> list[int]:
        """The order in which the streams of columns stand in shared frames."""
        count = len(self._columns)
        if not header.varint(1):
            return list(range(count))
        order = [header.varint(count) for _ in range(count)]
        if sorted(order) != list(range(count)):
            raise Broken("the order of columns is none")
        return order

    def _read_streams(self, header: WireReader) -> None:
        """Read the tables of groups and of streams, and find where the bytes of each are."""
        groups = _read_lines(header, header.varint(len(KINDS)), self._header_end, self._most)
        for line in groups:
            if line.coder not in _UNPACK or line.kind in self._groups:
                raise Broken("a group of an unknown coder or kind")
            self._groups[line.kind] = line
        start = groups[-1].stop if groups else self._header_end
        count = self._columns[-1].streams.stop if self._columns else 0
        self._lines = _read_lines(header, count, start, self._most)
        if (self._lines[-1].stop if self._lines else start) != len(self._data):
            raise Broken("columns are not as long as their streams")
        offsets = dict.fromkeys(self._groups, 0)
        for index in self._order:
            for place in self._columns[index].streams:
                line = self._lines[place]
                if line.coder == SHARED:
                    if line.kind not in offsets:
                        raise Broken("a stream in a group that is not there")
                    offset = offsets[line.kind]
                    offsets[line.kind] += line.raw_size
                    self._lines[place] = line._replace(start=offset, stop=offset + line.raw_size)
        if any(size != self._groups[kind].raw_size for kind, size in offsets.items()):
            raise Broken("a group is not as long as its streams")

    def _place(self) -> dict[int, tuple[int, int]]:
        """For each column in a bundle the index of the bundle,
        and that of its first value there."""
        firsts = [0] * self._bundles
        places = {}
        for index, column in enumerate(self._columns[: len(self)]):
            if column.description[:1] == bytes([BUNDLED]):
                place = WireReader(column.description, 1)
                bundle = place.varint(len(firsts))
                place.end()
                if bundle >= len(firsts) or len(column.streams):
                    raise Broken("a column in a bundle that is not there")
                places[index] = len(self) + bundle, firsts[bundle]
                firsts[bundle] += column.number
        if 0 in firsts or firsts != [column.number for column in self._columns[len(self) :]]:
            raise Broken("a bundle is not as long as its columns")
        return places

    def __len__(self) -> int:
        """How many columns there are; bundles are none."""
        return len(self._columns) - self._bundles

    def number(self, index: int) -> int:
        """How many values a column has."""
        return self._columns[index].number

    def text_size(self, index: int) -> int:
        """How many bytes the values of a column have together."""
        return self._columns[index].size

    def encoding(self, index: int) -> str:
        """The name of the encoding of a column;
        of several in each other, that of the outermost one."""
        if index in self._places:
            index = self._places[index][0]
        return NAMES.get(WireReader(self._columns[index].description).byte(), "unknown")

    def stored_size(self, index: int) -> int:
        """How many bytes the streams of a column take:
        of shared frames, and of its bundle, its share."""
        column = self._columns[index]
        if index in self._places:
            bundle = self._places[index][0]
            part = column.number / max(self._columns[bundle].number, 1)
            return round(self.stored_size(bundle) * part)
        size = 0
        for line in self._lines[column.streams.start : column.streams.stop]:
            share = line.stop - line.start
            if line.coder == SHARED:
                group = self._groups[line.kind]
                share = round(share * (group.stop - group.start) / max(group.raw_size, 1))
            size += share
        return size

    def ranges(self, index: int) -> list[tuple[int, int]]:
        """Where the bytes start and stop that decoding a column reads: those of the header, of its
        streams, and of the columns that it refers to.
        """
        found = [(0, self._header_end)]
        for needed in self._needed(index):
            streams = self._columns[needed].streams
            for line in self._lines[streams.start : streams.stop]:
                body = self._groups[line.kind] if line.coder == SHARED else line
                found.append((body.start, body.stop))
        return sorted(set(found))

    @property
    def bounds(self) -> list[int]:
        """Where the header ends, each shared frame, and each stream outside of these, in order."""
        groups = [line.stop for line in self._groups.values()]
        own = [line.stop for line in self._lines if line.coder != SHARED]
        return [self._header_end, *groups, *own]

    def _needed(self, index: int) -> Iterator[int]:
        """What is decoded for a column: itself or its bundle, the column that it refers to, the one
        that this refers to, and so on. Broken where one is not before the other."""
        at: int | None = self._places[index][0] if index in self._places else index
        while at is not None:
            yield at
            leader = reference.leader_of(self._columns[at].description)
            if leader is not None and (leader >= at or leader in self._places):
                raise Broken("a column refers to one that is not before it")
            at = leader

    def texts(self, index: int) -> Texts:
        """The values of a column. Broken, Unknown."""
        if not 0 <= index < len(self._columns):
            raise Broken("a column that is not there")
        if index not in self._texts:
            # Without recursion: a chain of columns of which each refers to the next may be long.
            needed = list(takewhile(lambda at: at not in self._texts, self._needed(index)))
            for at in reversed(needed):
                self._keep(at, self._decoded(at))
            if index in self._places:
                self._keep(index, self._unbundled(index))
        return self._texts[index]

    def _keep(self, index: int, texts: Texts) -> None:
        """Keep the values of a column, if they are as many and as
        long as its header says. Broken."""
        column = self._columns[index]
        if texts.number != column.number or len(texts.data) != column.size:
            raise Broken("a column is not as long as promised")
        self._texts[index] = texts

    def _unbundled(self, index: int) -> Texts:
        """The values of a column in a bundle that was decoded."""
        bundle, first = self._places[index]
        texts = self._texts[bundle]
        ends = texts.ends[first : first + self._columns[index].number]
        start = int(texts.ends[first - 1]) if first else 0
        stop = int(ends[-1]) if len(ends) else start
        return Texts(texts.data[start:stop], ends - np.int64(start))

    def _decoded(self, index: int) -> Texts:
        """Decode a column that is in no bundle, or a bundle;
        what it refers to is decoded already."""
        column = self._columns[index]
        streams = [
            Stored(line.coder, line.kind, line.raw_size, self._bytes(line))
            for line in self._lines[column.streams.start : column.streams.stop]
        ]
        source = ColumnSource(column.description, streams, column.budget, DECODERS, self._texts.get)
        texts = source.column(column.number, column.size)
        source.end()
        return texts

    def _bytes(self, line: _Line) -> memoryview:
        """The stored bytes of a stream; of one in a shared frame the raw ones."""
        if line.coder != SHARED:
            return self._data[line.start : line.stop]
        if line.kind not in self._restored:
            group = self._groups[line.kind]
            frame = bytes(self._data[group.start : group.stop])
            self._restored[line.kind] = memoryview(_UNPACK[group.coder](frame, group.raw_size))
        return self._restored[line.kind][line.start : line.stop]


def _read_lines(header: WireReader, count: int, start: int, most: int) -> list[_Line]:
    """The next ``count`` lines, of groups or of streams, whose bytes stand from ``start`` on.
    ``most``: the most raw bytes of any."""
    forms = [divmod(byte, 16) for byte in header.take(count)]
    if any(coder > LZMA or kind not in KINDS for coder, kind in forms):
        raise Unknown("a stream of an unknown coder or kind")
    raw_sizes = [header.varint(most) if coder != PCO else 0 for coder, _ in forms]
    lines = []
    for (coder, kind), raw_size in zip(forms, raw_sizes, strict=True):
        if coder == SHARED:
            stop = start
        else:
            stop = start + (raw_size if coder == STORE else header.varint(_HUGE))
        lines.append(_Line(coder, kind, raw_size, start, stop))
        start = stop
    return lines
