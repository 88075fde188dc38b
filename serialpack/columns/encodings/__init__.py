"""The encodings of columns, by their numbers, which are for ever.

Enter at ``ENCODINGS``. Each encoding has a file: it makes streams of a column's texts, or says that
it cannot, and makes the texts of the streams again. ``choose`` finds which one suits a column,
``pieces`` has the steps that they share. Layouts: man/spk-columns.5.

- fit: what an encoding makes of a column, if it suits
- sample: some values of a column, on which the choice is made
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

    ``encode``: encodes the values of a column that it can hold, or gives None if it can hold none.
    It is None for encodings that need more than the column (``exceptions`` and ``reference``).
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
