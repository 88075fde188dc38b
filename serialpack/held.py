"""What a packed file is to Python that is one object: an array, or several by name."""

from __future__ import annotations

import io
from typing import Any

from serialpack.container.reader import SNIFF, first_header, is_container, is_small
from serialpack.container.records import Header
from serialpack.errors import DamagedError, RefusedError, UsageError
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.formats.base import Format, ValueFormat
from serialpack.formats.python.buffers import GatheredPieces, LengthOf, frame_length
from serialpack.pipeline.unpack import member_plan, unpack_stream
from serialpack.pipeline.workers import usable_cores
from serialpack.serializers.base import FAILURES
from serialpack.stages.stage import Buffer

_FILE = "unpack(path, target) makes the file again"


def arrays_of_file(source: Source, *, trust: bool, threads: int | None) -> list[Any]:
    """The array of a packed file of one, or those of an ``.npz`` file by name, in memory; nothing
    where ``source`` holds an object, or is no container.

    UsageError for another file, of which no more than the first header is read.
    """
    if is_small(head := source.peek(SNIFF)) or not is_container(head):
        return []
    header = first_header(source.peek)
    declared = FORMATS.by_number(header.format)
    if declared is not None and declared.name == "object":
        return []
    if header.in_archive:
        hint = "unpack_archive(path, folder) makes its files again"
        raise UsageError("is an archive, not one object", hint=hint)
    fmt = FORMATS.get(member_plan(header, trust=trust).format)
    if not (fmt.declared.is_array or fmt.declared.has_arrays):
        has_records = isinstance(fmt, ValueFormat) and not fmt.unpacked
        hint = f"open(path) has its records, {_FILE}" if has_records else _FILE
        raise UsageError(f"holds a {fmt.name} file, not one object", hint=hint)
    from serialpack.formats.arrays.rows import ArrayFormat

    length_of = fmt.length_of if isinstance(fmt, ArrayFormat) else _unknown
    _, (data,) = gathered(source, length_of, trust=trust, threads=threads)
    return [_arrays_in(fmt, data, trust=trust)]


def gathered(
    source: Source, length_of: LengthOf = frame_length, *, trust: bool, threads: int | None
) -> tuple[Header, list[Buffer]]:
    """The header of the only member in ``source``, and what it restores to: ``GatheredPieces``.
    UsageError where there are several."""
    pieces, threads = GatheredPieces(length_of), threads or usable_cores()
    room = pieces.room
    done = unpack_stream(
        source.read, pieces.add, trust=trust, threads=threads, into=source, room=room
    )
    if len(done.headers) > 1:
        raise UsageError("holds several, one after another, not one object", hint=_FILE)
    return done.headers[0], pieces.pieces()


def _unknown(_: Buffer) -> int:
    return 0


def _arrays_in(fmt: Format, data: Buffer, *, trust: bool) -> Any:
    from serialpack.formats.arrays.npz import NpzFormat
    from serialpack.formats.arrays.rows import ArrayFormat
    from serialpack.formats.shared.document import Malformed

    try:
        if isinstance(fmt, NpzFormat):
            return fmt.arrays(bytes(data))
        assert isinstance(fmt, ArrayFormat)
        found = fmt.array(data)
        return found if found.flags.writeable else found.copy(order="K")
    except Malformed as error:
        raise DamagedError(f"its arrays cannot be read ({error})") from None
    except RefusedError as refused:  # Python objects, or more than so few bytes should unpack to
        if trust:
            return _unpickled(bytes(data))
        hint = "trust=True loads it, if you know who wrote it"
        raise RefusedError(refused.message, hint=hint) from None


def _unpickled(data: bytes) -> Any:
    """What NumPy makes of a file with Python objects in it."""
    import numpy as np

    try:
        found = np.load(io.BytesIO(data), allow_pickle=True)
        return dict(found) if isinstance(found, np.lib.npyio.NpzFile) else found
    except FAILURES as error:
        raise DamagedError(f"NumPy cannot read it ({error})") from None
