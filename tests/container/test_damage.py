"""Every fault that a file can have is noticed: flips, cuts, blocks moved, sizes that lie."""

from __future__ import annotations

import io
import itertools
import random
import struct

import pytest

import serialpack
from serialpack.container.frames import (
    BLOCK,
    HEADER,
    INDEX,
    SKIPPABLE,
    START_OWN,
    START_ZSTD,
)
from tests.pipes import Pipe

CHAINS = {"zstd": ("auto", (), "zstd:3"), "own": ("auto", ("shuffle:4",), "zlib:6")}


def packed(data: bytes, envelope: str, block_size: int = 64, **options: object) -> bytes:
    serializer, filters, codec = CHAINS[envelope]
    out = io.BytesIO()
    serialpack.pack(
        io.BytesIO(data),
        out,
        serializer=serializer,
        filters=filters,
        codec=codec,
        block_size=block_size,
        threads=1,
        **options,  # type: ignore[arg-type]
    )
    return out.getvalue()


def unpacked(container: bytes) -> bytes:
    out = io.BytesIO()
    serialpack.unpack(io.BytesIO(container), out, threads=1)
    return out.getvalue()


def frames(container: bytes) -> list[tuple[bytes, int, int]]:
    """Tag, start and end of each of our frames in a container of one member."""
    found = []
    magic = SKIPPABLE.to_bytes(4, "little")
    at = container.find(magic)
    while at >= 0:
        end = at + 8 + int.from_bytes(container[at + 4 : at + 8], "little")
        if container[at + 8 : at + 12] in (HEADER, BLOCK, INDEX):
            found.append((container[at + 8 : at + 12], at, end))
            at = container.find(magic, end)
        else:
            at = container.find(magic, at + 1)
    return found


def blocks(container: bytes) -> tuple[bytes, list[bytes], bytes]:
    """What stands before the blocks, each block with its payload, what stands after."""
    starts = [start for tag, start, _ in frames(container) if tag == BLOCK]
    index = next(start for tag, start, _ in frames(container) if tag == INDEX)
    edges = [*starts, index]
    pieces = [container[a:b] for a, b in itertools.pairwise(edges)]
    return container[: starts[0]], pieces, container[index:]


@pytest.fixture(params=list(CHAINS))
def envelope(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def text(lines: int) -> bytes:
    return b"".join(b'{"id": %d, "name": "record %d"}\n' % (n, n * n) for n in range(lines))


def test_the_two_envelopes_begin_as_specified() -> None:
    assert packed(b"x", "zstd").startswith(START_ZSTD)
    assert packed(b"x", "own").startswith(START_OWN)


def test_every_flipped_bit_is_noticed(envelope: str) -> None:
    data = text(6)
    container = packed(data, envelope)
    assert unpacked(container) == data
    for position in range(0, len(container) * 8, 3):  # two bits of each byte at least
        flipped = bytearray(container)
        flipped[position // 8] ^= 1 << position % 8
        with pytest.raises(serialpack.InputError):
            unpacked(bytes(flipped))


def test_whoever_reads_from_the_end_notices_a_flipped_bit_of_all_but_blocks(envelope: str) -> None:
    """Who needs no block, or one, compares nothing else with it. What the seek table says that
    frames restore to was looked at by nobody, and nor was the header, which the index repeats."""
    container = packed(text(6), envelope, format="ndjson", block_size=100)
    first, index = (next(s for tag, s, _ in frames(container) if tag == t) for t in (BLOCK, INDEX))
    begin = container.index(HEADER) + len(HEADER)
    for position in [*range(begin, first), *range(index, len(container))]:
        flipped = bytearray(container)
        flipped[position] ^= 1 << position % 8
        with pytest.raises(serialpack.InputError):
            serialpack.inspect(io.BytesIO(flipped))
        with pytest.raises(serialpack.InputError):
            serialpack.unpack(io.BytesIO(flipped), io.BytesIO(), record_range=(1, 2))


def test_a_seek_table_that_lists_one_frame_more_or_less_is_noticed() -> None:
    """Its lengths are right, and those of the blocks, too."""
    container = packed(text(6), "zstd", format="ndjson")
    (count,) = struct.unpack_from("<I", container, len(container) - 9)
    table = container[len(container) - 8 * count - 17 :]
    entries = [table[at : at + 8] for at in range(8, 8 + 8 * count, 8)]
    for wrong in (
        [struct.pack("<II", 0, 0), *entries],
        [*entries[:3], struct.pack("<II", 0, 1), *entries[3:]],
        [*entries[:-1], struct.pack("<II", 0, 0), entries[-1]],
    ):
        listed = b"".join(wrong)
        sizes = table[:4] + struct.pack("<I", len(listed) + 9), struct.pack("<I", len(wrong))
        made = container[: -len(table)] + sizes[0] + listed + sizes[1] + table[-5:]
        with pytest.raises(serialpack.DamagedError, match="the end is not as it should be"):
            serialpack.inspect(io.BytesIO(made))


def test_every_truncation_is_noticed(envelope: str) -> None:
    container = packed(text(6), envelope)
    for length in range(len(container)):
        with pytest.raises(serialpack.InputError):
            unpacked(container[:length])


def test_truncation_is_called_so(envelope: str) -> None:
    container = packed(text(6), envelope)
    for tag, start, end in frames(container):
        for cut in (start, end) if tag != HEADER else (end,):
            with pytest.raises(serialpack.TruncatedError, match="truncated"):
                unpacked(container[:cut])


@pytest.mark.parametrize("junk", [b"\0", b"x" * 8, START_ZSTD, START_OWN, b"\x28\xb5\x2f\xfd"])
def test_bytes_after_the_end_are_noticed(envelope: str, junk: bytes) -> None:
    with pytest.raises(serialpack.InputError):
        unpacked(packed(text(6), envelope) + junk)


def test_blocks_moved_dropped_or_doubled_are_noticed(envelope: str) -> None:
    before, pieces, after = blocks(packed(text(8), envelope))
    assert len(pieces) >= 3
    for a, b in itertools.permutations(range(len(pieces)), 2):
        moved = list(pieces)
        moved[a], moved[b] = moved[b], moved[a]
        doubled = [*pieces[: a + 1], pieces[b], *pieces[a + 1 :]]
        dropped = pieces[:a] + pieces[a + 1 :]
        for wrong in (moved, doubled, dropped):
            with pytest.raises(serialpack.DamagedError, match="block"):
                unpacked(before + b"".join(wrong) + after)


def test_a_block_of_another_container_is_noticed(envelope: str) -> None:
    before, pieces, after = blocks(packed(text(8), envelope))
    _, others, _ = blocks(packed(text(8), envelope, meta={"other": "yes"}))
    for at in range(len(pieces)):
        spliced = [*pieces[:at], others[at], *pieces[at + 1 :]]
        with pytest.raises(serialpack.DamagedError, match="another container"):
            unpacked(before + b"".join(spliced) + after)


def test_damage_is_named_by_block_and_bytes(envelope: str) -> None:
    container = packed(text(8), envelope)
    before, pieces, _ = blocks(container)
    start = len(before) + len(pieces[0])
    at = start + len(pieces[1]) - 1
    flipped = bytearray(container)
    flipped[at] ^= 0x10
    with pytest.raises(serialpack.DamagedError) as caught:
        unpacked(bytes(flipped))
    error = caught.value
    assert error.block == 1
    assert error.start is not None
    assert error.end is not None
    assert start <= error.start <= at < error.end
    assert f"block 1, bytes {error.start}-{error.end}" in str(error)


def test_the_end_leads_to_the_same_index_as_the_front(envelope: str) -> None:
    container = packed(text(50), envelope) + packed(text(3), envelope)

    assert (
        serialpack.inspect(io.BytesIO(container)).members
        == serialpack.inspect(Pipe(container)).members
    )


def test_flips_seen_from_the_end_are_errors_or_harmless(envelope: str) -> None:
    """What reads from the end sees only index and end: it must never misread those."""
    container = packed(text(6), envelope)
    members = serialpack.inspect(io.BytesIO(container)).members
    noticed = 0
    for position in range(len(container) * 8):
        flipped = bytearray(container)
        flipped[position // 8] ^= 1 << position % 8
        try:
            assert serialpack.inspect(io.BytesIO(flipped)).members in (members, ())
        except serialpack.InputError:
            noticed += 1
    assert noticed > 8 * 100


def test_random_bytes_are_never_a_traceback() -> None:
    rng = random.Random(3)
    for start in (START_ZSTD, START_OWN):
        for length in range(200):
            with pytest.raises(serialpack.InputError):
                unpacked(start + rng.randbytes(length))
