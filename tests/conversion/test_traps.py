"""The traps that other converters fall into: each value is kept, or refused by name and place."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import Any

import msgpack
import pytest

import serialpack
from serialpack.depth.values import depth_of
from serialpack.formats import FORMATS
from serialpack.formats.json.text import JsonText
from tests.conversion.converting import converted


def refused(data: bytes, source: str, target: str, **how: Any) -> serialpack.SerialpackError:
    out = io.BytesIO()
    with pytest.raises(serialpack.SerialpackError) as caught:
        serialpack.convert(io.BytesIO(data), out, format=source, to=target, **how)
    return caught.value


@pytest.mark.parametrize("number", [2**53 + 1, 2**63, -(2**63), 2**64 - 1, int("9" * 40)])
def test_integers_are_kept_to_the_last_digit(number: int) -> None:
    text = b'{"n":%d}' % number
    for target in ("yaml", "ndjson", "cbor", "pickle", "typed-xml"):
        out = converted(text, "json", target)
        assert json.loads(converted(out, target, "ndjson")) == {"n": number}


def test_an_integer_beyond_64_bits_is_refused_by_msgpack() -> None:
    error = refused(b'[{"n":1},{"n":%s}]' % (b"9" * 40), "json", "msgpack")
    assert isinstance(error, serialpack.ValueRefusedError)
    assert (error.kind, error.record, error.value_path) == ("bigint", 1, "$.n")
    assert 'lossy=["bigint"]' in str(error)


@pytest.mark.parametrize("text", [b'{"x":1e400}', b"[0,-1e999]"])
@pytest.mark.parametrize("target", ["msgpack", "cbor", "bson", "pickle"])
def test_a_number_beyond_all_doubles_is_no_infinity(text: bytes, target: str) -> None:
    assert refused(text, "json", target).exit_code == 4


@pytest.mark.parametrize("target", ["msgpack", "cbor", "bson", "pickle"])
def test_digits_that_no_double_holds_are_refused(target: str) -> None:
    error = refused(b'{"x":[0.1,0.12345678901234567890]}', "json", target)
    assert isinstance(error, serialpack.ValueRefusedError)
    assert error.kind == "digits"
    assert "$.x[1]" in str(error)


def test_true_one_and_one_point_zero_are_different_keys() -> None:
    """Python takes them for one."""
    pair = msgpack.packb(True) + b"\x01" + msgpack.packb(1) + b"\x02" + msgpack.packb(1.0) + b"\x03"
    for source, data in (("msgpack", b"\x83" + pair), ("cbor", b"\xa2\xf5\x01\x01\x02")):
        for target in ("json", "yaml", "cbor", "pickle", "msgpack"):
            assert refused(data, source, target).exit_code == 4


def test_integer_keys_are_not_turned_to_text_unsaid() -> None:
    data = msgpack.packb({1: "a", 2: "b"})
    assert refused(data, "msgpack", "json", strict=True).exit_code == 4
    assert converted(data, "msgpack", "yaml") == b"1: a\n2: b\n"
    out = io.BytesIO()
    report = serialpack.convert(io.BytesIO(data), out, format="msgpack", to="json")
    assert out.getvalue() == b'{"1":"a","2":"b"}\n'
    assert [(loss.rule, loss.count) for loss in report.carried] == [("keys", 2)]


@pytest.mark.parametrize("target", ["msgpack", "yaml", "ndjson", "json", "pickle"])
@pytest.mark.parametrize("text", [b'{"a":1,"a":2}', b'[{"x":{"a":1,"b":0,"a":2}}]'])
def test_a_key_twice_is_refused(text: bytes, target: str) -> None:
    error = refused(text, "json", target)
    assert isinstance(error, serialpack.ValueRefusedError)
    assert error.kind == "duplicate-keys"
    assert 'lossy=["duplicates"]' in str(error)


def test_the_second_message_is_not_dropped() -> None:
    data = msgpack.packb({"a": 1}) + msgpack.packb([2]) + msgpack.packb(3)
    assert json.loads(converted(data, "msgpack", "json")) == [{"a": 1}, [2], 3]
    assert converted(data, "msgpack", "ndjson") == b'{"a":1}\n[2]\n3\n'


def test_a_truncated_input_is_not_completed() -> None:
    texts = {
        "json": b'{"a":[1,2,{"b":null}]}',
        "msgpack": msgpack.packb({"a": [1, 2, {"b": None}], "c": b"x"}),
        "cbor": b"\xa1aa\x83\x01\x02\xa1ab\xf6",
        "bson": b"\x0c\x00\x00\x00\x10a\x00\x01\x00\x00\x00\x00",
    }
    for source, data in texts.items():
        for end in range(1, len(data)):
            error = refused(data[:end], source, "yaml")
            assert error.exit_code == 3, (source, end, error)


def test_no_replacement_characters() -> None:
    """A lone surrogate and bytes that are no UTF-8 do not become U+FFFD."""
    assert converted(b'{"a":"\\ud800"}', "json", "ndjson") == b'{"a":"\\ud800"}\n'
    assert refused(b'{"a":"\\ud800"}', "json", "msgpack").exit_code == 4
    assert refused(b'{"a":"\xff"}', "json", "yaml").exit_code == 3
    assert refused(b"a\r\n\xff\r\n", "csv", "json").exit_code == 3
    assert refused(b"\x81\xa1a\xa1\xff", "msgpack", "json").exit_code == 3
    out = converted(b'{"a":"\xff\\ud800"}', "json", "msgpack", lossy=["utf8"])
    assert msgpack.unpackb(out) == {"a": "\ufffd\ufffd"}


def test_yaml_words_stay_words() -> None:
    text = b"y: yes\nn: 'no'\nkey: on\nsexagesimal: 1:30\nmode: 0777\nplain: no way\n"
    found = json.loads(converted(text, "yaml", "json"))
    assert list(found) == ["y", "n", "key", "sexagesimal", "mode", "plain"]
    assert found["n"] == "no"
    words = {word: word for word in ("y", "no", "on", "1:30", "0777", "~", "null", "2020-01-01")}
    out = converted(json.dumps(words).encode(), "json", "yaml")
    assert json.loads(converted(out, "yaml", "json")) == words


def test_a_field_of_csv_stays_text() -> None:
    text = b"zip,n\r\n00123,1e5\r\n,NULL\r\n"
    assert json.loads(converted(text, "csv", "json")) == [
        {"zip": "00123", "n": "1e5"},
        {"zip": "", "n": "NULL"},
    ]
    again = converted(converted(text, "csv", "ndjson"), "ndjson", "csv")
    assert again == b'zip,n\n00123,"1e5"\n"",NULL\n'
    assert converted(text, "csv", "tsv") == text.replace(b",", b"\t").replace(b"\r", b"")


def test_comments_are_not_dropped_unsaid() -> None:
    text = b"a: 1 # why\nb: 2\n"
    error = refused(text, "yaml", "json", strict=True)
    assert error.exit_code == 4
    out = io.BytesIO()
    report = serialpack.convert(io.BytesIO(text), out, format="yaml", to="json")
    assert out.getvalue() == b'{"a":1,"b":2}\n'
    assert [(loss.rule, loss.count) for loss in report.carried] == [("comments", 1)]


def test_a_long_array_takes_linear_time() -> None:
    """Ten times the elements are not a hundred times the instructions: counted, not timed."""
    code = (
        "import io, sys, serialpack\n"
        "n = int(sys.argv[1]); calls = 0\n"
        "def count(*_):\n"
        "    global calls; calls += 1\n"
        "data = b'[' + b','.join(b'%d' % i for i in range(n)) + b']'\n"
        "sys.setprofile(count)\n"
        "serialpack.convert(io.BytesIO(data), io.BytesIO(), to='yaml', format='json', threads=1)\n"
        "sys.setprofile(None); print(calls)"
    )

    def calls(count: int) -> int:
        done = subprocess.run(
            [sys.executable, "-c", code, str(count)], capture_output=True, text=True, check=True
        )
        return int(done.stdout)

    few, many = calls(2_000), calls(20_000)
    assert few > 2_000
    assert many < 15 * few


@pytest.mark.parametrize("target", ["json", "msgpack", "yaml"])
@pytest.mark.parametrize(
    ("source", "data"),
    [
        ("json", b"[" * 100_000 + b"]" * 100_000),
        ("msgpack", b"\x91" * 100_000 + b"\x01"),
        ("cbor", b"\x81" * 100_000 + b"\x01"),
        ("yaml", b"[" * 100_000 + b"]" * 100_000),
    ],
    ids=["json", "msgpack", "cbor", "yaml"],
)
def test_too_many_levels_are_refused(source: str, data: bytes, target: str) -> None:
    error = refused(data, source, target)
    assert error.exit_code == 4
    assert "500" in str(error)


@pytest.mark.parametrize("target", ["parquet", "arrow"])
def test_one_record_that_a_table_does_not_hold_can_be_left_out(target: str) -> None:
    text = b'{"a":1}\n{"a":2}\n{"a":%d}\n' % (1 << 70)
    error = refused(text, "ndjson", target)
    assert isinstance(error, serialpack.ValueRefusedError)
    assert error.record == 2
    out = io.BytesIO()
    report = serialpack.convert(io.BytesIO(text), out, format="ndjson", to=target, skip_bad=True)
    assert report.records == 2
    assert [place.record for place in report.places] == [2]


@pytest.mark.parametrize("target", ["json", "ndjson", "msgpack", "cbor", "yaml", "pickle", "csv"])
def test_a_key_that_comes_again_in_another_block_is_refused(target: str) -> None:
    members = [b'"key %d":"x"' % n for n in (*range(300), 7)]
    error = refused(b"{" + b",".join(members) + b"}", "json", target, block_size=500)
    assert error.exit_code == 4
    assert "twice" in str(error)


def test_brackets_in_strings_do_not_hide_the_depth() -> None:
    """Where it decides how much text indentation would make: some stored bytes, gigabytes of it."""
    deep = b'["]",' * 450 + b"[" + b"1," * 200_000 + b"1]" + b"]" * 450
    value = json.loads(deep)
    assert depth_of(value, 1000) == 451
    fmt = FORMATS.get("json")
    assert isinstance(fmt, JsonText)
    with pytest.raises(ValueError, match="longer than can be"):
        fmt.write_text([value], {"n": 64}, first=True)
