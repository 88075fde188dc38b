"""Writes JSON values in a style, by the fastest engine that can."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from serialpack.formats._jsonparse import nesting
from serialpack.formats._jsonspell import (
    ASCII,
    CAPITALS,
    COMPACT,
    HTML,
    INDENTED,
    SLASH,
    SPACED,
    Style,
)

_ESCAPE = re.compile(rb"\\(?:u([0-9a-f]{4})|.)", re.DOTALL)
_LINE = re.compile(rb"\n( +)")
_SURROGATE = re.compile("[\ud800-\udfff]")

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

    usual = separators == (INDENTED if indent else COMPACT)
    spaced = not indent and separators == SPACED
    if surrogates or not (usual or spaced):
        return _standard(ascii_only, separators, indent or None)
    encode: Engine = _encoder().encode
    if ascii_only or python_floats:
        encode = _standard(ascii_only, COMPACT, None)
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


#: The most bytes of text that a block's records are written as.
MAX_TEXT = 512 << 20


def write(records: list[Any], style: Style, *, first: bool) -> bytes:
    """The text of a block's records; ValueError for what has no JSON text, or far too much."""
    try:
        if style.indent or len(style.joint) + len("".join(style.separators)) > 8:
            _check_length(records, style)
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


def _check_length(records: list[Any], style: Style) -> None:
    """ValueError where separators and indentation would make more than MAX_TEXT of it.

    The bound is loose: as if every mark stood at the greatest depth, in a line of its own.
    """
    try:
        compact = _encoder().encode(records)
    except ValueError:  # a lone surrogate
        compact = _standard(True, COMPACT, None)(records)
    marks = sum(compact.count(mark) for mark in (b",", b":", b"[", b"{", b"]", b"}"))
    deep = len(style.base) + nesting(compact)[0] * len(style.indent) if style.indent else 0
    each = max(map(len, style.separators)) + 1 + deep
    if len(compact) + marks * each + len(records) * len(style.joint) > MAX_TEXT:
        raise ValueError("spelled longer than can be")


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
