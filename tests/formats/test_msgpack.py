"""MessagePack as a source: what is read, where errors are, and how it is cut."""

from __future__ import annotations

import io
import math
import struct
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.depth import MAX_DEPTH
from serialpack.errors import RefusedError, SyntaxInputError, ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import Style, Unheld
from serialpack.formats.messages.long_bytes import without_long
from serialpack.formats.msgpack.msgpack import MsgPackFormat
from serialpack.formats.shared import split as splitting
from serialpack.formats.shared.document import Malformed
from serialpack.values.equality import difference
from tests.formats import texts
from tests.formats.streams import value_format

FMT = FORMATS.get("msgpack")
assert isinstance(FMT, MsgPackFormat)


def _read(*messages: bytes) -> list[Any]:
    assert isinstance(FMT, MsgPackFormat)
    return FMT.read(b"".join(messages))


def _ext(code: int, data: bytes) -> Any:
    return msgpack.ExtType._make((code, data))


def _timestamp(seconds: int, nanoseconds: int = 0) -> bytes:
    return b"\xc7\x0c\xff" + struct.pack(">Iq", nanoseconds, seconds)


@pytest.mark.parametrize(
    ("spelled", "value"),
    [
        (b"\xa1x", "x"),
        (b"\xd9\x01x", "x"),
        (b"\xc4\x01x", b"x"),
        (b"\xcd\x00\x05", 5),
        (b"\xcf" + b"\xff" * 8, (1 << 64) - 1),
        (b"\xca\x3f\xc0\x00\x00", 1.5),
        (b"\xcb\x80" + bytes(7), -0.0),
        (b"\xdd\x00\x00\x00\x01\xc0", [None]),
        (b"\x82\x01\xc2\xa11\xc3", {1: False, "1": True}),
        (b"\x81\xc0\x01", {None: 1}),
        (b"\x81\xcb\x3f\xf8" + bytes(6) + b"\x01", {1.5: 1}),
        (b"\x81\xc4\x01a\x01", {b"a": 1}),
        (b"\x81\x92\x01\x91\x02\x03", {(1, (2,)): 3}),
        (b"\x81\x92\x01\x91\x02\x92\x01\x91\x02", {(1, (2,)): [1, [2]]}),
        (b"\x81\xd4\x05x\x01", {_ext(5, b"x"): 1}),
        (b"\xd4\x05x", _ext(5, b"x")),
        (b"\xd4\xfex", _ext(-2, b"x")),
        (b"\xc7\x00\x7f", _ext(127, b"")),
        (b"\xd6\xff\x00\x00\x00\x07", datetime(1970, 1, 1, 0, 0, 7, tzinfo=UTC)),
        (_timestamp(-1, 999_999_000), datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)),
        (b"\x91" + _timestamp(7, 1001), [msgpack.Timestamp(7, 1001)]),
        (b"\x81\xa1t" + _timestamp(1 << 60), {"t": msgpack.Timestamp(1 << 60)}),
        (b"\x82" + _timestamp(7, 1) + b"\x01" + _timestamp(8) + b"\x02",
         {msgpack.Timestamp(7, 1): 1, datetime(1970, 1, 1, 0, 0, 8, tzinfo=UTC): 2}),
    ],
)  # fmt: skip
def test_values(spelled: bytes, value: Any) -> None:
    """Every type as itself; the second message is read as well as the first."""
    for found in _read(spelled, spelled):
        assert difference(value, found) is None


def test_nan_keeps_its_bits() -> None:
    spelled = b"\xcb\x7f\xf4" + bytes(5) + b"\x01"
    (found,) = _read(spelled)
    assert math.isnan(found)
    assert FMT.write([found]) == spelled  # type: ignore[attr-defined]


TWICE = [
    (b"\x82\xa1a\x01\xa1a\x02", "$.a"),
    (b"\x82\xa1a\x01\xd9\x01a\x01", "$.a"),
    (b"\x82\x01\xc0\xc3\xc0", "$[True]"),
    (b"\x82\x01\xc0\xcb\x3f\xf0" + bytes(6) + b"\xc0", "$[1.0]"),
    (b"\x82\x00\xc0\xcb\x80" + bytes(7) + b"\xc0", "$[-0.0]"),
    (b"\x82\x91\x01\xc0\x91\x01\xc0", "$[(1,)]"),
    (b"\x91\x81\xa1x\x92\x05\x82\xa3a b\x01\xa3a b\x02", '$[0].x[1]["a b"]'),
    (b"\x81\x92\x01\x82\xa1a\x01\xa1a\x02\x03", "$"),
]


@pytest.mark.parametrize(("spelled", "path"), TWICE, ids=[path for _, path in TWICE])
def test_a_key_twice_is_not_held(spelled: bytes, path: str) -> None:
    with pytest.raises(Unheld) as caught:
        _read(b"\x01", spelled, b"\x02")
    lost = caught.value.difference
    assert (lost.record, lost.value_path) == (1, path)
    assert lost.kind == ("key" if path == "$" else "duplicate-keys")
    with pytest.raises(ValueRefusedError, match="record 1, "):
        _pack(b"\x01" + spelled)


@pytest.mark.parametrize("spelled", [b"\x81\x80\x01", b"\x81\x91\x80\x01"])
def test_a_map_as_a_key_is_not_held(spelled: bytes) -> None:
    with pytest.raises(Unheld) as caught:
        _read(spelled)
    assert caught.value.difference.kind == "key"


BAD = [
    (b"\xc1", 0, "begins no value"),
    (b"\x93\x01\xa1x\xc1", 4, "begins no value"),
    (b"\xa3ab\xff", 3, "not UTF-8"),
    (b"\x81\xa2\xed\xa0\x01", 2, "not UTF-8"),
    (b"\x81\xa1\xff\xc0", 2, "not UTF-8"),
    (b"\x92\xa1x", 3, "not whole"),
    (b"\x81\x92\xa1x", 4, "not whole"),
    (b"\x92\x01", 0, "an array of 2, with 1 byte left"),
    (b"\xcd\x00", 0, "a number of 2 bytes, with 1 byte left"),
    (b"\x91\xc5\x00", 1, "the length of binary"),
    (b"\x91\xa5abc", 1, "text of 5 bytes, with 3 bytes left"),
    (b"\xdb\xff\xff\xff\xffx", 0, "text of 4,294,967,295 bytes, with 1 byte left"),
    (b"\xc6\xff\xff\xff\xffx", 0, "binary of 4,294,967,295 bytes, with 1 byte left"),
    (b"\xc9\xff\xff\xff\xff\x05x", 0, "an extension of 4,294,967,295 bytes, with 2 bytes left"),
    (b"\xdd\xff\xff\xff\xffx", 0, "an array of 4294967295, with 1 byte left"),
    (b"\xdf\xff\xff\xff\xffx", 0, "a map of 4294967295, with 1 byte left"),
    (b"\xd5\xff\x00\x00", 0, "a timestamp of 2 bytes"),
    (b"\x91\xd7\xff" + b"\xff" * 8, 1, "nanoseconds"),
    (_timestamp(1, 1 << 30), 0, "nanoseconds"),
]


@pytest.mark.parametrize(("spelled", "at", "message"), BAD)
def test_errors_have_a_place(spelled: bytes, at: int, message: str) -> None:
    with pytest.raises(Malformed, match=message) as caught:
        _read(b"\x01\xa1x", spelled)
    assert caught.value.at == 3 + at
    for serializer in ("msgpack", "json"):
        before = b"\x91\x01" * 100  # in blocks of their own
        with pytest.raises(SyntaxInputError, match=message) as error:
            _pack(before + spelled, serializer, block_size=16)
        assert error.value.offset == 200 + at


@pytest.mark.parametrize("opening", [b"\x91", b"\x81\xa1a", b"\xdd\x00\x00\x00\x01"])
def test_depth(opening: bytes) -> None:
    """MAX_DEPTH levels are taken; more, and as many as would crash a parser, are refused."""
    deepest = opening * MAX_DEPTH + b"\x01"
    assert len(_read(deepest)) == 1
    for depth in (MAX_DEPTH + 1, 1000, 1100, 100_000):
        with pytest.raises(Unheld, match="500 levels") as caught:
            _read(b"\x01", opening * depth + b"\x01")
        assert caught.value.difference.kind == "depth"
        assert caught.value.difference.record == 1
        with pytest.raises(ValueRefusedError, match="500 levels"):
            _pack(opening * depth + b"\x01")


def _pack(source: bytes, serializer: str = "msgpack", **how: Any) -> bytes:
    target = io.BytesIO()
    serialpack.pack(io.BytesIO(source), target, serializer=serializer, format="msgpack", **how)
    return target.getvalue()


def _unpack(packed: bytes, **how: Any) -> bytes:
    target = io.BytesIO()
    serialpack.unpack(io.BytesIO(packed), target, **how)
    return target.getvalue()


SOURCE = b"\x01\xcd\x00\x05\x82\xa1a\xca\x3f\xc0\x00\x00\x02\xc4\x01x" + _timestamp(1, 1)


@pytest.mark.parametrize(
    "serializer", ["raw", "msgpack", "umsgpack", "ormsgpack", "msgspec-msgpack"]
)
def test_a_source_of_its_own_format_keeps_its_bytes(serializer: str) -> None:
    """However its numbers are spelled, and whatever only msgpack's types hold."""
    pytest.importorskip(serializer) if "-" not in serializer and serializer != "raw" else None
    assert _unpack(_pack(SOURCE, serializer)) == SOURCE


def test_values_go_through_other_serializers() -> None:
    source = b"\x81\xa1a\x93\xcd\x00\x05\xcb\x3f\xf8" + bytes(6) + b"\xc0\x90"
    assert (
        _unpack(_pack(source, "json")) == b"\x81\xa1a\x93\x05\xcb\x3f\xf8" + bytes(6) + b"\xc0\x90"
    )
    for lost in (b"\xc4\x01x", b"\x81\x01\x02", b"\xd4\x05x", b"\xcb\x7f\xf8" + bytes(6)):
        with pytest.raises(ValueRefusedError):
            _pack(lost, "json")


def test_records_are_counted_and_found() -> None:
    messages = [msgpack.packb({"n": n, "text": "x" * (n % 50)}) for n in range(3000)]
    packed = _pack(b"".join(messages), "raw", block_size=4096)
    info = serialpack.inspect(io.BytesIO(packed))
    assert info.members[0].records == 3000
    assert _unpack(packed, record_range=(1234, 1240)) == b"".join(messages[1234:1240])


objects = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(1 << 63), (1 << 64) - 1), st.floats(), st.text(),
        st.binary(max_size=40),
        st.datetimes(timezones=st.just(UTC)).map(lambda found: found.replace(fold=0)),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.text(), st.integers(0, 99), st.binary()), inner, max_size=4),
    ),
    max_leaves=10,
)  # fmt: skip


@given(records=st.lists(objects, max_size=8), size=st.integers(1, 64))
def test_messages_are_cut_where_they_end(records: list[Any], size: int) -> None:
    source = FMT.write(records)  # type: ignore[attr-defined]
    found, spans = [], []
    for block in texts.split("msgpack", source, size):
        data = bytes(block.data)
        found += FMT.parse(block)  # type: ignore[attr-defined]
        places = [*FMT.record_spans(data, {}, first=block.index == 0)]
        assert len(places) == block.records
        assert len(data) <= size or block.records == 1
        spans += [data[start:end] for start, end in places]
    assert b"".join(spans) == source
    assert difference(records, found) is None


@given(source=st.binary(max_size=60), size=st.integers(1, 30))
def test_any_bytes_are_read_or_refused(source: bytes, size: int) -> None:
    """What is read is what is there: written again it is hardly longer, and reads the same."""
    whole: list[Any] | None = []
    try:
        for block in texts.split("msgpack", source, size, lines=True):
            assert whole is not None
            whole += FMT.parse(block)  # type: ignore[attr-defined]
    except (SyntaxInputError, Unheld):
        whole = None
    try:
        at_once = _read(source)
    except (Malformed, Unheld):
        at_once = None
    assert (whole is None) == (at_once is None)
    if at_once is not None:
        written = FMT.write(at_once)  # type: ignore[attr-defined]
        assert len(written) <= len(source) + 4 * source.count(b"\xca")  # single precision
        assert difference(at_once, _read(written)) is None
        assert difference(at_once, whole) is None


def test_a_message_larger_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """raw packs it as plain bytes; values are not made of it."""
    monkeypatch.setattr(splitting, "MAX_BLOCK", 2000)
    source = b"\x01\x02" + msgpack.packb(["x" * 100] * 100) + b"\x03"
    for size in (64, 1000):
        blocks = texts.split("msgpack", source, size)
        large = next(block for block in blocks if block.partial)
        assert (large.offset, large.records, large.continued) == (2, 1, False)
        assert all(block.records is None for block in blocks[large.index + 1 :])
        assert _unpack(_pack(source, "raw", block_size=size)) == source
        for serializer in ("msgpack", "json"):
            with pytest.raises(RefusedError, match="larger than 64 MiB"):
                _pack(source, serializer, block_size=size)


def test_a_grown_block_is_read_whole() -> None:
    """The place of an error in a message that is larger than a block is found too."""
    text = b"\xda\x20\x00" + b"x" * 8192
    with pytest.raises(SyntaxInputError) as caught:
        _pack(b"\x01" * 10 + b"\x93" + text + b"\xc1\x01" + b"\x01" * 100, block_size=64)
    assert caught.value.offset == 11 + len(text)


HOSTILE = {
    "truncated": SOURCE[:-1],
    "trailing": SOURCE + b"\xc1",
    "deep": b"\x91" * 100_000,
    "deep maps": b"\x81\xa1a" * 100_000,
    "huge array": b"\xdd\xff\xff\xff\xff",
    "huge arrays": b"\xdd\x00\xff\xff\xff" * 2000,
    "huge map": b"\xdf\xff\xff\xff\xff\xc0\xc0",
    "huge text": b"\xdb\xff\xff\xff\xffabc",
    "huge extension": b"\xc9\xff\xff\xff\xff\xffabc",
    "not UTF-8": b"\xa2\xff\xfe",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_bytes_at_the_command_line(tmp_path: Path, what: str) -> None:
    """One line with the place, soon, and with little memory."""
    path = tmp_path / "data.msgpack"
    path.write_bytes(HOSTILE[what])
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (600 << 20,) * 2);"
        "from serialpack.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", limited, "pack", "-s", "msgpack", "-o", "-", "--threads", "1", path],
        capture_output=True,
        timeout=60,
        check=False,
    )
    said = done.stderr.decode()
    assert done.returncode == (4 if "deep" in what else 3), said
    assert len(said.splitlines()) <= 2
    assert "byte" in said or "record 0" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("name", ["msgpack", "cbor"])
@pytest.mark.parametrize(
    "style", [{"k": "x"}, {"k": "n"}, {"h": "text"}, {"h": bytes(17)}, {"t": bytes(17)}], ids=repr
)
def test_a_stored_style_of_messages_is_a_short_head_and_tail(name: str, style: Style) -> None:
    fmt = value_format(name)
    assert (
        fmt.write_text([1], {"k": "a", "h": bytes(16), "t": b""}, first=True) == bytes(16) + b"\1"
    )
    with pytest.raises(ValueError, match="not a style of"):
        fmt.write_text([1], style, first=True)


@pytest.mark.parametrize("name", ["msgpack", "cbor"])
@pytest.mark.parametrize("record", [5, {}, {"a": 1, "b": 2}], ids=repr)
def test_the_members_of_a_map_are_maps_of_one_member(name: str, record: Any) -> None:
    fmt = value_format(name)
    assert fmt.write_text([{1: 2}], {"k": "m"}, first=True) == b"\1\2"
    with pytest.raises(ValueError, match="a member of a map"):
        fmt.write_text([record], {"k": "m"}, first=True)


def test_words_stand_for_long_bytes_in_little_room() -> None:
    assert isinstance(FMT, MsgPackFormat)
    data = msgpack.packb(["a" * 100, bytes(2_000_000), 1])
    short = without_long(lambda at: data[at:], len(data), FMT.heads, 200)
    assert msgpack.unpackb(short) == ["a" * 100, "<2000000 bytes>", 1]
    with pytest.raises(ValueError, match="too many bytes"):
        without_long(lambda at: data[at:], len(data), FMT.heads, len(short) - 1)
