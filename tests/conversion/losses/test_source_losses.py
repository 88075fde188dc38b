"""What only a source says: digits, keys twice, bytes that are no UTF-8, comments."""

from __future__ import annotations

import io
import json
from datetime import datetime, time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serialpack.conversion.losses.rules import RULES
from serialpack.errors import SyntaxInputError, ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, Unheld, ValueFormat
from serialpack.formats.losses.reading import parse_lossy
from serialpack.values.equality import difference
from serialpack.values.kinds import Loss, totals

ALL = frozenset(RULES)


def blocks(format: str, data: bytes, size: int = 1 << 20) -> tuple[ValueFormat, list[SourceBlock]]:
    fmt = FORMATS.get(format)
    assert isinstance(fmt, ValueFormat)
    return fmt, list(fmt.split(io.BytesIO(data).read, size, for_values=True))


def read(
    format: str, data: bytes, *allowed: str, size: int = 1 << 20
) -> tuple[list[Any], dict[str, Loss]]:
    """The records of a source, and the losses by rule."""
    fmt, pieces = blocks(format, data, size)
    records: list[Any] = []
    losses: list[Loss] = []
    for block in pieces:
        found, lost = parse_lossy(fmt, block, frozenset(allowed))
        assert len(lost) == len({loss.rule for loss in lost})
        records += found
        losses += lost
    return records, {loss.rule: loss for loss in totals(losses)}


@pytest.mark.parametrize(
    ("format", "data", "records", "loss"),
    [
        (
            *("json", b'[1, {"a": [0.5, 0.10000000000000000001, 1e-400]}]'),
            [1, {"a": [0.5, 0.1, 0.0]}],
            Loss("digits", 2, 1, "$.a[1]", "0.10000000000000000001", "0.1"),
        ),
        (
            *("ndjson", b"1.0\n1.50\n-0.0\n1E2\n0e99\n123456789012345678.9\n"),
            [1.0, 1.5, -0.0, 100.0, 0.0, 123456789012345680.0],
            Loss("digits", 1, 5, "$", "123456789012345678.9", "1.2345678901234568e+17"),
        ),
        (
            *(
                "yaml",
                b"a: 0.10000000000000000001\n---\n- !!timestamp 2001-01-01 00:00:00.1234567\n",
            ),
            [{"a": 0.1}, [datetime(2001, 1, 1, 0, 0, 0, 123456)]],
            Loss("digits", 2, 0, "$.a", "0.10000000000000000001", "0.1"),
        ),
        (
            *("yaml", b"%YAML 1.1\n---\n- 1:30.00000000000000000001\n"),
            [[90.0]],
            Loss("digits", 1, 0, "$[0]", "1:30.00000000000000000001", "90.0"),
        ),
        (
            *("toml", b"a = [1.0, 0.10000000000000000001]\n"),
            [{"a": [1.0, 0.1]}],
            Loss("digits", 1, 0, "$.a[1]", "0.10000000000000000001", "0.1"),
        ),
        (
            *("toml", b"x = '01:02:03.1234567' # 01:02:03.1234567\n[b]\nc=[01:02:03.1234567]\n"),
            [{"x": "01:02:03.1234567", "b": {"c": [time(1, 2, 3, 123456)]}}],
            Loss("digits", 1, 0, "$.b.c[0]", "01:02:03.1234567", "01:02:03.123456"),
        ),
        (
            *("typed-xml", b"<int>1</int>\n<list><float>0.10000000000000000001</float></list>\n"),
            [1, [0.1]],
            Loss("digits", 1, 1, "$[0]", "0.10000000000000000001", "0.1"),
        ),
        (
            *("json", b'{"b": {"a": 1, "x": 0, "a": [2], "a": 3}}'),
            [{"b": {"a": 3, "x": 0}}],
            Loss("duplicates", 2, 0, "$.b.a", "1", "3"),
        ),
        (
            *("ndjson", b'1\n{"a": {"b": 1, "b": 2}, "a": 3}\n'),
            [1, {"a": 3}],
            Loss("duplicates", 1, 1, "$.a", "dict", "3"),
        ),
        (
            *("yaml", b"- 1\n- {a: 1, b: 2, a: 3}\n"),
            [[1, {"a": 3, "b": 2}]],
            Loss("duplicates", 1, 0, "$[1].a", "1", "3"),
        ),
        (
            *("msgpack", b"\x01\x91\x82\xa1a\x01\xa1a\x02"),
            [1, [{"a": 2}]],
            Loss("duplicates", 1, 1, "$[0].a", "1", "2"),
        ),
        (
            *("cbor", bytes.fromhex("0181a26161016161 02")),
            [1, [{"a": 2}]],
            Loss("duplicates", 1, 1, "$[0].a", "1", "2"),
        ),
        (
            *("cbor", bytes.fromhex("bf8101018101a2010201 03ff")),
            [{(1,): {1: 3}}],
            Loss("duplicates", 2, 0, "$[(1,)]", "1", "dict"),
        ),
        (
            *("csv", b"a,b,a\n1,2,3\n4,5,6\n"),
            [{"a": "3", "b": "2"}, {"a": "6", "b": "5"}],
            Loss("duplicates", 2, 0, "$.a", "'1'", "'3'"),
        ),
        (
            *("json", b'["a", {"x": "caf\xe9", "\xe2\x82": "\xff\xfe"}]'),
            ["a", {"x": "caf\ufffd", "\ufffd": "\ufffd\ufffd"}],
            Loss("utf8", 3, 1, "$.x", r"b'caf\xe9'", r"'caf\ufffd'"),
        ),
        (
            *("ndjson", b'"\\ud83d"\n"\xe9"\n'),
            ["\ud83d", "\ufffd"],
            Loss("utf8", 1, 1, "$", r"b'\xe9'", r"'\ufffd'"),
        ),
        (
            *("csv", b"a,b\xe9\n1,2\n3,\xff\n"),
            [{"a": "1", "b\ufffd": "2"}, {"a": "3", "b\ufffd": "\ufffd"}],
            Loss("utf8", 2, 0, '$["b\\ufffd"]', r"b'b\xe9'", r"'b\ufffd'"),
        ),
        (
            *("tsv", b"a\tb\n1\t\xff\n"),
            [{"a": "1", "b": "\ufffd"}],
            Loss("utf8", 1, 0, "$.b", r"b'\xff'", r"'\ufffd'"),
        ),
        (
            *("yaml", b"- 1\n- [x, caf\xe9]\n"),
            [[1, ["x", "caf\ufffd"]]],
            Loss("utf8", 1, 0, "$[1][1]", r"b'caf\xe9'", r"'caf\ufffd'"),
        ),
        (
            *("toml", b"a = 'caf\xe9'\n"),
            [{"a": "caf\ufffd"}],
            Loss("utf8", 1, 0, "$.a", r"b'caf\xe9'", r"'caf\ufffd'"),
        ),
        (
            *("typed-xml", b'<map><string key="\xff">\xe9</string></map>\n'),
            [{"\ufffd": "\ufffd"}],
            Loss("utf8", 2, 0, "$[b'\\xff']", r"b'\xff'", r"'\ufffd'"),
        ),
        (
            *("msgpack", b"\x92\xa1\xff\x81\xa2\xc3\xa9\xa3\xed\xa0\x80"),
            [["\ufffd", {"é": "\ufffd\ufffd\ufffd"}]],
            Loss("utf8", 2, 0, "$[0]", r"b'\xff'", r"'\ufffd'"),
        ),
        (
            *("cbor", bytes.fromhex("8261ffa161fe01")),
            [["\ufffd", {"\ufffd": 1}]],
            Loss("utf8", 2, 0, "$[0]", r"b'\xff'", r"'\ufffd'"),
        ),
    ],
)
def test_a_rule_about_the_source(format: str, data: bytes, records: Any, loss: Loss) -> None:
    found, losses = read(format, data, loss.rule)
    assert difference(records, found) is None
    assert losses == {loss.rule: loss}
    assert losses == read(format, data, *ALL)[1]
    assert loss.rule in FORMATS.get(format).heeds  # type: ignore[attr-defined]
    with pytest.raises((Unheld, SyntaxInputError)):
        read(format, data, *(ALL - {loss.rule, "renamed"}))


@pytest.mark.parametrize(
    ("format", "data", "kind"),
    [
        ("json", b"[" + b"1" * 5000 + b"]", "huge-integer"),
        # Python takes these for one key, which they are not.
        ("yaml", b"{1: a, true: b}", "duplicate-keys"),
        ("msgpack", b"\x82\x01\x01\xc3\x02", "duplicate-keys"),
        ("cbor", bytes.fromhex("a20101f502"), "duplicate-keys"),
        # Within a key or a set nobody can say where it is.
        ("cbor", bytes.fromhex("a1a20101010203"), "duplicate-keys"),
        ("cbor", bytes.fromhex("a1d9270f81a20101010203"), "duplicate-keys"),
        ("cbor", bytes.fromhex("d9010281a201010102"), "duplicate-keys"),
    ],
)
def test_what_no_rule_allows(format: str, data: bytes, kind: str) -> None:
    with pytest.raises(Unheld) as unheld:
        read(format, data, *ALL)
    assert unheld.value.difference.kind == kind


@pytest.mark.parametrize("format", ["json", "ndjson", "csv", "yaml", "msgpack", "cbor"])
def test_names_that_would_become_one_are_refused(format: str) -> None:
    data = {
        "json": b'[{"\xff": 1, "\xfe": 2}]',
        "ndjson": b'{"\xff": 1, "\xfe": 2}\n',
        "csv": b"\xff,\xfe\n1,2\n",
        "yaml": b"{\xff: 1, \xfe: 2}\n",
        "msgpack": b"\x82\xa1\xff\x01\xa1\xfe\x02",
        "cbor": bytes.fromhex("a261ff0161fe02"),
    }[format]
    with pytest.raises((Unheld, ValueRefusedError)):
        read(format, data, "utf8", "duplicates")


def test_what_a_tag_of_cbor_holds_is_found() -> None:
    """Also where it is no container of Python's."""
    data = bytes.fromhex("d91388 82 61ff a2 6161 01 6161 02")
    (tag,), losses = read("cbor", data, *ALL)
    assert tag.value == ["\ufffd", {"a": 2}]
    assert losses["utf8"][1:4] == (*losses["duplicates"][1:3], "$[0]")
    (record,), losses = read("cbor", bytes.fromhex("a1 8161ff a161fe01"), *ALL)
    assert record == {("\ufffd",): {"\ufffd": 1}}
    assert losses["utf8"].count == 2


@pytest.mark.parametrize("key", ["a10102", "81a1018102", "d9270fa10102", "d9010281a10102"])
def test_any_key_of_cbor_may_stand_beside_one_that_stands_twice(key: str) -> None:
    fmt, (alone,) = blocks("cbor", bytes.fromhex("a1" + key + "03"))
    (fine,) = fmt.parse(alone)
    records, losses = read("cbor", bytes.fromhex("82 a201010102 a1" + key + "03"), "duplicates")
    assert difference(records[0][1], fine) is None
    assert {rule: loss.count for rule, loss in losses.items()} == {"duplicates": 1}


def test_csv_in_many_blocks_counts_the_header_once() -> None:
    data = b"a,b\xe9\n" + b"1,2\n" * 20 + b"3,\xff\n"
    records, losses = read("csv", data, "utf8", size=16)
    assert len(records) == 21
    assert losses["utf8"][1:4] == (2, 0, '$["b\\ufffd"]')
    assert set(records[-1]) == {"a", "b\ufffd"}


def test_records_count_from_the_start_of_the_source() -> None:
    data = b"[" + b"0,\n" * 50 + b'"\xff", {"a": 1, "a": 2}, 0.10000000000000000001]'
    records, losses = read("json", data, *ALL, size=32)
    assert records[-3:] == ["\ufffd", {"a": 2}, 0.1]
    assert {rule: loss.record for rule, loss in losses.items()} == {
        "utf8": 50,
        "duplicates": 51,
        "digits": 52,
    }


@pytest.mark.parametrize(
    ("format", "data", "offset", "line", "column"),
    [
        ("json", b'["\xe9\xff",\n"\xff" 1]', 11, 2, 5),
        ("ndjson", b'"\xff"\n{"\xff" 1}\n', 9, 2, 6),
        ("csv", b'a\n\xff\n"\xff"x\n', 7, 3, 4),
        ("yaml", b"- \xff\n- [\xff\n- b", 12, 3, 4),
        ("toml", b'a = "\xff"\nb = "\xff" 1\n', 16, 2, 9),
        ("typed-xml", b"<string>\xff</string><list>\n\xff</list>", 26, 2, 2),
    ],
)
def test_other_errors_keep_their_place(
    format: str, data: bytes, offset: int, line: int, column: int
) -> None:
    """Bytes that are no UTF-8 are as many as they were."""
    with pytest.raises(SyntaxInputError) as error:
        read(format, data, "utf8")
    assert (error.value.offset, error.value.line, error.value.column) == (offset, line, column)


def test_utf_16_is_no_damaged_utf_8() -> None:
    for format in ("json", "yaml", "typed-xml"):
        with pytest.raises(SyntaxInputError):
            read(format, "[1]".encode("utf-16"), *ALL)


def test_text_that_uses_the_characters_of_the_trick() -> None:
    """Bytes that are no UTF-8 are told from any characters of the text."""
    odd = "".join(map(chr, [*range(0xE000, 0xF900, 64), 0xDC80 - 1]))
    text = ascii(odd)[1:-1].encode()
    plain = odd[:-1].encode()
    records, losses = read("json", b'["%b", "%b\xff"]' % (text, plain), "utf8")
    assert records == [odd, odd[:-1] + "\ufffd"]
    assert losses["utf8"].count == 1


@given(st.binary(max_size=40))
def test_any_bytes_in_text_become_what_python_makes_of_them(data: bytes) -> None:
    data = data.translate(None, bytes({*range(32), 0x22, 0x5C, 0x7F}))
    (record,), losses = read("json", b'["%b"]' % data, "utf8")
    assert record == data.decode("utf-8", "replace")
    assert bool(losses) == (record.encode() != data)


@given(st.binary(max_size=40))
def test_any_bytes_in_messages_become_what_python_makes_of_them(data: bytes) -> None:
    for format, head in (("msgpack", b"\x91\xd9"), ("cbor", b"\x81\x78")):
        (record,), losses = read(format, head + bytes([len(data)]) + data, "utf8")
        assert record == [data.decode("utf-8", "replace")]
        assert bool(losses) == (record[0].encode() != data)


def _spelled(value: Any) -> str:
    """JSON of pairs for maps, so that keys can be there twice."""
    if isinstance(value, list):
        return "[" + ", ".join(map(_spelled, value)) + "]"
    if isinstance(value, tuple):
        return "{" + ", ".join(f'"{key}": {_spelled(part)}' for key, part in value) + "}"
    return str(value)


def _dropped(value: Any) -> int:
    """The members that are gone from what is left."""
    if isinstance(value, list):
        return sum(map(_dropped, value))
    if isinstance(value, tuple):
        last = dict(value)
        return len(value) - len(last) + sum(map(_dropped, last.values()))
    return 0


@given(
    st.lists(
        st.recursive(
            st.integers(0, 9),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.lists(st.tuples(st.sampled_from("abc"), inner), max_size=4).map(tuple)
            ),
            max_leaves=12,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_duplicates_are_counted_exactly(records: list[Any]) -> None:
    text = _spelled(records)
    count = sum(map(_dropped, records))
    for format in ("json", "yaml"):
        found, losses = read(format, text.encode(), "duplicates")
        whole = found if format == "json" else found[0]
        assert difference(json.loads(text), whole) is None
        assert (losses["duplicates"].count if losses else 0) == count


# Comments.


@pytest.mark.parametrize(
    ("format", "data", "count", "line", "text"),
    [
        ("yaml", b"a: 1\nb: '# no'\nc: x#y\nd: [1, # first\n  2]\n# end\n", 2, 4, "# first"),
        ("yaml", b"a: | # first\n  # no\nb: >-\n  # no\n", 1, 1, "# first"),
        ("yaml", b"%YAML 1.1 # first\n--- # two\n- x\n... # three\n", 3, 1, "# first"),
        ("yaml", b"- \"a # no\n  # no\"\n- '# no'\n- plain\n  text # first\n", 1, 5, "# first"),
        ("yaml", b"\xef\xbb\xbf\n[a, b]#first", 1, 2, "#first"),
        ("yaml", b"- &a x\n- *a # first", 1, 2, "# first"),
        ("toml", b"a = '#' # first\nb = [ # two\n1]\n", 2, 1, "# first"),
        ("toml", b'a = """\n# no\n\\""" # no """"" # first\n', 1, 3, "# first"),
        ("toml", b"a = '''\n# no\n''''' # first\n\"#\" = 1\n", 1, 3, "# first"),
        ("toml", b'a = "\\"#" # first\r\n', 1, 1, "# first"),
        ("typed-xml", b"<list>\n<!-- a\n b --><?pi x?></list><!---->", 3, 2, "<!-- a b -->"),
        ("typed-xml", b"<string><![CDATA[<!-- no -->]]></string>\n<?pi?>\n", 1, 2, "<?pi?>"),
        ("typed-xml", b"<?xml version='1.0'?>\n<!--\x85-->\n<int>1</int>", 1, 2, r"<!--\ufffd-->"),
    ],
)
def test_comments_are_counted(format: str, data: bytes, count: int, line: int, text: str) -> None:
    fmt, (block,) = blocks(format, data)
    block = block._replace(first_record=5, line=10)
    assert fmt.comments(block) == Loss("comments", count, 5, f"line {10 + line}", text, "")


@pytest.mark.parametrize(
    ("format", "data"),
    [
        ("json", b'{"a": "# no"}'),
        ("ndjson", b'"# no"\n'),
        ("csv", b"#a\n# 1\n"),
        ("yaml", b"a: x#y\nb: '# no'\nc: |\n  # no\n"),
        ("toml", b"a = '# no'\n"),
        ("typed-xml", b"<?xml version='1.0'?>\n<string>&lt;!-- no --&gt;</string>"),
        ("yaml", b"a: [1 # broken\n"),
        ("msgpack", b"\xa1#"),
    ],
)
def test_no_comments(format: str, data: bytes) -> None:
    """Nor an error for what is not valid: that is for ``parse`` to say."""
    fmt, (block,) = blocks(format, data)
    found = fmt.comments(block)
    assert found is None or b"broken" in data


def test_a_comment_is_shown_on_one_short_line() -> None:
    fmt, (block,) = blocks("toml", b"# \x1b[2J " + "é".encode() * 100 + b"\n")
    found = fmt.comments(block)
    assert found is not None
    assert found.was.isascii()
    assert found.was.isprintable()
    assert len(found.was) < 45
