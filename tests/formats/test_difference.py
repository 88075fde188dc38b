"""The strict comparison of texts: what is the same, what is not, and where."""

from __future__ import annotations

import io
import json
from decimal import Decimal

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.errors import SyntaxInputError
from serialpack.formats import FORMATS
from serialpack.formats.base import Difference, SourceBlock, ValueFormat
from serialpack.formats.json.compare import canonical
from serialpack.values.equality import difference
from serialpack.values.kinds import KINDS
from tests.formats import texts


def _difference(name: str, was: str, became: str) -> Difference | None:
    fmt = FORMATS.get(name)
    assert isinstance(fmt, ValueFormat)
    block = SourceBlock(was.encode(), 0, 0, last=True, records=1)
    return fmt.difference(block, became.encode())


@pytest.mark.parametrize(
    ("was", "became"),
    [
        ("1.0", "1.00"),
        ("1E5", "100000.0"),
        ("1e5", "1.0E+05"),
        ("-0.0", "-0e7"),
        ("0.10", "1e-1"),
        ("123456789012345678901234567890", " 123456789012345678901234567890 "),
        ('"\\u00e9\\/"', '"é/"'),
        ('"\\ud83d\\ude00"', '"\U0001f600"'),
        ('{"a":[1,{}]}', '{\n "a" : [ 1 , { } ] }'),
        ('{"a":1,"a":2}', '{"a":1,"a":2}'),
        ('["\\ud800"]', '["\\uD800"]'),
        ("0e999", "0.0"),
        ("-0e-99999999999999999999", "-0.0"),
        ("0E" + "9" * 5000, "0.0"),
        ("1.5e" + "0" * 5000 + "1", "15.0"),
        ("15e-" + "0" * 5000 + "1", "1.5"),
        ("1e" + "9" * 2000, " 1e" + "9" * 2000),
    ],
)
def test_same(was: str, became: str) -> None:
    assert _difference("json", was, became) is None
    assert _difference("json", f'[0, {{"x": {was}}}]', f'[0,{{"x":{became}}}]') is None


@pytest.mark.parametrize(
    ("was", "became", "kind"),
    [
        ("1", "1.0", "value"),
        ("1.0", "1", "digits"),
        ("1", "2", "value"),
        ("1", '"1"', "value"),
        ("1", "true", "value"),
        ("0", "false", "value"),
        ("null", "0", "value"),
        ("[]", "{}", "value"),
        ("[1]", "[1,2]", "value"),
        ("-0", "0", "negative-zero"),
        ("-0.0", "0.0", "value"),
        ("18446744073709551616", "1.8446744073709552e19", "bigint"),
        ("9007199254740993.0", "9007199254740992.0", "digits"),
        ("1e400", "null", "overflow"),
        ("1e-400", "0.0", "overflow"),
        ('"\\ud800"', '"\ufffd"', "surrogates"),
        ('"\\u00e9"', '"e\\u0301"', "value"),
        ('{"a":1,"b":2}', '{"b":2,"a":1}', "order"),
        ('{"a":1,"b":2}', '{"b":2,"c":1}', "value"),
        ('{"a":1,"a":2}', '{"a":2}', "duplicate-keys"),
        ('{"a":1,"b":1,"a":1}', '{"a":1,"b":1}', "duplicate-keys"),
        ('{"\\ud800":1}', '{"?":1}', "surrogates"),
        ("[" * 501 + "]" * 501, "[]", "depth"),
    ],
)
def test_different(was: str, became: str, kind: str) -> None:
    found = _difference("json", f'{{"k": {was}}}', f'{{"k": {became}}}')
    assert found is not None
    assert found.kind == kind
    assert kind in KINDS
    assert found.record == 0
    assert found.value_path.startswith("$.k") or kind == "depth"


def test_another_order_of_keys_is_named() -> None:
    found = _difference("json", '[{"a":1,"c":2,"b":3}]', '[{"a":1,"b":3,"c":2}]')
    assert found == Difference(0, "$", "'c', 'b'", "'b', 'c'", "order")
    keys = [f"k{n}" for n in range(9)]
    one, other = dict.fromkeys(keys, 1), dict.fromkeys(keys[:1] + keys[:0:-1], 1)
    found = difference([one], [other])
    assert found == Difference(0, "$[0]", "'k1', 'k2', 'k3', ...", "'k8', 'k7', 'k6', ...", "order")
    assert found == _difference("json", json.dumps([[one]]), json.dumps([[other]]))


@pytest.mark.parametrize("source", ["json", "msgpack"])
def test_who_sorts_keys_says_so(source: str) -> None:
    data = json.dumps({"b": 1, "a": 2}).encode()
    if source == "msgpack":
        data = msgpack.packb({"b": 1, "a": 2})
    with pytest.raises(serialpack.ValueRefusedError) as caught:
        serialpack.pack(io.BytesIO(data), io.BytesIO(), format=source, serializer="cbor:1")
    message = str(caught.value)
    assert "cbor cannot hold keys in their order: 'b', 'a' became 'a', 'b'" in message
    assert "raw can" in message


def test_path() -> None:
    found = _difference(
        "ndjson",
        '1\n\n{"a b": [0, {"c": {"\\"": 2.0}}]}\n3\n',
        '1\n{"a b":[0,{"c":{"\\"":2}}]}\n4\n',
    )
    assert found == Difference(1, '$["a b"][1].c["\\""]', "2.0", "2", "digits")
    found = _difference("json", "[1, 2, 3]", "[1, 2]")
    assert found == Difference(2, "$", "3", "nothing", "value")
    found = _difference("json", "[1, 2]", "[1, 2, [3]]")
    assert found == Difference(2, "$", "nothing", "an array of 1", "value")
    found = _difference("json", "1", "[1]")
    assert found == Difference(0, "$", "a document", "another", "value")


def test_long_values_are_shortened() -> None:
    found = _difference("json", '"' + "a" * 1000 + '"', "1" * 1000)
    assert found is not None
    assert max(len(found.was), len(found.became)) <= 50


@given(texts.values(texts.white), texts.values(texts.white))
def test_the_same_as_the_standard_library_says(was: str, became: str) -> None:
    same = texts.plain(was) == texts.plain(became)
    assert _difference("json", was, was) is None
    if same:
        assert _difference("json", was, became) is None
    elif json.loads(was) != json.loads(became):
        assert _difference("json", was, became) is not None


@given(
    st.from_regex(r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
)
def test_canonical_numbers_are_decimals(text: str) -> None:
    sign, digits, power = canonical(text)
    assert Decimal(f"{sign}{digits or 0}e{power}") == Decimal(text)
    assert digits == digits.strip("0")
    assert canonical(repr(float(text))) == canonical(text) or Decimal(repr(float(text))) != Decimal(
        text
    )


def test_of_lines_that_differ_the_first_lost_one_is_told() -> None:
    lines = [f'{{"n": {n}, "x": {n}.50}}' for n in range(9)]
    same = [line.replace(".50", ".5") if n % 3 else line for n, line in enumerate(lines)]
    for begin, between in (("", "\n"), ("\ufeff", "\n"), ("", "\r\n"), ("\n \n", "\n\n")):
        was = begin + between.join(lines)
        assert _difference("ndjson", was, begin + between.join(same)) is None
        for lost in (0, 4, 8):
            became = [*same[:lost], '{"n": 1, "x": 2.5}', *same[lost + 1 :]]
            found = _difference("ndjson", was, begin + between.join(became))
            assert found is not None
            assert (found.record, found.value_path) == (lost, "$.n")
        with pytest.raises(SyntaxInputError) as caught:
            _difference("ndjson", was + ",", begin + between.join(same))
        assert caught.value.offset == len(was.encode())
