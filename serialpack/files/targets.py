"""What is written to: a path, where a file appears whole, or a file object of the caller's."""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TypeGuard

from serialpack.far import is_far
from serialpack.files.disk import LARGE, make_room
from serialpack.files.output import Output
from serialpack.files.source import File, Path, check_output, file_error, shown
from serialpack.reports import NotKept
from serialpack.stages.stage import Buffer

Target = Path | File
Write = Callable[[Buffer], object]


@contextmanager
def sink(target: Target | None, force: bool, like: os.stat_result | None) -> Iterator[Write]:
    """Something to write to: a new file that appears whole, a file object, or nothing."""
    if target is None:
        yield len
    elif is_device(target):
        with opened_device(target) as file:
            yield _TargetStream(file).write
    elif isinstance(target, str | os.PathLike):
        with output_at(target, force=force, like=like) as output:
            yield output.write
    else:
        yield _TargetStream(target).write


def not_kept_by(write: Write) -> NotKept | None:
    """What a file that ``write``, which is ``sink``'s, has made whole does not keep."""
    output = getattr(write, "__self__", None)
    return output.not_kept if isinstance(output, Output) else None


def output_at(path: Path, *, force: bool, like: os.stat_result | None = None) -> Output:
    """A new file at ``path``, which may be a URL; see ``Output``."""
    if is_far(path):
        from serialpack.files.uploads import FarOutput

        return FarOutput(path, force=force, like=like)
    return Output(path, force=force, like=like)


def is_device(target: Target | None) -> TypeGuard[Path]:
    """Whether a path is of what is written to as it stands: a device such as /dev/null, a pipe.

    Nothing is overwritten there. A disk is not among them.
    """
    if not isinstance(target, str | os.PathLike):
        return False
    try:
        if not os.access(target, os.F_OK):  # mostly so; it raises nothing, which takes longer
            return False
        mode = os.stat(target).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


@contextmanager
def opened_device(target: Path) -> Iterator[IO[bytes]]:
    """What ``is_device`` is true of, to write to; FileError."""
    path = os.fspath(target)
    try:
        file = open(path, "wb", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise file_error(error, path, "write") from error
    with file:
        yield file


class _TargetStream:
    """A file object of the caller's, written to until it has taken everything."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._name = target_name(file) or "output"

    def write(self, data: Buffer) -> None:
        view = memoryview(data)
        try:
            if len(view) >= LARGE:
                self._make_room(len(view))
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

    def _make_room(self, size: int) -> None:
        file = self._file
        if isinstance(file, io.BufferedWriter) and type(file.raw) is io.FileIO and file.seekable():
            make_room(file.fileno(), file.tell(), size)


def check_target(target: Target | None, force: bool, source: os.stat_result | None) -> None:
    """Raise what writing to ``target`` would raise at once; TypeError for what is no target."""
    if isinstance(target, str | os.PathLike):
        if not is_device(target):
            check_output(target, force=force, source=source)
    elif target is not None and (not hasattr(target, "write") or isinstance(target, io.TextIOBase)):
        kind = "a file of text" if hasattr(target, "write") else type(target).__name__
        raise TypeError(f"target must be a path or a binary file object, not {kind}")


def target_name(target: Target | None) -> str | None:
    """What ``target`` is called, if anything."""
    if isinstance(target, str | os.PathLike):
        return shown(target)
    return getattr(target, "name", None)
