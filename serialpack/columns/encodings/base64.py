"""Base64 texts as the bytes that they stand for (RFC 4648, both alphabets, padded or not).

v: the style, 1 for the alphabet that is safe in URLs + 2 for no padding; a column of the bytes
"""

from __future__ import annotations

from binascii import Error, a2b_base64, b2a_base64
from typing import Final

import numpy as np

from serialpack.columns.stored.coding import Context, Fit, head, joined
from serialpack.columns.stored.source import ColumnSource
from serialpack.columns.texts import Broken, Texts

NUMBER = 13

#: The bits of the style, as in the layout above.
_URL, _BARE = 1, 2

_PADDING = ord("=")

_TO_URL: Final = bytes.maketrans(b"+/", b"-_")
_FROM_URL: Final = bytes.maketrans(b"-_", b"+/")


def _write(value: bytes, style: int) -> bytes:
    """``value`` as Base64 in this style."""
    text = b2a_base64(value, newline=False)
    if style & _URL:
        text = text.translate(_TO_URL)
    return text.rstrip(b"=") if style & _BARE else text


def _read(text: bytes, style: int) -> bytes | None:
    """The bytes that ``text`` stands for; None where these would be written as another text."""
    plain = text.translate(_FROM_URL) if style & _URL else text
    try:
        value = a2b_base64(plain + b"=" * (-len(plain) % 4))
    except Error:
        return None
    return value if _write(value, style) == text else None


def encode(texts: Texts, to: Context) -> Fit | None:
    """Takes texts that are Base64 in one style,
    that of the first ones, and would be written so again."""
    values = texts.to_list()
    together = b"".join(values[:64])
    url = b"-" in together or b"_" in together
    bare = any(len(value) % 4 for value in values[:64])
    style = (_URL if url else 0) | (_BARE if bare else 0)
    if not (texts.lengths % 4).any() and _PADDING not in texts.data:
        # Without padding, values of whole groups of four can be read as one text.
        at_once = _read(texts.data.tobytes(), style)
        if at_once is not None:
            data = np.frombuffer(at_once, np.uint8)
            whole = to.column(Texts(data, texts.ends // 4 * 3), run=True)
            return Fit(joined(head(NUMBER, style), (whole,)))
    read = [_read(value, style) for value in values]
    good = np.fromiter((value is not None for value in read), np.bool_, len(read))
    if not good.any():
        return None
    inner = to.column(Texts.from_list([value for value in read if value is not None]), run=True)
    return Fit(joined(head(NUMBER, style), (inner,)), None if good.all() else ~good)


def decode(source: ColumnSource, number: int, limit: int) -> Texts:
    """The bytes as Base64; see ``Decoder``."""
    style = source.varint(_URL | _BARE)
    inner = source.column(number, limit)
    source.spend(2 * len(inner.data) + 4 * number)
    if not (inner.lengths % 3).any():
        data = np.frombuffer(_write(inner.data.tobytes(), style), np.uint8)
        texts = Texts(data, inner.ends // 3 * 4)
    else:
        texts = Texts.from_list([_write(value, style) for value in inner.to_list()])
    if len(texts.data) > limit:
        raise Broken("a column holds more than was promised")
    return texts
