"""Puts small streams into shared frames, where zstd finds what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from serialpack.columns.encodings import plain
from serialpack.columns.stored.coding import Coded, Context
from serialpack.columns.stored.streams import TEXT, WEAK, Stream, zstd
from serialpack.columns.texts import Texts

#: The most bytes of an array that shares a frame: a larger one finds little in others.
_WEAK_ARRAY = 16 << 10

#: About the bytes that a line of the table of groups takes.
_LINE = 4

#: The least levels of zstd for shared frames, for trials and in the end: such frames are small, so
#: that it takes little time.
_LEVEL = 6
_LAST = 9

#: A column of texts may be smaller plain in a shared frame than encoded alone; it is tried where
#: plain and alone it takes up to so many times as much.
_WORSE = 2

#: The bytes that a column takes too much in a trial frame, where it ends a block of zstd.
_BLOCK = 16

#: Columns that take up to so many bytes more are tried in any case.
_ALWAYS = 512


class Group(NamedTuple):
    """The small streams of one kind in one frame of zstd."""

    kind: int
    raw: bytes
    frame: bytes

    def again(self, level: int) -> Group:
        """The group compressed at another level, if that makes it smaller."""
        return self._replace(frame=min(self.frame, zstd(self.raw, level), key=len))


class Shared(NamedTuple):
    """The shared frames of a block, and the order of columns in them."""

    order: list[int]
    """Indices of columns; empty for their own order."""
    groups: list[Group]
    saved: int
    """In bytes, about."""
    most: int
    """How many bytes a stream of text has at most that shares."""


def is_weak(stream: Stream, most: int) -> bool:
    """Whether a stream is small enough to stand in the group of its kind."""
    most = most if stream.kind == TEXT else _WEAK_ARRAY
    return 0 < len(stream.raw) <= most and len(stream.stored) > _LINE


def share(
    columns: Sequence[Texts],
    coded: list[Coded],
    names: Sequence[str] | None,
    to: Context,
    most: int = WEAK,
) -> tuple[list[Coded], Shared]:
    """``coded``, with some columns plain instead, and the shared frames that pay.

    Columns stand in them in their own order, or by name if that is smaller. ``most``: the most
    bytes of a stream of text that shares a frame.
    """
    level = max(to.use.text, _LEVEL)
    orders: list[list[int]] = [[]]
    if names is not None and len(coded) > 1:
        # Columns whose names end in the same parts are likely to hold alike values.
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
    """``coded``, with columns of texts plain where in one frame with the others they take less."""
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
    """The bytes that each takes in one frame, behind those before it; flushed behind each."""
    import zstandard

    frame = zstandard.ZstdCompressor(level=level).compressobj()
    flush = zstandard.COMPRESSOBJ_FLUSH_BLOCK
    return [len(frame.compress(raw)) + len(frame.flush(flush)) for raw in raws]


def _is_text(coded: Coded) -> bool:
    """Whether any stream of a column is text, and not all are numbers."""
    return any(stream.kind == TEXT for stream in coded.streams)
