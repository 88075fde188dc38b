"""Arrays, scalars and tables of libraries as lists, plain values and records of Python.

NumPy, pandas, polars and Arrow have them, and no format of values but pickle. ``PlainMaker`` takes
records, gives them with plain values, and counts each change under the rule ``arrays``. The
functions below it tell arrays and tables, and make one of Arrow of any table.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import repeat
from typing import Any

from serialpack.errors import RefusedError
from serialpack.formats.arrays.values import values_of
from serialpack.formats.losses.changes import Changer
from serialpack.formats.tables.records import arrow
from serialpack.imported import imported
from serialpack.serializers.objects.of_arrow import is_table as is_of_arrow
from serialpack.serializers.objects.of_pandas import is_frame
from serialpack.serializers.objects.of_polars import is_of_polars, table_of_polars
from serialpack.text import unique_names
from serialpack.values.equality import difference
from serialpack.values.kinds import ARRAYS, ATTRIBUTES, RENAMED, Spelled, shown

#: The rule by which they are.
ARRAY_RULE = ARRAYS

#: The modules with types that become plain: one that another defines, of theirs, has more to it.
LIBRARIES = frozenset({"array", "numpy", "pandas", "polars", "pyarrow"})


class PlainMaker(Changer):
    """Makes values plain. RefusedError for an array with items that no value holds."""

    plain = frozenset({bool, bytes, float, int, str, type(None)})
    plain_keys = plain

    def __init__(self, as_lists: frozenset[type] = frozenset()) -> None:
        """``as_lists``: types of sequences that become lists."""
        super().__init__()
        self.as_lists = as_lists

    def value(self, value: Any) -> Any:
        became = self._of_library(value)
        if became is not value:
            self.note(ARRAY_RULE, value, became)
        if type(became) not in (list, dict) or is_array(value):  # whose items are plain
            return became
        return self.walked(became)

    def key(self, key: Any) -> Any:
        became = self._of_library(key) if _is_scalar(key) else key
        if became is not key:
            self.note(ARRAY_RULE, key, became)
        return became

    def _of_library(self, value: Any) -> Any:
        """What a library has as a plain value, whose parts may not be plain yet; else itself."""
        kind = type(value)
        if not _is_of_library(kind.__module__) or isinstance(value, type | dict):
            return value  # a class, or a schema, which is no table
        if is_array(value):
            if value.ndim == 0 and value.dtype.kind in "mM" and value != value:
                return None  # NaT, which may have no unit
            try:
                return values_of(array_of(value))
            except RefusedError as error:
                raise RefusedError(f"{self.path}: {error.message}", hint=error.hint) from None
        if hasattr(value, "asm8"):  # a time of pandas, or none
            if getattr(value, "tzinfo", None) is None:
                return self._of_library(value.asm8)
            return value if value.nanosecond else value.to_pydatetime(warn=False)
        if kind.__name__ == "NAType":
            return None
        if kind.__name__ in _SPELLED:
            return str(value)
        if is_table(value) or _names(value):
            return self._records(value)
        if getattr(getattr(value, "dtype", None), "names", None) and hasattr(value, "tolist"):
            return _records_of(value)
        items = next((name for name in _ITEMS if hasattr(value, name)), None)
        return value if items is None else getattr(value, items)()

    def _records(self, value: Any) -> Any:
        """The rows of a table, or of what has names; of what has none the items."""
        if not _names(value):
            return value.to_list()
        frame = value.to_frame(index=False) if not is_table(value) else value
        made = table_of(frame)
        if made is None or len({*made.column_names}) == made.num_columns:
            for loss in lost_of(frame):
                self.note(*loss)
            return rows_of(frame) if made is None else made.to_pylist()
        return value  # a record would have a key twice


def _records_of(array: Any) -> Any:
    """The items of an array of NumPy, or of a scalar, whose fields have names: as maps of them."""
    names = array.dtype.names
    if names is None:
        return array.tolist()
    if _is_void(array):
        array = array_of(array)  # whose fields are arrays, too
    columns = [_records_of(array[name]) for name in names]
    if not array.ndim:
        return dict(zip(names, columns, strict=True))
    if array.ndim > 1:
        return [_records_of(part) for part in array]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _is_void(value: Any) -> bool:
    """Whether it is a scalar of NumPy with fields, which gives them as they are."""
    import numpy as np

    return isinstance(value, np.void)


@lru_cache
def _is_of_library(module: str) -> bool:
    """Whether ``module`` is one of ``LIBRARIES``, or in one."""
    return module.partition(".")[0] in LIBRARIES


#: What pandas has that becomes the text by which it is called: spans of time, and of numbers.
_SPELLED = "Period", "Interval"

#: The methods that give the items of an array as a list, by library, and a scalar's value.
_ITEMS = "tolist", "to_pylist", "as_py"


def _names(value: Any) -> bool:
    """Whether a table, a column or an index says more than its items do."""
    names = [getattr(value, "name", None), *(getattr(value, "names", None) or ())]
    if any(name not in (None, "") for name in names) or not hasattr(value, "to_list"):
        return is_table(value) or hasattr(value, "to_frame")
    return is_frame(value) and has_labels(value)


def has_labels(frame: Any) -> bool:
    """Whether the index of a frame of pandas is more than the numbers of its rows."""
    import pandas

    index = frame.index
    return index.name is not None or not index.equals(pandas.RangeIndex(len(frame)))


def lost_of(frame: Any) -> Iterator[tuple[str, Any, Any]]:
    """What a table has not, or otherwise, of a frame or a series of pandas: by which rule, what it
    was, and what became of it."""
    if not is_frame(frame):
        return
    for name in frame.attrs:
        yield ATTRIBUTES, Spelled(f"attrs[{shown(name)}]"), Spelled("")
    if frame.ndim > 1 and any(name is not None for name in frame.columns.names):
        yield ATTRIBUTES, Spelled(f"the name of the columns, {frame.columns.names}"), Spelled("")
    names, columns = _columns_of(frame)
    for name, became in zip(names, _texts(names), strict=True):
        if type(name) is not str:
            yield "keys", name, str(name)
        if became != str(name):
            yield RENAMED, name, became
    for column in columns:
        if column.dtype == object:
            for value in column[column.isna()]:
                if value is not None:
                    yield ARRAY_RULE, value, None
        elif _is_spelled(column):
            there = column.dropna()
            yield from zip(repeat(ARRAY_RULE), there, _spelled(there), strict=False)


def _is_scalar(value: Any) -> bool:
    return is_array(value) and value.ndim == 0


def is_array(value: Any) -> bool:
    """Whether it is an array or a scalar of NumPy's; none of objects, and none with nulls."""
    numpy = imported("numpy")
    if numpy is None or not isinstance(value, numpy.ndarray | numpy.generic):
        return False
    return not (value.dtype.hasobject or isinstance(value, numpy.ma.MaskedArray))


def array_of(value: Any) -> Any:
    """The array of what ``is_array``."""
    import numpy as np

    return np.asarray(value)


def is_table(value: Any) -> bool:
    """Whether it is a table of Arrow, or a frame or a series of pandas or polars."""
    return is_of_arrow(value) or is_frame(value) or is_of_polars(value)


def table_of(value: Any) -> Any:
    """The table of Arrow that a table or a frame is, with its index where that is more than the
    numbers of its rows; None where no column of a table holds the items of one as they are.
    RefusedError for columns that only polars has."""
    if is_of_arrow(value):
        return value
    if is_of_polars(value):
        try:
            return table_of_polars(value)
        except Exception as error:  # whatever the libraries say of types that only polars has
            hint = "cast its columns first"
            raise RefusedError(
                f"Arrow has no such columns of polars ({error})", hint=hint
            ) from None
    names, columns = _columns_of(value)
    arrays = [_array_of(column) for column in columns]
    if any(array is None for array in arrays):
        return None
    return arrow().Table.from_arrays(arrays, names=_texts(names))


def rows_of(frame: Any) -> list[dict[str, Any]]:
    """The rows of a frame or a series of pandas that ``table_of`` has no table for."""
    names, columns = _columns_of(frame)
    texts = _texts(names)
    cells = [
        _items_of(column) if (array := _array_of(column)) is None else array.to_pylist()
        for column in columns
    ]
    return [dict(zip(texts, row, strict=True)) for row in zip(*cells, strict=True)]


def _columns_of(value: Any) -> tuple[list[Any], list[Any]]:
    """The columns of a frame or a series, and their names; those of its index, where that says
    anything, before them."""
    frame = value.to_frame() if value.ndim == 1 else value
    if has_labels(frame):
        frame = frame.reset_index(allow_duplicates=True)
    return [*frame.columns], [frame.iloc[:, number] for number in range(frame.shape[1])]


def _texts(names: list[Any]) -> list[str]:
    """The names of columns as text, each once."""
    return unique_names([str(name) for name in names])


def _array_of(column: Any) -> Any:
    """A column as an array of Arrow; None where that would hold something else, or nothing.

    Of Python's objects the library makes one type: doubles of integers beside floats, dates of
    times beside dates, and in each map all keys of any.
    """
    import pandas

    pa = arrow()
    if column.dtype == object:
        items = _items_of(column)
        try:
            array = pa.array(items, from_pandas=False)
        except (pa.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError):
            return None
        return array if difference(items, array.to_pylist()) is None else None
    if isinstance(column.dtype, pandas.SparseDtype):
        column = column.sparse.to_dense()
    elif _is_spelled(column):
        column = _spelled(column)
    try:  # Of a frame the library makes null of NaN.
        return pa.array(column, from_pandas=column.dtype.kind != "f")
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError):
        return None


def _items_of(column: Any) -> list[Any]:
    """The items of a column, what is missing as None."""
    return list(column.astype(object).where(column.notna(), None))


def _spelled(column: Any) -> Any:
    """A column that ``_is_spelled``, as text, each of its items spelled once."""
    items = column.astype(object)
    return items.map({item: str(item) for item in items.dropna().unique()})


def _is_spelled(column: Any) -> bool:
    """Whether the items of a column, or its categories, are ``_SPELLED``."""
    import pandas

    kind = column.dtype
    if isinstance(kind, pandas.CategoricalDtype):
        kind = kind.categories.dtype
    return isinstance(kind, pandas.PeriodDtype | pandas.IntervalDtype)
