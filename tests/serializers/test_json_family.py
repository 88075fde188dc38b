"""The JSON serializers: each reads what any other wrote, and what special there is to each."""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.depth import MAX_DEPTH
from serialpack.errors import MissingLibraryError
from serialpack.formats.json.values import check_json
from serialpack.serializers import SERIALIZERS, _rapidjson
from serialpack.serializers._jsonlines import check_integers
from serialpack.serializers.base import FAILURES
from serialpack.serializers.pyrapidjson import PyRapidJsonSerializer
from serialpack.values.equality import difference
from tests.serializers.chains import object_and_records, record_serializer, writing
from tests.serializers.depths import nested, tried_on_a_small_stack

NAMES = ["json", "ujson", "simplejson", "rapidjson", "pyrapidjson", "orjson", "msgspec-json"]
HERE = [name for name in NAMES if SERIALIZERS.cls(name).missing(name) is None]


@pytest.mark.parametrize("name", NAMES)
def test_which_are_here(name: str) -> None:
    """Those that are not are seen as skipped here: everything else is tried with the others."""
    cls = SERIALIZERS.cls(name)
    if name not in HERE:
        pytest.skip(f"{name}: {cls.missing(name)}")
    assert cls.stored_format == "ndjson"
    assert cls.text
    assert cls.portable
    assert cls.safe


#: By the kind that a serializer may be unable to hold; the empty one is held by all.
VALUES: dict[str, list[Any]] = {
    "": [
        *(None, True, False, 0, -1, 1 << 53, (1 << 63) - 1, -(1 << 63), "", "a", [], {}),
        *(0.1, 1 / 3, -0.0, 1.0, 1e16, 1e22, 1e23, 5e-324, 1.7976931348623157e308, 123456.789),
        *(
            'é/<>&\u2028\u2029\x7f\0\n\r\t\\"',
            "\U0001f600",
            "\uffff\ufeff",
            "9" * 30,
            "null",
            "NaN",
        ),
        *([[], {}, [[None]]], {"": {"": 0}}, {"é": [1, 2.5]}, {"a": 1, "b": {"a": 2}}),
    ],
    "uint64": [1 << 63, (1 << 64) - 1],
    "bigint": [1 << 64, -(1 << 63) - 1, 10**40],
    "surrogates": ["\ud800", "a\udc80b", {"\udfff": 1}],
    "nul": [{"a\0b": 1}],
}


@pytest.mark.parametrize("reader", HERE)
@pytest.mark.parametrize("writer", HERE)
def test_every_one_reads_every_other(writer: str, reader: str) -> None:
    write, read = record_serializer(writer), record_serializer(reader)
    for kind, values in VALUES.items():
        if {kind} & (write.cannot | read.cannot):
            continue
        data = write.dump(values)
        assert data.count(b"\n") == len(values)
        assert data.endswith(b"\n")
        assert difference(values, read.load(data)) is None, kind
        assert difference(values, read.load(data[:-1])) is None, kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, kind) for name in HERE for kind in VALUES if kind in record_serializer(name).cannot],
)
def test_what_it_cannot_hold_it_does_not_write(name: str, kind: str) -> None:
    for value in VALUES[kind]:
        with pytest.raises(FAILURES):
            record_serializer(name).dump([value])


@pytest.mark.parametrize("reader", HERE)
def test_what_it_cannot_hold_it_does_not_read(reader: str) -> None:
    """Decoding JSON that another wrote gives its very values, or fails."""
    for values in VALUES.values():
        for value in values:
            data = record_serializer("json").dump([value])
            try:
                text = writing(reader, "ndjson").decode(data, {}, first=True, exact=False)
            except ValueError:
                continue
            assert difference([value], record_serializer("json").load(text)) is None


numbers = st.one_of(
    st.integers(-(1 << 63), (1 << 63) - 1), st.floats(allow_nan=False, allow_infinity=False)
)
texts = st.text(st.characters(exclude_categories=["Cs"]))
objects = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(texts.filter(lambda key: "\0" not in key), inner, max_size=4),
    ),
    max_leaves=8,
)


@given(records=st.lists(objects, max_size=4))
def test_any_values_are_the_same_by_all_pairs(records: list[Any]) -> None:
    serializers = [record_serializer(name) for name in HERE]
    for data in {serializer.dump(records) for serializer in serializers}:
        for serializer in serializers:
            assert difference(records, serializer.load(data)) is None


NOT_JSON = [
    b"1 2\n",
    b"[1\n2]\n",
    b"\n",
    b"1\n\n2\n",
    b"NaN\n",
    b'{"a": -Infinity}\n',
    b"[1,]\n",
    b'{"a":1,}\n',
    b'"\xff"\n',
    b'"\xed\xa0\x80"\n',
    b"\xef\xbb\xbf1\n",
    b"1\x00\n",
    b"[1\n",
    b"nul\n",
    b"0x10\n",
    b"'a'\n",
    b"[" * 100_000 + b"\n",
    b'{"a":' * 100_000 + b"\n",
    b"[" * 100_000 + b"]" * 100_000 + b"\n",
]


@pytest.mark.parametrize("name", HERE)
@pytest.mark.parametrize("data", NOT_JSON, ids=lambda data: repr(data[:20]))
def test_what_is_no_json_is_a_value_error(name: str, data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        record_serializer(name).load(data)
    with pytest.raises(ValueError):  # noqa: PT011
        record_serializer(name).load(b"1\n" + data)


OF_OBJECTS = [
    *(b'"\\ud800"', b'{"a":"\\udfff\\ud800"}', b'"\\ud83d\\ude00"', b'{"a":1,"b":2,"a":3}', b"-0"),
    *(b"-0.0", b"9" * 40, b"[1E5,1e-400,9007199254740993.0,2.2250738585072011e-308]"),
]


@pytest.mark.parametrize(
    "data", [*OF_OBJECTS, *NOT_JSON, b"1e400", b"1\n2\n"], ids=lambda d: d[:20]
)
def test_json_reads_an_object_as_its_records(data: bytes) -> None:
    """By another library, which does not take all."""
    found, records = object_and_records(record_serializer("json"), data)
    assert difference(records, found) is None
    assert data not in OF_OBJECTS or found is not None


@pytest.mark.parametrize("name", HERE)
@pytest.mark.parametrize("number", [b"1e400", b"-1e400", b"9" * 400 + b".0"])
def test_what_no_double_holds_is_not_written_as_null(name: str, number: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        writing(name, "json").decode(b'{"a":[%b]}\n' % number, {}, first=True, exact=False)


@pytest.mark.parametrize("name", HERE)
@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"a": value, "b": 2}])
def test_deep_values_in_a_thread_with_a_small_stack(name: str, wrap: Callable[[Any], Any]) -> None:
    found = tried_on_a_small_stack(lambda: record_serializer(name), wrap)
    assert found == [None] * 5 + ["refused"] * 3


class _Text(str):
    pass


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("json", [b"a", {1}, math.nan]),
        ("ujson", [b"a", bytearray(b"a"), {1}, math.inf]),
        ("simplejson", [b"a", (1,), {1}, math.nan]),
        ("rapidjson", [b"a", (1,), iter([1]), {1}, {1: 2}, math.inf]),
        ("pyrapidjson", [b"a", (1,), {1}, {"a": {1: 2}}, _Text("a"), math.nan]),
        ("orjson", [b"a", {1}, {1: 2}, _Text("a")]),
        ("msgspec-json", [{None: 1}, 1j]),
    ],
)
def test_strict_options_are_on(name: str, values: list[Any]) -> None:
    """With the proof off, too, these are not silently changed."""
    if name not in HERE:
        pytest.skip(f"{name} is not installed")
    for value in values:
        for inside in (value, [value], {"a": value}):
            with pytest.raises(FAILURES):
                record_serializer(name).dump([inside])


def _refused(value: Any) -> bool:
    try:
        check_json([1, value])
    except ValueError:
        return True
    return False


def test_check_json() -> None:
    values = VALUES[""] + VALUES["bigint"] + VALUES["surrogates"]
    check_json(values)
    check_json([nested(MAX_DEPTH, lambda value: [value])])
    others = [b"a", (1,), {1}, 1j, object(), _Text("a"), math.nan, -math.inf, {1: 2}, {None: 1}]
    for other in [*others, {_Text("a"): 1}, nested(MAX_DEPTH + 1, lambda value: [value])]:
        for inside in (other, [[other]], {"a": {"b": [other, 1.5]}}):
            assert _refused(inside), other


@pytest.mark.parametrize("end", [b"", b",1.5", b",1e9", b"]"])
def test_check_integers(end: bytes) -> None:
    for kept in (
        *(b"9223372036854775808", b"18446744073709551615", b"-9223372036854775808"),
        *(b'"18446744073709551616"', b"18446744073709551616.5", b"18446744073709551616e1"),
        *(b"1.8446744073709551616123", b'"\\"18446744073709551616"', b"1e18446744073709551616"),
    ):
        check_integers(b"[1," + kept + end)
    for lost in (b"18446744073709551616", b"-9223372036854775809", b"9" * 5000):
        with pytest.raises(ValueError, match="beyond 64 bits"):
            check_integers(b'["\\\\",' + lost + end)


class TestRapidJson:
    """Two distributions bring a module ``rapidjson``."""

    @pytest.fixture
    def module(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[ModuleType | None], None]:
        def put(found: ModuleType | None) -> None:
            if found is not None:
                monkeypatch.setattr(found, "__spec__", object(), raising=False)
                monkeypatch.setitem(sys.modules, "rapidjson", found)
            else:
                monkeypatch.delitem(sys.modules, "rapidjson", raising=False)
                monkeypatch.setattr(_rapidjson, "is_installed", lambda _: False)

        return put

    def _missing(self, name: str) -> str | None:
        return SERIALIZERS.cls(name).missing(name)

    def test_neither(self, module: Callable[[ModuleType | None], None]) -> None:
        module(None)
        assert self._missing("rapidjson") == "pip install 'serialpack[rapidjson]'"
        assert self._missing("pyrapidjson") == "pip install 'serialpack[pyrapidjson]'"

    def test_python_rapidjson(self, module: Callable[[ModuleType | None], None]) -> None:
        found = ModuleType("rapidjson")
        vars(found)["Encoder"] = object
        module(found)
        assert self._missing("rapidjson") is None
        said = self._missing("pyrapidjson")
        assert said is not None
        assert said.startswith("python-rapidjson is installed, and both install a module rapidjson")
        assert said.endswith("pip uninstall python-rapidjson, then pip install"
                             " 'serialpack[pyrapidjson]'")  # fmt: skip
        assert "\n" not in said
        with pytest.raises(MissingLibraryError) as caught:
            serialpack.pack(io.BytesIO(b"[1]"), io.BytesIO(), serializer="pyrapidjson")
        assert "pip uninstall python-rapidjson" in str(caught.value)

    def test_pyrapidjson(self, module: Callable[[ModuleType | None], None]) -> None:
        module(ModuleType("rapidjson"))
        assert self._missing("pyrapidjson") is None
        said = self._missing("rapidjson")
        assert said is not None
        assert "pip uninstall pyrapidjson" in said

    def test_what_crashes_pyrapidjson_does_not_reach_it(
        self, module: Callable[[ModuleType | None], None]
    ) -> None:
        """The library itself is rarely there: one that says what it was given stands for it."""
        given: list[Any] = []
        found = ModuleType("rapidjson")

        def dumps(value: Any) -> str:
            given.append(value)
            return json.dumps(value)

        vars(found)["dumps"] = dumps
        module(found)
        serializer = PyRapidJsonSerializer("pyrapidjson")
        bad = [{"\ud800": 1}, {1: 2}, {"a": {1: 2}}, {"a\0b": 1}, {'"\0': {}}, math.nan, b"a"]
        for value in [*bad, nested(1000, lambda value: [value])]:
            with pytest.raises(ValueError):  # noqa: PT011
                serializer.dump([value])
        assert not given
        good = [{"a": "\0"}, {"\\": '\0":'}, "\0", [{"a b": [1.5]}]]
        assert serializer.load(serializer.dump(good)) == good
        assert given == good


@pytest.mark.parametrize("name", ["json", "ujson", "simplejson"])
@pytest.mark.parametrize("inside", [False, True])
def test_little_beyond_ascii_is_escaped_much_is_not(name: str, inside: bool) -> None:
    few = [{"text": "plain " * 20, "mark": "\u00e9"}] * 40
    many = [{"text": "\u524d\u7530\u3042\u3086\u307f"}] * 40
    for records, escaped in ((few, True), (many, False)):
        values: list[Any] = [records] if inside else list(records)
        data = record_serializer(name).dump(values)
        assert data.isascii() == escaped
        assert record_serializer(name).load(data) == values
