"""Objects of classes derived from Python's own types come back without pickle, and run nothing."""

from __future__ import annotations

import enum
import sys
from abc import ABCMeta
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import msgpack
import numpy as np
import pytest

import serialpack
from serialpack.errors import DamagedError, UnsupportedError
from serialpack.values.equality import difference
from serialpack.values.quick_equality import quickly_same
from tests.serializers.objects.test_own_objects import made_of

_ran: list[Any] = []


class Itself(dict[str, Any]):
    """The usual way to items as attributes."""

    def __init__(self, **items: Any) -> None:
        super().__init__(items)
        self.__dict__ = self
        _ran.append(self)


class Lower(dict[str, Any]):
    """What it does to its keys is done already."""

    def __setitem__(self, key: str, value: Any) -> None:
        _ran.append(key)
        super().__setitem__(key.lower(), value)

    def update(self, *args: Any, **more: Any) -> None:
        _ran.append((args, more))

    def __getattr__(self, name: str) -> Any:
        _ran.append(name)
        raise AttributeError(name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(name)

    def __setstate__(self, state: Any) -> None:
        _ran.append(state)


class Slotted(dict[str, Any]):
    __slots__ = ("one", "other")


class Ordered(OrderedDict[str, Any]):
    def __setitem__(self, key: str, value: Any) -> None:
        _ran.append(key)
        super().__setitem__(key, value)


class Backwards(list[Any]):
    def __iter__(self) -> Any:
        _ran.append(self)
        return reversed(self)

    def extend(self, more: Any) -> None:
        _ran.append(more)


class Amount(int):
    unit: str

    def __new__(cls, number: int, unit: str) -> Amount:
        made = super().__new__(cls, number)
        made.unit = unit
        _ran.append(unit)
        return made

    def __index__(self) -> int:
        _ran.append(self)
        return 3


class Name(str):
    def __str__(self) -> str:
        _ran.append(self)
        return "x"


class Row(tuple[Any, ...]):
    pass


class Labels(set[str], metaclass=ABCMeta):
    pass


class Fixed(frozenset[str]):
    __slots__ = ()


class Ratio(float):
    def __float__(self) -> float:
        _ran.append(self)
        return 0.5

    __complex__ = __float__


class Wave(complex):
    pass


class Raw(bytes):
    def __bytes__(self) -> bytes:
        _ran.append(self)
        return b""


def _with(value: Any, **attributes: Any) -> Any:
    for name, held in attributes.items():
        dict.__setattr__(value, name, held) if isinstance(value, dict) else setattr(
            value, name, held
        )
    return value


VALUES: dict[str, Callable[[], Any]] = {
    "itself": lambda: Itself(a=1, b=[2]),
    "own keys": lambda: _with(Lower(A=1), note={"a": ()}),
    "slots": lambda: _with(Slotted(a=1), other=[2]),
    "order": lambda: Ordered([("b", 1), ("a", Ordered())]),
    "list": lambda: _with(Backwards([1, Backwards([2])]), note="a"),
    "integer": lambda: Amount(5, "m"),
    "large integer": lambda: Amount(-1 << 70, "m"),
    "text": lambda: Name("a"),
    "keys": lambda: {Name("a"): 1, Amount(2, "m"): 2, Row((1, Row())): 3},
    "set": lambda: _with(Labels({"a"}), note=1),
    "frozen": lambda: Fixed({"a"}),
    "numbers": lambda: [Ratio(-0.0), Ratio("nan"), Wave(1, -0.0)],
    "bytes": lambda: Raw(b"a"),
    "array": lambda: Itself(a=np.arange(20_000.0)),
}


@pytest.mark.parametrize("name", VALUES)
def test_they_need_no_pickle_and_run_nothing(name: str) -> None:
    value = VALUES[name]()
    data = serialpack.dumps([value], "objects")
    assert data == serialpack.dumps([value])
    _ran.clear()
    (again,) = serialpack.loads(data)
    assert not _ran
    assert type(again) is type(value)
    assert quickly_same([value], [again], identity=False)
    assert difference(value, again) is None


def test_items_that_are_attributes_stay_these() -> None:
    """Pickle makes two maps of one."""
    again = serialpack.loads(serialpack.dumps(Itself(a=1)))
    again.b = 2
    assert again == {"a": 1, "b": 2}


def test_what_scipy_finds_needs_no_pickle() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    found = optimize.root(lambda x: x - 1, [0.0])
    again = serialpack.loads(serialpack.dumps(found, "objects"))
    assert type(again) is optimize.OptimizeResult
    assert again.x == found.x


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Amount(1, "m"), Amount(1, "s")),
        (Amount(1, "m"), 1),
        (Row([1]), Row([1.0])),
        (Ratio(0.0), Ratio(-0.0)),
        (Ordered(a=1, b=2), Ordered(b=2, a=1)),
        (_with(Slotted(), one=1), Slotted()),
        (Labels({"a"}), _with(Labels({"a"}), note=1)),
    ],
    ids=["attribute", "type", "contents", "sign", "order", "slot", "more"],
)
def test_what_differs_is_seen(one: Any, other: Any) -> None:
    assert not quickly_same(one, other, identity=False)
    assert difference(one, other) is not None


class Reduced(dict[str, Any]):
    def __reduce__(self) -> Any:
        return Reduced, ()


class Stated(list[Any]):
    def __getstate__(self) -> None:
        return None


class Dropped(list[Any]):
    def __del__(self, ran: list[Any] = _ran) -> None:
        ran.append(self)  # at the end of the process, when the module's names are gone, too


class Hashed(str):
    def __hash__(self) -> int:
        _ran.append(self)
        return 1


class Equal(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class Meta(type):
    pass


class Made(int, metaclass=Meta):
    pass


class Bits(int, enum.Enum):
    ONE = 1


@pytest.mark.parametrize(
    "value",
    [
        Reduced(a=1),
        Stated([1]),
        Dropped(),
        Hashed("a"),
        Equal(1),
        Made(1),
        type("New", (int,), {})(1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_could_not_be_given_back_so_is_refused(value: Any) -> None:
    with pytest.raises(serialpack.ValueRefusedError):
        serialpack.dumps(value, "objects", verify=False)


def test_attributes_in_an_own_map_are_refused() -> None:
    value = Amount(1, "m")
    value.__dict__ = Lower(unit="m")
    with pytest.raises(serialpack.ValueRefusedError):
        serialpack.dumps(value, "objects", verify=False)


def _message(name: str, *parts: Any) -> msgpack.ExtType:
    return msgpack.ExtType(49, msgpack.packb([__name__, name, *parts]))


def test_the_bytes() -> None:
    data = made_of(_message("Amount", "int", 3, {"unit": "m"}))
    again = serialpack.loads(data)
    assert type(again) is Amount
    assert (int.__add__(again, 0), again.unit) == (3, "m")
    assert serialpack.dumps(again, "objects+none") == data
    assert serialpack.loads(made_of(_message("Row", "tuple", [1], None))) == Row([1])


BAD = {
    "other base": _message("Amount", "str", "a", None),
    "other contents": _message("Amount", "int", "3", None),
    "a map of a list": _message("Backwards", "list", {}, None),
    "no names": _message("Amount", "int", 3, {1: 2}),
    "no map": _message("Amount", "int", 3, [1]),
    "no items": _message("Amount", "int", 3, True),
    "no attributes": _message("Fixed", "frozenset", [], {"a": 1}),
    "too few": _message("Amount", "int"),
    "own words": _message("Reduced", "dict", {}, None),
    "own end": _message("Dropped", "list", [], None),
    "own hash": _message("Hashed", "str", "a", None),
    "own metaclass": _message("Made", "int", 1, None),
    "an enum": _message("Bits", "int", 2, None),
    "no class of these": _message("VALUES", "dict", {}, None),
    "a class as a base": _message("Amount", _message("Name", "str", "int", None), 3, None),
}


@pytest.mark.parametrize("name", BAD)
def test_stored_bytes_that_lie_are_one_error(name: str) -> None:
    _ran.clear()
    with pytest.raises((DamagedError, UnsupportedError)):
        serialpack.loads(made_of(BAD[name]))
    assert not _ran


@pytest.mark.parametrize(
    "message",
    [
        msgpack.ExtType(code, msgpack.packb(parts))
        for code, parts in {
            5: [_message("Raw", "bytes", b"a", None)],
            6: [_message("Ratio", "float", 1.0, None), 0.0],
            7: [_message("Name", "str", "1", None)],
            23: [0, _message("Amount", "int", 5, None), 1],
            28: [_message("Name", "str", "int", None), {}],
            16: [__name__, "Amount", _message("Lower", "dict", {}, None)],
            33: [_message("Row", "tuple", [], None), None, None, False],
            39: [{}, _message("Name", "str", "argparse", None)],
        }.items()
    ],
    ids=lambda message: str(message.code),
)
def test_no_method_of_an_own_class_is_called_for_a_part(message: Any) -> None:
    """``complex(real, imag)`` asked the object that stood for a number."""
    _ran.clear()
    with pytest.raises((DamagedError, UnsupportedError)):
        serialpack.loads(made_of(message))
    assert not _ran


def test_no_module_is_imported() -> None:
    away = msgpack.ExtType(49, msgpack.packb(["none_derived", "Amount", "int", 3, None]))
    with pytest.raises(UnsupportedError, match="none_derived"):
        serialpack.loads(made_of(away))
    assert "none_derived" not in sys.modules


def test_many_levels() -> None:
    value = Backwards()
    for _ in range(200):
        value = Backwards([value])
    assert difference(value, serialpack.loads(serialpack.dumps(value, "objects"))) is None


class Sorted(dict[str, Any]):
    """As matplotlib's settings, it gives its keys in another order than it has them."""

    def __iter__(self) -> Any:
        return iter(sorted(dict.keys(self)))

    def __getitem__(self, key: str) -> Any:
        return -super().__getitem__(key)


def test_items_are_those_that_a_map_holds() -> None:
    """They were those that its class gave, in its order, and the proof asked it, too."""
    value = Sorted(b=1, a=2)
    again = serialpack.loads(serialpack.dumps(value))
    assert [*dict.items(again)] == [("b", 1), ("a", 2)]
    assert difference(value, Sorted(a=2, b=1)) is not None
