"""pickle, marshal and cloudpickle: what they keep, what they refuse, and who may undo them."""

from __future__ import annotations

import gc
import io
import marshal
import pickle
import sqlite3
import struct
import sys
import threading
import types
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import serialpack
from serialpack.errors import (
    DamagedError,
    RefusedError,
    UnsupportedError,
    UsageError,
    ValueRefusedError,
)
from serialpack.formats.shared.document import Malformed
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import FAILURES, RecordSerializer
from tests.fidelity import things

UNSAFE = [
    *(f"pickle:{n}" for n in range(6)),
    *(f"marshal:{n}" for n in range(5)),
    "cloudpickle",
]
PICKLES = [name for name in UNSAFE if "pickle" in name]


def _create(spelling: str) -> RecordSerializer:
    name, _, number = spelling.partition(":")
    serializer = SERIALIZERS.create(name, (int(number),) if number else ())
    assert isinstance(serializer, RecordSerializer)
    return serializer


def _through(value: Any, chain: str) -> Any:
    return serialpack.loads(serialpack.dumps(value, chain), trust=True)


@pytest.mark.parametrize("chain", UNSAFE)
def test_only_who_trusts_them_loads_them(chain: str) -> None:
    data = serialpack.dumps({"a": [1]}, chain)
    with pytest.raises(RefusedError, match=r"can run any code.*trust=True"):
        serialpack.loads(data)
    assert serialpack.loads(data, trust=True) == {"a": [1]}


def test_declarations() -> None:
    for name in ("pickle", "marshal", "cloudpickle"):
        cls = SERIALIZERS.cls(name)
        assert (cls.safe, cls.portable, cls.text, cls.compiled) == (False, False, False, False)
    assert _create("pickle").identity
    assert [_create(f"marshal:{n}").identity for n in range(5)] == [False] * 3 + [True] * 2


@pytest.mark.parametrize("protocol", range(6))
def test_what_is_stored_are_pickles_of_that_protocol(protocol: int) -> None:
    serializer = _create(f"pickle:{protocol}")
    data = serializer.dump([{"a": 1}, [2]])
    assert data == pickle.dumps({"a": 1}, protocol) + pickle.dumps([2], protocol)
    file = io.BytesIO(data)
    assert [pickle.load(file), pickle.load(file)] == [{"a": 1}, [2]]


@pytest.mark.parametrize("spelling", UNSAFE)
@pytest.mark.parametrize("more", [b"\xff", b"xyz\n", b"(", b"[", b"\x80\x09."])
def test_trailing_rubbish_is_refused(spelling: str, more: bytes) -> None:
    serializer = _create(spelling)
    data = serializer.dump([{"a": "text"}])
    for bad in (data + more, data * 2 + more, data[:-1]):
        with pytest.raises(Malformed):
            serializer.load(bad)


@pytest.mark.parametrize("chain", [*PICKLES, "marshal:3", "marshal:4"])
def test_cycles_and_shared_references_are_kept(chain: str) -> None:
    inner = [1]
    cycle: dict[str, Any] = {"a": inner, "b": inner}
    cycle["self"] = [cycle]
    back = _through(cycle, chain)
    assert back["a"] is back["b"]
    assert back["self"][0] is back


@pytest.mark.parametrize("version", [0, 1, 2])
def test_old_marshal_refuses_cycles_and_copies_what_is_shared(version: int) -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(ValueRefusedError):
        serialpack.dumps(cycle, f"marshal:{version}")
    inner = [1]
    assert _through([inner, inner], f"marshal:{version}") == [[1], [1]]


#: A NaN with bits of its own.
_NAN = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000001))[0]

SILENT: list[tuple[str, Any, str]] = [
    # What is lost with no word, and found by the proof.
    ("pickle:0", _NAN, "NaN with bits"),
    ("pickle:3", datetime(2023, 10, 29, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Vienna")), "zone"),
    ("pickle", things.Forgetful(), "lost"),
    ("cloudpickle", memoryview(b"abc"), "a memoryview"),
    ("marshal", bytearray(b"abc"), "bytearray"),
    ("marshal", np.arange(3), "array or scalar of NumPy"),
    ("marshal", np.float64(1.5), "array or scalar of NumPy"),
    ("marshal:1", _NAN, "NaN with bits"),
]


@pytest.mark.parametrize(("chain", "value", "words"), SILENT)
def test_nothing_changes_silently(chain: str, value: Any, words: str) -> None:
    with pytest.raises(ValueRefusedError, match=words):
        serialpack.dumps({"a": value}, chain)


def _read_only() -> Any:
    array = np.arange(4)
    array.setflags(write=False)
    return array


def _caught() -> Exception:
    try:
        raise ValueError("a")
    except ValueError as error:
        return error


@pytest.mark.parametrize(
    ("chain", "make"),
    [("pickle:4", _read_only), ("pickle", _caught)],
    ids=["a read-only array", "a traceback"],
)
def test_what_else_pickle_drops(chain: str, make: Any) -> None:
    with pytest.raises(ValueRefusedError):
        serialpack.dumps(make(), chain)
    assert not _through(_read_only(), "pickle:5").flags.writeable


@pytest.mark.parametrize("protocol", range(6))
def test_what_pickle_keeps_in_every_protocol(protocol: int) -> None:
    for value in (
        *(-0.0, 5e-324, float("inf"), "\ud800\\u0041\n\r\0\x1a", "", b"", bytes(range(256))),
        *(bytearray(b"x"), 1 << 2000, -1, {1, 2}, frozenset("a"), 1.5 - 0j, (), ((1,),)),
        *(things.Text("a"), things.Number(7), things.Pair(1, 2), things.Level.LOW, ...),
        *(things.Point(1, 2.0, ["a"]), things.Plain(a=[1]), things.Keyed(a=1), range(3)),
    ):
        back = _through({"v": value}, f"pickle:{protocol}")["v"]
        assert type(back) is type(value)
        assert serialpack.dumps(back, "pickle:5") == serialpack.dumps(value, "pickle:5") or (
            repr(back) == repr(value) or vars(back) == vars(value)
        )


def test_large_buffers_are_copied_once() -> None:
    """A pickle of them is they and a little around them; more than that a copy does not take."""
    array = np.zeros(1 << 22)
    data = _create("pickle").dump([array])
    assert len(data) < array.nbytes + 500
    (back,) = _create("pickle").load(memoryview(data))
    assert back.flags.owndata or back.base is not None
    assert np.array_equal(back, array)


def test_a_class_that_is_gone_or_has_changed_gets_one_line() -> None:
    module = types.ModuleType("for_a_moment")
    exec("class Point:\n def __init__(self, x): self.x = x\n", vars(module))
    vars(module)["Point"].__module__ = "for_a_moment"
    sys.modules["for_a_moment"] = module
    try:
        data = serialpack.dumps(vars(module)["Point"](1), "pickle")
        exec("class Point:\n def __setstate__(self, state): raise KeyError('x')\n", vars(module))
        with pytest.raises(DamagedError, match=r"KeyError: 'x' \(it needs for_a_moment.Point"):
            serialpack.loads(data, trust=True)
        del vars(module)["Point"]
        with pytest.raises(DamagedError, match=r"needs the class for_a_moment.Point, which is not"):
            serialpack.loads(data, trust=True)
    finally:
        del sys.modules["for_a_moment"]
    with pytest.raises(DamagedError, match="which is not here") as caught:
        serialpack.loads(data, trust=True)
    assert "\n" not in str(caught.value)


class Odd:
    """Raises what nobody expects, in one method or another."""

    def __init__(self, error: BaseException, *, late: bool) -> None:
        self.error = error
        self.late = late

    def __reduce__(self) -> Any:
        if not self.late:
            raise self.error
        return (_throw, (type(self.error),))


def _throw(error: type[BaseException]) -> None:
    raise error("thrown")


@pytest.mark.parametrize(
    "error", [KeyError, ZeroDivisionError, AssertionError, SystemExit, OSError]
)
def test_whatever_classes_raise_is_a_failure(error: type[BaseException]) -> None:
    for name in ("pickle", "cloudpickle"):
        serializer = _create(name)
        if issubclass(error, Exception):
            with pytest.raises(FAILURES):
                serializer.dump([Odd(error("thrown"), late=False)])
        data = serializer.dump([Odd(error("thrown"), late=True)])
        with pytest.raises(Malformed, match=f"{error.__name__}: .*thrown"):
            serializer.load(data)
        with pytest.raises(Malformed, match=f"{error.__name__}: .*thrown"):
            serializer.reload_object([data])


def test_an_interrupt_is_none() -> None:
    data = _create("pickle").dump([Odd(KeyboardInterrupt(), late=True)])
    with pytest.raises(KeyboardInterrupt):
        _create("pickle").load(data)


def test_cloudpickle_is_tried_only_where_pickle_refuses() -> None:
    pytest.importorskip("cloudpickle")
    serializer = _create("cloudpickle")
    plain = {"a": things.Point(1, 2.0)}
    assert serializer.dump([plain]) == pickle.dumps(plain, 5)
    assert b"cloudpickle" in serializer.dump([plain, lambda: 1])


def test_cloudpickle_keeps_functions_by_value() -> None:
    pytest.importorskip("cloudpickle")
    factor = 3

    def scaled(value: int, *, by: int = 2) -> int:
        return value * by * factor * len(CONSTANT)

    back = _through({"f": [scaled, scaled]}, "cloudpickle")["f"]
    assert back[0] is back[1]
    assert back[0] is not scaled
    assert back[0](5) == scaled(5) == 60

    class Local:
        def __init__(self) -> None:
            self.x = 1

    assert _through(Local(), "cloudpickle").x == 1
    with pytest.raises(ValueRefusedError, match="an object of a class"):
        serialpack.dumps([(n for n in CONSTANT)], "cloudpickle")


CONSTANT = (1, 2)


def test_pickle_refuses_what_has_no_name() -> None:
    with pytest.raises(ValueRefusedError, match="a function or a class") as caught:
        serialpack.dumps({"f": [lambda: 1]}, "pickle")
    assert caught.value.value_path == "$.f[0]"


def test_marshal_keeps_code() -> None:
    code = compile("x = [n * 1.5 for n in range(3)]", "a file", "exec")
    back = _through(code, "marshal")
    assert back == code
    assert back.co_filename == "a file"
    scope: dict[str, Any] = {}
    exec(back, scope)
    assert scope["x"] == [0.0, 1.5, 3.0]


def test_marshal_names_its_python() -> None:
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    cls = SERIALIZERS.cls("marshal")
    assert cls.settings({}) == {"python": here}
    with pytest.raises(UsageError):
        cls.settings({"schema": "x"})
    serializer = _create("marshal")
    serializer.configure({"python": here})
    for settings in ({"python": "2.7"}, {"python": None}, {}):
        with pytest.raises(UnsupportedError, match="unpack it with that version"):
            serializer.configure(settings)


def test_marshal_of_another_python_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import serialpack.serializers.marshal as module
    from serialpack.pipeline import writers

    monkeypatch.setattr(module, "_HERE", "3.99")
    monkeypatch.setattr(
        writers, "_kept", writers._KeptWriters()
    )  # what other tests left knows another
    packed, data = io.BytesIO(), serialpack.dumps([1], "marshal")
    serialpack.pack(io.BytesIO(b"[1]"), packed, serializer="marshal", format="json", threads=1)
    monkeypatch.undo()
    with pytest.raises(UnsupportedError, match=r"Python 3.99 cannot be read by Python 3"):
        serialpack.loads(data, trust=True)
    packed.seek(0)
    with pytest.raises(UnsupportedError, match=r"Python 3.99") as caught:
        serialpack.unpack(packed, io.BytesIO(), trust=True)
    assert caught.value.exit_code == 3


def test_one_object_of_marshal_is_told_from_two() -> None:
    """Also where the second is what ends the first in the quick way of loading."""
    serializer = _create("marshal")
    for records in ([[1]], [[1], b"x" * 16], [b"", b""], [None] * 3, []):
        assert serializer.load(serializer.dump(records)) == records


def test_marshal_says_depth() -> None:
    deep: Any = 1
    for _ in range(3000):
        deep = [deep]
    with pytest.raises(RecursionError):
        _create("marshal").dump([deep])
    assert marshal.version >= 4


def test_loading_leaves_the_collector_alone() -> None:
    assert gc.isenabled()
    _through([1], "pickle")
    assert gc.isenabled()


def test_a_source_is_packed_and_unpacked(tmp_path: Path) -> None:
    source = tmp_path / "a.ndjson"
    source.write_text('{"a": 1, "b": [null, 1.5]}\n{"a": 2}\n')
    for spelling in UNSAFE:
        packed, back = tmp_path / "a.spk", tmp_path / "back"
        report = serialpack.pack(source, packed, serializer=spelling, force=True)
        assert (report.exact, report.records) == (True, 2)
        with pytest.raises(RefusedError):
            serialpack.unpack(packed, back)
        assert not back.exists()
        serialpack.unpack(packed, back, trust=True)
        assert back.read_bytes() == source.read_bytes()
        back.unlink()


def test_what_nobody_holds_is_said_of_nobody() -> None:
    """cloudpickle was said to hold some locks and connections."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for value in (threading.Lock(), {"a": [connection]}, threading.Thread()):
            for chain in ("auto", "pickle"):
                with pytest.raises(ValueRefusedError) as caught:
                    serialpack.dumps(value, chain)
                assert caught.value.hint == "no serializer here can"
    with pytest.raises(ValueRefusedError) as caught:
        serialpack.dumps((n for n in range(3)), "pickle")
    assert caught.value.hint == "list(it) can be held"


@pytest.mark.parametrize("chain", ["pickle", "cloudpickle"])
def test_what_is_written_and_not_read_is_no_matter_of_who_writes(
    chain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hint was cloudpickle, which writes it as pickle does.

    Its class is made here: Dask, where some test imports it, lets pickle make all exceptions again
    whose classes are there by then.
    """

    class TwoWords(Exception):
        """Tells pickle one of the two arguments that it takes."""

        def __init__(self, one: str, other: str) -> None:
            super().__init__(f"{one} {other}")

    TwoWords.__qualname__ = "TwoWords"
    monkeypatch.setattr(sys.modules[__name__], "TwoWords", TwoWords, raising=False)
    with pytest.raises(ValueRefusedError, match=r"became an error .*'other'") as caught:
        serialpack.dumps([TwoWords("a", "b")], chain)
    assert caught.value.value_path == "$[0]"
    assert caught.value.hint == "its class tells pickle how to make it again, and that fails"
