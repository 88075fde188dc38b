"""One byte of an archive is damaged, or what is behind it is gone: what is elsewhere comes back."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

import serialpack
from serialpack.container.reader import read_members
from serialpack.container.rows import decode_rows
from tests.container.test_shared import documents, packed
from tests.container.test_shared_damage import flipped

Tree = dict[str, bytes | str | None]

#: Short members, long ones of several blocks, and both envelopes of these.
HOW: dict[str, dict[str, Any]] = {
    "columns": {},
    "zstd": {"serializer": "raw", "codec": "zstd"},
    "zlib": {"serializer": "raw", "codec": "zlib"},
    "blocks": {"serializer": "raw", "codec": "zstd", "block_size": 600},
    "own blocks": {"serializer": "raw", "codec": "zlib", "block_size": 600},
}


class Unit(NamedTuple):
    """Bytes of the archive that are lost together, and the entries in them."""

    start: int
    end: int
    entries: list[str]


def given(folder: Path) -> dict[str, Path]:
    """Small files of several formats, a large one, a link, a folder of nothing."""
    sources = documents(folder, 4)
    more = {"in/a.txt": b"a line\n", "in/b.txt": b"b line\n" * 40}
    more["in/large"] = Random(1).randbytes(70_000)
    for path, data in more.items():
        sources[path] = folder / Path(path).name
        sources[path].write_bytes(data)
    (folder / "nothing").mkdir()
    (folder / "link").symlink_to("a.txt")
    return sources | {"in/nothing": folder / "nothing", "in/link": folder / "link"}


def what_is_in(folder: Path) -> Tree:
    found: Tree = {}
    for path in folder.rglob("*"):
        is_link, is_folder = path.is_symlink(), path.is_dir()
        said = str(path.readlink()) if is_link else None if is_folder else path.read_bytes()
        found[path.relative_to(folder).as_posix()] = said
    return found


def units(data: bytes) -> Iterator[Unit]:
    for member in read_members(io.BytesIO(data).read):
        blocks = list(member.blocks())
        end = member.start + member.length
        listed = [
            [entry.path for entry in decode_rows(stored.block.entries or b"")]
            if member.header.shared
            else [member.header.entry or ""]
            for stored in blocks
        ]
        if member.short is not None or not member.header.shared:
            yield Unit(member.start, end, listed[0])
            continue
        edges = [member.start, *(stored.start for stored in blocks), blocks[-1].end, end]
        for (begin, stop), entries in zip(pairwise(edges), [[], *listed, []], strict=True):
            yield Unit(begin, stop, entries)


def places(found: list[Unit]) -> Iterator[tuple[int, Unit]]:
    """Those near where a unit begins and ends, and some between; never the same ones only."""
    for unit in found:
        size = unit.end - unit.start
        near = {*range(0, 30, 2), *range(1, 120, 7), *range(size - 40, size, 5)}
        between = range(120, size - 40, max(size // 6, 1))
        for place in sorted(place for place in near | {*between} if 0 <= place < size):
            yield unit.start + place, unit


@pytest.mark.skipif(os.name != "posix", reason="a symbolic link")
@pytest.mark.parametrize("how", HOW)
def test_a_flipped_byte_costs_its_block_and_no_other(tmp_path: Path, how: str) -> None:
    """The whole archive was refused where the first member is damaged; what is behind was lost
    where the start, the length or the tag of any frame is."""
    sources = given(tmp_path)
    data = packed(sources, **HOW[how])
    whole = tmp_path / "whole"
    serialpack.unpack_archive(io.BytesIO(data), whole)
    wanted, found = what_is_in(whole), list(units(data))
    archive = tmp_path / "a.spk"
    for number, (place, unit) in enumerate(places(found)):
        archive.write_bytes(flipped(data, place))
        out = tmp_path / f"out {number}"
        with pytest.raises(serialpack.SerialpackError) as failed:
            serialpack.unpack_archive(archive, out, threads=1)
        assert failed.value.exit_code, place
        there = what_is_in(out) if out.exists() else {}
        assert there == {path: wanted[path] for path in there}, place
        lost = wanted.keys() - there.keys() - {"in"}
        assert lost <= {*unit.entries}, (place, unit)


@pytest.mark.parametrize("how", ["columns", "blocks"])
def test_what_is_before_a_cut_comes_back(tmp_path: Path, how: str) -> None:
    sources = {path: source for path, source in given(tmp_path).items() if source.is_file()}
    del sources["in/link"]
    data = packed(sources, **HOW[how])
    whole = tmp_path / "whole"
    serialpack.unpack_archive(io.BytesIO(data), whole)
    wanted, found = what_is_in(whole), list(units(data))
    archive = tmp_path / "a.spk"
    for number, (place, _) in enumerate([*places(found)][1::3]):
        archive.write_bytes(data[:place])
        out = tmp_path / f"out {number}"
        with pytest.raises(serialpack.SerialpackError):
            serialpack.unpack_archive(archive, out, threads=1)
        there = what_is_in(out) if out.exists() else {}
        assert there == {path: wanted[path] for path in there}, place
        before = {path for unit in found if unit.end <= place for path in unit.entries}
        assert before <= there.keys(), place
