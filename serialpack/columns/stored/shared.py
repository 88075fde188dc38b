"""Frames that small streams share, so that they find each other's repeats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from serialpack.columns.encodings import plain
from serialpack.columns.stored.coding import Coded, Context
from serialpack.columns.stored.streams import TEXT, WEAK, Stream, zstd
from serialpack.columns.texts import Texts

#: Arrays of more bytes than this do not share: they find little in others.
_WEAK_ARRAY = 16 << 10

#: What a line about a group takes, about.
_LINE = 4

#: Shared frames are small, and are compressed at better levels in no more time than others: while
#: it is tried what to share, and in the end.
_LEVEL = 6
_LAST = 9

#: Columns of texts may be better plain beside others than alone as they are, unless plain they
#: take so many times as much alone.
_WORSE = 2

#: What each column costs more in a trial frame, where it ends a block, than it will.
_BLOCK = 16

#: Columns that take no more than this when plain are looked at in any case.
_ALWAYS = 512


class Group(NamedTuple):
    """The weak streams of one kind in one frame of zstd."""

    kind: int
    raw: bytes
    frame: bytes

    def again(self, level: int) -> Group:
        """The same at another level."""
        return self._replace(frame=min(self.frame, zstd(self.raw, level), key=len))


class Shared(NamedTuple):
    """What small streams share."""

    order: list[int]
    """Indices of columns; empty for their own order."""
    groups: list[Group]
    saved: int
    """In bytes, about."""
    most: int
    """How many bytes a stream of text has at most that shares."""


def is_weak(stream: Stream, most: int) -> bool:
    """Whether a stream stands in the group of its kind, if there is one."""
    most = most if stream.kind == TEXT else _WEAK_ARRAY
    return 0 < len(stream.raw) <= most and len(stream.stored) > _LINE


def share(
    columns: Sequence[Texts],
    coded: list[Coded],
    names: Sequence[str] | None,
    to: Context,
    most: int = WEAK,
) -> tuple[list[Coded], Shared]:
    """``coded``, some of it plain instead, and the frames that pay.

    Columns stand in their own order, or by name if that is smaller. ``most``: how many bytes a
    stream of text has at most that shares.
    """
    level = max(to.use.text, _LEVEL)
    orders: list[list[int]] = [[]]
    if names is not None and len(coded) > 1:
        # Columns are alike that have the same last parts of their names.
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
    """``coded`` with columns of texts plain that take less behind, or before, the others."""
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
    behind = _behind(raws, max(to.use.text, _LEVEL))
    before = _behind(raws[::-1], max(to.use.text, _LEVEL))[::-1]
    found = list(coded)
    for (index, other), *sizes in zip(plains.items(), behind, before, strict=True):
        if min(sizes) - _BLOCK < coded[index].size:
            found[index] = other
    return found


def _behind(raws: list[bytes], level: int) -> list[int]:
    """What each takes in one frame behind the earlier ones; it is flushed behind each."""
    import zstandard

    frame = zstandard.ZstdCompressor(level=level).compressobj()
    flush = zstandard.COMPRESSOBJ_FLUSH_BLOCK
    return [len(frame.compress(raw)) + len(frame.flush(flush)) for raw in raws]


def _is_text(coded: Coded) -> bool:
    """Whether there is text in it at all, not numbers only."""
    return any(stream.kind == TEXT for stream in coded.streams)
