"""JSON as people write it becomes JSON: JSON5, comments, and documents one after another."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack import api
from serialpack.formats.json import loose, parse
from serialpack.formats.json.loose import LooseJson, loose_in
from tests.formats.work import lines_run

JSON5 = {
    '{"a":1,}': {"a": 1},
    "[1,2 , ]": [1, 2],
    '// a "b"\n{"a":1}': {"a": 1},
    '{"a":/* "b */1 /**/}': {"a": 1},
    '{"a":1,// c\n}': {"a": 1},
    '{"u":"http://x/*","v":"//"} //': {"u": "http://x/*", "v": "//"},
    "{a:'x',$b_1:\"y\",é:null,true:false}": {"a": "x", "$b_1": "y", "é": None, "true": False},
    "['it\\'s \"q\"','\\x41\\u0042\\v\\0\\z','a\\\nb\\\r\nc']": ['it\'s "q"', "AB\v\0z", "abc"],
    "[+1,-.5,5.,5.e3,0x1F,-0XfF,0xFFFFFFFFFFFFFFFFFF,]": [1, -0.5, 5.0, 5e3, 31, -255, 2**72 - 1],
    "\ufeff[\u00a01\v,\f2\u2028,]": [1, 2],
    "{\"a\tb\":'\x01\\\t\x1f\\n'}": {"a\tb": "\x01\t\x1f\n"},
}
SEVERAL = {
    '{"a":1}{"a":2}': [{"a": 1}, {"a": 2}],
    '{\n "a": 1\n}\n{\n "a": "}{"\n}\n[3]\n': [{"a": 1}, {"a": "}{"}, [3]],
    "{a:1} // one\n{a:2,}": [{"a": 1}, {"a": 2}],
    '{"a":1},{"a":2}': [{"a": 1}, {"a": 2}],
    '{"a":1},\n[2] , // one\n{"a":3}\n{"a":4},\n': [{"a": 1}, [2], {"a": 3}, {"a": 4}],
}


def _json(text: str, size: int = 1 << 20) -> Any:
    """What is made of a text that is read in pieces of ``size`` bytes."""
    found = loose_in(text.encode(), lines=False, whole=True)
    assert found is not None
    assert found.sound
    maker, data = LooseJson(several=found.several), io.BytesIO(text.encode())
    made = b"".join(maker.pieces(lambda _: data.read(size)))
    assert made.count(b"\n") == text.count("\n")  # so that errors name the line
    return json.loads(made.decode().removeprefix("\ufeff"))


@pytest.mark.parametrize("text", [*JSON5, *SEVERAL])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_it_is_json_wherever_it_is_cut(text: str, size: int) -> None:
    assert _json(text, size) == {**JSON5, **SEVERAL}[text]


@pytest.mark.parametrize(
    "text",
    [
        *('{"a": 1}', '{"a": NaN}', "[1, 2", '"//"', '{"a": "/*'),
        # No JSON5, and one value only: who reads it as JSON says what is wrong.
        *("[,]", "[1,,2]", "{,}", "{1: 2}", "[x]", '{"a": 1}}', '{"a": 1} x'),
        *('{"a":1},,{"b":2}', '{"a":1},{"b":2}]', ',{"a":1}', "1,2", "a,b"),
        *('{"a": 1} "b"', "1 2", "'a", "/* a", "[1, # a\n2]", "[012]", '["a\nb"]'),
    ],
)
def test_anything_else_is_left_alone(text: str) -> None:
    assert loose_in(text.encode(), lines=False, whole=True) is None


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False).map(repr),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=9,
)


def _written(value: Any, draw: Any) -> str:
    """A value as JSON5, one of the many ways."""
    gap: str = draw(st.sampled_from(["", " ", "\n", "/*,]*/", "//}\n", "\u00a0"]))
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else ((None, each) for each in value)
        parts = [
            gap + ("" if key is None else _text(key, draw) + gap + ":") + _written(each, draw)
            for key, each in pairs
        ]
        last = gap + "," if parts and draw(st.booleans()) else ""
        marks = "{}" if isinstance(value, dict) else "[]"
        return marks[0] + (gap + ",").join(parts) + last + gap + marks[1]
    return gap + (_text(value, draw) if isinstance(value, str) else json.dumps(value)) + gap


def _text(text: str, draw: Any) -> str:
    written = json.dumps(text, ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()):
        inner = written[1:-1].replace('\\"', '"').replace("'", "\\'")
        return f"'{inner}'"
    return written


@given(st.dictionaries(st.text(), values), st.integers(1, 30), st.data())
def test_whatever_is_written_as_json5_is_read(value: Any, size: int, data: st.DataObject) -> None:
    assert _json(_written(value, data.draw) + "//", size) == value


def test_it_is_found_in_as_much_as_is_looked_at() -> None:
    assert parse.LOOKED_AT == api.HEAD


def test_what_is_wrong_is_told_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": 1, // b\n "c": [1, 2,],\n "d": x\n}')
    with pytest.raises(serialpack.InputError, match="line 3, column 7"):
        serialpack.convert(path, io.BytesIO(), to="yaml")


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    ['{"a":1}', "//\n", "/*", "'", '"\\', ",", "[", "a:", "{a:1,}", " ", "/**/", "\\'", "\v"],
)
def test_lines_that_run_grow_with_the_bytes(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loose, "_PIECE", 100)

    def work(count: int) -> None:
        data = io.BytesIO(b'{"a":1,' + part.encode() * count)
        for _ in LooseJson(several=False).pieces(data.read):
            pass

    few, many = lines_run(work, 1000), lines_run(work, 4000)
    assert many < 5 * few + 3000
