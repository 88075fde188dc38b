"""Chooses the encoding of a column: by rules on a sample, and where these leave several, by trial.

``encode_column`` is the whole of it. It is called for the parts of columns, too, by the encodings
that make parts (``Context.column``). The constants below were found by trying them on real data;
none of them is stored, and another choice would be read as well.
"""

from __future__ import annotations

import math
import re
from functools import cached_property

import numpy as np

from serialpack.columns.bulk.groups import estimate_distinct, group
from serialpack.columns.bulk.pieces import common_length, sample, separated
from serialpack.columns.encodings import ENCODINGS, dictionary, exceptions, fixed, patterns
from serialpack.columns.encodings.constant import is_constant
from serialpack.columns.stored.coding import Coded, Context
from serialpack.columns.stored.streams import zstd
from serialpack.columns.texts import Texts

#: The size of the sample that the rules look at, in values and in bytes.
_LOOK = 512
_LOOK_BYTES = 32 << 10

#: The size of the sample that candidates are tried on, in values and in bytes. On a column up to
#: twice as large they are tried as a whole.
_TRIAL = 1024
_TRIAL_BYTES = 128 << 10

#: Columns of fewer values stay plain: they share a frame with other small ones.
_FEW = 4

#: Encodings nest at most this deep: deeper parts are plain.
_DEEP = 9

#: A constant longer than this is rather compressed, as plain, than written into a description.
_LONG = 64

#: The least share of values that must fit for an encoding to be tried.
_FITS = 0.6

#: Where at most this share of the values differ (``_REPEATS``) a dictionary is sure to pay; above
#: ``_UNIQUE`` it is not tried.
_REPEATS = 0.15
_UNIQUE = 0.7

#: A candidate that in a trial takes less than this share of what plain takes is taken.
_CLEAR = 0.8

#: Patterns are taken without a trial where at least this share of the values have common ones.
_SURE = 0.95

#: Candidates that in a trial take at most so many times the size of the best are compared on the
#: whole column. Prose gets more: its dictionary weighs more in a trial than in the whole.
_HOPE = 1.15
_HOPE_PROSE = 1.4

#: Candidates that take at most so many times the size of the smallest are compared once more, as
#: they will be compressed in the end (``Coded.last_size``).
_CLOSE = 1.1

#: Values with more words than this on average may be prose.
_PHRASE = 1.5

#: What values look like that an encoding takes; some are less strict than the encoding.
_INTEGER = re.compile(rb"^-?(?:0|[1-9][0-9]{0,17})$", re.MULTILINE)
_DECIMAL = re.compile(rb"^-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?$", re.MULTILINE)
_FLOAT = re.compile(rb"^-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?$", re.MULTILINE | re.IGNORECASE)
_DIGITS = re.compile(rb"^[0-9]{2,18}$", re.MULTILINE)
_BASE64 = re.compile(rb"^(?:[A-Za-z0-9+/]{8,}|[A-Za-z0-9_-]{8,})={0,2}$", re.MULTILINE)
_WORD = re.compile(rb"[A-Za-z0-9\x80-\xff]+")

#: Columns of fewer bytes are not cut into parts, which would cost more than they save.
_LITTLE = 1024

#: ``letters`` is tried where values have up to so many different bytes (with the line feed between
#: them), and are so long on average.
_LETTERS = 33
_LONG_LETTERS = 8

#: Patterns are not tried where values are longer than this on average.
_PATTERN = 128

_LINE_FEED = 10
_DIGIT = b"0123456789"
_NUMERIC = b"-0123456789"

#: Entries of up to this length on average are words: only plain and front are tried.
_SIMPLE = 12

#: Decimals of that length on average, or longer, are tried as doubles too.
_FLOAT_DIGITS = 13


class ColumnLook:
    """A sample of a column, and what can be told from it;
    each fact is worked out when it is first asked for."""

    def __init__(self, texts: Texts) -> None:
        self.texts = sample(texts, _LOOK, _LOOK_BYTES)

    @cached_property
    def values(self) -> list[bytes]:
        """The values of the sample."""
        return self.texts.to_list()

    @cached_property
    def joined(self) -> bytes:
        """The values, with a line feed between each two."""
        return separated(self.texts, _LINE_FEED)[:-1].tobytes()

    @cached_property
    def different(self) -> int:
        """How many different values the sample has."""
        return len(set(self.values))

    @property
    def number(self) -> int:
        """How many values the sample has."""
        return self.texts.number

    @property
    def mean(self) -> float:
        """The mean length of a value in bytes."""
        return len(self.texts.data) / self.texts.number


def encode_column(texts: Texts, to: Context) -> Coded:
    """``texts`` in the encoding that takes the fewest bytes, as far as that was found out."""
    if not texts.number or to.depth >= _DEEP:
        return _as("plain", texts, to)
    if texts.ends[0] <= _LONG and (texts.number > 1 or not texts.ends[0]) and is_constant(texts):
        return _as("constant", texts, to)
    if texts.number < _FEW:
        return _as("plain", texts, to)
    if to.run:
        return _encode_runs(texts, to)
    if to.entries and texts.data[0] not in _NUMERIC:
        coded = attempt("affix", texts, to) or attempt("capitals", texts, to)
        if coded is not None:
            return coded
    look = ColumnLook(texts)
    numeric = _numeric(look)
    if numeric is not None:
        return _smallest(numeric, texts, to)
    if to.entries:
        return _encode_entries(look, texts, to)
    return _smallest(_candidates(look, texts, to), texts, to)


def _as(name: str, texts: Texts, to: Context) -> Coded:
    """``texts`` in an encoding that is known to hold them."""
    coded = attempt(name, texts, to)
    assert coded is not None, "plain takes anything"
    return coded


def attempt(name: str, texts: Texts, to: Context) -> Coded | None:
    """``texts`` in the encoding ``name``, where needed with the values that do not fit as
    exceptions.

    None where no value fits; within another encoding, where fewer than half do.
    """
    encode = ENCODINGS[name].encode
    assert encode is not None
    fit = encode(texts, to)
    if fit is None:
        return None
    if fit.misfits is not None and to.depth and np.count_nonzero(fit.misfits) * 2 > texts.number:
        return None
    return exceptions.encode(texts, fit, to)


def _encode_runs(texts: Texts, to: Context) -> Coded:
    """``texts``, which are runs: as numbers if they are digits,
    else as a dictionary where they repeat."""
    if _DIGIT[0] <= int(texts.data.min()) and int(texts.data.max()) <= _DIGIT[-1]:
        name = "integer" if common_length(texts) is None else "digits"
        return attempt(name, texts, to) or _as("plain", texts, to)
    groups = group(texts)
    if len(groups.examples) > _UNIQUE * texts.number:
        return _as("plain", texts, to)
    return dictionary.encode_groups(texts, groups, to).coded


def _encode_entries(look: ColumnLook, texts: Texts, to: Context) -> Coded:
    """``texts``, which are entries: they are sorted,
    so that neighbours begin alike, and none repeats."""
    names = ["plain", "front"]
    if look.mean > _SIMPLE or texts.data[0] in _NUMERIC:
        names += [
            name for name in _candidates(look, texts, to) if name not in ("plain", "dictionary")
        ]
    return _smallest(names, texts, to)


def _candidates(look: ColumnLook, texts: Texts, to: Context) -> list[str]:
    """The names of the encodings that may suit values that are no numbers;
    a single one where that is sure to."""
    number = look.number
    share = (
        1.0
        if to.entries
        else estimate_distinct(number, look.different, texts.number) / texts.number
    )
    if share < _REPEATS:
        # Few values differ, but these may be the long ones, which are most of the bytes.
        weight = share * sum(map(len, set(look.values))) / look.different
        # A sample of empty values says nothing of the length of the others.
        sure = weight < _REPEATS * look.mean and texts.number > _LOOK
        return ["dictionary"] if sure else ["dictionary", "plain", "prose"]
    repeats = ["dictionary"] if share < _UNIQUE else []
    width = len(look.values[0])
    alike = sum(map(width.__eq__, map(len, look.values)))
    fits_shape = 0 < width <= fixed.LONGEST and alike >= _FITS * number
    if fits_shape and alike == number and fixed.letterless(look.texts):
        return ["fixed", *repeats]
    names = ["plain", *repeats]
    if len(texts.data) < _LITTLE:
        return names
    if fits_shape:
        names.append("fixed")
    words = len(_WORD.findall(look.joined)) / number
    if look.mean >= _LONG_LETTERS and words < 2:
        signs = len(set(look.joined))
        if signs <= _LETTERS:
            names.append("letters")
        elif len(_BASE64.findall(look.joined)) >= _FITS * number:
            return ["plain", *repeats, "base64"]
    if words > _PHRASE and not to.entries:
        names.append("prose")
    if words >= 1 and look.mean <= _PATTERN:
        survey = patterns.survey(look.texts, texts.number)
        if survey.share >= _FITS and survey.tokens > 1:
            alone = 8 * len(zstd(look.joined, 1)) / number
            sure = survey.share >= _SURE and survey.bits <= _CLEAR * alone
            if sure and not to.use.thorough:
                if texts.number > 2 * _TRIAL:
                    return ["patterns", *repeats]
                names = [name for name in names if name != "prose"]
            if survey.bits <= _HOPE * alone:
                names.append("patterns")
    return names


def _numeric(look: ColumnLook) -> list[str] | None:
    """The names of the encodings that may suit values that mostly are numbers;
    None where they are not."""
    least = _FITS * look.number
    starts = np.bincount(look.texts.data[look.texts.starts[look.texts.lengths > 0]], minlength=256)
    if starts[list(_NUMERIC)].sum() < least:
        return None
    if len(_FLOAT.findall(look.joined)) < least:
        return None
    if len(_INTEGER.findall(look.joined)) >= min(least * 1.5, look.number):
        return ["integer"]
    decimals = len(_DECIMAL.findall(look.joined))
    if len(_DIGITS.findall(look.joined)) >= least:
        return ["digits", "integer", "plain"]
    if decimals >= least:
        return ["decimal"] if look.mean < _FLOAT_DIGITS else ["decimal", "float"]
    return ["float", "decimal", "patterns", "plain"]


def _smallest(names: list[str], texts: Texts, to: Context) -> Coded:
    """``texts`` in the one of the encodings ``names`` that takes the fewest bytes."""
    if len(names) > 1 and not to.use.thorough:
        if texts.number > 2 * _TRIAL:
            names = _promising(names, texts, to)
        elif len(texts.data) > 2 * _TRIAL_BYTES:
            # A sample of few long values hardly has any of them twice, as the whole may.
            repeats = ["dictionary"] if "dictionary" in names else []
            names = list(dict.fromkeys(_promising(names, texts, to) + repeats))
    all_coded = [coded for name in names if (coded := attempt(name, texts, to)) is not None]
    if not all_coded:
        return _as("plain", texts, to)
    least = min(coded.size for coded in all_coded)
    close = [coded for coded in all_coded if coded.size <= _CLOSE * least]
    if len(close) == 1:
        return close[0]
    return min(close, key=lambda coded: coded.last_size(to.use))


def _promising(names: list[str], texts: Texts, to: Context) -> list[str]:
    """Those of ``names`` that do best on a sample: the best alone where it is clearly better than
    plain, with what may still catch up; else all that are close to it."""
    part = sample(texts, _TRIAL, _TRIAL_BYTES)
    sizes = {name: coded.size for name in names if (coded := attempt(name, part, to)) is not None}
    if not sizes:
        return ["plain"]
    best = min(sizes, key=sizes.__getitem__)
    plain = sizes.get("plain", math.inf)
    hopeful = "dictionary", "prose"
    if best not in hopeful and sizes[best] < _CLEAR * plain:
        return [best, *(name for name in hopeful if sizes.get(name, math.inf) < plain)]
    return [
        name
        for name, size in sizes.items()
        if size <= (_HOPE_PROSE if name == "prose" else _HOPE) * sizes[best]
    ]
