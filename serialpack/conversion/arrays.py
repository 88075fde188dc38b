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
from serialpack.formats.arrays.rows import ArrayFormat, dtype_in
from serialpack.formats.base import Read, SourceBlock
from serialpack.formats.shared.document import Malformed
from serialpack.pipeline.line import Progress

#: Bytes that are copied at a time.
_PIECE = 1 << 20


def is_array_as_it_is(plan: ConversionPlan) -> bool:
    """Whether an array is to be written, of which nothing is said that concerns its values."""
    asked = plan.tagged or plan.skip_bad or plan.fields or plan.types
    as_it_is = plan.source_serializer is None and plan.shaping == Shaping()
    return FORMATS.declaration(plan.source).is_array and as_it_is and not asked


def copied_array(
    read: Read, write: Write, plan: ConversionPlan, progress: Progress | None
) -> Converted:
    """Write the .npy file of the array that ``read`` gives.

    InputError where it is not whole, ValueRefusedError for a header that must not be dropped.
    """
    fmt = cast(ArrayFormat, FORMATS.get(plan.source))
    losses = Losses(plan.lossy, plan.asked)
    dropped = fmt.comments(SourceBlock(b"", index=0, offset=0))
    if dropped is not None:
        check_dropped([dropped], losses, plan.target)
        losses.merge([dropped])
    try:
        head = fmt.whole_head(read(fmt.lead), read)
        header = fmt.read_header(head)
        size = header.rows * header.items_a_row * dtype_in(header).itemsize
    except Malformed as bad:
        raise InputError(f"not valid {fmt.title}: {bad.message}") from None
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
    if done < size or read(1):
        what = f"{size - done} bytes of the array are missing"
        raise InputError(
            f"not valid {fmt.title}: " + (what if done < size else "there are bytes behind it")
        )
    return Converted(header.size + size, header.rows, losses.report(), 0, [], {})
