"""The quick proof of msgpack: by the bytes alone, and of no value that comes back as another."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from datetime import UTC, datetime
from enum import IntEnum
from typing import Any

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serialpack
from serialpack.errors import ValueRefusedError
from serialpack.serializers import one_object
from serialpack.serializers.base import FAILURES
from serialpack.values.equality import difference
from tests.serializers.chains import record_serializer


class _Count(int):
    pass


class _Text(str):
    pass


class _Level(IntEnum):
    LOW = 1


_Pair = namedtuple("_Pair", "a b")

#: What several types are written as, or is of a type that is none of the plain ones.
ODD: list[Any] = [
    *(b"a", bytearray(b"a"), memoryview(b"a"), msgpack.ExtType(5, b"a"), msgpack.Timestamp(5, 7)),
    *(msgpack.Timestamp(5, 0), datetime(2023, 1, 1, tzinfo=UTC), datetime(2023, 1, 1), (1,)),
    *(_Count(1), _Text("a"), _Level.LOW, _Pair(1, 2), OrderedDict(a=1), {1: 2}, {(1, 2): "a"}),
]
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
_LEAVES = st.one_of(
    st.sampled_from([None, True, False, 0.0, -0.0, 1.0, "é" * 16, "a" * 256, "a" * 65536]),
    st.sampled_from([sign * (1 << bits) for bits in (5, 7, 8, 16, 31, 32, 63) for sign in (1, -1)]),
    *(st.integers(-(1 << 63), (1 << 64) - 1), st.floats(), _TEXT),
)


def _trees(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.lists(inner, max_size=17) | st.dictionaries(_TEXT, inner, max_size=17)

    # Few enough levels for the quick proof.
    return st.one_of(leaves, around(leaves), around(around(leaves)), around(around(around(leaves))))


@settings(max_examples=300)
@given(_trees(_LEAVES))
def test_plain_values_are_proved_by_their_bytes(value: Any) -> None:
    serializer = record_serializer("msgpack")
    pieces = serializer.dump_object([value])
    assert serializer.certainly_restores(pieces)
    assert difference([value], serializer.load_object(pieces)) is None


@settings(max_examples=300)
@given(_trees(st.one_of(_LEAVES, st.sampled_from(ODD))))
def test_what_is_proved_by_its_bytes_is_the_same(value: Any) -> None:
    serializer = record_serializer("msgpack")
    try:
        pieces = serializer.dump_object([value])
    except FAILURES:
        return
    if serializer.certainly_restores(pieces):
        assert difference([value], serializer.load_object(pieces)) is None


@pytest.mark.parametrize("value", ODD, ids=lambda value: type(value).__name__)
def test_no_odd_value_is_proved_by_its_bytes(value: Any) -> None:
    serializer = record_serializer("msgpack")
    for around in (value, [1, "a", value], {"a": [value]}):
        try:
            pieces = serializer.dump_object([around])
        except FAILURES:
            continue
        assert not serializer.certainly_restores(pieces)


@pytest.mark.parametrize("odd", [bytearray(b"a"), memoryview(b"a"), msgpack.Timestamp(5, 0)])
def test_what_would_become_another_type_is_refused(odd: Any) -> None:
    with pytest.raises(ValueRefusedError):
        serialpack.dumps({"a": [1, odd]}, "msgpack")


def test_bytes_that_were_not_written_so_prove_nothing() -> None:
    """A float of 32 bits, a number that is longer than it need be, a key twice."""
    for data in (b"\xca\x3f\x80\0\0", b"\xcc\1", b"\x82\xa1a\1\xa1a\1", b"\xd9\1a", b"\xc1", b""):
        assert not record_serializer("msgpack").certainly_restores([data])


@pytest.mark.parametrize("size", [1, 1500])
def test_a_plain_message_is_compared_no_further(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_object, "plainly_same", None)
    value = [{"id": n, "name": "a", "x": n / 7} for n in range(size)]
    assert serialpack.loads(serialpack.dumps(value, "msgpack")) == value
    with pytest.raises(TypeError):
        serialpack.dumps([b"a"], "msgpack")
