"""One array becomes a file of another format: its items stay, bit for bit, what describes them is
written anew.

Through values each number would get the type that values have, and memory of its own.
"""

from __future__ import annotations

from typing import cast

from serialpack.conversion.joining import Write
from serialpack.conversion.losses import Losses, check_dropped
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.stream import Converted
from serialpack.conversion.tables.shaping import Shaping
from serialpack.errors import InputError
from serialpack.formats import FORMATS
from serialpack.formats.arrays.header import npy_header, read_header
from serialpack.formats.arrays.npz import NpzFormat
from serialpack.formats.arrays.rows import ArrayFormat, dtype_in
from serialpack.formats.arrays.zipped import opened_entry
from serialpack.formats.base import Read, SourceBlock
from serialpack.formats.shared.document import Malformed
from serialpack.formats.shared.filed import sought
from serialpack.pipeline.line import Progress

#: Bytes that are copied at a time.
_PIECE = 1 << 20


def copied_array(
    read: Read, write: Write, plan: ConversionPlan, progress: Progress | None
) -> Converted | None:
    """Write the .npy file of the array that ``read`` gives, or of that in it which ``at`` names.

    None where it is no array as it is: values were asked for, or another format. InputError where
    it is not whole, ValueRefusedError for a header that must not be dropped.
    """
    asked = plan.tagged or plan.skip_bad or plan.fields or plan.types or plan.source_serializer
    if asked:
        return None
    fmt, shaping = FORMATS.get(plan.source), plan.shaping
    try:
        if isinstance(fmt, ArrayFormat) and shaping == Shaping():
            return _copied(fmt, read, write, plan, progress)
        if isinstance(fmt, NpzFormat) and shaping.at and shaping == Shaping(at=shaping.at):
            with sought(read) as file, opened_entry(file, shaping.at) as read_entry:
                npy = cast(ArrayFormat, FORMATS.get("npy"))
                return _copied(npy, read_entry, write, plan, progress)
    except Malformed as bad:
        raise InputError(f"not valid {plan.source}: {bad.message}") from None
    return None


def _copied(
    fmt: ArrayFormat,
    read: Read,
    write: Write,
    plan: ConversionPlan,
    progress: Progress | None,
) -> Converted:
    losses = Losses(plan.lossy, plan.asked)
    dropped = fmt.comments(SourceBlock(b"", index=0, offset=0))
    if dropped is not None:
        check_dropped([dropped], losses, plan.target)
        losses.merge([dropped])
    head = fmt.whole_head(read(fmt.lead), read)
    header = fmt.read_header(head)
    size = header.rows * header.items_a_row * dtype_in(header).itemsize
    made = npy_header(header.descr, header.shape, fortran=header.fortran)
    again = read_header(made)
    assert again[:3] == header[:3], "the header that is written says what the source's says"
    write(made)
    write(memoryview(head)[header.size :])
    done = len(head) - header.size
    while done < size and (data := read(min(_PIECE, size - done))):
        write(data)
        done += len(data)
        if progress is not None:
            progress(header.size + done, done)
    if done < size:
        raise Malformed(f"{size - done} bytes of the array are missing")
    if read(1):
        raise Malformed("there are bytes behind the array")
    return Converted(header.size + size, header.rows, losses.report(), 0, [], {})
