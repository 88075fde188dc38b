"""``open``: a container as the sequence of its records; only the blocks asked for are read."""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, overload

from xxhash import xxh3_64

from serialpack.api import HEAD, expanded, opened_source
from serialpack.checked import checked
from serialpack.container.reader import SNIFF, is_container
from serialpack.detection.detect import looks_like
from serialpack.errors import DamagedError, NotContainerError, UsageError
from serialpack.files.source import File, Path, Source
from serialpack.records.loaded import Loaded
from serialpack.records.units import Unit, members_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: So many blocks' records are kept.
_KEPT = 2


#: Of a far file so many bytes are asked for at once.
_AT_ONCE = 64 << 20


class Records(Sequence[Any]):
    """The records of a container, each of which is read when it is asked for: see ``open``.

    ``format``: that of the packed source. Not for several threads at a time.
    """

    def __init__(self, source: Source, *, trust: bool = False) -> None:
        self._source = source
        self._closed = False
        members = members_of(source, trust=trust)
        self.format = members[0].plan.format
        self._units: list[Unit] = []
        count = 0
        for member in members:
            for unit in member.units(count):
                self._units.append(unit)
                count += unit.records
        if count > sys.maxsize:  # as many as no sequence has: the file lies
            raise DamagedError(f"the index speaks of {count} records")
        self._count = count
        self._firsts = [unit.first_record for unit in self._units]
        self._loaded: OrderedDict[int, Loaded] = OrderedDict()

    def __len__(self) -> int:
        """How many records there are."""
        self._check_open()
        return self._count

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        """The record with this number, or a list of those of a slice.

        IndexError; InputError where it is damaged or not valid, RefusedError where Python cannot
        hold it. In these cases others can still be had.
        """
        self._check_open()
        if isinstance(index, slice):
            chosen = range(self._count)[index]
            if chosen.step < 0:
                return self._several(chosen[::-1])[::-1]
            return self._several(chosen)
        try:
            number = range(self._count)[index]
        except IndexError:
            raise IndexError(f"there are {self._count} records, not one {index}") from None
        with opened_source(self._source):
            place = self._place_of(number)
            return self._load(place).one(number - self._firsts[place])

    def __iter__(self) -> Iterator[Any]:
        """The records in order, block by block."""
        for place in range(len(self._units)):
            yield from self._values(place)

    def fields(self, *names: str) -> dict[str, NDArray[np.generic]]:
        """The values of fields: for each of ``names`` an array with one entry for each record.

        A name is a key, or the way to a field with dots between the keys (``"name.first"``); a
        record's own key with dots goes before that. Of a container of columns (JSON arrays,
        NDJSON, CSV, TSV) only their columns are read.

        Arrays are of int64 (uint64 where it takes that) where all values are integers, of float64
        where all are numbers and none of them would change, of bool; else of the Python values
        that the records have: str, list, dict, None. None also stands where a record has no such
        field. Of a list on the way it is a list, with the value of each element, or None. Fields
        of CSV and TSV are text.

        UsageError where no record has the field, RefusedError where a record is no map.
        """
        from serialpack.records.arrays import arrays

        self._check_open()
        with opened_source(self._source):
            return arrays(self._units, names)

    def runs(self, size: int) -> list[range]:
        """The numbers of the records in runs of whole blocks, each of ``size`` bytes of the source.

        Each can be read without the others: by a slice, by ``lists``. There is one run where only
        reading all tells where records end, none where there are no records.
        """
        self._check_open()
        if not all(unit.stored for unit in self._units):
            return [range(self._count)][: self._count]
        found: list[range] = []
        start = stop = filled = 0
        for unit in self._units:
            stop += unit.records
            filled += unit.size
            if filled >= size and stop > start:
                found.append(range(start, stop))
                start, filled = stop, 0
        return [*found, *[range(start, stop)][: stop - start]]

    def lists(
        self, names: Sequence[str], run: range
    ) -> Iterator[tuple[dict[str, list[Any]], set[str]]]:
        """As ``fields``, but lists, for each block of one of ``runs``; and the names that any of
        its records has."""
        from serialpack.records.arrays import values

        self._check_open()
        first, stop = bisect_left(self._firsts, run.start), bisect_left(self._firsts, run.stop)
        with opened_source(self._source):
            yield from values(self._units[first:stop], names)

    @property
    def check(self) -> int:
        """A checksum of all that the index says of the blocks, their own checksums too: while it
        is the same, so are the records."""
        members = {id(unit.member): unit.member for unit in self._units}.values()
        return xxh3_64(repr([member.rows for member in members]).encode()).intdigest()

    def close(self) -> None:
        """Close the file, if it was given by its name; nothing can be read any more."""
        self._closed = True
        self._loaded.clear()
        self._source.close()

    def __enter__(self) -> Records:
        self._check_open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _several(self, chosen: range) -> list[Any]:
        """Records of a range that rises."""
        found: list[Any] = []
        with opened_source(self._source):
            if self._source.is_far and chosen.step == 1:
                self._fetch(chosen)
            while chosen:
                place = self._place_of(chosen[0])
                unit = self._units[place]
                stop = unit.first_record + unit.records
                here = range(chosen.start, min(stop, chosen.stop), chosen.step)
                chosen = chosen[len(here) :]
                if len(here) == unit.records and place not in self._loaded:
                    found += self._values(place)  # which nobody comes back for
                    continue
                numbers = [number - unit.first_record for number in here]
                found += self._load(place).some(numbers)
        return found

    def _fetch(self, chosen: range) -> None:
        """Ask for the blocks of ``chosen`` by one request, where reading on would ask for more."""
        if not chosen:
            return
        places = range(self._place_of(chosen[0]), self._place_of(chosen[-1]) + 1)
        first, last = self._units[places[0]], self._units[places[-1]]
        one = first.stored and first.member is last.member
        if not one or not self._loaded.keys().isdisjoint(places):
            return
        offsets = first.member.offsets  # of the blocks in the file, and of their end
        start, stop = offsets[first.block.index], offsets[last.block.index + 1]
        if stop - start <= _AT_ONCE:
            self._source.file.seek(start)
            self._source.file.read(stop - start)  # which the file keeps

    def _place_of(self, number: int) -> int:
        """The place of the unit with this record: the last that begins there or before."""
        return bisect_right(self._firsts, number) - 1

    def _load(self, place: int) -> Loaded:
        """A unit, which is kept for a while."""
        loaded = self._loaded.pop(place, None) or Loaded(self._units[place])
        self._loaded[place] = loaded
        if len(self._loaded) > _KEPT:
            self._loaded.popitem(last=False)
        return loaded

    def _values(self, place: int) -> Iterator[Any]:
        """All records of a unit, which is not kept if it was not."""
        loaded = self._loaded.get(place) or Loaded(self._units[place])
        with opened_source(self._source):
            self._check_open()
            for value in loaded.values():
                yield value
                self._check_open()

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError("the container is closed")


@checked
def open(source: Path | File, *, trust: bool = False) -> Records:
    """The records of the container at ``source``, as a sequence, without unpacking it.

    ``source``: a path, or a binary file that can be sought in. A record is the value that the
    packed source's format has there, the same that ``convert`` writes: an element of a JSON
    array, a line of NDJSON, a row of CSV (a map of text), a message. A document is one record; a
    map larger than a block is one record for each member, ``{key: value}``. Containers one after
    another in a file are one sequence.

    Indexing, slicing (a list) and iterating read only the blocks that they need, and check what
    they read; few blocks are kept in memory. Where a container does not say how many records its
    blocks have, because its packer did not look (YAML under raw, say), all of it is gone over
    once here. ``trust``: also what can run code that is in the file (pickle, marshal).

    UsageError where there are no such records (an archive, an object of ``dump``, plain bytes), or
    where ``source`` cannot be sought in; NotContainerError, DamagedError, UnsupportedError,
    RefusedError, FileError.

    >>> import pathlib, serialpack
    >>> _ = pathlib.Path("ab.ndjson").write_text('{"a": 1}\\n{"a": 2}\\n')
    >>> _ = serialpack.pack("ab.ndjson", "ab.spk")
    >>> with serialpack.open("ab.spk") as records:
    ...     len(records), records[-1], [record["a"] for record in records]
    (2, {'a': 2}, [1, 2])
    """
    opened = Source(source)
    try:
        with opened_source(opened):
            return Records(sought(opened), trust=trust)
    except BaseException:
        opened.close()
        raise


def sought(source: Source) -> Source:
    """``source``, if it is a container to be sought in."""
    head = source.peek(HEAD if source.stat is not None else SNIFF)
    if not is_container(head[:SNIFF]):
        raise NotContainerError(looks_like(head))
    if not source.seekable():
        raise UsageError("it cannot be sought in, as a pipe", hint="unpack it to a file")
    return expanded(source)
