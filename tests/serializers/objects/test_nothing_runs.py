"""Stored bytes name classes and choose what objects keep: nothing of that runs, or takes long."""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any, NamedTuple

import msgpack
import pytest

import serialpack
from serialpack.errors import DamagedError, UnsupportedError
from tests.serializers.objects.test_own_objects import made_of

pytest.importorskip("attrs")
pytest.importorskip("msgspec")

import attrs
import msgspec

_ran: list[Any] = []


def _draw() -> list[Any]:
    _ran.append("drawn")
    return []


class Drawn(msgspec.Struct):
    x: int
    y: list[Any] = msgspec.field(default_factory=_draw)
    z: set[Any] = msgspec.field(default_factory=set)


@dataclass
class Point:
    x: int


def _dropped(value: Any) -> None:
    _ran.append(value.path)


@dataclass
class File:
    """Removes what it names, once nobody has it."""

    path: str
    __del__ = _dropped


@attrs.define
class Slot:
    path: str
    __del__ = _dropped


class Record(msgspec.Struct):
    path: str
    __del__ = _dropped


class Named(NamedTuple("Named", [("path", str)])):
    __del__ = _dropped


@pytest.mark.parametrize("cls", [File, Slot, Record, Named])
def test_what_runs_where_it_is_dropped_is_left_to_pickle(cls: Any) -> None:
    """Whoever wrote the bytes chose what ``__del__`` worked with."""
    with pytest.raises(serialpack.ValueRefusedError):
        serialpack.dumps(cls("a"), "objects")
    of_tuple = issubclass(cls, tuple)
    parts = [__name__, cls.__name__, "b" if of_tuple else {"path": "b"}]
    data = made_of(msgpack.ExtType(29 if of_tuple else 16, msgpack.packb(parts)))
    with pytest.raises(DamagedError, match="where it is dropped"):
        serialpack.loads(data)
    gc.collect()
    assert "b" not in _ran


def test_a_field_that_a_function_makes_is_not_left_out() -> None:
    fields: dict[str, Any] = {"x": 1}
    parts = [__name__, "Drawn", fields]
    _ran.clear()
    with pytest.raises(DamagedError, match="Drawn without y"):
        serialpack.loads(made_of(msgpack.ExtType(16, msgpack.packb(parts))))
    fields["y"] = [2]
    again = serialpack.loads(made_of(msgpack.ExtType(16, msgpack.packb(parts))))
    assert again == Drawn(1, [2], set())
    assert not _ran


class _Stands:
    """Stands for another object, which it asks for whatever it is asked for."""

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        _ran.append("asked")
        return {"Point": Point}

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        _ran.append("asked")
        return Point


stands = _Stands()


class _Imported(ModuleType):
    """A module that is imported once it is asked for something, as ``importlib.util.LazyLoader``
    makes them."""

    def __getattribute__(self, name: str) -> Any:
        _ran.append("asked")
        return super().__getattribute__(name)


@pytest.mark.parametrize(
    ("module", "name"), [(__name__, "stands.Point"), (__name__, "stands"), ("_later", "Point")]
)
def test_to_find_a_class_asks_nobody(
    module: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "_later", _Imported("_later"))
    parts = [module, name, {"x": 1}]
    data = made_of(msgpack.ExtType(16, msgpack.packb(parts)))
    _ran.clear()  # pytest asks, too
    with pytest.raises(UnsupportedError, match="which is not here"):
        serialpack.loads(data)
    assert "asked" not in _ran


def test_a_fraction_takes_no_longer_than_its_digits_allow() -> None:
    """What divides two numbers of a megabyte each was looked for for minutes."""

    def stored(number: int) -> Any:
        data = number.to_bytes(number.bit_length() // 8 + 1, "little")
        return msgpack.ExtType(1, msgpack.packb([data]))

    held, refused = (Fraction(1 | 5 << bits, 1 << bits) for bits in (65_000, 66_000))
    data = [
        made_of(msgpack.ExtType(8, msgpack.packb([stored(v.numerator), stored(v.denominator)])))
        for v in (held, refused)
    ]
    assert serialpack.loads(data[0]) == held
    assert serialpack.loads(serialpack.dumps(held, "objects")) == held
    with pytest.raises(serialpack.ValueRefusedError):
        serialpack.dumps(refused, "objects", verify=False)
    with pytest.raises(DamagedError, match="too many digits"):
        serialpack.loads(data[1])


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        (16, ["a\n\x1b[31m" * 999, "b", {}]),
        (49, ["tests.fidelity.things", "x\x1b\n" * 9999, "y", 1, None]),
        (38, ["Europe/\x1b[31m\n"]),
        (14, ["x\n\x1b" * 999, "y"]),
        (40, ["a\n" * 9999]),
    ],
)
def test_what_stored_bytes_say_is_told_in_a_short_line(code: int, parts: Any) -> None:
    """Whoever wrote them chose what a terminal, or a log, was told."""
    data = made_of(msgpack.ExtType(code, msgpack.packb(parts)))
    with pytest.raises((DamagedError, UnsupportedError)) as caught:
        serialpack.loads(data)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 600
