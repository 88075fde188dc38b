"""Chooses which of several files are measured, and how much of each.

All are surveyed first (``survey``). The search for what suits goes over few of them; what would be
recommended is then measured on as many as there is time for.
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

#: How many files are measured for each second of the budget, and the least of them.
FILES_A_SECOND, LEAST_FILES = 1, 8
#: The most files that are measured, whatever the budget.
MOST_FILES = 200

#: Bytes that are held for each second of the budget, shared among the files by what they stand for;
#: and the least for each file.
BYTES_A_SECOND, LEAST_HELD = 48 << 10, 16 << 10

#: How many times the files and bytes of the first sample the larger ones have.
LARGER = (4, 16, 64)

#: The least files of a larger sample, where there are as many.
_AT_LEAST = 32


class Several(NamedTuple):
    """The files that are measured in place of all. ``subject``: with these as its ``files``.

    ``words``: what names all files on a command line. ``errors``: of files that were chosen, but
    could not be read, and are left out. ``seconds``: how long it took to choose them.
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
    """Choose files to measure in ``budget`` seconds, all where they are few.

    ``called``: what they are called together. ``handling``: seconds that packing and unpacking a
    file takes beside the work on its bytes. FileError where there is none with anything in it.
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
    """The files and their sizes, and how many others are empty; ``errors`` gets those of paths that
    are no files."""
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


#: A file, what it stands for, and how many bytes of it may be held.
_Chosen = tuple[Surveyed, Standing, int]


def _first(files: Sequence[Surveyed], most: int, held: float) -> Iterator[_Chosen]:
    """The first sample, to search with: a part of each file, or all of it up to four times that."""
    total = sum(file.size * file.alike for file in files)
    for file, stands in sample(files, most):
        part = max(int(held * stands.bytes / total), LEAST_HELD)
        yield file, stands, min(4 * part, MOST_HELD)


def _larger(files: Sequence[Surveyed], most: int, held: float) -> Iterator[_Chosen]:
    """A larger sample: whole files, but for those that would leave no room for others."""
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
    """Makes subjects of files; each file is looked at only once."""

    def __init__(self, format: str | None, errors: list[SerialpackError]) -> None:
        self._format = format
        self._errors = errors
        self._known: dict[str, Subject | None] = {}

    def subjects(self, chosen: Iterable[_Chosen]) -> Iterator[Subject]:
        """The subjects of the chosen files, without those that cannot be measured."""
        for file, stands, most in chosen:
            if file.path not in self._known:
                self._known[file.path] = self._subject(file.path)
            subject = self._known[file.path]
            if subject is not None:
                yield subject._replace(stands=stands, most_held=most)

    def _subject(self, path: str) -> Subject | None:
        try:
            return file_subject(path, self._format)
        except SerialpackError as error:
            error.path = path
            self._errors.append(error)
            return None
