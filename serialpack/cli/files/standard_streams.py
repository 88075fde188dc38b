"""Standard input and output where they are the files of a call."""

import sys
from typing import IO, cast

from serialpack.cli.naming import STDIO
from serialpack.errors import RefusedError
from serialpack.stages.stage import Buffer


def data_of(path: str) -> str | IO[bytes]:
    """What to read the input ``path`` from."""
    return sys.stdin.buffer if path == STDIO else path


def stdout(*, force: bool, binary: bool = False) -> IO[bytes]:
    """Standard output for data; RefusedError where that is a terminal and the data ``binary``.

    Data that may be text is looked at when it comes.
    """
    sys.stdout.flush()
    raw = cast("IO[bytes]", getattr(sys.stdout.buffer, "raw", sys.stdout.buffer))
    if force or not sys.stdout.isatty():
        return cast("IO[bytes]", _Stdout(raw))
    if binary:
        raise _terminal()
    return cast("IO[bytes]", _TextOnly(raw))


class _Stdout:
    """Standard output without a buffer; waits also where the pipe, shared by others, does not."""

    name = "standard output"

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw

    def write(self, data: Buffer) -> int:
        while (count := self._raw.write(data)) is None:
            import select

            select.select([], [self._raw], [])
        return count


class _TextOnly(_Stdout):
    """A terminal that takes text and refuses what begins like binary data."""

    def __init__(self, raw: IO[bytes]) -> None:
        super().__init__(raw)
        self._looked = False

    def write(self, data: Buffer) -> int:
        if not self._looked:
            self._looked = True
            if any(b < 32 and b not in b"\t\n\r" for b in bytes(data[:4096])):
                raise _terminal()
        return super().write(data)


def _terminal() -> RefusedError:
    return RefusedError(
        "binary output to a terminal", hint="-o FILE, or > FILE; -f writes it all the same"
    )
