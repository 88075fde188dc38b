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
from serialpack.archive import gather
from serialpack.container.reader import read_members
from serialpack.container.rows import decode_rows
from serialpack.container.seek import StoredMember, find_members
from tests.container.test_archive import tree
from tests.container.test_shared import contents, documents, packed
from tests.pipeline.damage import flipped

Tree = dict[str, bytes | str | None]

#: Short members, long ones of several blocks, and both envelopes of these; where blocks are small,
#: so is what has a member of its own, that it has few of them.
HOW: dict[str, dict[str, Any]] = {
    "columns": {},
    "zstd": {"serializer": "raw", "codec": "zstd"},
    "zlib": {"serializer": "raw", "codec": "zlib"},
    "blocks": {"serializer": "raw", "codec": "zstd", "block_size": 600},
    "own blocks": {"serializer": "raw", "codec": "zlib", "block_size": 600},
}


def _large(how: str) -> int:
    """Bytes of what shares no member with others."""
    block_size: int | None = HOW[how].get("block_size")
    return gather.SHARED_SIZE if block_size is None else 3 * block_size


def archive_of(sources: dict[str, Path], how: str) -> bytes:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(gather, "SHARED_SIZE", _large(how))
        return packed(sources, **HOW[how])


class Unit(NamedTuple):
    """Bytes of the archive that are lost together, and the entries in them."""

    start: int
    end: int
    entries: list[str]


def given(folder: Path, how: str) -> dict[str, Path]:
    """Small files of several formats, a large one, a link, a folder of nothing."""
    sources = documents(folder, 4)
    more = {"in/a.txt": b"a line\n", "in/b.txt": b"b line\n" * 40}
    more["in/large"] = Random(1).randbytes(_large(how) + 5000)
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
    sources = given(tmp_path, how)
    data = archive_of(sources, how)
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
    sources = {path: source for path, source in given(tmp_path, how).items() if source.is_file()}
    del sources["in/link"]
    data = archive_of(sources, how)
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


def two_members(folder: Path) -> tuple[dict[str, bytes], bytes, list[StoredMember]]:
    """Entries of two formats, and their archive: a member of several blocks for each."""
    given = documents(folder, 8)
    for n in range(8):
        path = folder / f"text-{n}.txt"
        path.write_bytes(b"a line of text %d\n" % n * 12)
        given[f"in/{path.name}"] = path
    data = packed(given, serializer="raw", codec="zstd", block_size=600)
    members = find_members(io.BytesIO(data), [])[:-1]
    assert [len(member.index.rows) for member in members] == [8, 4]
    return contents(given), data, members


def test_a_member_without_its_ends_is_found_from_its_first_block_on(tmp_path: Path) -> None:
    """As many blocks of it were passed over as the member before it has."""
    wanted, data, (_, second) = two_members(tmp_path)
    header, end = second.start + 40, second.start + second.length - 5
    archive = tmp_path / "a.spk"
    archive.write_bytes(flipped(flipped(data, header), end))
    with pytest.raises(serialpack.ArchiveError):
        serialpack.unpack_archive(archive, tmp_path / "out")
    assert tree(tmp_path / "out") == wanted


def test_of_blocks_that_are_not_wanted_none_is_written_for_another(tmp_path: Path) -> None:
    """What was done was counted, and not where: the last that was done was written again."""
    wanted, data, (first, _) = two_members(tmp_path)
    archive = tmp_path / "a.spk"
    # Without its end it is read in order, and that fails at the tag of its fourth block.
    archive.write_bytes(flipped(data[:-20], first.offsets[3] + 8))
    listed = [decode_rows(row.entries or b"") for row in first.index.rows]
    take = [entry.path for entry in (*listed[1], *listed[2], *listed[-1])]
    with pytest.raises(serialpack.ArchiveError) as failed:
        serialpack.unpack_archive(archive, tmp_path / "out", include=take)
    assert {path for path, _ in failed.value.failures}.isdisjoint(take)
    assert tree(tmp_path / "out") == {path: wanted[path] for path in take}
