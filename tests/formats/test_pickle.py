"""Pickles as a source: told by their opcodes, without running them; loaded on trust only."""

from __future__ import annotations

import io
import json
import pickle
import pickletools
import struct
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.depth import MAX_DEPTH
from serialpack.errors import InputError, RefusedError, SyntaxInputError, ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock
from serialpack.formats.python.opcodes import count_pickles
from serialpack.formats.python.pickle import PickleFormat, load_pickles
from serialpack.formats.shared.document import Malformed
from tests.fidelity.values import CASES
from tests.formats.hostile import on_the_command_line, said

FMT = cast(PickleFormat, FORMATS.get("pickle"))

#: Values that one protocol or another does not take.
_NEVER = {"depth", "huge-integer", "number-array", "object"}


class Marker:
    """Its pickle writes to a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.write_text, (self.path, "it ran"))


@pytest.mark.parametrize("protocol", range(6))
def test_real_pickles_are_counted(protocol: int) -> None:
    for case in CASES:
        if case.kind in _NEVER:
            continue
        data = pickle.dumps(case.make(), protocol)
        assert count_pickles(data) == 1, case.name
        assert count_pickles(data * 3) == 3, case.name
        assert count_pickles(pickletools.optimize(data)) == 1, case.name


@pytest.mark.parametrize("protocol", range(6))
def test_nothing_shorter_is_a_pickle(protocol: int) -> None:
    data = pickle.dumps([{"a": 1, "b": (1.5, None)}, "x" * 300, b"y", 1 << 70, {2}], protocol)
    for end in range(1, len(data)):
        with pytest.raises(Malformed):
            count_pickles(data[:end])


@given(st.binary(max_size=40))
def test_any_bytes_are_told(data: bytes) -> None:
    """What the look at opcodes takes for no pickle, the unpickler does not load."""
    bad = None
    try:
        count_pickles(data)
    except Malformed as error:
        bad = error
    if bad is not None:
        assert 0 <= (-1 if bad.at is None else bad.at) <= len(data)
        file = io.BytesIO(data)
        with pytest.raises(Exception):  # noqa: B017, PT011 (whatever the unpickler says)
            while file.tell() < len(data):
                Harmless(file).load()


class Harmless(pickle.Unpickler):
    """Finds no class, so runs nothing."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name}")


BAD: list[tuple[bytes, int, str]] = [
    (pickle.dumps(["some text"], 4)[:-3], 2, "bytes are left of"),
    (pickle.dumps(["some text"], 2)[:-1], 22, "it ends before its STOP"),
    (pickle.dumps([1], 4) + b"xyz\n", 17, "no opcode b'x'"),
    (pickle.dumps(1, 2) + b"N", 6, "it ends before its STOP"),
    (b"hello world\n", 0, "BINGET"),
    ("hello".encode("utf-16"), 0, "no opcode"),
    (b"\xef\xbb\xbfN.", 0, "no opcode"),
    (b"\x80\x04\x8c\x02\xff\xfe.", 2, "utf-8"),
    (b"\x80\x09N.", 0, "protocol 9"),
    (b".", 0, "the stack is empty"),
    (b"N0.", 2, "the stack is empty"),
    (b"(.", 1, "the stack is empty"),
    (b"Nt.", 1, "no mark"),
    (b"}(Nu.", 3, "1 values are above the mark"),
    (b"(o.", 1, "0 values are above the mark"),
    (b"q\x00.", 0, "the stack is empty"),
    (b"h\x00.", 0, "nothing is in the memo at 0"),
    (b"\x80\x02Nr\xff\xff\xff\x7f.", 3, "no place 2147483647"),
    (b"Np99999999999\n.", 1, "no place 99999999999"),
    (b"\x80\x04\x95" + struct.pack("<Q", 1 << 40) + b"N.", 2, "FRAME"),
    (b"\x80\x04\x8e" + struct.pack("<Q", 1 << 40) + b"abc.", 2, "BINBYTES8"),
    (b"\x80\x05\x96" + struct.pack("<Q", 1 << 40) + b"abc.", 2, "BYTEARRAY8"),
    (b"\x80\x02\x8b\xff\xff\xff\x7f.", 2, "LONG4"),
    (b"X\xff\xff\xff\xff.", 0, "BINUNICODE"),
    (b"I1.5\n.", 0, "INT"),
    (b"S'a\n.", 0, "not in quotes"),
    (b"V\\ud8", 0, "UNICODE"),
    (b"(" * 100_000, 100_000, "it ends before its STOP"),
]


@pytest.mark.parametrize(("data", "at", "words"), BAD, ids=[words for *_, words in BAD])
def test_bad_pickles_are_said_to_be_with_their_place(data: bytes, at: int, words: str) -> None:
    error = said(data, "pickle")
    assert isinstance(error, SyntaxInputError)
    assert (error.exit_code, error.offset) == (3, at)
    assert words in str(error)


@pytest.mark.parametrize("data", [data for data, *_ in BAD[-12:]], ids=range(12))
def test_hostile_pickles_take_little_memory(tmp_path: Path, data: bytes) -> None:
    code, line = on_the_command_line(tmp_path, data, "pickle")
    assert code == 3
    assert line.count("\n") == 1
    assert "not valid pickle" in line


def test_nothing_of_the_unusual_is_refused() -> None:
    for data in (
        b"\x80\x02U\x02\xe9\xff.",  # text of Python 2
        b"S'\\xe9'\n.",
        b"\x80\x03cm\xc3\xb6d\nGr\xc3\xb6\xc3\x9fe\n.",  # names that are not ASCII
        b"Pan id\n.",
        b"\x80\x02]q\x01h\x01a.",  # a memo from 1 on
        b"Nq\xc8h\xc8\x86.",
        b"\x80\x05\x97\x98.",  # a buffer that is elsewhere
        b"\x82\x01.",
    ):
        assert count_pickles(data) == 1


@pytest.mark.parametrize("serializer", ["pickle", "pickle:0", "cloudpickle", "raw"])
def test_a_pickle_is_kept_without_running_it(tmp_path: Path, serializer: str) -> None:
    marker = tmp_path / "marker"
    source = pickle.dumps(Marker(marker), 4) + pickle.dumps([1], 2)
    packed, back = io.BytesIO(), io.BytesIO()
    report = serialpack.pack(
        io.BytesIO(source), packed, serializer=serializer, format="pickle", threads=1
    )
    assert report.exact
    assert report.records == (None if serializer == "raw" else 2)
    packed.seek(0)
    serialpack.unpack(packed, back, trust=True)
    assert back.getvalue() == source
    assert not marker.exists()


def test_reading_one_for_another_serializer_needs_trust(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    source = pickle.dumps(Marker(marker))
    how: dict[str, Any] = {"serializer": "json", "format": "pickle", "threads": 1}
    with pytest.raises(RefusedError, match="can run any code"):
        serialpack.pack(io.BytesIO(source), io.BytesIO(), **how)
    assert not marker.exists()
    serialpack.pack(io.BytesIO(source), io.BytesIO(), trust=True, **how)
    assert marker.read_text() == "it ran"


def test_looking_at_one_runs_nothing(tmp_path: Path) -> None:
    source, marker = tmp_path / "a.pkl", tmp_path / "marker"
    source.write_bytes(pickle.dumps(Marker(marker)))
    shape = serialpack.inspect(source).shape
    assert shape is not None
    assert shape.format == "pickle"
    assert not marker.exists()


@pytest.mark.parametrize("protocol", range(6))
def test_values_come_back_in_the_protocol_of_the_source(protocol: int) -> None:
    value = {"a": [1, 2.5, None, True], "b": {"c": "\u00e9"}}
    source = pickle.dumps(value, protocol) + pickle.dumps([], protocol)
    packed, back = io.BytesIO(), io.BytesIO()
    serialpack.pack(
        io.BytesIO(source), packed, serializer="json", format="pickle", trust=True, threads=1
    )
    packed.seek(0)
    assert serialpack.unpack(packed, back).records == 2  # JSON is safe: no trust needed
    assert load_pickles(back.getvalue()) == [value, []]
    assert back.getvalue()[:2] == source[:2]


def test_what_json_cannot_hold_is_refused() -> None:
    for value, path in (((1, 2), "$"), ({"a": b"x"}, "$.a"), ({"a": {1: 2}}, "$.a")):
        with pytest.raises(ValueRefusedError) as caught:
            serialpack.pack(
                io.BytesIO(pickle.dumps(value)),
                io.BytesIO(),
                serializer="json",
                format="pickle",
                trust=True,
                threads=1,
            )
        assert caught.value.value_path == path


def test_depth_is_refused_at_once() -> None:
    deep = b"\x80\x04" + b"]" * 100_000 + b"a" * 99_999 + b"."
    assert count_pickles(deep) == 1
    block = SourceBlock(deep, 0, 0)
    for serializer in ("json", "msgpack", "marshal"):
        with pytest.raises(ValueRefusedError, match=f"more than {MAX_DEPTH} levels") as caught:
            serialpack.pack(
                io.BytesIO(deep),
                io.BytesIO(),
                serializer=serializer,
                format="pickle",
                trust=True,
                threads=1,
            )
        assert caught.value.kind == "depth"
    assert FMT.count(block) == 1  # its bytes can be kept


def test_what_holds_itself_is_not_deep() -> None:
    value: list[Any] = []
    value.append(value)
    twice: Any = 1
    for _ in range(400):
        twice = (twice, twice)
    for source in (value, twice):
        assert len(FMT.read(pickle.dumps(source))) == 1


GONE: list[tuple[bytes, str]] = [
    (
        b"\x80\x04\x8c\x08mymodule\x8c\x05Point\x93)\x81.",
        "needs the class mymodule.Point, which is not here",
    ),
    (b"cmymodule.sub\nmake\n.", "needs mymodule.sub.make, which is not here"),
    (
        b"\x80\x04\x8c\x0bcollections\x8c\x05Point\x93)\x81.",
        "needs the class collections.Point, which is not there any more",
    ),
    (b"cdatetime\ndate\n(tR.", "TypeError: function missing.*it needs datetime.date"),
    (b"csys\nexit\n(I3\ntR.", "SystemExit: 3"),
    (b"Pan id\n.", "persistent"),
    (b"\x80\x02U\x02\xe9\xff.", "text of Python 2"),
    (b"N(NNu.", "NoneType"),
]


@pytest.mark.parametrize(("data", "words"), GONE, ids=[words for _, words in GONE])
def test_what_cannot_be_loaded_gets_one_line(data: bytes, words: str) -> None:
    source = pickle.dumps("before", 2)
    with pytest.raises(Malformed, match=words) as caught:
        load_pickles(source + data)
    assert caught.value.at == len(source)
    with pytest.raises(InputError, match=words) as read:
        serialpack.pack(
            io.BytesIO(data),
            io.BytesIO(),
            serializer="json",
            format="pickle",
            trust=True,
            threads=1,
        )
    assert "\n" not in str(read.value)


def test_a_module_that_cannot_be_imported_is_told(tmp_path: Path) -> None:
    (tmp_path / "half_there.py").write_text("import not_there_at_all\nclass Point: pass\n")
    sys.path.insert(0, str(tmp_path))
    try:
        with pytest.raises(
            Malformed, match=r"half_there.Point.*No module named 'not_there_at_all'"
        ):
            load_pickles(b"chalf_there\nPoint\n.")
    finally:
        sys.path.remove(str(tmp_path))


def test_a_pickle_is_loaded_without_its_neighbours() -> None:
    """Each has a memo of its own, and each kind of buffer will do."""
    value = ["a", "a" * 70_000, b"b" * 70_000, bytearray(b"c" * 70_000)]
    for protocol in range(6):
        data = pickle.dumps(value, protocol) + pickle.dumps(1, protocol)
        for buffer in (data, bytearray(data), memoryview(data)):
            assert load_pickles(buffer * 2 if buffer is data else buffer)[:2] == [value, 1]


def test_a_pickle_of_numpy(shared_data: Path, tmp_path: Path) -> None:
    """It is Python 2's: its bytes are kept; where it is converted its text is Latin-1."""
    source = shared_data / "pickle" / "astype_copy.pkl"
    for serializer in ("raw", "pickle"):
        packed, back = tmp_path / f"{serializer}.spk", tmp_path / serializer
        assert serialpack.pack(source, packed, serializer=serializer).exact
        serialpack.unpack(packed, back, trust=True)
        assert back.read_bytes() == source.read_bytes()
    with pytest.raises(RefusedError, match="reading pickle"):
        serialpack.pack(source, tmp_path / "no.spk", serializer="msgpack")
    with pytest.raises(InputError, match="text of Python 2"):
        serialpack.pack(source, tmp_path / "no.spk", serializer="msgpack", trust=True)


@pytest.mark.parametrize("text", ['{"a": [1, 2.5, "x"], "b": null}', "[]", "[1, [2]]", "3"])
def test_json_becomes_pickles(text: str) -> None:
    pickled = io.BytesIO()
    serialpack.convert(io.BytesIO(text.encode()), pickled, to="pickle", format="json")
    assert load_pickles(pickled.getvalue()) == [json.loads(text)]


def test_a_file_of_joblib_is_said_to_be_one() -> None:
    """Arrays stand in it as they are: there was no opcode for their bytes."""
    data = b"\x80\x04cjoblib.numpy_pickle\nNumpyArrayWrapper\n)\x81" + b"\xff" * 8 + b"."
    with pytest.raises(Malformed, match=r"joblib\.load reads"):
        count_pickles(data)
