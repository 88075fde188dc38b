"""The serializer objects: what comes back without pickle, and what stored bytes can never do."""

from __future__ import annotations

import dataclasses
import doctest
import enum
import io
import sys
import tracemalloc
import warnings
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any
from zoneinfo import ZoneInfo

import msgpack
import numpy as np
import pytest

import serialpack
from serialpack.container.small import Small
from serialpack.errors import DamagedError, SerialpackError, UnsupportedError
from serialpack.objects import dumping, lazy, loading
from serialpack.pipeline.small import expand
from serialpack.records import sequence
from serialpack.serializers import SERIALIZERS, one_object
from serialpack.values.equality import difference
from tests.fidelity import things

MEGABYTE = 1 << 20

ARRAYS: dict[str, Any] = {
    "integers": np.arange(10),
    "big-endian": np.arange(10, dtype=">i2"),
    "fortran": np.arange(12.0).reshape(3, 4).T,
    "every-second": np.arange(10)[::2],
    "backwards": np.arange(10)[::-1],
    "backwards in both": np.arange(12.0).reshape(3, 4)[::-1, ::-2],
    "a field of records": np.zeros(3, [("a", "<i4"), ("b", "<f8")])["b"],
    "read-only": np.broadcast_to(np.float32(1.5), (3, 2)),
    "signalling": np.array([0x7F800001, 0xFFC12345], "<u4").view("<f4"),
    "scalar-shape": np.array(3),
    "empty": np.zeros((0, 3)),
    "booleans": np.array([True, False]),
    "complex": np.array([1j, 2]),
    "texts": np.array(["a", "bcd"]),
    "bytes": np.array([b"a", b""]),
    "weightless": np.zeros(3, "S0"),
    "times": np.array(["2020-01-01", "NaT"], "M8[D]"),
    "records": np.array([(1, [2.0, 3.0])], [("a", "<i4"), ("b", "<f8", (2,))]),
    "nan": np.frombuffer(b"\1\0\0\0\0\0\xf8\x7f"),
    "scalar": np.float32(1.5),
    "large": np.arange(MEGABYTE // 8),
}
OWN: dict[str, Any] = {
    "tuple": (1, (2, [3])),
    "sets": [{1}, frozenset({"a"})],
    "keys": {(1, "a"): 2, 3: 4, date(2001, 1, 1): 5},
    "integer": -(1 << 70),
    "dataclass": things.Point(1, 2.5, ["a"]),
    "frozen": things.Frozen("a"),
    "enums": [things.Colour.RED, things.Level.LOW],
    "flags": [things.Rights.READ, ~things.Rights.READ & things.Rights(3), things.Rights(3)],
    "no-flag": [things.Rights(0), things.Bits(0), things.Bits.LOW | 64],
    "named": {"a": things.Pair(1, (2, things.Pair([], None)))},
    "path": PurePosixPath("a/b"),
    "here": Path(),
    "offset": datetime(2020, 1, 1, 5, tzinfo=timezone(timedelta(hours=-3, microseconds=5))),
    "zoned": [
        datetime(2020, 10, 25, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin")),
        time(1, tzinfo=ZoneInfo("UTC")),
    ],
    "utc": datetime(2020, 1, 1, fold=1, tzinfo=UTC),
    "ranges": [range(5, 1, -2), range(1 << 70), slice(None), slice(1, (2,), "x")],
    "collections": [
        OrderedDict(b=1, a=deque([Counter("abca")], 3)),
        defaultdict(list, a=[(1, 2)]),
        defaultdict(None, {3: deque()}),
    ],
    "decimal": [Decimal("1.50"), Decimal("NaN")],
    "arrays": {"weights": [np.arange(3), np.ones(40_000)], "name": ("x",)},
}


@pytest.fixture(autouse=True)
def _no_warning() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("name", ARRAYS | OWN)
@pytest.mark.parametrize("chain", ["auto", "objects+none"])
def test_what_needs_no_pickle_comes_back_without_trust(chain: str, name: str) -> None:
    """``dumps(numpy.arange(10))`` was refused."""
    value = (ARRAYS | OWN)[name]
    again = serialpack.loads(serialpack.dumps(value, chain))
    assert difference(value, again) is None


def test_what_only_pickle_holds_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumping, "_warned", type(dumping._warned)())
    value = [1, things.function]
    with pytest.warns(serialpack.PickleWarning, match=r"\$\[1\]") as told:
        data = serialpack.dumps(value)
    assert told[0].filename == __file__
    again = serialpack.dumps(value)  # no warning, which would be an error here
    for packed in (data, again, serialpack.dumps(value, "pickle")):
        with pytest.raises(serialpack.RefusedError, match="trust=True"):
            serialpack.loads(packed)
        assert serialpack.loads(packed, trust=True)[1] is things.function


def test_it_is_told_where_dump_was_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumping, "_warned", type(dumping._warned)())
    with pytest.warns(serialpack.PickleWarning) as told:
        serialpack.dump(things.function, tmp_path / "a.spk")
    assert told[0].filename == __file__


def test_an_array_in_a_file_is_dumped_as_its_items(tmp_path: Path) -> None:
    """What ``load(..., mmap_mode="r")`` gave could not be dumped again."""
    serialpack.dump(np.arange(20_000), tmp_path / "a.spk", "auto+none")
    mapped = serialpack.load(tmp_path / "a.spk", mmap_mode="r")
    assert type(mapped) is np.memmap
    again = serialpack.loads(serialpack.dumps({"a": mapped[5:]}))["a"]
    assert type(again) is np.ndarray
    assert again.tolist() == list(range(5, 20_000))


def test_words_in_a_type_are_kept() -> None:
    """They were dropped: a type with ``metadata`` is equal to the one without."""
    inner = np.dtype("f8", metadata={"unit": "m"})
    value = np.zeros(2, [("x", inner)])
    assert serialpack.loads(serialpack.dumps(value)).dtype["x"].metadata == {"unit": "m"}


def test_what_nobody_holds_is_refused_with_its_path() -> None:
    with pytest.raises(serialpack.ValueRefusedError, match=r"^\$\.f: pickle cannot hold a func"):
        serialpack.dumps({"a": np.arange(3), "f": lambda: 1})


def _message(code: int, *parts: Any) -> Any:
    return msgpack.ExtType(code, msgpack.packb(list(parts)))


def made_of(value: Any) -> bytes:
    """A small form whose object is a message of anything."""
    data = msgpack.packb(value)
    return Small(((60,), (0,)), 0, len(data), {}, data).encode()


def _nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = _message(2, value)
    return value


BAD = {
    "no-such-type": _message(99, 1),
    "no-parts": msgpack.ExtType(2, b"\xc0"),
    "two-messages": msgpack.ExtType(2, b"\x90\x90"),
    "too-few": _message(6, 1.0),
    "set-of-lists": _message(3, [1]),
    "list-as-key": {"a": _message(15, "tests.fidelity.things", "Point", "x")},
    "no-dataclass": _message(16, "subprocess", "Popen", {"args": "true"}),
    "no-flag": _message(15, "tests.fidelity.things", "Colour", 1),
    "no-such-bits": _message(15, "tests.fidelity.things", "Rights", 64),
    "no-named-tuple": _message(29, "tests.fidelity.things", "Point", 1, 2, 3),
    "too-few-names": _message(29, "tests.fidelity.things", "Pair", 1),
    "key-without-fields": _message(4, _message(16, "tests.fidelity.things", "Frozen", {})),
    "map-key-without-fields": {_message(16, "tests.fidelity.things", "Frozen", {}): 1},
    "no-field": _message(16, "tests.fidelity.things", "Point", {"__class__": 1}),
    "a-function": _message(16, "tests.fidelity.things", "function", {}),
    "objects": _message(18, b"12345678", "'|O'", [1], False, True),
    "hidden-objects": _message(18, b"12345678", "[('a', '|O')]", [1], False, True),
    "a-call": _message(18, b"", "__import__('os').abort()", [0], False, True),
    "deep-type": _message(18, b"", "[" * 9999, [0], False, True),
    "too-large": _message(18, b"12345678", "'<f8'", [1 << 62, 1 << 62], False, True),
    "overflow": _message(18, b"", "'<f8'", [1 << 62, 0, 1 << 62], False, True),
    "negative": _message(18, b"", "'<f8'", [-1, 0], False, True),
    "no-buffer": _message(18, None, "'<f8'", [1], False, True),
    "scalar-of-nothing": _message(19, b"", "'<f8'"),
    "too-deep": _nested(600),
    "no-range": _message(23, "a", 2, 1),
    "standing-still": _message(23, 1, 2, 0),
    "half-a-slice": _message(24, 1, 2),
    "text-of-bytes": _message(5, "a", "no encoding"),
    "as-many-bytes": _message(5, 1 << 62),
    "as-many-bytes-of-an-array": _message(18, 1 << 62, "'<f8'", [1 << 59], False, True),
    "as-many-bytes-of-a-scalar": _message(19, 1 << 62, "'<f8'"),
    "lines": _message(28, "a\nb", {}),
    "no-decimal": _message(7, "x"),
    "nothing-of-nothing": _message(8, 0, 0),
    "no-uuid": _message(9, "x"),
    "no-offset": _message(12, "2020-01-01", 1, {}),
    "no-zone": _message(12, "2020-01-01", 1, "Nowhere/At all"),
    "zone-elsewhere": _message(12, "2020-01-01", 1, "../../../etc/passwd"),
    "half-an-offset": _message(12, "2020-01-01", 1, 2),
    "half-a-class": _message(16, "tests"),
    "numbered-class": _message(16, "tests", 1, {}),
    "half-a-scalar": _message(19),
    "half-a-frame": _message(21, 1),
    "no-map": _message(25, [["a", 1]]),
    "no-length": _message(26, "a", 1),
    "letters": _message(27, "abc"),
    "another-call": _message(28, "print", {}),
}


@pytest.mark.parametrize("name", BAD)
def test_stored_bytes_that_lie_are_one_error(name: str) -> None:
    with pytest.raises(SerialpackError) as caught:
        serialpack.loads(made_of(BAD[name]))
    assert isinstance(caught.value, DamagedError | UnsupportedError)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", BAD)
def test_inspect_tells_less_of_bytes_that_lie(name: str) -> None:
    """It ended with IndexError, SyntaxError and others once."""
    (member,) = serialpack.inspect(io.BytesIO(expand(made_of(BAD[name])))).members
    assert member.format == "object"


class Based:
    """Has a slot beside the fields of what is made of it."""

    __slots__ = ("beside",)


@dataclasses.dataclass(slots=True)
class Slotted(Based):
    x: int = 1


@dataclasses.dataclass
class Numbers(list[int]):
    x: int = 1


@dataclasses.dataclass
class Unset:
    x: int = dataclasses.field(init=False)


@dataclasses.dataclass(slots=True)
class UnsetSlot:
    y: int
    x: int = dataclasses.field(init=False)


@dataclasses.dataclass
class Guarded:
    x: int


def _put(made: Any, x: int) -> None:
    vars(made)["x"] = x


setattr(Guarded, "x", property(lambda made: vars(made)["x"], _put))  # noqa: B010  # not typed so


class Bits(enum.Flag):
    A = 1
    B = 2


def _beside(value: Any) -> Any:
    value.beside = 2
    return value


MORE = {
    "items": _beside(OrderedDict(a=1)),
    "fields": _beside(things.Point(1, 2.5, ["a"])),
    "slots": _beside(Slotted()),
    "a list": Numbers(),
    "a field behind code": Guarded(1),
}


@pytest.mark.parametrize("name", MORE)
def test_what_is_beside_items_and_fields_is_not_lost(name: str) -> None:
    """Not even where nothing is proved: attributes of a dataclass were left out, and others could
    not be loaded again."""
    value = MORE[name]
    if type(value) is OrderedDict:
        with pytest.raises(serialpack.ValueRefusedError):
            serialpack.dumps(value, "objects", verify=False)
    else:
        again = serialpack.loads(serialpack.dumps(value, "objects", verify=False))
        assert difference(value, again) is None


def test_fields_come_back_without_proof() -> None:
    for value in Slotted(2), things.Point(1, 2.5, []), Bits.A, Bits.A | Bits.B, Bits(0):
        assert serialpack.loads(serialpack.dumps(value, "objects", verify=False)) == value


@pytest.mark.parametrize("value", [Unset(), UnsetSlot(1)], ids=lambda v: type(v).__name__)
def test_a_field_that_was_never_set_is_not_there_again(value: Any) -> None:
    """What is set later by a method of the class needed pickle."""
    again = serialpack.loads(serialpack.dumps([value], "objects"))
    assert difference([value], again) is None
    assert not hasattr(again[0], "x")


def test_no_module_is_imported_and_no_class_is_called() -> None:
    assert "this" not in sys.modules
    with pytest.raises(UnsupportedError, match="import this first"):
        serialpack.loads(made_of(_message(16, "this", "Zen", {})))
    assert "this" not in sys.modules
    found = serialpack.loads(made_of(_message(16, __name__, "Counted", {"x": 1})), trust=False)
    assert (found.x, Counted.calls) == (1, 0)


@dataclasses.dataclass
class Counted:
    """Counts how often it is made by a call."""

    calls = 0
    x: int

    def __post_init__(self) -> None:
        type(self).calls += 1


def test_flipped_bits_of_the_message_never_crash() -> None:
    serializer = SERIALIZERS.create("objects")
    whole = b"".join(serializer.dump_object([ARRAYS["records"]]))  # type: ignore[attr-defined]
    for bit in range(8 * len(whole)):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        data = Small(((60,), (0,)), 0, len(flipped), {}, bytes(flipped)).encode()
        try:
            serialpack.loads(data)
        except SerialpackError:
            continue


def test_large_arrays_are_copied_once(tmp_path: Path) -> None:
    """Into the serialized bytes; the proof and the file need no copy more."""
    value = {"a": np.zeros(16 * MEGABYTE, "u1")}
    tracemalloc.start()
    serialpack.dump(value, tmp_path / "a.spk", "objects+none", threads=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * 16 * MEGABYTE
    again = serialpack.load(tmp_path / "a.spk")["a"]
    assert again.flags.writeable
    assert again.nbytes == 16 * MEGABYTE


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for module, least in ((dumping, 5), (loading, 3), (lazy, 4), (sequence, 4)):
        done = doctest.testmod(module)
        assert (done.failed, done.attempted >= least) == (0, True)


def test_inspect_names_the_chain() -> None:
    file = io.BytesIO(serialpack.dumps(np.arange(10)))
    assert serialpack.inspect(file).members[0].chain.serializer.name == "objects"


@pytest.mark.parametrize("name", ["integers", "fortran", "big-endian", "signalling"])
def test_a_small_array_is_proved_without_a_walk(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its facts and its bytes are written beside those of what came back: to walk through a map of
    one array took as long as all else."""
    monkeypatch.setattr(one_object, "difference", None)
    value = {"a": ARRAYS[name], "b": [1, "text"], "c": (ARRAYS[name], None)}
    again = serialpack.loads(serialpack.dumps(value, "objects"))
    assert again["a"].tobytes() == again["c"][0].tobytes() == ARRAYS[name].tobytes()
    assert again["a"].flags.writeable == ARRAYS[name].flags.writeable
