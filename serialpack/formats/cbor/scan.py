"""Where CBOR items end, told from their heads alone (RFC 8949, section 3)."""

from __future__ import annotations

from array import array
from typing import Any

from serialpack.formats.messages.finder import Opening
from serialpack.formats.messages.long_bytes import Heads
from serialpack.formats.shared.document import Malformed
from serialpack.formats.shared.split import Scan
from serialpack.stages.stage import Buffer
from serialpack.values.structure import Structure

_BYTES, _TEXT, _ARRAY, _MAP, _TAG = range(2, 7)
_BREAK = 0xFF
#: The low bits of the first byte of an item that does not say its length.
_ENDLESS = 31

#: The tag that says that this is CBOR (section 3.4.6).
SELF_DESCRIBED = bytes.fromhex("d9d9f7")


def _simple(first: int) -> tuple[int, int] | tuple[None, None]:
    """The size of an item that its first byte tells all of, and what it adds to the number of items
    to come: those in it, less itself. None and None for any other first byte."""
    major, number = first >> 5, first & 31
    if number < 24:
        inside = {_ARRAY: number, _MAP: 2 * number, _TAG: 1}.get(major, 0)
        return 1 + (number if major in (_BYTES, _TEXT) else 0), inside - 1
    if number < 28 and major in (0, 1, 7):
        return 1 + (1 << number - 24), -1
    return None, None


_SIZES: list[Any] = [_simple(first)[0] for first in range(256)]
_MORE: list[Any] = [_simple(first)[1] for first in range(256)]


def _heads() -> Heads:
    """All first bytes as ``Heads`` has them. Where ``_simple`` has nothing, a length or a count
    stands in one to eight bytes behind the first."""
    sizes = [_SIZES[first] or 1 for first in range(256)]
    lengths = {}
    for first in range(256):
        major, info = first >> 5, first & 31
        if 24 <= info < 28 and major not in (0, 1, 7):
            sizes[first] = 1 + (1 << info - 24)
            if major in (_BYTES, _TEXT):
                lengths[first] = 1 << info - 24
    return Heads(
        sizes, lengths, frozenset(first for first in lengths if first >> 5 == _BYTES), _TEXT << 5
    )


HEADS = _heads()

#: The most open items that are kept in memory while an item without a length is gone through: many
#: more than are ever read.
_DEEPEST = 1 << 20


def scan(view: Buffer, most: int, step: int, ends: array[int] | None = None) -> Scan:
    """As ``MessageFormat.scan``. A break code begins no item."""
    sizes, mores = _SIZES, _MORE
    at = end = records = 0
    try:
        while records != most:
            left = step
            while left > 0:
                first = view[at]
                size = sizes[first]
                if size is None:
                    at, more = _long(view, at)
                    left += more
                else:
                    at += size
                    left += mores[first]
            if at > len(view):
                break
            end = at
            records += 1
            if ends is not None:
                ends.append(end)
    except IndexError:
        pass
    except Malformed:
        return Scan(records, end, lost=True)
    return Scan(records, end)


def _long(data: Buffer, at: int) -> tuple[int, int]:
    """As ``_simple``, of the item at ``at``, whose length stands behind its first byte, or nowhere;
    in place of the size where it ends, or where what is in it begins."""
    major, info = data[at] >> 5, data[at] & 31
    if info == _ENDLESS:
        return _endless(data, at), -1
    if info > 27:
        raise Malformed("no item begins here", at)
    size = 1 << info - 24
    at += 1 + size
    if at > len(data):
        raise IndexError
    number = int.from_bytes(data[at - size : at])
    if major in (_BYTES, _TEXT):
        return at + number, -1
    return at, {_ARRAY: number, _MAP: 2 * number, _TAG: 1}[major] - 1


def _endless(data: Buffer, at: int) -> int:
    """Where an item ends that begins at ``at`` and does not say its length."""
    #: Of each open item: how many items are to come in it; below 0: up to a break code.
    opened: list[int] = []
    while True:
        first = data[at]
        major, info = first >> 5, first & 31
        size = _SIZES[first]
        if first == _BREAK:
            if not opened or opened.pop() >= 0:
                raise Malformed("no item begins here", at)
            at += 1
        elif info == _ENDLESS:
            if major not in (_BYTES, _TEXT, _ARRAY, _MAP):
                raise Malformed("no item begins here", at)
            opened.append(-1)
            at += 1
            if len(opened) > _DEEPEST:
                raise Malformed("no item begins here", at)
            continue
        else:
            at, more = (at + size, _MORE[first]) if size is not None else _long(data, at)
            if more >= 0:
                opened.append(more + 1)
                if len(opened) > _DEEPEST:
                    raise Malformed("no item begins here", at)
                continue
        while opened and opened[-1] >= 0:
            opened[-1] -= 1
            if opened[-1]:
                break
            opened.pop()
        if not opened:
            return at


def opening(view: Buffer) -> Opening | None:
    """How the array or map begins that begins here; None where none does."""
    data = bytes(view[:16])
    start = len(SELF_DESCRIBED) if data.startswith(SELF_DESCRIBED) else 0
    if len(data) <= start:
        return None
    major, info = data[start] >> 5, data[start] & 31
    kind = {_ARRAY: Structure.ARRAY, _MAP: Structure.MAP}.get(major)
    if kind is None:
        return None
    size = start + 1
    if info < 24:
        return Opening(kind, size, info)
    if info == _ENDLESS:
        return Opening(kind, size, None)
    if info > 27 or len(data) < size + (1 << info - 24):
        return None
    end = size + (1 << info - 24)
    return Opening(kind, end, int.from_bytes(data[size:end]))
