"""Routes on which nothing is read as values: the bytes of the target are there, or made elsewhere.

These are containers of the very format that is asked for (``copied``), whole databases
(``copied_database``), tables made by the types of the source (``copied_table``,
``table_in_place``) and arrays (``copied_as_array``).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from serialpack.conversion.losses.rules import DATABASES, FIXED
from serialpack.conversion.options import ConvertOptions
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.routes.outcome import Converted
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.tables.survey_result import TableKept, TableMade
from serialpack.errors import (
    MissingLibraryError,
    RefusedError,
    SerialpackError,
    SyntaxInputError,
    UsageError,
)
from serialpack.formats import FORMATS
from serialpack.formats.base import Read, Unheld, ValueFormat
from serialpack.formats.pieces.join import Join
from serialpack.formats.shared.random_access import FileRead, as_file
from serialpack.pipeline.line import Progress
from serialpack.pipeline.unpack import LimitedWrite
from serialpack.stages.stage import Write
from serialpack.values.kinds import SCHEMA, Loss


def copied(
    read: Read, write: Write, progress: Progress | None, format: str | None = None
) -> Converted:
    """The very bytes; with ``format`` of what is valid in it: SyntaxInputError, InputError.

    A container keeps any bytes, and who asks for a format is to get it, or to be told.
    """
    if format is not None and isinstance(read, FileRead) and read.opened is not None:
        _check(read, format)
        with read.opened() as file:
            return copied(file.read, write, progress)
    done = 0
    failed: list[SerialpackError] = []

    def passed(size: int) -> bytes:
        nonlocal done
        try:
            data = read(size)
            write(data)
        except SerialpackError as error:
            failed.append(error)
            raise
        done += len(data)
        if progress is not None:
            progress(done, done)
        return data

    if format is not None:
        _check(passed, format)
        if failed:  # which is no matter of the format, and may not be told a second time
            raise failed[0]
    while passed(1 << 20):
        pass
    return Converted(done, None, [], 0, [], {})


def is_copied(source: str, to: str, how: ConvertOptions) -> bool:
    """Whether a database becomes one of which nothing else is asked for: it is the same file, with
    its keys, indexes and views."""
    picks = how["table"] is not None or how["fields"] or how["shaping"] != Shaping()
    return source == to and to in DATABASES and not picks


def copied_database(read: Read, write: Write, progress: Progress | None) -> Converted:
    """The very bytes of a database. FileError, InputError where it cannot be read, or not all of
    it."""
    from serialpack.formats.sqlite.database import check_pages, tables_in

    with as_file(read).file() as path:
        for _ in tables_in(path, counted=False):
            pass
        check_pages(path)
        with path.open("rb") as file:
            return copied(file.read, write, progress)


def copied_table(kept: TableKept, write: Write, progress: Progress | None) -> Converted:
    """A table that is made already, by which all of the source is read."""
    told = None if progress is None else partial(_written, progress, kept.made.read)
    kept.file.seek(0)
    copied(kept.file.read, write, told)
    return _of_table(kept.made)


def table_in_place(
    read: Read,
    plan: ConversionPlan,
    out: LimitedWrite,
    so_far: Callable[[], str],
    progress: Progress | None,
) -> Converted:
    """A table that is made where it is to be; ``so_far`` says where that is read. Errors as of
    ``batches.made_table``, after which it is to be made elsewhere."""
    from serialpack.conversion.tables.batches import made_table

    made = made_table(read, plan, out, so_far, progress)
    if progress is not None:
        progress(made.read, out.written)
    return _of_table(made)


def _of_table(made: TableMade) -> Converted:
    return Converted(made.read, made.rows, made.told, 0, [], {}, made.fields)


def _written(progress: Progress, read: int, _done: int, written: int) -> None:
    progress(read, written)


def copied_as_array(
    read: Read, write: Write, plan: ConversionPlan, progress: Progress | None
) -> Converted | None:
    """As ``arrays.copied_array``, for targets that are arrays; UsageError for a step of others."""
    target, found = FORMATS.declaration(plan.target), None
    is_for_arrays = target.is_array or target.has_arrays
    if is_for_arrays:
        from serialpack.conversion.routes.arrays import copied_array

        found = copied_array(read, write, plan, progress)
    if found is None and plan.step:
        rounds = f"--lossy {FIXED}:{plan.step:g}"
        hint = f"--to npy {rounds} where it is one"
        if is_for_arrays:
            hint = f"convert it without, and then what that wrote, with {rounds}"
        raise UsageError(
            f"--lossy {FIXED} rounds an array, and what --to {plan.target} makes of this is none",
            hint=hint,
        )
    return found


def schema_dropped(read: Read, to: str) -> list[Loss]:
    """What is told where a table of a database, which was read, went into another."""
    beside = read.beside if isinstance(read, FileRead) and to in DATABASES else ()
    return [Loss(SCHEMA, len(beside), 0, "$", f"{', '.join(beside):.60}", "")] if beside else []


def _check(read: Read, format: str) -> None:
    """SyntaxInputError, InputError where what is read is not valid in ``format``."""
    fmt = FORMATS.get(format)
    if not isinstance(fmt, ValueFormat):
        return
    size = Join.block_size
    try:
        # What is beyond a limit, or beyond what is installed, may well be valid.
        with suppress(RefusedError, MissingLibraryError):
            for block in fmt.split(read, size, for_values=True, most_values=Join.most_values(size)):
                with suppress(Unheld):
                    fmt.count(block)
    except SyntaxInputError as error:
        error.hint = "without --to the bytes come back as they were packed"
        raise
