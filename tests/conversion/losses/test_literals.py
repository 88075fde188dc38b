"""Numbers keep their text between formats that write them as text; else they are the double that
their text names, or refused."""

from __future__ import annotations

import json
import tomllib
from decimal import Context, Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.conversion.targets.writers import written
from serialpack.formats.losses.exact import Inexact, held
from serialpack.literal import Literal
from tests.conversion.converting import converted

#: Numbers that Python, or the library that writes JSON, would spell in another way.
TEXTS = [
    "1.10",
    "-0.50",
    "1e2",
    "1E2",
    "1.5e+3",
    "1e-05",
    "1e-5",
    "0.00001",
    "1e+16",
    "1e16",
    "10000000000000000.0",
    "12345678901234567.0",
    "-65.613616999999977",
    "0.1000000000000000055511151231257827",
    "0.1000000000000000000001",
    "0e0",
    "0e999999999999999999999",
    "1E400",
    "-1e999999999999999999999",
    "1e-400",
    "-0",
    "-0.0",
    "-0e1",
    "1.0",
    "5e-324",
    "123456789012345678901234567890",
    "1" * 4301,
]


@pytest.mark.parametrize("target", ["json", "ndjson"])
@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("source", ["json", "ndjson"])
def test_a_number_of_json_keeps_its_text(source: str, target: str, verify: bool) -> None:
    for text in TEXTS:
        data = b'{"a":[%b,{"b":%b}],"c":"%b"}' % ((text.encode(),) * 3)
        out = converted(data, source, target, verify=verify)
        lines = out.strip() if (source, target) != ("ndjson", "json") else out[2:-3]
        assert lines == data, text


def test_all_of_them_beside_each_other() -> None:
    lines = [f'{{"a":{text},"b":0.5,"c":"\\ud800{text}, NaN"}}' for text in TEXTS]
    data = "\n".join(lines).encode() + b"\n"
    assert converted(data, "ndjson", "ndjson") == data
    spaced = data.replace(b":", b" :  ")
    assert converted(spaced, "ndjson", "ndjson") == data
    array = converted(data, "ndjson", "json")
    assert array == b"[\n" + data.rstrip().replace(b"\n", b",\n") + b"\n]\n"
    assert converted(array, "json", "ndjson") == data


def test_many_blocks_of_which_some_have_odd_numbers() -> None:
    lines = [b'{"n":%d,"x":%b}' % (i, b"1.10" if i % 7000 == 1 else b"2.5") for i in range(30_000)]
    data = b"\n".join(lines) + b"\n"
    assert converted(data, "ndjson", "ndjson", block_size=1 << 16) == data
    packed = converted(data, "ndjson", "msgpack", block_size=1 << 16)
    assert converted(packed, "msgpack", "ndjson") == data.replace(b"1.10", b"1.1")


@pytest.mark.parametrize("how", [{"tagged": True}, {"lossy": ["duplicates"]}, {"fields": ["a"]}])
def test_whatever_else_is_asked(how: dict[str, Any]) -> None:
    data = b'{"a":1.10,"b":2}\n{"a":1E400}\n{"a":-0}\n'
    out = converted(data, "ndjson", "ndjson", **how)
    assert [line.split(b",")[0].strip(b"{}") for line in out.splitlines()] == [
        b'"a":1.10',
        b'"a":1E400',
        b'"a":-0',
    ]


def test_a_loss_elsewhere_is_none_of_a_number() -> None:
    data = b'{"a":1.10,"a":1.20}\n'
    assert converted(data, "ndjson", "ndjson", lossy=["duplicates"]) == b'{"a":1.20}\n'


def test_yaml_of_both_versions_reads_the_same_number() -> None:
    numbers = ["1.10", "1e2", "1E-2", "1.5e3", "-65.613616999999977", "-0", "1E400"]
    out = converted(f"[{','.join(numbers)}]".encode(), "json", "yaml")
    spelled = ["1.10", "1.0e+2", "1.0E-2", "1.5e+3", "-65.613616999999977", "-0", "1.0E+400"]
    assert out.decode().split() == [word for text in spelled for word in ("-", text)]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("1.10", "1.10"),
        ("1.0e+2", "1.0e+2"),
        (".5", "0.5"),
        ("+1.5", "1.5"),
        ("+1", "1"),
        ("012", "12"),
        ("0x1F", "31"),
        ("1_000", '"1_000"'),
        ("12.", "12.0"),
    ],
)
def test_what_is_no_json_is_spelled_as_json(number: str, text: str) -> None:
    assert converted(f"a: {number}\n".encode(), "yaml", "json").decode() == f'{{"a":{text}}}\n'


@pytest.mark.parametrize("number", ["1.10", "1.0e+2", ".5", "+1", "0x1F", "-65.613616999999977"])
def test_yaml_keeps_what_yaml_reads(number: str) -> None:
    data = f"a: {number}\n".encode()
    assert converted(data, "yaml", "yaml") == data


def test_two_numbers_are_one_key() -> None:
    with pytest.raises(serialpack.ValueRefusedError, match="twice") as caught:
        converted(b"1.0: a\n1.00: b\n", "yaml", "yaml")
    assert caught.value.kind == "duplicate-keys"


def test_toml_keeps_them_too() -> None:
    data = b"a = 1.10\nb = 1e2\nc = 1_000.5\nf = inf\n\n[d]\ne = -65.613616999999977\ng = 1E400\n"
    assert converted(data, "toml", "toml") == data
    out = converted(data.replace(b"f = inf\n", b""), "toml", "json")
    assert out == b'{"a":1.10,"b":1e2,"c":1000.5,"d":{"e":-65.613616999999977,"g":1E400}}\n'
    assert tomllib.loads(converted(out, "json", "toml").decode())["b"] == 100
    assert b"c = 1000.5\n" in converted(out, "json", "toml")


#: Formats in which a number has no text of its own; tables are of text, or take maps of one kind.
BINARY = sorted({"msgpack", "cbor", "bson", "pickle", "parquet", "arrow"} & {*written()})


@pytest.mark.parametrize("target", BINARY)
def test_a_text_that_a_double_rounds_to_is_that_double(target: str) -> None:
    texts = ["-65.613616999999977", "1.10", "1e2", "0.1000000000000000055511151231257827", "1e23"]
    data = "".join(f'{{"a":{text}}}\n' for text in texts).encode()
    out = converted(data, "ndjson", target)
    again = [json.loads(line)["a"] for line in converted(out, target, "ndjson").splitlines()]
    assert again == [float(text) for text in texts]


@given(st.floats(-1e20, 1e20), st.integers(0, 25), st.sampled_from(["", "0", "1"]))
def test_a_text_is_a_double_where_as_many_digits_of_it_are_the_text(
    number: float, places: int, more: str
) -> None:
    """As decimal rounds them."""
    text = f"{number:#.{places}f}" + more
    if text.endswith("."):
        text += "0"
    nearest, digits = float(text), len(text.lstrip("-0.").replace(".", ""))
    rounded = Context(max(digits, 1)).create_decimal(nearest)
    same = Decimal(text) in (rounded, Decimal(repr(nearest)))
    try:
        assert (held(Literal(text, nearest)), same) == (nearest, True)
    except Inexact:
        assert not same


@pytest.mark.parametrize("target", BINARY)
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("0.1000000000000000000001", "digits"),
        ("9007199254740993.0", "digits"),
        ("3e-324", "digits"),
        ("1e-400", "overflow"),
        ("1E400", "overflow"),
        ("-0", "negative-zero"),
        ("1" * 4301, "huge-integer"),
    ],
)
def test_a_text_that_no_double_says_is_refused_there(target: str, text: str, kind: str) -> None:
    with pytest.raises(serialpack.ValueRefusedError) as caught:
        converted(b'{"a":1}\n{"a":[%b]}\n' % text.encode(), "ndjson", target)
    assert (caught.value.kind, caught.value.record, caught.value.value_path) == (kind, 1, "$.a[0]")
    with pytest.raises(serialpack.ValueRefusedError):
        converted(b'{"a":1}\n{"a":[%b]}\n' % text.encode(), "ndjson", target, verify=False)


def test_its_nearest_double_where_that_is_said() -> None:
    data = b'{"a":0.1000000000000000000001}\n{"a":1.10}\n'
    out = converted(data, "ndjson", "msgpack", lossy=["digits"])
    assert converted(out, "msgpack", "ndjson") == b'{"a":0.1}\n{"a":1.1}\n'
