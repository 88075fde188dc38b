"""columns: blocks that are not what was written, under checksums that are right."""

from __future__ import annotations

import io
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import serialpack
from serialpack.bench.measuring.memory import PeakMemory
from serialpack.bench.samples import parse_sample
from serialpack.columns.stored.block import Form
from serialpack.container.block import Part, StoredBlock
from serialpack.container.frames import checksum
from serialpack.container.reader import Member, read_members
from serialpack.container.seek import find_members
from serialpack.container.writer import MemberWriter
from serialpack.errors import DamagedError, UnsupportedError
from tests.columns.test_shape_pack import RECORDS
from tests.columns.test_shape_pack import packed as message
from tests.serializers.test_columns import packed, unpacked

MIB = 1 << 20
TEXTS = {
    "ndjson": parse_sample("contacts:60")[0].make_file(60),
    "csv": b"id,name,at\r\n"
    + b"".join(b'%d,"no. %05d",%.3f\r\n' % (n * n, n**5 % 9973, n**0.5) for n in range(900)),
    "msgpack": b"".join(map(message, RECORDS[:80])),
}

#: What unpacking may take, beside the container and the text: seen here, 2 to 32 MiB.
MOST = 64 * MIB
#: And what it may ask for, used or not.
MOST_ASKED = 128 * MIB


def opened(container: bytes) -> tuple[Member, StoredBlock]:
    """A member that was read to its end, and its only block."""
    member = next(read_members(io.BytesIO(container).read))
    (stored,) = member.blocks()
    return member, stored


def forged(member: Member, stored: StoredBlock, data: bytes) -> bytes:
    """The container with other serialized bytes, and the checksums of these."""
    assert member.index is not None
    out = io.BytesIO()
    writer = MemberWriter(out.write, member.header)
    check = checksum(data)
    parts = (Part(len(data), len(data), check),)
    writer.block(stored.block._replace(check=check, parts=parts), (data,))
    writer.finish(member.index.digest)
    return out.getvalue()


@contextmanager
def bounded() -> Iterator[None]:
    """MemoryError for who asks for too much; a failure for who takes too much."""
    if sys.platform != "linux":
        yield
        return
    import resource

    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    memory = PeakMemory()
    resource.setrlimit(resource.RLIMIT_AS, (now + MOST_ASKED, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert (memory.peak() or 0) < MOST


def damaged(data: bytes, chance: random.Random) -> Iterator[bytes]:
    """A bit turned: many of its start, where most is said, and of the rest; cuts; and more."""
    bits = [*range(0, 8 * min(len(data), 240), 5)]
    bits += [chance.randrange(8 * len(data)) for _ in range(120)]
    for bit in bits:
        found = bytearray(data)
        found[bit // 8] ^= 1 << bit % 8
        yield bytes(found)
    for _ in range(40):
        yield data[: chance.randrange(1, len(data))]
        # Numbers of many bytes: sizes that nothing could have.
        at = chance.randrange(200)
        yield data[:at] + b"\xff" * chance.randint(1, 9) + data[at:]
    yield data + data
    yield data + b"\0"


@pytest.mark.parametrize(
    ("format", "effort"), [("ndjson", 3), ("ndjson", 9), ("csv", 3), ("msgpack", 3)]
)
def test_forged_columns_are_refused_or_harmless(format: str, effort: int) -> None:
    """They are named as damaged or unsupported; or they mean the same, as bits that are ignored."""
    text = TEXTS[format]
    member, stored = opened(packed(text, format, effort=effort, verify=False))
    good = b"".join(stored.payload)
    assert good[0] == Form.COLUMNS
    assert unpacked(forged(member, stored, good), threads=1) == text
    seen: list[DamagedError | UnsupportedError] = []
    with bounded():
        for data in damaged(good, random.Random(format)):
            wrong = forged(member, stored, data)
            try:
                assert unpacked(wrong, threads=1) == text
            except (DamagedError, UnsupportedError) as error:
                seen.append(error)
    # Most is found by the decoder; what it does not find the checksum of the text does.
    words = [str(error) for error in seen]
    assert sum("its values cannot be read" in each for each in words) > 0.4 * len(words)
    assert any("the checksum of its source" in each for each in words)
    assert any(isinstance(error, UnsupportedError) for error in seen)


def test_inspect_without_columns_tells_what_it_can_of_a_form_that_it_does_not_know() -> None:
    """The first byte of a block is looked at alone: it is not verified."""
    text = TEXTS["csv"]
    container = packed(text, "csv", block_size=len(text) // 3)
    (found,) = find_members(io.BytesIO(container))
    broken = bytearray(container)
    broken[found.offsets[1] + found.index.rows[1].frame] = max(Form) + 1
    (member,) = serialpack.inspect(io.BytesIO(broken)).members
    assert member.size == len(text)
    assert member.forms is None
    with pytest.raises(DamagedError, match="block 1"):
        serialpack.inspect(io.BytesIO(broken), columns=True)
