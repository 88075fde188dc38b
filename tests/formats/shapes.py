"""Hostile sources of any size, for each format: what a scanner might look at again and again.

A format that has none here is tried with repeated bytes alone, and must say so (``BYTES_ONLY``).
"""

from __future__ import annotations

from collections.abc import Callable

#: Makes about so many bytes.
Shape = Callable[[int], bytes]


def repeated(unit: bytes, head: bytes = b"", tail: bytes = b"") -> Shape:
    """``unit`` again and again, between a head and a tail."""
    return lambda size: head + unit * (size // len(unit)) + tail


def counted(unit: str, each: int, head: str = "", tail: str = "") -> Shape:
    """``unit``, of ``each`` bytes or so, with a number in it that grows."""
    return lambda size: (head + "".join(unit % i for i in range(size // each)) + tail).encode()


def _sized(head: bytes, unit: bytes, width: int = 4) -> Shape:
    """So many of ``unit``, behind their number."""
    return lambda size: head + (size // len(unit)).to_bytes(width) + unit * (size // len(unit))


_JSON: dict[str, Shape] = {
    "one string": repeated(b"x", b'"', b'"'),
    "a string without an end": repeated(b"x", b'[{"a": "'),
    "escaped quotes": repeated(b'\\"', b'"', b'"'),
    "escaped quotes without an end": repeated(b'\\"', b'"'),
    "backslashes": repeated(b"\\\\", b'["', b'"]'),
    "open brackets": repeated(b"["),
    "open maps": repeated(b'{"a":'),
    "brackets, closed": lambda size: b"[" * (size // 2) + b"]" * (size // 2),
    "deep elements": repeated(b"[" * 90 + b"]" * 90 + b",", b"[", b"1]"),
    "numbers": repeated(b"0,", b"[", b"0]"),
    "delimiters": repeated(b",", b"[", b"]"),
    "lists": repeated(b"[],", b"[", b"[]]"),
    "records": repeated(b'{"a":1,"b":"x"},', b"[", b"{}]"),
    "one key again and again": repeated(b'"a":1,', b"{", b'"a":1}'),
    "many keys": counted('"k%d":1,', 10, "{", '"a":1}'),
    "white space between": repeated(b" ", b'[{"a":1},', b'{"a":2}]'),
    "white space behind": repeated(b" ", b"[1]"),
    "white space before": repeated(b" ", b"", b"[1]"),
    "brackets in a string": repeated(b"][", b'["', b'"]'),
    "a long key above many": lambda n: (
        b'{"%b":{%b"":0}}' % (b"k" * (n // 2), b'"a":1,' * (n // 12))
    ),
}
_LINES: dict[str, Shape] = {
    "lines": repeated(b'{"a":1}\n'),
    "blank lines": repeated(b"\n", b"1"),
    "nearly blank lines": repeated(b" \n", b"1", b"2"),
    "a line without an end": repeated(b"x", b'{"a":1}\n"'),
}
_CSV: dict[str, Shape] = {
    "one field": repeated(b"x", b"a,b\n"),
    "delimiters": repeated(b",", b"a,b\n"),
    "tabs": repeated(b"\t", b"a\tb\n"),
    "quotes": repeated(b'"', b"a,b\n"),
    "a field in quotes without an end": repeated(b"x", b'a,b\n"'),
    "doubled quotes": repeated(b'""', b'a,b\n"', b'",1\n'),
    "lines in quotes": repeated(b"\n", b'a,b\n"'),
    "fields in quotes": repeated(b'"x",', b"a,b\n"),
    "quotes within": repeated(b'x"y', b"a,b\n"),
    "rows": repeated(b"1,2\n", b"a,b\n"),
    "rows in quotes": repeated(b'"1","2"\n', b"a,b\n"),
    "carriage returns": repeated(b"\r", b"a,b\n"),
    "names": counted("c%d,", 6, "", "z\n1\n"),
    "odd quotes": repeated(b'",', b"a,b\n"),
    "odd quotes at ends": repeated(b'"\n', b"a,b\n"),
}
_PAIRS = b"".join(b"\xa7k%06d\x01" % i for i in range(4000))

SHAPES: dict[str, dict[str, Shape]] = {
    "json": _JSON,
    "ndjson": _JSON | _LINES,
    "csv": _CSV,
    **dict.fromkeys(("tsv", "csv:semicolon", "csv:pipe", "csv:dialect"), _CSV),
    "yaml": {
        "items": repeated(b"- a\n"),
        "keys": counted("k%d: 1\n", 9),
        "open brackets": repeated(b"["),
        "markers": repeated(b"---\n"),
        "documents": repeated(b"---\na\n"),
        "directives": repeated(b"%a\n---\n"),
        "comments": repeated(b"# c\n", b"a\n", b"---\nb\n"),
        "carriage returns": repeated(b"\n---\r"),
        "comments and a carriage return": repeated(b"#\r\n", b"a: 1\n", b"---\n"),
        "aliases": repeated(b"- *a\n", b"- &a x\n"),
        "nested items": repeated(b"- "),
        "one text": repeated(b"x ", b'"', b'"'),
        "maps": repeated(b"- {a: 1, b: [1, {c: x}]}\n"),
    },
    "toml": {
        "keys": counted("k%d=1\n", 7),
        "an array": repeated(b"1,", b"a=[", b"]\n"),
        "open brackets": repeated(b"[", b"a="),
        "one text": repeated(b"x", b'a="', b'"\n'),
        "escaped quotes without an end": repeated(b'\\"', b'#\na="'),
        "commas and a quote": repeated(b',"', b"a='", b"'\n"),
        "digits": repeated(b"0", b"a=12:12:12.", b"\n"),
        "comments": repeated(b"# c\n"),
    },
    "xml": {
        "one text": repeated(b"x", b"<a>", b"</a>"),
        "entities": repeated(b"&lt;", b"<a>", b"</a>"),
        "open elements": repeated(b"<a>"),
        "elements": repeated(b"<b>1</b>", b"<a>", b"</a>"),
        "elements of many names": counted("<b%d/>", 9, "<a>", "</a>"),
        "attributes": counted(' a%d="1"', 11, "<a", "/>"),
        "comments": repeated(b"<!-- c -->", b"<a>", b"</a>"),
        "comments without an end": repeated(b"<!--"),
        "sections": repeated(b"<![CDATA[x]]>", b"<a>", b"</a>"),
    },
    "typed-xml": {
        "one text": repeated(b"x", b"<list><string>", b"</string></list>"),
        "entities": repeated(b"&lt;", b"<list><string>", b"</string></list>"),
        "open elements": repeated(b"<list>"),
        "elements": repeated(b"<int>1</int>", b"<list>", b"</list>"),
        "comments": repeated(b"<!-- c -->", b"<list>", b"</list>"),
        "comments without an end": repeated(b"<!--"),
        "instructions without an end": repeated(b"<?a"),
        "sections without an end": repeated(b"<![CDATA["),
        "a declaration without an end": repeated(b"x", b"<?xml "),
    },
    "msgpack": {
        "an array": _sized(b"\xdd", b"\x00"),
        "deep": repeated(b"\x91"),
        "deep maps": repeated(b"\x81\xa1a"),
        "keys of keys": repeated(b"\x81\x91"),
        "a map": lambda n: b"\xdf" + (n // 9).to_bytes(4) + _PAIRS[: n // 9 * 9],
        "a map, deep, and a key twice": lambda n: (
            b"\x91" * 90 + b"\xdf" + (n // 9 + 1).to_bytes(4) + _PAIRS[: n // 9 * 9] + _PAIRS[:9]
        ),
        "what is none at the end": repeated(b"\x00", b"", b"\xc1"),
    },
    "cbor": {
        "an array": _sized(b"\x9a", b"\x00"),
        "deep": repeated(b"\x81"),
        "deep without lengths": repeated(b"\x9f"),
        "empty arrays without lengths": repeated(b"\x9f\xff"),
        "pieces of text": repeated(b"\x60", b"\x7f", b"\xff"),
        "tags": repeated(b"\xc1"),
        "references": repeated(b"\xd8\x1d\x00", b"\x9f\xd8\x1c\x80", b"\xff"),
        "what is none at the end": repeated(b"\x00", b"", b"\x1c"),
    },
    "bson": {
        "empty documents": repeated(b"\x05\0\0\0\0"),
        "elements": lambda n: (
            (n // 9 * 9 + 5).to_bytes(4, "little")
            + b"".join(b"\x0ak%06d\0" % i for i in range(n // 9))
            + b"\0"
        ),
    },
    "pickle": {
        "marks": repeated(b"(", b"\x80\x04"),
        "values and marks": repeated(b"(N", b"\x80\x04"),
        "memo": repeated(b"N\x940", b"\x80\x04", b"N."),
        "pickles": repeated(b"\x80\x04N."),
    },
    "marshal": {"deep": repeated(b"[\x01\0\0\0"), "maps": repeated(b"{N"), "none": repeated(b"N")},
    "protobuf": {"empty messages": repeated(b"\0"), "a number": repeated(b"\x80")},
    "java": {
        "blocks": repeated(b"w\x01x", b"\xac\xed\x00\x05"),
        "references": repeated(b"q\x00\x7e\x00\x00", b"\xac\xed\x00\x05t\x00\x01x"),
    },
}
#: It differs in what plain text means.
SHAPES["yaml:1.1"] = SHAPES["yaml"]

#: Cut by what a library says of the whole, or not at all.
BYTES_ONLY = {
    "bytes",
    "object",
    "avro",
    "parquet",
    "arrow",
    "npy",
    "npz",
    "hdf5",
    "nifti",
    "mrc",
    "sqlite",
}
