"""Arrays made of values: of the type that is narrowest among those that people expect.

Integers have 64 bits (unsigned where they need it), floats are doubles, texts and bytes are as long
as the longest of them. A list in each record is a dimension, a map in each a record with fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from itertools import chain, islice
from typing import Any

from serialpack.depth import TOO_DEEP
from serialpack.errors import RefusedError
from serialpack.formats.arrays.header import npy_header
from serialpack.formats.arrays.types import items_of
from serialpack.formats.shared.document import Unwritable
from serialpack.stages.stage import Buffer
from serialpack.values.kind_of import kind_of
from serialpack.values.kinds import Difference, key_kind, shown, value_step
from serialpack.values.nanoseconds import (
    DURATION,
    LOCAL_TIME,
    NO_TIME,
    fine_kind,
    nanoseconds_of,
)

#: An array of text with more characters than this must not have so many times those of its texts.
_MANY, _TIMES = 16 << 20, 32

#: Lists and maps within each other: NumPy has 32 dimensions, and headers are read by nested calls.
_DEEPEST = 30

#: So many keys of a map are named.
_FEW = 3

#: The types of values that have one of NumPy's. None is no time (NaT).
_TYPES = {bool: "?", float: "<f8", complex: "<c16", date: "<M8[D]", datetime: "<M8[us]"}
_TYPES |= {timedelta: "<m8[us]"}
_TIME_TYPES = frozenset({date, datetime, timedelta})

#: The types of times with nanoseconds. NumPy has none for a time in UTC.
_NANOSECONDS = {LOCAL_TIME: "<M8[ns]", DURATION: "<m8[ns]"}


def npy_of(records: list[Any]) -> bytes:
    """An .npy file whose rows are ``records``; errors as of ``array_of``."""
    return _file_of(array_of(records))


def npy_of_value(value: Any, path: str) -> bytes:
    """An .npy file of a list, or of one item; errors as of ``array_of``, for the value at
    ``path``."""
    array = _ArrayMaker(1).items([value], path)
    return _file_of(array.reshape(array.shape[1:]))


def _file_of(array: Any) -> bytes:
    return b"".join(npy_pieces(array))


def npy_pieces(array: Any) -> list[Buffer]:
    """An .npy file of ``array`` in its order: the header, and the items where they lie in
    memory."""
    import numpy as np

    try:
        descr = np.lib.format.dtype_to_descr(array.dtype)
    except ValueError:  # fields that lie in another order, or over one another
        from numpy.lib.recfunctions import repack_fields

        array = repack_fields(array, recurse=True)
        descr = np.lib.format.dtype_to_descr(array.dtype)
    fortran, items = items_of(array)
    return [npy_header(descr, array.shape, fortran=fortran), items]


def array_of(records: list[Any]) -> Any:
    """The array whose rows are ``records``.

    Unwritable for a value that no type is for, or none together with those before it, ValueError
    for other reasons of NumPy's, RefusedError for what would be far larger.
    """
    import numpy as np

    if not records:
        return np.zeros(0)
    return _ArrayMaker(len(records)).items(records, "$")


class _ArrayMaker:
    """Makes one array. ``count``: how many records it is made of, for errors, which tell the
    record."""

    def __init__(self, count: int) -> None:
        self._count = count

    def items(self, values: list[Any], path: str, level: int = 0) -> Any:
        """An array with an item for each of ``values``, of which each record has equally many.

        ``level``: how many lists and maps are around them.
        """
        import numpy as np

        types = set(map(type, values))
        if level > _DEEPEST and types & {list, dict}:
            self._refuse(0, values, path, TOO_DEEP, "depth")
        if types == {list}:
            length = len(values[0])
            self._check_all(
                [len(value) == length for value in values],
                values,
                path,
                lambda value: f"a list of {len(value)}, before it are lists of {length}",
            )
            flat = list(chain.from_iterable(values))
            if not flat:
                return np.zeros((len(values), length))
            inner = self.items(flat, f"{path}[]", level + 1)
            return inner.reshape((len(values), length, *inner.shape[1:]))
        if types == {dict}:
            return self._records(values, path, level + 1)
        return self._scalars(values, types, path)

    def _records(self, values: list[Any], path: str, level: int) -> Any:
        import numpy as np

        names = list(values[0])
        self._check_all(
            [list(value) == names for value in values],
            values,
            path,
            lambda value: _other_keys(value, names),
        )
        if not names or "" in names:  # which NumPy would name
            self._refuse(0, values, path, "a map whose keys are no names of fields", "nested")
        for name in names:
            if type(name) is not str:
                self._refuse(0, values, path, shown(name), key_kind(name) or "key")
        fields = [
            self.items([value[name] for value in values], path + value_step(name), level)
            for name in names
        ]
        described = [
            (name, field.dtype, field.shape[1:]) for name, field in zip(names, fields, strict=True)
        ]
        made = np.zeros(len(values), described)
        for name, field in zip(names, fields, strict=True):
            made[name] = field
        return made

    def _scalars(self, values: list[Any], types: set[type], path: str) -> Any:
        import numpy as np

        fine = {kind for kind in types if fine_kind(kind) in _NANOSECONDS}
        kinds = types - {type(None)} if types & _TIME_TYPES or fine else types
        if fine and len(set(map(_time_kind, kinds))) == 1:
            return self._nanoseconds(values, path)
        if len(kinds) > 1:
            first = next(value for value in values if value is not None)
            self._check_all(
                [type(value) is type(first) for value in values],
                values,
                path,
                lambda value: f"{shown(value)} beside {shown(first)}",
                numbers=type(first) in (int, float),
            )
        (kind,) = kinds
        if kind is int:
            return self._integers(values, path)
        if kind is str:
            return self._texts(values, path)
        if kind is bytes:
            return self._bytes(values, path)
        for number, value in enumerate(values) if kind not in _TYPES or kind is datetime else ():
            if kind is not datetime or (value is not None and value.tzinfo):
                self._refuse(number, values, path, shown(value), kind_of(value))
        return np.array(values, _TYPES[kind])

    def _nanoseconds(self, values: list[Any], path: str) -> Any:
        """An array of times of one kind, in nanoseconds; None becomes NaT, which is no time."""
        import numpy as np

        counts: list[int] = []
        for number, value in enumerate(values):
            try:
                if type(value) is datetime and value.tzinfo:
                    raise ValueError("it has a zone")
                counts.append(NO_TIME if value is None else nanoseconds_of(value))
            except (ValueError, OverflowError):
                self._refuse(number, values, path, shown(value), kind_of(value))
        kind = next(kind for kind in map(_time_kind, map(type, values)) if kind is not None)
        return np.array(counts, "<i8").view(_NANOSECONDS[kind])

    def _integers(self, values: list[int], path: str) -> Any:
        import numpy as np

        least, greatest = min(values), max(values)
        if least < -(1 << 63) or greatest >= 1 << 64:
            beyond = least if least < -(1 << 63) else greatest
            self._refuse(values.index(beyond), values, path, shown(beyond), kind_of(beyond))
        if greatest >= 1 << 63 and least < 0:
            self._refuse(
                values.index(greatest), values, path, f"{greatest} beside {least}", "mixed"
            )
        return np.array(values, "<u8" if greatest >= 1 << 63 else "<i8")

    def _texts(self, values: list[str], path: str) -> Any:
        import numpy as np

        longest = max(map(len, values))
        self._check_room(values, longest, path)
        for number, value in enumerate(values):
            if value.endswith("\0"):
                self._refuse(number, values, path, f"text that ends in NUL: {shown(value)}", "text")
        return np.array(values, f"<U{longest or 1}")

    def _bytes(self, values: list[bytes], path: str) -> Any:
        import numpy as np

        longest = max(map(len, values))
        self._check_room(values, longest, path)
        ends = [number for number, value in enumerate(values) if value.endswith(b"\0")]
        if not ends:
            return np.array(values, f"S{longest or 1}")
        for number, value in enumerate(values):
            if len(value) < longest:
                why = "bytes of several lengths, some of which end in zero"
                self._refuse(number, values, path, why, "bytes")
        return np.array(values, f"V{longest}")

    def _check_room(self, values: list[Any], longest: int, path: str) -> None:
        """RefusedError where the texts, each with room for the longest, would take far more than
        they have."""
        needed = longest * len(values)
        if needed > _MANY and needed > _TIMES * sum(map(len, values)):
            raise RefusedError(
                f"{path}: in an array each of {len(values):,} texts would take as much as the"
                f" longest, which has {longest:,} characters",
                hint="--to parquet or ndjson holds texts of any length",
            )

    def _check_all(
        self,
        alike: list[bool],
        values: list[Any],
        path: str,
        why: Callable[[Any], str],
        *,
        numbers: bool = False,
    ) -> None:
        """Unwritable for the first of ``values`` that is not ``alike``, which ``why`` names; for
        null among ``numbers`` of a kind of its own, as it may become NaN."""
        if not all(alike):
            at = alike.index(False)
            kind = "null" if values[at] is None and numbers else "mixed"
            self._refuse(at, values, path, why(values[at]), kind)

    def _refuse(self, at: int, values: list[Any], path: str, was: str, kind: str) -> None:
        if self._count == 1 and path.count("[]") == 1 and path.endswith("[]"):
            path = f"{path[:-1]}{at}]"  # in one list the index is known
        raise Unwritable(Difference(self._record(at, values), path, was, "", kind))

    def _record(self, at: int, values: list[Any]) -> int:
        """The number of the record that a value is in."""
        return at * self._count // len(values)


def _time_kind(kind: type) -> str | None:
    """The kind of times that values of a type are, of those that NumPy has in nanoseconds; else
    None."""
    return {datetime: LOCAL_TIME, timedelta: DURATION}.get(kind, fine_kind(kind))


def _other_keys(value: dict[Any, Any], names: list[Any]) -> str:
    """In words, how a map differs from those before it, which have the keys ``names``."""
    if max(len(value), len(names)) <= _FEW:
        return f"a map of {_named(value)}, before it are maps of {_named(names)}"
    known = set(names)
    absent = [name for name in names if name not in value]
    more = [name for name in value if name not in known]
    ways = [f"without {_named(absent)}"] if absent else []
    ways += [f"with {_named(more)}"] if more else []
    return f"a map {' and '.join(ways) or 'in another order'}, unlike those before it"


def _named(names: Iterable[Any]) -> str:
    """The first few of some keys, in words."""
    words = [shown(name) for name in islice(names, _FEW + 1)]
    return ", ".join(words[:_FEW]) + ", ..." * (len(words) > _FEW) or "no keys"
