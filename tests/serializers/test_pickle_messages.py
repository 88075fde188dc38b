"""Messages by pickle and marshal: what is done of them, and what is found all the same."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.errors import ValueRefusedError
from serialpack.formats.shared.document import Malformed
from serialpack.serializers import SERIALIZERS, one_object
from serialpack.serializers.base import RecordSerializer
from serialpack.values import quick_equality


def _create(spelling: str) -> RecordSerializer:
    name, _, number = spelling.partition(":")
    serializer = SERIALIZERS.create(name, (int(number),) if number else ())
    assert isinstance(serializer, RecordSerializer)
    return serializer


def test_one_pickle_is_told_from_two() -> None:
    """Also where the first is a pair, as what the quick way of loading writes behind it makes."""
    for protocol in range(6):
        serializer = _create(f"pickle:{protocol}")
        for first in (1, (1, b"x" * 16), (np.arange(3), np.arange(3)), {"a": ["b"]}):
            data = pickle.dumps(first, protocol)
            assert repr(serializer.load_object([data])) == repr([first])
            assert repr(serializer.load_object([data + data])) == repr([first, first])
            with pytest.raises(Malformed):
                serializer.load_object([data + b"x" * 16])


def test_a_small_pickle_is_read_from_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a reader of files, and with a look for its end, a message took three times as long."""
    monkeypatch.setattr("serialpack.serializers.pickle.load_pickles", None)
    data = serialpack.dumps({"a": [1, 2.5, None]}, "pickle")
    assert serialpack.loads(data, trust=True) == {"a": [1, 2.5, None]}


def test_what_is_written_by_pickle_is_written_once_more_to_prove_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was written three times."""
    written = []

    class Seen(quick_equality._PlainPickler):
        def dump(self, obj: Any) -> None:
            written.append(obj)
            super().dump(obj)

    monkeypatch.setattr(quick_equality, "_kept", quick_equality._Picklers())
    monkeypatch.setattr(quick_equality, "_PlainPickler", Seen)
    monkeypatch.setattr(one_object, "difference", None)
    value = [{"a": n, "b": [n * 0.5]} for n in range(100)]
    serialpack.dumps(value, "pickle")
    assert written == [value]
    assert written[0] is not value


def test_a_buffer_that_becomes_bytes_is_no_proof_of_them() -> None:
    """Pickle writes both alike."""
    for buffer in (b"abc", bytearray(b"abc")):
        with pytest.raises(ValueRefusedError, match="an object of a class: <pickle"):
            serialpack.dumps({"a": pickle.PickleBuffer(buffer)}, "pickle")


def test_values_nested_too_deeply_are_found_before_they_are_written() -> None:
    """By C code, which Python that may call itself any number of times does not stop."""
    code = """
import sys, serialpack
sys.setrecursionlimit(10**6)
deep = 1
for _ in range(200_000):
    deep = [deep]
for chain in ("pickle", "marshal", "cloudpickle"):
    try:
        serialpack.dumps(deep, chain)
    except serialpack.ValueRefusedError as error:
        print("more than 500 levels" in str(error))
sys.stdout.flush()
os = __import__("os")
os._exit(0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n" * 3, done.stderr


@pytest.mark.parametrize("name", ["pickle", "marshal"])
def test_what_was_just_written_is_read_without_a_look_for_its_end(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That took half the time of a small message."""
    value = {"a": [1, 2.5, None], "b": ("c", b"d")}
    for reader in ("pickle.load_pickles", "pickle.load_alone", "marshal.load_marshal"):
        monkeypatch.setattr(f"serialpack.serializers.{reader}", None)
    serializer = _create(name)
    pieces = serializer.dump_object([value])
    assert serializer.reload_object(pieces) == [value]
    with pytest.raises(TypeError):
        serializer.load_object(pieces)
