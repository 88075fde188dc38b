"""Values that libraries are known to change: each serializer keeps them, or refuses them."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serialpack.depth import MAX_DEPTH
from serialpack.errors import SyntaxInputError, ValueRefusedError
from serialpack.serializers import SERIALIZERS
from serialpack.serializers._wholefiles import WholeFiles
from tests.formats import texts
from tests.serializers.chains import VALUE_SERIALIZERS, round_trip, strict_values, takes

SAME, REFUSED, INVALID = "same", "refused", "invalid"


def _around(power: int) -> list[str]:
    return [str(sign * (2**power + step)) for sign in (1, -1) for step in (-2, -1, 0, 1, 2)]


_DIGITS = "1234567890" * 3
VALUES = [
    *_around(31),
    *_around(53),
    *_around(63),
    *_around(64),
    *_around(128),
    "1234567890" * 4,
    "-" + "1234567890" * 4,
    "9" * 4300,
    "9" * 4301,
    "-" + "9" * 5000,
    "1e400",
    "-1e400",
    "1e-400",
    "-1e-400",
    "1e99999999999999999999",
    "0e99999999999999999999",
    "NaN",
    "Infinity",
    "-Infinity",
    "-0.0",
    "-0",
    "0",
    "0.0",
    "-0e0",
    "-0.0e5",
    *[f"0.{_DIGITS[:n]}" for n in range(15, 26)],
    *[f"{_DIGITS[:n]}.5" for n in range(14, 20)],
    "9007199254740993.0",
    "179769313486231570000000000000000000000.0",
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "5e-324",
    "4.9406564584124654e-324",
    "2.2250738585072011e-308",
    "1.0",
    "1.00",
    "1E5",
    "1e5",
    "1e05",
    "1E+5",
    "100000.0",
    "1e-5",
    "1e-05",
    "1e16",
    "1e+16",
    "1e22",
    "1e23",
    "1.5e300",
    '""',
    '"\\u00e9"',
    '"\u00e9"',
    '"\\u00E9\u00e9"',
    '"\\/"',
    '"/"',
    '"\\u002f"',
    '"\\u0000"',
    '"\\u007f\x7f"',
    '"\\b\\f\\n\\r\\t\\"\\\\"',
    '"\\u0008"',
    '"<script>&\\u003c"',
    '"\u2028\u2029\\u2028"',
    '"\\ud800"',
    '"\\udfff"',
    '"\\ud800x\\udc00"',
    '"\\udc00\\ud800"',
    '"\\ud83d\\ude00"',
    '"\U0001f600"',
    '"\U0010ffff\uffff\ufeff"',
    '{"\\ud800": 1}',
    '{"a": 1, "a": 2}',
    '{"a": 1, "a": 1}',
    '{"a": {"b": 1, "c": 2, "b": 3}}',
    '{"b": 1, "a": 2}',
    '{"": 1}',
    '{"": {"": ""}}',
    '{"__proto__": 1, "constructor": 2, "__class__": 3}',
    '{"1": 1, "1.0": 2, "true": 3, "null": 4}',
    "[]",
    "{}",
    "[[]]",
    "[{}]",
    '{"a": []}',
    "[[], {}, [[]], [{}]]",
    "null",
    "true",
    "false",
    "[null, true, false, 0, 1, 0.0, 1.0]",
    "[1,\t2 , 3]",
    '{ "a" :1 , "b": [ ] }',
    "",
    "nul",
    "+1",
    "01",
    "1.",
    ".5",
    "0x10",
    "'a'",
    '"\x01"',
    '"a\tb"',
    '"\\x"',
    '"\\u12"',
    '"open',
    "[1,]",
    '{"a":1,}',
    '{"a"}',
    "{a: 1}",
    "[1 2]",
    "1 2",
    "[1}",
    "]",
    "\u00a01",
    "// comment",
    "1 // comment",
]


def _outcome(serializer: str, fmt: str, source: bytes) -> str:
    """What became of a source; fails where it was neither kept nor refused for the reason."""
    try:
        valid = strict_values(fmt, source)
    except (ValueError, RecursionError):
        with pytest.raises(SyntaxInputError):
            round_trip(serializer, fmt, source)
        return INVALID
    try:
        restored, exact = round_trip(serializer, fmt, source)
    except ValueRefusedError as error:
        refusal = error
    else:
        assert strict_values(fmt, restored) == valid
        assert exact == (restored == source)
        return SAME
    assert refusal.record is not None
    assert "raw can" in str(refusal)
    return REFUSED


def _wrapped(value: str) -> list[tuple[str, str]]:
    return [
        ("json", value),
        ("json", f'{{"a": {{"key": {value}}}, "b": 1}}\n'),
        ("json", f"[1, {value}]"),
        ("json", f'[\n  {{\n    "key": {value}\n  }},\n  {{\n    "key": 0\n  }}\n]'),
        ("ndjson", f'{{"key":{value}}}\n{{"key":0}}\n'),
        ("ndjson", f"[{value},{value}]"),
    ]


@pytest.mark.parametrize("serializer", VALUE_SERIALIZERS)
def test_each_value_is_kept_or_refused(serializer: str) -> None:
    """All of a serializer in one test: as many as there are values took longer to set up."""
    failed = []
    for value in VALUES:
        try:
            for fmt, text in _wrapped(value):
                _outcome(serializer, fmt, text.encode())
        except (Exception, pytest.fail.Exception) as error:
            error.add_note(f"of {value[:30]!a}")
            failed.append(error)
    if failed:
        raise BaseExceptionGroup(f"{len(failed)} of {len(VALUES)} values", failed)


@pytest.mark.parametrize(
    ("value", "keepers"),
    [
        ("18446744073709551615", "json ujson msgpack"),
        ("18446744073709551616", "json ujson"),
        ("-9223372036854775809", "json ujson"),
        ("1234567890" * 4, "json ujson"),
        ("9" * 5000, ""),
        ("1e400", ""),
        ("-0", ""),
        ("-0.0", "json ujson msgpack"),
        ("0.12345678901234567890", ""),
        ("1.50", "json ujson msgpack"),
        ('"\\ud800"', "json ujson"),
        ('{"a": 1, "a": 1}', ""),
        ('"\\u0000"', "json ujson msgpack"),
        ("[[[[]]]]", "json ujson msgpack"),
    ],
)
def test_who_keeps_what(value: str, keepers: str) -> None:
    kept = [
        name
        for name in ("json", "ujson", "msgpack")
        if {_outcome(name, fmt, text.encode()) for fmt, text in _wrapped(value)} == {SAME}
    ]
    assert kept == keepers.split()


@pytest.mark.parametrize("serializer", VALUE_SERIALIZERS)
@pytest.mark.parametrize(("opening", "inner", "closing"), [("[", "", "]"), ('{"a":', "1", "}")])
@pytest.mark.parametrize(
    ("depth", "outcome"),
    [
        (MAX_DEPTH - 1, SAME),
        (MAX_DEPTH, SAME),
        (MAX_DEPTH + 2, REFUSED),
        (1025, REFUSED),
        (100_000, REFUSED),
    ],
)
def test_depth(
    serializer: str, opening: str, inner: str, closing: str, depth: int, outcome: str
) -> None:
    before, after = opening * depth, closing * depth
    if opening == "[" and not takes(serializer, "bare"):
        before, after = '{"a":' + opening * (depth - 1), closing * (depth - 1) + "}"
    text = before + inner + after
    for fmt in ("json", "ndjson"):
        source = (text + "\n").encode()
        if outcome == SAME:
            assert _kept_if_not_too_deep(serializer, fmt, source)
        else:
            with pytest.raises(ValueRefusedError, match=f"more than {MAX_DEPTH} levels"):
                round_trip(serializer, fmt, source)
            cut_off = before.encode()
            with pytest.raises(SyntaxInputError, match="ends too early"):
                round_trip(serializer, fmt, cut_off)


@pytest.mark.parametrize("serializer", VALUE_SERIALIZERS)
def test_depth_in_a_thread_with_a_small_stack(serializer: str) -> None:
    source = b'{"a":[' * (MAX_DEPTH // 2) + b"1" + b"]}" * (MAX_DEPTH // 2)
    found: list[object] = []
    before = threading.stack_size(512 << 10)
    try:
        thread = threading.Thread(
            target=lambda: found.append(_kept_if_not_too_deep(serializer, "json", source))
        )
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert found == [True]


def _kept_if_not_too_deep(serializer: str, fmt: str, source: bytes) -> bool:
    """Whether a source comes back; some go less deep, or take no containers at all."""
    try:
        return round_trip(serializer, fmt, source) == (source, True)
    except ValueRefusedError as refused:
        cls = SERIALIZERS.cls(serializer)
        if "nested" in cls.cannot:
            return refused.kind == "nested"
        # Types that are declared beforehand; tomllib, which nests three calls for a level.
        shallow = issubclass(cls, WholeFiles) or serializer == "toml"
        return refused.kind == "depth" and shallow


def test_a_refusal_names_record_path_and_who_can() -> None:
    source = b'{"a": 1}\n\n{"a": 2, "sub": [0, {"odd key": 18446744073709551616}]}\n'
    with pytest.raises(ValueRefusedError) as caught:
        round_trip("msgpack", "ndjson", source)
    assert str(caught.value).startswith(
        'record 1, $.sub[1]["odd key"]: msgpack cannot hold an integer beyond 64 bits:'
        " 18446744073709551616; json"
    )
    source = b"[" + b'{"price": 1}, ' * 30 + b'{"price": 0.1000000000000000001}]'
    with pytest.raises(ValueRefusedError) as caught:
        round_trip("json", "json", source, 64)
    assert caught.value.record == 30
    assert caught.value.value_path == "$.price"


@given(
    text=st.one_of(texts.values(texts.white), texts.arrays(), texts.maps()),
    size=st.integers(1, 64),
    serializer=st.sampled_from(VALUE_SERIALIZERS),
)
def test_any_json_is_kept_or_refused(text: str, size: int, serializer: str) -> None:
    _check_kept("json", text, size, serializer)


@given(text=texts.lines(), size=st.integers(1, 64), serializer=st.sampled_from(VALUE_SERIALIZERS))
def test_any_ndjson_is_kept_or_refused(text: str, size: int, serializer: str) -> None:
    _check_kept("ndjson", text, size, serializer)


def _check_kept(fmt: str, text: str, size: int, serializer: str) -> None:
    source = text.encode()
    try:
        restored, exact = round_trip(serializer, fmt, source, size)
    except ValueRefusedError:
        return
    assert strict_values(fmt, restored) == strict_values(fmt, source)
    assert exact == (restored == source)


@given(text=st.text(' \n,:"\\[]{}1e-.nulta', max_size=40), fmt=st.sampled_from(["json", "ndjson"]))
def test_what_is_no_json_is_refused(text: str, fmt: str) -> None:
    for serializer in VALUE_SERIALIZERS:
        _outcome(serializer, fmt, text.encode())
