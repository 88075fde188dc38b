"""Files written so that nothing is ever lost: whole outputs or none, one by one or in groups.

An output is written to a file without a name, or a hidden one beside it (``pending``; mode 0600),
given its mode and time, brought to disk, and only then given its name; then the folder is brought
to disk. A crash leaves at most hidden files, which ``hidden.remove_dead`` removes.

Outputs made within ``with OutputGroup()`` go through these steps together: bringing each of many
small files to disk takes most of the time of writing them. A crash leaves some of the group, each
of them whole, and at most hidden files for the rest.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType, TracebackType
from typing import Any

from serialpack.errors import FileError
from serialpack.files.disk import (
    LARGE,
    WrittenBytes,
    begin_writing,
    make_room,
    sync_all,
    sync_folder,
    syncfs,
)
from serialpack.files.not_kept import given, not_kept
from serialpack.files.pending import PendingFile
from serialpack.files.source import Path, file_error, shown
from serialpack.reports import NotKept
from serialpack.stages.stage import Buffer

#: So many outputs are in a group at most. Of 10,000 files of 2 kB in groups of 128 an eighth of the
#: time is waiting for the disk, in such groups less than half of that.
_MOST_FILES = 512

#: From so many outputs on, a file system is brought to disk rather than each of them.
_ALL_FROM = 4


#: Whether a file gets its time by its descriptor, or by its name.
_TIMED_OPEN = os.utime in os.supports_fd


@cache
def most_files() -> int:
    """How many outputs a group may have: half of the files that this process may have open, at most
    ``_MOST_FILES``."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit
    except ImportError:  # as on Windows
        return _MOST_FILES // 4
    may_be_open, _ = getrlimit(RLIMIT_NOFILE)
    if may_be_open == RLIM_INFINITY:
        return _MOST_FILES
    return max(min(_MOST_FILES, may_be_open // 2), 1)


class _HereGroup(threading.local):
    """Of each thread: the group into which its outputs go."""

    group: OutputGroup | None = None


_here = _HereGroup()

#: Up to so many bytes are written together.
_TOGETHER = 64 << 10


class Output:
    """A new file that gets its name only when it is whole: ``with Output(...) as out:
    out.write()``.

    Leaving the block without an error gives it its name, or adds it to the ``OutputGroup`` in which
    it was made; any error, and Ctrl-C, removes what was written. ``force``: replace a file that is
    there. ``like``: the status of the source, whose mode and modification time the output gets,
    unless ``mode`` or ``mtime`` (ns since 1970) says another. ``owner``: the numbers of user and
    group to which it is to belong, where the system permits that.
    """

    def __init__(
        self,
        path: Path,
        *,
        force: bool = False,
        like: os.stat_result | None = None,
        mtime: int | None = None,
        mode: int | None = None,
        owner: tuple[int, int] | None = None,
    ) -> None:
        self.path = shown(path)
        self._pieces: list[bytes] = []
        self._waiting = 0
        self._force = force
        if mode is None and like is not None:
            mode = like.st_mode
        self._given_mode = mode
        self._mode = _default_mode() if mode is None else mode & 0o777
        self._owner = owner
        #: Whether it belongs to its owner, where one was given.
        self.owned = True
        #: How large it is, and what it does not keep of mode and time; once it is whole.
        self.size = 0
        self.not_kept: NotKept | None = None
        self._mtime = mtime if mtime is not None or like is None else like.st_mtime_ns
        self.folder = os.path.dirname(self.path) or "."
        self._group = group = _here.group
        self._only_same = group is not None and group.only_same
        self._written = WrittenBytes() if group is not None and group.read_back else None
        self._begin()

    def _begin(self) -> None:
        self._file = PendingFile(self.path, self.folder)

    @property
    def fd(self) -> int:
        """The descriptor that it is written by; -1 once it is closed."""
        return self._file.fd

    @property
    def hidden_path(self) -> str:
        """The hidden file, for a library that writes it by its name, in place of ``write``."""
        return self._file.hidden_path

    def write(self, data: Buffer) -> int:
        """Write all of ``data``; FileError where that cannot be done."""
        if len(data) + self._waiting > _TOGETHER:
            self._flush()
            self._put(data)
        else:
            self._pieces.append(bytes(data))
            self._waiting += len(data)
        if self._written is not None:
            self._written.add(data)
        return len(data)

    def _flush(self) -> None:
        """Write what waits for more."""
        if self._waiting:
            data, self._pieces, self._waiting = b"".join(self._pieces), [], 0
            self._put(data)

    def _put(self, data: Buffer) -> None:
        try:
            if len(data) >= LARGE:
                make_room(self.fd, os.lseek(self.fd, 0, os.SEEK_CUR), len(data))
            done = os.write(self.fd, data)
            while done < len(data):
                done += os.write(self.fd, memoryview(data)[done:])
        except OSError as error:
            raise file_error(error, self.path, "write") from error

    def patch(self, offset: int, data: bytes) -> None:
        """Write ``data`` over what was written at ``offset``, near the front."""
        self._flush()
        try:
            os.lseek(self.fd, offset, os.SEEK_SET)
            self._put(data)
            os.lseek(self.fd, 0, os.SEEK_END)
        except OSError as error:
            raise file_error(error, self.path, "write") from error
        if self._written is not None:
            self._written.patch(offset, data)

    def so_far(self) -> str:
        """The path by which this process can read what was written so far."""
        self._flush()
        return self._file.place

    def mark(self) -> tuple[int, WrittenBytes | None]:
        """A mark for ``rewind``: how far the output is written by now."""
        self._flush()
        written = None if self._written is None else self._written.copy()
        return os.lseek(self.fd, 0, os.SEEK_CUR), written

    def rewind(self, mark: tuple[int, WrittenBytes | None]) -> None:
        """Take back what was written since ``mark``."""
        size, self._written = mark
        self._pieces, self._waiting = [], 0
        try:
            os.ftruncate(self.fd, size)
            os.lseek(self.fd, size, os.SEEK_SET)
        except OSError as error:
            raise file_error(error, self.path, "write") from error

    def __enter__(self) -> Output:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.abandon()
            return
        try:
            self._finish()
            if self._group is not None:
                self._group.add(self)
                return
            self.to_disk()
            self.give_name()
            sync_folder(self.folder)
        except OSError as failed:
            self.abandon()
            raise file_error(failed, self.path, "write") from failed
        except BaseException:
            self.abandon()
            raise

    def _finish(self) -> None:
        """Write the rest, and give the file the mode and the time that it is to have."""
        self._flush()
        if self._owner is not None:
            self.owned = give_owner(self.fd, self._owner)
        if hasattr(os, "fchmod"):
            given(os.fchmod, self.fd, self._mode)
        if self._mtime is not None:
            times = (self._mtime, self._mtime)
            given(os.utime, self.fd if _TIMED_OPEN else self._file.place, ns=times)
        found = os.fstat(self.fd)
        self.size = found.st_size
        self.not_kept = not_kept(found, self._given_mode, self._mtime)

    def begin_to_disk(self) -> None:
        """Have the file begin to go to disk, which ``to_disk`` waits for."""
        begin_writing(self.fd)

    def to_disk(self) -> None:
        """Bring the file to disk."""
        os.fsync(self.fd)

    def check_read_back(self) -> None:
        """FileError where the disk does not hold what was written; checked only in a group with
        ``read_back``."""
        if self._written is not None and not self._written.is_in(self._file.place):
            raise FileError("what was read back is not what was written", path=self.path)

    def give_name(self) -> None:
        """Give the file, which is whole and on the disk, its name."""
        self._file.give_name(force=self._force, only_same=self._only_same)

    def abandon(self) -> None:
        """Remove what was written."""
        self._file.remove()


class OutputGroup:
    """Outputs that get their names together: ``with OutputGroup() as group: ...; group.commit()``.

    All outputs that this thread makes within the block belong to it, and get their names in
    ``commit``; those without a name when the block is left are removed. ``each``: bring each file
    to disk by itself, several at a time, and not the whole file system. ``read_back``: read each
    output again before it gets its name, because its source will be removed (``--rm``).
    """

    def __init__(self, *, each: bool = False, read_back: bool = False) -> None:
        self.read_back = read_back
        #: Whether outputs that are made from now on may not replace another file: one that is there
        #: must have the same bytes, and stays, whatever ``force`` says.
        self.only_same = False
        self._each = each
        #: What waits for its name.
        self.outputs: list[Output] = []

    def add(self, output: Output) -> None:
        """Add ``output``, which is whole and waits for its name."""
        self.outputs.append(output)

    def drop(self, count: int) -> None:
        """Remove all outputs but the first ``count``: what they were made for has failed."""
        while len(self.outputs) > count:
            self.outputs.pop().abandon()

    def commit(self, folders: Iterable[str] = ()) -> dict[str, FileError]:
        """Bring all outputs to disk and give them their names. Returns the path of each that
        failed, with its error.

        ``folders``: further folders in which something is new, and which are brought to disk, too.
        A signal has to wait while names are given.
        """
        failed: dict[str, FileError] = {}
        outputs = self._on_disk(failed)
        with undisturbed():
            named = [each for each in outputs if _tried(each, _give_name, failed)]
            for folder in dict.fromkeys([*(each.folder for each in named), *folders]):
                try:
                    sync_folder(folder)
                except OSError as error:
                    for each in named:
                        if each.folder == folder:
                            failed[each.path] = file_error(error, each.path, "write")
            self.outputs = []
        return failed

    def _on_disk(self, failed: dict[str, FileError]) -> list[Output]:
        """Bring all outputs to disk, and return those for which that went well; the errors of the
        others go to ``failed``."""
        all_at_once = None if self._each or len(self.outputs) < _ALL_FROM else syncfs()
        if all_at_once is not None:
            in_folders = {each.folder: each.fd for each in self.outputs}.values()
            for fd in {os.fstat(fd).st_dev: fd for fd in in_folders}.values():
                if not all_at_once(fd):
                    all_at_once = None  # which of them it is about, each will say
                    break
        outputs = self.outputs
        if all_at_once is None:
            for each in outputs if len(outputs) > 1 else ():
                each.begin_to_disk()
            faults = sync_all([each.to_disk for each in outputs])
            for each, fault in zip(outputs, faults, strict=True):
                if fault is not None:
                    _failed(each, fault, failed)
            outputs = [each for each, fault in zip(outputs, faults, strict=True) if fault is None]
        if self.read_back:
            outputs = [e for e in outputs if _tried(e, lambda e: e.check_read_back(), failed)]
        return outputs

    def __enter__(self) -> OutputGroup:
        _here.group = self
        return self

    def __exit__(self, *_: object) -> None:
        _here.group = None
        for each in self.outputs:
            each.abandon()
        self.outputs = []


def _give_name(output: Output) -> None:
    output.give_name()


def _tried(output: Output, step: Callable[[Output], object], failed: dict[str, FileError]) -> bool:
    """Whether ``step`` went well; if not, the output is removed and the error kept."""
    try:
        step(output)
    except (OSError, FileError) as error:
        _failed(output, error, failed)
        return False
    return True


def _failed(output: Output, error: OSError | FileError, failed: dict[str, FileError]) -> None:
    """Remove ``output``, and keep the error that it had."""
    failed[output.path] = file_error(error, output.path, "write")
    output.abandon()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let signals wait until this block is left. Only the main thread answers signals; in any
    other, this does nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    handlers: dict[int, Any] = {}
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and callable(handler := signal.getsignal(number)):
            handlers[number] = handler
            signal.signal(number, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if came:
            handlers[came[0][0]](*came[0])


def give_owner(file: int | str, owner: tuple[int, int]) -> bool:
    """Give ``file`` (a path or a descriptor; of a link the link itself) to ``owner``; whether that
    went well."""
    try:
        if isinstance(file, int):
            os.chown(file, *owner)
        else:
            os.chown(file, *owner, follow_symlinks=False)
    except (OSError, OverflowError, AttributeError, NotImplementedError):
        return False
    return True


def _default_mode() -> int:
    umask = os.umask(0o077)
    os.umask(umask)
    return 0o666 & ~umask
