"""What a packed file is to Python that is one object: an array, or several by name."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from serialpack.container.reader import SNIFF, first_header, is_container, is_small
from serialpack.container.records import Header
from serialpack.errors import DamagedError, RefusedError, UsageError
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.formats.base import Format, ValueFormat
from serialpack.pipeline.unpack import member_plan, unpack_stream
from serialpack.pipeline.workers import usable_cores
from serialpack.serializers.base import FAILURES

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
    from serialpack.memory import Growing

    grown, threads = Growing(), threads or usable_cores()
    done = unpack_stream(source.read, grown.add, trust=trust, threads=threads, into=source)
    check_one(done.headers)
    return [_arrays_in(fmt, grown.whole(), trust=trust)]


def check_one(headers: Sequence[Header]) -> None:
    """UsageError where these are of several members."""
    if len(headers) > 1:
        raise UsageError("holds several, one after another, not one object", hint=_FILE)


def _arrays_in(fmt: Format, data: memoryview, *, trust: bool) -> Any:
    from serialpack.formats.arrays.npz import NpzFormat
    from serialpack.formats.arrays.rows import ArrayFormat
    from serialpack.formats.shared.document import Malformed

    try:
        if isinstance(fmt, NpzFormat):
            return fmt.arrays(bytes(data))
        assert isinstance(fmt, ArrayFormat)
        return fmt.array(data)
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
