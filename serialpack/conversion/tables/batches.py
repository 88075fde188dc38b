"""A table with types becomes one in another file by batches of Arrow's: with the very types, with
what they hold bit for bit, and what is said beside them.

By values each column would get the type that Python's values have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple

from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.tables.own_types import held_types, nearest_told
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.tables.survey_result import TableKept, TableMade, TableNotMadeError
from serialpack.errors import SyntaxInputError
from serialpack.formats import FORMATS
from serialpack.formats.base import Read
from serialpack.formats.shared.document import Malformed
from serialpack.formats.shared.file_objects import Sink
from serialpack.formats.shared.random_access import as_file, put
from serialpack.formats.tables import pieces
from serialpack.formats.tables import records as tables
from serialpack.formats.tables.bits import same_bits
from serialpack.formats.tables.folded import is_folded
from serialpack.formats.tables.table import TableFormat
from serialpack.hidden import temporary_folder
from serialpack.pipeline.line import Progress
from serialpack.pipeline.unpack import LimitedWrite
from serialpack.serializers.base import FAILURES

#: The bytes and values of a batch that is read, and the bytes and rows of a group that is written.
_BYTES, _VALUES = 8 << 20, 1 << 20
_GROUP_BYTES, _GROUP_ROWS = 64 << 20, 1 << 20


def is_by_types(plan: ConversionPlan) -> bool:
    """Whether a table is to become one with its types: where nothing is asked for that takes its
    values."""
    asked = plan.tagged or plan.skip_bad or plan.step or plan.source_serializer
    shaping = plan.shaping._replace(flatten=False, separator=None)
    return not asked and shaping == Shaping() and all(len(path) == 1 for path in plan.fields)


@contextmanager
def kept_table(
    read: Read, plan: ConversionPlan, max_size: int | None, progress: Progress | None
) -> Iterator[TableKept]:
    """As ``made_table``, in a temporary file: for a target that cannot be read again, or that is
    opened once. ``max_size``: its most bytes; RefusedError."""
    with temporary_folder() as folder, Path(folder, "table").open("w+b") as file:
        out = LimitedWrite(partial(put, file), max_size)
        yield TableKept(file, made_table(read, plan, out, lambda: file.name, progress))


def made_table(
    read: Read,
    plan: ConversionPlan,
    out: LimitedWrite,
    place: Callable[[], str],
    progress: Progress | None,
) -> TableMade:
    """Write the table that ``read`` gives in the format of the target, with its types, proved.

    ``place`` says where what ``out`` wrote is read again. ``progress`` is told of the bytes of the
    source of which as much is written, and proved, by which half of all is done.

    TableNotMadeError, with the types of the source, where maps are to be columns, or the target has
    not some of them; without, where the source is not sound: by values it is made, or it is said
    what is wrong. What was written is nothing then. FileError, RefusedError.
    """
    source, target = FORMATS.get(plan.source), FORMATS.get(plan.target)
    assert isinstance(source, TableFormat)
    assert isinstance(target, TableFormat)
    tables.arrow()
    table = None
    with as_file(read).file() as path:
        try:
            with tables.failures_told():
                table = _Table(source, path, [name for (name,) in plan.fields])
                if plan.shaping.flatten:
                    raise TableNotMadeError(table.own)
                far = _Told(progress, out, path.stat().st_size, 0.5 if plan.verify else 1.0)
                rows = table.write(target, out, far)
                made = _Table(target, Path(place()), [])
                if plan.verify and not table.is_in(made, rows, far):
                    raise TableNotMadeError
        except (*FAILURES, Malformed, SyntaxInputError):
            is_sound = table is not None and None in held_types(target, table.schema)
            own = table.own if table is not None and is_sound else None
            raise TableNotMadeError(own) from None
        told = nearest_told(table.own, made.own.types, plan)
        return TableMade(rows, frozenset(plan.fields), path.stat().st_size, told)


class _Told(NamedTuple):
    """Who is told how far it is: a source of ``size`` bytes. ``writing``: the share of all that
    this is, before the proof."""

    progress: Progress | None
    out: LimitedWrite
    size: int
    writing: float

    def wrote(self, share: float) -> None:
        """So much is written."""
        self._tell(self.writing * min(share, 1.0))

    def proved(self, share: float) -> None:
        """So much of what was written is proved."""
        self._tell(self.writing + (1 - self.writing) * share)

    def _tell(self, share: float) -> None:
        if self.progress is not None:
            self.progress(int(self.size * share), self.out.written)


class _Table:
    """The table in a file, or those columns of it that are wanted; ValueError where not all are
    there. What it holds once and means many times is written out, but for words."""

    def __init__(self, fmt: TableFormat, path: Path, wanted: list[str]) -> None:
        self._format = fmt
        self._path = path
        schema = fmt.schema_at(path)
        self._wanted = pieces.columns_of(schema, wanted) if wanted else None
        if wanted and (self._wanted is None or {*self._wanted} != {*wanted}):
            raise ValueError("not all of the columns are there")
        self.own = self.schema = pieces.with_columns(schema, self._wanted)
        for number, field in enumerate(self.schema):
            if is_folded(field.type):
                plain = field.with_type(tables.without_words(field.type))
                self.schema = self.schema.set(number, plain)

    def write(self, target: TableFormat, write: LimitedWrite, told: _Told) -> int:
        """Write it in another format; how many rows it has."""
        sink, rows, size, all_rows = Sink(), 0, 0, self._format.rows_at(self._path)
        writer = target.open_writer(sink, self.schema)
        for group in self._groups(self._words() if target.one_dictionary else None):
            writer.write_table(group)
            rows, size = rows + group.num_rows, size + group.nbytes
            write(sink.taken())
            told.wrote(rows / max(all_rows, 1) if all_rows is not None else size / told.size)
        writer.close()
        write(sink.taken())
        return rows

    def is_in(self, other: _Table, rows: int, told: _Told) -> bool:
        """Whether ``other`` has the same ``rows``, and says the same of them."""
        if self.schema.metadata != other.schema.metadata or len(self.schema) != len(other.schema):
            return False
        if not all(starmap(_is_kept, zip(self.schema, other.schema, strict=True))):
            return False
        plain = [field.with_type(_compared(field.type)) for field in self.schema]
        schema = tables.arrow().schema(plain)
        return _same_rows(_counted(self._batches(schema), rows, told), other._batches(schema))

    def _batches(self, schema: Any) -> Iterator[Any]:
        """Its rows with the types of ``schema``."""
        found = self._format.batches(self._path, _BYTES, _VALUES, self._wanted)
        next(found)
        for rows in pieces.sound(found, _BYTES, _VALUES):
            yield pieces.as_types(rows, schema)

    def _groups(self, words: Any) -> Iterator[Any]:
        """Its rows as tables of which each is a group, with dictionaries that begin with
        ``words``."""
        held, size, rows = list[Any](), 0, 0
        for batch in self._batches(self.schema):
            held.append(batch)
            size, rows = size + batch.nbytes, rows + batch.num_rows
            if size >= _GROUP_BYTES or rows >= _GROUP_ROWS:
                yield _together(held, words)
                held, size, rows = [], 0, 0
        if held:
            yield _together(held, words)

    def _words(self) -> Any:
        """No rows, with all the words that the dictionaries of its columns have; None where there
        are no such columns."""
        if all(tables.without_words(kind) == kind for kind in self.schema.types):
            return None
        words = self.schema.empty_table()
        for batch in self._batches(self.schema):
            words = _together([batch], words).slice(0, 0)
        return words


def _counted(batches: Iterator[Any], rows: int, told: _Told) -> Iterator[Any]:
    """``batches`` of so many rows; each is told of when it is proved, and the next asked for."""
    done = 0
    for batch in batches:
        yield batch
        done += batch.num_rows
        told.proved(done / max(rows, 1))


def _together(batches: Iterable[Any], words: Any) -> Any:
    """The table of ``batches``, with one dictionary for each column where there are ``words``."""
    table = tables.arrow().Table.from_batches(batches)
    if words is None:
        return table
    return tables.arrow().concat_tables([words, table]).unify_dictionaries()


def _is_kept(was: Any, became: Any) -> bool:
    """Whether a field is there with its type, but for those that Parquet has not: whole seconds,
    milliseconds of days, and dictionaries of other words than text."""
    is_a, kind, made = tables.arrow().types, was.type, became.type
    if (was.metadata, was.nullable) != (became.metadata, became.nullable):
        return False
    if kind == made or is_a.is_dictionary(kind):
        return True
    if not kind.num_fields:
        days = is_a.is_date64(kind) and is_a.is_date32(made)
        same = kind.id == made.id and getattr(kind, "tz", None) == getattr(made, "tz", None)
        return bool(days or same)
    if kind.id != made.id or kind.num_fields != made.num_fields:
        return False
    parts = [(kind.field(n), made.field(n)) for n in range(kind.num_fields)]
    named = not is_a.is_struct(kind) or all(a.name == b.name for a, b in parts)
    return named and all(starmap(_is_kept, parts))


def _compared(kind: Any) -> Any:
    """The type in which values are compared: with words where they are used, but that those of an
    order are compared too."""
    is_ordered = tables.arrow().types.is_dictionary(kind) and kind.ordered
    return kind if is_ordered else tables.without_words(kind)


def _same_rows(found: Iterator[Any], again: Iterator[Any]) -> bool:
    """Whether two streams of batches have the same rows, bit for bit."""
    left = right = None
    while True:
        left = left if left is not None and left.num_rows else next(found, None)
        right = right if right is not None and right.num_rows else next(again, None)
        if left is None or right is None:
            return left is right
        rows = min(left.num_rows, right.num_rows)
        pairs = zip(left.slice(0, rows).columns, right.slice(0, rows).columns, strict=True)
        if not all(starmap(same_bits, pairs)):
            return False
        left, right = left.slice(rows), right.slice(rows)
