"""What became of many files: counted while they are done, said in one line at the end."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from time import perf_counter

from serialpack.cli.words import percent
from serialpack.errors import (
    ArchiveError,
    ExistingFileError,
    MissingDictionaryError,
    SerialpackError,
)
from serialpack.files.disk import remove_source
from serialpack.files.not_kept import NotKeptSum, has_attributes
from serialpack.reports import ConvertReport, PackReport, Report, UnpackReport
from serialpack.text import number_of
from serialpack.units import format_size

#: Of more files than this each is told only under ``-v``.
MANY = 20

#: What is done with files of which nothing is written.
TESTED = "tested"

#: Numbers of errors that say that a disk takes no outputs: it is full, or a quota is, or it is only
#: read.
_TAKES_NONE = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EROFS}


class Tally:
    """Counts of files, and bytes read and written. ``done``: what was done with them, a word."""

    def __init__(self, done: str) -> None:
        self._word = done
        self._since = perf_counter()
        self._done = self._failed = self._left = 0
        #: Failures of a kind that many may have (``repeats``).
        self._existing = self._not_taken = self._without = 0
        #: Why the last output was not taken that was not.
        self._why_none = ""
        self._read = self._written = 0
        #: Sources of files that were done, which could not be removed; why not the last one.
        self._not_removed = 0
        self._kept_by: SerialpackError | None = None
        #: What of modes and times of sources their outputs do not keep.
        self.not_kept = NotKeptSum("output", "outputs")

    def add(self, sizes: Mapping[str, int], files: int) -> None:
        """So many files were done: what they had at ``read``, and what it became at ``write``."""
        self._done += files
        self._read += sizes["read"]
        self._written += sizes["write"]

    def add_report(self, report: Report, files: int) -> None:
        """So many files were done, as ``report`` tells."""
        self.add(report.sizes, files)
        if isinstance(report, PackReport | UnpackReport | ConvertReport):
            self.not_kept.add(report.target or "", report.not_kept)
        if isinstance(report, PackReport) and report.sparse:
            self.not_kept.add_sparse(report.source)

    def remove(
        self, path: str, before: os.stat_result | None, *, attributes_told: bool = False
    ) -> None:
        """As ``remove_source``; attributes that are nowhere then are told at the end."""
        attributes = False
        if not attributes_told:
            with suppress(OSError):  # of what is far, or no longer there
                attributes = has_attributes(path)
        try:
            remove_source(path, before)
        except SerialpackError as error:
            raise self.kept(error) from None
        if attributes:
            self.not_kept.add_gone(path)

    def kept(self, error: SerialpackError) -> SerialpackError:
        """``error``, by which a source is not removed."""
        self._not_removed += 1
        self._kept_by = error
        return error

    def leave(self) -> None:
        """A file was done before."""
        self._left += 1

    def fail(self, count: int = 1) -> None:
        """So many files, or folders to look into, failed, which was said."""
        self._failed += count

    @property
    def has_failed(self) -> bool:
        """Whether anything failed so far."""
        return self._failed > 0

    def fail_by(self, error: SerialpackError) -> None:
        """A file failed by ``error``, unless that is what kept ``remove`` from its source: the file
        itself was done. The entries of an archive were counted one by one."""
        if error is not self._kept_by and not isinstance(error, ArchiveError):
            self.fail()

    def repeats(self, error: SerialpackError) -> bool:
        """Whether ``error`` says what was said of many files before: that their outputs are there
        already, that no disk takes these, or that their dictionary is not found. It is
        counted then, and told at the end."""
        if isinstance(error, MissingDictionaryError):
            self._without += 1
            return self._without > MANY
        if isinstance(error, ExistingFileError):
            self._existing += 1
            return self._existing > MANY
        if error is self._kept_by:
            return False
        if isinstance(error, OSError) and error.errno is not None and error.errno in _TAKES_NONE:
            self._not_taken += 1
            self._why_none = os.strerror(error.errno).lower()
            return self._not_taken > MANY
        return False

    def repeated(self, *, skips_existing: bool) -> Iterator[str]:
        """How many failed of which nobody was told (``repeats``), a line each. ``skips_existing``:
        ``--skip-existing`` was given."""
        if (more := self._existing - MANY) > 0:
            there = number_of(more, "more output exists", "more outputs exist")
            leave = "" if skips_existing else "--skip-existing leaves what is whole, "
            yield f"{there} already; {leave}-f overwrites them"
        if (more := self._not_taken - MANY) > 0:
            full = number_of(more, "more output")
            yield f"{full} cannot be written: {self._why_none}; -v names them"
        if (more := self._without - MANY) > 0:
            need = number_of(more, "more file needs", "more files need")
            yield f"{need} a dictionary that is not found; -v names them"

    def stopped(self) -> str:
        """The line where a signal ends it. What was done and not told yet is not counted."""
        again = "" if self._word == TESTED else "; --skip-existing goes on from there"
        return f"stopped; at least {self.line()}{again}"

    def line(self) -> str:
        """``9,993 packed, 7 failed, 20.6 MiB -> 6.1 MiB (29.6%), 2.1 s; the failed ones are
        above``."""
        words = [f"{self._done:,} {self._word}"]
        if self._left:
            words.append(f"{self._left:,} left as they were")
        if self._failed:
            words.append(f"{self._failed:,} failed")
        if self._not_removed:
            words.append(f"{number_of(self._not_removed, 'source')} not removed")
        if self._done and self._read:  # of an archive in one block nothing is, until all is done
            sizes = f"{format_size(self._read)} -> {format_size(self._written)}"
            words.append(f"{sizes} ({percent(self._written, self._read)})")
        words.append(f"{perf_counter() - self._since:.1f} s")
        above = "; the failed ones are above" if self._failed else ""
        if self._not_removed and not self._failed:
            above = "; why is above"
        return ", ".join(words) + above
