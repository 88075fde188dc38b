"""Values that are data, but were held by pickle only: zones, types, arrays of strings, others."""

from __future__ import annotations

import contextlib
import datetime
import io
import ipaddress
import uuid
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import msgpack
import numpy as np
import pytest

import serialpack
from serialpack.errors import DamagedError, UnsupportedError, ValueRefusedError
from serialpack.values.equality import difference
from tests.serializers.test_own_objects import made_of

_HOUR = datetime.timedelta(hours=1)
_CALLED = datetime.timezone(_HOUR, "CET")
_UUID = uuid.UUID("12345678-1234-4678-9234-567812345678")
_TEXTS = np.array([["", "é", "a" * 40], ["b", "c", "d"]], np.dtypes.StringDType())
_PAIR = np.rec.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")])


def _strings(items: list[Any], **how: Any) -> Any:
    kind: Any = np.dtypes.StringDType(**how)
    return np.array(items, kind)


VALUES: dict[str, Any] = {
    "zones": [ZoneInfo("Europe/Berlin"), datetime.UTC, datetime.timezone(-_HOUR), _CALLED],
    "in a zone with a name": datetime.datetime(2020, 1, 1, tzinfo=_CALLED),
    "zero": [datetime.timezone(0 * _HOUR, "zero"), datetime.time(1, tzinfo=_CALLED)],
    "namespace": SimpleNamespace(a=1, b=[SimpleNamespace()]),
    "one of a kind": [..., NotImplemented, int, dict, object, {"kind": float}],
    "addresses": [
        *map(ipaddress.ip_address, ("10.0.0.1", "::1", "fe80::1%eth0")),
        *map(ipaddress.ip_network, ("10.0.0.0/8", "2001:db8::/32")),
        *map(ipaddress.ip_interface, ("10.0.0.1/8", "2001:db8::1/64")),
    ],
    "told safe": [_UUID, uuid.UUID(bytes=_UUID.bytes, is_safe=uuid.SafeUUID.safe)],
    "told unsafe": uuid.UUID(bytes=_UUID.bytes, is_safe=uuid.SafeUUID.unsafe),
    "types": [*map(np.dtype, ("f8", ">i2", "M8[ns]", "S5", "V3", "?", "O"))],
    "types of records": [np.dtype([("a", "i4", (2,)), ("b", [("c", "S1")])]), np.dtype("(2,3)f4")],
    "aligned": np.dtype([("a", "u1"), ("b", "f8")], align=True),
    "types of strings": [_TEXTS.dtype, _strings([], na_object=None, coerce=False).dtype],
    "classes": {"dtype": np.float32, "all": [np.int64, np.bool_, np.str_, np.longlong]},
    "strings": {"a": _TEXTS, "b": [_TEXTS]},
    "turned": [_TEXTS.T, _TEXTS[::-1, ::2], _TEXTS[:0], _TEXTS[0, 1:2].reshape(())],
    "with NaN": _strings(["a", float("nan"), ""], na_object=float("nan")),
    "with None": _strings(["a", None], na_object=None),
    "with a word": _strings(["a", "no"], na_object="no", coerce=False),
    "record": [_PAIR[0], np.ma.masked],
}


@pytest.mark.parametrize("name", VALUES)
def test_they_need_no_pickle(name: str) -> None:
    """They were pickled, with a warning, and so needed trust."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = serialpack.dumps(VALUES[name])
    again = serialpack.loads(data)
    assert difference(VALUES[name], again) is None
    assert repr(again) == repr(VALUES[name])
    assert serialpack.inspect(io.BytesIO(data)).members[0].format == "object"


def test_a_read_only_array_of_strings_stays_so_and_one_stays_one() -> None:
    array = _TEXTS.copy()
    array.flags.writeable = False
    once, again = serialpack.loads(serialpack.dumps([array, array]))
    assert not once.flags.writeable
    assert once is again
    assert serialpack.loads(serialpack.dumps(_TEXTS)).flags.writeable


def test_what_a_uuid_is_told_to_be_is_kept_where_nobody_proves() -> None:
    value = VALUES["told unsafe"]
    again = serialpack.loads(serialpack.dumps(value, "objects", verify=False))
    assert again.is_safe is uuid.SafeUUID.unsafe


class _Class(np.float64):
    pass


def _odd_names() -> SimpleNamespace:
    made = SimpleNamespace()
    vars(made)[1] = 2  # type: ignore[index]
    return made


@pytest.mark.parametrize(
    "value",
    [
        np.dtype("f8", metadata={"unit": "m"}),
        np.dtype([("a", object)]),
        _PAIR.dtype,
        _strings(["a"], na_object=_HOUR),
        _Class,
        SimpleNamespace,
        _odd_names(),
    ],
    ids=repr,
)
def test_what_would_come_back_otherwise_is_refused_where_nobody_proves(value: Any) -> None:
    with pytest.raises(ValueRefusedError):
        serialpack.dumps([value], "objects", verify=False)


BAD: dict[str, tuple[int, list[Any]]] = {
    "no zone": (38, ["Nowhere/At all"]),
    "half a zone": (38, [1]),
    "a whole day": (38, [86400, 0]),
    "called by a number": (38, [0, 0, 1]),
    "attributes in a list": (39, [["a"]]),
    "an attribute without a name": (39, [{1: 2}]),
    "no name": (40, ["print"]),
    "no text": (40, [[1]]),
    "no address": (41, ["IPv4Address", "a"]),
    "a number as address": (41, ["IPv4Address", 1]),
    "another class": (41, ["_BaseV4", "10.0.0.1"]),
    "a word of nothing": (42, ["load"]),
    "a word that is none": (42, [[]]),
    "no type": (42, ["dtype", "'<q9'"]),
    "a call": (42, ["dtype", "__import__('os')"]),
    "too large": (42, ["dtype", "'<f8'", [1 << 40]]),
    "objects in fields": (42, ["dtype", "[('a', '|O')]"]),
    "no class": (42, ["class", "ndarray"]),
    "no scalar": (42, ["class", "load"]),
    "another shape": (42, ["strings", ["a"], [2], False, True, True]),
    "a negative shape": (42, ["strings", ["a"], [-1, -1], False, True, True]),
    "numbers": (42, ["strings", [1], [1], False, True, True]),
    "missing without a word": (42, ["strings", [None], [1], False, True, True]),
    "a list for what is missing": (42, ["strings", [None], [1], False, True, True, []]),
    "no strings": (42, ["strings", "a", [1], False, True, True]),
    "no record": (42, ["record", 1]),
    "told something": (9, [_UUID.bytes, 7]),
}


def test_a_file_that_is_kept_for_ever_has_them() -> None:
    pd = pytest.importorskip("pandas")
    found = serialpack.load(Path(__file__).parent.parent / "golden" / "object-types.spk")
    assert found[0] == ZoneInfo("UTC")
    assert found[2].tzname(None) == "here"
    assert found[3:7] == [SimpleNamespace(a=1), ..., NotImplemented, int]
    assert found[7] == ipaddress.ip_network("10.0.0.0/8")
    assert found[8:12] == [np.dtype(object), np.dtype("2f8"), np.float32, np.ma.masked]
    assert found[12].tolist() == [["a", "é"], [None, ""]]
    assert not found[12].flags.writeable
    assert found[13].item() == (97, 98)
    assert found[14] is found[11]
    assert found[15].is_safe is uuid.SafeUUID.safe
    assert found[16].tzname() == "here"
    assert found[17:19] == [pd.PeriodDtype("M"), pd.offsets.MonthEnd()]
    assert found[19].tolist() == [0, 1, 2]
    assert found[20] is found[19]


@pytest.mark.parametrize("name", BAD)
def test_stored_bytes_that_lie_are_one_error(name: str) -> None:
    code, parts = BAD[name]
    data = made_of(msgpack.ExtType(code, msgpack.packb(parts)))
    with pytest.raises((DamagedError, UnsupportedError)) as caught:
        serialpack.loads(data)
    assert "\n" not in str(caught.value)
    with contextlib.suppress(serialpack.SerialpackError):
        serialpack.inspect(io.BytesIO(data))
