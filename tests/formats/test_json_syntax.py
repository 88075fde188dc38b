"""Errors in JSON name line, column and byte, wherever blocks are cut."""

from __future__ import annotations

import io
import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.errors import SyntaxInputError
from serialpack.formats import FORMATS
from serialpack.formats.base import Unheld, ValueFormat
from serialpack.formats.json.parse import LOOKED_AT
from tests.formats import texts


def _error(name: str, source: bytes, size: int, *, lines: bool = True) -> SyntaxInputError:
    fmt = FORMATS.get(name)
    assert isinstance(fmt, ValueFormat)
    with pytest.raises(SyntaxInputError) as caught:
        for block in fmt.split(io.BytesIO(source).read, size, for_values=lines):
            fmt.parse(block)
    return caught.value


@pytest.mark.parametrize("size", [10, 30, 1000])
@pytest.mark.parametrize(
    ("name", "text", "marker"),
    [
        ("json", '[{"a": 1},\n {"é": 2},\n {"b": @nul}]', "nul"),
        ("json", '[{"é": 1}, {"é": 2}, {"b": @NaN}]', "NaN"),
        ("json", '[{"a": "NaN"}, {"b": @-Infinity}]', "-Infinity"),
        ("json", "[1,\n2,\n3,\n4,\n5,\n@]", "]"),
        ("json", '[1, 2, 3, 4, 5, 6, "x", @x]', "x"),
        ("json", "[1, 2]  @[3]", "[3]"),
        ("json", '{"a": 1,\n"b": 2,\n"c" @3}', "3"),
        ("json", '{"a": 1, "b": 2, @c: 3}', "c"),
        ("json", '["é", "a@\tb"]', "tab"),
        ("json", '["éé", 1, 2, 3, 4, 5@', "end"),
        ("ndjson", '{"a": 1}\n\n{"é": 2}\n{"é": @x}\n', "x"),
        ("ndjson", "1\n2\n3 @4\n5\n", "4"),
        ("ndjson", '{"a": @\n1}\n', "newline"),
    ],
)
def test_place(name: str, text: str, marker: str, size: int) -> None:
    assert marker
    before, _, behind = text.partition("@")
    error = _error(name, (before + behind).encode(), size)
    assert error.exit_code == 3
    assert error.offset == len(before.encode())
    assert error.line == before.count("\n") + 1
    assert error.column == len(before.split("\n")[-1]) + 1
    assert str(error).startswith(f"line {error.line}, column {error.column} (byte {error.offset}):")


def test_without_lines_the_byte_is_told() -> None:
    error = _error("ndjson", b"1\n2\n3\nx\n", 2, lines=False)
    assert (error.line, error.offset) == (None, 6)


def test_what_is_not_utf8() -> None:
    error = _error("json", '["é", "é'.encode() + b'\xff"]', 1000)
    assert (error.line, error.column, error.offset) == (1, 9, 10)
    error = _error("ndjson", b'1\n2\n"\xed\xa0\x80"\n', 2)
    assert (error.line, error.column, error.offset) == (3, 2, 5)


@pytest.mark.parametrize("text", [b"\xff\xfe[\x001\x00]\x00", b"\xfe\xff\x00[\x00]", b"[\x00]\x00"])
def test_utf16_is_refused(text: bytes) -> None:
    assert _error("json", text, 1000).offset <= 1


@given(
    text=st.one_of(texts.arrays(), texts.maps()),
    at=st.integers(0, 200),
    junk=st.sampled_from(["x", ",", "]", "}", '"', "[", "1", ":", "\\", "\x00", " "]),
    size=st.integers(1, 64),
)
def test_broken_texts_are_found_where_the_standard_library_does(
    text: str, at: int, junk: str, size: int
) -> None:
    broken = text[:at] + junk + text[at:]
    fmt = FORMATS.get("json")
    assert isinstance(fmt, ValueFormat)
    try:
        json.loads(broken)
        valid = True
    except ValueError:
        valid = False
    try:
        for block in fmt.split(io.BytesIO(broken.encode()).read, size, for_values=True):
            fmt.parse(block)
        parsed = True
    except Unheld:  # valid, but the junk made a number that Python does not hold
        return
    except SyntaxInputError as error:
        parsed = not 0 <= error.offset <= len(broken.encode())
    assert parsed == valid


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"a": 1,@}', "a trailing comma"),
        ("[[1],@ ]", "a trailing comma"),
        ('@// a: "b"\n{"a": 1}', "a comment"),
        ('{"a": 1 @/* b */}', "a comment"),
        ('{@a: 1, "b": 2}', "a key without quotes"),
        ("{\"a\": @'b'}", "a text in single quotes"),
        ('{"a": 0@x10}', "a hexadecimal number"),
        ('{"a": @.5}', "a number that begins with + or ."),
        ("[1, @+1]", "a number that begins with + or ."),
        ('["a@\tb"]', "a control character in a text"),
    ],
)
def test_what_json5_has_is_named(text: str, what: str) -> None:
    before, _, behind = text.partition("@")
    error = _error("json", (before + behind).encode(), 1000)
    assert f": {what}, which JSON5 has" in error.message
    assert error.offset <= len(before) + 1  # where a comma is, or behind it
    assert error.hint == "serialpack unpack -F json FILE -o NEW.json makes JSON of it"
    padded = " " * LOOKED_AT + before + behind
    assert "pyjson5 --as-json FILE" in str(_error("json", padded.encode(), 1 << 20).hint)


@pytest.mark.parametrize("text", ["[,]", "[1,,]", "{,}", '{"a":,}', "[x]", "{1: 2}", "[1, # a\n2]"])
def test_what_json5_has_not_is_not_said_to_be_of_it(text: str) -> None:
    error = _error("json", text.encode(), 1000)
    assert "JSON5" not in error.message
    assert error.hint is None


@pytest.mark.parametrize(
    ("text", "what"),
    [('["a\nb"]', "a text goes over the end of its line"), ('["ab', "unterminated string")],
)
def test_what_is_wrong_with_a_text_is_said_in_whole_words(text: str, what: str) -> None:
    assert _error("json", text.encode(), 1000).message == f"not valid JSON: {what}"


@pytest.mark.parametrize("text", ['{"a":1}{"a":2}', '{"a":1} \n{\n"a":2}', '{"a":\n1}{"a":2}'])
def test_values_behind_one_another_are_made_lines(text: str, tmp_path: Path) -> None:
    """By the command that the message names, where it is there; far in, one of another program."""
    error = _error("json", text.encode(), 1000)
    assert error.hint == "serialpack unpack -F json FILE -o NEW.json makes JSON of it"
    error = _error("json", (" " * LOOKED_AT + text).encode(), 1 << 20)
    assert "a second value behind the first" in error.message
    words = str(error.hint).split()[:4]
    assert words == ["jq", "-c", ".", "FILE"]
    if shutil.which("jq") is None:
        pytest.skip("no jq")
    path = tmp_path / "a.json"
    path.write_text(text)
    lines = subprocess.run([*words[:3], str(path)], stdout=subprocess.PIPE, check=True).stdout
    fmt = FORMATS.get("ndjson")
    assert isinstance(fmt, ValueFormat)
    (block,) = fmt.split(io.BytesIO(lines).read, 1000, for_values=True)
    assert fmt.parse(block) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize("name", ["json", "ndjson"])
@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("{'a': None, 'b': \"it's\", 'c': 1.5}\n", [{"a": None, "b": "it's", "c": 1.5}]),
        ("{'a': True}\n{'a': False}\n", [{"a": True}, {"a": False}]),
        ('[{"a": True}, {"a": 1}]\n', [[{"a": True}, {"a": 1}]]),
    ],
)
def test_text_of_pythons_values_is_told_with_what_makes_json_of_it(
    name: str, text: str, values: list[Any], tmp_path: Path
) -> None:
    """It was that a value was expected, where print(value) had written one."""
    with pytest.raises(SyntaxInputError, match="a word of Python") as refused:
        serialpack.convert(io.BytesIO(text.encode()), io.BytesIO(), to="yaml", format=name)
    hint = refused.value.hint
    assert hint is not None
    program = [word.replace("python3", sys.executable) for word in shlex.split(hint)]
    end = program.index("<FILE")
    made = subprocess.run(program[:end], input=text.encode(), capture_output=True, check=True)
    assert list(map(json.loads, made.stdout.splitlines())) == values
    assert "python3 -c 'import" in str(refused.value)  # whose option is none of ours
    (tmp_path / "NEW.json").write_bytes(made.stdout)
    serialpack.convert(tmp_path / "NEW.json", io.BytesIO(), to="yaml")
