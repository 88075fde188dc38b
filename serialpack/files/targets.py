"""Targets: what a caller names to be written to, a path or a file object."""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TypeGuard

from serialpack.errors import FileError, FolderError, MissingFileError
from serialpack.far import is_far
from serialpack.files.disk import LARGE, make_room
from serialpack.files.output import Output
from serialpack.files.source import File, Path, exists, file_error, shown, status
from serialpack.reports import NotKept
from serialpack.stages.stage import Buffer, Write

Target = Path | File


@contextmanager
def sink(target: Target | None, force: bool, like: os.stat_result | None) -> Iterator[Write]:
    """A function that writes to ``target``: to a new file, which gets its name when this block is
    left without an error, to a device, or to a file object. None: what is written is dropped.
    ``force``, ``like``: as for ``Output``."""
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
    """What the file that was written by ``write``, a function from ``sink``, does not keep of its
    mode and time."""
    output = getattr(write, "__self__", None)
    return output.not_kept if isinstance(output, Output) else None


def output_at(path: Path, *, force: bool, like: os.stat_result | None = None) -> Output:
    """A new file at ``path``, which may be a URL; see ``Output``."""
    if is_far(path):
        from serialpack.files.uploads import FarOutput

        return FarOutput(path, force=force, like=like)
    return Output(path, force=force, like=like)


def is_device(target: Target | None) -> TypeGuard[Path]:
    """Whether ``target`` is the path of a character device (/dev/null) or of a named pipe. To these
    bytes are written directly: there is nothing that could be overwritten, or be left half written.
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
    """A device, opened to be written to; FileError."""
    path = os.fspath(target)
    try:
        file = open(path, "wb", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise file_error(error, path, "write") from error
    with file:
        yield file


class _TargetStream:
    """Writes to a file object, again and again until it has taken all bytes."""

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


def check_output(path: Path, *, force: bool, source: os.stat_result | None = None) -> None:
    """FileError where ``path`` cannot be written, or must not: without ``force`` no file may be
    there, and never the ``source`` itself. Called before anything is read."""
    text = shown(path)
    if is_far(text):
        _check_far_output(text, force=force, source=source)
        return
    try:
        found = os.stat(text)
    except OSError:
        if not os.path.isdir(os.path.dirname(text) or "."):
            raise MissingFileError(
                "its folder does not exist", path=text, hint="make the folder first"
            ) from None
        if not force and os.path.islink(text):
            raise exists(text) from None
        return
    if stat.S_ISDIR(found.st_mode):
        raise FolderError("is a folder", path=text, hint="name a file in it")
    if source is not None and os.path.samestat(found, source):
        raise FileError("is the input itself", path=text, hint="name another file with -o")
    if not stat.S_ISREG(found.st_mode):
        raise FileError("is not a regular file", path=text, hint="write to it with -o - and >")
    if not force:
        raise exists(text)


def _check_far_output(url: str, *, force: bool, source: os.stat_result | None) -> None:
    from serialpack.far.urls import is_writable

    if not is_writable(url):
        scheme = url.partition("://")[0]
        raise FileError(f"{scheme}:// is only read", path=url, hint="name a local file with -o")
    try:
        found = status(url)
    except MissingFileError:
        return
    if source is not None and os.path.samestat(found, source):
        raise FileError("is the input itself", path=url, hint="name another file with -o")
    if not force:
        raise exists(url)
