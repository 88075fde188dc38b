"""Large values are packed apart: each with filters of its own, and the rest read without them."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path
from typing import Any

import cbor2
import msgpack
import numpy as np
import pytest

import serialpack
from serialpack.codecs import CODECS
from serialpack.container.block import Block
from serialpack.container.seek import BlockParts, find_members
from serialpack.conversion.tables.shaping import Shaping
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.formats.messages.format import MessageFormat
from serialpack.formats.messages.long_bytes import LEAST, LongBytes
from serialpack.pipeline.stored import StoredBytes
from tests.auto.test_arrays import regions
from tests.counting import Counting
from tests.noise import noise
from tests.spec_decoder import decode

RNG = np.random.default_rng(3)
#: Numbers that differ little from their neighbours, and noise.
WALK = np.cumsum(RNG.integers(-3, 4, (400, 400)), axis=1).astype("<i4")
STEPS = np.arange(1 << 17)
NOISE = RNG.bytes(LEAST)


def headers(data: bytes) -> list[Block]:
    file = io.BytesIO(data)
    (member,) = find_members(file)
    places = member.offsets[:-1]
    return [BlockParts(file, member, number, at).block for number, at in enumerate(places)]


def packed(path: Path, **how: Any) -> bytes:
    out = io.BytesIO()
    serialpack.pack(path, out, **how)
    back = io.BytesIO()
    serialpack.unpack(io.BytesIO(out.getvalue()), back)
    assert back.getvalue() == path.read_bytes()
    decode(out.getvalue())
    return out.getvalue()


def test_arrays_of_an_object_have_filters_of_their_own(tmp_path: Path) -> None:
    obj: dict[str, Any] = {
        "walk": WALK,
        "name": "x",
        "steps": STEPS,
        "noise": np.frombuffer(NOISE, "u1"),
    }
    path = tmp_path / "a.spk"
    serialpack.dump(obj, path)
    data = path.read_bytes()
    decode(data)
    back = serialpack.load(path)
    assert all(np.array_equal(back[key], obj[key]) for key in ("walk", "steps", "noise"))
    assert len(data) < len(serialpack.dumps(obj, "objects+zstd:3")) * 0.9
    chains = {part.chain for block in headers(data) for part in block.parts}
    assert len(chains) >= 3
    lazy = serialpack.load(path, mmap_mode="r")
    assert np.array_equal(lazy["walk"][7:9], WALK[7:9])
    assert lazy["walk"].bytes_read < len(data) / 2


def test_a_higher_level_of_zstd_alone_is_that_of_all() -> None:
    """It was the chain of a part where no part has one, and what was packed so was not read."""
    obj: dict[str, Any] = {"labels": regions(500, 600).astype("u1"), "name": "x" * 1000}
    data = serialpack.dumps(obj)
    assert np.array_equal(serialpack.loads(data)["labels"], obj["labels"])
    (member,) = serialpack.inspect(io.BytesIO(data)).members
    assert (str(member.chain), member.zstd_envelope) == ("objects+zstd:7", True)


def test_a_chain_that_is_named_is_everywhere() -> None:
    for chain in ("objects+zstd:3", "objects+shuffle:4+zlib:1"):
        data = serialpack.dumps({"walk": WALK, "steps": STEPS}, chain)
        assert {part.chain for block in headers(data) for part in block.parts} == {None}
        assert len(headers(data)) == 2


def test_what_does_not_shrink_is_marked_as_stored() -> None:
    """A large value alone in its block had a chain of its own, of the codec none."""
    value = {"a": noise(1_500_000), "b": 1}
    data = serialpack.dumps(value, "msgpack+lz4")
    (member,) = serialpack.inspect(io.BytesIO(data)).members
    assert [block.stored for block in member.blocks] == [True] * 3
    assert serialpack.loads(data) == value


@pytest.mark.parametrize("serializer", ["msgpack", "cbor"])
def test_long_bytes_of_an_object_are_blocks_of_their_own(serializer: str) -> None:
    """The rest is read without them: the bytes are counted."""
    obj = {"meta": {"a": [1, None]}, "image": NOISE, "after": "x", "walk": WALK.tobytes() * 2}
    data = serialpack.dumps(obj, f"{serializer}+zstd")
    assert serialpack.loads(data) == obj
    sizes = [block.size for block in headers(data)]
    assert sizes[1::2] == [len(NOISE), WALK.nbytes * 2]
    assert sum(sizes[0::2]) < 100
    stored = StoredBytes(Source(io.BytesIO(data)))
    bytes(stored.read(0, sizes[0]))
    assert stored.bytes_read < 200
    assert len(serialpack.dumps(obj, serializer)) < len(data)


def test_numbers_that_begin_anywhere_in_memory() -> None:
    """pcodec failed with its library's TypeError where numbers began at an odd place."""
    codec = CODECS.create("pcodec", (9, 1, 0))
    data = memoryview(b"x" + STEPS.tobytes())[1:]
    assert codec.decompress(codec.compress(data), len(data)) == data


def test_long_bytes_beside_arrays_are_blocks_of_their_own() -> None:
    obj = {"walk": WALK, "image": NOISE, "name": "x", "later": NOISE[::-1], "set": {1}}
    data = serialpack.dumps(obj)
    decode(data)
    back = serialpack.loads(data)
    assert (back["image"], back["later"], back["set"]) == (NOISE, NOISE[::-1], {1})
    assert [block.size for block in headers(data)][1::2] == [LEAST, LEAST, WALK.nbytes]
    held = serialpack.inspect(io.BytesIO(data)).members[0].holds
    assert held["image"] == "<1000000 bytes>"
    assert held["walk"] == "<i4, 400 x 400, C order"


def test_a_directory_of_any_size_takes_no_memory() -> None:
    """It was read whole once, to inspect 64 KiB that restored to a GiB of it too."""
    size = 64 << 20
    asked = []
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, size, 0, 0)

    def read(start: int, stop: int) -> bytes:
        asked.append(stop - start)
        return (bytes(max(min(stop, size) - start, 0)) + end[max(start - size, 0) :])[
            : stop - start
        ]

    assert FORMATS.get("npz").large_values(read, size + len(end)) == []
    assert max(asked) < 1 << 20


def test_entries_at_one_place_are_not_looked_for() -> None:
    """Each was once, in a block that had to be unpacked for it."""
    file = io.BytesIO()
    np.savez(file, a=STEPS)
    data, read = file.getvalue(), []
    at = data.index(b"PK\1\2")
    entry, end = data[at:-22], [*struct.unpack("<4s4H2LH", data[-22:])]
    end[3:6] = 1000, 1000, 1000 * len(entry)
    many = data[:at] + entry * 1000 + struct.pack("<4s4H2LH", *end)
    assert len(zipfile.ZipFile(io.BytesIO(many)).infolist()) == 1000

    def reading(start: int, stop: int) -> bytes:
        read.append(start)
        return many[start:stop]

    assert FORMATS.get("npz").large_values(reading, len(many)) == []
    assert len(read) < 20


@pytest.mark.parametrize("pack", [msgpack.packb, cbor2.dumps], ids=["msgpack", "cbor"])
@pytest.mark.parametrize("block_size", [None, 300_007])
def test_long_bytes_of_a_file(pack: Any, block_size: int | None, tmp_path: Path) -> None:
    path = tmp_path / f"a.{'msgpack' if pack is msgpack.packb else 'cbor'}"
    image = WALK.tobytes() * 2
    path.write_bytes(b"".join(pack({"id": n, "image": image, "tags": ["a"]}) for n in range(3)))
    data = packed(path, block_size=block_size)
    assert len(data) < path.stat().st_size * 0.3
    inspected = serialpack.inspect(io.BytesIO(data)).members[0]
    assert not inspected.chain.zstd_envelope
    out = io.BytesIO()
    serialpack.convert(io.BytesIO(data), out, to="json", lossy=["all"])
    assert out.getvalue().count(b'"id"') == 3


@pytest.mark.parametrize("name", ["msgpack", "cbor"])
def test_long_bytes_are_found_however_they_are_cut(name: str) -> None:
    pack = msgpack.packb if name == "msgpack" else cbor2.dumps
    values: list[Any] = [1, -70_000, 1.5, "é" * 70_000, b"x" * 300, [None] * 20, {"a": NOISE}, True]
    values += [{str(n): n for n in range(40)}, NOISE + b"x", 1 << 40, "x" * LEAST]
    data = b"".join(map(pack, values))
    fmt = FORMATS.get(name)
    assert isinstance(fmt, MessageFormat)
    starts = data.index(NOISE), data.index(NOISE + b"x")
    whole = [(starts[0], starts[0] + LEAST), (starts[1], starts[1] + LEAST + 1)]
    assert LongBytes(fmt.heads).within(data) == whole
    for cut in (*range(starts[0] - 6, starts[0] + 3), starts[1] - 1, starts[1] + 5000):
        finder = LongBytes(fmt.heads)
        first, second = finder.within(data[:cut]), finder.within(data[cut:])
        found = [*first, *((start + cut, stop + cut) for start, stop in second)]
        pieces = [(a, b) for start, stop in whole for a, b in _cut(start, stop, cut)]
        assert found == pieces


def _cut(start: int, stop: int, at: int) -> list[tuple[int, int]]:
    return [(start, at), (at, stop)] if start < at < stop else [(start, stop)]


def test_members_of_an_npz_are_read_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, walk=WALK, noise=np.frombuffer(NOISE, "u1"), steps=STEPS, small=np.arange(3))
    data = packed(path)
    blocks = headers(data)
    assert len({part.chain for block in blocks for part in block.parts}) >= 3
    counted = Counting(data)
    out = tmp_path / "steps.npy"
    serialpack.convert(counted, out, to="npy", shaping=Shaping(at="steps"))
    assert np.array_equal(np.load(out), STEPS)
    assert counted.total < len(data) / 4


@pytest.mark.parametrize("chain", ["msgpack+none", "cbor", "objects+zstd", "npz"])
def test_inspect_tells_what_is_held_without_reading_it(chain: str, tmp_path: Path) -> None:
    """The bytes are counted: two ends of 64 KiB, and the small rest."""
    noise = np.frombuffer(NOISE, "u1")
    told: dict[str, Any]
    if chain == "npz":
        np.savez(tmp_path / "a.npz", noise=noise, again=noise[::-1])
        data, told = packed(tmp_path / "a.npz"), {"noise": "|u1, 1000000, C order, raw+zstd:3"}
    elif chain == "objects+zstd":
        data = serialpack.dumps({"noise": [noise, noise[::-1]], "at": (1, None)}, chain)
        told = {"noise": ["|u1, 1000000, C order"] * 2, "at": [1, None]}
    else:
        data = serialpack.dumps({"noise": [NOISE, NOISE[::-1]], "at": [1.5, "x"]}, chain)
        told = {"noise": ["<1000000 bytes>"] * 2, "at": [1.5, "x"]}
    assert len(data) > 2_000_000
    counted = Counting(data)
    held = serialpack.inspect(counted).members[0].holds
    assert {key: held[key] for key in told} == told
    assert counted.total < 200_000


def test_what_is_held_is_told_in_few_words() -> None:
    obj = {"many": [*range(1000)], "text": "é" * 1000, "keys": {n: n for n in range(30)}}
    deep: Any = 1
    for _ in range(50):
        deep = [deep]
    held = serialpack.inspect(io.BytesIO(serialpack.dumps([obj, deep, {1}]))).members[0].holds
    assert held[0]["many"][-1] == "... 980 more"
    assert len(held[0]["text"]) < 110
    assert held[0]["keys"]["..."] == "10 more"
    assert "..." in str(held[1])
    assert len(str(held)) < 2000
    pickled = serialpack.dumps([WALK], "pickle")
    assert serialpack.inspect(io.BytesIO(pickled)).members[0].holds["buffers"] == [WALK.nbytes]


def test_other_archives_come_back_too(tmp_path: Path) -> None:
    """Deflated members are kept as they are; what is no whole zip is bytes."""
    path = tmp_path / "a.npz"
    np.savez_compressed(path, steps=STEPS * 7919 % 1000003, noise=np.frombuffer(NOISE, "u1"))
    assert len(headers(packed(path))) >= 4
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    packed(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", b"\x93NUMPY" + bytes(1 << 20))
        archive.writestr("b.npy", NOISE)
    packed(path)
