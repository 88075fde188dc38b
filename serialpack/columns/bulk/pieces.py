"""Makes columns of pieces of bytes: cut out, selected, put side by side, or with separators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.copying import put_together
from serialpack.columns.texts import Broken, Texts


def slices(data: NDArray[np.uint8], starts: NDArray[Any], lengths: NDArray[Any]) -> Texts:
    """The column of the values that start at ``starts`` in ``data`` and have these ``lengths``."""
    ends = np.cumsum(lengths, dtype=np.int64)
    size = int(ends[-1]) if len(ends) else 0
    if size == len(data) and size and starts[0] == 0 and (starts[1:] == ends[:-1]).all():
        return Texts(data, ends)
    return Texts(put_together(data, starts, lengths, ends), ends)


def select(texts: Texts, mask: NDArray[np.bool_]) -> Texts:
    """The column of the values where ``mask`` is true."""
    if mask.all():
        return texts
    lengths = texts.lengths
    return Texts.from_lengths(texts.data[np.repeat(mask, lengths)], lengths[mask])


def sample(texts: Texts, number: int, most: int) -> Texts:
    """About ``number`` values, or fewer that have about ``most`` bytes: up to 16 runs of
    neighbours, spread evenly over the column. All of it where it has no more."""
    if texts.number <= number and len(texts.data) <= most:
        return texts
    size = max(len(texts.data) / max(texts.number, 1), 1.0)
    number = min(number, max(int(most / size), 1))
    runs = min(16, number)
    each = max(number // runs, 1)
    firsts = np.arange(runs) * (texts.number - each) // max(runs - 1, 1)
    indices = (firsts[:, None] + np.arange(each)).reshape(-1)
    return slices(texts.data, texts.starts[indices], texts.lengths[indices])


def common_length(texts: Texts) -> int | None:
    """The length that all values have, in bytes;
    None where lengths differ, or there are no values."""
    number = texts.number
    if not number:
        return None
    width = int(texts.ends[0])
    if int(texts.ends[-1]) != width * number or (texts.lengths != width).any():
        return None
    return width


def chunks(texts: Texts, number: int) -> Iterator[Texts]:
    """``texts`` in parts of ``number`` values each, so that working on them takes little memory."""
    place = 0
    for first in range(0, texts.number, number):
        ends = texts.ends[first : first + number]
        yield Texts(texts.data[place : int(ends[-1])], ends - place)
        place = int(ends[-1])


def together(parts: list[Texts]) -> Texts:
    """The values of all ``parts`` as one column, one part behind the other."""
    if len(parts) == 1:
        return parts[0]
    return Texts.from_lengths(
        np.concatenate([np.zeros(0, np.uint8), *(part.data for part in parts)]),
        np.concatenate([np.zeros(0, np.int64), *(part.lengths for part in parts)]),
    )


def join(parts: list[Texts | bytes], number: int) -> Texts:
    """A column of ``number`` values, where value i is value i of each of the ``parts``, one behind
    the other. A part that is bytes is the same in all values."""
    lengths = np.zeros(number, np.int64)
    for part in parts:
        lengths += len(part) if isinstance(part, bytes) else part.lengths
    ends = np.cumsum(lengths)
    size = int(ends[-1]) if number else 0
    out = np.empty(size, np.uint8)
    places = ends - lengths
    for part in parts:
        if isinstance(part, bytes):
            for byte in part:
                out[places] = byte
                places += 1
            continue
        width = common_length(part)
        if width is not None and width <= 8:
            rows = part.data.reshape(number, width)
            for place in range(width):
                out[places] = rows[:, place]
                places += 1
            continue
        own = part.lengths
        target = np.arange(len(part.data), dtype=np.int64)
        target += np.repeat(places - part.starts, own)
        out[target] = part.data
        places += own
    return Texts(out, ends)


def merge(first: Texts, second: Texts, is_second: NDArray[np.bool_]) -> Texts:
    """The values of two columns as one: the next of ``second`` where ``is_second`` is true, the
    next of ``first`` elsewhere."""
    if not second.number:
        return first
    lengths = np.empty(len(is_second), np.int64)
    starts = np.empty(len(is_second), np.int64)
    for texts, which, base in ((first, ~is_second, 0), (second, is_second, len(first.data))):
        lengths[which] = texts.lengths
        starts[which] = texts.starts + base
    return slices(np.concatenate([first.data, second.data]), starts, lengths)


def separated(texts: Texts, separator: int) -> NDArray[np.uint8]:
    """The bytes of all values, with the byte ``separator`` behind each of them."""
    number = texts.number
    out = np.empty(len(texts.data) + number, np.uint8)
    kept = np.ones(len(out), np.bool_)
    marks = texts.ends + np.arange(number)
    kept[marks] = False
    out[marks] = separator
    out[kept] = texts.data
    return out


def split(data: NDArray[np.uint8], separator: int, number: int) -> Texts:
    """The column of which ``separated`` made ``data``;
    Broken where it has not ``number`` values."""
    kept = data != separator
    marks = np.flatnonzero(~kept)
    if len(marks) != number or len(data) != (int(marks[-1]) + 1 if number else 0):
        raise Broken("joined values are not as many as promised")
    return Texts(data[kept], marks - np.arange(number))


def as_rows(texts: Texts, width: int) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """The values as rows of ``width`` bytes, the length of the longest, with zeros behind shorter
    ones; and which of these bytes are a value's."""
    lengths = texts.lengths
    kept = np.arange(width) < lengths[:, None]
    rows = np.zeros((texts.number, width), np.uint8)
    rows[kept] = texts.data
    return rows, kept


def from_rows(
    rows: NDArray[np.uint8], firsts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> Texts:
    """The column of the values that stand in ``rows`` of bytes:
    ``lengths`` bytes from ``firsts`` on in each row."""
    starts = firsts + rows.shape[1] * np.arange(len(rows))
    return slices(np.ascontiguousarray(rows).reshape(-1), starts, lengths)
