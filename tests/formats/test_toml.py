"""TOML as a source: what is read, what each error says, and that what is written reads back."""

from __future__ import annotations

import tomllib
from datetime import UTC, date, datetime, time, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from serialpack.errors import SyntaxInputError, ValueRefusedError
from serialpack.formats.base import Unheld
from serialpack.formats.shared.document import Malformed
from serialpack.formats.toml.read import read
from serialpack.formats.toml.write import write
from serialpack.values.equality import difference
from tests.formats.hostile import on_the_command_line, said


def _same(one: Any, other: Any) -> bool:
    return difference(one, other) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1979-05-27T07:32:00Z", datetime(1979, 5, 27, 7, 32, tzinfo=UTC)),
        (
            "1979-05-27 00:32:00.999999-07:00",
            datetime(1979, 5, 27, 0, 32, 0, 999999, timezone(timedelta(hours=-7))),
        ),
        ("1979-05-27T07:32:00.5", datetime(1979, 5, 27, 7, 32, 0, 500000)),
        ("1979-05-27", date(1979, 5, 27)),
        ("07:32:00.1234560", time(7, 32, 0, 123456)),
        ("-nan", float("nan")),
        ("-inf", float("-inf")),
        ("-0.0", -0.0),
        ("1_000.5", 1000.5),
        ("5e+22", 5e22),
        ("0xDEAD_beef", 0xDEADBEEF),
        ("-9223372036854775808", -(1 << 63)),
        ("[1, 'a', [], {}, true]", [1, "a", [], {}, True]),
        ('"12:00:00.1234567"', "12:00:00.1234567"),
        ("'''\n12:00:00.1234567'''", "12:00:00.1234567"),
        ("1 # at 12:00:00.1234567", 1),
    ],
)
def test_values(text: str, value: Any) -> None:
    assert _same(read(f"x = {text}\n".encode()), {"x": value})


def test_a_mark_and_line_ends_of_two_characters() -> None:
    assert read(b'\xef\xbb\xbf"a.b" = 1\r\n[c]\r\nd = """\r\ne"""\r\n') == {
        "a.b": 1,
        "c": {"d": "e"},
    }
    assert read(b"") == {}


@pytest.mark.parametrize(
    ("text", "kind", "path"),
    [
        ("x = 12:00:00.1234567", "digits", "$"),
        ("x = [2001-01-01T12:00:00.0000001Z]", "digits", "$"),
        ('"x:00.1234567" = 1\n"x:00.1234568" = 12:00:00.00000001', "digits", "$"),
        ("x = 0.10000000000000000001", "digits", "$"),
        ("x = 1e400", "overflow", "$"),
        ("x = 1e-400", "overflow", "$"),
        ("a = [{b = 9223372036854775808}]", "uint64", "$.a[0].b"),
        ("a.b = -9223372036854775809", "bigint", "$.a.b"),
        ("a = " + "9" * 5000, "huge-integer", "$"),
        ("a = 0x" + "f" * 5000, "huge-integer", "$.a"),
        ("a = " + "[" * 451 + "]" * 451, "depth", "$"),
        ("a = " + "{a=" * 301 + "1" + "}" * 301, "depth", "$"),
        ("a." * 301 + "a = 1", "depth", "$"),
    ],
)
def test_what_is_not_held_is_said(text: str, kind: str, path: str) -> None:
    with pytest.raises((Unheld, ValueRefusedError)) as caught:
        read(text.encode())
    lost: Any = caught.value
    if isinstance(lost, Unheld):
        lost = lost.difference
    assert (lost.kind, lost.value_path) == (kind, path)


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 447 + "]" * 447,
        "a = " + "{a=" * 298 + "1" + "}" * 298,
        "[" + ".".join("a" * 299) + "]\nb = 1",
        '"x:00.1234567" = 1\n"x:00.1234568" = 2',
    ],
)
def test_what_is_nearly_too_much(text: str) -> None:
    found = read(text.encode())
    assert _same(read(write(found).encode()), found)


@pytest.mark.parametrize(
    ("data", "at"),
    [
        (b"a = [1, 2", 9),
        (b"a = 1\nb = \n", 10),
        (b"a = 1\r\nb = \r\nc = 3", 11),
        (b"\xef\xbb\xbf\xc3\xa9 = 1", 3),
        (b'a = "\xc3\xa9" x', 9),
        (b"a = 1\n\na = 2", 12),
        (b"a = 1\n]", 6),
        (b'a = "\xff"', 5),
        (b'\xef\xbb\xbfa = "\xff"', 8),
        (b"a = 1\rb = 2", 5),
        (b'a = "\0"', 5),
        (b"\xff\xfea\x00", 0),
        (b"a = 2001-02-30", 4),
    ],
)
def test_malformed_text_gets_its_place(data: bytes, at: int) -> None:
    with pytest.raises(Malformed) as caught:
        read(data)
    assert caught.value.at == at
    assert "(at" not in caught.value.message


def test_line_and_column() -> None:
    error = said(b'a = 1\n"\xc3\xa9" = "\xc3\xa9" }\n', "toml")
    assert isinstance(error, SyntaxInputError)
    assert (error.line, error.column, error.offset) == (2, 11, 18)


@pytest.mark.parametrize(
    ("data", "exit_code", "words"),
    [
        ("a = " + "[" * 100_000, 4, "nested too deeply"),
        ("a = " + "{a=" * 100_000, 4, "nested too deeply"),
        ("a." * 100_000 + "a = 1", 4, "nested too deeply"),
        ("[" + '"a" . ' * 100_000 + "a]", 4, "nested too deeply"),
        ("a = 1\n" + "a." * 100_000, 4, "nested too deeply"),
        ('a = "' + "x" * 1_000_000, 3, "unterminated string"),
        ("a = 1\n]", 3, "line 2, column 1 (byte 6)"),
        ("a = 1\na = 2", 3, "line 2, column 6 (byte 11)"),
    ],
    ids=range(8),
)
def test_hostile_text(tmp_path: Path, data: str, exit_code: int, words: str) -> None:
    error = said(data.encode(), "toml")
    assert (error.exit_code, words in str(error)) == (exit_code, True)
    code, message = on_the_command_line(tmp_path, data.encode(), "toml")
    assert (code, words in message, message.count("\n")) == (exit_code, True, 1)


# What is written.

_text = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.text("ab .\"'\\\n\r\t#-[]=\x00\x7f\x80\u00e9", max_size=9),
)
_zones = st.one_of(
    st.none(), st.integers(-1439, 1439).map(lambda m: timezone(timedelta(minutes=m)))
)
_scalars = st.one_of(
    *(_text, st.booleans(), st.integers(-(1 << 63), (1 << 63) - 1), st.floats(allow_nan=False)),
    st.dates(),
    st.times().map(lambda value: value.replace(fold=0)),
    st.datetimes(timezones=_zones).map(lambda value: value.replace(fold=0)),
)
_values = st.recursive(
    _scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(_text, inner, max_size=4),
        st.lists(st.dictionaries(_text, inner, max_size=2), max_size=3),
    ),
    max_leaves=15,
)
_tables = st.dictionaries(_text, _values, max_size=5)


@given(_tables)
def test_what_is_written_reads_back(document: dict[str, Any]) -> None:
    text = write(document)
    assert _same(read(text.encode()), document)
    assert "#---" not in text.split("\n")


@pytest.mark.parametrize(
    "document",
    [
        {"a": {"x": 1}, "b": 2},
        {"a": {"x": {"y": 1}, "z": [1]}, "b": {"c": {}, "d": 1}},
        {"a": [{"x": 1}], "b": {"x": 1}, "c": [{"x": 1}, {}]},
        {"a": {"x": 1}, "b": [{"long": "x" * 100, "c": {"d": 1}, "e": [{"f": {}}, {"f": 2}]}]},
        {"a": [[{"x": 1}], {}], "b": {}},
        {"a b": {"\u00e9": {"": {'"': 1, "\n": 2}}}, "": 3},
    ],
)
def test_the_order_of_keys_is_kept(document: dict[str, Any]) -> None:
    assert _same(read(write(document).encode()), document)


@given(st.dictionaries(_text, _scalars, max_size=4), st.dictionaries(_text, _scalars, max_size=4))
def test_where_the_order_allows_the_text_is_that_of_tomli_w(
    plain: dict[str, Any], table: dict[str, Any]
) -> None:
    document = {**plain, "\U0010fffe": [{}, 1], "\U0010ffff": {"inner": table}}
    assert write(document) == tomli_w.dumps(document)


@pytest.mark.parametrize(
    "value",
    [
        *(
            None,
            1 << 63,
            -(1 << 63) - 1,
            b"a",
            (1,),
            {1: 2},
            {None: 1},
            {"a"},
            1j,
            object(),
            "\ud800",
        ),
        *(timedelta(1), time(1, tzinfo=UTC), time(1, fold=1), datetime(2001, 1, 1, fold=1)),
        datetime(2001, 1, 1, tzinfo=timezone(timedelta(0), "name")),
        datetime(2001, 1, 1, tzinfo=timezone(timedelta(seconds=1))),
        type("Text", (str,), {})("a"),
        {type("Text", (str,), {})("a"): 1},
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("inside", [lambda v: {"a": v}, lambda v: {"a": [0, {"b": v}], "c": 1}])
def test_what_toml_has_no_words_for_is_refused(value: Any, inside: Any) -> None:
    with pytest.raises((ValueError, TypeError, OverflowError)):
        write(inside(value)).encode()
    with pytest.raises(TypeError):
        write([value])


def test_endless_values_are_refused() -> None:
    endless: dict[str, Any] = {}
    endless["a"] = [endless]
    with pytest.raises(RecursionError):
        write(endless)


_tokens = st.sampled_from([
    *("a", "b", " = ", "1", "[", "]", "[[", "]]", "{", "}", ",", "\n", ".", '"', "'", '"""', "'''"),
    *("#", "1.5", "inf", "nan", "2001-01-01", "T", "12:00:00", ".1234567", "Z", "true", "\\", "_"),
    *("\u00e9", "0x1F", "1e400", "9" * 20, "-", "+"),
])  # fmt: skip


@given(st.lists(_tokens, max_size=16).map("".join))
def test_any_text_is_read_as_by_tomllib_or_refused(text: str) -> None:
    try:
        found = read(text.encode())
    except Malformed as bad:
        if bad.at is None or not 0 <= bad.at <= len(text.encode()):
            raise
        with pytest.raises(tomllib.TOMLDecodeError):
            tomllib.loads(text)
        return
    except (Unheld, ValueRefusedError):
        return
    if "nan" not in text:
        assert _same(found, tomllib.loads(text))
    assert _same(read(write(found).encode()), found)


def test_plain_values_are_written_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the order of keys asks for tables on one line, the values between these took a call of
    the library each, and every key one more."""
    dumps, calls = tomli_w.dumps, 0

    def counted(*facts: Any, **more: Any) -> str:
        nonlocal calls
        calls += 1
        return dumps(*facts, **more)

    monkeypatch.setattr(tomli_w, "dumps", counted)
    one = {"a": 1, "b": [2], "c": "x", "t": {"k": 1.5}, "d": True, "e": date(2024, 1, 2)}
    text = write({"rows": [one] * 50})
    assert list(tomllib.loads(text)["rows"][49].items()) == list(one.items())
    assert calls <= 4 * 50
