"""serialpack within other libraries: a codec of numcodecs, and objects between processes."""

from __future__ import annotations

import doctest
import multiprocessing
from typing import Any

import pytest

import serialpack
from serialpack.contrib import multiprocessing as between
from serialpack.contrib.multiprocessing import Packed

np = pytest.importorskip("numpy")

FIELD = np.cumsum(np.arange(200_000)).reshape(400, 500)


def test_the_codec_of_numcodecs() -> None:
    numcodecs = pytest.importorskip("numcodecs")
    from serialpack.contrib import numcodecs as ours

    numcodecs.register_codec(ours.SerialpackCodec)
    assert doctest.testmod(ours).failed == 0
    for config in ({"id": "serialpack"}, {"id": "serialpack", "chain": "objects+zstd:9"}):
        codec = numcodecs.get_codec(config)
        assert codec.get_config() == {"chain": None, **config}
        for array in (FIELD, np.asfortranarray(FIELD), FIELD[::2, ::-1], FIELD.astype(">f4")):
            chunk = codec.encode(array)
            assert len(chunk) < array.nbytes
            assert np.array_equal(codec.decode(chunk), array)
            out = np.empty_like(array)
            assert codec.decode(chunk, out) is out
            assert np.array_equal(out, array)
        with pytest.raises(serialpack.DamagedError):
            codec.decode(chunk[:-9])
        objects = np.array(["a", None, {"b": (1,)}], object)
        assert codec.decode(codec.encode(objects)).tolist() == objects.tolist()
        with pytest.raises(serialpack.ValueRefusedError):
            codec.encode(np.array([object()], object))


def _double(pipe: Any) -> None:
    sent = pipe.recv()
    pipe.send(Packed({"field": sent["field"] * 2, "type": type(sent).__name__}))


def test_objects_are_packed_on_their_way_between_processes() -> None:
    assert doctest.testmod(between).failed == 0
    here, there = multiprocessing.Pipe()
    worker = multiprocessing.get_context("spawn").Process(target=_double, args=(there,))
    worker.start()
    here.send(Packed({"field": FIELD}))
    back = here.recv()
    worker.join()
    assert worker.exitcode == 0
    assert back["type"] == "dict"
    assert np.array_equal(back["field"], FIELD * 2)


def test_few_bytes_are_sent() -> None:
    reduced = Packed(FIELD, "objects+bitshuffle:8+blosc-lz4").__reduce__()
    assert len(reduced[1][0]) < FIELD.nbytes / 3
    assert len(Packed([1, 2]).__reduce__()[1][0]) < 50
