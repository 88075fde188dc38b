"""Patterns: values that have the same kinds of tokens in the same order.

The pattern of ``97 Davis Street, Jamesville, 61093`` is ``0 a a, a, 0``: 0 stands for a run of
digits, a for one of letters. Of all values of a pattern the first runs are a column, the second
ones another, and so on. What ``bulk.tokens`` calls a shape is a pattern here.

    v: the number of patterns; of each v, bytes: its tokens (``0`` digits, ``a`` letters, or a byte
    as it is); codes: which pattern each value has; for each pattern a column for each of its runs
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.groups import estimate_distinct, group
from serialpack.columns.bulk.pieces import join, slices
from serialpack.columns.bulk.tokens import DIGITS, LETTERS, TextTokens, tokens
from serialpack.columns.encodings.numbers import read_codes, write_codes
from serialpack.columns.stored.coding import Coded, Context, Fit, head, joined
from serialpack.columns.stored.source import ColumnSource
from serialpack.columns.stored.wire import counted
from serialpack.columns.texts import Broken, Texts

NUMBER = 14

#: The most patterns of a column; each has at least this share and this number of the values. Values
#: of other patterns are exceptions.
_MOST = 32
_SHARE = 1 / 64
_LEAST = 4

#: The most tokens of a pattern.
LONGEST = 48

#: The most tokens of all patterns of a sample together: with more they do not pay. The bits that
#: they take are estimated from the commonest ``_LOOK`` of them.
_SURVEYED = 100
_LOOK = 3

_RUNS = (DIGITS, LETTERS)

#: Bits that a digit takes, and a letter, where nothing else is known of them.
_DIGIT = math.log2(10)
_LETTER = 4.7

#: A dictionary for a run may pay where at most this share of its values differ.
_UNIQUE = 0.7


class PatternSurvey(NamedTuple):
    """How well patterns may suit a column, estimate_distinct from a sample."""

    share: float
    """The share of the values that the commonest patterns have."""
    tokens: float
    """How many tokens a value has, on average."""
    bits: float
    """About how many bits a value takes, on average; 0.0 where patterns are of no use."""


def survey(texts: Texts, number: int) -> PatternSurvey:
    """Estimate how well patterns suit a column of ``number`` values,
    of which ``texts`` is a sample."""
    if not len(texts.data):
        return PatternSurvey(0.0, 0.0, 0.0)
    found = tokens(texts)
    groups = group(found.shapes)
    counts = np.bincount(groups.codes)
    kept = np.argsort(-counts, kind="stable")[:_MOST]
    kept = kept[counts[kept] >= _SHARE * texts.number]
    share = float(counts[kept].sum() / texts.number)
    mean = len(found.starts) / texts.number
    sizes = found.shapes.lengths[groups.examples[kept]]
    if not len(kept) or not 1 < mean <= LONGEST or int(sizes.sum()) > _SURVEYED:
        return PatternSurvey(0.0, mean, 0.0)
    # The bits that say which pattern a value has; to which those for its runs are added.
    parts = counts / texts.number
    bits = float(-(parts * np.log2(parts)).sum())
    some = kept[:_LOOK]
    for pattern in some.tolist():
        rows = found.firsts[groups.codes == pattern]
        example = int(groups.examples[pattern])
        shape = found.shapes.data[found.shapes.starts[example] : found.shapes.ends[example]]
        part = float(counts[pattern] / counts[some].sum())
        bits += part * _bits(texts, found, rows, shape, number * part)
    return PatternSurvey(share, mean, bits)


def _bits(
    texts: Texts,
    found: TextTokens,
    rows: NDArray[np.int64],
    shape: NDArray[np.uint8],
    number: float,
) -> float:
    """About how many bits the runs of a value of one pattern take, on average.

    ``rows``: for each value of the pattern in the sample the index of its first token in ``found``;
    ``shape``: the pattern; ``number``: about how many values of the column have it.
    """
    bits = 0.0
    for step in np.flatnonzero((shape == DIGITS) | (shape == LETTERS)):
        token = rows + step
        values = slices(texts.data, found.starts[token], found.lengths[token]).to_list()
        seen = estimate_distinct(len(values), len(set(values)), round(number))
        each = _DIGIT if shape[step] == DIGITS else _LETTER
        size = sum(map(len, values)) / len(values) * each
        if seen < _UNIQUE * number:
            # As a dictionary: each different run once, and a code for each value.
            size = min(size, math.log2(seen) + size * seen / number)
        bits += size
    return bits


def encode(texts: Texts, to: Context) -> Fit | None:
    """Takes the values of the commonest patterns."""
    number = texts.number
    if not number or not len(texts.data):
        return None
    found = tokens(texts)
    groups = group(found.shapes)
    counts = np.bincount(groups.codes)
    shapes = slices(
        found.shapes.data,
        found.shapes.starts[groups.examples],
        found.shapes.lengths[groups.examples],
    ).to_list()
    ranked = sorted(range(len(shapes)), key=lambda at: (-counts[at], shapes[at]))
    least = max(_SHARE * number, min(_LEAST, number / 2))
    kept = [at for at in ranked[:_MOST] if counts[at] >= least and len(shapes[at]) <= LONGEST]
    if not any(set(_RUNS) & set(shapes[at]) for at in kept):
        return None
    parts: list[Coded] = []
    place = np.full(len(shapes), len(kept))
    for rank, at in enumerate(kept):
        place[at] = rank
        rows = np.flatnonzero(groups.codes == at)
        first = found.firsts[rows]
        for step, byte in enumerate(shapes[at]):
            if byte in _RUNS:
                token = first + step
                part = slices(texts.data, found.starts[token], found.lengths[token])
                parts.append(to.column(part, run=True))
    codes = place[groups.codes]
    misfits = codes == len(kept)
    which = write_codes(codes[~misfits], len(kept), to.use)
    described = b"".join(counted(shapes[at]) for at in kept)
    coded = joined(head(NUMBER, len(kept)) + described, (which, *parts))
    return Fit(coded, misfits if misfits.any() else None)


def decode(source: ColumnSource, number: int, limit: int) -> Texts:
    """The values, made pattern by pattern, in their order; see ``Decoder``."""
    shapes = [source.counted() for _ in range(source.varint(_MOST))]
    codes = read_codes(source, len(shapes), number)
    groups = []
    for rank, shape in enumerate(shapes):
        count = int(np.count_nonzero(codes == rank))
        if len(shape) > LONGEST or len(shape) * count > limit:
            raise Broken("values longer than promised")
        parts: list[Texts | bytes] = [
            source.column(count, limit) if byte in _RUNS else bytes([byte]) for byte in shape
        ]
        source.spend(9 * len(shape) * count)
        groups.append(join(parts, count))
    if len(groups) == 1:
        return groups[0]
    if sum(len(group.data) for group in groups) > limit:
        raise Broken("a column holds more than was promised")
    if not groups:
        return Texts(np.zeros(0, np.uint8), np.zeros(number, np.int64))
    together = Texts.from_lengths(
        np.concatenate([group.data for group in groups]),
        np.concatenate([group.lengths for group in groups]),
    )
    order = np.empty(number, np.int64)
    order[np.argsort(codes, kind="stable")] = np.arange(number)
    return slices(together.data, together.starts[order], together.lengths[order])
