"""marshal data as a source: told by its type codes, loaded on trust only."""

from __future__ import annotations

import io
import marshal
import types
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.errors import InputError, RefusedError, SyntaxInputError
from serialpack.formats.python.marshal import load_marshal
from serialpack.formats.python.typecodes import marshal_ends
from serialpack.formats.shared.document import Malformed
from tests.fidelity.values import CASES
from tests.formats.hostile import on_the_command_line, said


def _outer(a: int, *b: int, c: complex = 1j) -> Any:
    return lambda: (a, b, c, "\u00e9" * 300, 1 << 100, ..., frozenset({1}))


@pytest.mark.parametrize("version", range(5))
def test_real_data_is_told(version: int) -> None:
    values = [_outer.__code__, StopIteration, *(case.make() for case in CASES)]
    told = 0
    for value in values:
        try:
            data = marshal.dumps(value, version)
        except ValueError:
            continue
        assert marshal_ends(data * 2) == [len(data), 2 * len(data)]
        told += 1
    assert told > 120


def test_the_code_of_the_standard_library_is_told() -> None:
    for path in sorted(Path(types.__file__).parent.glob("*.py"))[:40]:
        code = compile(path.read_bytes(), path.name, "exec", dont_inherit=True)
        data = marshal.dumps(code)
        assert marshal_ends(data) == [len(data)]


@pytest.mark.parametrize("version", range(5))
def test_nothing_shorter_is_marshal_data(version: int) -> None:
    data = marshal.dumps(
        [{"a": 1.5, "b": (None, b"x")}, 1 << 70, {2}, 1j, _outer.__code__], version
    )
    for end in range(1, len(data)):
        with pytest.raises(Malformed):
            marshal_ends(data[:end])


@given(st.binary(max_size=40))
def test_any_bytes_are_told(data: bytes) -> None:
    bad = None
    try:
        assert [0, *marshal_ends(data)][-1] == len(data)
    except Malformed as error:
        bad = error
    assert bad is None or 0 <= (-1 if bad.at is None else bad.at) <= len(data)


BAD: list[tuple[bytes, int, str]] = [
    (marshal.dumps([1, "text"], 2)[:-1], 15, "claimed"),
    (marshal.dumps(1) + b"?", 5, "no type code b'?'"),
    (b"hello", 0, "no type code b'h'"),
    (b"", 0, ""),
    (b"u\x02\0\0\0\xff\xfe", 5, "not UTF-8"),
    (b"u\xff\xff\xff\xff", 5, "claimed"),
    (b"s\xff\xff\xff\x7fabc", 5, "claimed"),
    (b"[\xff\xff\xff\x7fN", 0, "2147483647 objects are claimed"),
    (b"l\0\0\0\x80", 5, "claimed"),
    (b"r\0\0\0\0", 0, "a reference"),
    (b"{NN", 3, "claimed"),
    (b"0", 0, "no type code"),
    (b"[\1\0\0\0" * 100_000 + b"N", 29_995, "nested too deeply"),
    (b"c" + bytes(10), 1, "claimed"),
]


@pytest.mark.parametrize(("data", "at", "words"), [bad for bad in BAD if bad[0]])
def test_bad_data_is_said_to_be_with_its_place(data: bytes, at: int, words: str) -> None:
    error = said(data, "marshal")
    assert isinstance(error, SyntaxInputError)
    assert words in str(error)
    assert error.offset == at


@pytest.mark.parametrize("data", [data for data, *_ in BAD[5:9]], ids=range(4))
def test_hostile_data_takes_little_memory(tmp_path: Path, data: bytes) -> None:
    code, line = on_the_command_line(tmp_path, data, "marshal")
    assert code == 3
    assert line.count("\n") == 1


def test_it_is_kept_or_read_on_trust() -> None:
    source = marshal.dumps({"a": [1, 2.5]}) + marshal.dumps(None)
    how: dict[str, Any] = {"format": "marshal", "threads": 1}
    packed, back = io.BytesIO(), io.BytesIO()
    report = serialpack.pack(io.BytesIO(source), packed, serializer="marshal", **how)
    assert (report.exact, report.records) == (True, 2)
    packed.seek(0)
    serialpack.unpack(packed, back, trust=True)
    assert back.getvalue() == source
    with pytest.raises(RefusedError, match="reading marshal"):
        serialpack.pack(io.BytesIO(source), io.BytesIO(), serializer="json", **how)
    packed, back = io.BytesIO(), io.BytesIO()
    serialpack.pack(io.BytesIO(source), packed, serializer="json", trust=True, **how)
    packed.seek(0)
    serialpack.unpack(packed, back)
    assert load_marshal(back.getvalue()) == [{"a": [1, 2.5]}, None]


def test_what_passes_the_look_and_cannot_be_loaded() -> None:
    data = b"<\1\0\0\0[\0\0\0\0"  # a set of a list
    assert marshal_ends(data) == [len(data)]
    with pytest.raises(InputError, match="unhashable"):
        serialpack.pack(
            io.BytesIO(data),
            io.BytesIO(),
            serializer="json",
            format="marshal",
            trust=True,
            threads=1,
        )
