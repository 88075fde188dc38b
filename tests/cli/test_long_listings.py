"""A few bytes of rows list very many entries: none are kept while these are listed."""

from __future__ import annotations

import gc
import io
import json
import stat
import sys
from functools import cache
from pathlib import Path

import pytest

import serialpack
from serialpack.container.entries import EntryRow
from serialpack.formats.base import SourceBlock
from serialpack.pipeline.pack import pack_blocks
from serialpack.pipeline.packing import Packing
from serialpack.stages.chain import Chain, StageSpec
from tests.cli.conftest import Run
from tests.faults.test_memory import peak

#: In a block; more than are shown as a table that is kept.
LISTED = 12_000


@cache
def an_archive(blocks: int) -> bytes:
    """An archive of one member, each block of which lists ``LISTED`` empty files."""
    rows = [EntryRow(f"{i % 10}", stat.S_IFREG | 0o644, 0) for i in range(LISTED)]
    chain = Chain(StageSpec("raw", ()), (), StageSpec("zstd", (3,)))
    packing = Packing(chain, "bytes", 1 << 20, archive=True, before=0)
    out = io.BytesIO()
    empty = (SourceBlock(b"", number, 0) for number in range(blocks))
    pack_blocks(empty, out.write, packing, entries=lambda: rows)
    return out.getvalue()


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux only")
@pytest.mark.parametrize("args", [[], ["--json"], ["--include", "0"]])
def test_a_long_listing_takes_the_memory_of_one_block(tmp_path: Path, args: list[str]) -> None:
    (tmp_path / "few.spk").write_bytes(an_archive(1))
    (tmp_path / "many.spk").write_bytes(an_archive(12))
    few = peak(tmp_path, "inspect", *args, str(tmp_path / "few.spk"))
    many = peak(tmp_path, "inspect", *args, str(tmp_path / "many.spk"))
    assert many - few < 10, (few, many)


def test_entries_live_no_longer_than_who_asked_for_them() -> None:
    """A cache of the module held the last that anybody had listed, for ever."""

    def rows() -> int:
        gc.collect()
        return sum(type(each) is EntryRow for each in gc.get_objects())

    data, before = an_archive(1), rows()
    found = serialpack.inspect(io.BytesIO(data))
    assert [len(member.entries or ()) for member in found.members] == [LISTED]
    assert rows() - before >= LISTED
    del found
    assert rows() == before


def test_a_long_path_makes_no_other_line_long(tmp_path: Path, run: Run) -> None:
    """Nor does where a link leads: each line was padded to the longest."""
    names = ["a", f"{'x' * 90}", "link"]
    for name in names[:2]:
        (tmp_path / name).write_text("[1]")
    (tmp_path / "link").symlink_to("y" * 90)
    run("pack", "--archive", *names, "-o", "all.spk")
    lines = run("inspect", "all.spk").stdout.decode().splitlines()
    assert lines[0].endswith("  entry")
    long = [line for line in lines[1:] if line.endswith(("x", "y"))]
    assert [line for line in lines if len(line) > 80] == long
    assert lines[3].endswith(f" link -> {'y' * 90}")
    assert " link  " in lines[3]


def test_a_long_listing_is_told_whole(tmp_path: Path, run: Run) -> None:
    (path := tmp_path / "many.spk").write_bytes(an_archive(2))
    head, *lines, total = run("inspect", str(path)).stdout.decode().splitlines()
    assert head.split()[-2:] == ["modified", "entry"]
    assert len(lines) == 2 * LISTED
    assert lines[17].split()[-1] == "7"
    assert total.endswith(f" {2 * LISTED:,} entries")
    (member,) = json.loads(run("inspect", "--json", str(path)).stdout)["members"]
    assert [each["path"] for each in member["entries"][-2:]] == ["8", "9"]
    assert len(member["entries"]) == 2 * LISTED


def test_entries_are_had_by_their_number() -> None:
    (member,) = serialpack.inspect(io.BytesIO(an_archive(2))).members
    entries = member.entries
    assert entries is not None
    assert len(entries) == 2 * LISTED
    assert entries[-1].path == "9"
    assert entries[LISTED + 3].path == "3"
    assert [each.path for each in entries[LISTED - 1 : LISTED + 1]] == ["9", "0"]
    with pytest.raises(IndexError):
        entries[2 * LISTED]


def test_reports_of_entries_are_kept_only_where_they_are_asked_for(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_bytes(name.encode() * 9)
    packed = io.BytesIO()
    serialpack.pack_archive({name: tmp_path / name for name in "ab"}, packed)
    for listed in (True, False):
        to = tmp_path / str(listed)
        done = serialpack.unpack_archive(io.BytesIO(packed.getvalue()), to, listed=listed)
        assert len(done.entries) == 2 * listed
        assert done.size == 18
        assert done.sums is not None
        assert (done.sums.count, done.sums.files) == (2, 2)
