"""The keys of one large JSON object, found without reading its values.

The text is looked through for structure only, piece by piece, so that a document of any size tells
its keys in the memory of a piece.
"""

import json
import re
from collections.abc import Iterable
from typing import NamedTuple

#: The most keys that are told of an object.
MOST_KEYS = 10_000

#: The most bytes of a member that are kept to tell its key and the type of its value. A longer key
#: is not told.
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
    """The keys of an object, each with the type of its value.

    ``looked_at``: how many bytes were. ``ended``: the object ended there, so these are all of its
    keys; ``alone``: and nothing follows it, as far as that was at hand.
    """

    types: dict[str, str]
    looked_at: int
    ended: bool
    alone: bool = False


class Start(NamedTuple):
    """Where an object begins: the byte behind its brace. ``element``: it is the first one of an
    array."""

    offset: int
    element: bool


def object_start(head: bytes) -> Start | None:
    """Where the object begins that a text of JSON is, or that is its first element; None where
    there is none."""
    match = _OBJECT.match(head)
    return None if match is None else Start(match.end(), match[1] is not None)


def keys_of(pieces: Iterable[bytes], start: int) -> Keys:
    """The keys of the object whose brace is before byte ``start`` of a text that comes in
    ``pieces``."""
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
