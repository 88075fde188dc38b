"""Keys as bytes and back: text, and integers of 64 bits."""

from __future__ import annotations

from serialpack.errors import RefusedError
from serialpack.values.kinds import shown

Key = str | int

#: The key of the header record. No text has the byte 0xFF, and the key of an integer has 9 bytes.
HEADER_KEY = b"\xffserialpack"

_INTEGER = b"\xff"
#: The key of the empty text. No text begins with this byte either.
_EMPTY = b"\xfe"
_LOWEST = -(1 << 63)


def encoded_key(key: object, most: int | None = None) -> bytes:
    """The bytes of ``key`` in a store; RefusedError for what can be no key.

    ``most``: the most bytes that the store takes for a key; None: any number.
    """
    if type(key) is str:
        try:
            data = key.encode() or _EMPTY
        except UnicodeEncodeError:
            raise _refused(f"the key {shown(key)} has a lone surrogate") from None
    elif type(key) is int:
        if not 0 <= key - _LOWEST < 1 << 64:
            raise _refused(f"the key {shown(key)} is beyond 64 bits")
        data = _INTEGER + (key - _LOWEST).to_bytes(8)
    else:
        raise _refused(f"{type(key).__name__} is no key")
    if most is not None and len(data) > most:
        raise _refused(f"the key {shown(key)} has {len(data):,} bytes, and the store takes {most}")
    return data


def decoded_key(data: bytes) -> Key:
    """The key that is stored as ``data``; ValueError where that is none."""
    if data[:1] != _INTEGER:
        return "" if data == _EMPTY else data.decode()
    if len(data) != 9:
        raise ValueError("a key of no kind")
    return int.from_bytes(data[1:]) + _LOWEST


def shown_key(data: bytes) -> str:
    """A stored key as a message shows it."""
    try:
        return shown(decoded_key(data))
    except ValueError:
        return repr(data)


def _refused(why: str) -> RefusedError:
    return RefusedError(why, hint="a key is text, or an integer of 64 bits")
