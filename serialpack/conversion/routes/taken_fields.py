"""Takes some fields of the records of an array: their items stay as they are, bit for bit."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from serialpack.columns.fields.wanted import Field
from serialpack.errors import RefusedError, ValueRefusedError
from serialpack.formats.arrays.header import ArrayHeader, missing_bytes
from serialpack.formats.arrays.rows import dtype_in, read_all
from serialpack.formats.base import Read
from serialpack.formats.shared.document import Malformed
from serialpack.values.kinds import FIELDS

if TYPE_CHECKING:
    import numpy as np

#: Bytes that are read at a time, where an item has no more.
_PIECE = 1 << 20


def taken_fields(
    header: ArrayHeader, read: Read, fields: Collection[Field]
) -> tuple[ArrayHeader, Read]:
    """The header of the array that has these ``fields`` alone, in the order of its own, and what
    reads its items.

    ``read``: gives the items of the array with ``header``, and what is behind it. RefusedError
    where it is no list of records; ValueRefusedError where these have none of the fields. The last
    raises Malformed where it ends too early.
    """
    import numpy as np

    old = dtype_in(header)
    if not old.names or len(header.shape) != 1:
        raise RefusedError(
            "it is no list of records: it has no fields", hint="convert it without --fields"
        )
    if (new := _type_of(old, fields)) is None:
        names = ", ".join(sorted({".".join(field) for field in fields}))
        raise ValueRefusedError(f"no record has any of the fields {names}", kind=FIELDS)
    left, held = header.rows, memoryview(b"")
    step = max(_PIECE // old.itemsize, 1)

    def items(size: int) -> bytes:
        nonlocal left, held
        if not held and not left:
            return read(size)
        if not held:
            rows = min(step, left)
            data = read_all(read, rows * old.itemsize)
            if len(data) < rows * old.itemsize:
                raise Malformed(missing_bytes(left * old.itemsize - len(data)))
            left -= rows
            made = np.zeros(rows, new)
            _fill(made, np.frombuffer(data, old))
            held = memoryview(made.tobytes())
        piece, held = bytes(held[:size]), held[size:]
        return piece

    descr = np.lib.format.dtype_to_descr(new)
    return header._replace(descr=descr, fortran=False), items


def fields_of(descr: object) -> frozenset[Field]:
    """The fields of records of this type, also those in others."""
    found: set[Field] = set()
    for name, kind, *_ in descr if isinstance(descr, list) else ():
        found.add((name,))
        found |= {(name, *inner) for inner in fields_of(kind)}
    return frozenset(found)


def _type_of(old: np.dtype[Any], fields: Collection[Field]) -> np.dtype[Any] | None:
    import numpy as np

    parts: list[tuple[str, np.dtype[Any]]] = []
    for name in old.names or ():
        inner = {field[1:] for field in fields if field[0] == name}
        part = old[name] if () in inner else _type_of(old[name], inner) if inner else None
        if part is not None:
            parts.append((name, part))
    return np.dtype(parts) if parts else None


def _fill(new: np.ndarray[Any, Any], old: np.ndarray[Any, Any]) -> None:
    for name in new.dtype.names or ():
        if new.dtype[name] == old.dtype[name]:
            new[name] = old[name]
        else:
            _fill(new[name], old[name])
