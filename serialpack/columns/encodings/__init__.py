"""The encodings: each makes a column small in one way, and the column again.

Enter at ``choose.encode_column`` to encode a column in what suits it, at ``DECODERS`` to decode
one. Each encoding has a module, whose docstring is its layout, as in man/spk-columns.5. By what
suits them:

- any texts: ``plain`` (as they are), ``dictionary``, ``constant``
- numbers: ``integer`` (and digits with zeros before them), ``decimal``, ``floating``
- texts that are built alike: ``fixed`` (one length), ``patterns`` (runs of digits and letters),
  ``affix`` (a common start or end; capitals), ``front`` (sorted), ``letters`` (a small alphabet),
  ``base64``, ``prose`` (words)
- around others: ``exceptions`` (the values that do not fit), ``reference`` (to an earlier column)

``choose`` finds what suits a column, ``related`` finds columns that follow from an earlier one, and
``numbers`` stores arrays of integers for all of them.

- fit: what an encoding makes of a column, with the values that it cannot hold (misfits)
- run: a part of each value that an encoding cut out, all of digits, say: a column of its own
- entries: the different values of a column, as a dictionary has them: each once, and sorted
- sample: some values of a column, by which the choice is made
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from serialpack.columns.encodings import (
    affix,
    base64,
    constant,
    decimal,
    dictionary,
    exceptions,
    fixed,
    floating,
    front,
    integer,
    letters,
    patterns,
    plain,
    prose,
    reference,
)
from serialpack.columns.stored.coding import Context, Fit
from serialpack.columns.stored.source import Decoder
from serialpack.columns.texts import Texts


class Encoding(NamedTuple):
    """One way to write a column.

    ``number``: stored, and so the same for ever. ``decode``: see ``Decoder``. ``encode``: encodes
    the values of a column that it can hold; gives None where it can hold none. It is None for those
    that need more than the column (``exceptions``, ``reference``).
    """

    number: int
    name: str
    decode: Decoder
    encode: Callable[[Texts, Context], Fit | None] | None = None


_ALL = (
    Encoding(plain.NUMBER, "plain", plain.decode, plain.encode),
    Encoding(constant.NUMBER, "constant", constant.decode, constant.encode),
    Encoding(dictionary.NUMBER, "dictionary", dictionary.decode, dictionary.encode),
    Encoding(integer.NUMBER, "integer", integer.decode, integer.encode),
    Encoding(integer.DIGITS_NUMBER, "digits", integer.decode_digits, integer.encode_digits),
    Encoding(decimal.NUMBER, "decimal", decimal.decode, decimal.encode),
    Encoding(exceptions.NUMBER, "exceptions", exceptions.decode),
    Encoding(floating.NUMBER, "float", floating.decode, floating.encode),
    Encoding(fixed.NUMBER, "fixed", fixed.decode, fixed.encode),
    Encoding(letters.NUMBER, "letters", letters.decode, letters.encode),
    Encoding(affix.NUMBER, "affix", affix.decode, affix.encode),
    Encoding(affix.CAPITALS_NUMBER, "capitals", affix.decode_capitals, affix.encode_capitals),
    Encoding(front.NUMBER, "front", front.decode, front.encode),
    Encoding(base64.NUMBER, "base64", base64.decode, base64.encode),
    Encoding(patterns.NUMBER, "patterns", patterns.decode, patterns.encode),
    Encoding(prose.NUMBER, "prose", prose.decode, prose.encode),
    Encoding(reference.NUMBER, "reference", reference.decode),
    Encoding(reference.FOLLOWS_NUMBER, "follows", reference.decode_follows),
)

ENCODINGS: Mapping[str, Encoding] = {encoding.name: encoding for encoding in _ALL}
NAMES: Mapping[int, str] = {encoding.number: encoding.name for encoding in _ALL}
DECODERS: Mapping[int, Decoder] = {encoding.number: encoding.decode for encoding in _ALL}
