"""The comparison of values: what is not plain to see, in which differences hide, is compared too.

``DIFFERENT`` must not be taken for the same, or a loss is silent; ``PICKLED`` come back from
pickle as they were, and must not be refused.
"""

from __future__ import annotations

import array
import collections
import configparser
import datetime
import decimal
import fractions
import functools
import io
import ipaddress
import itertools
import operator
import pathlib
import pickle
import random
import re
import sys
import types
import uuid
import weakref
from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import serialpack
from serialpack.values import equality, quick_equality
from serialpack.values.equality import difference
from serialpack.values.quick_equality import plainly_same, quickly_same
from tests.fidelity import things


class Plain:
    """Equal to itself only."""

    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)


class OwnPath(pathlib.PurePosixPath):
    """Tells pickle its text alone, whatever attributes it has."""


class NotedPath(pathlib.PurePosixPath):
    def __reduce__(self) -> Any:
        return _noted_path, (str(self), vars(self))


def _noted_path(text: str, attributes: dict[str, Any]) -> NotedPath:
    noted: NotedPath = _with(NotedPath(text), **attributes)
    return noted


class Queue(collections.deque[Any]):
    """C code keeps what is in it, a dict its attributes."""


class Fault(Exception):
    """With attributes beside its arguments."""


class Lazy:
    """Makes an attribute when it is asked for, and does not pickle it."""

    def __init__(self) -> None:
        self.a = 1

    @functools.cached_property
    def b(self) -> int:
        return self.a + 1

    def __getstate__(self) -> Any:
        return {"a": self.a}


class Zone(datetime.tzinfo):
    """A zone of somebody's own."""

    def __init__(self, name: str = "X") -> None:
        self.name = name

    def utcoffset(self, _: Any) -> datetime.timedelta:
        return datetime.timedelta(0)

    def dst(self, _: Any) -> None:
        return None

    def tzname(self, _: Any) -> str:
        return self.name


def _with(value: Any, **attributes: Any) -> Any:
    for name, part in attributes.items():
        setattr(value, name, part)
    return value


def _read_only(array: Any) -> Any:
    array.setflags(write=False)
    return array


def _adder(more: int) -> Callable[[int], int]:
    return lambda n: n + more


def _using_global() -> tuple[Any, Any]:
    """Two functions of the same code whose module differs in what they use of it."""
    code = (lambda: CONSTANT).__code__
    one, other = (types.FunctionType(code, {"CONSTANT": n}) for n in (1, 2))
    return one, other


CONSTANT = 0
NAN = float("nan")
ZERO = datetime.timedelta(0)

DIFFERENT: dict[str, tuple[Any, Any]] = {
    "deque maxlen": (collections.deque([1], 3), collections.deque([1])),
    "deque element": (collections.deque([1]), collections.deque([1.0])),
    "deque subclass": (_with(Queue([1]), a=1), _with(Queue([2]), a=1)),
    "default factory": (collections.defaultdict(list, a=1), collections.defaultdict(None, a=1)),
    "arguments of an exception": (_with(Fault("a"), x=1), _with(Fault("b"), x=1)),
    "cause of an exception": (_with(Fault(1), __cause__=KeyError(1)), Fault(1)),
    "value under a key like no other": ({Plain(): 1}, {Plain(): 2}),
    "value under nan": ({NAN: 1}, {float("nan"): 2}),
    "key of another kind": ({(1,): 1}, {(True,): 1}),
    "key inside": ({(1, (2,)): 1}, {(1, (3,)): 1}),
    "name of a zone": (datetime.timezone(ZERO, "zero"), datetime.timezone(ZERO)),
    "name of a time's zone": (
        datetime.time(1, tzinfo=datetime.timezone(ZERO, "zero")),
        datetime.time(1, tzinfo=datetime.UTC),
    ),
    "zone of a class of its own": (
        datetime.datetime(2020, 1, 1, tzinfo=Zone("A")),
        datetime.datetime(2020, 1, 1, tzinfo=Zone("B")),
    ),
    "partial": (functools.partial(int, base=2), functools.partial(int, base=3)),
    "random state": (random.Random(1), random.Random(2)),
    "ranges that are equal": (range(0, 3, 2), range(0, 4, 2)),
    "slice": (slice(1), slice(1.0)),
    "set of tuples": ({(1,)}, {(1.0,)}),
    "set of objects": ({Plain(a=1), Plain(a=2)}, {Plain(a=1), Plain(a=3)}),
    "uuid safety": (uuid.UUID(int=1, is_safe=uuid.SafeUUID.safe), uuid.UUID(int=1)),
    "counter": (collections.Counter(a=1), collections.Counter(a=True)),
    "text with an attribute": (_with(things.Text("a"), x=1), things.Text("a")),
    "namespace": (types.SimpleNamespace(a=1), types.SimpleNamespace(a=1.0)),
    "chain of maps": (collections.ChainMap({1: 1}), collections.ChainMap({1: 2})),
    "order of an ordered map": (
        collections.OrderedDict(a=1, b=2),
        collections.OrderedDict(b=2, a=1),
    ),
    "item getter": (operator.itemgetter(1), operator.itemgetter(2)),
    "path": (pathlib.PurePosixPath("a"), pathlib.PurePosixPath("b")),
    "attribute of a path": (_with(OwnPath("a"), note=1), OwnPath("a")),
    "path of Windows": (pathlib.PureWindowsPath("a"), pathlib.PureWindowsPath("A")),
    "lambda": (lambda: 1, lambda: 2),
    "lambda default": (lambda x=1: x, lambda x=2: x),
    "closure": (_adder(1), _adder(2)),
    "global of a function": _using_global(),
    "method of C": (collections.deque([1]).append, collections.deque([2]).append),
    "method": (things.Point(1, 2).__eq__, things.Point(1, 3).__eq__),
    "weak reference": (weakref.ref(things.function), weakref.ref(_adder)),
    "constant in code": ((lambda: 0.0).__code__, (lambda: -0.0).__code__),
    "complex zero": (complex(0.0, -0.0), complex(0.0, 0.0)),
    "fold": (datetime.time(1, fold=1), datetime.time(1)),
    "read-only array": (np.arange(3), _read_only(np.arange(3))),
    "nan sign in an array": (np.array([NAN]), np.array([-NAN])),
    "last number of a large array": (np.zeros(1 << 19), np.append(np.zeros((1 << 19) - 1), 1)),
    "array of objects": (np.array([1, None], object), np.array([True, None], object)),
    "mask": (np.ma.masked_array([1, 2], [False, True]), np.ma.masked_array([1, 2], [False] * 2)),
    "dtype": (np.dtype("i4"), np.dtype("i8")),
    "field names": (np.zeros(1, [("a", "i4")]), np.zeros(1, [("b", "i4")])),
    "type of a scalar": (np.int32(1), np.int64(1)),
    "bits of a scalar": ([np.float32(0.0)], [np.float32(-0.0)]),
    "scalar as a key": ({np.int8(1): 1}, {np.int8(2): 1}),
    "unit of time": (np.datetime64(1, "s"), np.datetime64(1, "ms")),
    "random generator": (np.random.default_rng(1), np.random.default_rng(2)),
    "type code": (array.array("i", [1]), array.array("l", [1])),
    "bytes io": (io.BytesIO(b"a"), io.BytesIO(b"b")),
}


@pytest.mark.parametrize("name", DIFFERENT)
@pytest.mark.parametrize("identity", [False, True])
def test_different(name: str, identity: bool) -> None:
    was, became = DIFFERENT[name]
    for pair in ((was, became), (became, was), ([[was]], [[became]])):
        assert difference(*pair, identity=identity) is not None
        assert not quickly_same(*pair, identity=identity)
        assert not plainly_same(*pair, identity=identity, size=100)


def _asked(value: Any) -> Any:
    """``value`` after it has made what it keeps for later."""
    for name in ("b", "broadcast_address", "hostmask", "parts"):
        getattr(value, name, None)
    str(value)
    hash(value)
    return value


def _loop() -> Any:
    one = Plain()
    one.all = {one}  # type: ignore[attr-defined]
    return one


PICKLED: dict[str, Callable[[], Any]] = {
    "set of objects": lambda: {Plain(), Plain(a=[1]), Plain()},
    "set of nans": lambda: {NAN, 1.5, float("nan"), (NAN,)},
    "keys like no others": lambda: {Plain(): 1, Plain(): [2], NAN: 3, (Plain(),): 4},
    "frozenset": lambda: frozenset([Plain(), (Plain(),)]),
    "set that holds its holder": _loop,
    "zone of a class of its own": lambda: datetime.datetime(2020, 1, 1, tzinfo=Zone()),
    "named zone": lambda: datetime.datetime(2020, 1, 1, fold=1, tzinfo=ZoneInfo("Europe/Vienna")),
    "path": lambda: _asked(pathlib.Path("a/b")),
    "attribute of a path": lambda: _asked(_with(NotedPath("a"), note=[1])),
    "cached property": lambda: _asked(Lazy()),
    "network": lambda: _asked(ipaddress.ip_network("10.0.0.0/8")),
    "piece of an array": lambda: np.arange(10)[::2],
    "columns of an array": lambda: np.ones((4, 4))[:, 1:3],
    "transposed": lambda: np.ones((3, 4)).T,
    "read-only array": lambda: _read_only(np.arange(4)),
    "broadcast array": lambda: np.broadcast_to(np.arange(3), (2, 3)),
    "array of no dimension": lambda: np.array(1.5),
    "empty array": lambda: np.empty((0, 3)),
    "large array": lambda: np.arange(1 << 18, dtype="f8"),
    "large Fortran array": lambda: np.asfortranarray(np.ones((512, 600))),
    "array of text": lambda: np.array(["a", "bb"]),
    "array of times": lambda: np.array(["2020-01-01"], "M8[s]"),
    "array of objects": lambda: np.array([{1: 2}, None, [3]], dtype=object),
    "record array": lambda: np.rec.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
    "masked array": lambda: np.ma.masked_array([1, 2], [False, True]),
    "random generator": lambda: np.random.default_rng(1),
    "dtype": lambda: np.dtype([("a", "i4")]),
    "deque": lambda: collections.deque([[1], 2], 5),
    "default map": lambda: collections.defaultdict(list, a=[1]),
    "partial": lambda: functools.partial(int, base=2),
    "random": lambda: random.Random(1),
    "pattern": lambda: re.compile("a", re.IGNORECASE),
    "method": lambda: things.Point(1, 2).__eq__,
    "method of C": lambda: [1].append,
    "exception": lambda: _with(Fault("a", [1]), x=[1]),
    "error of the system": lambda: OSError(2, "no", "file"),
    # Which Python 3.14 no longer pickles; 3.12 and 3.13 say so.
    **({"count": lambda: itertools.count(3)} if sys.version_info < (3, 14) else {}),
    "slots": lambda: things.Slotted([1]),
    "alias": lambda: [list[int], int | str, re.IGNORECASE | re.MULTILINE],
    "parser": lambda: configparser.ConfigParser(),
    "context": lambda: decimal.Context(prec=5),
    "fraction": lambda: fractions.Fraction(1, 3),
    "text io": lambda: io.StringIO("a\n"),
}


@pytest.mark.filterwarnings("ignore:Pickle, copy, and deepcopy support:DeprecationWarning")
@pytest.mark.parametrize("name", PICKLED)
@pytest.mark.parametrize("identity", [False, True])
def test_what_pickle_keeps_is_the_same(name: str, identity: bool) -> None:
    value = PICKLED[name]()
    assert difference(value, pickle.loads(pickle.dumps(value, 5)), identity=identity) is None


def test_pandas_objects_are_what_they_tell_pickle() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2, 3], "b": ["x", "y", None], "c": [1.5, None, 2]})
    assert frame.index.is_unique
    for value in (frame, frame[::2], frame["a"], frame.index, frame.set_index("b")):
        assert difference(value, pickle.loads(pickle.dumps(value, 5)), identity=True) is None
    other = frame.copy()
    other.loc[1, "c"] = 2.5
    assert difference(frame, other) is not None


def test_a_search_without_an_end_is_given_up() -> None:
    """Objects that hold the set they are in, beside others that may be them: never wrong."""
    one = Plain()
    vars(one)["all"] = {one, Plain(), Plain()}
    other = pickle.loads(pickle.dumps(one))
    lost = difference(one, other)
    assert lost is None or lost.kind == "set"
    vars(other)["all"].add(Plain())
    assert difference(one, other) is not None


def _twice(value: Any) -> Any:
    return [value, value]


def _key_and_value(value: Any) -> Any:
    return {(value,): value}


ONE_OR_TWO: dict[str, tuple[Callable[[Any], Any], Callable[[], Any]]] = {
    "list": (_twice, lambda: [1]),
    "map": (_twice, lambda: {"a": 1}),
    "set": (_twice, lambda: {1}),
    "tuple": (_twice, lambda: tuple("ab")),
    "bytearray": (_twice, lambda: bytearray(b"a")),
    "object": (_twice, Plain),
    "array": (_twice, lambda: np.arange(3)),
    "text of a class": (_twice, lambda: things.Text("a")),
    "deque": (_twice, lambda: collections.deque([1])),
    "key and value": (_key_and_value, Plain),
}


@pytest.mark.parametrize("name", ONE_OR_TWO)
def test_one_is_told_from_two(name: str) -> None:
    hold, make = ONE_OR_TWO[name]
    shared = hold(make())
    assert difference(shared, pickle.loads(pickle.dumps(shared, 5)), identity=True) is None
    apart = [make(), make()] if hold is _twice else {(make(),): make()}
    assert difference(shared, apart) is None
    lost = difference(shared, apart, identity=True)
    assert lost is not None
    assert lost.kind == "cycle"
    # What cannot be changed may become one.
    assert (difference(apart, shared, identity=True) is None) == (name == "tuple")


def test_the_quick_look_is_enough_for_plain_values_and_objects() -> None:
    """And is never wrong: what it passes, nobody looks at again."""
    inner = [1]
    cases: list[Any] = [
        [{"a": n, "b": [n, (n,)], "c": {n}} for n in range(50)],
        [things.Point(n, 2.0, ["a"]) for n in range(50)],
        [inner, inner, {"a": inner}],
        {"d": datetime.datetime.now(), "e": decimal.Decimal("1.50"), "u": uuid.uuid4()},
        [np.float64(NAN), np.bool_(True), {np.uint8(3): np.complex64(1j)}],
    ]
    for value in cases:
        again = pickle.loads(pickle.dumps(value, 5))
        assert quickly_same(value, again, identity=False)
        assert quickly_same(value, again, identity=True)
    assert not quickly_same([inner, inner], [[1], [1]], identity=True)
    assert not quickly_same([[1], [1]], [inner, inner], identity=True)
    assert quickly_same([inner, inner], [[1], [1]], identity=False)


def test_the_quick_look_leaves_what_it_does_not_know() -> None:
    loop: list[Any] = []
    loop.append(loop)
    items = np.array([1, "a"], object), np.zeros(1, "i4,i4").view(np.recarray)
    nothing: types.MappingProxyType[str, Any] = types.MappingProxyType({})
    for value in (nothing, *items, _adder(1), loop):
        assert not quickly_same(value, value, identity=False)


def test_what_compared_much_compares_nothing_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """To clear a memo that has grown takes three times as long as a small value."""
    sizes: dict[int, list[int]] = {}

    class Seen(quick_equality._PlainPickler):
        def dump(self, obj: Any) -> None:
            sizes.setdefault(id(self), []).append(len(pickle.dumps(obj)))
            super().dump(obj)

    monkeypatch.setattr(quick_equality, "_kept", quick_equality._Picklers())
    monkeypatch.setattr(quick_equality, "_PlainPickler", Seen)
    for count in (1, 1000, 2, 1500, 3):
        serialpack.dumps([{"name": f"n{n}"} for n in range(count)], "marshal")
    little, much = sorted(sizes.values())
    assert max(little) < 1000 < min(much)


def test_of_an_array_of_numpy_only_what_describes_it_and_its_numbers_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was asked for attributes, and whether it is a number, a text, ...: half of a proof."""
    looked_at: list[type] = []
    attributes = equality._attributes

    def seen(x: Any, y: Any, **how: Any) -> Any:
        looked_at.append(type(x))
        return attributes(x, y, **how)

    monkeypatch.setattr(equality, "_attributes", seen)
    one, other = (np.arange(6.0).reshape(2, 3) for _ in range(2))
    odd = collections.deque([1])  # else the quick look passes all
    assert difference({"a": one, "b": (one, odd)}, {"a": other, "b": (other, odd)}) is None
    assert not looked_at
    # One of another class may have some.
    assert difference(one.view(np.recarray), other.view(np.recarray)) is None
    assert np.recarray in looked_at
