"""The files below a folder."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from typing import NamedTuple

from serialpack.errors import FileError
from serialpack.far import is_far
from serialpack.files.gitignore import GitIgnore
from serialpack.files.globs import chosen_by, matches_any
from serialpack.files.regular import RegularPath
from serialpack.files.source import file_error
from serialpack.hidden import is_hidden


class FoundFile(NamedTuple):
    """A file that was found. ``below``: the folder that it is in, as a path below the walked
    folder; "" where it is directly in that."""

    path: str
    below: str


class Walk:
    """Iterates over the files below ``folder``, in the order of their names; once. Afterwards its
    attributes say what was left out.

    A link to a file counts as that file. Links to folders are not followed, so that there are no
    circles. Sockets, devices, pipes and the hidden files of outputs are left out, and so are the
    files to which standard output and standard error lead.

    - ``include``, ``exclude``: globs (module ``globs``) for paths below ``folder``. A file is taken
      if ``include`` is empty, or matches it or a folder that it is in; and if ``exclude`` matches
      neither
    - ``takes(name)``: whether files of that name are taken; ``links``: whether links to files are
    - ``without``: real paths of files and folders that are left out
    - ``whole``: yield folders, too (the walked one first, but none that ``include`` only looks
      through), and links as links
    - ``gitignore``: leave out what ``.gitignore`` files say
    """

    def __init__(
        self,
        folder: str,
        *,
        include: Collection[str] = (),
        exclude: Collection[str] = (),
        takes: Callable[[str], bool] = lambda _: True,
        links: bool = True,
        without: Collection[str] = (),
        whole: bool = False,
        gitignore: bool = False,
    ) -> None:
        self.folder = folder
        #: What could not be looked into; complete after the last file.
        self.errors: list[FileError] = []
        #: How many files ``takes`` did not take, how many links to folders there were, and how
        #: many that are no files.
        self.not_taken = self.links = self.others = 0
        #: How many links were taken as the files that they lead to, and how many were not.
        self.followed = self.left_links = 0
        #: How many folders below it have nothing in them; not counted where files are chosen.
        self.empty = 0
        #: The files and folders of ``without``, and those of standard output and error, that were
        #: met.
        self.passed_over: list[str] = []
        self._globs = tuple(include), tuple(exclude)
        self._include = matches_any(tuple(include)) if include else None
        self._exclude = matches_any(tuple(exclude)) if exclude else None
        self._takes = takes
        self._links = links or whole
        self._whole = whole
        self._ignores = GitIgnore(folder) if gitignore else None
        #: How many files and folders were passed over for that.
        self.ignored = 0
        self._standard = _standard_files()
        root = os.path.realpath(folder)
        self._without = {
            os.path.relpath(path, root).replace(os.sep, "/"): path
            for path in without
            if path != root
        }

    def __iter__(self) -> Iterator[FoundFile]:
        # Where a link is walked, that is the folder behind it, whose entries stand in it.
        is_link = self._whole and os.path.islink(self.folder)
        root = os.path.join(self.folder, "") if is_link else self.folder
        # Folders, what they are below, and whether all in them is to be taken.
        left: list[tuple[str, str, bool]] = [(root, "", self._include is None)]
        while left:
            folder, below, taken = left.pop()
            entries = self._listed(folder)
            # Of one that is gone, or whose path is too long, there is no more to say.
            if self._whole and taken and (entries is not None or os.path.lexists(folder)):
                yield FoundFile(folder, os.path.dirname(below))
            if entries is None:
                continue
            self.empty += not entries and below != "" and taken
            folders: list[tuple[str, str, bool]] = []
            for entry in entries:
                path = f"{below}/{entry.name}" if below else entry.name
                kind = self._kind(entry, path, taken)
                if kind == "folder":
                    folders.append((entry.path, path, taken or self._includes(path, True)))
                elif kind == "file":
                    yield FoundFile(RegularPath(entry.path), below)
                elif kind == "link":
                    yield FoundFile(entry.path, below)
            left += reversed(folders)

    def _listed(self, folder: str) -> list[os.DirEntry[str]] | None:
        """What is in ``folder``, by name; None where that cannot be told, which is in ``errors``
        then."""
        try:
            with os.scandir(folder) as scan:
                return sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            self.errors.append(file_error(error, folder, "list"))
            return None

    def _includes(self, path: str, is_folder: bool) -> bool:
        return self._include is None or self._include(path, is_folder)

    def _kind(self, entry: os.DirEntry[str], path: str, taken: bool) -> str:
        """``file``, ``link`` or ``folder`` (which is entered), as ``entry`` is to be taken; empty
        where it is left out, which is counted. ``taken``: ``include`` chose a folder that it is in.
        """
        if path in self._without or self._is_standard(entry):
            self.passed_over.append(entry.path)
            return ""
        try:
            is_folder = entry.is_dir(follow_symlinks=False)
            if self._ignores is not None and self._ignores(path, is_folder):
                self.ignored += 1
                return ""
            if is_folder:
                return "" if self._exclude is not None and self._exclude(path, True) else "folder"
            if self._exclude is not None and self._exclude(path, False):
                return ""
            if not (taken or self._includes(path, False)):
                return ""
            # What leads nowhere is a file whose reading will say so.
            as_link = (self._whole and entry.is_symlink()) or _leads_nowhere(entry)
            if not (as_link or entry.is_file()):
                is_link = entry.is_symlink() and entry.is_dir()
                self.links += is_link
                self.others += not is_link
                return ""
        except OSError as error:
            self.errors.append(file_error(error, entry.path, "read"))
            return ""
        if is_hidden(entry.name):
            return ""
        if not self._takes(entry.name):
            self.not_taken += 1
            return ""
        if not self._links and entry.is_symlink():
            self.left_links += 1
            return ""
        self.followed += not as_link and entry.is_symlink()
        return "link" if as_link else "file"

    def _is_standard(self, entry: os.DirEntry[str]) -> bool:
        """Whether standard output or standard error lead to it."""
        try:
            return any(
                entry.inode() == each.st_ino
                and os.path.samestat(entry.stat(follow_symlinks=False), each)
                for each in self._standard
            )
        except OSError:  # it is gone
            return False


def _standard_files() -> list[os.stat_result]:
    """The files that standard output and standard error lead to."""
    found = []
    for fd in (1, 2):
        with suppress(OSError):
            found.append(os.fstat(fd))
    return [each for each in found if stat.S_ISREG(each.st_mode)]


def _leads_nowhere(entry: os.DirEntry[str]) -> bool:
    """Whether it is a link to nothing, or to itself."""
    if entry.is_symlink():
        try:
            entry.stat()
        except OSError as error:
            return error.errno in (errno.ENOENT, errno.ELOOP)
    return False


class FarWalk(Walk):
    """The files below a folder that a URL names, as ``Walk`` has them."""

    def __iter__(self) -> Iterator[FoundFile]:
        from serialpack.far.systems import files_below

        wanted = chosen_by(*self._globs)
        left_out = [each for each in self._without.values() if is_far(each)]
        for path in files_below(self.folder):
            url = f"{self.folder.rstrip('/')}/{path}"
            folder, _, name = path.rpartition("/")
            found = [each for each in left_out if f"{url}/".startswith(f"{each.rstrip('/')}/")]
            if found:
                self.passed_over += [each for each in found if each not in self.passed_over]
            elif wanted is not None and not wanted(path):
                continue
            elif not self._takes(name):
                self.not_taken += 1
            else:
                yield FoundFile(url, folder)
