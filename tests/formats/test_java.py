"""Java serialization streams as a source: what they hold, what is refused, and traps."""

from __future__ import annotations

import io
import struct
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.errors import RefusedError, SyntaxInputError, ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import Unheld
from serialpack.formats.java.java import JavaFormat
from serialpack.formats.java.read import MAGIC
from serialpack.formats.shared.document import Malformed
from serialpack.values.equality import difference
from tests.formats.hostile import on_the_command_line, said

FMT = cast(JavaFormat, FORMATS.get("java"))

#: Flags of a class: it is serializable, and writes more than its fields.
SERIALIZABLE, WRITES, EXTERNAL = 2, 1, 12


def _utf(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">H", len(data)) + data


def _string(text: str | bytes) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return b"t" + struct.pack(">H", len(data)) + data


def _class(
    name: str, fields: dict[str, str] | None = None, flags: int = SERIALIZABLE, above: bytes = b"p"
) -> bytes:
    """A description; ``fields``: their types, one letter or the name of a class."""
    written = b"r" + _utf(name) + bytes(8) + bytes([flags]) + struct.pack(">H", len(fields or {}))
    for field, kind in (fields or {}).items():
        written += kind[0].encode() + _utf(field) + (_string(kind) if kind[0] in "L[" else b"")
    return written + b"x" + above


def _block(data: bytes) -> bytes:
    return b"w" + bytes([len(data)]) + data


def _object(description: bytes, *content: bytes) -> bytes:
    return b"s" + description + b"".join(content)


_NUMBER = _class("java.lang.Number")


def _integer(value: int) -> bytes:
    return _object(
        _class("java.lang.Integer", {"value": "I"}, 2, _NUMBER), struct.pack(">i", value)
    )


def _boxed(name: str, letter: str, data: bytes) -> bytes:
    return _object(_class(f"java.lang.{name}", {"value": letter}, 2, _NUMBER), data)


def _array(name: str, count: int, *elements: bytes) -> bytes:
    return b"u" + _class(name) + struct.pack(">i", count) + b"".join(elements)


def _array_list(*elements: bytes) -> bytes:
    size = struct.pack(">i", len(elements))
    description = _class("java.util.ArrayList", {"size": "I"}, 3)
    return _object(description, size, _block(size), *elements, b"x")


def _hash_map(*parts: bytes, name: str = "java.util.HashMap", count: int | None = None) -> bytes:
    description = _class("java.util.HashMap", {"loadFactor": "F", "threshold": "I"}, 3)
    fields = struct.pack(">fi", 0.75, 12)
    own = b""
    if name != "java.util.HashMap":
        description = _class(name, {"accessOrder": "Z"}, 2, description)
        own = b"\0"
    size = struct.pack(">ii", 16, len(parts) // 2 if count is None else count)
    return _object(description, fields, _block(size), *parts, b"x", own)


def _hash_set(*elements: bytes) -> bytes:
    size = struct.pack(">ifi", 16, 0.75, len(elements))
    return _object(_class("java.util.HashSet", None, 3), _block(size), *elements, b"x")


def _tree(name: str, count: bytes, *parts: bytes, comparator: bytes = b"p") -> bytes:
    if name == "java.util.TreeMap":
        description = _class(name, {"comparator": "Ljava/util/Comparator;"}, 3)
        return _object(description, comparator, _block(count), *parts, b"x")
    return _object(_class(name, None, 3), comparator, _block(count), *parts, b"x")


def _big_integer(sign: int, magnitude: bytes) -> bytes:
    fields = {"bitCount": "I", "signum": "I", "magnitude": "[B"}
    content = struct.pack(">ii", -1, sign) + _array("[B", len(magnitude), magnitude)
    return _object(_class("java.math.BigInteger", fields, 3, _NUMBER), content, b"x")


def _long(value: int) -> bytes:
    return struct.pack(">q", value)


@pytest.mark.parametrize(
    ("stream", "value"),
    [
        (b"p", None),
        (_block(b"\0C"), b"\0C"),
        (b"z" + struct.pack(">i", 300) + b"x" * 300, b"x" * 300),
        (_string("text"), "text"),
        (b"|" + _long(3) + b"abc", "abc"),
        (_string("é漢한"), "é漢한"),
        (_string(b"\xc0\x80a"), "\0a"),
        (_string(b"\xed\xa0\xbd\xed\xb8\x80"), "\U0001f600"),
        (_string(b"\xed\xa0\xbdx"), "\ud83dx"),
        (_integer(-5), -5),
        (_boxed("Long", "J", _long(1 << 40)), 1 << 40),
        (_boxed("Short", "S", b"\xff\xfe"), -2),
        (_boxed("Byte", "B", b"\x80"), -128),
        (_boxed("Double", "D", struct.pack(">d", -0.0)), -0.0),
        (_boxed("Float", "F", struct.pack(">f", 1.5)), 1.5),
        (_boxed("Boolean", "Z", b"\1"), True),
        (_boxed("Character", "C", b"\0A"), "A"),
        (_array("[B", 3, b"\0\x7f\xff"), b"\0\x7f\xff"),
        (_array("[I", 2, struct.pack(">ii", 1, -1)), [1, -1]),
        (_array("[D", 1, struct.pack(">d", 0.1)), [0.1]),
        (_array("[Z", 2, b"\1\0"), [True, False]),
        (_array("[C", 2, b"\0a\xd8\0"), ["a", "\ud800"]),
        (_array("[Ljava.lang.Object;", 2, _string("x"), b"p"), ["x", None]),
        (_array("[[I", 1, _array("[I", 1, b"\0\0\0\1")), [[1]]),
        (_array_list(), []),
        (_array_list(_string("a"), _array_list(b"p")), ["a", [None]]),
        (
            _object(
                _class("java.util.LinkedList", None, 3), _block(b"\0\0\0\1"), _integer(1), b"x"
            ),
            [1],
        ),
        (
            _object(
                _class("java.util.Arrays$ArrayList", {"a": "[Ljava/lang/Object;"}),
                _array("[Ljava.lang.String;", 1, _string("a")),
            ),
            ["a"],
        ),
        (
            _object(
                _class(
                    "java.util.Vector",
                    {"capacityIncrement": "I", "elementCount": "I", "elementData": "[L"},
                    3,
                ),
                struct.pack(">ii", 0, 1),
                _array("[Ljava.lang.Object;", 3, _string("a"), b"pp"),
                b"x",
            ),
            ["a"],
        ),
        (_hash_map(_string("b"), _integer(1), b"p", b"p"), {"b": 1, None: None}),
        (
            _hash_map(_string("a"), _hash_map(), name="java.util.LinkedHashMap"),
            {"a": {}},
        ),
        (_tree("java.util.TreeMap", b"\0\0\0\1", _integer(1), _string("x")), {1: "x"}),
        (_hash_set(_integer(1), _string("a")), {1, "a"}),
        (_tree("java.util.TreeSet", b"\0\0\0\1", _string("a")), {"a"}),
        (
            b"~" + _class("Color", None, 18, _class("java.lang.Enum", None, 18)) + _string("GREEN"),
            "GREEN",
        ),
        (
            _object(_class("java.util.Date", None, 3), _block(_long(1_698_194_668_123)), b"x"),
            datetime(2023, 10, 25, 0, 44, 28, 123_000, tzinfo=UTC),
        ),
        (
            _object(
                _class("java.util.UUID", {"leastSigBits": "J", "mostSigBits": "J"}),
                _long(-1) + _long(1),
            ),
            UUID(int=(1 << 64) + (1 << 64) - 1),
        ),
        (_big_integer(-1, b"\1" + bytes(9)), -(1 << 72)),
        (_big_integer(0, b""), 0),
        (
            _object(
                _class(
                    "java.math.BigDecimal",
                    {"scale": "I", "intVal": "Ljava/math/BigInteger;"},
                    2,
                    _NUMBER,
                ),
                struct.pack(">i", 2),
                _big_integer(1, b"\x96"),
            ),
            Decimal("1.50"),
        ),
    ],
    ids=range(40),
)
def test_what_python_has_a_value_for(stream: bytes, value: Any) -> None:
    found = FMT.read(MAGIC + stream + b"p" + stream)
    assert difference(found, [value, None, value]) is None


def test_no_objects_at_all() -> None:
    assert FMT.read(MAGIC) == []


def test_one_object_in_two_places() -> None:
    # Handles count from 0x7e0000: the array's class, the array, the string.
    twice = MAGIC + _array("[Ljava.lang.Object;", 2, _string("x"), b"q\0\x7e\0\2")
    assert FMT.read(twice) == [["x", "x"]]
    cycle = MAGIC + _array_list(b"q\0\x7e\0\1")
    for serializer in ("java", "json", "cbor"):
        assert isinstance(said(cycle, "java", serializer), RefusedError)


def _bomb(levels: int) -> bytes:
    """Lists of two: the first is a list like it, the second the same again."""
    size = b"\0\0\0\2"
    # The class's handle is 0x7e0000, the outermost list's the next, and so on.
    first = _object(_class("java.util.ArrayList", {"size": "I"}, 3), size, _block(size))
    inner = _object(b"q\0\x7e\0\0", size, _block(size))
    written = first + inner * levels + _string("x") + _string("y") + b"x"
    for level in range(levels, 0, -1):
        written += b"q" + struct.pack(">i", 0x7E0001 + level) + b"x"
    return MAGIC + written


def test_values_that_unfold_to_far_too_many() -> None:
    (found,) = FMT.read(_bomb(3))
    assert found[0] is found[1]
    with pytest.raises(RefusedError, match="unfold"):
        FMT.read(_bomb(60))


@pytest.mark.parametrize(
    ("stream", "path", "words"),
    [
        (_hash_map(_object(_class("Own")), b"p"), "$", "the class Own"),
        (_hash_map(name="OwnMap"), "$", "the class OwnMap"),
        (_object(_class("java.time.Ser", None, EXTERNAL), _block(b"\3abc"), b"x"), "$", "time.Ser"),
        (b"v" + _class("java.lang.String"), "$", "a class"),
        (_hash_map(_array_list(), b"p"), "$", "a list as a key"),
        (_hash_set(_hash_set()), "$", "a set as a key"),
        (_hash_map(_integer(1), b"p", _boxed("Boolean", "Z", b"\1"), b"p"), "$", "keys True"),
        (_hash_set(_integer(1), _boxed("Double", "D", b"\x3f\xf0" + bytes(6))), "$", "1.0"),
        (_hash_map(_integer(1), b"p", count=7), "$", "this object of the class java.util.HashMap"),
        (_tree("java.util.TreeSet", bytes(4), comparator=_object(_class("Own"))), "$", "TreeSet"),
        (_tree("java.util.TreeMap", bytes(4), comparator=_object(_class("Own"))), "$", "TreeMap"),
        (_object(_class("java.lang.Integer", {"value": "Z"}), b"\1"), "$", "java.lang.Integer"),
        (_object(_class("java.util.Date", None, 3), _block(_long(1 << 62)), b"x"), "$", "Date"),
        (_object(_class("java.util.UUID")), "$", "java.util.UUID"),
    ],
)
def test_other_objects_are_refused_with_their_path(stream: bytes, path: str, words: str) -> None:
    error = said(MAGIC + _block(b"first") + stream, "java")
    assert isinstance(error, ValueRefusedError)
    assert (error.record, error.value_path) == (1, path)
    assert words in error.message
    assert 'serializer="raw"' in str(error)


def _nested(levels: int) -> bytes:
    array = _array("[Ljava.lang.Object;", 1)
    return array + (b"uq\0\x7e\0\0\0\0\0\1") * levels + b"p"


@pytest.mark.parametrize(
    ("data", "exit_code", "where"),
    [
        (MAGIC + _block(b"Hello")[:-1], 3, "byte 10"),
        (MAGIC[:3], 3, "byte 0"),
        (b"\xac\xed\0\6p", 3, "byte 0"),
        (b"\xef\xbb\xbf" + MAGIC, 3, "byte 0"),
        (MAGIC + b"p\x99", 3, "byte 6"),
        (MAGIC + b"q\0\x7e\0\5", 3, "byte 9"),
        (MAGIC + b"z\x7f\xff\xff\xff", 3, "byte 9"),
        (MAGIC + b"z\xff\xff\xff\xff", 3, "byte 9"),
        (MAGIC + _array("[B", 0x7FFFFFFF, b"x"), 3, "ends too early"),
        (MAGIC + _array("[I", -1), 3, "javaobj cannot read it"),
        (MAGIC + b"|\0\0\0\0\x7f\xff\xff\xffa", 3, "ends too early"),
        (MAGIC + b"|\xff\xff\xff\xff\xff\xff\xff\xffa", 3, "ends too early"),
        (MAGIC + _string(b"\xff"), 3, "javaobj cannot read it"),
        (MAGIC + _string(b"\0"), 3, "javaobj cannot read it"),
        (MAGIC + b"s" + _class("A", {f"f{i}": "I" for i in range(200)}), 3, "ends too early"),
        (MAGIC + b"r\0\1A", 3, "ends too early"),
        (MAGIC + b"}\x7f\xff\xff\xff", 3, "ends too early"),
        (MAGIC + _nested(100_000), 4, "record 0"),
        (MAGIC + _object(_class("Own")), 4, "object of a class: Own"),
    ],
    ids=range(19),
)
def test_hostile_bytes(tmp_path: Path, data: bytes, exit_code: int, where: str) -> None:
    error = said(data, "java")
    assert (error.exit_code, where in str(error)) == (exit_code, True), str(error)
    if exit_code == 4 or "early" in where:
        code, message = on_the_command_line(tmp_path, data, "java")
        assert (code, where in message, "Traceback" in message) == (exit_code, True, False)


def test_nothing_is_written() -> None:
    data = MAGIC + _array_list(_string("x"))
    for serializer, verify in (("json", True), ("json", False), ("msgpack", False)):
        with pytest.raises(RefusedError, match="never written"):
            serialpack.pack(
                io.BytesIO(data), io.BytesIO(), serializer=serializer, format="java", verify=verify
            )
    with pytest.raises(ValueRefusedError, match="java cannot hold"):
        serialpack.dumps({"a": 1}, "java")


def test_its_own_serializer_keeps_the_bytes() -> None:
    data = MAGIC + _array_list(_string("x")) + _block(b"y")
    packed, unpacked = io.BytesIO(), io.BytesIO()
    serialpack.pack(io.BytesIO(data), packed, serializer="java")
    packed.seek(0)
    serialpack.unpack(packed, unpacked)
    assert unpacked.getvalue() == data


def test_real_streams(shared_data: Path) -> None:
    """What the library's own tests read: values, or a refusal that names the class."""
    inner = {"key1": "value1", "key2": "value2", "bool2": True, "int2": 10, "bool": True, "int": 9}
    expected: dict[str, list[Any]] = {
        "test2DArray": [[[1, 2, 3], [4, 5, 6]]],
        "testBytes": [b"HelloWorld"],
        "testBoolIntLong": [inner],
        "testBoolIntLong-2": [{"subMap": inner}],
        "testLinkedHashSet": [{1, 2, 42}],
    }
    read = refused = unread = 0
    for path in sorted((shared_data / "java-ser").glob("*.ser")):
        try:
            found = FMT.read(path.read_bytes())
        except (ValueRefusedError, Unheld) as error:
            refused += isinstance(error, Unheld) or "class" in error.message
            continue
        except Malformed:
            unread += path.stem == "objException"  # thrown while it was written
            continue
        read += 1
        assert difference(found, expected.get(path.stem, found)) is None
    assert (read, refused, unread) == (11, 10, 1)


parts = st.one_of(
    st.binary(max_size=6),
    st.sampled_from(
        [
            *(_string("x"), b"p", _integer(1), _block(b"ab"), b"x", b"q\0\x7e\0\0", b"q\0\x7e\0\1"),
            *(
                _array_list(b"p"),
                _hash_map(b"p", b"p"),
                _hash_set(b"p"),
                _array("[I", 1),
                b"y",
                b"{",
            ),
            *(_class("A"), b"s", b"u", b"~", _object(_class("A", {"f": "[I"}, 3))),
        ]
    ),
)


@given(data=st.lists(parts, max_size=8).map(b"".join))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        FMT.read(MAGIC + data)
    except (Malformed, Unheld, RefusedError):
        return


def test_a_syntax_error_is_one() -> None:
    assert isinstance(said(b"{}", "java"), SyntaxInputError)
