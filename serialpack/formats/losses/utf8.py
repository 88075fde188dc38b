"""Reads text with some bytes that are not UTF-8, for ``--lossy utf8``.

Before the text is parsed, each such byte is replaced by one of 128 characters that the text does
not use (``mended``). So what was read tells where they stood, and which bytes they were
(``original``, for messages); in the values U+FFFD takes their place at last (``replaced``).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

#: What ``surrogateescape`` makes of the byte 0x80; no text that is UTF-8 has any of them.
ESCAPED = 0xDC80

#: Where 128 characters of private use begin: those of the first plane are the shortest.
_WINDOWS = (*range(0xE000, 0xF880, 128), *range(0xF0000, 0xFFF80, 128))

#: What is wrong with text in another encoding, and what reads it.
NO_UTF8 = "not UTF-8"
ENCODING_HINT = "pack and conversions take --encoding, which says what it is, such as cp1252"

#: Marks of UTF-16: a text with one is not damaged UTF-8.
_WIDE = (b"\xff\xfe", b"\xfe\xff")


def mended(data: bytes) -> tuple[bytes, int]:
    """UTF-8 for ``data``, and the character that stands in it for the byte 0x80.

    The same bytes, and 0, where they are UTF-8, or nothing that is meant to be.
    """
    try:
        data.decode()
    except UnicodeDecodeError:
        if data.startswith(_WIDE):
            return data, 0
    else:
        return data, 0
    text = data.decode("utf-8", "surrogateescape")
    used = set(text)
    for base in _WINDOWS:
        if used.isdisjoint(map(chr, range(base, base + 128))):
            moved = {ESCAPED + i: base + i for i in range(128)}
            return text.translate(moved).encode(), base
    return data, 0


@cache
def _runs(base: int) -> re.Pattern[str]:
    return re.compile(f"([{chr(base)}-{chr(base + 127)}]+)")


def is_marked(text: str, base: int) -> bool:
    """Whether bytes that are no UTF-8 stand in ``text``."""
    return not text.isascii() and _runs(base).search(text) is not None


def said(value: Any, base: int) -> Any:
    """What messages show for ``value``: the bytes, where it is text that was no UTF-8."""
    if base and type(value) is str and is_marked(value, base):
        return original(value, base)
    return value


def original(text: str, base: int) -> bytes:
    """The bytes that ``text`` stands for."""
    # Every second part is a run of such bytes. A lone surrogate in the others was an escape.
    parts = enumerate(_runs(base).split(text))
    return b"".join(
        _bytes(part, base) if number % 2 else part.encode("utf-8", "surrogatepass")
        for number, part in parts
    )


def replaced(text: str, base: int) -> str:
    """``text`` with U+FFFD for what is no UTF-8: one for as much as might begin a character."""
    return _runs(base).sub(lambda run: _bytes(run[0], base).decode("utf-8", "replace"), text)


def _bytes(run: str, base: int) -> bytes:
    return bytes(ord(mark) - base + 128 for mark in run)
