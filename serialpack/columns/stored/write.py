"""Writes all columns of a block; ``read`` reads them. Layout: man/spk-columns.5, COLUMNS."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from serialpack.columns.encodings.choose import encode_column
from serialpack.columns.encodings.related import related
from serialpack.columns.stored.coding import Coded, Context
from serialpack.columns.stored.shared import Shared, is_weak, share
from serialpack.columns.stored.streams import (
    PCO,
    SHARED,
    STORE,
    WEAK,
    ZSTD,
    Stream,
    effort,
    recoded,
    zstd,
)
from serialpack.columns.stored.wire import varint, varints
from serialpack.columns.texts import Texts
from serialpack.watch import at, told_of, within

VERSION = 1

#: The number that stands for the encoding of a column in a bundle.
BUNDLED = 18

#: Columns of up to ``_TINY`` values, with up to ``_SHORT`` bytes each on average, stand in bundles
#: where there are at least ``_MANY`` of them: a column by itself takes about 15 bytes more.
_TINY = 6
_SHORT = 64
_MANY = 128

#: Values that begin with one of these bytes stand in the bundle of numbers.
_NUMERIC = b"-0123456789"

#: The most bytes of a stream of text that shares a frame, tried too where time does not matter.
_WEAK_LAST = 1 << 20

#: The level of zstd for the header, which is small.
_HEADER_LEVEL = 12

#: For progress bars: about the share of the work that is done once each column is encoded by
#: itself; and once it is known which columns follow from others.
_ALONE = 0.5
_RELATED = 0.6

#: Stands for a column whose values are in a bundle.
_NOTHING = Texts(np.zeros(0, np.uint8), np.zeros(0, np.int64))


def encode_all(
    columns: Sequence[Texts], level: int = 3, names: Sequence[str] | None = None
) -> bytes:
    """``columns`` as bytes. ``level``: the effort to make them few, from 1 to 9.

    ``names``: for each column its path, steps joined by "/": small columns with like names may come
    to stand side by side. None: in their own order.
    """
    to = Context(effort(level), encode_column)
    bundled = _bundled(columns)
    bundles = sorted(set(bundled.values()))
    own = [_NOTHING if index in bundled else texts for index, texts in enumerate(columns)]
    for bundle in bundles:
        own.append(_bundle([columns[index] for index, of in bundled.items() if of == bundle]))
    with within(0, _ALONE):
        alone = [encode_column(texts, to) for texts in told_of(own, _bytes_of)]
    all_names = [*names, *("" for _ in bundles)] if names is not None else None
    alone = related(own, alone, to)
    found = []
    at(_RELATED)
    rounds = (WEAK, _WEAK_LAST) if to.use.lzma else (WEAK,)
    for number, most in enumerate(rounds):
        coded, shared = share(own, alone, all_names, to, most)
        for index, bundle in bundled.items():
            coded[index] = Coded(bytes([BUNDLED, bundles.index(bundle)]))
        header = _table([*columns, *own[len(columns) :]], coded, len(bundles))
        step = (1 - _RELATED) / len(rounds)
        with within(_RELATED + (number + 0.5) * step, _RELATED + (number + 1) * step):
            streams, bodies = _streams(coded, shared, to)
        found.append(_assembled(header + streams, bodies))
    return min(found, key=len)


def _bytes_of(texts: Texts) -> int:
    return len(texts.data)


def _raw_of(stream: Stream) -> int:
    return len(stream.raw)


def _assembled(header: bytes, bodies: list[bytes]) -> bytes:
    """Version, header and the stored bytes of streams."""
    packed = zstd(header, _HEADER_LEVEL)
    if len(packed) >= len(header):
        packed = header
    start = bytes([VERSION]) + varint(len(header)) + varint(len(packed))
    return b"".join([start, packed, *bodies])


def _bundled(columns: Sequence[Texts]) -> dict[int, int]:
    """The columns that stand in a bundle, by their index:
    0 for that of numbers, 1 for that of texts."""
    tiny = {
        index: int(texts.data[:1].tobytes() not in _NUMERIC)
        for index, texts in enumerate(columns)
        if 0 < texts.number <= _TINY and len(texts.data) <= _SHORT * texts.number
    }
    return tiny if len(tiny) >= _MANY else {}


def _bundle(columns: list[Texts]) -> Texts:
    """The values of all ``columns`` as one."""
    return Texts.from_lengths(
        np.concatenate([texts.data for texts in columns]),
        np.concatenate([texts.lengths for texts in columns]),
    )


def _table(columns: Sequence[Texts], coded: Sequence[Coded], bundles: int) -> bytes:
    """The part of the header about columns."""
    return b"".join(
        [
            varints((len(columns), bundles)),
            varints(texts.number for texts in columns),
            varints(len(texts.data) for texts in columns),
            varints(len(each.streams) for each in coded),
            varints(len(each.description) for each in coded),
            *(each.description for each in coded),
        ]
    )


def _streams(coded: Sequence[Coded], shared: Shared, to: Context) -> tuple[bytes, list[bytes]]:
    """The part of the header about groups and streams, and their stored bytes in order."""
    groups = [
        (group.kind, len(group.raw), *recoded(ZSTD, group.raw, group.frame, to.use))
        for group in shared.groups
    ]
    kinds = {group.kind for group in shared.groups}
    streams: list[Stream] = []
    for stream in told_of([s for each in coded for s in each.streams], _raw_of):
        if stream.kind in kinds and is_weak(stream, shared.most):
            streams.append(stream._replace(coder=SHARED, stored=b""))
        else:
            coder, stored = recoded(stream.coder, stream.raw, stream.stored, to.use)
            streams.append(stream._replace(coder=coder, stored=stored))
    parts = [
        varints((1, *shared.order)) if shared.order else b"\0",
        varint(len(groups)),
        bytes(coder << 4 | kind for kind, _, coder, _ in groups),
        varints(raw for _, raw, _, _ in groups),
        varints(len(stored) for *_, stored in groups),
        bytes(stream.coder << 4 | stream.kind for stream in streams),
        varints(len(stream.raw) for stream in streams if stream.coder != PCO),
        varints(len(stream.stored) for stream in streams if stream.coder not in (STORE, SHARED)),
    ]
    bodies = [stored for *_, stored in groups] + [stream.stored for stream in streams]
    return b"".join(parts), bodies
