"""Damage in an archive, and entries that cannot be: they cost what they are in, and are named."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

import serialpack
from serialpack.container.entries import EntryRow
from serialpack.container.frames import checksum
from serialpack.container.rows import decode_rows, encode_rows
from serialpack.container.seek import find_listed, find_members
from tests.bad.draft import zstd_frame
from tests.bad.short import CHECK, NAME, REST, SIZE, built
from tests.container.test_archive import tree
from tests.container.test_shared import contents, documents, needs_posix, packed
from tests.first_rows import encode_first
from tests.noise import noise
from tests.pipeline.damage import flipped
from tests.pipes import Pipe


@pytest.mark.parametrize("salvage", [False, True])
def test_a_damaged_block_costs_its_entries_and_no_others(tmp_path: Path, salvage: bool) -> None:
    """They are named; where the header of the block is lost, it is said how many there were, and
    the first and the last of them."""
    given = documents(tmp_path, 40)
    data = packed(given, block_size=4 << 10, serializer="raw")
    (shared, _) = find_listed(io.BytesIO(data))
    places, rows = shared.offsets, shared.index.rows
    assert len(rows) > 3
    listed = [entry.path for entry in decode_rows(rows[1].entries or b"")]
    lost = {*listed}
    for number, place in enumerate((places[2] - 5, places[1] + 40)[: 1 + salvage]):
        folder = tmp_path / f"out {number}"
        with pytest.raises(serialpack.ArchiveError) as failed:
            serialpack.unpack_archive(io.BytesIO(flipped(data, place)), folder, salvage=salvage)
        named = [entry for entry, _ in failed.value.failures]
        if number:
            of_it = f"its {len(listed)} entries, from {listed[0]} to {listed[-1]}"
            assert named == [f"block 1, and {of_it}"]
        else:
            assert named == listed
        assert failed.value.exit_code == 3
        assert tree(folder) == {p: d for p, d in contents(given).items() if p not in lost}


@pytest.mark.parametrize("include", [(), ("*b", "a")])
@pytest.mark.parametrize("bad", ["../b", "/a/b", "a//b", "./cb"])
@pytest.mark.parametrize("second", [False, True])
def test_a_bad_path_costs_its_entry_and_no_others(
    tmp_path: Path, second: bool, bad: str, include: tuple[str, ...]
) -> None:
    """The block that it stands in was refused, with all that was in it."""
    rows = [EntryRow(path, 0o100644, 5, 2, check=checksum(b"xx")) for path in ("a", bad, "cb")]
    if second:
        sound = [row._replace(path=row.path.replace(bad, "12/b")) for row in rows]
        content = zstandard.ZstdDecompressor().decompress(encode_rows(sound)[1:])
        content = content.replace(b"\1/b\0", bad.encode() + b"\0")
        # The number that is in the path no more: one series less.
        listed = b"\2" + zstandard.ZstdCompressor().compress(content[:-3])
    else:
        listed = encode_first(rows)
    needs = {"needs": ["archive", *["rows"] * second]}
    data = built(
        {NAME: None, REST: {**needs, "a": 0}, REST + 1: listed, SIZE: 6, CHECK: checksum(b"x" * 6)},
        payload=lambda _: zstd_frame(b"x" * 6),
    )
    for make, kept in ((io.BytesIO, {"a", "cb"}), (Pipe, {"a", "cb"})):
        out = tmp_path / "below" / make.__name__
        with pytest.raises(serialpack.ArchiveError, match="1 of 3 entries") as failed:
            serialpack.unpack_archive(make(data), out, include=include)
        ((entry, error),) = failed.value.failures
        assert (entry, error.exit_code) == (bad, 4)
        assert tree(out) == dict.fromkeys(kept, b"xx")
    assert not (tmp_path / "below/b").exists()
    with pytest.raises(serialpack.DamagedError, match="the path of an entry"):
        serialpack.unpack(io.BytesIO(data), None)
    listing = serialpack.inspect(io.BytesIO(data)).members[0].entries or ()
    assert [entry.path for entry in listing] == ["a", bad, "cb"]


@needs_posix
@pytest.mark.parametrize("name", ["new\nline", "tab\there/x", "\x1b[31m", "\x7f"])
def test_names_with_control_characters_come_back(tmp_path: Path, name: str) -> None:
    """They were refused: a folder with one of them failed."""
    given = {}
    for size in (5, 5_000_000):  # one shares a block, the other is a member of its own
        path = tmp_path / "in" / f"{name}{size}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
        given[f"{name}{size}"] = path
    data = packed(given)
    for make in (io.BytesIO, Pipe):
        serialpack.unpack_archive(make(data), tmp_path / make.__name__)
        assert tree(tmp_path / make.__name__) == contents(given)
    shown = [e.path for m in serialpack.inspect(io.BytesIO(data)).members for e in m.entries or ()]
    assert shown == [*given]


def test_a_reader_of_before_says_what_it_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = io.BytesIO()
    serialpack.pack(io.BytesIO(b"x"), alone, entry="a\nb")
    shared = packed({"a": Path(__file__)})
    before = frozenset({"entry", "archive", "dict"})
    monkeypatch.setattr("serialpack.container.header.KNOWN_NEEDS", before)
    for data, feature in ((shared, "rows"), (alone.getvalue(), "control")):
        with pytest.raises(serialpack.UnsupportedError, match=f"the feature '{feature}'"):
            serialpack.unpack(io.BytesIO(data), None)


@pytest.mark.parametrize("make", [io.BytesIO, Pipe])
@pytest.mark.parametrize("include", [(), ("in/*",)])
@pytest.mark.parametrize("cut_in", [1, 2])
def test_what_came_before_a_cut_is_given(
    tmp_path: Path, make: Callable[[bytes], io.BytesIO], include: tuple[str, ...], cut_in: int
) -> None:
    """Blocks are read ahead: a cut in the second one once cost the first."""
    given = documents(tmp_path, 40)
    data = packed(given, block_size=4 << 10, serializer="raw")
    (shared, _) = find_listed(io.BytesIO(data))
    whole = {e.path for row in shared.index.rows[:cut_in] for e in decode_rows(row.entries or b"")}
    cut = make(data[: shared.offsets[cut_in] + 200])
    with pytest.raises(serialpack.SerialpackError, match="truncated"):
        serialpack.unpack_archive(cut, tmp_path / "out", include=include)
    assert tree(tmp_path / "out") == {p: d for p, d in contents(given).items() if p in whole}


@pytest.mark.parametrize("make", [io.BytesIO, Pipe])
def test_a_cut_in_what_is_not_wanted_is_told(
    tmp_path: Path, make: Callable[[bytes], io.BytesIO]
) -> None:
    """Behind it there may be entries that are."""
    given = documents(tmp_path, 8)
    large = tmp_path / "large"
    large.write_bytes(noise(20_000))
    data = packed({**given, "in/large": large}, block_size=4 << 10, serializer="raw")
    starts = [member.start for member in find_members(io.BytesIO(data))]
    cut = make(data[: starts[1] + 9_000])
    with pytest.raises(serialpack.SerialpackError, match="truncated"):
        serialpack.unpack_archive(cut, tmp_path / "out", include=["in/item*"])
    assert tree(tmp_path / "out") == contents(given)


@pytest.mark.parametrize("header", [False, True])
def test_some_entries_are_had_beside_a_damaged_block(tmp_path: Path, header: bool) -> None:
    """All that was asked for was lost where any block of it was damaged. So many folders that the
    archive is read from its end, which does not walk over headers."""
    given = documents(tmp_path, 40)
    (tmp_path / "folder").mkdir()
    given |= {noise(20, n).hex(): tmp_path / "folder" for n in range(2200)}
    data = packed(given, block_size=4 << 10, serializer="raw")
    shared, closing = find_listed(io.BytesIO(data))
    assert len(closing.index.digest) == 16, "a short member, which has no end"
    first, second = shared.offsets[1:3]
    lost = [entry.path for entry in decode_rows(shared.index.rows[1].entries or b"")]
    archive = io.BytesIO(flipped(data, first + 40 if header else second - 5))
    with pytest.raises(serialpack.ArchiveError) as failed:
        serialpack.unpack_archive(archive, tmp_path / "out", include=["*[05].json"])
    wanted = {path for path in given if path.endswith(("0.json", "5.json"))}
    assert set(tree(tmp_path / "out")) == wanted - {*lost}
    named = [entry for entry, _ in failed.value.failures]
    if header:
        assert named == [f"block 1, and its {len(lost)} entries, from {lost[0]} to {lost[-1]}"]
    else:
        assert set(named) == wanted & {*lost}
