"""Every extension of ``objects`` (man/spk.5): how its value is made of its parts, and how told."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from serialpack.formats.arrays.header import ArrayHeader
from serialpack.serializers.objects._alike import alike_back, few_back, several_back
from serialpack.serializers.objects._generics import shown_generic
from serialpack.serializers.objects._own_types import (
    ATTRIBUTED,
    BACK,
    BACK_TO_CLASS,
    BY_PARTS,
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
    SET,
    TAKE_ANY,
    TUPLE,
    value_of,
)
from serialpack.serializers.objects._stacked import arrays_back
from serialpack.serializers.objects.arrays import (
    ARRAY,
    MASKED,
    OBJECTS,
    SAME,
    SAME_OBJECT,
    SCALAR,
    SHOWN,
    masked_of,
    objects_of,
    scalar_over,
    shown_of,
)
from serialpack.serializers.objects.columns import (
    ALIKE,
    COLUMNS,
    FEW,
    MAP,
    NUMBERS,
    OBJECTS_OF,
    ROWS,
    SCALARS,
    SEVERAL,
    STACK,
)
from serialpack.serializers.objects.of_arrow import ARROW, OF_ARROW, arrow_of
from serialpack.serializers.objects.of_numpy import OF_NUMPY, numpy_of
from serialpack.serializers.objects.of_pandas import FRAME, OF_PANDAS, SAME_INDEX, SERIES, pandas_of
from serialpack.serializers.objects.of_polars import OF_POLARS, polars_of
from serialpack.serializers.objects.of_pydantic import OF_PYDANTIC, url_of
from serialpack.serializers.objects.of_scipy import OF_SCIPY, scipy_of
from serialpack.serializers.objects.of_xarray import OF_XARRAY, shown_xarray, xarray_of

#: What an outline says of an extension; of its parts, in which others are told already.
Told = Callable[[Any], Any]


class Extension(NamedTuple):
    """What one extension is.

    ``made``: its value, of its parts; ``told``: see ``Told``. Both None: its reader makes and tells
    it, who knows the buffers beside a message, and what stood before. ``of_class``: of an object of
    an own class what makes, of the two names of that, what makes the object of the other parts.
    ``takes_any``: whether a part may be of any class. ``again``: the extension that refers to an
    earlier value of this one, which is stored once where an object holds it several times;
    ``each``: to each of the values in this one, which is a list.
    """

    made: Callable[..., Any] | None = None
    told: Told | None = None
    of_class: Callable[..., Callable[..., Any]] | None = None
    takes_any: bool = False
    again: int | None = None
    each: bool = False


def _as_text(code: int, parts: Any) -> str:
    return str(value_of(code, parts))


def _by_kind(parts: Any) -> Any:
    return {parts[0]: parts[1:]}


def _columns(parts: Any) -> Any:
    head, *columns = parts
    return dict(zip(head, columns, strict=True)) if isinstance(head, list) else tuple(columns)


def _alike(code: Any, *columns: Any) -> list[Any]:
    if type(code) is not int or code not in BY_PARTS or not columns:
        raise ValueError("values of a type that is written one by one")
    return alike_back(BACK[code], [*columns])


def _by_name(parts: Any) -> Any:
    return {parts[1]: parts[2]}


#: How values of Python's own types are told, where not as their text.
_OWN_TOLD: dict[int, Told] = {
    **dict.fromkeys((TUPLE, SET, FROZENSET), tuple),
    **dict.fromkeys((ORDERED, COUNTER, DEFAULT), lambda parts: parts[-1]),
    **dict.fromkeys((DATACLASS, MODEL, ATTRIBUTED, ERROR), _by_name),
    ROWS: partial(value_of, ROWS),
    NUMBERS: lambda parts: f"numbers, {parts[0]}",
    SCALARS: lambda parts: f"scalars, {parts[0]}",
    COLUMNS: _columns,
    MAP: lambda parts: {"keys": parts[0], "values": parts[1]},
    DEQUE: lambda parts: tuple(parts[1:]),
    GENERIC: shown_generic,
    ENUM: lambda parts: ".".join(map(str, parts[1:])),
    DERIVED: lambda parts: {parts[1]: parts[3] if parts[4] in (None, True) else parts[3:]},
    NAMED_TUPLE: lambda parts: {parts[1]: tuple(parts[2:])},
}


def _of_python(code: int) -> Extension:
    told = _OWN_TOLD.get(code) or partial(_as_text, code)
    again = SAME_OBJECT if code in (ATTRIBUTED, ERROR) else None
    return Extension(BACK.get(code), told, BACK_TO_CLASS.get(code), code in TAKE_ANY, again)


def _of_pandas(code: int, told: Told, again: int) -> Extension:
    made = partial(_pandas, code)
    return Extension(made, told, takes_any=True, again=again)  # they look at their parts themselves


def _pandas(code: int, *parts: Any) -> Any:
    return pandas_of(code, [*parts])


def _one(made: Callable[..., Any], told: Told) -> Extension:
    """One whose values are stored once."""
    return Extension(made, told, again=SAME_OBJECT)


EXTENSIONS: dict[int, Extension] = {
    **{code: _of_python(code) for code in (*BACK, *BACK_TO_CLASS)},
    ARRAY: Extension(again=SAME),
    ARROW: Extension(again=SAME_OBJECT),
    OBJECTS_OF: Extension(takes_any=True),
    FEW: Extension(few_back, lambda parts: {"of": parts[1], "which": parts[0]}, takes_any=True),
    SEVERAL: Extension(
        several_back, lambda parts: {"of": parts[1:], "which": parts[0]}, takes_any=True
    ),
    STACK: Extension(arrays_back, lambda parts: f"arrays, {parts[0]}", again=SAME, each=True),
    ALIKE: Extension(_alike, lambda parts: parts[1:] if parts[2:] else parts[1]),
    **dict.fromkeys((SAME, SAME_OBJECT, SAME_INDEX), Extension()),
    SCALAR: Extension(scalar_over, lambda parts: f"scalar {parts[1]}"),
    MASKED: _one(masked_of, lambda parts: f"{parts[0]}, masked"),
    SHOWN: _one(shown_of, lambda parts: f"{parts[1]}, {parts[0]}"),
    OBJECTS: _one(objects_of, lambda parts: ArrayHeader("|O", parts[2], tuple(parts[1]), 0).words),
    OF_NUMPY: _one(numpy_of, _by_kind),
    FRAME: _of_pandas(FRAME, lambda parts: {"DataFrame": parts[2]}, SAME_OBJECT),
    SERIES: _of_pandas(SERIES, lambda parts: {"Series": parts[2]}, SAME_OBJECT),
    OF_PANDAS: _of_pandas(OF_PANDAS, _by_kind, SAME_INDEX),
    OF_ARROW: _one(arrow_of, _by_kind),
    OF_POLARS: _one(polars_of, _by_kind),
    OF_SCIPY: _one(scipy_of, _by_kind),
    OF_XARRAY: _one(xarray_of, lambda parts: shown_xarray(*parts)),
    OF_PYDANTIC: Extension(url_of, lambda parts: f"{parts[1]}"),
}

#: Extensions, beside arrays, of values that are stored once.
COUNTED = frozenset(code for code, found in EXTENSIONS.items() if found.again == SAME_OBJECT)


def extension(code: int) -> Extension:
    """What an extension is; ValueError where there is none of that number."""
    found = EXTENSIONS.get(code)
    if found is None:
        raise ValueError(f"there is no extension {code}")
    return found


class Met:
    """The values that a message had so far, for the extensions that refer to them."""

    def __init__(self) -> None:
        again = [each.again for each in EXTENSIONS.values() if each.again is not None]
        self._met: dict[int, list[Any]] = {code: [] for code in again}

    def keep(self, found: Extension, made: Any) -> None:
        """Keep ``made``, a value of the extension ``found``, if others may refer to it."""
        if found.again is not None:
            self._met[found.again] += made if found.each else [made]

    def keep_all(self, again: int, made: list[Any]) -> None:
        """As ``keep``, of several values, one after another."""
        self._met[again] += made

    def stands_for(self, code: int) -> list[Any]:
        """The values that an extension ``code`` may refer to."""
        return self._met[code]
