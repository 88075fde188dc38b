"""How deep texts and bytes are: told from them, before a reader that calls itself is given them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serialpack.depth import (
    MAX_DEPTH,
    TooDeep,
    _messages,
    check_documents,
    check_json,
    check_messages,
    json_depth,
)
from serialpack.depth.values import depth_of

VALUES = st.recursive(
    st.none() | st.integers() | st.text('[]{}"\\a:, \n', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('[]{}"\\'), inner),
    max_leaves=30,
)


@given(VALUES, st.integers(MAX_DEPTH - 30, MAX_DEPTH + 5), st.booleans())
def test_json_is_as_deep_as_its_values(value: object, around: int, ascii_only: bool) -> None:
    """Within so many lists that the limit is near, and with others before and behind."""
    text = json.dumps(value, ensure_ascii=ascii_only)
    deep = ("[" * around + text + "]" * around).encode()
    levels = around + depth_of(value, 100)
    beside = json.dumps([value, value]).encode()
    for data in (deep, beside + b"\n" + deep, deep + b"\n" + beside):
        found, still_open = json_depth(data)
        assert (found > MAX_DEPTH) == (levels > MAX_DEPTH)
        assert found >= levels or found <= MAX_DEPTH
        assert found == levels or levels <= MAX_DEPTH
        assert still_open == 0


def hidden(levels: int, before: bytes, behind: bytes) -> bytes:
    return b"[" + (before + b"[") * (levels - 1) + b"1" + (behind + b"]") * (levels - 1) + b"]"


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        (b'"]",', b',"["'),
        (b'"\\"]\\\\",', b',"\\\\[\\""'),
        (b'{"]}":1},', b',{"{[":1}'),
        (b'"","]","",', b',"","[",""'),
        (b'"\\u0022]",', b',"[\\n"'),
    ],
)
def test_brackets_in_strings_hide_no_level(before: bytes, behind: bytes) -> None:
    """As many of them as would pair off with all that stand outside."""
    for levels in (MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 6000):
        data = hidden(levels, before, behind)
        if levels <= MAX_DEPTH:
            json.loads(data)
        deepest = levels + (b"{" in behind)
        assert (json_depth(data)[0] > MAX_DEPTH) == (deepest > MAX_DEPTH)
        assert json_depth(data)[0] == deepest or deepest <= MAX_DEPTH


def test_lists_in_maps_are_two_levels() -> None:
    for levels in (MAX_DEPTH // 2, MAX_DEPTH // 2 + 1, 3000):
        data = b'{"a":[' * levels + b"]}" * levels
        assert (json_depth(data)[0] > MAX_DEPTH) == (2 * levels > MAX_DEPTH)


def test_json_that_is_still_open() -> None:
    for data in (b"[" * 600, b'{"a":' * 600, b'["]",' * 600, b"[" * 600 + b'"' + b"]" * 600):
        assert json_depth(data) == (600, 600)
    with pytest.raises(TooDeep):
        check_json(b"[" * 600)


@pytest.mark.parametrize("before", [b"", b"\x01", b"\x92\x01\xc0", b"\xa9" + b"\x91" * 9])
@pytest.mark.parametrize("head", [b"\x91", b"\x81\xa1a", b"\xdc\0\1", b"\xdf\0\0\0\1\xa1a"])
@pytest.mark.parametrize("last", [b"\x91\1", b"\x90", b"\x80", b"\xdc\0\0"])
def test_messages(before: bytes, head: bytes, last: bytes) -> None:
    for levels in (MAX_DEPTH - 1, MAX_DEPTH):
        check_messages(before + head * (levels - 1) + last + before)
    for levels in (MAX_DEPTH + 1, 1023, 1024, 1025, 6000):
        with pytest.raises(TooDeep):
            check_messages(before + head * (levels - 1) + last)
        with pytest.raises(TooDeep):  # what is there of a message that is not whole
            check_messages(before + head * levels)


@pytest.mark.parametrize("before", [b"\xda\x20\0" + b"a" * 8192, b"\x90" * 8192, b"\x91\1" * 999])
def test_what_the_first_bytes_foretell_is_no_answer(before: bytes) -> None:
    check_messages(before + b"\x91" * (MAX_DEPTH - 1) + b"\x90")
    with pytest.raises(TooDeep):
        check_messages(before + b"\x91" * MAX_DEPTH + b"\x90")


def test_what_begins_many_containers_is_gone_over_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    count = _messages._containers

    def counting(data: bytes) -> int:
        counted.append(len(data))
        return count(data)

    monkeypatch.setattr(_messages, "_containers", counting)
    check_messages(b"\x81\xa1a\x91\1" * 5000)
    assert sum(counted) < 1000
    monkeypatch.setattr(_messages, "_fits", None)
    check_messages(b"\x91" + b"\xa8text too" * 5000)


def document(levels: int, kind: bytes = b"\x03", name: bytes = b"a", beside: bytes = b"") -> bytes:
    data = b"\5\0\0\0\0"
    for _ in range(levels - 1):
        body = beside + kind + name + b"\0" + data + b"\0"
        data = (len(body) + 4).to_bytes(4, "little") + body
    return data


@pytest.mark.parametrize("kind", [b"\x03", b"\x04"])
@pytest.mark.parametrize("beside", [b"", b"\x10\3\0\4\3\4\0", b"\2b\0\2\0\0\0\3\0"])
def test_documents(kind: bytes, beside: bytes) -> None:
    flat = document(2, beside=beside * 400)
    for levels in (MAX_DEPTH - 1, MAX_DEPTH):
        check_documents(flat + document(levels, kind, b"0", beside) + flat)
    for levels in (MAX_DEPTH + 1, 2000, 6000):
        data = document(levels, kind, b"0", beside)
        for around in (data, flat + data, data + b"\xff" * 9):
            with pytest.raises(TooDeep):
                check_documents(around)


@given(st.binary(max_size=200))
def test_bytes_that_are_none_are_no_work(data: bytes) -> None:
    for check in (check_json, check_messages, check_documents):
        check(data)
        with pytest.raises(TooDeep):
            check_json(b"[" * 501 + data.translate(None, b'"[]{}'))
