"""Chooses which of several files are measured, and how much of each.

All are surveyed first (``survey``). A first sample of few files is for the search for what suits;
larger and larger ones are for measuring what would be recommended, as far as there is time.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from serialpack.bench.material import LOOK, MOST_HELD, Crowd, Standing, Subject, file_subject
from serialpack.bench.results import SampledFiles
from serialpack.bench.several.survey import Surveyed, sample, survey
from serialpack.errors import FileError, SerialpackError
from serialpack.far import is_far
from serialpack.files.source import file_error
from serialpack.pipeline.workers import LARGE, MANY_FILES, MUCH

#: The first sample has so many files for each second of the budget, and at least so many.
FILES_A_SECOND, LEAST_FILES = 1, 8
#: And at most so many, whatever the budget.
MOST_FILES = 200

#: Of its files so many bytes are held for each second of the budget, which they share by what they
#: stand for; and of each file at least so many.
BYTES_A_SECOND, LEAST_HELD = 48 << 10, 16 << 10

#: The larger samples have so many times the files and the bytes of the first one.
LARGER = (4, 16, 64)

#: A larger sample leaves room for so many files, where there are as many.
_AT_LEAST = 32


class Several(NamedTuple):
    """The files that are measured in place of all: those of ``subject``.

    ``sampled``: the same, for the results. ``words``: what names all files in a command.
    ``errors``: of files that could not be read, and are left out. ``seconds``: how long the choice
    took.
    """

    subject: Subject
    sampled: SampledFiles
    words: Sequence[str]
    errors: list[SerialpackError]
    seconds: float = 0.0


def sample_files(
    paths: Iterable[str],
    budget: float,
    *,
    called: str,
    words: Sequence[str],
    format: str | None = None,
    handling: tuple[float, float] = (0.0, 0.0),
) -> Several:
    """Choose out of ``paths`` the files to measure in ``budget`` seconds; all where they are few.

    ``called``: what all are called together; ``words``: see ``Several``; ``format``: what the user
    says that they are. ``handling``: seconds that each file takes beside the work on its bytes, to
    pack it and to unpack it. FileError where none can be read and has anything in it.
    """
    errors: list[SerialpackError] = []
    files, empty = _found(paths, errors)
    total = sum(size for _, size in files)
    small = [size for _, size in files if size <= LARGE]
    crowd = Crowd(*handling, many=len(small) >= MANY_FILES or sum(small) >= MUCH)
    known = survey(files, budget) if files else []
    opened = _Subjects(format, errors)
    samples: list[tuple[Subject, ...]] = []
    for times in (1, *LARGER):
        most = min(max(int(budget * FILES_A_SECOND), LEAST_FILES), MOST_FILES) * times
        held = budget * BYTES_A_SECOND * times
        chosen = list((_first if times == 1 else _larger)(known, most, held))
        samples.append(tuple(opened.subjects(chosen)))
        if len(chosen) == len(files) and all(file.size <= may for file, _, may in chosen):
            break
    if not samples[0]:
        why = f": {errors[0]}" if errors else " with anything in it"
        raise FileError(f"no file to measure{why}", path=called)
    sampled = SampledFiles(
        total=len(files) + empty,
        size=total,
        empty=empty,
        measured=[subject.path for subject in samples[0]],
    )
    formats = sorted({subject.format for subjects in samples for subject in subjects})
    subject = Subject(
        path=called,
        format=", ".join(formats),
        files=samples[0],
        larger=tuple(samples[1:]),
        crowd=crowd,
    )
    return Several(subject, sampled, words, errors)


def _found(
    paths: Iterable[str], errors: list[SerialpackError]
) -> tuple[list[tuple[str, int]], int]:
    """The files, with their sizes, and how many others are empty. An error is added to ``errors``
    for each path that is no regular file, or is not here."""
    known: list[tuple[str, int]] = []
    empty = 0
    for path in paths:
        if is_far(path):
            errors.append(FileError("is not here", path=path, hint="bench takes a URL alone"))
            continue
        try:
            found = Path(path).stat()
        except OSError as error:
            errors.append(file_error(error, path, "read"))
            continue
        if not stat.S_ISREG(found.st_mode):
            errors.append(FileError("is not a regular file", path=path))
        elif found.st_size:
            known.append((path, found.st_size))
        else:
            empty += 1
    return known, empty


#: A chosen file, what it stands for, and how many bytes of it may be held.
_Chosen = tuple[Surveyed, Standing, int]


def _first(files: Sequence[Surveyed], most: int, held: float) -> Iterator[_Chosen]:
    """The first sample, of ``most`` files and ``held`` bytes: a part of each file, or all of it
    where that is up to four times as much."""
    total = sum(file.size * file.alike for file in files)
    for file, stands in sample(files, most):
        part = max(int(held * stands.bytes / total), LEAST_HELD)
        yield file, stands, min(4 * part, MOST_HELD)


def _larger(files: Sequence[Surveyed], most: int, held: float) -> Iterator[_Chosen]:
    """A larger sample, of up to ``most`` files and about ``held`` bytes: whole files, but for those
    that would leave too little room for others."""
    part = min(max(int(held / _AT_LEAST), LOOK), LARGE // 4)
    while True:
        chosen = sample(files, most)
        small = [file.size for file, _ in chosen if file.size <= LARGE]
        if sum(size if size <= 4 * part else part for size in small) <= held or most <= LEAST_FILES:
            break
        most = most * 2 // 3
    large = sum(file.size for file, _ in chosen if file.size > LARGE)
    for file, stands in chosen:
        share = int(held * file.size / large) if file.size > LARGE else 0
        yield file, stands, min(4 * max(part, share), MOST_HELD)


class _Subjects:
    """Makes subjects of files. Each file is looked at once, for all samples."""

    def __init__(self, format: str | None, errors: list[SerialpackError]) -> None:
        self._format = format
        self._errors = errors
        self._known: dict[str, Subject | None] = {}

    def subjects(self, chosen: Iterable[_Chosen]) -> Iterator[Subject]:
        """The subjects of the chosen files, but for those that cannot be read."""
        for file, stands, most in chosen:
            if file.path not in self._known:
                self._known[file.path] = self._subject(file.path)
            subject = self._known[file.path]
            if subject is not None:
                yield subject._replace(stands=stands, most_held=most)

    def _subject(self, path: str) -> Subject | None:
        """The subject for one file; None, with an error noted, where it cannot be read."""
        try:
            return file_subject(path, self._format)
        except SerialpackError as error:
            error.path = path
            self._errors.append(error)
            return None
