"""Values that are data, but were held by pickle only: zones, types, arrays of strings, others."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import datetime
import io
import ipaddress
import re
import uuid
import warnings
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
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
from tests.serializers.objects.test_own_objects import made_of

_HOUR = datetime.timedelta(hours=1)
_CALLED = datetime.timezone(_HOUR, "CET")
_UUID = uuid.UUID("12345678-1234-4678-9234-567812345678")
_TEXTS = np.array([["", "é", "a" * 40], ["b", "c", "d"]], np.dtypes.StringDType())
_PAIR = np.rec.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")])
_ARGUMENTS = argparse.Namespace()
vars(_ARGUMENTS)["self"] = 1


def _strings(items: list[Any], **how: Any) -> Any:
    kind: Any = np.dtypes.StringDType(**how)
    return np.array(items, kind)


_FIELDS = np.zeros((2, 3), [("a", ">i4"), ("b", [("o", "O")]), ("c", "f4", 2), ("d", "O", (2,))])
_FIELDS["b"]["o"][1] = [None, "x", (1, [2])]
_FIELDS["c"] = np.arange(12).reshape(2, 3, 2)


VALUES: dict[str, Any] = {
    "zones": [ZoneInfo("Europe/Berlin"), datetime.UTC, datetime.timezone(-_HOUR), _CALLED],
    "in a zone with a name": datetime.datetime(2020, 1, 1, tzinfo=_CALLED),
    "zero": [datetime.timezone(0 * _HOUR, "zero"), datetime.time(1, tzinfo=_CALLED)],
    "namespace": SimpleNamespace(a=1, b=[SimpleNamespace()]),
    "one of a kind": [..., NotImplemented, int, dict, object, {"kind": float}],
    "addresses": [
        *map(ipaddress.ip_address, ("10.0.0.1", "::1", "fe80::1%eth0")),
        *map(ipaddress.ip_network, ("10.0.0.0/8", "2001:db8::/32", "::1")),
        ipaddress.IPv4Network(1 << 24),
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
    "what is read of arguments": argparse.Namespace(a=1, b=[argparse.Namespace()]),
    "an argument called self": _ARGUMENTS,
    "patterns": [re.compile("(a+)|\\d", re.IGNORECASE), re.compile(b"a"), re.compile(".", re.S)],
    "chains of maps": ChainMap({"a": 1}, ChainMap({}), OrderedDict(b=2)),
    "what makes what is missing": [
        *(defaultdict(kind, a=kind()) for kind in (Counter, OrderedDict, deque, defaultdict)),
    ],
    "limits": [np.finfo("f4"), np.iinfo("u2")],
    "records by class": [_PAIR.dtype, np.array([_PAIR.dtype, None])],
    "arrays of records": [np.asarray(_PAIR), np.asarray(_PAIR)[::-1], np.array(_PAIR[0])],
    "objects in fields": [
        _FIELDS,
        _FIELDS.T,
        np.asfortranarray(_FIELDS),
        _FIELDS[:0],
        _FIELDS[0, 0:1],
    ],
    "objects in records": np.zeros(2, [("a", "i4"), ("b", "O")]).view(np.recarray),
    "polynomials": [
        np.polynomial.Polynomial([1, 2.5]),
        np.polynomial.Chebyshev([1, 2j], [0, 1], [2, 3], symbol="t"),
        np.polynomial.HermiteE.fit(np.arange(5), np.arange(5) ** 2, 2),
        np.poly1d([1, 2, 0], variable="z"),
    ],
    "with words of its own": [
        np.dtype(object, metadata={"vlen": str}),
        np.empty(2, np.dtype(object, metadata={"vlen": str})),
    ],
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


_BITS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


@pytest.mark.parametrize("name", _BITS)
def test_generators_go_on_where_they_were(name: str) -> None:
    """They needed pickle, and so trust."""
    seed = np.random.SeedSequence([1, 2], spawn_key=(3,), pool_size=8)
    made = np.random.Generator(getattr(np.random, name)(seed))
    made.integers(0, 9, 5, dtype="u4")
    made.spawn(2)
    again = serialpack.loads(serialpack.dumps(made, "objects"))
    assert again.integers(1 << 60, size=700).tolist() == made.integers(1 << 60, size=700).tolist()
    for one, other in zip(again.spawn(2), made.spawn(2), strict=True):
        assert one.random() == other.random()


def test_old_generators_and_shared_bits_go_on_where_they_were() -> None:
    made = np.random.RandomState(1)
    made.normal()
    bits = np.random.PCG64(5)
    value = [made, {"a": np.random.Generator(bits), "b": np.random.Generator(bits)}, bits]
    found, both, one = serialpack.loads(serialpack.dumps(value, "objects"))
    assert found.normal(size=700).tolist() == made.normal(size=700).tolist()
    assert both["a"].bit_generator is both["b"].bit_generator is one
    assert difference(value[1:], [both, one]) is None


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
        np.dtype("f8", metadata={"unit": Path}),
        np.dtype("f8", metadata={"unit": np.int64(1)}),
        np.dtype("f8", metadata={"unit": float("nan")}),
        np.dtype(("f8", (2,)), metadata={"unit": "m"}),
        np.dtype([("a", object)]),
        _FIELDS[0, 0],
        np.poly1d(np.array([None, 1], object)),
        np.zeros(1, np.dtype([("a", "i1"), ("b", "O")], align=True)),
        np.dtype((np.record, [("a", object)])),
        np.dtype((np.record, _PAIR.dtype), metadata={"unit": {1}}),
        _strings(["a"], na_object=_HOUR),
        _Class,
        SimpleNamespace,
        _odd_names(),
        defaultdict(Path),
    ],
    ids=repr,
)
def test_what_would_come_back_otherwise_is_refused_where_nobody_proves(value: Any) -> None:
    with pytest.raises(ValueRefusedError):
        serialpack.dumps([value], "objects", verify=False)


def _used(word: str, count: int) -> dict[str, Any]:
    """The state of a generator that says to have used so many numbers of those that it made."""
    if word == "pos":
        return {"bit_generator": "MT19937", "state": {"key": [0] * 624, "pos": count}}
    inner = {"counter": [0] * 4, "key": [0] * 2}
    more = {"buffer": [0] * 4, "has_uint32": 0, "uinteger": 0}
    return {"bit_generator": "Philox", "state": inner, word: count, **more}


_NUMBERS = msgpack.ExtType(18, msgpack.packb([bytes(16), "'<f8'", [2], False, True]))
_EMPTY = msgpack.ExtType(37, msgpack.packb([[], [0], False, True]))
BAD: dict[str, tuple[int, list[Any]]] = {
    "no zone": (38, ["Nowhere/At all"]),
    "half a zone": (38, [1]),
    "a whole day": (38, [86400, 0]),
    "called by a number": (38, [0, 0, 1]),
    "attributes in a list": (39, [["a"]]),
    "an attribute without a name": (39, [{1: 2}]),
    "attributes of another module": (39, [{"a": 1}, "os"]),
    "no name": (40, ["print"]),
    "no text": (40, [[1]]),
    "no address": (41, ["IPv4Address", "a"]),
    "a number as address": (41, ["IPv4Network", 1]),
    "another class": (41, ["_BaseV4", "10.0.0.1"]),
    "no pattern": (45, ["(", 32]),
    "a pattern of numbers": (45, [[1], 32]),
    "a pattern that prints": (45, ["a", 32 | re.DEBUG]),
    "a pattern in too many brackets": (45, ["(" * 251 + ")" * 251, 32]),
    "limits of no numbers": (42, ["finfo", 1]),
    "limits of text": (42, ["iinfo", msgpack.ExtType(42, msgpack.packb(["dtype", "'<U1'"]))]),
    "records of nothing": (42, ["records", _NUMBERS]),
    "a type of no records": (42, ["record type", "f8"]),
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
    "fields of no arrays": (42, ["fields", ["a"], [1], [], False, True]),
    "fields of another shape": (42, ["fields", ["a"], [_EMPTY], [2], False, True]),
    "fields of no objects": (42, ["fields", ["a"], [_NUMBERS], [2], False, True]),
    "fields without a name": (42, ["fields", [1], [_EMPTY], [0], False, True]),
    "fields of one name": (42, ["fields", ["a", "a"], [_EMPTY, _EMPTY], [0], False, True]),
    "more names than fields": (42, ["fields", ["a", "b"], [_EMPTY], [0], False, True]),
    "a negative shape of fields": (42, ["fields", ["a"], [_EMPTY], [-1], False, True]),
    "no polynomial": (42, ["polynomial", "polyutils", _NUMBERS, "x", None, None]),
    "a function of polynomials": (42, ["polynomial", "set_default_printstyle", _NUMBERS, "x"]),
    "factors of no array": (42, ["polynomial", "Polynomial", [1], "x", None, None]),
    "factors of objects": (42, ["polynomial", "Polynomial", _EMPTY, "x", None, None]),
    "no variable": (42, ["polynomial", "Polynomial", _NUMBERS, 1, None, None]),
    "ends of poly1d": (42, ["polynomial", "poly1d", _NUMBERS, "x", None, None]),
    "words that are no map": (37, [[], [0], False, True, 1]),
    "no generator": (42, ["random", "default_rng", 1]),
    "a generator of nothing": (42, ["random", "Generator", 1]),
    "a seed in too many words": (42, ["random", "SeedSequence", 1, 1 << 40, 0]),
    "more bits used than there are": (42, ["random", "MT19937", _used("pos", 625), None]),
    "fewer than none": (42, ["random", "Philox", _used("buffer_pos", -1), None]),
    "another state": (42, ["random", "PCG64", {"bit_generator": "SFC64", "state": {}}, None]),
    "a seed of no number": (42, ["random", "SeedSequence", [[1]], 4, 0]),
    "no state": (42, ["random", "PCG64", [], None]),
    "another seed": (42, ["random", "PCG64", {}, 1]),
    "a type of no array": (30, ["dtype", 1]),
    "a frequency of no text": (30, ["offset", 5]),
    "told something": (9, [_UUID.bytes, 7]),
}


def test_a_file_that_is_kept_for_ever_has_them() -> None:
    pd = pytest.importorskip("pandas")
    found = serialpack.load(Path(__file__).parents[2] / "golden" / "object-types.spk")
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
    assert found[19].bit_generator.seed_seq.spawn_key == (7,)
    state: Any = found[19].bit_generator.state
    assert state["state"]["state"].tobytes() == bytes(range(32))
    assert found[20].tolist() == [0, 1, 2]
    assert found[21] is found[20]


def test_others_of_numpy_are_kept_for_ever() -> None:
    found = serialpack.load(Path(__file__).parents[2] / "golden" / "object-numpy.spk")
    records, legendre, poly1d, texts = found
    assert records.tolist() == [(None, 1.0), ("x", 2.5)]
    assert legendre.window.tolist() == [1, 2.5]
    assert vars(legendre).keys() == {"coef", "window", "_symbol"}
    assert poly1d.variable == "z"
    assert texts.dtype.metadata == {"vlen": str}


def test_the_latest_types_are_kept_for_ever() -> None:
    found = serialpack.load(Path(__file__).parents[2] / "golden" / "object-more.spk")
    assert found[0] == argparse.Namespace(a=1)
    assert found[1] == re.compile("a+", re.IGNORECASE)
    assert found[2].maps == [{"a": 1}, {}]
    assert found[3].default_factory is Counter
    assert (found[4].max, found[5].bits) == (255, 32)
    assert found[6].type is found[7].dtype.type is np.record
    assert found[7].tolist() == [(1, -2)]
    assert type(found[8]).__name__ == "chararray"


class _Asked:
    """Would run code of its class where it is asked for what an array, or a state, has."""

    asked = 0

    def __getattr__(self, name: str) -> Any:
        _Asked.asked += 1
        raise AttributeError(name)

    def __getitem__(self, key: Any) -> Any:
        _Asked.asked += 1
        raise KeyError(key)


@dataclasses.dataclass
class Odd(_Asked):
    pass


_OF_NUMPY = ["dtype", "random", "strings", "record", "offset", "fields", "polynomial"]
_OF_NUMPY += ["records", "record type", "finfo"]


@pytest.mark.parametrize("word", _OF_NUMPY)
def test_no_class_is_asked_by_what_reads(word: str) -> None:
    odd = msgpack.ExtType(16, msgpack.packb([__name__, "Odd", {}]))
    found = serialpack.loads(made_of([odd]))
    assert type(found[0]) is Odd
    _Asked.asked = 0
    parts = [[word, odd], [word, odd, odd], [word, "Philox", odd, None], [word, "Generator", odd]]
    parts += [[word, ["a"], [odd], [0], False, True], [word, "Polynomial", odd, "x", None, None]]
    for code in (30, 42):
        for each in parts:
            with pytest.raises((DamagedError, UnsupportedError)):
                serialpack.loads(made_of(msgpack.ExtType(code, msgpack.packb(each))))
    assert _Asked.asked == 0


_OF_PANDAS = (
    *("range", "index", "levels", "objects", "masked", "strings", "category", "times", "period"),
    *("interval", "sparse", "arrow", "Timestamp", "Timedelta", "Period", "Interval"),
)


def test_no_class_is_asked_by_what_reads_frames() -> None:
    pytest.importorskip("pandas")
    odd = msgpack.ExtType(16, msgpack.packb([__name__, "Odd", {}]))
    _Asked.asked = 0
    parts = [(30, [word, None, *[odd] * more]) for word in _OF_PANDAS for more in range(1, 5)]
    parts += [(22, [None, odd, odd]), (22, [None, None, odd]), (21, [None, odd, [odd]])]
    parts += [(21, [odd, None, []]), (21, [None, None, [odd]]), (21, [[None, odd], None, []])]
    for code, each in parts:
        with pytest.raises(DamagedError):
            serialpack.loads(made_of(msgpack.ExtType(code, msgpack.packb(each))))
    assert _Asked.asked == 0


def test_no_class_is_asked_by_what_reads_a_mask() -> None:
    odd = msgpack.ExtType(16, msgpack.packb([__name__, "Odd", {}]))
    array = msgpack.ExtType(18, msgpack.packb([b"ab", "'|u1'", [2], False, True]))
    mask = msgpack.ExtType(18, msgpack.packb([b"\0\1", "'|b1'", [2], False, True]))
    objects = msgpack.ExtType(37, msgpack.packb([[odd], [], False, True]))
    good = [array, mask, None, False]
    assert serialpack.loads(made_of(msgpack.ExtType(33, msgpack.packb(good)))).tolist() == [
        97,
        None,
    ]
    _Asked.asked = 0
    for number in range(4):
        for each in (odd, objects):
            bad = [*good[:number], each, *good[number + 1 :]]
            with pytest.raises(DamagedError):
                serialpack.loads(made_of(msgpack.ExtType(33, msgpack.packb(bad))))
    assert _Asked.asked == 0


@pytest.mark.parametrize("name", BAD)
def test_stored_bytes_that_lie_are_one_error(name: str) -> None:
    code, parts = BAD[name]
    data = made_of(msgpack.ExtType(code, msgpack.packb(parts)))
    with pytest.raises((DamagedError, UnsupportedError)) as caught:
        serialpack.loads(data)
    assert "\n" not in str(caught.value)
    with contextlib.suppress(serialpack.SerialpackError):
        serialpack.inspect(io.BytesIO(data))
