"""What is found of a damaged file, whatever stands in it: nothing false, and in linear time."""

from __future__ import annotations

import io
import itertools
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

import serialpack
from serialpack.container.block import Block, Part
from serialpack.container.frames import BLOCK, HEADER, INDEX, MAX_BODY, write_frame
from serialpack.container.salvage import find_remains, has_blocks
from serialpack.container.scan import FoundBlock, FoundEnd, FoundHeader, FoundIndex
from tests.container.mutants import long_members
from tests.container.test_damage import blocks, text
from tests.container.test_damage import packed as pack_lines
from tests.counting import Counting
from tests.pipeline.damage import blocks_of, flipped, found, packed, salvaged

LINES = text(40)

pytestmark = pytest.mark.parametrize("envelope", ["zstd", "own"])


def lines_of(envelope: str, data: bytes = LINES, **options: object) -> bytes:
    return pack_lines(data, envelope, block_size=256, **options)


def left(pieces: Sequence[bytes], numbers: Sequence[int]) -> bytes:
    return b"".join(pieces[n] for n in numbers)


def sizes(container: bytes) -> list[int]:
    return [each.block.size for each in blocks_of(container)]


def pieces_of(data: bytes, container: bytes) -> list[bytes]:
    """What each block of a container restores to."""
    at, found = 0, []
    for size in sizes(container):
        found.append(data[at : at + size])
        at += size
    return found


def test_all_of_a_whole_file_is_found(envelope: str) -> None:
    container = lines_of(envelope)
    kinds = [type(each) for each in found(container)]
    count = len(blocks_of(container))
    assert kinds == [FoundHeader, *[FoundBlock] * count, FoundIndex, FoundEnd]
    remains = find_remains(io.BytesIO(container))
    assert len(remains.members) == 1
    assert not remains.damage
    assert all(slot.whole for slot in remains.members[0].slots())


def test_every_flipped_bit_is_told_and_costs_one_block_at_most(envelope: str) -> None:
    data = text(8)
    container = pack_lines(data, envelope)
    texts = pieces_of(data, container)
    wholes = [data.replace(each, b"", 1) for each in texts]
    for position in range(0, len(container) * 8, 5):  # one bit of each byte, or two
        damaged = bytearray(container)
        damaged[position // 8] ^= 1 << position % 8
        output, report = salvaged(bytes(damaged))
        assert report.damage
        assert output in (data, *wholes)
        assert (output == data) == (not report.lost)
        for lost in report.lost:
            assert output == wholes[lost.block]
            assert lost.blocks == 1


def test_every_cut_leaves_the_blocks_before_it(envelope: str) -> None:
    data = text(8)
    container = pack_lines(data, envelope)
    ends = [each.end for each in blocks_of(container)]
    texts = pieces_of(data, container)
    for length in range(len(container)):
        whole = sum(end <= length for end in ends)
        if not whole:
            with pytest.raises(serialpack.InputError):
                salvaged(container[:length])
        else:
            assert salvaged(container[:length])[0] == b"".join(texts[:whole])


def test_a_file_that_lost_its_front_keeps_the_rest(envelope: str) -> None:
    container = lines_of(envelope)
    texts = pieces_of(LINES, container)
    starts = [each.start for each in blocks_of(container)]
    for gone in range(1, len(container), 7):
        # Only where what is left of a block's first frame is a magic is a byte more forgiven.
        kept = [n for n, start in enumerate(starts) if start >= gone]
        try:
            output, report = salvaged(container[gone:])
        except serialpack.InputError:
            assert not kept
            continue
        assert output == left(texts, kept)
        assert [lost.block for lost in report.lost] == ([] if 0 in kept else [0])


def test_blocks_of_other_containers_are_left_out(envelope: str) -> None:
    container = lines_of(envelope)
    before, pieces, after = blocks(container)
    _, others, _ = blocks(lines_of(envelope, meta={"other": "yes"}))
    texts = pieces_of(LINES, container)
    for at in range(len(pieces)):
        spliced = [*pieces[:at], others[at], *pieces[at + 1 :]]
        output, report = salvaged(before + b"".join(spliced) + after)
        assert output == left(texts, [n for n in range(len(pieces)) if n != at])
        assert [(lost.block, lost.blocks) for lost in report.lost] == [(at, 1)]
        assert any("another container" in place.message for place in report.damage)


def test_blocks_moved_or_doubled_are_each_given_back_once_and_in_order(envelope: str) -> None:
    container = lines_of(envelope)
    before, pieces, after = blocks(container)
    for a in range(len(pieces)):
        for b in range(len(pieces)):
            moved = list(pieces)
            moved[a], moved[b] = moved[b], moved[a]
            doubled = [*pieces[: a + 1], pieces[b], *pieces[a + 1 :]]
            for wrong in ([moved] if a != b else []) + [doubled]:
                output, report = salvaged(before + b"".join(wrong) + after)
                assert output == LINES
                assert not report.lost
                assert report.damage
                # Without an index nothing else tells.
                assert salvaged(before + b"".join(wrong))[0] == LINES


def test_a_block_behind_the_end_is_put_in_its_place(envelope: str) -> None:
    before, pieces, after = blocks(lines_of(envelope))
    output, report = salvaged(before + b"".join(pieces[:1] + pieces[2:]) + after + pieces[1])
    assert output == LINES
    assert not report.lost
    assert report.damage


def test_members_one_after_another(envelope: str) -> None:
    """Also two with the very same header, and the end of one gone with the header of the next."""
    other = text(70)[len(text(40)) :]
    for meta in ({}, {"a": "b"}):
        first, second = lines_of(envelope), lines_of(envelope, other, meta=meta)
        joined = first + second
        assert salvaged(joined)[0] == LINES + other
        index = next(each.start for each in found(first) if isinstance(each, FoundIndex))
        border, header = len(first), len(first) + found(second)[0].end
        for start, end in ((index, header), (index, border), (border, header)):
            output, report = salvaged(joined[:start] + bytes(end - start) + joined[end:])
            assert output == LINES + other
            assert report.damage
            # A member with neither index nor end might have had more.
            assert all(lost.blocks is None for lost in report.lost)
        assert salvaged(joined + first)[0] == LINES + other + LINES


def test_members_that_lost_bytes(envelope: str) -> None:
    """What is missing from one is no reason to take another for a part of it."""
    parts = [text(9), text(60), text(5)]
    members = [lines_of(envelope, part, meta={"n": str(n)}) for n, part in enumerate(parts)]
    first = found(members[1])[0].end
    for start, end in ((0, first + 400), (10, 900), (first, len(members[1]) - 20)):
        output, report = salvaged(members[0] + members[1][:start] + members[1][end:] + members[2])
        assert output.startswith(parts[0])
        assert output.endswith(parts[2])
        assert {lost.member for lost in report.lost} <= {1}


def test_a_container_in_the_data_is_data(envelope: str) -> None:
    """What looks like blocks within a damaged block is not taken for any of the file's."""
    inner = lines_of(envelope)
    data = b"x" * 100 + inner + b"y" * 100
    container = packed(data, "bytes", serializer="raw", codec="none", block_size=len(data) // 3)
    assert len(blocks_of(container)) > 2
    every = found(container)
    index = next(each for each in every if isinstance(each, FoundIndex))
    texts = pieces_of(data, container)
    for number, block in enumerate(blocks_of(container)):
        kept = left(texts, [n for n in range(len(texts)) if n != number])
        for places in (
            [block.start + block.frame],
            [block.start + 20],
            [block.start + block.frame, index.end - 1],
        ):
            output, report = salvaged(flipped(container, *places))
            assert output == kept
            assert [lost.block for lost in report.lost] == [number]
    with long_members():
        (whole,) = blocks_of(packed(data, "bytes", serializer="raw", codec="none"))
        long = packed(data, "bytes", serializer="raw", codec="none")
    for place in (0, 100):
        with pytest.raises(serialpack.DamagedError, match="nothing to salvage"):
            salvaged(flipped(long, whole.start + whole.frame + place))
    single = packed(data, "bytes", serializer="raw", codec="none")
    with pytest.raises(serialpack.DamagedError, match="nothing to salvage"):
        salvaged(flipped(long, whole.start + whole.frame)[:-40])
    for number in range(len(single)):
        with suppress(serialpack.DamagedError):
            assert salvaged(flipped(single, number))[0] in (data, b"")


def test_zeroed_and_missing_stretches(envelope: str) -> None:
    """A disk's sectors: what is out of the stretch comes back, also where it moved."""
    container = lines_of(envelope, text(200))
    texts = pieces_of(text(200), container)
    every = blocks_of(container)
    for start in range(0, len(container) - 512, 301):
        end = start + 512
        kept = left(texts, [n for n, b in enumerate(every) if b.end <= start or b.start >= end])
        for filling in (bytes(512), b""):
            output, report = salvaged(container[:start] + filling + container[end:])
            assert output == kept
            assert report.damage


def test_an_index_of_many_frames(envelope: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any of its frames may be gone: the blocks are there, and the last frame has the totals."""
    monkeypatch.setitem(MAX_BODY, INDEX, MAX_BODY[HEADER] + 256 + 55 * 4)
    container = lines_of(envelope, text(100))
    index = next(each for each in found(container) if isinstance(each, FoundIndex))
    frames = [at for at in range(index.start, index.end) if container[at + 8 : at + 12] == INDEX]
    assert len(frames) > 3
    texts = pieces_of(text(100), container)
    block = blocks_of(container)[5]
    places = list(itertools.accumulate(map(len, texts)))
    for frame in frames:
        output, report = salvaged(flipped(container, frame + 30))
        assert output == text(100)
        assert not report.lost
        assert report.damage
        output, report = salvaged(flipped(container, frame + 30, block.start + 20))
        assert output == left(texts, [n for n in range(len(texts)) if n != 5])
        (lost,) = report.lost
        end = None if frame == frames[-1] else places[5]
        assert (lost.block, lost.start, lost.end) == (5, places[4], end)


def test_random_damage_never_gives_anything_false(envelope: str) -> None:
    """Flips, cuts, stretches moved, doubled and gone: what comes back are records of the source."""
    data = text(60)
    lines = set(data.splitlines())
    container = pack_lines(data, envelope, block_size=200) + pack_lines(text(9), envelope)
    rng = random.Random(7)
    came = 0
    for _ in range(400):
        damaged = bytearray(container)
        for _ in range(rng.randint(1, 5)):
            at, size = rng.randrange(len(damaged)), rng.randrange(1, 300)
            piece = damaged[at : at + size]
            to = rng.randrange(len(damaged))
            match rng.randrange(5):
                case 0:
                    damaged[at] ^= 1 << rng.randrange(8)
                case 1:
                    del damaged[at : at + size]
                case 2:
                    damaged[to:to] = piece
                case 3:
                    damaged[at : at + size] = rng.randbytes(len(piece))
                case 4:
                    del damaged[max(at, 50) :]
        try:
            output, report = salvaged(bytes(damaged))
        except serialpack.InputError:
            continue
        came += 1
        found = output.splitlines()
        assert lines.issuperset(found)
        assert report.records in (len(found), None)  # of blocks alone
        assert report.damage or output == data + text(9)
    assert came > 200


def test_false_frames_take_linear_time(envelope: str) -> None:
    """Millions of frames that say they are long, and blocks that lie within each other."""
    frame = b"S*M\x18" + (1 << 20).to_bytes(4, "little") + (BLOCK if envelope == "own" else INDEX)
    part = Part(32 << 20, 32 << 20, 1)
    lying = write_frame(BLOCK, Block(0, 0, None, 1, 1, None, (part,)).encode(7))
    for piece in (frame, lying):
        file = Counting(piece * ((4 << 20) // len(piece)))
        assert not has_blocks(file)
        assert file.total < 200 << 20


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for the memory")
def test_memory_does_not_grow_with_the_file(envelope: str, tmp_path: Path) -> None:
    """300 MB with a damaged block are salvaged in the memory of a few blocks."""
    source, container = tmp_path / "data.bin", tmp_path / "data.spk"
    with source.open("wb") as file:
        for n in range(300):
            file.write(bytes([n % 251]) * (1 << 20))
    codec = "zstd" if envelope == "zstd" else "none"
    serialpack.pack(source, container, serializer="raw", codec=codec, block_size=4 << 20)
    with container.open("r+b") as damaged:
        damaged.seek(container.stat().st_size // 2)
        damaged.write(b"damaged")
    # Of the process itself: what getrusage says counts that of the one that started it too.
    script = (
        "import serialpack, sys, json, re, pathlib\n"
        "report = serialpack.unpack(sys.argv[1], sys.argv[2], salvage=True, threads=1)\n"
        "status = pathlib.Path('/proc/self/status').read_text()\n"
        "used = int(re.search(r'VmHWM:\\s+(\\d+) kB', status)[1])\n"
        "print(json.dumps([len(report.lost), report.size, used]))\n"
    )
    target = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-c", script, container, target], capture_output=True, check=True
    )
    lost, size, used = json.loads(done.stdout)
    assert lost == 1
    assert size == source.stat().st_size - (4 << 20)
    assert used < 200 << 10
