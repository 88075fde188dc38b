"""Writes JSON values in a style, by the fastest engine that can."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from serialpack.depth import MAX_DEPTH, json_depth
from serialpack.depth.values import depth_of
from serialpack.formats.json.style import (
    ASCII,
    CAPITALS,
    COMPACT,
    HTML,
    INDENTED,
    SLASH,
    SPACED,
    JsonStyle,
)
from serialpack.literal import Literal
from serialpack.values.structure import Structure

_ESCAPE = re.compile(rb"\\(?:u([0-9a-f]{4})|.)", re.DOTALL)
_LINE = re.compile(rb"\n( +)")
#: The one kind of exponent that ujson writes otherwise than Python: 1e-5, and not 1e-05.
_OWN_EXPONENT = re.compile(rb"-[5-9](?=[,\]}]|\Z)(?<=e-[5-9])")
_SURROGATE = re.compile("[\ud800-\udfff]")
#: Strings, and those words that only Python takes for JSON.
_CONSTANT = re.compile(r'"(?:[^"\\]++|\\.)*+"|(NaN|-?Infinity)', re.DOTALL)
#: Strings, and the numbers in which Python and msgspec write another exponent.
_PYTHON_EXPONENT = re.compile(
    r'"(?:[^"\\]|\\.)*+"|(-?)([0-9])(?:\.([0-9]+))?e([-+])0?([0-9]+)', re.DOTALL
)

Engine = Callable[[Any], bytes]


@cache
def encoder() -> Any:
    """msgspec's encoder, which writes literals as they stand."""
    import msgspec

    def raw(value: Any) -> Any:
        if type(value) is Literal:
            return msgspec.Raw(value.text.encode())
        raise TypeError(f"Encoding objects of type {type(value).__name__} is unsupported")

    return msgspec.json.Encoder(enc_hook=raw)


def _engine(style: JsonStyle, *, encoded: bool = False) -> Engine:
    return _make_engine(
        style.separators,
        style.indent,
        style.base,
        ascii_only=bool(style.escapes & ASCII),
        python_floats=style.python_floats,
        encoded=encoded,
    )


def _slow_engine(style: JsonStyle) -> Engine:
    """As ``_engine``, for any style and value, lone surrogates too."""
    return _standard(bool(style.escapes & ASCII), style.separators, style.indent or None)


@lru_cache(64)
def _make_engine(
    separators: tuple[str, str],
    indent: str,
    base: str,
    *,
    ascii_only: bool,
    python_floats: bool,
    encoded: bool,
) -> Engine:
    """Writes one value in a style, as fast as can be; ValueError for what is not JSON.

    ``encoded``: a value is given as its compact text, of ``compact_engine``.
    msgspec writes NaN as null: values must come from a load that is known to give none, or the
    text be compared.
    """
    import msgspec

    usual = separators == (INDENTED if indent else COMPACT)
    spaced = not indent and separators == SPACED
    if encoded and not (usual or spaced):
        raise ValueError("a style that takes values, not their text")
    if not (usual or spaced):
        return _standard(ascii_only, separators, indent or None)
    encode: Engine = encoder().encode
    if encoded:
        encode = bytes
    elif ascii_only or python_floats:
        encode = _ujson(ascii_only)
    if spaced:
        return lambda value: msgspec.json.format(encode(value), indent=0)
    if not indent:
        return encode
    width = len(indent)
    spaces = indent == " " * width
    unit = indent.encode()

    def indented(value: Any) -> bytes:
        compact = encode(value)
        _check_length(value, compact, indent, base, separators)
        text = msgspec.json.format(compact, indent=width if spaces else 1)
        return text if spaces else _LINE.sub(lambda line: b"\n" + unit * len(line[1]), text)

    return indented


def _ujson(ascii_only: bool) -> Engine:
    """Writes values of JSON as ``_standard`` does without spaces, in a third of the time."""
    import ujson

    dumps: Any = ujson.dumps
    standard = _standard(ascii_only, COMPACT, None)

    def write(value: Any) -> bytes:
        try:
            # By their places: ensure_ascii, encode_html_chars, escape_forward_slashes, sort_keys,
            # indent, allow_nan.
            text: bytes = dumps(value, ascii_only, False, False, False, 0, False).encode()
        except (OverflowError, UnicodeEncodeError):  # too deep, a lone surrogate
            return standard(value)
        if _OWN_EXPONENT.search(text):
            return standard(value)
        return text.replace(b"\x7f", b"\\u007f") if ascii_only and b"\x7f" in text else text

    return write


def _standard(
    ascii_only: bool,
    separators: tuple[str, str],
    indent: str | None,
    exponents: Callable[[str], str] | None = None,
) -> Engine:
    """Writes values by the standard library; literals as they stand. ``exponents``: turns a text
    with Python's exponents into one with others."""
    encode = json.JSONEncoder(
        ensure_ascii=ascii_only,
        allow_nan=False,
        check_circular=False,
        separators=separators,
        indent=indent,
        default=_found,
    ).encode

    def standard(value: Any) -> bytes:
        try:
            text = encode(value)
            text = text if exponents is None else exponents(text)
        except _HasLiterals:
            text = _with_literals(value, ascii_only, separators, indent)
        try:
            return text.encode()
        except UnicodeEncodeError:
            return _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", text).encode()

    return standard


class _HasLiterals(Exception):
    """There is a literal among the values, which the standard library cannot write."""


def _found(value: Any) -> Any:
    if type(value) is Literal:
        raise _HasLiterals
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _with_literals(
    value: Any, ascii_only: bool, separators: tuple[str, str], indent: str | None
) -> str:
    """As the standard library writes ``value``, with its literals. A NaN stands for each at first,
    and is replaced then."""
    texts: list[str] = []

    def stand_in(value: Any) -> float:
        if type(value) is not Literal:
            _found(value)
        texts.append(value.text)
        return math.nan

    text = json.dumps(
        value,
        ensure_ascii=ascii_only,
        check_circular=False,
        separators=separators,
        indent=indent,
        default=stand_in,
    )
    in_turn = iter(texts)
    spelled = _CONSTANT.sub(lambda match: next(in_turn, "") if match[1] else match[0], text)
    if len([match for match in _CONSTANT.finditer(text) if match[1]]) != len(texts):
        raise ValueError("a NaN or an infinity is not JSON")
    return spelled


def compact_lines(records: list[Any]) -> bytes:
    """Each record on a line, byte for byte as msgspec writes it, by the standard library.

    For where importing msgspec takes longer than writing does, and for what it does not write:
    lone surrogates are escapes, and all other text is UTF-8 beside them too.
    """
    write = _standard(False, COMPACT, None, exponents=_short_exponents)
    return b"".join([write(record) + b"\n" for record in records])


def _short_exponents(text: str) -> str:
    if "e+" in text or "e-0" in text:
        return _PYTHON_EXPONENT.sub(_short_exponent, text)
    return text


def _short_exponent(match: re.Match[str]) -> str:
    """``1e+16`` as 1e16, ``1.2e-05`` as 0.000012 and ``1e-07`` as 1e-7; strings as they are."""
    sign, first, rest, way, power = match.groups()
    if first is None:
        return match[0]
    if (way, power) == ("-", "5"):
        return f"{sign}0.0000{first}{rest or ''}"
    fraction = "." + rest if rest else ""
    return f"{sign}{first}{fraction}e{'-' if way == '-' else ''}{power}"


#: The most bytes of text that a block's records are written as.
MAX_TEXT = 512 << 20


def write(records: list[Any], style: JsonStyle, *, first: bool) -> bytes:
    """The text of a block's records; ValueError for what has no JSON text, or far too much."""
    try:
        whole = style.kind == Structure.DOCUMENT or (
            style.kind == Structure.ARRAY and style.joint == style.own_joint
        )
        checked = whole and style.indent and style.separators == INDENTED  # by the engine
        wide = style.indent or len(style.joint) + len("".join(style.separators)) > 8
        if wide and not checked:
            _check_lengths(records, style)
        try:
            body = _body(records, style, _engine(style))
        except ValueError:  # a lone surrogate, perhaps: msgspec has no text for it
            _check_lengths(records, style)
            body = _body(records, style, _slow_engine(style))
    except (TypeError, AttributeError) as error:
        raise ValueError(f"not JSON values: {error}") from None
    return _whole(body, style, first=first)


def compact_engine(style: JsonStyle) -> Engine:
    """Writes one value without white space, otherwise in a style: for ``write_encoded``."""
    return _engine(replace(style, separators=COMPACT, indent=""))


def write_encoded(record: bytes, style: JsonStyle, *, first: bool) -> bytes:
    """As ``write``, of one record, a map or an array, that ``compact_engine`` wrote.

    ValueError also for a style whose separators are neither the usual ones nor those with a space.
    """
    text = _engine(style, encoded=True)(record)
    if style.kind != Structure.SEQUENCE:
        text = _inner(text, style) if style.kind == Structure.MAP else _based(text, style)
    return _whole(text, style, first=first)


def _whole(body: bytes, style: JsonStyle, *, first: bool) -> bytes:
    head = style.head.encode() if first else b""
    tail = style.tail.encode()
    body = _escaped(body, style.escapes)
    return b"".join((head, body, tail)) if head or tail else body


def _check_lengths(records: list[Any], style: JsonStyle) -> None:
    """As ``_check_length``, for records written one by one."""
    try:
        compact = encoder().encode(records)
    except UnicodeEncodeError:
        compact = _standard(True, COMPACT, None)(records)
    joints = len(records) * len(style.joint)
    _check_length(records, compact, style.indent, style.base, style.separators, joints)


def _check_length(
    value: Any,
    compact: bytes,
    indent: str,
    base: str,
    separators: tuple[str, str],
    joints: int = 0,
) -> None:
    """ValueError where separators and indentation would make more than MAX_TEXT of ``value``.

    The bound is loose: as if every mark stood at the greatest depth, in a line of its own, and at
    first as if every byte were a mark.
    """
    levels = json_depth(value)[0] if type(value) is bytes else depth_of(value, 2 * MAX_DEPTH)
    deep = len(base) + levels * len(indent) if indent else 0
    each = max(map(len, separators)) + 1 + deep
    if len(compact) * (1 + each) + joints <= MAX_TEXT:
        return
    marks = sum(compact.count(mark) for mark in (b",", b":", b"[", b"{", b"]", b"}"))
    if len(compact) + marks * each + joints > MAX_TEXT:
        raise ValueError("spelled longer than can be")


def _body(records: list[Any], style: JsonStyle, engine: Engine) -> bytes:
    if not records:
        return b""
    if style.kind == Structure.DOCUMENT:
        if len(records) != 1:
            raise ValueError(f"{len(records)} records for one document")
        return _based(engine(records[0]), style)
    joint = style.joint.encode()
    if style.kind == Structure.SEQUENCE:
        if joint == b"\n" and engine == encoder().encode:
            lines: bytes = encoder().encode_lines(records)
            return lines[:-1]
        return joint.join([engine(record) for record in records])
    if style.kind == Structure.MAP:
        whole: Any = {}
        for record in records:
            whole.update(record)
        if len(whole) != len(records):  # a key twice: member by member
            return joint.join([_inner(engine(record), style) for record in records])
    else:
        whole = records
    if style.joint == style.own_joint:
        return _inner(engine(whole), style)
    if style.kind == Structure.MAP:
        return joint.join([_inner(engine(record), style) for record in records])
    return joint.join([_based(engine(record), style) for record in records])


def _based(text: bytes, style: JsonStyle) -> bytes:
    """``text``, one value, with the base at the begin of each line but the first."""
    return text.replace(b"\n", b"\n" + style.base.encode()) if style.base else text


def _inner(text: bytes, style: JsonStyle) -> bytes:
    """What stands within the brackets of a value, with its lines moved out to the base."""
    if not style.indent:
        return text[1:-1]
    unit = style.indent.encode()
    inner = text[2 + len(unit) : -2]
    if style.base == style.indent:
        return inner
    return inner.replace(b"\n" + unit, b"\n" + style.base.encode())


def _escaped(text: bytes, escapes: int) -> bytes:
    """``text`` with the escapes that no engine writes: their bytes stand in strings only."""
    if escapes & SLASH:
        text = text.replace(b"/", b"\\/")
    if escapes & HTML:
        for mark in b"<>&":
            text = text.replace(b"%c" % mark, b"\\u%04x" % mark)
    if escapes & CAPITALS and b"\\u" in text:
        text = _ESCAPE.sub(lambda m: b"\\u" + m[1].upper() if m[1] else m[0], text)
    return text


_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")


def in_ascii(text: bytes) -> bytes:
    """The same JSON with escapes for all beyond ASCII, which stands in strings only."""
    if text.isascii():
        return text
    return _BEYOND_ASCII.sub(_as_escapes, text.decode()).encode()


def _as_escapes(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be").hex()
    return "".join("\\u" + units[at : at + 4] for at in range(0, len(units), 4))
