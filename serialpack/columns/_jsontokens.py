"""The tokens of JSON text, with NumPy: which bytes are values, and which stand between them.

Nothing is checked: any bytes have tokens, and the bytes between them are whatever they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from serialpack.columns._jsonpaths import BOM
from serialpack.columns._spans import PADDING, Bytes, Positions, tell_apart
from serialpack.columns.nodes import EMPTY_LIST, EMPTY_MAP, FALSE, KEY, NULL, SCALAR, STRING, TRUE

_QUOTE, _COLON, _OPENING = b'":{'

_STRUCTURE = b"{}[],: \t\r\n"

#: 0 for what stands between tokens, 1 for what they are made of.
_CLASSES = bytes(0 if byte in _STRUCTURE else 1 for byte in range(256))

#: As many blanks between a key and its colon, or in an empty list, are looked through.
_BLANKS = 64

_IS_BLANK = {
    blanks: np.isin(np.arange(256), np.frombuffer(blanks, np.uint8))
    for blanks in (b" \t", b" \t\r\n")
}


class Leaves(NamedTuple):
    """The values of a text, in order, and the gaps before them.

    ``gap``: the number of the gap's text together with the value's kind; ``firsts``: for each
    such number the first value that has it. A gap goes up to the value, without the quotes of
    strings: ``gap_starts`` to ``gap_ends``. ``stop``: where the last value ends, with its quote.
    """

    starts: Positions
    ends: Positions
    kinds: NDArray[np.uint8]
    gap_starts: Positions
    gap_ends: Positions
    gap: NDArray[np.int32]
    firsts: Positions
    stop: int


class Tokens(NamedTuple):
    """``padded``: the text and some zeros. Each token's place, and whether it is a key."""

    padded: Bytes
    starts: Positions
    ends: Positions
    is_key: NDArray[np.bool_]


def tokens(data: bytes) -> Tokens:
    """The tokens of ``data``: strings, and runs of what is neither white space nor structure."""
    padded = np.zeros(len(data) + PADDING, np.uint8)
    padded[: len(data)] = np.frombuffer(data, np.uint8)
    text = data
    if b"\\" in data:
        # Pairs of backslashes go first, from the left: then one before a quote escapes it.
        text = data.replace(b"\\\\", b"__").replace(b'\\"', b"__")
    marks = np.zeros(len(data) + 2, np.uint8)
    inner = marks[1:-1]
    # Inside of strings, from the quote that opens one up to the one that closes it.
    inside = _odd_so_far(np.frombuffer(text, np.uint8) == _QUOTE)
    if len(inside) and inside[-1]:
        inside[text.rfind(b'"') :] = 0
    np.bitwise_or(inside, np.frombuffer(text.translate(_CLASSES), np.uint8), out=inner)
    del inside
    _mark_empty(padded, inner)
    if data.startswith(BOM):
        inner[: len(BOM)] = 0
    edges = np.flatnonzero(marks[1:] != marks[:-1]).astype(np.int32)
    starts, ends = edges[0::2], edges[1::2]
    return Tokens(padded, starts, ends, _keys(padded, ends))


def _odd_so_far(marks: NDArray[np.bool_]) -> Bytes:
    """For each place 1 if there are an odd number of ``marks`` up to it, itself included.

    Sixty-four places at a time (Langdale and Lemire, "Parsing gigabytes of JSON per second",
    2019, whose multiplication without carry are these six steps).
    """
    packed = np.packbits(marks, bitorder="little")
    words = np.zeros(-(-len(packed) // 8), "<u8")
    words.view(np.uint8)[: len(packed)] = packed
    for step in (1, 2, 4, 8, 16, 32):
        words ^= words << np.uint64(step)
    # What is odd at the end of a word turns all words behind it.
    odd = np.bitwise_xor.accumulate(words >> np.uint64(63))
    words[1:] ^= np.uint64(0) - odd[:-1]
    return np.unpackbits(words.view(np.uint8), count=len(marks), bitorder="little")


def _mark_empty(padded: Bytes, marks: Bytes) -> None:
    """An empty list or map is a token."""
    # "[" and "{" differ in one bit, and each stands two before what closes it.
    openings = np.flatnonzero((padded[: len(marks)] | 0x20) == _OPENING)
    places, after = _behind_blanks(padded, openings, b" \t\r\n")
    empty = after == padded[openings] + 2
    for start, end in zip(openings[empty].tolist(), (places[empty] + 1).tolist(), strict=True):
        marks[start:end] = 1


def _behind_blanks(padded: Bytes, places: Positions, blanks: bytes) -> tuple[Positions, Bytes]:
    """The first place behind each that is not blank, and what stands there."""
    places = places + 1
    after = padded[places]
    left = np.flatnonzero(_IS_BLANK[blanks][after])
    for _ in range(_BLANKS):
        if not len(left):
            break
        places[left] = np.minimum(places[left] + 1, len(padded) - 1)
        after[left] = padded[places[left]]
        left = left[_IS_BLANK[blanks][after[left]]]
    return places, after


def _keys(padded: Bytes, ends: Positions) -> NDArray[np.bool_]:
    after: NDArray[np.bool_] = _behind_blanks(padded, ends - 1, b" \t")[1] == _COLON
    return after


def leaves(found: Tokens, data_keys: NDArray[np.bool_] | None = None) -> Leaves:
    """The values among the tokens; ``data_keys``: tokens that are keys and values all the same."""
    is_value = ~found.is_key
    starts, ends = found.starts[is_value], found.ends[is_value]
    kinds = _kinds(found.padded, starts, ends)
    if data_keys is not None:
        kinds[data_keys[is_value]] = KEY
    gap_starts = np.zeros_like(ends)
    gap_starts[1:] = ends[:-1]
    gap, firsts = tell_apart(found.padded, gap_starts, starts - gap_starts, kinds)
    quoted = (kinds == STRING) | (kinds == KEY)
    fixed = kinds > SCALAR
    fixed &= kinds != KEY
    values = np.where(fixed, starts, ends - quoted)
    stop = int(ends[-1]) if len(ends) else 0
    return Leaves(starts + quoted, values, kinds, gap_starts, starts, gap, firsts, stop)


def _kinds(padded: Bytes, starts: Positions, ends: Positions) -> NDArray[np.uint8]:
    first = padded[starts]
    kinds = np.full(len(starts), SCALAR, np.uint8)
    strings = first == _QUOTE
    strings &= padded[ends - 1] == _QUOTE
    strings &= ends - starts >= 2
    kinds[strings] = STRING
    for kind, fixed in (
        (NULL, b"null"),
        (TRUE, b"true"),
        (FALSE, b"false"),
        (EMPTY_LIST, b"[]"),
        (EMPTY_MAP, b"{}"),
    ):
        some = np.flatnonzero(first == fixed[0])
        if len(some):
            at = starts[some]
            same = ends[some] - at == len(fixed)
            for place in range(1, len(fixed)):
                # Where it is shorter the next byte is another token's, or padding.
                same &= padded[np.minimum(at + place, len(padded) - 1)] == fixed[place]
            kinds[some[same]] = kind
    return kinds


def keys_as_data(found: Tokens, given: Leaves, least: int) -> NDArray[np.bool_] | None:
    """The keys that stand in the text fewer than ``least`` times: they are values themselves.

    None where there are none.
    """
    is_value = ~found.is_key
    # The value behind each token's gap; those behind the last value are left as they are.
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
