"""A file that is being written: until it is whole, it has no name, or a hidden one."""

from __future__ import annotations

import filecmp
import os
from contextlib import suppress

from serialpack.errors import ExistingFileError, FileError
from serialpack.files.disk import name_new
from serialpack.files.paths import made_again
from serialpack.files.source import exists, file_error
from serialpack.files.unnamed import name_unnamed, open_unnamed, place_of
from serialpack.hidden import forget, hidden_name, hide, hold

#: How a hidden file is opened.
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_NEW |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class PendingFile:
    """A file in ``folder`` that will be called ``path``; FileError where it cannot be made.

    It has no name where the system can do that (``unnamed``). Else it has a hidden one, and is
    locked (flock(2)) while its writer lives; after a crash, ``hidden.remove_dead`` removes it.
    """

    def __init__(self, path: str, folder: str) -> None:
        self._path = path
        self._folder = folder
        #: The hidden file; "" where it has no name.
        self._hidden = ""
        if (fd := open_unnamed(folder)) is not None:
            self.fd = fd
            return
        while True:
            self._hidden = self._new_name()
            try:
                self.fd = os.open(self._hidden, _NEW, 0o600)
            except OSError as error:
                forget(self._hidden)
                if isinstance(error, FileNotFoundError) and made_again(folder):
                    continue
                raise file_error(error, path, "write") from error
            if hold(self.fd):
                return
            self.remove()

    def _new_name(self) -> str:
        """A name for the hidden file, which is about to be made."""
        name = f"{self._folder}{os.sep}{hidden_name()}"
        hide(name)
        return name

    @property
    def hidden_path(self) -> str:
        """The path of the hidden file, which gets a hidden name now if it has none; OSError."""
        if not self._hidden:
            self._hidden = self._new_name()
            try:
                name_unnamed(self.fd, self._hidden)
            except BaseException:
                self.remove()
                raise
            hold(self.fd)
        return self._hidden

    @property
    def place(self) -> str:
        """The path by which this process can read what was written."""
        return self._hidden or place_of(self.fd)

    def give_name(self, *, force: bool, only_same: bool) -> None:
        """Give the file its name; OSError.

        If a file of that name is there: with ``only_same`` it stays, and ExistingFileError is
        raised where its bytes are others; else with ``force`` it is replaced; else
        ExistingFileError.
        """
        if os.name == "nt":
            self._close()  # what is open is not renamed there
        if only_same and os.path.lexists(self._path):
            filecmp.clear_cache()  # other files have been where this one is
            if not filecmp.cmp(self.place, self._path, shallow=False):
                raise other_exists(self._path)
            self.remove()
            return
        if self._hidden or not self._named_first(force=force):
            if force:
                os.replace(self.hidden_path, self._path)
            else:
                name_new(self._hidden, self._path)
            forget(self._hidden)
        self._close()

    def _named_first(self, *, force: bool) -> bool:
        """Give the file, which has no name, its own. False: another file has that name, and is to
        be replaced (``force``), which needs a hidden name first."""
        while True:
            try:
                name_unnamed(self.fd, self._path)
            except FileExistsError:
                if not force:
                    raise exists(self._path) from None
                return False
            except FileNotFoundError:
                if not made_again(self._folder):
                    raise
            else:
                return True

    def remove(self) -> None:
        """Close it, and remove it where it has a hidden name."""
        self._close()
        if self._hidden:
            with suppress(OSError):
                os.unlink(self._hidden)
            forget(self._hidden)

    def _close(self) -> None:
        fd, self.fd = self.fd, -1
        with suppress(OSError):
            if fd >= 0:
                os.close(fd)


def other_exists(path: str) -> FileError:
    """The error where a file is there whose bytes must be those of the output (``only_same``), and
    are not."""
    return ExistingFileError(
        "exists already, and is not what its source becomes now",
        path=path,
        hint="-f alone overwrites it",
    )
