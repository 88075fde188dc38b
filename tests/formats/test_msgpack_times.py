"""MessagePack's timestamps: to the last digit through every way that gives MessagePack back."""

from __future__ import annotations

import io
import struct
from datetime import UTC, datetime
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.formats.msgpack.values import _is_fine, unpack, unpack_exactly
from serialpack.values.equality import difference
from tests.conversion.converting import converted, records_of

SECONDS = [
    *(0, 1, 1514862245, (1 << 31) - 1, (1 << 32) - 1, 1 << 32, (1 << 34) - 1),
    *(-1, -62135596800, -62135596801, 253402300799, 253402300800, (1 << 63) - 1, -(1 << 63)),
]
NANOSECONDS = [0, 1, 999, 1000, 1001, 678901234, 999_999_000, 999_999_999]
#: What stands around a timestamp.
AROUND: dict[str, Any] = {
    "alone": lambda t: t,
    "in a list": lambda t: b"\x81\xa1l\x92" + t + b"\xc0",
    "in a map": lambda t: b"\x81\xa1t\x91" + t,
    "as a key": lambda t: b"\x81" + t + b"\x01",
    "beside another": lambda t: b"\x81\x01\x92" + t + b"\xd6\xff\x00\x00\x00\x07",
}


def spelled(seconds: int, nanoseconds: int) -> list[bytes]:
    """All the ways in which the specification has it written, the shortest first."""
    found = [b"\xc7\x0c\xff" + struct.pack(">Iq", nanoseconds, seconds)]
    if 0 <= seconds < 1 << 34:
        found.insert(0, b"\xd7\xff" + (nanoseconds << 34 | seconds).to_bytes(8))
    if 0 <= seconds < 1 << 32 and not nanoseconds:
        found.insert(0, b"\xd6\xff" + seconds.to_bytes(4))
    return found


CASES = [(s, n, text) for s in SECONDS for n in NANOSECONDS for text in spelled(s, n)]


def value_of(seconds: int, nanoseconds: int) -> Any:
    whole = msgpack.Timestamp(seconds, nanoseconds)
    if nanoseconds % 1000 or not -62135596800 <= seconds <= 253402300799:
        return whole
    return whole.to_datetime()


@pytest.mark.parametrize("around", AROUND)
def test_messagepack_gives_each_back(around: str) -> None:
    """As itself, and as the shortest way to write it."""
    make = AROUND[around]
    data = b"".join(make(text) for _, _, text in CASES)
    for verify in (True, False):
        again = converted(data, "msgpack", "msgpack", verify=verify)
        assert again == b"".join(make(spelled(s, n)[0]) for s, n, _ in CASES)
    (first, *_) = records_of(make(spelled(1, 999)[0]), "msgpack")
    text = repr(first)
    assert "Timestamp(seconds=1, nanoseconds=999)" in text


@pytest.mark.parametrize("target", ["json", "ndjson"])
@pytest.mark.parametrize("around", AROUND)
def test_what_tagged_writes_it_reads(around: str, target: str) -> None:
    make = AROUND[around]
    data = b"".join(make(text) for _, _, text in CASES)
    shortest = b"".join(make(spelled(s, n)[0]) for s, n, _ in CASES)
    if target == "json":  # a document, so that it is one again
        data, shortest = (b"\xdc" + len(CASES).to_bytes(2) + x for x in (data, shortest))
    tagged = converted(data, "msgpack", target, tagged=True)
    assert converted(tagged, target, "msgpack", tagged=True) == shortest


@pytest.mark.parametrize("target", ["json", "yaml", "cbor", "pickle", "arrow", "bson", "toml"])
def test_other_formats_carry_it_exactly_or_refuse(target: str) -> None:
    for seconds, nanoseconds, text in CASES:
        data = AROUND["in a map"](text)
        try:
            out = converted(data, "msgpack", target, strict=True)
        except serialpack.ValueRefusedError:
            continue
        (again,) = records_of(out, target)
        assert difference({"t": [value_of(seconds, nanoseconds)]}, again) is None


@pytest.mark.parametrize("serializer", ["msgpack", "pickle"])
def test_packed_values_have_all_digits(serializer: str) -> None:
    value = [value_of(seconds, n) for seconds in SECONDS for n in NANOSECONDS]
    file = io.BytesIO()
    serialpack.dump(value, file, serializer)
    file.seek(0)
    assert difference(value, serialpack.load(file, trust=True)) is None


@given(
    st.lists(
        st.recursive(
            st.one_of(
                st.binary(max_size=20),
                st.sampled_from([b"\xd7\xff", b"\xd7\xff\x00\x00\x00\x05\x00\x00\x00\x00"]),
                st.sampled_from([text for _, _, text in CASES]),
                st.builds(
                    msgpack.Timestamp, st.integers(-(1 << 40), 1 << 40), st.integers(0, 999_999_999)
                ),
                st.just(datetime(2001, 1, 1, tzinfo=UTC)),
                st.text(max_size=3),
            ),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner),
            max_leaves=8,
        ),
        max_size=3,
    )
)
def test_quickly_read_is_exactly_read(values: list[Any]) -> None:
    """Whatever bytes look like timestamps."""
    data = b"".join(msgpack.packb(value, datetime=True) for value in values)
    assert difference(unpack_exactly(data), unpack(data)) is None


def test_only_what_has_nanoseconds_is_read_slowly() -> None:
    """Whole microseconds, and most bytes that look like a timestamp, are left to the library."""
    for seconds, nanoseconds, text in CASES:
        assert _is_fine(text) == bool(nanoseconds % 1000), (seconds, nanoseconds)
    assert not _is_fine(b"\xd7\xff")
    assert not _is_fine(bytes(1000))


def test_a_key_twice_beside_nanoseconds() -> None:
    """The last one is kept in what is read back, as without them; a source with one is refused."""
    data = b"\x92" + spelled(1, 1)[0] + b"\x82\xa1a\x01\xa1a\x02"
    assert unpack(data) == [[msgpack.Timestamp(1, 1), {"a": 2}]]
    with pytest.raises(serialpack.ValueRefusedError, match="twice"):
        serialpack.convert(io.BytesIO(data), io.BytesIO(), format="msgpack", to="msgpack")
