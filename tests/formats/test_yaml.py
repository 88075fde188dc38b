"""YAML as a source, by YAML 1.1 where that matters: what is read, and what each error says."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import yaml

from serialpack.depth import MAX_DEPTH
from serialpack.errors import SyntaxInputError, ValueRefusedError
from serialpack.formats.base import Unheld
from serialpack.formats.shared.document import Malformed
from serialpack.formats.yaml.read import read
from serialpack.formats.yaml.write import write
from serialpack.values.equality import difference
from tests.formats.hostile import on_the_command_line, said

#: The parsers that PyYAML may bring. libyaml's is not there on every machine.
PARSERS = ("CSafeLoader", "SafeLoader")


@pytest.fixture(params=PARSERS)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """PyYAML with and without libyaml."""
    if request.param == "SafeLoader":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
        monkeypatch.delattr(yaml, "CSafeDumper", raising=False)
    elif not hasattr(yaml, "CSafeLoader"):
        pytest.skip("PyYAML was built without libyaml")
    return getattr(yaml, request.param)


def _same(one: Any, other: Any) -> bool:
    return difference(one, other) is None


def _hours(hours: int) -> timezone:
    return timezone(timedelta(hours=hours))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", False),
        ("on", True),
        ("y", "y"),
        ("n", "n"),
        ("1:30", 90),
        ("-1:30:00", -5400),
        ("1:30.5", 90.5),
        ("0777", 511),
        ("0o777", "0o777"),
        ("08", "08"),
        ("0x_1F", 31),
        ("-0b1_1", -3),
        ("-0", 0),
        ("1_000", 1000),
        ("9" * 4298, int("9" * 4298)),
        ("~", None),
        ("", None),
        ("1e3", "1e3"),
        ("1.5e3", "1.5e3"),
        ("1.5e+3", 1500.0),
        ("1.", 1.0),
        ("-.5", "-.5"),
        ("-0.0", -0.0),
        ("1.10", 1.1),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        (".nan", math.nan),
        ("2001-12-14", date(2001, 12, 14)),
        ("2001-1-1", "2001-1-1"),
        ("2001-12-14t21:59:43.10-05:00", datetime(2001, 12, 14, 21, 59, 43, 100000, _hours(-5))),
        ("2001-12-14 21:59:43 +1", datetime(2001, 12, 14, 21, 59, 43, 0, _hours(1))),
        ("2001-12-14 21:59:43Z", datetime(2001, 12, 14, 21, 59, 43, 0, UTC)),
        ("2001-12-14 21:59:43.1234560", datetime(2001, 12, 14, 21, 59, 43, 123456)),
        ("=", "="),
        ("[<<]", ["<<"]),
        ("!!str 12", "12"),
        ("!!int '12'", 12),
        ("!!float 3", 3.0),
        ("!!binary aGk=", b"hi"),
        ("! text", "text"),
        ("!!set {a, b}", {"a", "b"}),
        ("!!set {}", set()),
        ("{2: a, 1.5: b, true: c, null: d, 2001-01-01: e}", None),
        ('"\\u00e9\\U0001F600"', "\u00e9\U0001f600"),
        ("a\u00e9\U0001f600", "a\u00e9\U0001f600"),
    ],
)
def test_values_are_those_of_pyyaml(parser: Any, text: str, value: Any) -> None:
    (found,) = read(f"--- {text}\n".encode(), core=False)
    if value is not None:
        assert _same(found, value)
    if text not in ("=", "[<<]", ".nan"):  # which PyYAML takes for an error, and for minus NaN
        assert _same(found, yaml.load(text, Loader=parser))


@pytest.mark.usefixtures("parser")
def test_documents_are_records() -> None:
    assert read(b"a: 1\n---\n- b\n...\n# c\n---\n--- ~\n") == [{"a": 1}, ["b"], None, None]
    assert read(b"") == read(b"# nothing\n") == read(b"\xef\xbb\xbf\n") == []
    assert read(b"\xef\xbb\xbfa: b") == [{"a": "b"}]


def test_merged_maps(parser: Any) -> None:
    text = """
        a: &a {x: 1, y: 2}
        b: &b {y: 3, z: 4}
        c: {w: 0, <<: *a, y: 5}
        d: {<<: [*a, *b, {v: 6}], u: 7}
        e: {"<<": *a}
        """
    (found,) = read(text.encode())
    assert _same(found, yaml.load(text, Loader=parser))
    assert list(found["c"].items()) == [("x", 1), ("y", 5), ("w", 0)]
    assert found["d"] == {"v": 6, "y": 2, "z": 4, "x": 1, "u": 7}


@pytest.mark.usefixtures("parser")
def test_aliases_are_one_object() -> None:
    (found,) = read(b"a: &x [1, {k: &y {}}]\nb: *x\nc: *y\nd: &x 5\ne: *x\n&z self: &s [*s, *z]\n")
    assert found["a"] is found["b"]
    assert found["a"][1]["k"] is found["c"]
    assert found["e"] == 5
    assert found["self"][0] is found["self"]
    (again,) = read(write([found], explicit=True))
    assert difference(found, again, identity=True) is None


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "kind", "path"),
    [
        ("a: 1\nb: {c: 1, d: 2, c: 1}", "duplicate-keys", "$.b.c"),
        ("{1: a, 1.0: b}", "duplicate-keys", "$[1.0]"),
        ("!!set {a, a}", "duplicate-keys", "$.a"),
        ("a: &a {x: 1}\nb: {<<: *a, <<: *a}", "duplicate-keys", '$.b["<<"]'),
        ("[0, {? [a] : b}]", "key", "$[1]"),
        ("{? {a: b} : c}", "key", "$"),
        ("- 1.00000000000000000001", "digits", "$[0]"),
        ("x: 1:30.123456789012345678", "digits", "$.x"),
        ("- 1\n- 2001-01-01 00:00:00.1234567", "digits", "$[1]"),
        ("1.0e+400", "overflow", "$"),
        ("1.0e-400", "overflow", "$"),
        ("9" * 4301, "huge-integer", "$"),
        ("0x" + "f" * 4000, "huge-integer", "$"),
        ("1" + ":59" * 4000, "huge-integer", "$"),
        ("a: [0, {!own b: 1}]", "tag", "$.a[1]"),
        ("a: {<<: !own b}", "tag", "$.a[<<]"),
        ("a: &a !own {b: c}\nd: {<<: [*a]}", "tag", "$.d[<<]"),
        ("a: &a !own {b: c}\nd: {<<: *a}", "tag", "$.d[<<]"),
        ("!own {a: 1.00000000000000000001}", "digits", "$.a"),
        ("! 12", "tag", "$"),
        ("- " * (MAX_DEPTH + 1), "depth", "$"),
        (
            "a0: &a0 []\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 501)),
            "depth",
            "$",
        ),
    ],
)
def test_what_python_does_not_hold_is_said(text: str, kind: str, path: str) -> None:
    with pytest.raises((Unheld, ValueRefusedError)) as caught:
        read(f"first\n---\n{text}\n".encode(), core=False)
    lost: Any = caught.value
    if isinstance(lost, Unheld):
        lost = lost.difference
    else:
        assert 'serializer="raw"' in str(lost)
    assert (lost.record, lost.kind, lost.value_path) == (1, kind, path)


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("data", "at"),
    [
        (b"a: [1, 2", 8),
        (b"a: 1\n}\n", 5),
        (b"a: b: c", 4),
        ("\u00e9: [\u00e9,\nb: }".encode(), 12),
        (b"\xef\xbb\xbfa: *b", 6),
        (b"a: \xff", 3),
        (b"\xef\xbb\xbf\xc3\xa9: \xc3", 7),
        ("\u00e9\x01".encode(), 2),
        (b"\xff\xfea\x00", 0),
        (b"- !!int a", 2),
        (b"- !!null a", 2),
        (b"- !!binary a$==", 2),
        (b"- 2001-99-99", 2),
        (b"- 2001-01-01 00:00:00+99:00", 2),
        (b"!!set {a: 1}", 10),
        (b"- &a {<<: *a}", 10),
        (b"{<<: 1}", 5),
        (b"{<<: [1]}", 7),
        (b"a\tb: \t- c", None),
        (b'"\\uD83D\\uDE00"', None),
        (b'"\\UFFFFFFFF"', None),
    ],
)
def test_malformed_text_gets_its_place(data: bytes, at: int | None) -> None:
    with pytest.raises(Malformed) as caught:
        read(data, core=False)
    if at is not None:
        assert caught.value.at == at


def test_line_and_column() -> None:
    error = said(b"a: 1\nb: \xc3\xa9 }\n\xc3\xa9: [\n", "yaml")
    assert isinstance(error, SyntaxInputError)
    assert (error.line, error.column, error.offset) == (4, 1, 19)


LAUGHS = "a0: &a0 [lol, lol]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)
)
MERGES = "a0: &a0 {x: 1}\n" + "".join(
    f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 9)}], k{i}: 1}}\n" for i in range(1, 40)
)


@pytest.mark.parametrize(
    ("data", "exit_code", "words"),
    [
        (LAUGHS, 4, "the aliases stand for more than 8 MiB"),
        (MERGES, 4, "the aliases stand for more than 8 MiB"),
        (f"a: &a {'x' * 100_000}\nb: [{'*a, ' * 100_000}]", 4, "the aliases stand for more"),
        ("[" * 100_000, 4, "nested too deeply"),
        ("[" * 100_000 + "]" * 100_000, 4, "nested too deeply"),
        ("- " * 100_000, 4, "nested too deeply"),
        ("{a: " * 100_000, 4, "nested too deeply"),
        ("? " * 100_000, 4, "a key"),
        ("&a " * 100_000, 3, "line 1, column 4"),
        ('"' + "a" * 1_000_000, 3, "unexpected end of stream"),
        ("x: {<<: !!python/object/apply:os.system ['touch pwned']}", 4, "record 0, $.x"),
        ("a: 1\nb: 2\n---\na: 1\na: 2\n", 4, "record 1, $.a"),
        ("a: 1\n}\n", 3, "line 2, column 1 (byte 5)"),
    ],
    ids=range(13),
)
def test_hostile_text(tmp_path: Path, data: str, exit_code: int, words: str) -> None:
    error = said(data.encode(), "yaml")
    assert (error.exit_code, words in str(error)) == (exit_code, True)
    code, message = on_the_command_line(tmp_path, data.encode(), "yaml")
    assert (code, words in message, message.count("\n")) == (exit_code, True, 1)
    assert not Path("pwned").exists()


@pytest.mark.usefixtures("parser")
def test_a_few_aliases_are_no_bomb() -> None:
    (found,) = read(b"a: &a " + b"x" * 100_000 + b"\nb: [" + b"*a, " * 80 + b"]")
    assert len("".join(found["b"])) == 8_000_000
