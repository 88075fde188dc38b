"""Short members: what is small takes few bytes, and nothing else is different."""

from __future__ import annotations

import io
import random
import shutil
import struct
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.container import short
from serialpack.container.ends import trailer
from serialpack.container.frames import SHORT, write_frame
from serialpack.container.reader import read_members
from serialpack.container.seek import find_members
from tests.container.mutants import long_members
from tests.counting import Counting
from tests.pipeline.damage import flipped, packed, salvaged, unpacked
from tests.spec_decoder import decode

LINES = b"".join(b'{"id": %d, "name": "n%d"}\n' % (n, n * 7) for n in range(9))

#: Chains, and the most bytes that a short member of them takes beside its data and its name.
CHAINS: dict[str, tuple[dict[str, Any], int]] = {
    "raw+zstd": ({"serializer": "raw", "codec": "zstd"}, 100),
    "json+zstd": ({"serializer": "json", "codec": "zstd"}, 100),
    "raw+none": ({"serializer": "raw", "codec": "none"}, 80),
    "raw+xz": ({"serializer": "raw", "codec": "xz"}, 80),
    "columns+none": ({"serializer": "columns", "codec": "none"}, 80),
}


def tags(container: bytes) -> list[bool]:
    """Of each member, whether it is a short one."""
    found = []
    for member in read_members(io.BytesIO(container).read):
        found.append(member.short is not None)
        assert list(member.blocks())
    return found


def ndjson(chain: str, data: bytes = LINES, **more: Any) -> bytes:
    return packed(data, "ndjson", **CHAINS[chain][0], **more)


@pytest.mark.parametrize("chain", CHAINS)
def test_little_stands_beside_data_and_name(chain: str, tmp_path: Path) -> None:
    how, most = CHAINS[chain]
    source = tmp_path / "some name.ndjson"
    source.write_bytes(LINES)
    target = tmp_path / "packed.spk"
    serialpack.pack(source, target, **how)
    (member,) = serialpack.inspect(target).members
    assert tags(target.read_bytes()) == [True]
    style = 60 if chain.startswith("json") else 0  # which is the data's
    assert member.container - len(source.name) <= most + style
    assert (member.name, member.mtime) == (source.name, source.stat().st_mtime_ns)
    assert (member.records, member.size, member.exact) == (9, len(LINES), True)
    back = tmp_path / "back"
    serialpack.unpack(target, back)
    assert back.read_bytes() == LINES
    assert back.stat().st_mtime_ns == source.stat().st_mtime_ns


@pytest.mark.parametrize("effort", [3, 9])
def test_what_auto_says_of_small_files_takes_little(effort: int, tmp_path: Path) -> None:
    """Why a chain was chosen is for people, and told where it takes next to nothing."""
    draw = random.Random(7)
    words = [f"{draw.randrange(9999):x}" for _ in range(60_000)]
    rows = "".join(f"{n},{n * 7919 % 10007},{word}\n" for n, word in enumerate(words[:3000]))
    for name, text in (("few.txt", " ".join(words[:6000])), ("few.csv", f"a,b,c\n{rows}")):
        (tmp_path / name).write_text(text)
        report = serialpack.pack(tmp_path / name, tmp_path / "out", effort=effort, force=True)
        assert report.why
        assert 5000 < report.payload < 40_000
        (member,) = serialpack.inspect(tmp_path / "out").members
        assert member.why == ""
        assert member.container - len(name) <= (100 if member.zstd_envelope else 80), name
    (tmp_path / "many.txt").write_text(" ".join(words))
    report = serialpack.pack(tmp_path / "many.txt", tmp_path / "out", effort=effort, force=True)
    (member,) = serialpack.inspect(tmp_path / "out").members
    assert member.why == report.why != ""


def test_what_is_not_small_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second block, a payload that a writer does not hold, several parts."""
    assert tags(ndjson("raw+zstd", block_size=100)) == [False]
    monkeypatch.setattr(short, "MOST_WRITTEN", len(LINES))
    assert tags(ndjson("raw+none")) == [True]
    assert tags(ndjson("raw+none", LINES + b"\n")) == [False]
    monkeypatch.undo()
    wide = b"".join(b'{"a": "%x", "b": "%x"}\n' % (n**9, n**10) for n in range(9000))
    container = ndjson("columns+none", wide)
    assert len(decode(container)[0].blocks[0].parts) > 1
    assert tags(container) == [False]


@pytest.mark.parametrize("chain", CHAINS)
def test_a_short_member_says_what_a_long_one_says(chain: str) -> None:
    how: dict[str, Any] = {"meta": {"k": "v"}, "verify": False, "identity": ("é.ndjson", -5)}
    brief = ndjson(chain, **how)
    with long_members():
        long = ndjson(chain, **how)
    assert len(brief) < len(long) - 150
    ((one,), (other,)) = (serialpack.inspect(io.BytesIO(each)).members for each in (brief, long))
    own = {"packed", "container", "blocks", "block_size", "digest"}
    for field in one._fields:
        if field not in own:
            assert getattr(one, field) == getattr(other, field), field
    assert one.digest is not None
    assert len(one.digest) == 16
    ((mine,), (theirs,)) = one.blocks, other.blocks
    assert mine._replace(start=theirs.start, end=theirs.end) == theirs


@pytest.mark.parametrize("chain", CHAINS)
def test_each_byte_is_under_the_checksum(chain: str) -> None:
    whole = ndjson(chain)
    for place in range(0, len(whole), 2):
        for damaged in (flipped(whole, place), whole[:place]):
            for look in (unpacked, lambda data: serialpack.inspect(io.BytesIO(data))):
                with suppress(serialpack.InputError):
                    found = look(damaged)
                    # A start that is damaged is that of another file, a zstd file perhaps.
                    assert place < 21, found
                    assert found != LINES


def joined() -> list[bytes]:
    """Short and long members of one source each."""
    return [
        ndjson("raw+zstd"),
        ndjson("raw+none", block_size=50),
        ndjson("columns+none"),
        ndjson("raw+zstd", block_size=60),
        ndjson("raw+none"),
    ]


def test_short_and_long_members_stand_in_one_file() -> None:
    pieces = joined()
    starts = [sum(map(len, pieces[:n])) for n in range(len(pieces))]
    for first in range(len(pieces)):
        for last in range(first + 1, len(pieces) + 1):
            data = b"".join(pieces[first:last])
            assert unpacked(data) == LINES * (last - first)
            found = find_members(io.BytesIO(data))
            assert [m.start + starts[first] for m in found] == starts[first:last]
            assert [m.length for m in found] == list(map(len, pieces[first:last]))
    data = b"".join(pieces)
    for start, stop in ((0, 1), (8, 10), (20, 37), (44, 45)):
        out = io.BytesIO()
        serialpack.unpack(io.BytesIO(data), out, record_range=(start, stop))
        assert out.getvalue() == b"".join((LINES * 5).splitlines(keepends=True)[start:stop])
    assert len(decode(data)) == len(pieces)
    assert serialpack.unpack(io.BytesIO(data), None).records == 45


def test_what_is_passed_over_is_not_read() -> None:
    """Long members before short ones are walked through by the headers of their blocks."""
    long = packed(
        bytes(range(256)) * 8000, "bytes", serializer="raw", codec="none", block_size=1 << 18
    )
    file = Counting(long + ndjson("raw+none"))
    assert len(find_members(file)) == 2
    assert file.total < len(long) // 5
    with pytest.raises(serialpack.TruncatedError):
        find_members(io.BytesIO(long[:-3000]))


def test_what_holds_a_container_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or a part of one: it would be found where the short member around it is damaged."""
    how: dict[str, Any] = {"serializer": "raw", "codec": "none", "force": True}
    for inner in (*joined(), b"".join(joined()), joined()[1][30:], joined()[3][-40:]):
        outer = packed(inner, "bytes", **how)
        assert tags(outer) == [False]
        for place in range(0, len(outer), 11):
            with suppress(serialpack.DamagedError):
                assert salvaged(flipped(outer, place))[0] == inner
    # Whoever makes one all the same is read alike from both ends: it may end as a member does.
    monkeypatch.setattr(short, "has_mark", lambda _: False)
    for inner in joined():
        outer = packed(inner, "bytes", **how)
        assert tags(outer) == [True]
        for before in (b"", *joined()[:2]):
            assert len(find_members(io.BytesIO(before + outer))) == 1 + bool(before)
            assert unpacked(before + outer) == LINES * bool(before) + inner
    # And its end may say that the member has begun where the short one begins.
    long = joined()[1]
    ends = ndjson("raw+none", long[len(ndjson("raw+none", b"")) :], force=True)
    ends = ends[:-32] + trailer(int.from_bytes(long[-32:-24], "little"), len(ends))
    ends = _checked(ends)
    assert tags(ends) == [True]
    (found,) = find_members(io.BytesIO(ends))
    assert found.index.rows[0].check != find_members(io.BytesIO(long))[0].index.rows[0].check


def _checked(container: bytes) -> bytes:
    """A short member with its checksum made right."""
    (length,) = struct.unpack("<I", container[12:16])
    body, part = container[20 : 8 + length], container[16 + length :]
    return container[:8] + write_frame(SHORT, body, part) + part


def archive(tmp_path: Path, count: int = 5) -> bytes:
    """Members of one entry each."""
    out = io.BytesIO()
    for number in range(count):
        path = tmp_path / f"{number}.ndjson"
        path.write_bytes(LINES + b'{"n": %d}\n' % number)
        serialpack.pack(path, out, entry=f"in/{number}.ndjson")
    return out.getvalue()


def test_a_damaged_entry_costs_no_other(tmp_path: Path) -> None:
    """Wherever in it the damage is, but for the size of its part and what begins it."""
    data = archive(tmp_path)
    starts = [member.start for member in find_members(io.BytesIO(data))]
    assert tags(data) == [True] * 5
    frame = data[starts[2] :].index(b"SPKS") + starts[2]
    for number, place in enumerate((frame + 4 + 5, frame + 40, starts[3] - 30, starts[3] - 1)):
        folder = tmp_path / f"out {number}"
        with pytest.raises(serialpack.ArchiveError) as failed:
            serialpack.unpack_archive(io.BytesIO(flipped(data, place)), folder)
        assert len(failed.value.failures) == 1
        for entry in (0, 1, 3, 4):
            found = (folder / "in" / f"{entry}.ndjson").read_bytes()
            assert found == LINES + b'{"n": %d}\n' % entry
        assert not (folder / "in" / "2.ndjson").exists()


def test_salvage_gives_back_all_other_members() -> None:
    pieces = joined()
    whole = b"".join(pieces)
    starts = [sum(map(len, pieces[:n])) for n in range(len(pieces) + 1)]
    for number in (0, 2, 4):
        for place in range(starts[number], starts[number + 1], 7):
            output, report = salvaged(flipped(whole, place))
            assert output in (LINES * 4, LINES * 5)
            # What comes back whole is only that of which the first bytes alone are wrong.
            assert output == LINES * 4 or place < starts[number] + 13
            assert report.damage
    for size in range(starts[4] + 1, starts[5], 5):
        output, report = salvaged(whole[:size])
        assert output == LINES * 4
        assert report.damage


@pytest.mark.skipif(shutil.which("zstd") is None, reason="zstd is not installed")
def test_any_zstd_tool_reads_it() -> None:
    data = ndjson("raw+zstd")
    run = subprocess.run(["zstd", "-dc"], input=data + data, capture_output=True, check=True)
    assert run.stdout == LINES * 2
    wrong = subprocess.run(["zstd", "-t"], input=flipped(data, len(data) - 9), capture_output=True)
    assert wrong.returncode != 0


@pytest.mark.parametrize("chain", CHAINS)
def test_the_size_of_its_source_is_had_from_a_whole_one_alone(chain: str) -> None:
    whole = ndjson(chain)
    assert short.source_of_short(whole) == (len(LINES), None)
    assert short.source_of_short(whole + b"more") is None
    for stop in range(len(whole)):
        assert short.source_of_short(whole[:stop]) is None
    for place in range(len(whole)):
        assert short.source_of_short(flipped(whole, place)) is None
