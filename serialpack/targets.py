"""What is written to: a path, where a file appears whole, or a file object of the caller's."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

from serialpack.files import Output, Path, check_output, file_error
from serialpack.stages.stage import Buffer

Target = Path | IO[bytes]
Write = Callable[[Buffer], object]


@contextmanager
def sink(target: Target | None, force: bool, like: os.stat_result | None) -> Iterator[Write]:
    """Something to write to: a new file that appears whole, a file object, or nothing."""
    if target is None:
        yield len
    elif isinstance(target, str | os.PathLike):
        with Output(target, force=force, like=like) as output:
            yield output.write
    else:
        yield _TargetStream(target).write


class _TargetStream:
    """A file object of the caller's, written to until it has taken everything."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._name = target_name(file) or "output"

    def write(self, data: Buffer) -> None:
        view = memoryview(data)
        try:
            while view:
                # Raw files may take less than they are given, and none where they would wait.
                taken: int | None = self._file.write(view)
                if taken is None and isinstance(self._file, io.RawIOBase):
                    raise BlockingIOError(errno.EAGAIN, "it is full and does not wait")
                view = view[len(view) if taken is None else taken :]
        except BrokenPipeError:
            raise
        except OSError as error:
            raise file_error(error, self._name, "write") from error


def check_target(target: Target | None, force: bool, source: os.stat_result | None) -> None:
    """Raise what writing to ``target`` would raise at once."""
    if isinstance(target, str | os.PathLike):
        check_output(target, force=force, source=source)


def target_name(target: Target | None) -> str | None:
    """What ``target`` is called, if anything."""
    if target is None or isinstance(target, str):
        return target
    return os.fspath(target) if isinstance(target, os.PathLike) else getattr(target, "name", None)
