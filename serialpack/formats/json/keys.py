"""The keys of one large JSON object, found without reading its values.

The text is looked through for structure only, piece by piece, so that a document of any size tells
its keys in the memory of a piece.
"""

import json
import re
from collections.abc import Iterable
from typing import NamedTuple

#: An object is asked for no more keys than this.
MOST_KEYS = 10_000

#: Of a member so much is kept as a key and the begin of a value take. Longer keys are not told.
_KEY = 4 << 10

_OBJECT = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*(\[[ \t\r\n]*)?\{")
_MEMBER = re.compile(
    rb'[ \t\r\n]*("(?:[^"\\]|\\.)*+")[ \t\r\n]*:[ \t\r\n]*(?:(-?[0-9]+)([.eE]?)|(["\[{tfn]))',
    re.DOTALL,
)
_TYPES = {
    b'"': "string",
    b"[": "array",
    b"{": "object",
    b"t": "boolean",
    b"f": "boolean",
    b"n": "null",
}


class Keys(NamedTuple):
    """Key -> type of its value. ``looked_at``: bytes. ``ended``: these are all of the object's;
    ``alone``: and nothing follows it, as far as that was at hand."""

    types: dict[str, str]
    looked_at: int
    ended: bool
    alone: bool = False


class Start(NamedTuple):
    """Where an object begins: behind its brace; ``element``: it is the first of an array."""

    offset: int
    element: bool


def object_start(head: bytes) -> Start | None:
    """Where the object begins that JSON text is, or its first element; None where it is none."""
    match = _OBJECT.match(head)
    return None if match is None else Start(match.end(), match[1] is not None)


def keys_of(pieces: Iterable[bytes], start: int) -> Keys:
    """The keys of the object that begins before the byte ``start`` of what ``pieces`` are."""
    from serialpack.formats.json.scan import JsonScan

    scan, types = JsonScan(), dict[str, str]()
    looked_at, at, member = 0, start, b""
    for piece in pieces:
        begin = at
        for commas, close in scan.pieces(piece, at, len(piece)):
            for end in [*commas[:MOST_KEYS].tolist(), *([close] if close >= 0 else [])]:
                _add(types, member + piece[begin : min(end, begin + _KEY)])
                begin, member = end + 1, b""
                if len(types) >= MOST_KEYS:
                    return Keys(types, looked_at + end, ended=False)
            if close >= 0:
                return Keys(types, looked_at + close + 1, True, not piece[close + 1 :].strip())
        member = (member + piece[begin : begin + _KEY])[:_KEY]
        looked_at += len(piece)
        at = 0
    _add(types, member)
    return Keys(types, looked_at, ended=False)


def _add(types: dict[str, str], member: bytes) -> None:
    match = _MEMBER.match(member)
    if match is None:
        return
    text, integer, fraction, begin = match.groups()
    try:
        key = json.loads(text)
    except ValueError:
        return
    if integer is not None:
        types[key] = "number" if fraction else "integer"
    else:
        types[key] = _TYPES[begin]
