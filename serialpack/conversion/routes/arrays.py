"""Copies one array into a file of another format: its items stay, bit for bit.

Only what describes them is written anew; where the user asks for it, floats are rounded. Through
values each number would get the type that values have, and memory of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from functools import partial
from io import SEEK_END
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, cast

from serialpack.columns.fields.wanted import Field
from serialpack.conversion.losses.losses import Losses, check_dropped
from serialpack.conversion.losses.rounding import Rounding
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.routes.outcome import Converted
from serialpack.conversion.routes.taken_fields import fields_of, taken_fields
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.targets.group_order import other_order
from serialpack.errors import InputError, SyntaxInputError, ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.arrays.hdf5.names import Names
from serialpack.formats.arrays.header import ArrayHeader, missing_bytes, npy_header, read_header
from serialpack.formats.arrays.npz import NpzFormat
from serialpack.formats.arrays.rows import ArrayFormat, behind, dtype_in
from serialpack.formats.arrays.zipped import (
    array_told,
    entry_names,
    is_compressed,
    opened_entries,
    zip_pieces,
)
from serialpack.formats.base import Format, Read, SourceBlock
from serialpack.formats.shared.document import DocumentFormat, Malformed
from serialpack.formats.shared.random_access import sought
from serialpack.hidden import temporary_folder
from serialpack.pipeline.line import Progress
from serialpack.reports import LeftOut
from serialpack.stages.stage import Buffer, Write
from serialpack.values.kinds import value_step

if TYPE_CHECKING:
    from serialpack.formats.arrays.hdf5.written import NewFile

#: Bytes that are copied at a time.
_PIECE = 1 << 20


def copied_array(
    read: Read, write: Write, plan: ConversionPlan, progress: Progress | None
) -> Converted | None:
    """Write the file of the array that ``read`` gives; where the target has arrays by name, of
    all.

    None where it is no array as it is: values were asked for, or another format. InputError where
    it is not whole (of an array by itself, the rows that are not and what is behind it may be left
    out), ValueRefusedError for a header that must not be dropped, and for an array that
    the target does not hold.
    """
    asked = plan.tagged or plan.types or plan.source_serializer
    if asked or plan.shaping != Shaping():
        return None
    fmt, target = FORMATS.get(plan.source), FORMATS.declaration(plan.target)
    is_one = isinstance(fmt, ArrayFormat)
    if plan.skip_bad and (plan.fields or not is_one):
        return None
    if plan.fields and is_one and not target.is_array:
        return None
    title = fmt.title if isinstance(fmt, DocumentFormat) else plan.source
    try:
        with ExitStack() as stack:
            ends = _Ends(title)
            if target.has_arrays and not plan.step:
                made = _into_datasets if target.has_datasets else _into_archive
                read = ends.sized(read, stack) if plan.skip_bad else read
                arrays = _arrays_in(fmt, read, plan, stack)
                return None if arrays is None else made(arrays, write, plan, progress, ends)
            if isinstance(fmt, ArrayFormat) and target.is_array:
                read = ends.sized(read, stack) if plan.skip_bad else read
                return _copied(fmt, read, write, plan, progress, ends)
    except Malformed as bad:
        if bad.at is not None:
            raise SyntaxInputError(
                f"not valid {title}: {bad.message}", offset=bad.at, hint=bad.hint
            ) from None
        raise InputError(f"not valid {title}: {bad.message}") from None
    return None


class _Ends:
    """Where arrays end that are copied; what is too much or too little there is left out where it
    may be. ``title``: what messages call their format; ``left_out``: what was."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._size: int | None = None
        self.left_out: list[LeftOut] = []

    def sized(self, read: Read, stack: ExitStack) -> Read:
        """``read``, from a file that tells how long it is; what is broken may be left out then."""
        file = stack.enter_context(sought(read))
        opened = stack.enter_context(file.open("rb")) if isinstance(file, Path) else file
        self._size = opened.seek(0, SEEK_END)
        opened.seek(0)
        return opened.read

    def whole_rows(self, header: ArrayHeader) -> ArrayHeader:
        """The header of the rows that are there whole."""
        row = header.items_a_row * dtype_in(header).itemsize
        if self._size is None or not row or header.is_fortran:
            return header
        there, lacking = divmod(self._size - header.size, row)
        if not 0 < there < header.rows:
            return header
        said = missing_bytes((header.rows - there) * row - lacking)
        self._leave_out(there, header.size + there * row, header.rows - there, said)
        return header._replace(shape=(there, *header.shape[1:]))

    def check(self, read: Read, header: ArrayHeader) -> None:
        """Malformed for bytes behind an array, unless they are left out."""
        if self.left_out or not read(1):
            return
        at = header.size + header.rows * header.items_a_row * dtype_in(header).itemsize
        if self._size is None:
            hint = "--skip-bad leaves out what is broken"
            raise Malformed("there are bytes behind the array", at, hint)
        self._leave_out(header.rows, at, 0, behind(self._size - at))

    def _leave_out(self, row: int, at: int, rows: int, why: str) -> None:
        said = f"byte {at}: not valid {self._title}: {why}"
        self.left_out.append(LeftOut(row, at, rows, said))


class _Arrays(NamedTuple):
    """Arrays by name: ``opened`` gives those of some names, one after another, each with its
    format and what reads its file; in ``told(name)`` errors say which it is. ``compressed``: in an
    archive that is."""

    names: list[str]
    opened: Callable[[list[str]], Iterator[tuple[str, ArrayFormat, Read]]]
    told: Callable[[str], AbstractContextManager[object]] = nullcontext
    compressed: bool = False

    def converted(self, done: int, rows: int, losses: Losses, ends: _Ends) -> Converted:
        fields = frozenset((name,) for name in self.names)
        out = ends.left_out
        count = rows or len(self.names)
        return Converted(done, count, losses.report(), len(out), out, {}, fields)


def _arrays_in(fmt: Format, read: Read, plan: ConversionPlan, stack: ExitStack) -> _Arrays | None:
    """What there is to copy, until ``stack`` is closed; None where it is no arrays."""
    if isinstance(fmt, ArrayFormat):
        name = plan.one_array
        return _Arrays([name], lambda _: iter([(name, fmt, read)]))
    if not isinstance(fmt, NpzFormat):
        return None
    file = stack.enter_context(sought(read))
    names = entry_names(file)
    if plan.fields:
        if any(len(path) > 1 and path[0] in names for path in plan.fields):
            return None  # some fields of records
        names = [name for name in names if (name,) in plan.fields]
        if not names:
            return None
    return _Arrays(names, partial(_entries, file), array_told, is_compressed(file))


def _entries(file: Path | IO[bytes], names: list[str]) -> Iterator[tuple[str, ArrayFormat, Read]]:
    npy = cast(ArrayFormat, FORMATS.get("npy"))
    return ((name, npy, read) for name, read in opened_entries(file, names))


def _into_datasets(
    arrays: _Arrays, write: Write, plan: ConversionPlan, progress: Progress | None, ends: _Ends
) -> Converted:
    """Each array becomes a dataset, in a file that is kept beside until it is whole."""
    from serialpack.formats.arrays.hdf5.written import NewFile

    losses, rows, done, names = Losses(plan.lossy, plan.asked), 0, 0, Names(arrays.names)
    with temporary_folder() as folder:
        new = Path(folder) / "new.h5"
        with closing(NewFile(new, names)) as made:
            for name, each, read_array in arrays.opened(names.grouped()):
                with arrays.told(name):
                    header = ends.whole_rows(_begun(each, read_array, plan, losses))
                    done += _added(made, name, header, read_array)
                    ends.check(read_array, header)
                rows += header.rows
                if progress is not None:
                    progress(done, done)
        losses.merge(other_order(arrays.names, names.grouped()))
        losses.check_carried(plan.target)
        with new.open("rb") as file:
            for data in iter(partial(file.read, _PIECE), b""):
                write(data)
    return arrays.converted(done, rows, losses, ends)


def _added(made: NewFile, name: str, header: ArrayHeader, read: Read) -> int:
    try:
        return made.add(name, header, read)
    except Malformed:
        raise
    except ValueError as error:
        raise ValueRefusedError(str(error), value_path=f"${value_step(name)}") from None


def _into_archive(
    arrays: _Arrays, write: Write, plan: ConversionPlan, progress: Progress | None, ends: _Ends
) -> Converted:
    """Each array becomes an entry, as the .npy file that it is."""
    losses, rows, taken, done = Losses(plan.lossy, plan.asked), 0, 0, 0

    def entry(name: str, fmt: ArrayFormat, read: Read) -> Iterator[Buffer]:
        nonlocal rows, taken
        with arrays.told(name):
            header = ends.whole_rows(_begun(fmt, read, plan, losses))
            rows += header.rows
            taken += header.size + header.rows * header.items_a_row * dtype_in(header).itemsize
            yield from _pieces(header, read)
            ends.check(read, header)

    opened = arrays.opened(arrays.names)
    for data in zip_pieces(
        ((name, entry(name, fmt, read)) for name, fmt, read in opened), deflated=arrays.compressed
    ):
        write(data)
        done += len(data)
        if progress is not None:
            progress(taken, done)
    return arrays.converted(taken, rows, losses, ends)


def _begun(fmt: ArrayFormat, read: Read, plan: ConversionPlan, losses: Losses) -> ArrayHeader:
    """The header of an array, whose items ``read`` gives from then on."""
    head = fmt.whole_head(read(fmt.lead), read)
    dropped = fmt.comments(SourceBlock(head, index=0, offset=0))
    if dropped is not None:
        check_dropped([dropped], losses, plan.target)
        losses.merge([dropped])
    return fmt.read_header(head)


def _copied(
    fmt: ArrayFormat,
    read: Read,
    write: Write,
    plan: ConversionPlan,
    progress: Progress | None,
    ends: _Ends,
) -> Converted:
    losses = Losses(plan.lossy, plan.asked)
    header = ends.whole_rows(_begun(fmt, read, plan, losses))
    whole, fields = header, frozenset[Field]()
    if plan.fields:
        header, read = taken_fields(header, read, plan.fields)
        fields = fields_of(header.descr)
    dtype = dtype_in(header)
    size = header.rows * header.items_a_row * dtype.itemsize
    rounding = Rounding(dtype, plan.step) if plan.step else None
    done = 0
    for data in _pieces(header, read, rounding):
        write(data)
        done += len(data)
        if progress is not None:
            progress(done, done)
    ends.check(read, whole)
    if rounding is not None:
        losses.merge(rounding.losses(header.items_a_row))
    out = ends.left_out
    return Converted(header.size + size, header.rows, losses.report(), len(out), out, {}, fields)


def _pieces(header: ArrayHeader, read: Read, rounding: Rounding | None = None) -> Iterator[Buffer]:
    """The .npy file of an array whose items ``read`` gives; Malformed where these are not all."""
    made = npy_header(header.descr, header.shape, fortran=header.fortran)
    again = read_header(made)
    assert again[:3] == header[:3], "the header that is written says what the source's says"
    yield made
    left = header.rows * header.items_a_row * dtype_in(header).itemsize
    while left and (data := read(min(_PIECE, left))):
        yield data if rounding is None else rounding(data)
        left -= len(data)
    if left:
        raise Malformed(missing_bytes(left))
