"""The outline of a message of ``objects``, for people: no array is made, no class is needed."""

from __future__ import annotations

from typing import Any, NamedTuple

from serialpack.depth import MAX_DEPTH, TooDeep
from serialpack.formats.arrays.header import ArrayHeader
from serialpack.formats.msgpack.values import messages
from serialpack.serializers._generics import shown_generic
from serialpack.serializers._own_types import (
    ARRAY,
    ATTRIBUTED,
    COUNTER,
    DATACLASS,
    DEFAULT,
    DEQUE,
    DERIVED,
    ENUM,
    ERROR,
    FROZENSET,
    GENERIC,
    MODEL,
    NAMED_TUPLE,
    ORDERED,
    ROWS,
    SCALAR,
    SET,
    TUPLE,
    value_of,
)
from serialpack.serializers.arrays import (
    MASKED,
    OBJECTS,
    SAME,
    SAME_OBJECT,
    SHOWN,
    descr_of,
    one_of,
)
from serialpack.serializers.of_arrow import ARROW, OF_ARROW
from serialpack.serializers.of_numpy import OF_NUMPY
from serialpack.serializers.of_pandas import FRAME, OF_PANDAS, SAME_INDEX, SERIES
from serialpack.serializers.of_polars import OF_POLARS
from serialpack.serializers.of_pydantic import OF_PYDANTIC
from serialpack.serializers.of_scipy import OF_SCIPY
from serialpack.serializers.of_xarray import OF_XARRAY, shown_xarray
from serialpack.stages.stage import Buffer

#: Extensions, beside arrays, of values that are stored once where an object holds the very same
#: one several times.
COUNTED = frozenset(
    {ARROW, FRAME, SERIES, OF_ARROW, OF_POLARS, MASKED, SHOWN, OBJECTS, OF_NUMPY, OF_SCIPY}
    | {OF_XARRAY, ATTRIBUTED, ERROR}
)
#: For each extension whose values are stored once, the one that refers to an earlier value.
_AGAIN = {ARRAY: SAME, OF_PANDAS: SAME_INDEX, **dict.fromkeys(COUNTED, SAME_OBJECT)}


class Met:
    """The values that a message had so far, for the extensions that refer to them."""

    def __init__(self) -> None:
        self._met: dict[int, list[Any]] = {code: [] for code in _AGAIN.values()}

    def keep(self, code: int, made: Any) -> None:
        """Keep ``made``, the value of an extension ``code``, if others may refer to it."""
        if (again := _AGAIN.get(code)) is not None:
            self._met[again].append(made)

    def stands_for(self, code: int) -> list[Any] | None:
        """The values that an extension ``code`` may refer to; None where it refers to none."""
        return self._met.get(code)


class ObjectOutline(NamedTuple):
    """``value``: plain values, with words for arrays. ``beside``: what each buffer beside the
    message is, in order: the description of an array, or None."""

    value: Any
    beside: list[ArrayHeader | None]


def outline(message: Buffer) -> ObjectOutline:
    """The outline of a message; one of ``FAILURES`` where it is none."""
    reader = _Outliner()
    try:
        (value,) = messages(message, ext_hook=reader)
    except (LookupError, MemoryError, SyntaxError) as error:  # the last two: of a type's name
        raise ValueError(f"no message of an object ({type(error).__name__})") from None
    return ObjectOutline(value, reader.beside)


class _Outliner:
    def __init__(self) -> None:
        self.beside: list[ArrayHeader | None] = []
        self._met = Met()
        self._level = 0

    def __call__(self, code: int, data: bytes) -> Any:
        if self._level >= MAX_DEPTH:
            raise TooDeep
        self._level += 1
        (parts,) = messages(data, ext_hook=self)
        self._level -= 1
        made = self._said(code, parts)
        self._met.keep(code, made)
        return made

    def _said(self, code: int, parts: Any) -> Any:
        if code == ARRAY:
            return self._array(*parts)
        if (met := self._met.stands_for(code)) is not None:
            return one_of(met, *parts)
        if code == ARROW:
            inside, size = parts
            self.beside += [None] if inside is None else []
            return f"table of Arrow, {size} bytes"
        if code in (TUPLE, SET, FROZENSET):
            return tuple(parts)
        if code == ROWS:
            return value_of(code, parts)
        if code == DEQUE:
            return tuple(parts[1:])
        if code in (ORDERED, COUNTER, DEFAULT):
            return parts[-1]
        if code == GENERIC:
            return shown_generic(parts)
        if code == ENUM:
            return ".".join(map(str, parts[1:]))
        if code in (DATACLASS, MODEL, ATTRIBUTED, ERROR):
            return {parts[1]: parts[2]}
        if code == DERIVED:
            return {parts[1]: parts[3] if parts[4] in (None, True) else parts[3:]}
        if code == NAMED_TUPLE:
            return {parts[1]: tuple(parts[2:])}
        if code in (FRAME, SERIES):
            return {"DataFrame" if code == FRAME else "Series": parts[2]}
        if code in (OF_PANDAS, OF_ARROW, OF_POLARS, OF_NUMPY, OF_SCIPY):
            return {parts[0]: parts[1:]}
        if code == OF_XARRAY:
            return shown_xarray(*parts)
        if code == OF_PYDANTIC:
            return f"{parts[1]}"
        if code == MASKED:
            return f"{parts[0]}, masked"
        if code == OBJECTS:
            return ArrayHeader("|O", parts[2], tuple(parts[1]), 0).words
        if code == SHOWN:
            return f"{parts[1]}, {parts[0]}"
        return f"scalar {parts[1]}" if code == SCALAR else str(value_of(code, parts))

    def _array(
        self, inside: bytes | None, descr: str, shape: list[int], fortran: bool, _: bool
    ) -> str:
        header = ArrayHeader(descr_of(descr), fortran, tuple(shape), 0)
        self.beside += [header] if inside is None else []
        return header.words
