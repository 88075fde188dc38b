"""Prose: each word, and each run of bytes between two words, by its place in a dictionary.

One space between two words is not stored (de Moura et al., "Fast and flexible word searching on
compressed text", 2000), and codes are whole bytes of which only the last is below a mark (Brisaboa
et al., "(S,C)-dense codes", 2003), for a codec to find phrases in.

    v: the number of entries; a column of these; numbers: how many codes each value has; a stream of
    the codes of all values

The mark is the highest number up to 256 with room for all entries: mark + (256 - mark) * mark. A
code below the mark is a byte; another one, c, is mark + (c - mark) // mark and (c - mark) % mark.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.copying import put_together
from serialpack.columns.bulk.groups import Spans, group
from serialpack.columns.bulk.pieces import separated
from serialpack.columns.bulk.tokens import is_word
from serialpack.columns.encodings.numbers import read_numbers, write_numbers
from serialpack.columns.stored.coding import Coded, Context, Fit, head, joined
from serialpack.columns.stored.source import ColumnSource
from serialpack.columns.stored.streams import U8, bytes_stream
from serialpack.columns.texts import Broken, Texts

NUMBER = 15

_SPACE = ord(" ")

#: Columns with a longer value are left to the codec, which finds enough in it.
_LONGEST = 512 << 10

#: Values are taken apart in parts of about so many bytes, and put together so many words at a time.
_PART = 256 << 10
_WORDS = 64 << 10

#: The values of a byte.
_BYTE = 256

#: With a lower mark there would not be more codes: this one has room for the most of them.
_LEAST_MARK = 128

#: The least level of zstd for codes: these are fewer than the bytes of words, so it takes little
#: time.
_LEAST_LEVEL = 6


def _capacity(mark: int) -> int:
    """How many codes of one and two bytes there are if last bytes are below ``mark``."""
    return mark + (_BYTE - mark) * mark


def _mark(count: int) -> int | None:
    """The highest mark with room for ``count`` codes; None where there is none."""
    return next(
        (mark for mark in range(_BYTE, _LEAST_MARK - 1, -1) if _capacity(mark) >= count), None
    )


def encode(texts: Texts, to: Context) -> Fit | None:
    """Takes texts of at most 16,512 different words and separators."""
    if int(texts.lengths.max(initial=0)) > _LONGEST:
        return None
    places: dict[bytes, int] = {}
    parts: list[NDArray[np.int32]] = []
    counts: list[NDArray[np.int64]] = []
    for part in _parts(texts):
        pieces, number = _tokens(part)
        counts.append(number)
        groups = group(pieces)
        entries = pieces.some(groups.examples).texts().to_list()
        known = [places.setdefault(entry, len(places)) for entry in entries]
        parts.append(np.array(known, np.int32)[groups.codes])
        if len(places) > _capacity(_LEAST_MARK):
            return None
    count = len(places)
    mark = _mark(count)
    if not count or mark is None:
        return None
    codes = np.concatenate(parts)
    entries = list(places)
    uses = np.bincount(codes, minlength=count).tolist()
    ranked = sorted(range(count), key=lambda at: (-uses[at], entries[at]))
    order = sorted(ranked[:mark], key=entries.__getitem__)
    order += sorted(ranked[mark:], key=entries.__getitem__)
    place = np.empty(count, np.int32)
    place[order] = np.arange(count)
    packed = _pack(place[codes], mark)
    return Fit(
        joined(
            head(NUMBER, count),
            (
                to.column(Texts.from_list([entries[at] for at in order]), entries=True),
                write_numbers(np.concatenate(counts), to.use),
                Coded(b"", (bytes_stream(packed.tobytes(), max(to.use.text, _LEAST_LEVEL), U8),)),
            ),
        )
    )


def _parts(texts: Texts) -> Iterator[Texts]:
    """``texts`` in parts of about ``_PART`` bytes, to be worked on in little memory."""
    ends = texts.ends
    start = place = 0
    while start < texts.number:
        stop = max(int(np.searchsorted(ends, place + _PART, side="right")), start + 1)
        end = int(ends[stop - 1])
        yield Texts(texts.data[place:end], ends[start:stop] - place)
        start, place = stop, end


def _tokens(texts: Texts) -> tuple[Spans, NDArray[np.int64]]:
    """The words, and the runs of other bytes, that are stored;
    and how many of them each value has."""
    data = texts.data
    word = is_word(data)
    # Tokens begin where values begin, and where bytes of words and other bytes meet.
    begins = np.zeros(len(data) + 1, np.bool_)
    begins[texts.starts] = True
    begins = begins[:-1]
    edges = begins.copy()
    edges[1:] |= word[1:] != word[:-1]
    # One space between two words of the same value is not stored.
    untold = data == _SPACE
    untold &= ~begins
    untold[1:] &= word[:-1]
    untold[:-1] &= word[1:] & ~begins[1:]
    untold[-1:] = False
    places = np.flatnonzero(edges)
    told = np.flatnonzero(~untold[places])
    starts = places[told]
    lengths = np.diff(places, append=len(data))[told]
    ends = np.searchsorted(starts, texts.ends)
    return Spans(data, starts, lengths), np.diff(ends, prepend=0)


def _pack(codes: NDArray[np.int32], mark: int) -> NDArray[np.uint8]:
    """Codes as bytes: one for each below ``mark``, two for others."""
    long = np.flatnonzero(codes >= mark)
    if not len(long):
        return codes.astype(np.uint8)
    first, last = np.divmod(codes[long] - mark, mark)
    out = np.empty(len(codes) + len(long), np.uint8)
    places = long + np.arange(len(long))
    kept = np.ones(len(out), np.bool_)
    kept[places] = False
    out[kept] = codes
    out[places] = first + mark
    out[places + 1] = last
    return out


def _unpack(raw: NDArray[np.uint8], mark: int) -> NDArray[np.int64]:
    """The codes of which ``_pack`` made ``raw``. Broken."""
    last = raw < mark
    if len(raw) and (not last[-1] or (~last[1:] & ~last[:-1]).any()):
        raise Broken("a code of a word has no end")
    ends = np.flatnonzero(last)
    codes = raw[ends].astype(np.int64)
    long = np.flatnonzero(np.diff(ends, prepend=-1) == 2)
    codes[long] += mark + (raw[ends[long] - 1].astype(np.int64) - mark) * mark
    return codes


def decode(source: ColumnSource, number: int, limit: int) -> Texts:
    """The values: entry after entry, with spaces between words; see ``Decoder``."""
    count = source.varint(limit)
    mark = _mark(count)
    if mark is None:
        raise Broken("more words than there can be codes")
    entries = source.column(count, limit)
    counts = read_numbers(source, number)
    if number and (int(counts.min()) < 0 or int(counts.max()) > limit):
        raise Broken("a text of an impossible number of words")
    if int(counts.sum()) > limit:
        raise Broken("more words than there can be")
    raw = np.frombuffer(source.raw(2 * limit), np.uint8)
    source.spend(8 * len(raw))
    codes = _unpack(raw, mark)
    if len(codes) != int(counts.sum()) or not entries.lengths.all():
        raise Broken("words are not as many as promised")
    if len(codes) and int(codes.max()) >= count:
        raise Broken("a code beyond the last word")
    if not len(codes):
        return Texts(np.zeros(0, np.uint8), np.zeros(number, np.int64))
    # A space is put behind each word that another word of the same text follows.
    word = is_word(entries.data[entries.starts])
    ends_of = np.cumsum(counts)
    followed = np.ones(len(codes), np.bool_)
    followed[ends_of[counts > 0] - 1] = False
    followed[:-1] &= word[codes[1:]]
    followed &= word[codes]
    lengths = entries.lengths[codes]
    lengths += followed
    ends = np.cumsum(lengths)
    size = int(ends[-1])
    if size > limit:
        raise Broken("a column holds more than was promised")
    spaced = separated(entries, _SPACE)
    starts = entries.starts + np.arange(count)
    parts = []
    for first in range(0, len(codes), _WORDS):
        some = slice(first, first + _WORDS)
        parts.append(put_together(spaced, starts[codes[some]], lengths[some]))
    last = np.zeros(len(codes) + 1, np.int64)
    last[1:] = ends
    return Texts(np.concatenate(parts), last[ends_of])
