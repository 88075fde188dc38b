"""Large buffers beside the pickle: kept as they were, copied once, and refused where they lie."""

from __future__ import annotations

import io
import mmap
import pickle
import struct
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.errors import DamagedError, TruncatedError, ValueRefusedError
from serialpack.formats.python.buffers import LARGE, MARK, GatheredPieces, framed, is_framed
from serialpack.formats.python.pickle import load_pickles
from serialpack.formats.shared.document import Malformed
from serialpack.objects import files
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import RecordSerializer
from serialpack.stages.stage import Buffer
from tests.golden import make
from tests.pipeline.damage import flipped

MEGABYTE = 1 << 20
CHAINS = ["pickle:5+none", "pickle:5+zstd:1", "cloudpickle+none"]


def _big(start: int = 0) -> Any:
    return np.arange(start, start + MEGABYTE // 8, dtype="f8")


def _serialized(container: bytes) -> bytes:
    out = io.BytesIO()
    serialpack.unpack(io.BytesIO(container), out, trust=True)
    return out.getvalue()


@pytest.mark.parametrize("chain", CHAINS)
def test_arrays_come_back_as_they_were(chain: str, tmp_path: Path) -> None:
    locked, table = _big(7), _big().reshape(8, -1).T
    locked.flags.writeable = False
    one = _big()
    obj = {"one": one, "again": one, "locked": locked, "table": table, "few": np.arange(3)}
    container = serialpack.dumps(obj, chain)
    assert is_framed(_serialized(container))
    serialpack.dump(obj, tmp_path / "a.spk", chain)
    for back in (
        serialpack.loads(container, trust=True),
        serialpack.loads(bytearray(container), trust=True),
        serialpack.load(tmp_path / "a.spk", trust=True),
    ):
        assert all(np.array_equal(obj[name], back[name]) for name in obj)
        assert back["one"] is back["again"]
        assert [array.flags.writeable for array in back.values()] == [True, True, False, True, True]
        assert all(array.flags.aligned for array in back.values())
        assert back["table"].flags.f_contiguous
        back["one"][0] = 1.5  # is memory of its own
        assert one[0] == back["table"][0, 0] == 0


@pytest.mark.parametrize("chain", ["pickle:4", "pickle:5", "cloudpickle"])
def test_other_objects_are_pickles_for_everybody(chain: str) -> None:
    small = np.zeros(LARGE - 8, "u1")
    large = bytes(LARGE) if chain != "pickle:4" else np.zeros(2 * LARGE, "u1")
    obj = [small, large, "text"]
    stored = _serialized(serialpack.dumps(obj, chain))
    assert stored == pickle.dumps(obj, int(chain[-1:]) if chain[-1:].isdigit() else 5)


def test_files_of_pickles_hold_no_frames() -> None:
    serializer = SERIALIZERS.create("pickle")
    assert isinstance(serializer, RecordSerializer)
    assert serializer.dump([_big()]) == pickle.dumps(_big(), 5)


def test_cloudpickle_takes_what_pickle_refuses() -> None:
    array = _big()
    container = serialpack.dumps([array, lambda: 1], "cloudpickle", verify=False)
    assert is_framed(_serialized(container))
    back, function = serialpack.loads(container, trust=True)
    assert function() == 1
    assert np.array_equal(array, back)


@pytest.mark.parametrize("inside", [[0], ["text"], [[]]], ids=repr)
def test_what_stands_in_many_places_is_looked_at_once(inside: list[Any]) -> None:
    """A thousand times the same million took 8 GB to look at, and as much to prove."""
    value = {"around": [inside * 100_000] * 1000, "more": b" " * LARGE}
    tracemalloc.start()
    try:
        data = serialpack.dumps(value, "pickle")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 60 * 100_000
    again = serialpack.loads(data, trust=True)["around"]
    assert again == value["around"]
    assert again[0] is again[-1]


def test_buffers_are_copied_once() -> None:
    obj = [_big(), _big()] * 8
    size = 2 * MEGABYTE  # an array that stands there again is not written again
    serialpack.loads(serialpack.dumps(obj, "pickle+none"), trust=True)
    tracemalloc.start()
    try:
        container = serialpack.dumps(obj, "pickle+none")
        _, dumping = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        kept, _ = tracemalloc.get_traced_memory()
        back = serialpack.loads(container, trust=True)
        _, loading = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(back) == 16
    assert dumping < 2.4 * size  # the serialized bytes, and the container
    assert loading - kept < 1.4 * size


class Restless:
    """Changes the memory that it is loaded from."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _restless, (pickle.PickleBuffer(self.data),)


def _restless(data: Any) -> Restless:
    found = Restless(np.array(data))
    memoryview(data)[0] = 255
    return found


def test_what_changes_its_own_bytes_is_refused() -> None:
    with pytest.raises(ValueRefusedError, match="changes what it is loaded from"):
        serialpack.dumps(Restless(np.zeros(LARGE, "u1")), "pickle")


@pytest.mark.parametrize("beside", [0, 100_000])
@pytest.mark.parametrize("data", [b"abc", bytearray(b"abc")])
@pytest.mark.parametrize("chain", ["pickle+none", "marshal+none", "marshal:2+none", "cloudpickle"])
def test_a_buffer_that_becomes_bytes_is_refused(chain: str, data: Any, beside: int) -> None:
    """pickle writes it as the bytes that it is over, without a word about its class."""
    with pytest.raises(ValueRefusedError, match="PickleBuffer"):
        serialpack.dumps(["a" * beside, pickle.PickleBuffer(data)], chain)


def test_a_golden_object() -> None:
    path = make.HERE / "object-buffers.spk"
    assert serialpack.load(path, trust=True) == make.NUMBERS


FRAME = bytes(
    framed(pickle.dumps([1], 5)[:-2] + b"\x97e.", [memoryview(b"first"), memoryview(b"second")])
)
_TWO = bytes(framed(b"\x80\x05\x97\x97\x86.", [memoryview(b"first"), memoryview(b"second")]))


def test_a_frame_has_its_buffers_at_multiples_of_64() -> None:
    assert _TWO[:24] == MARK + struct.pack("<QQ", 6, 2)
    assert _TWO.index(b"first") == 64
    assert _TWO.index(b"second") == 128
    assert load_pickles(_TWO) == [(b"first", b"second")]
    pair = (b"first", b"second")
    assert load_pickles(_TWO + pickle.dumps(3) + _TWO) == [pair, 3, pair]


@pytest.mark.parametrize(
    "bad",
    [
        *(_TWO[:size] for size in range(1, len(_TWO))),
        _TWO + b"\0",
        FRAME,  # one of the two is not used
        _TWO.replace(b"\x97\x97\x86", b"\x97\x85."),  # behind the pickle's end
        _TWO.replace(b"\x97\x97\x86", b"\x97\x97\x97"),
        MARK + struct.pack("<QQ", 6, 1 << 60),
        MARK + struct.pack("<QQ", 1 << 63, 0) + b"\x80\x05N.",
        MARK + struct.pack("<QQQ", 4, 1, 1 << 63) + b"\x80\x05\x97.",
        b"\x80\x05\x97.",
    ],
)
def test_frames_that_lie_are_malformed(bad: bytes) -> None:
    with pytest.raises(Malformed):
        load_pickles(bad)
    with pytest.raises(Malformed):
        load_pickles(bytearray(bad), in_place=True)


def test_a_damaged_frame_in_a_good_container() -> None:
    serializer = SERIALIZERS.create("pickle")
    assert isinstance(serializer, RecordSerializer)
    for pieces in ([_TWO], [_TWO[:3], _TWO[3:]], [bytearray(_TWO)]):
        assert serializer.load_object([*pieces]) == [(b"first", b"second")]
    assert serializer.load_object([]) == []
    with pytest.raises(Malformed):
        serializer.load_object([_TWO[:-1]])
    container = serialpack.dumps({"a": _big()}, "pickle+none", verify=False)
    with pytest.raises(DamagedError):
        serialpack.loads(flipped(container, 1000), trust=True)


@pytest.mark.parametrize("as_file", [False, True])
def test_large_parts_are_verified_as_they_are_read(as_file: bool, tmp_path: Path) -> None:
    """Which is piece by piece: of a part of several pieces no byte goes unseen."""
    container = serialpack.dumps(np.arange(MEGABYTE // 8), "objects+none")
    file = tmp_path / "array.spk"

    def load(data: bytes) -> Any:
        file.write_bytes(data)
        return serialpack.load(file) if as_file else serialpack.loads(data)

    assert np.array_equal(load(container), np.arange(MEGABYTE // 8))
    for place in (2000, MEGABYTE // 2, len(container) - 2000):
        with pytest.raises(DamagedError, match="checksum"):
            load(flipped(container, place))
        with pytest.raises(TruncatedError):
            load(container[:place])


def packed_file(array: Any) -> bytes:
    """A container of the .npy file of ``array``."""
    source, packed = io.BytesIO(), io.BytesIO()
    np.save(source, array)
    source.seek(0)
    serialpack.pack(source, packed, codec="lz4", format="npy")
    return packed.getvalue()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere such memory would be taken at once")
@pytest.mark.parametrize(
    "chain", ["objects+shuffle:8+blosc-lz4", "pickle+zstd:1", "objects+lz4", "a packed file"]
)
def test_blocks_of_an_array_are_restored_where_it_lies(
    chain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each was restored in memory of its own, and copied: loading took nearly twice the time."""
    copied = []

    class Seen(GatheredPieces):
        def add(self, piece: Buffer) -> None:
            super().add(piece)
            if not isinstance(piece, memoryview) or not isinstance(piece.obj, mmap.mmap):
                copied.append(len(piece))

    monkeypatch.setattr(files, "GatheredPieces", Seen)
    array = np.arange(6 << 20) * 0.5
    data = packed_file(array) if chain == "a packed file" else serialpack.dumps(array, chain)
    assert np.array_equal(serialpack.loads(data, trust=True, threads=1), array)
    # Those that are on their way before it is known how large it is have their own.
    assert 0 < sum(copied) < array.nbytes // 2


@pytest.mark.parametrize("more", [-5, -100_000, 0, 1, 100_000])
def test_a_frame_that_says_another_length_is_given_as_it_is(more: int) -> None:
    """Its length is known from its beginning, before the rest is there."""
    whole = bytes(framed(b"pickle", [memoryview(bytes(range(256)) * 1000)]))
    given = whole + bytes(more) if more > 0 else whole[: len(whole) + more]
    for cut in (100, 60_000, len(given) - 1, len(given)):
        gathered = GatheredPieces()
        pieces: list[Buffer] = [given[at : at + cut] for at in range(0, len(given), cut)]
        rooms = [gathered.room(len(pieces[0]))]
        for number, piece in enumerate(pieces):
            gathered.add(piece)
            if number + 1 < len(pieces):
                room = gathered.room(len(pieces[number + 1]))
                if room is not None:
                    room[:] = pieces[number + 1]
                    pieces[number + 1] = room
                rooms.append(room)
        assert b"".join(gathered.pieces()) == given
        assert rooms[0] is None


def test_a_frame_that_says_it_has_terabytes_takes_none() -> None:
    for size in (1 << 42, 1 << 62, (1 << 64) - 1):
        head = struct.pack("<8sQQQ", MARK, 1, 1, size) + b"x" * 39
        gathered = GatheredPieces()
        gathered.add(head)
        gathered.add(b"end")
        assert b"".join(gathered.pieces()) == head + b"end"
