"""Finds the tokens of JSON text: which bytes are of values, and which stand between them.

It is done for all bytes at once, by NumPy and by Python's large integers: a bit for each byte.
Nothing is checked: any bytes have some tokens.

``marked`` marks the bytes of tokens; of these ``values`` finds the values, and ``tokens`` the keys
too. Where keys are data, ``keys_as_data`` finds them and ``values_and_keys`` adds them to the
values.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.copying import Bytes, Positions
from serialpack.columns.bulk.numbering import PADDING, tell_apart
from serialpack.columns.parse.nodes import FIXED, KEY, SCALAR, STRING

#: Bytes that are looked for; ``_NO_QUOTE`` replaces a quote that is to be passed over.
_QUOTE, _COLON, _OPENING, _NEWLINE, _NO_QUOTE = b'":{\n_'
#: The highest byte that is a blank.
_BLANK = ord(" ")

_STRUCTURE = b"{}[],: \t\r\n"

#: Bits of ``_CLASSES``: the byte opens a list or map; it closes one, or is blank. ``_TOKEN`` is the
#: place of a third bit: outside of strings, the byte is part of a token.
_OPENS, _ENDS, _TOKEN = 1, 2, 3
_CLASSES = bytes(
    (byte in b"{[") * _OPENS
    | (byte in b"}]" or byte <= _BLANK) * _ENDS
    | (byte not in _STRUCTURE) << _TOKEN
    for byte in range(256)
)

#: How many bytes are worked on at a time: a multiple of 64.
_STEP = 1 << 18

#: How many values are worked on at a time.
_VALUES = 1 << 14

#: How many blanks between a key and its colon, or in an empty list, are skipped one by one.
_BLANKS = 64

#: True for bytes that may begin a value of which the kind says all (``null``, say).
_MAY_BE_FIXED = bytes(byte in {fixed[0] for fixed in FIXED.values()} for byte in range(256))

_IS_BLANK = {
    blanks: np.isin(np.arange(256), np.frombuffer(blanks, np.uint8))
    for blanks in (b" \t", b" \t\r\n")
}


class Leaves(NamedTuple):
    """The values of a text, in order, and the gaps before them.

    ``starts``, ``ends``: where each value stands, without the quotes of strings (nothing for those
    of which the kind says all); ``kinds``: its kind. ``gap_starts``, ``gap_ends``: where the gap
    before it stands: up to the quote that opens a string, from behind the quote that closes one.
    ``gap``: a number for the text of the gap and the kind of the value together; ``firsts``: for
    each such number the index of the first value that has it. ``stop``: where the last value ends,
    with its quote.
    """

    starts: Positions
    ends: Positions
    kinds: NDArray[np.uint8]
    gap_starts: Positions
    gap_ends: Positions
    gap: NDArray[np.int32]
    firsts: Positions
    stop: int


class JsonTokens(NamedTuple):
    """The tokens of a text: where each stands, with its quotes, and whether it is a key.

    ``padded``: the text, with zeros behind it.
    """

    padded: Bytes
    starts: Positions
    ends: Positions
    is_key: NDArray[np.bool_]


class Marked(NamedTuple):
    """Which bytes of a text are of tokens (``tokens``), and which of values (``values``): integers
    with a bit for each byte, the first byte the highest bit.

    ``padded``: the text, of ``size`` bytes, with zeros behind it.
    """

    padded: Bytes
    size: int
    tokens: int
    values: int


def marked(data: bytes) -> Marked:
    """Mark the bytes of tokens in ``data``: a token is a string, an empty list or map, or a run of
    bytes that are neither white space nor structure.
    """
    padded = np.frombuffer(data + bytes(PADDING), np.uint8)
    text = data
    if b"\\" in data and _has_pair(padded, ord("\\"), _QUOTE):
        # Pairs of backslashes go first, from the left: then one before a quote escapes it.
        text = data.replace(b"\\\\", b"__").replace(b'\\"', b"__")
    marks = np.empty(len(data), np.uint8)
    is_open = _mark_strings(text, marks)
    if _record_inside(text, marks):
        text = _closed_in_lines(text)
        is_open = _mark_strings(text, marks)
    if is_open:
        marks[text.rfind(b'"') :] = 0
    may_be_empty = []
    for part in _steps(len(text)):
        classes = np.frombuffer(text[part.start : part.stop + 1].translate(_CLASSES), np.uint8)
        marks[part] |= classes[:_STEP] >> _TOKEN
        # Where an opening bracket is followed at once by a closing one, or by a blank.
        opens = (classes[:-1] & (classes[1:] >> 1)).view(np.bool_)
        if opens.any():
            may_be_empty.append(np.flatnonzero(opens) + part.start)
    _mark_empty(padded, marks, np.concatenate([np.zeros(0, np.int64), *may_be_empty]))
    if data.startswith(BOM_UTF8):
        marks[: len(BOM_UTF8)] = 0
    bits = _bits((marks[part] for part in _steps(len(marks))), len(marks))
    return Marked(padded, len(data), bits, _without_keys(data, bits))


def _bits(parts: Iterable[NDArray[Any]], size: int) -> int:
    """``size`` marks, which come in ``parts``, as the bits of one integer, the first one the
    highest: shifting and adding all of them at once is fast.

    Each part but the last has a multiple of eight marks.
    """
    packed = b"".join([np.packbits(part).tobytes() for part in parts])
    return int.from_bytes(packed, "big") >> (-size % 8)


def _without_keys(data: bytes, bits: int) -> int:
    """``bits``, which mark tokens, without those of keys:
    of tokens with a colon behind them, or blanks and a colon."""
    size = len(data)
    array = np.frombuffer(data, np.uint8)
    behind = _bits((array[part] == _COLON for part in _steps(size)), size)
    behind ^= behind & bits
    if behind << 1 != bits & (behind << 1) and any(
        _has_pair(array, blank, _COLON) for blank in b" \t"
    ):
        blank = _bits((_IS_BLANK[b" \t"][array[part]] for part in _steps(size)), size)
        blank ^= blank & bits
        for _ in range(_BLANKS):
            more = (behind << 1) & blank
            if more | behind == behind:
                break
            behind |= more
    # To add a one at the last bit of a run of ones turns all of the run to zeros, by the carry.
    return bits & (bits + (bits & (behind << 1)))


def _has_pair(text: Bytes, first: int, second: int) -> bool:
    """Whether ``second`` stands right behind ``first`` anywhere; faster than searching for both."""
    parts = (text[part] for part in _steps(len(text), 1))
    return any(((part[:-1] == first) & (part[1:] == second)).any() for part in parts)


def tokens(found: Marked) -> JsonTokens:
    """All tokens of the text: values and keys."""
    starts, ends = _runs(found.tokens, found.size)
    firsts, _ = _runs(found.values, found.size)
    is_key = np.ones(len(starts), np.bool_)
    is_key[np.searchsorted(starts, firsts)] = False
    return JsonTokens(found.padded, starts, ends, is_key)


def _runs(bits: int, size: int) -> tuple[Positions, Positions]:
    """Where each run of ones starts and ends in ``bits``, an integer of ``size`` bits."""
    bits <<= 1
    turns = (bits ^ bits >> 1) << (-(size + 1) % 8)
    packed = np.frombuffer(turns.to_bytes(size // 8 + 1, "big"), np.uint8)
    found = [np.zeros(0, np.int32)]
    for first in range(0, len(packed), _STEP // 8):
        edges = np.flatnonzero(np.unpackbits(packed[first : first + _STEP // 8]).view(np.bool_))
        edges += 8 * first
        found.append(edges.astype(np.int32))
    edges = np.concatenate(found)
    return edges[0::2].copy(), edges[1::2].copy()


def _steps(size: int, more: int = 0) -> Iterator[slice]:
    """Slices of ``_STEP`` bytes that together are ``size`` bytes; so many fit the processor's
    cache.

    ``more``: each slice also has so many bytes of the next one.
    """
    return (slice(first, first + _STEP + more) for first in range(0, size, _STEP))


def _mark_strings(text: bytes, marks: Bytes) -> bool:
    """Set ``marks``: 1 for each byte of a string, from the quote that opens it up to the byte
    before the quote that closes it, 0 for all others. True if the last string is not closed.
    """
    array = np.frombuffer(text, np.uint8)
    odd = np.zeros(1, np.uint64)
    for part in _steps(len(text)):
        quotes = array[part] == _QUOTE
        words = _odd_so_far(quotes, odd)
        marks[part] = np.unpackbits(words.view(np.uint8), count=len(quotes), bitorder="little")
        odd = words[-1:] >> np.uint64(63)
    return bool(len(marks) and marks[-1])


def _record_inside(text: bytes, marks: Bytes) -> bool:
    """Whether a line that begins as a record does stands within what is marked as a string."""
    array = np.frombuffer(text, np.uint8)
    for part in _steps(len(text)):
        inside = (array[part] == _NEWLINE) & marks[part].view(np.bool_)
        if inside.any():
            behind = np.minimum(np.flatnonzero(inside) + part.start + 1, len(text) - 1)
            if (array[behind] | 0x20 == _OPENING).any():
                return True
    return False


def _closed_in_lines(text: bytes) -> bytes:
    """``text``, but where a line begins as a record does while a string is open, the quote that
    opened it is replaced.

    A line that was cut off has such a string: all behind it would be taken inside out.
    """
    array = np.frombuffer(text, np.uint8).copy()
    lines = np.flatnonzero((array[:-1] == _NEWLINE) & (array[1:] | 0x20 == _OPENING))
    quotes = np.flatnonzero(array == _QUOTE)
    last = np.flatnonzero(np.diff(np.searchsorted(lines, quotes), append=-1))
    odd = np.diff(last, prepend=-1) & 1 == 1
    array[quotes[last[odd]]] = _NO_QUOTE
    return array.tobytes()


def _odd_so_far(marks: NDArray[np.bool_], before: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """For each of ``marks`` a bit, the first one the lowest: whether the number of true ones up to
    and with it is odd. ``before``: 1 if the number before the first one was odd, else 0.

    Sixty-four places at a time (Langdale and Lemire, "Parsing gigabytes of JSON per second",
    2019, whose multiplication without carry are these six steps).
    """
    packed = np.packbits(marks, bitorder="little")
    words = np.zeros(-(-len(packed) // 8), "<u8")
    words.view(np.uint8)[: len(packed)] = packed
    for step in (1, 2, 4, 8, 16, 32):
        words ^= words << np.uint64(step)
    # A word with an odd number of marks inverts all bits of the words behind it.
    odd = np.bitwise_xor.accumulate(words >> np.uint64(63)) ^ before
    words[1:] ^= np.uint64(0) - odd[:-1]
    words[:1] ^= np.uint64(0) - before
    return words


def _mark_empty(padded: Bytes, marks: Bytes, openings: Positions) -> None:
    """Set ``marks`` for empty lists and maps, each of which is a token. ``openings``: where
    brackets stand that a closing one, or a blank, follows."""
    # In ASCII the code of a closing bracket is that of the opening one plus 2.
    places, after = _behind_blanks(padded, openings)
    empty = after == padded[openings] + 2
    for start, end in zip(openings[empty].tolist(), (places[empty] + 1).tolist(), strict=True):
        marks[start:end] = 1


def _behind_blanks(padded: Bytes, places: Positions) -> tuple[Positions, Bytes]:
    """For each of ``places`` the first place behind it that is not blank (after ``_BLANKS`` blanks
    it is given up), and the byte that stands there."""
    is_blank = _IS_BLANK[b" \t\r\n"]
    places = places + 1
    after = padded[places]
    blank = after <= _BLANK
    if not blank.any():
        return places, after
    left = np.flatnonzero(blank)
    left = left[is_blank[after[left]]]
    for _ in range(_BLANKS):
        if not len(left):
            break
        places[left] = np.minimum(places[left] + 1, len(padded) - 1)
        after[left] = padded[places[left]]
        left = left[is_blank[after[left]]]
    return places, after


def values(found: Marked) -> Leaves:
    """The values of the text; no keys."""
    return _leaves(found.padded, *_runs(found.values, found.size), None)


def values_and_keys(found: JsonTokens, data_keys: NDArray[np.bool_]) -> Leaves:
    """The values of the text, and those keys that ``data_keys`` marks among the tokens."""
    is_value = data_keys | ~found.is_key
    starts, ends = found.starts[is_value], found.ends[is_value]
    return _leaves(found.padded, starts, ends, data_keys[is_value])


def _leaves(
    padded: Bytes, starts: Positions, ends: Positions, data_keys: NDArray[np.bool_] | None
) -> Leaves:
    """The leaves that stand at these places, quotes included.
    ``data_keys``: which of them are keys; None: none."""
    parts = [slice(first, first + _VALUES) for first in range(0, len(starts), _VALUES)]
    kinds = np.concatenate(
        [np.zeros(0, np.uint8), *(_kinds(padded, starts[at], ends[at]) for at in parts)]
    )
    if data_keys is not None:
        kinds[data_keys] = KEY
    gap_starts = np.zeros_like(ends)
    gap_starts[1:] = ends[:-1]
    gap, firsts = tell_apart(padded, gap_starts, starts - gap_starts, kinds)
    quoted = (kinds == STRING) | (kinds == KEY)
    fixed = kinds > SCALAR
    fixed &= kinds != KEY
    values = np.where(fixed, starts, ends - quoted)
    stop = int(ends[-1]) if len(ends) else 0
    return Leaves(starts + quoted, values, kinds, gap_starts, starts, gap, firsts, stop)


def _kinds(padded: Bytes, starts: Positions, ends: Positions) -> NDArray[np.uint8]:
    """The kind of each value; keys are not known here, and count as strings."""
    starts, ends = starts.astype(np.int64), ends.astype(np.int64)
    first = padded.take(starts)
    strings = first == _QUOTE
    strings &= padded.take(ends - 1) == _QUOTE
    strings &= ends - starts >= 2
    # STRING is SCALAR - 1: to subtract is faster than ``np.where``.
    kinds: NDArray[np.uint8] = np.uint8(SCALAR) - strings.view(np.uint8)
    others = np.flatnonzero(np.frombuffer(first.tobytes().translate(_MAY_BE_FIXED), np.bool_))
    for kind, fixed in FIXED.items():
        some = others[first[others] == fixed[0]]
        if len(some):
            at = starts[some]
            same = ends[some] - at == len(fixed)
            for place in range(1, len(fixed)):
                # Values that are shorter were sorted out above: what is read behind them does not
                # matter.
                same &= padded[np.minimum(at + place, len(padded) - 1)] == fixed[place]
            kinds[some[same]] = kind
    return kinds


def keys_as_data(found: JsonTokens, given: Leaves, least: int) -> NDArray[np.bool_] | None:
    """Which of the tokens are keys that occur fewer than ``least`` times, and so are data; None
    where no key is.

    ``given``: the values of the same text without keys; only keys in rare gaps are looked at.
    """
    is_value = ~found.is_key
    # For each token the index of the next value. Keys behind the last value are left in the
    # trailer.
    behind: Positions = np.cumsum(is_value, dtype=np.int32) - is_value
    counts = np.bincount(given.gap, minlength=len(given.firsts))
    rare = counts[given.gap] < least
    looked_at = rare.copy()
    looked_at[given.firsts] = True
    keys = np.flatnonzero(found.is_key & (behind < len(rare)))
    keys = keys[looked_at[behind[keys]]]
    if not len(keys):
        return None
    starts, ends = found.starts[keys], found.ends[keys]
    number, _ = tell_apart(found.padded, starts, ends - starts, np.zeros(len(keys), np.uint8))
    value: Positions = behind[keys]
    often = np.where(rare[value], 1, counts[given.gap[value]])
    total = np.bincount(number, weights=often)
    quoted = (found.padded[starts] == _QUOTE) & (found.padded[ends - 1] == _QUOTE)
    quoted &= ends - starts >= 2
    chosen = keys[(total[number] < least) & rare[value] & quoted]
    if not len(chosen):
        return None
    data_keys = np.zeros(len(found.is_key), bool)
    data_keys[chosen] = True
    return data_keys
