"""Goes over MessagePack value by value, to say where it is broken, or what Python does not hold.

The library's own errors do not say where. This takes long, so it is done only once the library
has failed, from the message on in which it did.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from serialpack.depth import MAX_DEPTH
from serialpack.formats.base import Difference, Unheld, depth_loss, value_step
from serialpack.formats.msgpack.values import Repeated, key_of, messages
from serialpack.formats.shared.document import Malformed
from serialpack.msgpack_bytes import (
    COUNTS,
    EXTENSION_8,
    FIX_MAP,
    FIX_STRING,
    FIXED_EXTENSIONS,
    LENGTHS,
    LISTS,
    MAPS,
    NEVER_USED,
    NIL,
    NUMBERS,
    STRINGS,
)
from serialpack.text import number_of
from serialpack.values.kinds import shown

#: First byte -> how many bytes of a length or a count stand behind it.
_BEHIND = {**LENGTHS, **COUNTS}


class _OpenMessage:
    """A container whose end has not come: ``left`` values of it (keys too) are still to come.

    ``in_key``: it is a part of a key.
    """

    def __init__(self, is_map: bool, count: int, *, in_key: bool) -> None:
        self.is_map = is_map
        self.in_key = in_key
        self.left = count << is_map
        self.keys: dict[Any, None] = {}
        self.begin = 0
        self.seen = 0

    @property
    def at_key(self) -> bool:
        """Whether a key comes next."""
        return self.is_map and self.left % 2 == 0

    @property
    def step(self) -> str | None:
        """The step of a path to the value that comes next; None where a key comes next."""
        if not self.is_map:
            return f"[{self.seen}]"
        return None if self.at_key else value_step(next(reversed(self.keys)))


def check(data: bytes, at: int, record: int) -> None:
    """Malformed or Unheld for the first thing that is wrong in the messages from ``at`` on.

    ``record``: how many messages stand before that.
    """
    opened: list[_OpenMessage] = []
    while at < len(data) or opened:
        if opened and opened[-1].at_key:
            opened[-1].begin = at
        kind, count, at = _head(data, at)
        if kind in ("an array", "a map") and len(opened) == MAX_DEPTH:
            raise Unheld(depth_loss(record))
        if kind in ("an array", "a map") and count:
            above = opened[-1] if opened else None
            in_key = above is not None and (above.in_key or above.at_key)
            opened.append(_OpenMessage(kind == "a map", count, in_key=in_key))
            continue
        while opened:
            inner = opened[-1]
            inner.left -= 1
            inner.seen += 1
            if inner.is_map and inner.left % 2:
                _check_key(data[inner.begin : at], opened, record)
            if inner.left:
                break
            opened.pop()
        record += not opened


def _check_key(spelled: bytes, opened: list[_OpenMessage], record: int) -> None:
    if opened[-1].in_key:  # which itself is what cannot be held
        raise Unheld(Difference(record, _path(opened), "a key that holds a map", "", "key"))
    keys = opened[-1].keys
    try:
        key = key_of(messages(spelled)[0])
        twice = key in keys
    except (TypeError, Repeated):
        lost = Difference(record, _path(opened), "a key that is a map", "", "key")
        raise Unheld(lost) from None
    if twice:
        path = _path(opened) + value_step(key)
        raise Unheld(Difference(record, path, f"the key {shown(key)}", "", "duplicate-keys"))
    keys[key] = None


def _path(opened: list[_OpenMessage]) -> str:
    """Where the innermost container stands, or the key that it is part of."""
    steps = (outer.step for outer in opened[:-1])
    return "$" + "".join(takewhile(lambda step: step is not None, steps))  # type: ignore[arg-type]


def _head(data: bytes, start: int) -> tuple[str, int, int]:
    """What begins at ``start``: its kind, its length or count, and where it ends, or where what is
    in it begins."""
    if start == len(data):
        raise Malformed("the last message is not whole", start)
    first = data[start]
    at = start + 1
    kind = _kind_of(first)
    if first in _BEHIND:
        size = _BEHIND[first]
        count = int.from_bytes(_take(data, start, at, size, f"the length of {kind}"))
        at += size
    elif first in NUMBERS:
        count = NUMBERS[first]
    elif first in FIXED_EXTENSIONS:
        count = FIXED_EXTENSIONS[first]
    elif FIX_MAP <= first < NIL:
        count = first & (0x0F if first < FIX_STRING else 0x1F)
    elif first == NEVER_USED:
        raise Malformed("the byte c1 begins no value", start)
    else:
        return kind, 0, at
    if kind in ("an array", "a map"):
        if count << (kind == "a map") > len(data) - at:
            raise Malformed(f"{kind} of {count}, with {_bytes(len(data) - at)} left", start)
        return kind, count, at
    return kind, count, _body(data, start, at, kind, count)


def _kind_of(first: int) -> str:
    if first in MAPS:
        return "a map"
    if first in LISTS:
        return "an array"
    if first in STRINGS:
        return "text"
    if first in NUMBERS:
        return "a number"
    if first in FIXED_EXTENSIONS or EXTENSION_8 <= first < EXTENSION_8 + 3:
        return "an extension"
    return "binary" if first in LENGTHS else "a constant"


def _body(data: bytes, start: int, at: int, kind: str, count: int) -> int:
    """Where the value ends whose ``count`` bytes begin at ``at``; Malformed or Unheld."""
    extension = kind == "an extension"
    body = _take(data, start, at, count + extension, f"{kind} of {_bytes(count)}")
    if kind == "text":
        try:
            body.decode()
        except UnicodeDecodeError as error:
            raise Malformed("text that is not UTF-8", at + error.start) from None
    if extension and body[0] == 0xFF:
        if count not in (4, 8, 12):
            raise Malformed(f"a timestamp of {_bytes(count)}", start)
        nanoseconds = int.from_bytes(body[1:5]) >> (2 if count == 8 else 0)
        if count > 4 and nanoseconds > 999_999_999:
            raise Malformed(f"a timestamp with {nanoseconds} nanoseconds", start)
    return at + len(body)


def _take(data: bytes, start: int, at: int, size: int, what: str) -> bytes:
    taken = data[at : at + size]
    if len(taken) < size:
        raise Malformed(f"{what}, with {_bytes(len(taken))} left", start)
    return taken


def _bytes(count: int) -> str:
    return number_of(count, "byte")
