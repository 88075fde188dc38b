"""The values that converters are tried with: those that one or another of them changes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from itertools import islice, product
from typing import Any, NamedTuple

from serialpack.bench.samples import contacts
from tools._peer_reading import Invalid, Map, clipped, of_python, readings, unlike


class Case(NamedTuple):
    """A source, and what a converter may make of it.

    ``right``: the records that the target must have, once for each version of the source's
    specification; none where only a refusal is right. ``check`` takes the place of both: it says
    what is wrong with an output of the target, or None.
    """

    name: str
    about: str
    source: str
    targets: tuple[str, ...]
    data: Callable[[], bytes]
    right: tuple[list[Any], ...] = ()
    check: Callable[[str, bytes], str | None] | None = None

    def wrong(self, target: str, data: bytes) -> str | None:
        """What is wrong with ``data``, which a converter wrote and was content with."""
        if self.check:
            return self.check(target, data)
        if not self.right:
            return f"passed as {visible(data)}"
        try:
            return unlike_all(self.right, readings(target, data))
        except Invalid as error:
            return f"not valid: {error}"


def unlike_all(rights: Iterable[list[Any]], readings: Iterable[list[Any]]) -> str | None:
    """What ``unlike`` says of the first of both, None where any of both are the same.

    Several records may have become an array of them, and the other way about.
    """
    said = ""
    for right, got in product(rights, readings):
        first = unlike(right, got)
        if first is None or unlike([right], got) is None or unlike(right, [got]) is None:
            return None
        said = said or first
    return said


def visible(data: bytes) -> str:
    """Some output in the page, with nothing that does not show."""
    text = clipped(data[:2000].decode("utf-8", "backslashreplace"))
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text) or "nothing"


def case(
    name: str,
    source: str,
    targets: str,
    data: bytes,
    *right: list[Any],
    about: str = "",
    check: Callable[[str, bytes], str | None] | None = None,
) -> Case:
    shown = visible(data.replace(b"\n", b"\\n"))
    about = about or f"`{shown}`"
    return Case(name, about, source, tuple(targets.split()), lambda: data, right, check)


def json_value(name: str, text: str, *values: Any) -> Case:
    """A JSON array of one object that has ``text`` as ``v``."""
    right = tuple([[v(value)]] for value in values)
    data = f'[{{"v": {text}}}]'.encode("latin-1")
    about = f"`{visible(text.encode('latin-1'))}`"
    return case(name, "json", "json msgpack", data, *right, about=about)


def v(value: Any) -> Map:
    return Map([("v", value)])


#: More than any parser takes on its stack.
_LEVELS = 100_000
_RECORDS = 200_000


def _deep() -> bytes:
    return b"[" * _LEVELS + b"]" * _LEVELS


def _is_deep(target: str, data: bytes) -> str | None:
    """Too deep to be read: its bytes are looked at."""
    if target == "msgpack":
        is_same = data == b"\x91" * (_LEVELS - 1) + b"\x90"
    else:
        is_same = b"".join(data.split()) == _deep()
    return None if is_same else f"the arrays became {visible(data)}"


def _many() -> list[Any]:
    return [{"v": n} for n in range(_RECORDS)]


def _nested() -> list[Any]:
    return [{"v": record} for record in islice(contacts.records(), 2000)]


def large(name: str, about: str, make: Callable[[], list[Any]]) -> Case:
    """A JSON array of many records."""

    def check(target: str, data: bytes) -> str | None:
        try:
            return unlike_all([[of_python(make())]], readings(target, data))
        except Invalid as error:
            return f"not valid: {error}"

    targets = ("json", "msgpack")
    return Case(name, about, "json", targets, lambda: json.dumps(make()).encode(), (), check)


_THREE_KEYS = {
    "cbor": rb"\xa3\x01\x61a\xf5\x61b(\xf9\x3c\x00|\xfa\x3f\x80\x00\x00|\xfb\x3f\xf0\0{6})\x61c",
    "msgpack": rb"\x83\x01\xa1a\xc3\xa1b(\xca\x3f\x80\x00\x00|\xcb\x3f\xf0\0{6})\xa1c",
    "yaml": rb"(---\s)?\{?1: a[,\s]+true: b[,\s]+1\.0: c\}?\s*(\.\.\.\s*)?",
}


def _has_three_keys(target: str, data: bytes) -> str | None:
    """1, true and 1.0 are one key to a Python dict, and JSON has none of them."""
    if target in _THREE_KEYS and re.fullmatch(_THREE_KEYS[target], data):
        return None
    return f"{{1: a, true: b, 1.0: c}} became {visible(data)}"


def _tells_null_from_empty(target: str, data: bytes) -> str | None:
    """CSV has no null; a few writers quote empty text, and only that."""
    rows = data.replace(b"\r", b"").rstrip(b"\n").split(b"\n")
    is_told = target == "csv" and rows == [b"a,b", b'"",']
    return None if is_told else f'"" and null became {visible(rows[-1])}'


_BIG = 1234567890123456789012345678901234567890
_PI = "3.14159265358979323846264338327950288"
_TIME = "2001-12-14t21:59:43.10-05:00"
#: Text that YAML 1.1 or 1.2 takes for something else where it has no quotes.
_LIKE = {
    "y": ["no", "1:30", "0777", "1e3", "2001-12-14", "~", "0o17", "0x1f", "+1", ".5", "true", ""],
    "on": "null",
}

CASES: tuple[Case, ...] = (
    json_value("integer over 2^53", "9007199254740993", 9007199254740993),
    json_value("integer of 40 digits", str(_BIG), _BIG),
    json_value("beyond every double", "1e400", Decimal("1e400")),
    json_value("0.1 + 0.2", "0.30000000000000004", 0.1 + 0.2),
    json_value("more digits than a double", _PI, Decimal(_PI)),
    json_value("negative zero, integer", "-0", -0.0),
    json_value("negative zero", "-0.0", -0.0),
    json_value("lone surrogate", r'"a\ud800b"', "a\ud800b"),
    json_value("NUL in text", r'"a\u0000b"', "a\0b"),
    json_value("bytes that are no UTF-8", '"caf\xe9"'),
    case(
        "a key twice",
        "json",
        "json msgpack",
        b'[{"v": 1, "v": 2}]',
        [[Map([("v", 1), ("v", 2)])]],
    ),
    case("truncated", "json", "json msgpack", b'[{"v": 1}, {"v": 2'),
    case("rubbish behind", "json", "json msgpack", b'[{"v": 1}] x'),
    case("two documents", "json", "json msgpack", b'{"v": 1}\n{"v": 2}\n', [v(1), v(2)]),
    Case("100,000 levels", "`[[[...]]]`", "json", ("json", "msgpack"), _deep, (), _is_deep),
    large("200,000 records", '`[{"v": 0}, {"v": 1}, ...]`', _many),
    large("nested records", "2,000 contacts of a phone book", _nested),
    case("a broken line", "ndjson", "ndjson json csv", b'{"v": 1}\n{"v": \n{"v": 3}\n'),
    case(
        "text that looks otherwise",
        "json",
        "yaml",
        json.dumps(_LIKE).encode(),
        [of_python(_LIKE)],
    ),
    case("null in TOML", "json", "toml", b'{"a": null, "b": 1}'),
    case(
        "null and empty text in CSV",
        "json",
        "csv",
        b'[{"a": "", "b": null}]',
        check=_tells_null_from_empty,
    ),
    case("records of two shapes in CSV", "json", "csv", b'[{"a": "1"}, {"b": "2"}]'),
    case("integer of 40 digits", "yaml", "json msgpack", f"v: {_BIG}".encode(), [v(_BIG)]),
    case("not a number", "yaml", "json", b"v: .nan"),
    case(
        "keys y, no and on",
        "yaml",
        "json",
        b"y: 1\nno: 2\non: 3",
        [Map([("y", 1), ("no", 2), ("on", 3)])],
    ),
    case("1:30, of YAML 1.1 or 1.2", "yaml", "json", b"v: 1:30", [v(90)], [v("1:30")]),
    case("0777, of YAML 1.1 or 1.2", "yaml", "json", b"v: 0777", [v(0o777)], [v(777)]),
    case("timestamp", "yaml", "json", f"v: {_TIME}".encode(), [v(_TIME)]),
    case("a key twice", "yaml", "json", b"v: 1\nv: 2", [Map([("v", 1), ("v", 2)])]),
    case("keys 1, true and 1.0", "yaml", "json", b"1: a\ntrue: b\n1.0: c", check=_has_three_keys),
    case("two documents", "yaml", "json", b"v: 1\n---\nv: 2\n", [v(1), v(2)]),
    case("not a number", "msgpack", "json", b"\x81\xa1v\xcb\x7f\xf8" + bytes(6)),
    case(
        "integer over 2^63",
        "msgpack",
        "json",
        b"\x81\xa1v\xcf" + b"\xff" * 8,
        [v(2**64 - 1)],
    ),
    case("keys that are integers", "msgpack", "json", b"\x82\x01\xa1a\x02\xa1b"),
    case(
        "keys 1, true and 1.0",
        "msgpack",
        "json cbor yaml",
        b"\x83\x01\xa1a\xc3\xa1b\xcb\x3f\xf0" + bytes(6) + b"\xa1c",
        check=_has_three_keys,
    ),
    case("bytes", "msgpack", "json", b"\x81\xa1v\xc4\x02\xff\x00"),
    case("timestamp", "msgpack", "json", b"\x81\xa1v\xd6\xff\x3c\x1a\x9b\x4f"),
    case("text that is no UTF-8", "msgpack", "json", b"\x81\xa1v\xa2a\xff"),
    case("two messages", "msgpack", "json", b"\x81\xa1v\x01\x81\xa1v\x02", [v(1), v(2)]),
    case("truncated", "msgpack", "json", b"\x82\xa1v\x01\xa1w"),
    case("integer over 2^64", "cbor", "json", b"\xa1\x61v\xc2\x49\x01" + bytes(8), [v(2**64)]),
    case("bytes", "cbor", "json", b"\xa1\x61v\x42\xff\x00"),
    case("undefined", "cbor", "json", b"\xa1\x61v\xf7"),
    case("date and time", "toml", "json", b"v = 1979-05-27T07:32:00Z"),
    case("field 00123", "csv", "json", b"v,w\n00123,x\n", [[Map([("v", "00123"), ("w", "x")])]]),
    case("a row too short", "csv", "json", b"v,w\n1,x\n3\n"),
    case("an open quote", "csv", "json", b'v,w\n"1,x\n'),
)
