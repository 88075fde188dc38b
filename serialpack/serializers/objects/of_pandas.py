"""Objects of pandas as extensions of MessagePack, and back.

``man/spk.5``, Objects of Python. A frame is its index and its columns; a column or an index is an
array of NumPy where it is one, else what its type is made of: codes and categories, numbers and
where they are missing, a table of Arrow. The proof compares what comes back, as for any object.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, timedelta, timezone
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from serialpack.errors import UnsupportedError
from serialpack.imported import imported
from serialpack.serializers.objects._own_classes import check_none_own
from serialpack.serializers.objects.of_arrow import column_of, is_table, table_of
from serialpack.without_pandas import know_pandas

#: The extensions of frames, of series, of all else, and of an index that the message had before.
FRAME, SERIES, OF_PANDAS, SAME_INDEX = 21, 22, 30, 43

#: The parts of anything else: a word that says what it is, and what it is made of.
_Parts = list[Any]

#: Types of numbers with a mask that says where they are missing; each has a class of its name.
_MASKED = {
    **{name: f"{name}Dtype" for bits in (8, 16, 32, 64) for name in (f"Int{bits}", f"UInt{bits}")},
    "Float32": "Float32Dtype",
    "Float64": "Float64Dtype",
    "boolean": "BooleanDtype",
}


#: Words of objects whose labels, or items, may be of any class.
_LABELLED = ("range", "index", "levels", "objects")


def is_frame(value: Any) -> bool:
    """Whether ``value`` is a frame or a series of pandas."""
    pandas = imported("pandas")
    return pandas is not None and type(value) in (pandas.DataFrame, pandas.Series)


def is_index(value: Any) -> bool:
    """Whether ``value``, which is of pandas, is an index."""
    return isinstance(value, imported("pandas").Index)


def parts_of_pandas(value: Any) -> tuple[int, list[Any]] | None:
    """The extension of an object of pandas; None for others, TypeError where it is not held."""
    pandas = imported("pandas")
    if pandas is None:
        return None
    try:
        if is_frame(value):
            return _parts_of_frame(value)
        made = _makers().get(type(value)) or _maker_of_array(pandas, value) or _of_type(value)
        return made and (OF_PANDAS, made(value))
    except (AttributeError, NotImplementedError, ValueError) as error:  # what a version has not
        raise TypeError(f"{type(value).__name__} of pandas ({error})") from None


def _parts_of_frame(value: Any) -> tuple[int, list[Any]]:
    beside = [value.attrs, value.flags.allows_duplicate_labels]
    more = [] if beside == [{}, True] else beside
    if value.ndim == 1:
        return SERIES, [value.name, value.index, _column(value), *more]
    columns = [_column(column) for _, column in value.items()]
    return FRAME, [value.columns, value.index, columns, *more]


def _column(values: Any) -> Any:
    """The values of a series or an index: an array of NumPy where it is one of numbers or times."""
    import numpy as np

    if isinstance(values.dtype, np.dtype) and not values.dtype.hasobject:
        return values.to_numpy()
    return values.array


@lru_cache(1)
def _makers() -> dict[type, Callable[[Any], _Parts]]:
    import pandas

    kinds = (pandas.Index, pandas.DatetimeIndex, pandas.TimedeltaIndex, pandas.PeriodIndex)
    return {
        pandas.RangeIndex: lambda v: ["range", v.name, v.start, v.stop, v.step],
        pandas.MultiIndex: _levels,
        **dict.fromkeys((*kinds, pandas.IntervalIndex, pandas.CategoricalIndex), _index),
        pandas.Timestamp: lambda v: ["Timestamp", v.asm8, _zone(v.tzinfo), v.fold],
        pandas.Timedelta: lambda v: ["Timedelta", v.asm8],
        pandas.Period: lambda v: ["Period", v.ordinal, v.freqstr],
        pandas.Interval: lambda v: ["Interval", v.left, v.right, v.closed],
        type(pandas.NaT): lambda _: ["NaT"],
        type(pandas.NA): lambda _: ["NA"],
    }


def _index(index: Any) -> _Parts:
    frequency = (
        _word_of(index.freq) if index.dtype.kind in "mM" and index.freq is not None else None
    )
    return ["index", index.name, _column(index), frequency]


def _levels(index: Any) -> _Parts:
    codes = [*map(_unlocked, index.codes)]
    return ["levels", list(index.names), list(index.levels), codes, index.sortorder]


def _unlocked(items: Any) -> Any:
    """The array ``items``, or a copy where it is read-only: whether the arrays in an index are,
    depends on how it was made, and nobody sees it."""
    return items if items.flags.writeable else items.copy()


def _maker_of_array(pandas: Any, value: Any) -> Callable[[Any], _Parts] | None:
    """What takes an array apart, by the type of its items: types have public names in all versions,
    classes of arrays have not. None where there is nothing for it."""
    if not isinstance(value, pandas.api.extensions.ExtensionArray):
        return None
    kinds: list[tuple[Any, Callable[[Any], _Parts]]] = [
        (pandas.StringDtype, _strings),
        (pandas.CategoricalDtype, _category),
        (pandas.DatetimeTZDtype, _times),
        (pandas.PeriodDtype, lambda v: ["period", v.freqstr, v.asi8]),
        (pandas.IntervalDtype, lambda v: ["interval", v.left, v.right, v.closed]),
        (pandas.SparseDtype, _sparse),
        (pandas.ArrowDtype, lambda v: ["arrow", table_of(v.__arrow_array__())]),
        *((getattr(pandas, name), _masked) for name in _MASKED.values()),
    ]
    found = next((make for kind, make in kinds if type(value.dtype) is kind), None)
    if found is None and value.dtype.kind in "mM":
        return _times
    if found is None and str(getattr(value.dtype, "numpy_dtype", None)) == "object":
        return lambda v: ["objects", v.to_numpy().tolist()]
    return found


def _of_type(value: Any) -> Callable[[Any], _Parts] | None:
    """What makes parts of a type of columns (an array without items), or of a frequency (its word);
    None for others."""
    import pandas

    if isinstance(value, pandas.api.extensions.ExtensionDtype):
        return lambda v: ["dtype", _empty(v)]
    if isinstance(value, pandas.tseries.offsets.BaseOffset):
        return lambda v: ["offset", _word_of(v)]
    return None


def _empty(kind: Any) -> Any:
    """The array of that type without items; TypeError where it is of another one."""
    found = kind.construct_array_type()._from_sequence([], dtype=kind)
    if found.dtype != kind or repr(found.dtype) != repr(kind):
        raise TypeError(f"the type {kind!r}")
    return found


def _category(array: Any) -> _Parts:
    return ["category", _unlocked(array._codes), array.categories, array.ordered]


def _masked(array: Any) -> _Parts:
    # What lies under the mask counts for whoever compares pickles; only these attributes have it.
    return ["masked", str(array.dtype), array._data, array._mask]


def _strings(array: Any) -> _Parts:
    kind = array.dtype
    number = kind.na_value != kind.na_value if isinstance(kind.na_value, float) else False
    if kind.storage == "pyarrow":
        return ["strings", kind.storage, number, table_of(array.__arrow_array__())]
    items = array.to_numpy(dtype=object, na_value=None).tolist()
    return ["strings", kind.storage, number, items]


def _times(array: Any) -> _Parts:
    items = array.asi8.view(f"{array.dtype.kind}8[{array.unit}]")
    return ["times", items, _zone(getattr(array, "tz", None))]


def _sparse(array: Any) -> _Parts:
    places = array.sp_index.to_int_index().indices
    return ["sparse", array.sp_values, places, len(array), array.fill_value, array.kind]


def _word_of(frequency: Any) -> str:
    """The word for a frequency; TypeError where pandas would read another one from that."""
    from pandas.tseries.frequencies import to_offset

    found: Any = to_offset(frequency.freqstr)
    if type(found) is not type(frequency) or found != frequency:
        raise TypeError(f"the frequency {frequency!r}")
    return str(frequency.freqstr)


def _zone(zone: Any) -> Any:
    """What a time zone is found again by: None, its name, its name for pytz, or its offset."""
    if zone is None:
        return None
    if type(zone) is ZoneInfo and zone.key:
        return zone.key
    if type(zone).__module__.startswith("pytz") and getattr(zone, "zone", None):
        return ["pytz", zone.zone]
    if type(zone) is timezone and repr(zone) == repr(timezone(zone.utcoffset(None))):
        return zone.utcoffset(None)
    raise TypeError(f"the time zone {zone!r}")


def pandas_of(code: int, parts: list[Any]) -> Any:
    """The object that the parts are of; ValueError where they are of none, UnsupportedError without
    pandas."""
    try:
        import pandas
    except ImportError:
        raise UnsupportedError("needs pandas", hint="pip install pandas") from None
    know_pandas()
    try:
        labels = 2 if code == OF_PANDAS and parts[0] in _LABELLED else code == SERIES
        _check_own(parts[labels:])
        if code == OF_PANDAS:
            word, *rest = parts
            return _BACK[word](pandas, *rest)
        return (_series if code == SERIES else _frame)(pandas, *parts)
    except Exception as error:  # whatever the library says of what is none
        what = str(error) or type(error).__name__
        raise ValueError(f"nothing of pandas ({what})") from None


#: Types that most parts of moments have.
_PLAIN = frozenset({str, int, float, bool, type(None)})


def _check_own(parts: list[Any]) -> None:
    """ValueError where a part is of a class of the user: pandas would call its methods."""
    check_none_own([part for part in parts if type(part) not in _PLAIN])
    for part in parts:
        if type(part) is list:
            _check_own(part)


def _series(
    pandas: Any, name: Any, index: Any, values: Any, attrs: Any = None, twice: bool = True
) -> Any:
    made = _series_of(pandas, values, _index_of(pandas, index))
    made.name = name
    return _with(made, attrs, twice)


def _frame(
    pandas: Any, names: Any, index: Any, columns: Any, attrs: Any = None, twice: bool = True
) -> Any:
    where = _index_of(pandas, index)
    held = dict(enumerate(_series_of(pandas, each, where) for each in columns))
    made = pandas.DataFrame(held, index=where)
    made.columns = _index_of(pandas, names)
    return _with(made, attrs, twice)


def _with(made: Any, attrs: Any, twice: bool) -> Any:
    made.attrs = attrs or {}
    if not twice:
        made.flags.allows_duplicate_labels = False
    return made


def _series_of(pandas: Any, values: Any, index: Any) -> Any:
    if is_table(values):  # as it was written first
        values = values.to_pandas()["values"].array
        if str(getattr(values.dtype, "tz", None)) == "UTC":
            values = values.tz_convert(UTC)  # as pandas itself has it, and pyarrow does not
    return pandas.Series(values, index=index, dtype=values.dtype)


def _index_of(pandas: Any, held: Any) -> Any:
    """The index that ``held`` is, or tells of in an older form: its name, and range or values."""
    if isinstance(held, pandas.Index):
        return held
    name, values, *more = held
    if type(values) is list:
        return pandas.RangeIndex(*values, name=name)
    return _index_back(pandas, name, _series_of(pandas, values, None), *more)


def _index_back(pandas: Any, name: Any, values: Any, frequency: str | None = None) -> Any:
    index = pandas.Index(values, name=name, dtype=values.dtype)
    if frequency is not None:
        index.freq = frequency
    return index


def _objects_back(_: Any, items: list[Any]) -> Any:
    import numpy as np

    held = np.empty(len(items), object)
    for number, item in enumerate(items):  # one by one: lists of one length would become rows
        held[number] = item
    return held


def _masked_back(pandas: Any, name: str, data: Any, mask: Any) -> Any:
    return getattr(pandas, _MASKED[name])().construct_array_type()(data, mask)


def _strings_back(pandas: Any, storage: str, number: bool, held: Any) -> Any:
    more = {"na_value": float("nan")} if number else {}
    kind = pandas.StringDtype(storage, **more)
    if is_table(held):
        return kind.__from_arrow__(column_of(held))
    return pandas.array(held, dtype=kind)


def _times_back(pandas: Any, items: Any, zone: Any) -> Any:
    if items.dtype.kind == "m":
        return pandas.TimedeltaIndex(items).array
    return _in_zone(pandas.DatetimeIndex(items), zone).array


def _in_zone(value: Any, zone: Any) -> Any:
    if zone is None:
        return value
    if type(zone) is str:
        found: Any = ZoneInfo(zone)
    elif type(zone) is timedelta:
        found = timezone(zone) if zone else UTC
    else:
        import pytz  # type: ignore[import-untyped]  # pandas itself had it

        found = pytz.timezone(zone[1])
    return value.tz_localize(UTC).tz_convert(found)


def _sparse_back(pandas: Any, values: Any, places: Any, length: int, fill: Any, kind: str) -> Any:
    # By no public name that is the same in two versions.
    from pandas._libs.sparse import IntIndex

    index = IntIndex(length, places)
    if values.shape != (index.npoints,):
        raise ValueError("as many values as places are due")
    index = index.to_block_index() if kind == "block" else index
    return pandas.arrays.SparseArray._simple_new(
        values, index, pandas.SparseDtype(values.dtype, fill)
    )


def _type_back(pandas: Any, empty: Any) -> Any:
    if not isinstance(empty, pandas.api.extensions.ExtensionArray):
        raise ValueError("no array that is of a type of pandas")
    return empty.dtype


def _timestamp(pandas: Any, moment: Any, zone: Any, fold: int) -> Any:
    made = _in_zone(pandas.Timestamp(moment), zone)
    return made.replace(fold=fold) if fold != made.fold else made


_BACK: dict[str, Callable[..., Any]] = {
    "range": lambda pd, name, *ends: pd.RangeIndex(*ends, name=name),
    "index": _index_back,
    "levels": lambda pd, names, levels, codes, order: pd.MultiIndex(
        levels, codes, names=names, sortorder=order
    ),
    "objects": _objects_back,
    "masked": _masked_back,
    "strings": _strings_back,
    "category": lambda pd, codes, kinds, order: pd.Categorical.from_codes(
        codes, kinds, ordered=order
    ),
    "times": _times_back,
    "period": lambda pd, freq, items: pd.arrays.PeriodArray(items, dtype=pd.PeriodDtype(freq)),
    "interval": lambda pd, left, right, closed: pd.arrays.IntervalArray.from_arrays(
        left, right, closed
    ),
    "sparse": _sparse_back,
    "arrow": lambda pd, table: pd.ArrowDtype(column_of(table).type).__from_arrow__(
        column_of(table)
    ),
    "dtype": _type_back,
    "offset": lambda pd, word: pd.tseries.frequencies.to_offset(
        "" if type(word) is not str else word
    ),
    "Timestamp": _timestamp,
    "Timedelta": lambda pd, length: pd.Timedelta(length),
    "Period": lambda pd, ordinal, freq: pd.Period(ordinal=ordinal, freq=freq),
    "Interval": lambda pd, left, right, closed: pd.Interval(left, right, closed),
    "NaT": lambda pd: pd.NaT,
    "NA": lambda pd: pd.NA,
}
