"""Tables in pieces of some rows, each a block of its own.

A piece is a stream of Arrow's, with the columns as their file has them, except that texts of a
dictionary stand where they are used.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from serialpack.errors import RefusedError
from serialpack.formats.base import MAX_BLOCK, SourceBlock
from serialpack.formats.shared.document import Malformed
from serialpack.formats.tables import records as tables
from serialpack.formats.tables.folded import Weights, is_folded, unfolded, weights
from serialpack.formats.tables.library import is_plain
from serialpack.formats.tables.room import MOST_VALUES, Weight

#: The context of a block begins so where the block is such a piece: no file of a table does.
MARK = b"\xc1rows of a table\x00"

#: A piece has a value for so many bytes of its size, where nobody says how many there may be.
_BYTES_OF_VALUE = 64

#: The least rows of a piece, however many columns it has: with fewer, the columns cost more than
#: the values.
_LEAST_ROWS = 8

#: The most rows of folded columns that are weighed at a time.
_WEIGHED_ROWS = 1 << 16


def limits(block_size: int, most_values: int) -> tuple[int, int]:
    """The most bytes and values of a piece for ``block_size`` bytes of text.

    There is a limit on values, as those of few bytes take as much memory as others once they are
    Python's.
    """
    values = block_size // _BYTES_OF_VALUE
    return block_size // 2, max(1, min(most_values or values, values) // 2)


def rows_with(values: int, columns: int) -> int:
    """How many rows have about ``values`` values; at least ``_LEAST_ROWS``."""
    return max(_LEAST_ROWS, values // max(1, columns))


def columns_of(schema: Any, wanted: Collection[str] | None) -> list[str] | None:
    """The names of the columns that are ``wanted``, in the table's order. None: all of them, which
    is also so where none of them is there, or several have one name."""
    names = schema.names
    found = [name for name in names if name in wanted] if wanted is not None else []
    return found if found and len(set(names)) == len(names) else None


def with_columns(schema: Any, names: list[str] | None) -> Any:
    """``schema`` with the columns ``names`` alone."""
    if names is None:
        return schema
    return tables.arrow().schema([schema.field(name) for name in names], schema.metadata)


def blocks(batches: Iterable[Any], schema: Any, size: int, values: int) -> Iterator[SourceBlock]:
    """The rows of ``batches``, of which ``check_inner`` is true, as blocks of about ``size`` bytes
    and ``values`` values.

    There is at least one block; the last one is marked. Malformed where a batch contradicts itself,
    RefusedError for a row that is too large.
    """
    pa = tables.arrow()
    columns = [field.with_type(tables.without_words(field.type)) for field in schema]
    schema = pa.schema(columns, schema.metadata)
    index = offset = first = 0
    before: SourceBlock | None = None
    for rows in sound(batches, size, values):
        if before is not None:
            yield before
        before = _block(rows, schema)._replace(index=index, offset=offset, first_record=first)
        index, offset, first = index + 1, offset + len(before.data), first + rows.num_rows
    if before is None:
        empty = pa.RecordBatch.from_arrays([pa.array([], c.type) for c in columns], schema=schema)
        before = _block(empty, schema)
    yield before._replace(last=True)


def table_of(data: bytes) -> Any:
    """The table that the bytes of a piece are."""
    return tables.arrow().ipc.open_stream(data).read_all()


def schema_of(data: bytes) -> Any:
    """The types of the columns of a piece."""
    return tables.arrow().ipc.open_stream(data).schema


def marked(data: bytes) -> Any | None:
    """The table of a piece that stands behind ``MARK`` in ``data``; None for any other bytes."""
    if not data.startswith(MARK):
        return None
    try:
        return table_of(data.removeprefix(MARK))
    except (tables.arrow().ArrowException, OSError, ValueError):
        return None


def alone(table: Any) -> Iterator[SourceBlock]:
    """Each row of ``table``, a piece, as a piece of its own."""
    for number, batch in enumerate(table.to_batches(max_chunksize=1)):
        yield _block(batch, table.schema)._replace(index=number, first_record=number)


def _block(rows: Any, schema: Any) -> SourceBlock:
    rows = as_types(rows, schema)
    data = _written(rows).to_pybytes()
    return SourceBlock(data, index=0, offset=0, records=rows.num_rows, context=MARK)


def as_types(rows: Any, schema: Any) -> Any:
    """``rows``, a sound batch, as a batch of the types of ``schema``; an error of pyarrow's where
    it cannot be."""
    pa = tables.arrow()
    if any(map(is_folded, rows.schema.types)):
        plain = [unfolded(c) if is_folded(c.type) else c for c in rows.columns]
        rows = pa.RecordBatch.from_arrays(plain, names=rows.schema.names)
    kinds = list(zip(rows.schema.types, schema.types, strict=True))
    if any(was != kind and was.num_fields for was, kind in kinds):
        rows = compact(rows)  # ``cast`` wants no slices
    if kinds:
        columns = map(tables.cast, rows.columns, schema.types)
        rows = pa.RecordBatch.from_arrays(list(columns), schema=schema)
    return rows


def compact(rows: Any) -> Any:
    """The batch in memory of its own: as a slice, each of its arrays takes 2 kB more."""
    return tables.arrow().ipc.open_stream(_written(rows)).read_next_batch()


def _written(rows: Any) -> Any:
    pa = tables.arrow()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_batch(rows)
    return sink.getvalue()


def check_inner(batch: Any) -> None:
    """An error of pyarrow's where a column that holds others contradicts itself. It is checked in
    whole: of a slice too, all that the column holds would be looked at, each time."""
    batch.validate()
    for column in batch.columns:
        if _holds_others(column.type):
            column.validate(full=True)


def _holds_others(kind: Any) -> bool:
    if is_plain(kind):
        return False
    pa = tables.arrow()
    if isinstance(kind, pa.BaseExtensionType):
        return _holds_others(kind.storage_type)
    return bool(kind.num_fields) or pa.types.is_dictionary(kind)


def sound(batches: Iterable[Any], size: int, values: int) -> Iterator[Any]:
    """The rows of ``batches``, of which ``check_inner`` is true, as sound batches that are small
    enough; errors as of ``blocks``."""
    for batch in batches:
        folded = any(map(is_folded, batch.schema.types))
        rows = _WEIGHED_ROWS if folded else max(batch.num_rows, 1)
        for at in range(0, batch.num_rows, rows):
            yield from _small(batch.slice(at, rows), size, values)


def _small(batch: Any, size: int, values: int) -> Iterator[Any]:
    most = rows_with(values, batch.num_columns)
    folded = {n: _weights(c) for n, c in enumerate(batch.columns) if is_folded(c.type)}
    at = 0
    while at < batch.num_rows:
        rows = batch.slice(at, most)
        weight = Weight()
        try:
            for number, column in enumerate(rows.columns):
                if number in folded:
                    weight.take(*folded[number].of(at, at + rows.num_rows))
                    continue
                weight.take_array(column)
                if not _holds_others(column.type):
                    column.validate(full=True)
        except (tables.arrow().ArrowException, LookupError, ValueError) as error:
            raise Malformed(tables.first_line(error)) from None
        too_many = weight.values > 2 * max(values, _LEAST_ROWS * batch.num_columns)
        if rows.num_rows > 1 and (too_many or weight.bytes > size):
            most = rows.num_rows // 2
            continue
        if weight.bytes > MAX_BLOCK or weight.values > MAX_BLOCK:
            raise RefusedError("a row is larger than 64 MiB")
        yield rows
        at += rows.num_rows


def _weights(column: Any) -> Weights:
    """The weights of a folded column, in which there may be as many items as its bytes account
    for."""
    try:
        return weights(column, MOST_VALUES + 8 * column.get_total_buffer_size())
    except (tables.arrow().ArrowException, LookupError, ValueError) as error:
        raise Malformed(tables.first_line(error)) from None
