"""How a JSON text is spelled: learned from it, stored in few bytes, written again.

A spelling is a map; what is left out has its default, so that compact JSON is the empty map.
"d", "a", "m", "n" below stand for one document, an array, a map cut at its members, NDJSON.

| key | meaning | default |
| --- | --- | --- |
| k | what the records are: "a" or "m" (JSON only) | one document |
| h | the text before the first record | "[" or "{" (indented: and the base), else "" |
| j | the text between two records | the item separator (indented: and the base); n: newline |
| t | the text behind the last record of a block | the bracket that closes h; n: newline; d: "" |
| s | within records, [item, key] separators; 1: [", ", ": "] | [",", ":"]; indented [",", ": "] |
| n | indent: number of spaces, or the text of one level | not indented |
| b | base: the text that lines of a record begin with | a, m: one level; else "" |
| x | escapes, added: 1 all but ASCII, 2 hex in capitals, 4 "/", 8 "<", ">" and "&" | 0 |
| f | 1: numbers as Python writes them (1e-05, 1e+16), else 0.00001, 1e16 | 0 |
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

from serialpack.formats._jsonparse import CLOSING, OPENING, WHITE, frame
from serialpack.formats.base import Spelling
from serialpack.stage import Buffer

_SAMPLE = 64 << 10
_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_INNER = re.compile(rb"[\[{](?:\r?\n)([ \t]*)[^ \t\r\n]")
_COLON = re.compile(rb'""([ \t]*:[ \t]*)[^ \t\r\n]')
_COMMA = re.compile(rb"([ \t]*,[ \t]*)(?=([^ \t\r\n])|\r?\n)")
_NOT_ASCII = re.compile(rb"\\u(?:00[89a-fA-F]|0[1-9a-fA-F]|[1-9a-fA-F])")
_CAPITALS = re.compile(rb"\\u[0-9a-f]{0,3}[A-F]")
_PYTHON_FLOAT = re.compile(rb"[0-9]e(?:-0|\+)[0-9]")
#: Numbers that the two ways of writing them spell differently.
FLOATS_DIFFER = re.compile(rb"[0-9]e[-+0-9]|[^0-9]0\.0000|[0-9]{17}\.0")
_HTML = re.compile(rb"\\u00(?:3[cCeE]|26)")
_ESCAPE = re.compile(rb"\\(?:u([0-9a-f]{4})|.)", re.DOTALL)
_LINE = re.compile(rb"\n( +)")
_SURROGATE = re.compile("[\ud800-\udfff]")

ASCII, CAPITALS, SLASH, HTML = 1, 2, 4, 8
_INDENTED = (",", ": ")
_COMPACT = (",", ":")
_SPACED = (", ", ": ")


@dataclass(frozen=True)
class Style:
    """A spelling with nothing left out."""

    kind: str
    separators: tuple[str, str] = _COMPACT
    indent: str = ""
    base: str = ""
    escapes: int = 0
    python_floats: bool = False
    head: str = ""
    joint: str = ""
    tail: str = ""

    @property
    def own_joint(self) -> str:
        """What an engine writes between the elements of an array of this style."""
        if self.kind == "n":
            return "\n"
        if self.indent:
            return self.separators[0] + "\n" + self.base
        return self.separators[0]

    def defaults(self) -> Style:
        """This style with the default text around its records."""
        if self.kind in "nd":
            end = "\n" if self.kind == "n" else ""
            return replace(self, head="", joint=self.own_joint, tail=end)
        line = "\n" if self.indent else ""
        return replace(
            self,
            head=OPENING[self.kind] + (line + self.base if line else ""),
            joint=self.own_joint,
            tail=line + CLOSING[self.kind],
        )

    def spelling(self) -> Spelling:
        """The map that is stored."""
        found: Spelling = {}
        if self.kind in "am":
            found["k"] = self.kind
        default = self.defaults()
        for key, mine, usual in (
            ("h", self.head, default.head),
            ("j", self.joint, default.joint),
            ("t", self.tail, default.tail),
            ("b", self.base, _base(self.kind, self.indent)),
            ("x", self.escapes, 0),
            ("f", int(self.python_floats), 0),
        ):
            if mine != usual:
                found[key] = mine
        if self.separators != (_INDENTED if self.indent else _COMPACT):
            found["s"] = 1 if self.separators == _SPACED else list(self.separators)
        if self.indent:
            spaces = len(self.indent)
            found["n"] = spaces if self.indent == " " * spaces else self.indent
        return found


def changes(spelling: Spelling, style: Style) -> Spelling:
    """What to put over ``spelling`` so that it means ``style``."""
    stored = style.spelling()
    full: Spelling = {
        "k": style.kind,
        "h": style.head,
        "j": style.joint,
        "t": style.tail,
        "s": list(style.separators),
        "n": style.indent,
        "b": style.base,
        "x": style.escapes,
        "f": int(style.python_floats),
    }
    found = {key: value for key, value in stored.items() if spelling.get(key) != value}
    return found | {key: full[key] for key in spelling if key not in stored and key in full}


def _base(kind: str, indent: str) -> str:
    return indent if kind in "am" else ""


def style_of(spelling: Spelling, kind: str) -> Style:
    """The style that a stored map means; ValueError where it is none."""
    try:
        kind = spelling.get("k", kind)
        indent = spelling.get("n", "")
        indent = " " * min(indent, 64) if isinstance(indent, int) else str(indent)
        separators = spelling.get("s", _INDENTED if indent else _COMPACT)
        item, key = _SPACED if separators == 1 else separators
        style = Style(
            kind if kind in ("a", "m", "n") else "d",
            separators=(str(item), str(key)),
            indent=indent,
            base=str(spelling.get("b", _base(kind, indent))),
            escapes=int(spelling.get("x", 0)),
            python_floats=bool(spelling.get("f", 0)),
        ).defaults()
        return replace(
            style,
            head=str(spelling.get("h", style.head)),
            joint=str(spelling.get("j", style.joint)),
            tail=str(spelling.get("t", style.tail)),
        )
    except (TypeError, AttributeError) as error:
        raise ValueError(f"not a JSON spelling: {error}") from None


def learn(data: bytes, kind: str, *, first: bool, last: bool) -> Style:
    """The style of a block's text, guessed from its first 64 KiB; never fails.

    ``kind``: "n" for NDJSON; for JSON any other, it is found out.
    """
    if kind == "n":
        start = 3 if first and data.startswith(b"\xef\xbb\xbf") else 0
        end = len(data.rstrip(b" \t\r\n"))
    else:
        kind, start, end = frame(data, first=first, last=last)
    head = data[:start] if first else b""
    sample = _STRINGS.sub(b'""', data[start : min(end, start + _SAMPLE)])
    base, indent = "", ""
    if inner := _INNER.match(sample):
        outer = _last_line(head) if kind in "am" else b""
        if inner[1].startswith(outer) and len(inner[1]) > len(outer):
            base, indent = outer.decode(), inner[1][len(outer) :].decode()
    elif kind in "am" and (line := _last_line(head)) and b"\n" in head:
        base = indent = line.decode()  # of records that have no lines of their own
    style = Style(
        kind,
        separators=_separators(sample, indented=bool(indent)),
        indent=indent,
        base=base,
        escapes=_escapes(data),
        python_floats=_PYTHON_FLOAT.search(sample) is not None,
        head=head.decode("utf-8", "replace"),
        tail=data[end:].decode("utf-8", "replace"),
    )
    joint = _joint(data, sample, style, start)
    return replace(style, joint=style.own_joint if joint is None else joint)


def tail_of(data: Buffer, kind: str) -> str:
    """What stands behind the last record of a block."""
    near = bytes(data[-4096:])
    if not near.strip(WHITE):
        near = bytes(data)
    bare = near.rstrip(WHITE)
    if kind in "am":
        if len(bare) > 1 and bare[-1] in b",]}":
            bare = bare[:-1].rstrip(WHITE)
        if len(near) == len(data):  # a block that has no record: its bracket is the head
            bare = bare or near[: len(near) - len(near.lstrip(WHITE)) + 1]
    return near[len(bare) :].decode("utf-8", "replace")


def _last_line(head: bytes) -> bytes:
    line = head[head.rfind(b"\n") + 1 :]
    return line if line.strip(b" \t") == b"" else b""


def _separators(sample: bytes, *, indented: bool) -> tuple[str, str]:
    colon = _COLON.search(sample)
    comma = next((m for m in _COMMA.finditer(sample) if indented or m[2]), None)
    key = colon[1].decode() if colon else ": " if indented or (comma and comma[1] == b", ") else ":"
    if comma is None:
        return ("," if indented or key != ": " else ", "), key
    return comma[1].decode(), key


def _escapes(data: bytes) -> int:
    escapes = 0
    if b"\\u" in data:
        if data.isascii() and _NOT_ASCII.search(data):
            escapes |= ASCII
        if _CAPITALS.search(data):
            escapes |= CAPITALS
        if _HTML.search(data):
            escapes |= HTML
    if b"\\/" in data:
        escapes |= SLASH
    return escapes


_JOINT = re.compile(rb"[ \t\r\n]*,[ \t\r\n]*")


def _joint(data: bytes, sample: bytes, style: Style, start: int) -> str | None:
    """What stands between the first two records; None where there are no two in the sample."""
    if style.kind == "n":
        newline = data.find(b"\n", start)
        return None if newline < 0 else "\r\n" if data[newline - 1 : newline] == b"\r" else "\n"
    if style.kind == "d":
        return None
    depth = 0
    for mark in re.finditer(rb"[\[{]|[\]}]|[ \t\r\n]*,[ \t\r\n]*", sample):
        if mark[0] in b"[{":
            depth += 1
        elif mark[0] in b"]}":
            depth -= 1
        elif depth == 0:
            return mark[0].decode()
    return None


Engine = Callable[[Any], bytes]


@cache
def _encoder() -> Any:
    import msgspec

    return msgspec.json.Encoder()


def _engine(style: Style, *, surrogates: bool = False) -> Engine:
    return _make_engine(
        style.separators,
        style.indent,
        ascii_only=bool(style.escapes & ASCII),
        python_floats=style.python_floats,
        surrogates=surrogates,
    )


@lru_cache(64)
def _make_engine(
    separators: tuple[str, str],
    indent: str,
    *,
    ascii_only: bool,
    python_floats: bool,
    surrogates: bool,
) -> Engine:
    """Writes one value in a style, as fast as can be; ValueError for what is not JSON.

    msgspec writes NaN as null: values must come from a load that is known to give none.
    """
    import msgspec

    usual = separators == (_INDENTED if indent else _COMPACT)
    spaced = not indent and separators == _SPACED
    if surrogates or not (usual or spaced):
        return _standard(ascii_only, separators, indent or None)
    encode: Engine = _encoder().encode
    if ascii_only or python_floats:
        encode = _standard(ascii_only, _COMPACT, None)
    if spaced:
        return lambda value: msgspec.json.format(encode(value), indent=0)
    if not indent:
        return encode
    width = len(indent)
    if indent == " " * width:
        return lambda value: msgspec.json.format(encode(value), indent=width)
    unit = indent.encode()
    return lambda value: _LINE.sub(
        lambda line: b"\n" + unit * len(line[1]), msgspec.json.format(encode(value), indent=1)
    )


def _standard(ascii_only: bool, separators: tuple[str, str], indent: str | None) -> Engine:
    encode = json.JSONEncoder(
        ensure_ascii=ascii_only,
        allow_nan=False,
        check_circular=False,
        separators=separators,
        indent=indent,
    ).encode

    def standard(value: Any) -> bytes:
        text = encode(value)
        try:
            return text.encode()
        except UnicodeEncodeError:
            return _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", text).encode()

    return standard


def write(records: list[Any], style: Style, *, first: bool) -> bytes:
    """The text of a block's records; ValueError for what has no JSON text."""
    try:
        try:
            body = _body(records, style, _engine(style))
        except ValueError:  # a lone surrogate, perhaps: msgspec has no text for it
            body = _body(records, style, _engine(style, surrogates=True))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except (TypeError, AttributeError) as error:
        raise ValueError(f"not JSON values: {error}") from None
    head = style.head.encode() if first else b""
    return b"".join((head, _escaped(body, style.escapes), style.tail.encode()))


def _body(records: list[Any], style: Style, engine: Engine) -> bytes:
    if not records:
        return b""
    if style.kind == "d":
        if len(records) != 1:
            raise ValueError(f"{len(records)} records for one document")
        return _based(engine(records[0]), style)
    joint = style.joint.encode()
    if style.kind == "n":
        if joint == b"\n" and engine == _encoder().encode:
            lines: bytes = _encoder().encode_lines(records)
            return lines[:-1]
        return joint.join([engine(record) for record in records])
    if style.kind == "m":
        whole: Any = {}
        for record in records:
            whole.update(record)
        if len(whole) != len(records):  # a key twice: member by member
            return joint.join([_inner(engine(record), style) for record in records])
    else:
        whole = records
    if style.joint == style.own_joint:
        return _inner(engine(whole), style)
    if style.kind == "m":
        return joint.join([_inner(engine(record), style) for record in records])
    return joint.join([_based(engine(record), style) for record in records])


def _based(text: bytes, style: Style) -> bytes:
    """One value, its lines behind the first begun with the base."""
    return text.replace(b"\n", b"\n" + style.base.encode()) if style.base else text


def _inner(text: bytes, style: Style) -> bytes:
    """What stands within the brackets of a value, its lines moved to the base."""
    if not style.indent:
        return text[1:-1]
    unit = style.indent.encode()
    inner = text[2 + len(unit) : -2]
    if style.base == style.indent:
        return inner
    return inner.replace(b"\n" + unit, b"\n" + style.base.encode())


def _escaped(text: bytes, escapes: int) -> bytes:
    """Escapes that no engine writes; each of these bytes stands in strings only."""
    if escapes & SLASH:
        text = text.replace(b"/", b"\\/")
    if escapes & HTML:
        for mark in b"<>&":
            text = text.replace(b"%c" % mark, b"\\u%04x" % mark)
    if escapes & CAPITALS and b"\\u" in text:
        text = _ESCAPE.sub(lambda m: b"\\u" + m[1].upper() if m[1] else m[0], text)
    return text
