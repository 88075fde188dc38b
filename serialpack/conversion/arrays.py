"""One array becomes a file of another format: its items stay, bit for bit, but where the user has
them rounded, and what describes them is written anew.

Through values each number would get the type that values have, and memory of its own.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from serialpack.conversion.datasets import other_order
from serialpack.conversion.fixed import Rounding
from serialpack.conversion.joining import Write
from serialpack.conversion.losses import Losses, check_dropped
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.stream import Converted
from serialpack.conversion.tables.shaping import Shaping
from serialpack.errors import InputError, ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.arrays.hdf5.names import Names
from serialpack.formats.arrays.header import ArrayHeader, npy_header, read_header
from serialpack.formats.arrays.npz import NpzFormat
from serialpack.formats.arrays.rows import ArrayFormat, dtype_in
from serialpack.formats.arrays.zipped import entry_names, opened_entries
from serialpack.formats.base import Format, Read, SourceBlock
from serialpack.formats.shared.document import Malformed
from serialpack.formats.shared.filed import sought
from serialpack.pipeline.line import Progress
from serialpack.values.kinds import value_step

#: Bytes that are copied at a time.
_PIECE = 1 << 20


def copied_array(
    read: Read, write: Write, plan: ConversionPlan, progress: Progress | None
) -> Converted | None:
    """Write the file of the array that ``read`` gives; where the target has arrays by name, of
    all.

    None where it is no array as it is: values were asked for, or another format. InputError where
    it is not whole, ValueRefusedError for a header that must not be dropped, and for an array that
    the target does not hold.
    """
    asked = plan.tagged or plan.skip_bad or plan.fields or plan.types or plan.source_serializer
    if asked:
        return None
    fmt, shaping = FORMATS.get(plan.source), plan.shaping
    target = FORMATS.declaration(plan.target)
    try:
        if shaping == Shaping() and target.has_datasets:
            return _into_datasets(fmt, read, write, plan, progress)
        if not target.is_array:
            return None
        if isinstance(fmt, ArrayFormat) and shaping == Shaping():
            return _copied(fmt, read, write, plan, progress)
    except Malformed as bad:
        raise InputError(f"not valid {plan.source}: {bad.message}") from None
    return None


def _into_datasets(
    fmt: Format, read: Read, write: Write, plan: ConversionPlan, progress: Progress | None
) -> Converted | None:
    """Each array becomes a dataset, in a file that is kept beside until it is whole."""
    from serialpack.formats.arrays.hdf5.written import NewFile

    losses, rows, done = Losses(plan.lossy, plan.asked), 0, 0
    with ExitStack() as stack:
        if isinstance(fmt, ArrayFormat):
            names, arrays = Names(stand := ["data"]), iter([("data", fmt, read)])
        elif isinstance(fmt, NpzFormat):
            file = stack.enter_context(sought(read))
            npy, names = cast(ArrayFormat, FORMATS.get("npy")), Names(stand := entry_names(file))
            entries = opened_entries(file, names.grouped())
            arrays = ((name, npy, each) for name, each in entries)
        else:
            return None
        new = Path(stack.enter_context(TemporaryDirectory(prefix="serialpack-"))) / "new.h5"
        with closing(NewFile(new, names)) as made:
            for name, each, read_array in arrays:
                header = _begun(each, read_array, plan, losses)
                try:
                    done += made.add(name, header, read_array)
                except Malformed:
                    raise
                except ValueError as error:
                    raise ValueRefusedError(str(error), value_path=f"${value_step(name)}") from None
                _check_end(read_array)
                rows += header.rows
                if progress is not None:
                    progress(done, done)
        losses.merge(other_order(stand, names.grouped()))
        losses.check_carried(plan.target)
        with new.open("rb") as file:
            for data in iter(partial(file.read, _PIECE), b""):
                write(data)
    return Converted(done, rows, losses.report(), 0, [], {})


def _begun(fmt: ArrayFormat, read: Read, plan: ConversionPlan, losses: Losses) -> ArrayHeader:
    """The header of an array, whose items ``read`` gives from then on."""
    dropped = fmt.comments(SourceBlock(b"", index=0, offset=0))
    if dropped is not None:
        check_dropped([dropped], losses, plan.target)
        losses.merge([dropped])
    return fmt.read_header(fmt.whole_head(read(fmt.lead), read))


def _copied(
    fmt: ArrayFormat,
    read: Read,
    write: Write,
    plan: ConversionPlan,
    progress: Progress | None,
) -> Converted:
    losses = Losses(plan.lossy, plan.asked)
    header = _begun(fmt, read, plan, losses)
    dtype = dtype_in(header)
    size = header.rows * header.items_a_row * dtype.itemsize
    rounding = Rounding(dtype, plan.step) if plan.step else None
    made = npy_header(header.descr, header.shape, fortran=header.fortran)
    again = read_header(made)
    assert again[:3] == header[:3], "the header that is written says what the source's says"
    write(made)
    done = 0
    while done < size and (data := read(min(_PIECE, size - done))):
        write(data if rounding is None else rounding(data))
        done += len(data)
        if progress is not None:
            progress(header.size + done, done)
    if done < size:
        raise Malformed(f"{size - done} bytes of the array are missing")
    _check_end(read)
    if rounding is not None:
        losses.merge(rounding.losses(header.items_a_row))
    return Converted(header.size + size, header.rows, losses.report(), 0, [], {})


def _check_end(read: Read) -> None:
    if read(1):
        raise Malformed("there are bytes behind the array")
