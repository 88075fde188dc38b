"""Containers as collections of Dask: a bag of records, a dataframe of fields.

The graph names runs of blocks. Whoever computes a partition opens the container itself and reads
its two ends and those blocks, of columns only the fields that are asked for: nothing travels by
the scheduler or the client.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path as PathlibPath
from typing import Any

from serialpack.contrib.distributed import dask_setup as dask_setup
from serialpack.contrib.distributed import register as register
from serialpack.errors import FileError, MissingLibraryError, RefusedError, UsageError
from serialpack.far import is_far, is_store
from serialpack.files.source import Path, shown
from serialpack.records import sequence
from serialpack.records.arrays import typed

#: The types that ``typed`` finds -> what pandas calls them: types of Arrow's, which hold null, too.
_TYPES = {
    "bool": "bool[pyarrow]",
    "int64": "int64[pyarrow]",
    "uint64": "uint64[pyarrow]",
    "float64": "double[pyarrow]",
}
_TEXT, _NULL, _ANY = "string[pyarrow]", "null[pyarrow]", "object"

#: Pairs of types: the second one holds the values of the first where they are small enough, which
#: is checked.
_WIDER = {("int64[pyarrow]", "double[pyarrow]"), ("uint64[pyarrow]", "double[pyarrow]")}


@dataclass(frozen=True)
class BlockRun:
    """A run of blocks of one container; ``before``: how many records stand in containers before
    that.

    ``check``: of the container, from when the graph was made. ``source``: its URL, which is not
    shown: it may hold a password.
    """

    source: str = field(repr=False)
    run: range
    before: int
    check: int
    trust: bool

    @contextmanager
    def opened(self) -> Iterator[sequence.Records]:
        """The container; FileError where it has changed since the graph was made."""
        with sequence.open(self.source, trust=self.trust) as records:
            if records.check != self.check:
                raise FileError(
                    "is not the container that it was when the graph was made",
                    path=shown(self.source),
                    hint="call read again",
                )
            yield records

    @property
    def numbers(self) -> range:
        """The numbers of its records among those of all containers."""
        return range(self.before + self.run.start, self.before + self.run.stop)


def read(
    source: Path | Sequence[Path],
    fields: Sequence[str] | None = None,
    *,
    blocksize: int | str = "16 MiB",
    dtypes: Mapping[str, str] | None = None,
    trust: bool = False,
) -> Any:
    """A ``dask.bag`` of records, or with ``fields`` a ``dask.dataframe`` of these.

    ``source``: path or URL of a container, or several, whose records stand one after another.
    Workers open it themselves: it must be there for them, and so must its credentials (fsspec's
    own, from the environment or its configuration). Each partition is a run of whole blocks of
    about ``blocksize`` bytes of the packed file (a number, or as Dask writes sizes).

    Records and names of ``fields`` are as those of ``serialpack.open``. A dataframe's index
    numbers the records, and its divisions are known. Its columns are ``int64[pyarrow]``, or
    ``uint64``, ``double``, ``bool``, ``string``, where null stands for None and for what a record
    does not have; else of objects. Their types are those of the first block with a value, as
    ``dask.dataframe.read_csv`` has it; ``dtypes`` names others by field, and of those nothing is
    read before it is computed. A type that does not hold a later block's values as they are is an
    error then: RefusedError, with the type to name.

    Raises what ``serialpack.open`` raises, UsageError where no record has a field, and
    MissingLibraryError.

    >>> import serialpack
    >>> from serialpack.contrib import dask
    >>> dask.read("events.ndjson.spk").pluck("id").max().compute()  # doctest: +SKIP
    >>> dask.read("events.ndjson.spk", ["id", "at"])["id"].max().compute()  # doctest: +SKIP
    """
    size = _dask("utils").parse_bytes(blocksize)
    sources = [source] if isinstance(source, str | os.PathLike) else [*source]
    if not sources:
        raise UsageError("there is nothing to read: no file is named")
    parts = _parts([_for_workers(each) for each in sources], size, trust)
    if fields is None:
        return _bag(parts)
    return _frame(parts, [*fields], dict(dtypes or {}))


def _for_workers(source: Path) -> str:
    """``source``, so that a worker finds it from any folder."""
    text = os.fspath(source)
    if is_far(text):
        from serialpack.far.urls import address

        return address(shown(text))
    return text if is_store(text) else str(PathlibPath(text).absolute())


def _dask(name: str) -> Any:
    """The module ``name`` of Dask; MissingLibraryError."""
    try:
        return import_module(f"dask.{name}")
    except ImportError as error:
        why = str(error).strip().splitlines()[0].rstrip(".")
        what = "dask[dataframe]" if name == "dataframe" else "serialpack[dask]"
        raise MissingLibraryError(
            f"dask.{name} cannot be used here: {why}", hint=f"pip install '{what}'"
        ) from None


def _parts(sources: list[str], size: int, trust: bool) -> list[BlockRun]:
    """The runs of blocks of all ``sources``, one at least. Only the ends of each are read."""
    found: list[BlockRun] = []
    before = 0
    for source in sources:
        with sequence.open(source, trust=trust) as records:
            runs = records.runs(size) or [range(0)]
            found += [BlockRun(source, run, before, records.check, trust) for run in runs]
            before += len(records)
    return [part for part in found if part.run] or found[:1]


def _bag(parts: list[BlockRun]) -> Any:
    return _dask("bag").from_sequence(parts, partition_size=1).map_partitions(_records)


def _records(parts: list[BlockRun]) -> list[Any]:
    """The records of the one run in ``parts``, which a partition is."""
    (part,) = parts
    with part.opened() as records:
        return records[part.run.start : part.run.stop]


def _frame(parts: list[BlockRun], fields: list[str], dtypes: dict[str, str]) -> Any:
    frames = _dask("dataframe")
    import pandas as pd

    if unknown := dtypes.keys() - {*fields}:
        raise UsageError(f"dtypes names what is not read: {', '.join(sorted(unknown))}")
    found = _found_types(parts, [name for name in fields if name not in dtypes])
    meta = pd.DataFrame({name: pd.Series([], dtype={**found, **dtypes}[name]) for name in fields})
    numbers = [part.numbers for part in parts]
    # By default Dask would turn lists and maps into text.
    with _dask("config").set({"dataframe.convert-string": False}):
        return frames.from_map(
            _table,
            parts,
            found=found,
            given=dtypes,
            meta=meta,
            divisions=(*(each.start for each in numbers), max(numbers[-1].stop - 1, 0)),
            label="read-spk",
        )


def _found_types(parts: list[BlockRun], fields: list[str]) -> dict[str, str]:
    """Field -> the type of its values in the first block where it has one."""
    found = dict.fromkeys(fields, _NULL)
    missing, open_yet = {*fields}, fields
    for part in parts:
        if not open_yet:
            break
        with part.opened() as records:
            for lists, there in records.lists(open_yet, part.run):
                missing -= there
                found.update((name, _type_of(lists[name])) for name in open_yet)
                open_yet = [name for name in fields if found[name] == _NULL]
                if not open_yet:
                    break
    if missing and any(part.run for part in parts):
        raise UsageError(f"no record has a field {' or '.join(sorted(missing))}")
    return found


def _table(
    part: BlockRun, found: dict[str, str], given: dict[str, str], columns: list[str] | None = None
) -> Any:
    """The fields of the records of ``part`` as a frame of pandas; of ``columns`` alone, where
    given."""
    import pandas as pd

    types = {**found, **given}
    names = [*types] if columns is None else columns
    pieces: dict[str, list[Any]] = {name: [] for name in names}
    with part.opened() as records:
        for lists, _ in records.lists(names, part.run):
            for name, values in lists.items():
                try:
                    piece = _series(values, types[name], asked=name in given)
                except (ValueError, TypeError, OverflowError) as error:
                    raise _other_type(part, name, values, types[name]) from error
                pieces[name].append(piece)
    index = pd.RangeIndex(part.numbers.start, part.numbers.stop)
    columns_of = {
        name: pd.concat(found, ignore_index=True) if found else pd.Series([], dtype=types[name])
        for name, found in pieces.items()
    }
    return pd.DataFrame(columns_of, columns=names).set_index(index)


def _type_of(values: list[Any]) -> str:
    """The type of a column that holds ``values`` as they are."""
    there = [value for value in values if value is not None]
    if not there:
        return _NULL
    if (array := typed(there)).dtype.name in _TYPES:
        return _TYPES[array.dtype.name]
    return _TEXT if all(type(value) is str for value in there) else _ANY


def _series(values: list[Any], dtype: str, *, asked: bool) -> Any:
    """``values`` as a column of ``dtype``; an error, such as ValueError, where it does not hold
    them.

    ``asked``: the user named the type, so pandas may convert values, such as text into numbers.
    """
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    own = _type_of(values)
    if not asked and own not in (dtype, _NULL) and dtype != _ANY and (own, dtype) not in _WIDER:
        raise TypeError(f"{own} is not {dtype}")
    kind = own if asked and own != _NULL else dtype
    if kind == _ANY or dtype == _ANY:
        made = pd.Series(np.fromiter(values, object, len(values)), dtype=_ANY)
    elif kind == _TEXT:
        made = pd.Series(values, dtype=_TEXT)
    else:  # pandas itself would take NaN for null
        arrow = pd.api.types.pandas_dtype(kind).pyarrow_dtype
        made = pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values, arrow)))
    return made if made.dtype == dtype else made.astype(dtype)


def _other_type(part: BlockRun, name: str, values: list[Any], dtype: str) -> RefusedError:
    own = _type_of(values)
    wider = own if (dtype, own) in _WIDER else _ANY
    return RefusedError(
        f"{name}: some of records {part.numbers.start} to {part.numbers.stop} are {own},"
        f" which {dtype} does not hold as they are",
        path=shown(part.source),
        hint=f'dtypes={{"{name}": "{wider}"}} holds them',
    )
