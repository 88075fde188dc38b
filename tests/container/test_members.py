"""What a container says of itself, and what it holds together."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.container.block import Block, Part
from serialpack.container.frames import HEADER, INDEX, MAX_BODY
from serialpack.container.header import Header
from serialpack.container.index import Index, IndexRow
from serialpack.container.reader import read_members
from serialpack.container.seek import find_members
from tests.container.test_archive import FILES, members
from tests.counting import Counting
from tests.noise import noise


def pack(data: bytes, **options: object) -> bytes:
    out = io.BytesIO()
    serialpack.pack(io.BytesIO(data), out, **options)  # type: ignore[arg-type]
    return out.getvalue()


def test_joined_containers_restore_one_after_another() -> None:
    joined = pack(b"one\n") + pack(b"two\n", codec="xz") + pack(b"three\n")
    out = io.BytesIO()
    serialpack.unpack(io.BytesIO(joined), out)
    assert out.getvalue() == b"one\ntwo\nthree\n"
    assert [str(m.chain) for m in serialpack.inspect(io.BytesIO(joined)).members] == [
        "raw+zstd:3",
        "raw+xz:6",
        "raw+zstd:3",
    ]


def test_the_number_of_threads_never_changes_the_bytes() -> None:
    data = b"".join(b'{"n": %d, "s": "%x"}\n' % (n, n**3) for n in range(40_000))
    for serializer in ("raw", "json"):
        one = pack(data, serializer=serializer, threads=1, block_size=100_000)
        assert pack(data, serializer=serializer, threads=3, block_size=100_000) == one


def test_an_empty_input_has_one_empty_block() -> None:
    container = pack(b"")
    (member,) = serialpack.inspect(io.BytesIO(container)).members
    assert (member.size, len(member.blocks), member.exact) == (0, 1, True)


@pytest.mark.parametrize("data", [bytes(range(100)), b'{"a": 1}\n' * 11 + b"1"])
def test_a_hundred_bytes_cost_at_most_300_more(tmp_path: Path, data: bytes) -> None:
    source = tmp_path / "data.json"
    source.write_bytes(data)
    assert len(data) == 100
    report = serialpack.pack(source, tmp_path / "data.json.spk")
    assert report.packed - report.payload <= 300
    assert (tmp_path / "data.json.spk").stat().st_size == report.packed


def test_a_header_over_32_kib_is_refused() -> None:
    with pytest.raises(serialpack.UsageError, match="shorten meta"):
        pack(b"x", meta={"k": "v" * 33_000})


def test_a_large_index_goes_on_in_further_frames() -> None:
    """One frame of 1 MiB holds some 18,000 rows."""
    rows = tuple(IndexRow(80, 2**31, 3, 2**26, 2**26 - 1, 2**26, 2**64 - 1) for _ in range(40_000))
    header = Header(chain=((32,), (1, 3))).encode()
    index = Index.of(header, rows, bytes(16))
    frames = index.encode()
    assert len(frames) == 3
    assert all(len(f) <= (1 << 20) + 20 for f in frames)
    assert Index.decode([f[12:-8] for f in frames], 0) == index


@pytest.mark.parametrize("codec", ["zstd", "xz"])
def test_an_index_of_several_frames_is_read_from_both_ends(
    monkeypatch: pytest.MonkeyPatch, codec: str
) -> None:
    monkeypatch.setitem(MAX_BODY, INDEX, MAX_BODY[HEADER] + 256 + 55 * 4)
    data = b"a line of text\n" * 100
    container = pack(data, codec=codec, block_size=100)
    assert container.count(INDEX) > 3
    out = io.BytesIO()
    serialpack.unpack(io.BytesIO(container), out)
    assert out.getvalue() == data
    (member,) = find_members(io.BytesIO(container))
    read = next(read_members(io.BytesIO(container).read))
    assert [block.block.size for block in read.blocks()] == [r.size for r in member.index.rows]
    last = container.rindex(INDEX) - 8
    (size,) = struct.unpack_from("<I", container, last + 4)
    with pytest.raises(serialpack.DamagedError):
        serialpack.unpack(io.BytesIO(container[:last] + container[last + 8 + size :]), out)


def test_header_and_block_survive_their_encoding() -> None:
    header = Header(
        chain=((32,), (64, 4), (20, 1, 262144)),
        format=2,
        block_size=1000,
        name="né\udcff.json",
        mtime=-5,
        style={"s": b", "},
        writer="1.2.3",
        meta={"k": "v"},
        unproved=True,
        zstd_envelope=False,
    )
    assert Header.decode(header.encode(), 0, zstd_envelope=False) == header
    block = Block(
        seq=3,
        flags=7,
        records=None,
        size=10,
        check=2**64 - 1,
        source_check=5,
        parts=(Part(3, 10, 1, ((32,), (1, 3))),),
        extras={"s": {"x": 1}},
    )
    assert Block.decode(block.encode(77), 0, 77) == block


def test_a_header_of_another_version_may_be_anything() -> None:
    """It is not damaged: what its body would have to be is not known here."""
    with pytest.raises(
        serialpack.UnsupportedError, match="container version 2, written by another"
    ):
        Header.decode(b"\x02\xc1", 0, zstd_envelope=True)
    with pytest.raises(serialpack.DamagedError):
        Header.decode(b"\x01\xc1", 0, zstd_envelope=True)


def test_members_are_found_from_the_end_in_few_reads() -> None:
    for codec in ("zstd", "xz"):
        file = Counting(pack(bytes(10_000_000), codec=codec, block_size=100_000))
        (member,) = find_members(file)
        assert len(member.index.rows) == 100
        assert file.reads <= 4


def test_what_could_not_be_read_is_not_written() -> None:
    for options in ({"meta": {"a": 1}}, {"meta": {1: "a"}}):
        with pytest.raises(serialpack.UsageError):
            pack(b"x", **options)
    with pytest.raises(TypeError, match="block_size must be an integer or None, not True"):
        pack(b"x", block_size=True)


def test_ranges_that_are_none_are_refused() -> None:
    container = pack(b"0123456789")
    ranges: list[dict[str, Any]] = [
        {"byte_range": (-5, 2)},
        {"byte_range": (5, 2)},
        {"record_range": (5, 2)},
    ]
    for range_ in ranges:
        with pytest.raises(serialpack.UsageError):
            serialpack.unpack(io.BytesIO(container), io.BytesIO(), **range_)


def test_totals_of_an_archive_are_those_of_all_its_members() -> None:
    """Of entries that share blocks, and of those that are members."""
    files = {**FILES, "one.bin": noise(300_000), "two.bin": noise(400_000)}
    out, told = io.BytesIO(), list[tuple[int, int]]()
    report = serialpack.pack_archive(
        {path: io.BytesIO(data) for path, data in files.items()},
        out,
        progress=lambda *totals: told.append(totals),
    )
    assert len(members(out.getvalue())) > 3
    assert sorted(told) == told
    assert told[-1][0] == report.size == sum(map(len, files.values()))
    assert report.sizes["write"] == report.all_packed == len(out.getvalue())
