"""Whether two columns of pyarrow's hold the same values, bit for bit."""

from __future__ import annotations

from typing import Any

from serialpack.formats.tables import records as tables


def same_bits(was: Any, became: Any) -> bool:
    """Whether two arrays of one type hold the same values, also every bit of floats; of those with
    dictionaries also the same words in the same order."""
    if tables.arrow().types.is_dictionary(was.type):
        same = was.dictionary.equals(became.dictionary) and was.indices.equals(became.indices)
        return bool(same)
    bits = tables.mapped(was.type, _bits)
    if bits != was.type:  # NaN is not equal to itself, and 0.0 to -0.0
        was, became = was.view(bits), became.view(bits)
    return bool(was.equals(became))


def _bits(kind: Any) -> Any:
    """Of floats, and what is called otherwise, a type that has the same bits."""
    pa = tables.arrow()
    if isinstance(kind, pa.BaseExtensionType):
        return tables.mapped(kind.storage_type, _bits)
    if pa.types.is_floating(kind):
        return {16: pa.int16, 32: pa.int32, 64: pa.int64}[kind.bit_width]()
    return kind
