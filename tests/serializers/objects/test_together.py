"""Lists of many numbers, rows of one kind and large maps, which objects writes by columns."""

from __future__ import annotations

import io
import struct
import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Network, IPv6Address
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple
from uuid import UUID, SafeUUID
from zoneinfo import ZoneInfo

import msgpack
import numpy as np
import pytest

import serialpack
from serialpack.errors import DamagedError
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.objects.passes import written
from serialpack.serializers.objects.read import load_over
from serialpack.values.equality import difference
from tests.fidelity import things
from tests.serializers.objects.test_own_objects import made_of

N = 16_000
DAY = datetime(2024, 5, 1)
BERLIN = ZoneInfo("Europe/Berlin")
WALK = [n * n % 1013 / 8 for n in range(N)]
ROWS = [{"id": n, "at": DAY + timedelta(n), "name": f"{n % 9}", "xy": [n, 1.5]} for n in range(N)]


@dataclass
class Point:
    x: int
    at: Any


class Pair(NamedTuple):
    name: str
    number: float


#: Of so many members a list of all is written one by one.
Numbered = Enum("Numbered", [f"N{n}" for n in range(5000)])  # type: ignore[misc]


class Run:
    def __init__(self) -> None:
        self.losses = WALK[:]


#: Each is written by columns.
VALUES: dict[str, Any] = {
    "integers": [n << 34 for n in range(N)],
    "negative": [-n << 34 for n in range(N)],
    "unsigned and signed": [n - N << 24 for n in range(2 * N)],
    "floats": WALK,
    "odd floats": [float("nan"), -0.0, float("inf"), 5e-324, *WALK],
    "most are integers": [True if n % 50 == 0 else n << 34 for n in range(N)],
    "of 64 bits": [n << 50 for n in range(N)],
    "some are none": [None if n % 3 == 0 else n << 34 for n in range(2 * N)],
    "integers among floats": [n if n % 9 == 0 else n / 8 for n in range(N)],
    "lists among numbers": [[n] if n % 9 == 0 else n / 8 for n in range(N)],
    "days": [date(1, 1, 1) + timedelta(n) for n in range(N)],
    "moments": [DAY + timedelta(minutes=n) for n in range(N)],
    "moments of one zone": [datetime(2024, 1, 1, tzinfo=BERLIN) + timedelta(n) for n in range(N)],
    "first and last": [datetime.min, datetime.max, *(DAY + timedelta(n) for n in range(N))],
    "durations": [timedelta(-n, 0, n) for n in range(N)],
    "tuple": tuple(range(0, N << 34, 1 << 34)),
    "set": set(range(0, N << 34, 1 << 34)),
    "matrix": [[n / 8, float(m), -1.0] for n in range(160) for m in range(100)],
    "three dimensions": [[[n << 34, m], [1, 2]] for n in range(160) for m in range(100)],
    "matrix of moments of a zone": [[datetime(2024, 1, 1, tzinfo=BERLIN)] * 8] * 1000,
    "ragged": [WALK[n : n + n % 7] for n in range(N)],
    "maps in lists": [ROWS[n : n + n % 7] for n in range(0, N, 5)],
    "few rows of many": [{"w": WALK[n : n + 90], "t": f"{n}"} for n in range(300)],
    "a map of lists": {f"{n}": WALK[n : n + 9] for n in range(2000)},
    "maps": ROWS,
    "tuples": [tuple(row.values()) for row in ROWS],
    "lists": [[*row.values()] for row in ROWS],
    "map by number": {n: n / 8 for n in range(N)},
    "map of maps": {f"{n}": {"a": n, "b": n / 8} for n in range(N)},
    "in a tuple between others": {"a": WALK, "t": (1, {"b": WALK[::-1]}), "c": [*range(N)]},
    "scalars of NumPy": list(np.cumsum(np.ones(N)) / 8),
    "maps of scalars": [{"loss": np.float32(n), "n": n} for n in range(N)],
    "dataclasses": [Point(n, DAY + timedelta(n)) for n in range(N)],
    "dataclasses of others": [Point(n, [Point(n, None), things.Colour.RED]) for n in range(5000)],
    "named tuples": [Pair(f"{n % 9}", n / 8) for n in range(N)],
    "map of named tuples": {n: Pair(f"{n % 9}", n / 8) for n in range(5000)},
    "dataclasses in tuples": [(n, Point(n, Pair("a", n))) for n in range(5000)],
    "members of an enum": [things.Colour.RED, things.Level.LOW] * N,
    "members and none": [None, *[things.Colour.RED, None] * 5000],
    "maps with members": [{"n": n, "c": things.Colour.RED} for n in range(N)],
    "decimals": [Decimal(n).scaleb(-2) for n in range(N)],
    "complex numbers": [complex(n, -0.0) for n in range(N)],
    "fractions": [Fraction(n, 1 << 80) for n in range(N)],
    "identifiers": [UUID(int=n) for n in range(N)],
    "paths": [PurePosixPath(f"/data/{n}") for n in range(N)],
    "addresses": [IPv6Address(n << 64) for n in range(N)],
    "map of networks": {n: IPv4Network(n << 8) for n in range(5000)},
    "scalars of two types": [np.float32(n) if n % 2 else np.float64(n) for n in range(5000)],
    "dataclasses of two": [Point(n, 1) if n % 2 else Pair("a", n) for n in range(5000)],
    "decimals and none": [None, *map(Decimal, range(5000))],
    "paths of two": [(PurePosixPath, PureWindowsPath)[n % 2](f"{n}") for n in range(5000)],
    "moments in a fold": [datetime(2024, 10, 27, 2, fold=n % 2) for n in range(6000)],
    "times of a day": [(DAY + timedelta(seconds=n)).time() for n in range(5000)],
    "times in a zone": [time(n % 24, fold=n % 2, tzinfo=BERLIN) for n in range(5000)],
    "addresses of four bytes": [*map(IPv4Address, (0, 2**32 - 1, *range(5000)))],
    "members of one more enum than are known": [None, *list(Numbered)[:150]] * 99,
    "in an object": [Run(), (WALK, np.arange(9))],
    "maps of several keys": [{f"{n % 2}": n} for n in range(2 * N)],
    "moments and none in maps": [{"n": n, "at": DAY if n % 3 else None} for n in range(N)],
    "tuples and none": [(n % 5 and (n, f"{n}")) or None for n in range(N)],
    "lists and none": [(n % 5 and [n, n / 8]) or None for n in range(N)],
    "objects with attributes": [things.Plain(n=n, at=DAY) for n in range(5000)],
    "objects with others": [things.Plain(n=n, at=things.Plain(x=1.5)) for n in range(5000)],
    "objects of several attributes": [
        things.Plain(n=n) if n % 9 else things.Plain(n=n, m=n) for n in range(5000)
    ],
    "objects with slots and none": [None, *map(things.Slotted, range(5000))],
    "map of objects with attributes": {n: things.Plain(n=n) for n in range(5000)},
}
#: Each is written value by value, for some reason.
OTHERS: dict[str, Any] = {
    "large integers": [1 << 70, *range(1 << 34, (1 << 34) + N)],
    "large and negative": [(1 << 64) - 1, -1, *range(1 << 34, (1 << 34) + N)],
    "long durations": [timedelta.max] * 9000,
    "moments of two zones": [
        datetime(2024, 1, 1, tzinfo=UTC if n % 2 else BERLIN) for n in range(6000)
    ],
    "texts": [f"text {n}" for n in range(N)],
    "maps of texts": [{"a": f"text {n}", "b": None} for n in range(N)],
    "keys that equal others": [{True if n % 2 else 1: n} for n in range(N)],
    "members that differ": [(Numbered(1),), ([*Numbered],)],
    "members in few": [[things.Colour.RED] * 200, [None] * 200],
    "identifiers made safely": [
        UUID(int=n, is_safe=SafeUUID.safe if n % 2 else SafeUUID.unknown) for n in range(5000)
    ],
    "wider than long": [[*["text"] * 2000, 1.5]] * 20,
    "without an item": [[]] * 150_000,
}


@pytest.mark.parametrize("name", [*VALUES, *OTHERS])
def test_they_come_back(name: str) -> None:
    value = {**VALUES, **OTHERS}[name]
    data = serialpack.dumps(value, "objects", verify=False)
    assert difference(value, serialpack.loads(data)) is None
    assert written([value], beside=True).made == (name in VALUES)


@pytest.mark.parametrize("name", ["integers", "floats", "some are none", "moments", "maps", "set"])
def test_auto_takes_them_and_they_are_small(name: str) -> None:
    """A list of integers was 1.7 times as large as joblib makes it."""
    packed, plain = serialpack.dumps(VALUES[name]), serialpack.dumps(VALUES[name], "pickle:5")
    assert len(packed) < len(plain) * 0.7
    assert difference(VALUES[name], serialpack.loads(packed)) is None


def test_they_are_mapped_and_compressed_by_nobody(tmp_path: Path) -> None:
    value = VALUES["in a tuple between others"]
    for chain in ("auto", "auto+none"):
        serialpack.dump(value, tmp_path / "a.spk", chain, force=True)
        for mode in (None, "r", "c"):
            found = serialpack.load(tmp_path / "a.spk", mmap_mode=mode)
            assert difference(value, found) is None


def test_few_stay_what_any_reader_of_message_pack_reads() -> None:
    for value in ([*range(9000)], {"a": [1.5] * 200, "b": ["text"] * 40_000}):
        packed = serialpack.dumps(value)
        assert serialpack.inspect(io.BytesIO(packed)).members[0].chain.serializer.name == "msgpack"


def test_arrays_before_and_behind_them_stay_one() -> None:
    """They were counted in another order than they are read in, which only pickle did not mind."""
    array = np.arange(3)
    rows = [(array, n) for n in range(300)]
    for value in (
        {"array": array, "rows": rows},
        [(array, WALK), {"rows": rows, "walk": WALK}, array],
    ):
        again = serialpack.loads(serialpack.dumps(value))
        assert difference(value, again, identity=False) is None
    assert again[0][0] is again[2] is again[1]["rows"][0][0]


def test_what_holds_itself_is_looked_at_to_an_end() -> None:
    value: list[Any] = [WALK]
    value += [value, (value,)]
    with pytest.raises(serialpack.SerialpackError, match="holds itself"):
        serialpack.dumps(value, "objects")


def test_beside_bytearrays_what_is_together_is_no_named_tuple() -> None:
    maps = {n: {f"{n} {m}": m for m in range(256)} for n in range(256)}
    value = [bytearray(b"x"), maps]
    assert difference(value, serialpack.loads(serialpack.dumps(value, "objects"))) is None


def test_people_see_them() -> None:
    held: dict[str, Any] = {"rows": ROWS, "walk": (1, tuple(range(0, N << 34, 1 << 34)))}
    held["points"] = [Point(n, "") for n in range(N)]
    (member,) = serialpack.inspect(io.BytesIO(serialpack.dumps(held))).members
    assert member.holds["points"]["Point"][0]["x"] == f"numbers, <u2, {N}, C order"
    assert member.holds["rows"]["id"] == f"numbers, <u2, {N}, C order"
    assert member.holds["walk"] == [1, f"numbers, <i8, {N}, C order"]


def test_what_nobody_proves_has_them_too() -> None:
    serializer: Any = SERIALIZERS.create("objects")
    message, buffers = serializer.message({"walk": WALK, "rows": ROWS})
    assert buffers

    def over(buffer: Any, descr: str, shape: list[int], *_: Any) -> Any:
        return np.ndarray(shape, descr.strip("'"), buffer)

    assert load_over(message, buffers, over) == [{"walk": WALK, "rows": ROWS}]


def _array(kind: str, items: bytes, shape: list[int]) -> msgpack.ExtType:
    return msgpack.ExtType(18, msgpack.packb([items, repr(kind), shape, False, True]))


TWO = _array("<i8", struct.pack("<2q", 1, 2), [2])
PLACES = _array("|u1", b"\0\1", [2])
LATE = _array("<M8[us]", struct.pack("<q", 1 << 62), [1])
DAYS = _array("<M8[D]", struct.pack("<q", 0), [1])
POINT = "tests.fidelity.things", "Point"
PLAIN = "tests.fidelity.things", "Plain"
ZONE = msgpack.ExtType(38, msgpack.packb([0, 0]))


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        (55, []),
        (55, [[1, 2]]),
        (55, [TWO, ZONE]),
        (55, [DAYS, ZONE]),
        (55, [LATE]),
        (55, [_array("<M8[us]", struct.pack("<q", -1 << 63), [1])]),
        (55, [_array("<M8[ns]", struct.pack("<q", 1), [1])]),
        (55, [_array("|b1", b"\1", [1])]),
        (55, [_array(">i8", bytes(8), [1])]),
        (55, [_array("<f4", bytes(4), [1])]),
        (55, [_array("<i8", b"", [1 << 40, 0])]),
        (55, [_array("<i8", bytes(8), [])]),
        (55, [TWO, None, [0]]),
        (55, [TWO, None, [0], ["a", "b"]]),
        (55, [TWO, None, [4], ["a"]]),
        (55, [TWO, None, [1, 0], ["a", "b"]]),
        (55, [TWO, None, [-1], ["a"]]),
        (55, [TWO, None, [1.0], ["a"]]),
        (55, [TWO, None, [], []]),
        (55, [_array("<i8", bytes(16), [2, 1]), None, [0], ["a"]]),
        (56, []),
        (56, [None]),
        (56, [None, [1], [1, 2]]),
        (56, [None, "ab"]),
        (56, ["list", [1]]),
        (56, [["a"], [1], [2]]),
        (56, [["a", "a"], [1], [2]]),
        (56, [["a", "b"], [1]]),
        (56, [[1], [1]]),
        (56, [{"a": 1}, [1]]),
        (56, ["lists"]),
        (56, ["lists", [1]]),
        (56, ["lists", [1], ["a", "b"]]),
        (56, ["lists", [2, -1], ["a"]]),
        (56, ["lists", [1.0], ["a"]]),
        (56, ["lists", [1], ["a"], ["b"]]),
        (58, []),
        (58, [16, "tests.fidelity.things", "Point"]),
        (58, [14, *POINT, [["RED"]]]),
        (58, [1.0, *POINT, []]),
        (58, [16, "tests.fidelity.things", 1, []]),
        (58, [16, *POINT, {"a": 1}]),
        (58, [16, *POINT, [{"x": 1, "y": 2}]]),
        (58, [16, *POINT, [[{"x": 1, "z": 2}]]]),
        (58, [16, *POINT, [[]]]),
        (58, [29, *POINT, [[1, 2]]]),
        (58, [51, *PLAIN]),
        (58, [51, *PLAIN, [[{"x": 1}, 2]]]),
        (58, [51, *PLAIN, [[1]]]),
        (58, [51, *PLAIN, [[{1: 2}]]]),
        (58, [51, "tests.fidelity.things", "Colour", [[None]]]),
        (59, []),
        (59, [[1]]),
        (59, [DAYS]),
        (59, [_array("<f8", bytes(16), [2, 1])]),
        (59, [TWO, None]),
        (60, []),
        (60, [[0], ["a"]]),
        (60, [TWO, ["a", "b", "c"]]),
        (60, [PLACES, ["a"]]),
        (60, [PLACES, {0: "a", 1: "b"}]),
        (61, []),
        (61, [6]),
        (61, [7, "1"]),
        (61, [7.0, ["1"]]),
        (61, [7, ["x"]]),
        (61, [10, ["2024-01-01"]]),
        (61, [6, [1.0], [1.0, 2.0]]),
        (61, [6, [1.0], "1"]),
        (61, [6, None, [1.0]]),
        (61, [14, "NoPath", ["a"]]),
        (61, [11, ["12:00:00"], [2]]),
        (61, [12, ["2024-01-01T00:00:00"], [0], [1.5]]),
        (61, [41, "IPv4Address", [1 << 32]]),
        (61, [41, "IPv4Address", [1.0]]),
        (61, [41, "IPv6Address", [1]]),
        (61, [14, ["PosixPath"] * 2, ["a"]]),
        (62, []),
        (62, [PLACES]),
        (62, [PLACES, ["a"]]),
        (62, [PLACES, ["a"], ["b"], ["c"]]),
        (62, [PLACES, ["a", "b"], []]),
        (62, [PLACES, ["a"], "b"]),
        (62, [[0, 1], ["a"], ["b"]]),
        (62, [TWO, ["a"], ["b"]]),
        (62, [_array("|u1", b"\0\1", [2, 1]), ["a"], ["b"]]),
        (63, []),
        (63, [[[1.0]]]),
        (63, [TWO]),
        (63, [_array("<f8", b"", [2, 0])]),
        (63, [_array("|S1", b"ab", [2, 1])]),
        (63, [_array("<f8", bytes(16), [2, 1]), 1]),
        (57, [[1]]),
        (57, [[1, 1], [1, 2]]),
        (57, [[1], [1, 2]]),
        (57, [[[1]], [1]]),
        (57, ["a", [1]]),
    ],
)
def test_stored_bytes_that_lie_are_one_error(code: int, parts: list[Any]) -> None:
    with pytest.raises(DamagedError):
        serialpack.loads(made_of(msgpack.ExtType(code, msgpack.packb(parts))))


def test_a_member_of_an_enum_is_written_and_read_once() -> None:
    """Each took as long as any object of an own class; pickle writes them once, too."""
    value = [things.Colour.RED, things.Level.LOW, (things.Colour.RED,)] * 100
    inside = 0

    def count(frame: Any, event: str, _argument: Any) -> None:
        nonlocal inside
        inside += event == "call" and frame.f_code.co_name in ("_inside", "_of_class")

    sys.setprofile(count)
    try:
        again = serialpack.loads(serialpack.dumps(value, "objects", verify=False))
    finally:
        sys.setprofile(None)
    assert again == value
    assert inside == 100 + 2 + 2  # the tuples, and each member either way


@pytest.mark.parametrize(
    "value",
    [
        [(1 << 90) + n for n in range(20_000)],
        [Decimal(n) / 8 if n % 7 else None for n in range(20_000)],
        [(1, 2)] * 300 + [{n} for n in range(20_000)],
    ],
    ids=["integers of no array", "with None", "behind tuples"],
)
def test_what_is_together_with_nothing_takes_few_calls(value: list[Any]) -> None:
    """20 to 70: integers that no array holds were written thrice, numbers were looked for in each
    set, and each decimal had what writes messages within it."""
    calls = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        written([value], beside=True)
    finally:
        sys.setprofile(None)
    assert calls < 18 * len(value)
