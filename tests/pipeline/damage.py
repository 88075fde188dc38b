"""Containers damaged in one place or several, and what must be left of them."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable
from typing import Any, NamedTuple

import serialpack
from serialpack.container.scan import Found, FoundBlock, scan
from serialpack.reports import LostRange, UnpackReport
from tests.conversion import converting


def packed(data: bytes, format: str, **how: Any) -> bytes:
    """A container of ``data``, without time or name."""
    out = io.BytesIO()
    how = {"threads": 1, "trust": True, **how}
    serialpack.pack(io.BytesIO(data), out, format=format, **how)
    return out.getvalue()


def unpacked(container: bytes) -> bytes:
    out = io.BytesIO()
    serialpack.unpack(io.BytesIO(container), out, threads=1, trust=True)
    return out.getvalue()


def salvaged(container: bytes, **how: Any) -> tuple[bytes, UnpackReport]:
    out = io.BytesIO()
    how = {"threads": 1, "trust": True, **how}
    report = serialpack.unpack(io.BytesIO(container), out, salvage=True, **how)
    assert report.size == len(out.getvalue())
    return out.getvalue(), report


def found(container: bytes) -> list[Found]:
    return list(scan(io.BytesIO(container)))


def blocks_of(container: bytes) -> list[FoundBlock]:
    return [each for each in found(container) if isinstance(each, FoundBlock)]


def flipped(container: bytes, *places: int) -> bytes:
    """With a bit of each of these bytes the other way round."""
    data = bytearray(container)
    for place in places:
        data[place] ^= 0x10
    return bytes(data)


def records_of(format: str, data: bytes) -> list[Any]:
    """The values of the records in ``data``; of a JSON object its members, as maps of one."""
    found = converting.records_of(data, format)
    if format == "json" and len(found) == 1 and isinstance(found[0], dict):
        return [{key: value} for key, value in found[0].items()]
    return found


class Whole(NamedTuple):
    """A container that is whole, and what is in it: ``source`` is what it restores to."""

    container: bytes
    format: str
    source: bytes
    blocks: list[FoundBlock]

    @classmethod
    def of(cls, container: bytes, format: str) -> Whole:
        return cls(container, format, unpacked(container), blocks_of(container))

    @property
    def numbered(self) -> bool:
        """Whether it is known which records are in a block."""
        return all(each.block.records is not None for each in self.blocks)

    def places(self) -> list[int]:
        """Where each block begins in the source, and where the last one ends."""
        places = [0]
        for each in self.blocks:
            places.append(places[-1] + each.block.size)
        return places

    def check(self, output: bytes, report: UnpackReport, lost: Iterable[int]) -> None:
        """The blocks ``lost``, and no others, are missing from ``output`` and listed."""
        lost = sorted(lost)
        listed = [n for each in report.lost for n in _numbers(each, len(self.blocks))]
        assert listed == lost
        places = self.places()
        for each in report.lost:
            stop = each.block + (each.blocks or 0)
            if each.start is not None:
                assert each.start == places[each.block]
            if each.end is not None:
                assert each.end == places[stop]
        if not lost:
            assert output == self.source
            return
        if not self.numbered:
            pieces = itertools.pairwise(places)
            texts = [self.source[a:b] for n, (a, b) in enumerate(pieces) if n not in lost]
            assert output == b"".join(texts)
            return
        counts = [each.block.records or 0 for each in self.blocks]
        for each in report.lost:
            if each.record is not None:
                assert each.record == sum(counts[: each.block])
            if each.records is not None and each.blocks is not None:
                assert each.records == sum(counts[each.block : each.block + each.blocks])
        left = [n for n in range(len(self.blocks)) if n not in lost]
        assert report.records == sum(counts[n] for n in left)
        every = records_of(self.format, self.source)
        assert len(every) == sum(counts)
        begins = [sum(counts[:n]) for n in range(len(counts) + 1)]
        want = [record for n in left for record in every[begins[n] : begins[n + 1]]]
        headed = self.format.startswith(("csv", "tsv")) and "no-header" not in self.format
        if headed and 0 in lost:  # the names are lost too
            line_end = "\n".encode("utf-16-le" if "utf-16" in self.format else "utf-8")
            names = self.source[: self.source.index(line_end) + len(line_end)]
            output = output if output.startswith(names) else names + output
        assert records_of(self.format, output) == want


def _numbers(lost: LostRange, count: int) -> range:
    """The blocks that a range says are lost; none of those that there never were."""
    return range(lost.block, count if lost.blocks is None else lost.block + lost.blocks)
