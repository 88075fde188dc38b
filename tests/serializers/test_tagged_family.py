"""cbor, bson, xml and java: what their own declarations say of them."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

import bson
import cbor2
import pytest

import serialpack
from serialpack.errors import RefusedError, UsageError, ValueRefusedError
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import FAILURES
from serialpack.values.equality import difference
from serialpack.values.kinds import KINDS
from tests.serializers.chains import record_serializer


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cbor", cbor2.CBORTag(4711, [1, {"a": b"x"}])),
        ("cbor", cbor2.CBORSimpleValue(99)),
        ("cbor", cbor2.undefined),
        ("cbor", {(1, (2,)): 1, frozenset([3]): None}),
        ("bson", bson.ObjectId("0123456789ab0123456789ab")),
        ("bson", bson.Decimal128("1.50")),
        ("bson", bson.DBRef("c", 5, "d", x=1)),
        ("bson", {"_id": 1, "a": {"b": 1, "_id": 2}}),
        ("bson", datetime(2023, 10, 25, 0, 44, 28, 1000, tzinfo=UTC)),
        ("xml", {1: (None, {2}), "\0": "\ud800"}),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_own_types_are_kept_whole(name: str, value: Any) -> None:
    record = {"v": value}
    back = serialpack.loads(serialpack.dumps(record, name))
    assert difference(record, back) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        # As the library would write them, they come back as something else.
        ("cbor", cbor2.CBORTag(1, 5)),
        ("cbor", cbor2.CBORTag(99, bytearray(b"a"))),
        ("cbor", cbor2.CBORTag(99, (1, 2))),
        ("cbor", bytearray(b"a")),
        ("bson", bson.Int64(5)),
        ("bson", bson.Binary(b"x", 4)),
        ("bson", bson.SON(a=1)),
        ("bson", {"$id": 1, "$ref": "c"}),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_would_change_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ValueRefusedError) as caught:
        serialpack.dumps({"v": value}, name)
    cls = SERIALIZERS.cls(name)
    assert caught.value.kind in cls.cannot | cls.partly
    assert caught.value.value_path.startswith("$.v")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cbor", {"a": [bytearray(b"a")]}),
        ("cbor", [range(3)]),
        ("bson", {"a": datetime(2023, 1, 1, 0, 0, 0, 1, tzinfo=UTC)}),
        ("bson", {"a": (1, 2)}),
        ("xml", [memoryview(b"a")]),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_much_of_it_is_refused_without_a_proof_too(name: str, value: Any) -> None:
    with pytest.raises(FAILURES):
        record_serializer(name).dump([value])
    with pytest.raises(ValueRefusedError):
        serialpack.dumps(value, name, verify=False)


def test_canonical_cbor_sorts_keys_and_refuses_those_in_another_order() -> None:
    source = b'{"a":1,"b":2}\n{"b":1,"a":2}\n'
    assert record_serializer("cbor", 1).dump([{"b": 1, "a": 2}]) == record_serializer("cbor").dump(
        [{"a": 2, "b": 1}]
    )
    with pytest.raises(ValueRefusedError) as caught:
        serialpack.pack(io.BytesIO(source), io.BytesIO(), serializer="cbor:1", format="ndjson")
    assert (caught.value.record, caught.value.value_path) == (1, "$")
    packed, unpacked = io.BytesIO(), io.BytesIO()
    serialpack.pack(io.BytesIO(source[:14]), packed, serializer="cbor:1", format="ndjson")
    packed.seek(0)
    serialpack.unpack(packed, unpacked)
    assert unpacked.getvalue() == source[:14]
    with pytest.raises(UsageError, match="canonical must be"):
        serialpack.dumps(1, "cbor:2")


def test_java_holds_nothing() -> None:
    assert SERIALIZERS.cls("java").cannot == KINDS.keys()
    values: list[Any] = [None, 1, "x", [], {"a": [b"x"]}]
    for value in values:
        with pytest.raises(ValueError, match="read, never written"):
            record_serializer("java").dump([value])
        with pytest.raises(RefusedError, match="java cannot hold"):
            serialpack.dumps(value, "java")
