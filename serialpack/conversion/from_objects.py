"""Objects that ``dump`` held without pickle, and pickles and arrays of objects that the user
trusts, read as what people take them for: an array as an .npy file, arrays by name as an .npz file,
a table as Arrow, and all else as values."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import nullcontext
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from serialpack.api import HEAD
from serialpack.compressed.pieces import Pieces
from serialpack.conversion.given import Given
from serialpack.conversion.losses import Losses
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.rules import ARRAYS
from serialpack.errors import DamagedError, InputError, RefusedError, UnsupportedError
from serialpack.formats import FORMATS
from serialpack.formats.arrays.header import MOST_HEADER, read_header
from serialpack.formats.arrays.made import npy_of_value, npy_pieces
from serialpack.formats.arrays.values import values_of
from serialpack.formats.arrays.zipped import opened_entries, zip_pieces
from serialpack.formats.base import Read, ValueFormat
from serialpack.formats.python.pickle import PROTOCOL, dump_pickle, load_pickles
from serialpack.formats.shared.document import Malformed, Unwritable
from serialpack.formats.shared.filed import FileRead, sought
from serialpack.formats.shared.recursion import frames_for
from serialpack.formats.tables.records import arrow
from serialpack.serializers.base import FAILURES
from serialpack.serializers.kept import kept_reader
from serialpack.serializers.of_arrow import is_table, stream_of
from serialpack.serializers.of_pandas import is_frame
from serialpack.serializers.of_polars import is_of_polars, table_of_polars
from serialpack.serializers.whole import deserialized
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import Loss, shown, value_step

#: How often ``_plain`` calls itself, at most, for each level.
_CALLS_A_LEVEL = 3


def from_object(given: Given, at: str | None, to: str, losses: Losses) -> tuple[Given, str | None]:
    """``given``, whose bytes are those of an object, as a format that is converted to ``to``; and
    the path in it that is still to be taken, of ``at``. As it is where there is no object.

    InputError for pickles that cannot be loaded, DamagedError, UnsupportedError for a class that is
    not here, RefusedError for items that no value holds, and for values that are no arrays where
    ``to`` has only these, MissingLibraryError.
    """
    if given.plan.source == "pickle":
        if to == "pickle":
            return given, at
        given, obj = _pickled(given)
    else:
        obj = _loaded(given) if given.plan.source == "object" else _arrays_of_objects(given)
    if obj is None and given.plan.source != "object":
        return given, at
    if to == "pickle" and at is None:
        return _as(given, "pickle", [dump_pickle(obj, PROTOCOL)]), at
    found = None if at is None else _at(obj, at)
    if found is not None:
        obj, at = found, None
    if _is_array(obj):
        return _as(given, "npy", npy_pieces(_array(obj))), at
    if _is_table(obj):
        made = _as(given, "arrow", [stream_of(_table(obj))])
        return made._replace(made=False, dropped=_keys(obj)), at
    if to in ARRAYS and type(obj) is dict and any(map(_is_array, obj.values())):
        arrays, carried = _in_lists(obj, losses)
        pieces = zip_pieces((name, _npy(name, value, to)) for name, value in arrays.items())
        return _as(given, "npz", pieces)._replace(dropped=carried), at
    with frames_for(_CALLS_A_LEVEL):
        values = dump_pickle(_plain(obj), PROTOCOL)
    made = _as(given, "pickle", [values])
    plan = made.plan._replace(alone=True, source_serializer=("pickle", (PROTOCOL,)))
    return made._replace(plan=plan, made=False), at


def _loaded(given: Given) -> Any:
    name, settings = given.stored
    serializer = kept_reader((name or "", ()), settings, None)
    pieces: list[Buffer] = []
    while data := given.read(1 << 24):
        pieces.append(data)
    try:
        return deserialized(serializer, [bytearray().join(pieces)])
    except UnsupportedError as error:
        raise UnsupportedError(
            error.message, hint="serialpack.load reads it where its classes are imported"
        ) from None
    except FAILURES as error:
        raise DamagedError(f"{serializer.name} cannot read it ({error})") from None


#: Libraries with objects that are rows and numbers, by the names that a pickle has of them.
_LIBRARIES = b"numpy", b"pandas", b"pyarrow", b"polars"


def _pickled(given: Given) -> tuple[Given, Any]:
    """The object of a source that is one pickle of what those libraries have; else None, and the
    source as it was."""
    if not any(name in given.head for name in _LIBRARIES):
        return given, None
    data = b"".join(iter(partial(given.read, 1 << 24), b""))
    given = given._replace(read=BytesIO(data).read)
    try:
        records = load_pickles(data)
    except Malformed:  # which is said when it is read
        return given, None
    return given, records[0] if len(records) == 1 else None


def _arrays_of_objects(given: Given) -> Any:
    """The array of objects of an .npy file, or all arrays by name of an .npz file where one is of
    such; None where there is none, and of a large one out of a pipe, which is not read twice."""
    import numpy as np

    read = given.read
    try:
        if given.plan.source == "npy" and _has_objects(given.head):
            data = b"".join(iter(partial(read, 1 << 24), b""))
            return np.load(BytesIO(data), allow_pickle=True)
        again = isinstance(read, FileRead) and (read.path or read.opened)
        if given.plan.source == "npz" and (again or len(given.head) < HEAD):
            whole: Any = sought(read) if again else nullcontext(BytesIO(given.head))
            with whole as file:
                found = opened_entries(file)
                if any(_has_objects(read_entry(MOST_HEADER)) for _, read_entry in found):
                    if not isinstance(file, Path):
                        file.seek(0)
                    with np.load(file, allow_pickle=True) as archive:
                        return dict(archive)
    except Malformed:  # which is said when it is read
        return None
    except Exception as error:  # whatever pickles of others raise
        words = " ".join(str(error).split())
        raise InputError(f"its objects cannot be loaded: {type(error).__name__}: {words}") from None
    return None


def _has_objects(head: bytes) -> bool:
    try:
        return read_header(head).has_objects
    except Malformed:
        return False


def _as(given: Given, format: str, pieces: Iterable[Buffer]) -> Given:
    """What ``pieces`` are, a source in ``format``."""
    read: Read = Pieces(iter(pieces)).read
    fmt = FORMATS.get(format)
    if isinstance(fmt, ValueFormat) and fmt.in_file:
        read = FileRead(read)
    plan = ConversionPlan(format, fields=given.plan.fields)
    return given._replace(
        read=read, plan=plan, stored=(None, {}), made=True, as_it_is=False, packed="object"
    )


def _at(obj: Any, path: str) -> Any:
    """The array, or the table, at ``path``; None where there is none."""
    for step in [path] if type(obj) is dict and path in obj else path.split("."):
        obj = obj.get(step) if type(obj) is dict else None
    return obj if hasattr(obj, "dtype") or _is_table(obj) else None


def _is_array(value: Any) -> bool:
    """Whether it is an array or a scalar of NumPy's; none of objects, and none with nulls."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.ndarray | numpy.generic):
        return False
    return not (value.dtype.hasobject or isinstance(value, numpy.ma.MaskedArray))


def _array(value: Any) -> Any:
    import numpy as np

    return np.asarray(value)


def _is_table(value: Any) -> bool:
    """Whether it is a table of Arrow, or a frame or a series of pandas or polars."""
    return is_table(value) or is_frame(value) or is_of_polars(value)


def _table(value: Any) -> Any:
    """The table of Arrow that a table or a frame is, with its index where that is more than the
    numbers of its rows."""
    if is_table(value):
        return value
    if is_of_polars(value):
        return table_of_polars(value)
    import pandas

    pa = arrow()
    frame = value.to_frame() if type(value) is pandas.Series else value
    if not frame.index.equals(pandas.RangeIndex(len(frame))) or frame.index.name is not None:
        frame = frame.reset_index()
    columns = [frame.iloc[:, number] for number in range(frame.shape[1])]
    arrays = []
    for name, column in zip(frame.columns, columns, strict=True):
        dense = column.sparse.to_dense() if isinstance(column.dtype, pandas.SparseDtype) else column
        try:  # Of a frame the library makes null of NaN.
            arrays.append(pa.array(dense, from_pandas=dense.dtype.kind != "f"))
        except (pa.ArrowException, TypeError, ValueError, NotImplementedError) as error:
            raise RefusedError(
                f"the column {shown(name)} is of {column.dtype}, which no column of a table holds: "
                f"{str(error).splitlines()[0]}",
                hint="serialpack.load reads it",
            ) from None
    return pa.Table.from_arrays(arrays, names=[str(name) for name in frame.columns])


def _keys(frame: Any) -> tuple[Loss, ...]:
    """How many columns of a frame, a series or a table had names that are no text."""
    if not is_frame(frame):
        return ()
    columns = frame.columns if frame.ndim > 1 else [frame.name]
    other = [name for name in columns if type(name) is not str]
    names = map(shown, other[:1])
    return tuple(Loss("keys", len(other), 0, "$", name, shown(name)) for name in names)


def _in_lists(obj: dict[Any, Any], losses: Losses) -> tuple[dict[Any, Any], tuple[Loss, ...]]:
    """``obj`` with its tuples as lists, where ``losses`` allows it, and how many these are."""
    first = next((name for name, value in obj.items() if type(value) is tuple), None)
    if first is None or "sequences" not in losses.allowed:
        return obj, ()
    made = {name: [*value] if type(value) is tuple else value for name, value in obj.items()}
    count = sum(type(value) is tuple for value in obj.values())
    was, became = shown(obj[first]), shown(made[first])
    return made, (Loss("sequences", count, 0, f"${value_step(first)}", was, became),)


def _npy(name: Any, value: Any, to: str) -> list[Buffer]:
    """The .npy file of an array, or of a value that becomes one."""
    if _is_array(value):
        return npy_pieces(_array(value))
    path, value = f"${value_step(name)}", _plain(value)
    try:
        if type(name) is not str:
            raise ValueError("its name is no text")
        return [npy_of_value(value, path)]
    except (Unwritable, ValueError) as error:
        raise RefusedError(
            f"{path} is no array, and {to} has only these: {shown(value)}",
            hint="--at NAME -o NAME.npy takes one array",
        ) from error


def _plain(value: Any) -> Any:
    """``value`` with the items of arrays in lists, also of arrays of objects."""
    if _is_array(value):
        if value.ndim == 0 and value.dtype.kind in "mM" and value != value:
            return None  # NaT, which may have no unit
        return values_of(_array(value))
    if type(value) is dict:
        return {name: _plain(inner) for name, inner in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    if hasattr(value, "asm8"):  # a time of pandas, or none
        zone = getattr(value, "tzinfo", None)
        if zone is None:
            return _plain(value.asm8)
        return value if value.nanosecond else value.to_pydatetime(warn=False)
    if type(value).__name__ == "NAType":
        return None
    return _plain(value.tolist()) if hasattr(value, "tolist") else value
