"""``pack --shared-dict``: the dictionary that many files share, and what it was good for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from serialpack.cli.files.mover import Mover
from serialpack.cli.naming import STDIO
from serialpack.cli.options.requests import Manner
from serialpack.cli.reporting.say import say
from serialpack.dictionaries import read, train_dictionary
from serialpack.errors import ExistingFileError
from serialpack.text import number_of
from serialpack.units import format_size

if TYPE_CHECKING:
    from serialpack.reports import PackReport


class SharedDictionary:
    """The dictionary in the file ``path``, for the files that one call packs with it."""

    def __init__(self, path: str, manner: Manner) -> None:
        self.path, self._manner = path, manner
        #: Which dictionary it is, as it is said at the end; empty where there is none.
        self._which = ""
        #: Files that were packed, and of these those with the dictionary; the bytes that it saved.
        self._packed = self._shared = self._saved = 0
        #: Bytes of the dictionary; and whether it was trained now, for these files alone.
        self._size, self._trained = 0, False

    def prepare(self, mover: Mover, inputs: Sequence[str], effort: int) -> bool:
        """Whether there is a dictionary to pack with: where none is there, it is trained from
        ``inputs``, and a dry run only says so."""
        if os.path.lexists(self.path):
            found, how = read(self.path), ""
        elif mover.dry_run:
            said = f"would train {self.path} from {number_of(len(inputs), 'input')}"
            say(self._manner, said)
            return False
        else:
            mover.targets.begin()
            mover.targets.make_folder()
            files = [path for path in inputs if path != STDIO]
            try:
                found, count = train_dictionary(files, self.path, effort=effort)
                how = f" trained from {number_of(count, 'file')},"
                self._trained = True
            except ExistingFileError:  # another run has trained one meanwhile
                found, how = read(self.path), ""
            except BaseException:
                mover.targets.remove_empty()
                raise
        self._size = len(found.content)
        size = format_size(self._size)
        self._which = (
            f"{self.path}:{how} {size}, XXH3-64 {found.named.check:016x}; keep it: without it"
            " what was packed with it cannot be unpacked"
        )
        return True

    def count(self, report: PackReport) -> None:
        """Count what the dictionary was good for, in one file."""
        self._packed += 1
        self._shared += report.dictionary is not None
        self._saved += report.saved

    def lines(self) -> Iterator[str]:
        """What is said of the dictionary at the end: which one, and what it was good for."""
        if not self._which:
            return
        yield self._which
        files = number_of(self._packed, "file")
        if self._shared:
            saved = f"{format_size(self._saved)} smaller by it"
            alone = "" if self._shared == self._packed else "; without it the others are no larger"
            yield f"{self.path}: used for {self._shared:,} of {files}, {saved}{alone}"
            if self._trained and self._size > self._saved:
                pays = "it pays for more files of the kind"
                yield f"{self.path}: takes more than that itself; {pays}"
        elif self._packed:
            yield f"{self.path}: used for none of {files}: none is smaller by it"
