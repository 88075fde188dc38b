"""What a container is of, where that is the format asked for: its bytes, and whether they are."""

from __future__ import annotations

from contextlib import suppress

from serialpack.conversion.joining import Write
from serialpack.conversion.stream import Converted
from serialpack.errors import MissingLibraryError, RefusedError, SerialpackError, SyntaxInputError
from serialpack.formats import FORMATS
from serialpack.formats.base import Read, Unheld, ValueFormat
from serialpack.formats.shared.filed import FileRead
from serialpack.formats.shared.join import Join
from serialpack.pipeline.line import Progress


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


def _check(read: Read, format: str) -> None:
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
