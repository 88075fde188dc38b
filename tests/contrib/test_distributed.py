"""The family "serialpack" of dask.distributed's serialization."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import io
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from serialpack.errors import DamagedError
from serialpack.values.equality import difference

protocol = pytest.importorskip(
    "distributed.protocol.serialize", reason="the extra dask is not installed"
)
ours = pytest.importorskip("serialpack.contrib.distributed")

WALK = np.cumsum(np.random.default_rng(1).integers(-3, 4, size=200_000))
NOISE = np.random.default_rng(2).normal(size=20_000)


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Point:
    x: int


@pytest.fixture(autouse=True)
def families() -> Iterator[None]:
    """What is registered here is gone again behind each test."""
    kept = dict(protocol.families)
    arrays = (
        protocol.dask_serialize.dispatch(np.ndarray),
        protocol.dask_deserialize.dispatch(np.ndarray),
    )
    yield
    protocol.families.clear()
    protocol.families.update(kept)
    protocol.register_serialization(np.ndarray, *arrays)


def sent(value: Any, *names: str, compression: Any = False) -> tuple[Any, dict[str, Any], int]:
    """What arrives of ``value``; the header, and how many bytes the message has."""
    header, frames = protocol.serialize(value, serializers=names, on_error="raise")
    frames = protocol.serialize_bytelist(
        value, serializers=names, on_error="raise", compression=compression
    )
    data = b"".join(frames)
    return protocol.deserialize_bytes(data), header, len(data)


@pytest.mark.parametrize("compression", [False, "zlib"])
@pytest.mark.parametrize(
    "value",
    [
        {"op": "update", "key": ("x", 1), "at": datetime.date(2026, 11, 23), "d": Decimal("1.10")},
        [{"id": n, "name": f"n{n}", "half": n / 2} for n in range(1000)],
        WALK,
        NOISE,
        np.asfortranarray(WALK.reshape(400, 500)),
        {"walk": WALK, "noise": NOISE, "f4": WALK.astype(">f4"), "few": np.arange(3), "none": None},
        np.zeros((0, 3)),
        WALK.astype("M8[s]"),
        "x" * 100_000,
        None,
    ],
    ids=[
        "plain",
        "records",
        "walk",
        "noise",
        "fortran",
        "arrays",
        "empty",
        "times",
        "text",
        "none",
    ],
)
def test_there_and_back(value: Any, compression: Any) -> None:
    ours.register()
    back, header, _ = sent(value, "serialpack", compression=compression)
    assert {sub["serializer"] for sub in header.get("sub-headers", [header])} == {"serialpack"}
    assert difference(value, back) is None


def test_what_shrinks_is_compressed_and_nothing_else_is_copied() -> None:
    for value, most in ((WALK, 0.25), ({"walk": WALK}, 0.25), (WALK.astype("f4"), 0.7)):
        _, frames = ours.dumps(value)
        size = sum(memoryview(frame).nbytes for frame in frames)
        assert size < most * (value["walk"] if isinstance(value, dict) else value).nbytes
    _, (message, frame) = ours.dumps(NOISE)
    assert np.shares_memory(np.frombuffer(frame), NOISE)
    assert len(message) < 100
    _, (_, frame) = ours.dumps(WALK, compress=False)
    assert np.shares_memory(np.frombuffer(frame), WALK)
    fewer = np.concatenate([NOISE.view("u1"), np.zeros(40_000, "u1")])
    assert len(ours.dumps(fewer)[1]) == 2  # it saves less than it is asked for


def test_large_buffers_go_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ours, "_PART", 100_000)
    header, frames = ours.dumps(WALK)
    assert len(frames) == 1 + -(-WALK.nbytes // 100_000)
    assert (ours.loads(header, frames) == WALK).all()


def test_arrays_may_be_written_to_as_before() -> None:
    fixed = NOISE.copy()
    fixed.flags.writeable = False
    for array in (WALK, NOISE, fixed):
        header, frames = ours.dumps(array)
        found = ours.loads(header, [bytes(frame) for frame in frames])
        assert found.flags.writeable == array.flags.writeable


@pytest.mark.parametrize(
    "value", [Point(1), [Colour.RED], {"f": print}, np.array([print], object), {"class": Point}]
)
def test_what_is_not_held_the_next_family_takes(value: Any) -> None:
    """Classes of the user's too: the other side may not have imported them."""
    ours.register()
    with pytest.raises(NotImplementedError):
        ours.dumps(value)
    back, header, _ = sent(value, "serialpack", "pickle")
    assert header["serializer"] == "pickle"
    assert repr(back) == repr(value)


def test_a_message_that_is_not_whole_is_said() -> None:
    header, frames = ours.dumps({"walk": WALK, "text": "x"})
    message, *parts = map(bytes, frames)
    for broken in ([message], [message[:-1], *parts], [message, parts[0][:-9], *parts[1:]]):
        with pytest.raises(DamagedError, match="no message of serialpack's"):
            ours.loads(header, broken)


def test_arrays_of_the_family_dask() -> None:
    """As workers send them among themselves; what comes of others is still read."""
    theirs = protocol.serialize(WALK)
    ours.register(arrays=True)
    back, header, size = sent([WALK, NOISE], "dask", "pickle")
    assert difference([WALK, NOISE], back) is None
    assert [sub["serializer"] for sub in header["sub-headers"]] == ["dask", "dask"]
    assert size < WALK.nbytes / 4 + NOISE.nbytes + 2000
    assert (protocol.deserialize(*theirs) == WALK).all()
    odd = np.array([{}, 1], object)
    assert sent(odd, "dask", "pickle")[0].tolist() == [{}, 1]


@pytest.mark.soak
@pytest.mark.timeout(120)
@pytest.mark.filterwarnings("ignore")
def test_two_workers_and_a_client_that_loads_no_pickle() -> None:
    distributed = pytest.importorskip("distributed")
    ours.register(arrays=True)
    ones = np.ones(300_000, int)
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            preload=["serialpack.contrib.dask"],
        ) as cluster,
        distributed.Client(cluster, serializers=["serialpack"]) as client,
    ):
        client.run(ours.register, arrays=True)
        one, two = client.scheduler_info()["workers"]
        summed = client.submit(np.cumsum, ones, workers=[one])
        doubled = client.submit(np.multiply, summed, 2, workers=[two])
        assert doubled.result()[-1] == 600_000
        held = client.submit(dict, walk=doubled, workers=[one])
        assert held.result()["walk"][-1] == 600_000
        with pytest.raises(TypeError, match=r"only able to deserialize data with \['serialpack'\]"):
            client.submit(io.BytesIO, b"a", workers=[one]).result()


@pytest.mark.parametrize(
    "value",
    [
        bytearray(b"a"),
        {"a": [1.5, {"b": bytearray(b"a")}]},
        [(1, bytearray(b"a")), datetime.date(2026, 11, 23)],
        [0.1] * 2000 + [[], [bytearray(b"a")]],
        {"many": [bytes([n]) for n in range(256)], "one": [{1}, {"x": bytearray()}]},
    ],
    ids=["bare", "below", "in a tuple", "behind many", "beside bytes"],
)
def test_what_the_library_takes_for_bytes_is_the_next_familys(value: Any) -> None:
    """A bytearray arrived as bytes, which nothing can be written to, and nothing was said."""
    ours.register()
    with pytest.raises(NotImplementedError, match="cannot hold bytearray"):
        ours.dumps(value)
    found, _, _ = sent(value, "serialpack", "pickle")
    assert difference(value, found) is None


def test_what_would_be_an_extension_of_ours_is_the_next_familys() -> None:
    msgpack = pytest.importorskip("msgpack")
    for value in (msgpack.ExtType(5, b"\x90"), [memoryview(b"a")], {memoryview(b"a"): 1}):
        with pytest.raises(NotImplementedError, match=r"cannot hold (ExtType|memoryview)"):
            ours.dumps(value)
    usual = [b"a", {"b": (b"c",), "d": [b"e", Decimal(1)]}]
    assert ours.loads(*ours.dumps(usual)) == usual
