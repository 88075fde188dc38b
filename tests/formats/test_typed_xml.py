"""Typed XML as a source: each value's element, what is no such XML, and traps."""

from __future__ import annotations

import io
import math
import struct
from collections import OrderedDict
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, cast
from uuid import UUID
from xml.dom import minidom
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.depth import MAX_DEPTH
from serialpack.errors import RefusedError, SyntaxInputError
from serialpack.formats import FORMATS
from serialpack.formats.base import Unheld
from serialpack.formats.shared.document import Malformed
from serialpack.formats.xml.typed import TypedXmlFormat
from serialpack.serializers.base import FAILURES
from serialpack.values.equality import difference
from tests.formats.hostile import on_the_command_line, said

FMT = cast(TypedXmlFormat, FORMATS.get("typed-xml"))


def _bits(pattern: int) -> float:
    return float(struct.unpack(">d", struct.pack(">Q", pattern))[0])


@pytest.mark.parametrize(
    ("value", "element"),
    [
        (None, "<null/>"),
        (True, "<true/>"),
        (False, "<false/>"),
        (-5, "<int>-5</int>"),
        (10**30, f"<int>{10**30}</int>"),
        (1 << 20_000, "<int>0x1" + "0" * 5000 + "</int>"),
        (-(1 << 20_000), "<int>-0x1" + "0" * 5000 + "</int>"),
        (0.1, "<float>0.1</float>"),
        (-0.0, "<float>-0.0</float>"),
        (1e300, "<float>1e+300</float>"),
        (math.inf, "<float>inf</float>"),
        (-math.inf, "<float>-inf</float>"),
        (math.nan, "<float>nan</float>"),
        (_bits(0xFFF8000000000000), "<float>nan:fff8000000000000</float>"),
        (_bits(0x7FF4000000000001), "<float>nan:7ff4000000000001</float>"),
        (complex(-0.0, math.nan), "<complex>-0.0 nan</complex>"),
        ("", "<string></string>"),
        ("<&>\"'", "<string>&lt;&amp;&gt;\"'</string>"),
        ("]]>", "<string>]]&gt;</string>"),
        (" \ta\n\r\x85\u2028 ", "<string> \ta&#10;&#13;\x85\u2028 </string>"),
        ("é\U0001f600\U0010ffff", "<string>é\U0001f600\U0010ffff</string>"),
        ("\0\\", '<string escape="\\">\\u0000\\\\</string>'),
        ("\ud800<\uffff", '<string escape="\\">\\ud800&lt;\\uffff</string>'),
        ("\\u0000", "<string>\\u0000</string>"),
        (b"\0\xff", "<bytes>AP8=</bytes>"),
        (bytearray(b"a"), "<bytearray>YQ==</bytearray>"),
        (datetime(2023, 10, 25, 0, 44, 28), "<datetime>2023-10-25T00:44:28</datetime>"),
        (datetime(1, 1, 1, tzinfo=UTC), "<datetime>0001-01-01T00:00:00+00:00</datetime>"),
        (
            datetime(2023, 10, 29, 2, 30, 0, 5, ZoneInfo("Europe/Vienna"), fold=1),
            '<datetime zone="Europe/Vienna" fold="1">2023-10-29T02:30:00.000005</datetime>',
        ),
        (
            datetime(2023, 1, 1, tzinfo=timezone(-timedelta(seconds=3661), "<x>")),
            '<datetime name="&lt;x&gt;">2023-01-01T00:00:00-01:01:01</datetime>',
        ),
        (
            datetime(2023, 1, 1, tzinfo=timezone(timedelta(0), "zero")),
            '<datetime name="zero">2023-01-01T00:00:00+00:00</datetime>',
        ),
        (date(2023, 10, 25), "<date>2023-10-25</date>"),
        (time(12, 30), "<time>12:30:00</time>"),
        (time(12, tzinfo=UTC), "<time>12:00:00+00:00</time>"),
        (
            time(12, tzinfo=timezone(timedelta(hours=2), "x")),
            '<time name="x">12:00:00+02:00</time>',
        ),
        (time(1, fold=1), '<time fold="1">01:00:00</time>'),
        (time(1, tzinfo=ZoneInfo("UTC")), '<time zone="UTC">01:00:00</time>'),
        (timedelta(microseconds=-1), "<timedelta>-1 86399 999999</timedelta>"),
        (Decimal("-0.00"), "<decimal>-0.00</decimal>"),
        (Decimal("1E+400"), "<decimal>1E+400</decimal>"),
        (Decimal("NaN12"), "<decimal>NaN12</decimal>"),
        (Fraction(-1, 3), "<fraction>-1/3</fraction>"),
        (UUID(int=5), "<uuid>00000000-0000-0000-0000-000000000005</uuid>"),
        ([], "<list></list>"),
        ([1, [None]], "<list><int>1</int><list><null/></list></list>"),
        ((1,), "<tuple><int>1</int></tuple>"),
        ({2}, "<set><int>2</int></set>"),
        (frozenset([(1,)]), "<frozenset><tuple><int>1</int></tuple></frozenset>"),
        ({}, "<map></map>"),
        ({"b": 1, "a": {}}, '<map><int key="b">1</int><map key="a"></map></map>'),
        (
            {"": None, "\n<\"'\t": 1},
            '<map><null key=""/><int key="&#10;&lt;&quot;\'&#9;">1</int></map>',
        ),
        ({1: "x"}, "<map><entry><int>1</int><string>x</string></entry></map>"),
        (
            {"\0": 1},
            '<map><entry><string escape="\\">\\u0000</string><int>1</int></entry></map>',
        ),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_each_value_has_its_element(value: Any, element: str) -> None:
    written = FMT.write([value])
    assert written == element.encode() + b"\n"
    assert difference(FMT.read(written), [value]) is None
    assert difference(FMT.read(b'<?xml version="1.0"?>\n' + written), [value]) is None
    assert minidom.parseString(written.decode())


@pytest.mark.parametrize(
    "value",
    [
        *(object(), len, int, memoryview(b"a"), range(3), OrderedDict(a=1), ..., ValueError()),
        type("Text", (str,), {})("a"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_objects_are_refused(value: Any) -> None:
    for record in (value, [value], {"a": value}):
        with pytest.raises(FAILURES):
            FMT.write([record])


def test_each_record_has_a_line() -> None:
    records = [{"a": "x\ny"}, 5, "\r\n", None]
    written = FMT.write(records)
    assert written.count(b"\n") == len(records)
    assert FMT.read(written) == records
    assert FMT.read(b"") == FMT.read(b"\n \n") == []


def test_what_may_stand_around_values() -> None:
    source = (
        '\ufeff<?xml version="1.0" encoding="UTF-8"?>\n<!-- a note -->\n<?do it?>\n<map>\n'
        "  <list key='a'>\n    <int>1</int><!-- one -->\n  </list>\n"
        "  <string key='b'>x<![CDATA[<y>]]>&#65;</string>\n</map>\n"
    )
    assert FMT.read(source.encode()) == [{"a": [1], "b": "x<y>A"}]


@pytest.mark.parametrize(
    ("source", "line", "column", "words"),
    [
        ("<svg><g/></svg>", 1, 1, "the root element <svg> is none that serialpack writes"),
        ("\n <html>x</html>", 2, 2, "pack -s raw keeps the bytes"),
        ("<list>\n  <svg/></list>", 2, 3, "the element <svg>"),
        ("<list><entry><int>1</int></entry></list>", 1, 7, "the element <entry>"),
        ("<int>1", 1, 7, "ends too early"),
        ("<map><int key='a'>1</int>", 1, 26, "ends too early"),
        ("<list>\n<int>1</list>", 2, 9, "mismatched tag"),
        ("<int>1</int>\nx", 2, 2, "text stands between"),
        ("<list>x</list>", 1, 8, "text stands between"),
        ("<int>1</int></records>", 1, 13, "did not begin"),
        ("<int>1</int></records><records>", 1, 13, "did not begin"),
        ("<string>&nbsp;</string>", 1, 9, "undefined entity"),
        ("<string>&#0;</string>", 1, 9, "invalid character number"),
        ("<string>\0</string>", 1, 9, "invalid token"),
        ("<int>x</int>", 1, 7, "'x' is no value of type <int>"),
        ("<int> 1</int>", 1, 8, "no value of type <int>"),
        ("<int>01</int>", 1, 8, "no value of type <int>"),
        ("<int>1_000</int>", 1, 11, "no value of type <int>"),
        ("<int>" + "9" * 5000 + "</int>", 1, 5006, "no value of type <int>"),
        ("<float>nan:7ff0000000000000</float>", 1, 28, "no value"),
        ("<float>1,5</float>", 1, 11, "no value"),
        ("<complex>1</complex>", 1, 11, "no value"),
        ("<null>x</null>", 1, 8, "no value"),
        ("<bytes>a</bytes>", 1, 9, "no value"),
        ("<bytes>YQ==\n</bytes>", 2, 1, "no value"),
        ("<datetime>2023-10-25 00:44:28</datetime>", 1, 30, "no value"),
        ("<datetime>2023-10-25T00:44:28.1234567</datetime>", 1, 38, "no value"),
        ("<datetime zone='No/Where'>2023-10-25T00:44:28</datetime>", 1, 46, "no value"),
        ("<datetime zone='../../etc/passwd'>2023-10-25T00:44:28</datetime>", 1, 54, "no value"),
        ("<datetime name='x'>2023-10-25T00:44:28</datetime>", 1, 39, "no value"),
        ("<datetime fold='2'>2023-10-25T00:44:28</datetime>", 1, 39, "no value"),
        ("<date>20231025</date>", 1, 15, "no value"),
        ("<timedelta>0 86400 0</timedelta>", 1, 21, "no value"),
        ("<fraction>2/4</fraction>", 1, 14, "no value"),
        ("<fraction>1/0</fraction>", 1, 14, "no value"),
        ("<decimal>x</decimal>", 1, 11, "no value"),
        ("<uuid>0</uuid>", 1, 8, "no value"),
        ("<string escape='\\'>\\x</string>", 1, 22, "no value"),
        ("<string escape='x'>a</string>", 1, 21, "no value"),
        ("<int><int>1</int></int>", 1, 6, "<int> stands in a value"),
        ("<int a='1'>1</int>", 1, 13, "the attribute 'a'"),
        ("<list a='1'></list>", 1, 13, "the attribute 'a'"),
        ("<int key='a'>1</int>", 1, 15, "the attribute 'key'"),
        ("<map><int>1</int></map>", 1, 12, "no key"),
        ("<map><entry><int>1</int></entry></map>", 1, 25, "a key and a value"),
        ("<map><entry key='a'><int>1</int><int>1</int></entry></map>", 1, 45, "a key and a value"),
        ("<map><entry><list/><int>1</int></entry></map>", 1, 32, "list is no key"),
        ("<map><int key='a'>1</int><int key='a'>2</int></map>", 1, 40, "'a' stands twice"),
        (
            "<map><entry><int>1</int><null/></entry><entry><true/><null/></entry></map>",
            *(1, 61, "True stands twice"),
        ),
        ("<set><int>1</int><float>1.0</float></set>", 1, 36, "twice"),
        ("<set><list/></set>", 1, 13, "can change"),
        ("<?xml version='1.0' encoding='latin-1'?><int>1</int>", 1, 31, "latin-1, not UTF-8"),
        ("<int>1</int><?xml version='1.0'?>", 1, 13, "XML or text declaration"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_other_xml_is_refused_with_its_place(
    source: str, line: int, column: int, words: str
) -> None:
    error = said(source.encode(), "typed-xml", "json")
    assert isinstance(error, SyntaxInputError)
    assert (error.line, error.column) == (line, column)
    assert error.offset == len("\n".join(source.split("\n")[: line - 1])) + (line > 1) + column - 1
    assert words in error.message


def test_bytes_that_are_not_utf8() -> None:
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        error = said("<?xml version='1.0'?><int>1</int>".encode(encoding), "typed-xml", "xml")
        assert "UTF-16" in error.message
    error = said(b"<string>\xff</string>", "typed-xml", "xml")
    assert isinstance(error, SyntaxInputError)
    assert error.offset == 8


def test_digits_that_no_double_holds_are_no_value() -> None:
    for text, kind in (("0.1000000000000000000001", "digits"), ("1e400", "overflow")):
        with pytest.raises(Unheld) as caught:
            FMT.read(f"<null/><float>{text}</float>".encode())
        assert (caught.value.difference.kind, caught.value.difference.record) == (kind, 1)
    assert FMT.read(b"<float>1.50</float><float>1e2</float>") == [1.5, 100.0]


ENTITIES = (
    b"<?xml version='1.0'?>\n<!DOCTYPE lolz [<!ENTITY l0 'lol'>"
    + b"".join(b"<!ENTITY l%d '%s'>" % (i, b"&l%d;" % (i - 1) * 10) for i in range(1, 10))
    + b"]>\n<string>&l9;</string>"
)


@pytest.mark.parametrize(
    ("source", "exit_code", "words"),
    [
        (ENTITIES, 4, "document type definition"),
        (b"<!DOCTYPE string SYSTEM 'file:///etc/passwd'><string/>", 4, "document type definition"),
        (
            b"<!DOCTYPE s [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><string>&x;</string>",
            *(4, "document type definition"),
        ),
        (b"<string>" + b"<!DOCTYPE a>" + b"</string>", 3, "column 11"),
        (b"<list>" * 100_000, 4, "record 0"),
        (b"<list>" * 100_000 + b"</list>" * 100_000, 4, "record 0"),
        (b"<map><entry>" * 100_000, 4, "record 0"),
        (b"<int " + b" ".join(b"a%d='1'" % i for i in range(20_000)) + b">1</int>", 3, "'a0'"),
        (b"<string>" + b"&" * 100_000, 3, "column 10"),
        (b"<" + b"a" * 1_000_000, 3, "ends too early"),
    ],
    ids=range(10),
)
def test_hostile_bytes(tmp_path: Path, source: bytes, exit_code: int, words: str) -> None:
    for serializer in ("xml", "json"):
        error = said(source, "typed-xml", serializer)
        assert (error.exit_code, words in str(error)) == (exit_code, True), error
    code, message = on_the_command_line(tmp_path, source, "typed-xml", "xml")
    assert (code, words in message, "Traceback" in message) == (exit_code, True, False)


def test_depth() -> None:
    deep: Any = 1
    for level in range(MAX_DEPTH):
        deep = [deep] if level % 2 else {None: deep}
    (found,) = FMT.read(FMT.write([deep]))
    assert difference(found, deep) is None
    with pytest.raises(RecursionError):
        FMT.write([[deep]])
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(RecursionError):
        FMT.write([cycle])


def test_a_source_comes_back_with_its_declaration() -> None:
    record = '<map><string key="a">x</string></map>\n'
    for declaration in ("", '<?xml version="1.0"?>\n', '<?xml version="1.0" encoding="UTF-8"?>\n'):
        source = (declaration + record).encode()
        for serializer in ("xml", "json", "msgpack"):
            packed, unpacked = io.BytesIO(), io.BytesIO()
            serialpack.pack(
                io.BytesIO(source), packed, serializer=serializer, format="typed-xml", threads=1
            )
            packed.seek(0)
            serialpack.unpack(packed, unpacked, threads=1)
            assert unpacked.getvalue() == source


def test_real_xml_is_not_typed(shared_data: Path) -> None:
    for path in (shared_data / "xml").iterdir():
        error = said(path.read_bytes(), "typed-xml", "xml")
        assert 'serializer="raw"' in str(error)


plain = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.complex_numbers()),
    *(st.text(st.characters(), max_size=8), st.binary(max_size=5), st.dates(), st.timedeltas()),
    *(st.times(), st.datetimes(), st.datetimes(timezones=st.timezones()), st.uuids()),
    *(st.decimals(), st.fractions(), st.binary(max_size=5).map(bytearray)),
)
keys = st.recursive(
    st.one_of(st.text(st.characters(), max_size=4), st.integers(), st.none(), st.dates()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2).map(tuple), st.frozensets(inner, max_size=2)
    ),
    max_leaves=3,
)
values = st.recursive(
    plain,
    lambda inner: st.one_of(
        *(st.lists(inner, max_size=4), st.lists(inner, max_size=4).map(tuple)),
        *(st.dictionaries(keys, inner, max_size=4), st.sets(keys, max_size=3)),
    ),
    max_leaves=10,
)


@given(records=st.lists(values, max_size=3))
def test_every_value_comes_back(records: list[Any]) -> None:
    assert difference(FMT.read(FMT.write(records)), records) is None


names = st.sampled_from(["int", "string", "list", "map", "entry", "float", "null", "set", "x"])
pieces = st.one_of(
    names.map(lambda name: f"<{name}>"),
    names.map(lambda name: f"</{name}>"),
    st.tuples(names, st.text(max_size=3)).map(lambda p: f"<{p[0]}>{p[1]}</{p[0]}>"),
    st.sampled_from([" ", "\n", "1", "&#65;", "<int key='a'>1</int>", "<![CDATA[x]]>", "<!--x-->"]),
)


@given(source=st.lists(pieces, max_size=8).map("".join))
def test_any_text_is_read_or_refused(source: str) -> None:
    try:
        records = FMT.read(source.encode())
    except (Malformed, Unheld, RefusedError):
        return
    assert difference(FMT.read(FMT.write(records)), records) is None
