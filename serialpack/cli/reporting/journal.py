"""``--journal``: the lines of ``--json`` in a file, run after run."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import Any

from serialpack._version import __version__
from serialpack.cli.words import complain
from serialpack.errors import ExistingFileError, FileError, UsageError
from serialpack.far import is_far
from serialpack.files.disk import sync_folder, sync_open
from serialpack.files.source import file_error
from serialpack.files.targets import check_target, is_device

#: The key of the line that begins a run; its value is the version of the journal.
MARK = "serialpack_journal"
_VERSION = 1


class Journal:
    """A file that lines are added to. A line is there whole, or cut off at the end by a crash."""

    def __init__(self, path: str, verb: str) -> None:
        """Begin a run. ExistingFileError where ``path`` is something else than a journal."""
        self.path = path
        # What comes out of a pipe is not there yet, and is waited for.
        is_read = not is_device(path)
        flags = os.O_RDWR | os.O_CREAT if is_read else os.O_WRONLY
        begins = last = b""
        try:
            self._fd = os.open(path, flags | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o666)
            if is_read and (size := os.fstat(self._fd).st_size):
                begins = os.read(self._fd, len(MARK) + 2)
                os.lseek(self._fd, size - 1, os.SEEK_SET)
                last = os.read(self._fd, 1)
        except OSError as error:
            raise file_error(error, path, "write") from error
        if begins and not is_journal(begins):
            os.close(self._fd)
            raise ExistingFileError(
                "exists already, and is no journal", path=path, hint="name another --journal"
            )
        #: Whether its name is to be brought to disk, too.
        self._is_new = is_read and not begins
        if last not in (b"", b"\n"):
            self._write(b"\n")
        begun = datetime.now(UTC).isoformat(timespec="seconds")
        line = {MARK: _VERSION, "verb": verb, "begun": begun, "version": __version__}
        self._write(json.dumps(line).encode() + b"\n")
        #: Why no more lines can be added, once that was so.
        self._failed: FileError | None = None

    def add(self, line: dict[str, Any]) -> None:
        """Add a line. Where that cannot be, it is said, and that is the last: the files go on."""
        if self._failed is None:
            try:
                self._write(json.dumps(line).encode() + b"\n")
            except FileError as error:
                self._fail(error)

    def to_disk(self) -> None:
        """Bring to disk what was added; where that cannot be, as ``add``."""
        if self._failed is None:
            try:
                sync_open(self._fd)
                if self._is_new:
                    sync_folder(os.path.dirname(self.path) or ".")
                    self._is_new = False
            except OSError as error:
                self._fail(file_error(error, self.path, "bring to disk"))

    def close(self) -> int:
        """Bring it to disk; the exit code."""
        self.to_disk()
        os.close(self._fd)
        return 0 if self._failed is None else self._failed.exit_code

    def _fail(self, error: FileError) -> None:
        self._failed = error
        complain(f"{error.said}; what follows is not in it", self.path)

    def _write(self, data: bytes) -> None:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError as error:
            raise file_error(error, self.path, "write") from error


def open_journal(path: str, used: set[str]) -> Journal:
    """The journal at ``path``, in which a run of the command begins; UsageError where it is one of
    the outputs ``used``; FileError."""
    import click

    if is_far(path):
        raise UsageError(
            f"--journal {path}: lines are added to it, which no URL takes",
            hint="name a file on a disk, and copy it there",
        )
    if os.path.realpath(path) in used:
        raise UsageError("--journal is an output itself", hint="name another one")
    check_target(path, force=True, source=None)
    return Journal(path, str(click.get_current_context().command.name))


def is_journal(begins: bytes) -> bool:
    """Whether a file that begins so is a journal."""
    return begins.startswith(b'{"' + MARK.encode())
