"""Chooses the small streams of a block that share frames, where zstd finds what they have in
common.

A stream by itself is compressed without knowing what others hold; so the small ones of one kind are
put one behind the other and compressed as one, where that takes fewer bytes. The order in which
they stand matters, and also whether a small column is encoded at all: its plain text may find more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from serialpack.columns.encodings import plain
from serialpack.columns.stored.coding import Coded, Context
from serialpack.columns.stored.streams import TEXT, WEAK, Stream, zstd
from serialpack.columns.texts import Texts

#: The most raw bytes of an array that shares a frame: a larger one finds little in others.
_WEAK_ARRAY = 16 << 10

#: About how many bytes the line of a group takes, or the size of a stream of its own.
_LINE = 4

#: The least levels of zstd for shared frames: to compare orders, and in the end. Such frames are
#: small, so that these take little time.
_LEVEL = 6
_LAST = 9

#: A column may take fewer bytes plain in a shared frame than encoded outside of it. It is tried
#: where plain, by itself, takes at most so many times the bytes of the encoding, and ``_ALWAYS``
#: more.
_WORSE = 2

#: In a trial frame each column ends a block of zstd, which takes about so many bytes more.
_BLOCK = 16

_ALWAYS = 512


class Group(NamedTuple):
    """The small streams of one kind in a shared frame: their raw bytes, and the frame of zstd."""

    kind: int
    raw: bytes
    frame: bytes

    def again(self, level: int) -> Group:
        """The group with its frame made at this level, where that is smaller."""
        return self._replace(frame=min(self.frame, zstd(self.raw, level), key=len))


class Shared(NamedTuple):
    """The shared frames of a block, and the order of columns in them."""

    order: list[int]
    """The indices of all columns, in the order in which their streams stand in frames;
    empty where that is their own."""
    groups: list[Group]
    saved: int
    """About how many bytes the groups save."""
    most: int
    """The most raw bytes of a stream of text that shares a frame."""


def is_weak(stream: Stream, most: int) -> bool:
    """Whether a stream is so small that it stands in the group of its kind.
    ``most``: see ``Shared``."""
    most = most if stream.kind == TEXT else _WEAK_ARRAY
    return 0 < len(stream.raw) <= most and len(stream.stored) > _LINE


def share(
    columns: Sequence[Texts],
    coded: list[Coded],
    names: Sequence[str] | None,
    to: Context,
    most: int = WEAK,
) -> tuple[list[Coded], Shared]:
    """The shared frames that pay; and ``coded``, the encoded ``columns``, some of them plain
    instead because they take fewer bytes so in a frame.

    Columns stand in frames in their own order, or in that of their ``names`` where it takes fewer
    bytes. ``most``: see ``Shared``.
    """
    level = max(to.use.text, _LEVEL)
    orders: list[list[int]] = [[]]
    if names is not None and len(coded) > 1:
        # Columns whose names have the same last part are likely to hold alike values.
        last = [name.replace("[]", "").rstrip("/").rpartition("/")[2] for name in names]
        orders.append(sorted(range(len(coded)), key=lambda index: (last[index], names[index])))
    shared = max((_groups(coded, order, level, most) for order in orders), key=_saved)
    other = _plain_where_better(columns, coded, shared.order, to)
    if other != coded:
        others = _groups(other, shared.order, level, most)
        before = sum(each.size for each in coded) - shared.saved
        after = sum(each.size for each in other) - others.saved
        if after < before:
            coded, shared = other, others
    best = max(to.use.text, _LAST)
    return coded, shared._replace(groups=[group.again(best) for group in shared.groups])


def _saved(shared: Shared) -> int:
    return shared.saved


def _groups(coded: Sequence[Coded], order: list[int], level: int, most: int) -> Shared:
    """The shared frames that pay, for columns in this ``order``, which is stored too."""
    weak: dict[int, list[Stream]] = {}
    for index in order or range(len(coded)):
        for stream in coded[index].streams:
            if is_weak(stream, most):
                weak.setdefault(stream.kind, []).append(stream)
    groups = []
    saved = -len(order) if len(order) < 128 else -2 * len(order)
    for kind, streams in sorted(weak.items()):
        together = b"".join(stream.raw for stream in streams)
        frame = zstd(together, level)
        gain = sum(len(stream.stored) for stream in streams) - len(frame) - _LINE
        if gain > 0:
            groups.append(Group(kind, together, frame))
            saved += gain
    return Shared(order if groups else [], groups, saved, most)


def _plain_where_better(
    columns: Sequence[Texts], coded: Sequence[Coded], order: list[int], to: Context
) -> list[Coded]:
    """``coded``, with small columns plain where they take fewer bytes so, in one frame with all
    others that may: behind those before them, or before those behind them."""
    plains: dict[int, Coded] = {}
    for index in order or range(len(coded)):
        texts = columns[index]
        if 0 < len(texts.data) + texts.number <= WEAK and _is_text(coded[index]):
            other = plain.encode(texts, to).coded
            if other.size <= _WORSE * coded[index].size + _ALWAYS:
                plains[index] = other
    if not plains:
        return list(coded)
    raws = [b"".join(stream.raw for stream in other.streams) for other in plains.values()]
    behind = _sizes_in_frame(raws, max(to.use.text, _LEVEL))
    before = _sizes_in_frame(raws[::-1], max(to.use.text, _LEVEL))[::-1]
    found = list(coded)
    for (index, other), *sizes in zip(plains.items(), behind, before, strict=True):
        if min(sizes) - _BLOCK < coded[index].size:
            found[index] = other
    return found


def _sizes_in_frame(raws: list[bytes], level: int) -> list[int]:
    """The bytes that each of ``raws`` adds to one frame, behind those before it."""
    import zstandard

    # Of a size that is not told, a high level makes room for much: that takes far longer than it.
    size = sum(map(len, raws))
    frame = zstandard.ZstdCompressor(level=level).compressobj(size=size)
    flush = zstandard.COMPRESSOBJ_FLUSH_BLOCK
    return [len(frame.compress(raw)) + len(frame.flush(flush)) for raw in raws]


def _is_text(coded: Coded) -> bool:
    """Whether any stream of a column is of text: not all are of numbers."""
    return any(stream.kind == TEXT for stream in coded.streams)
