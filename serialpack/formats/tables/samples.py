"""A row that a table could have, made from its types, for a table without rows."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from serialpack.formats.tables import records as tables
from serialpack.text import unique_names


def sample_of(schema: Any) -> dict[str, Any]:
    """A row under ``schema``, as rows are read; null in a column that has no simple type.

    Columns of one name have names of their own, as where they are renamed.
    """
    pa = tables.arrow()
    table = pa.Table.from_arrays([_one(kind) for kind in schema.types], unique_names(schema.names))
    return dict(*tables.records_of(table, table.nbytes))


def _one(kind: Any) -> Any:
    """An array of one value of type ``kind``, or of one null."""
    pa = tables.arrow()
    is_a = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return _one(kind.storage_type)
    if is_a.is_dictionary(kind):
        return _one(kind.value_type)
    if is_a.is_struct(kind) and kind.num_fields:
        names = [field.name for field in kind]  # and no types: what is null has none
        return pa.StructArray.from_arrays([_one(field.type) for field in kind], names)
    if is_a.is_list(kind):
        return pa.ListArray.from_arrays([0, 1], _one(kind.value_type))
    try:
        if is_a.is_decimal(kind):  # as many digits as there may be, for who counts them
            return pa.array([Decimal((0, (9,) * kind.precision, -kind.scale))], kind)
        if is_a.is_date(kind) or is_a.is_time(kind):
            width = pa.int32() if kind.bit_width == 32 else pa.int64()
            return pa.array([0], width).cast(kind)
        if is_a.is_binary(kind) or is_a.is_large_binary(kind):
            return pa.array([b""], kind)
        return pa.array([0], pa.int64()).cast(kind)
    except (pa.ArrowException, NotImplementedError):
        return pa.nulls(1)
