"""Several files as one source: which of them are measured, and what their figures say of all.

Of more files than are measured, each ending gets a number of them by its share of the bytes, and
in it they are taken in equal steps through the files by size (systematic sampling with probability
proportional to size; Cochran, Sampling Techniques, ch. 9A): large ones are taken for certain, and
each stands for as many as there are like it.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from serialpack.bench.material import MOST_HELD, Subject, file_subject
from serialpack.bench.results import SampledFiles
from serialpack.bench.trials import Figures
from serialpack.errors import FileError, SerialpackError
from serialpack.far import is_far
from serialpack.files.source import file_error

#: So many files are measured for each second of the budget, but no fewer than that.
FILES_A_SECOND, LEAST_FILES = 1, 8
#: Nor more, whatever the budget.
MOST_FILES = 200

#: What a file weighs beside its bytes: of a small one, its container and the calls count too.
A_FILE = 512

#: So many bytes are held for each second of the budget, shared by what the files stand for; and of
#: each as many at least. All that is held is measured, so that every row is of the same bytes.
BYTES_A_SECOND, LEAST_HELD = 48 << 10, 16 << 10


class Several(NamedTuple):
    """The files that are measured, for all of them. ``subject``: with these as its ``files``.

    ``words``: what names all of them on a command line. ``errors``: those that were to be measured
    and could not be read; they are left out.
    """

    subject: Subject
    sampled: SampledFiles
    words: Sequence[str]
    errors: list[SerialpackError]


def sample_files(
    paths: Iterable[str],
    budget: float,
    *,
    called: str,
    words: Sequence[str],
    format: str | None = None,
) -> Several:
    """Choose files to measure in ``budget`` seconds, all where they are few.

    ``called``: what they are called together. FileError where there is none with anything in it.
    """
    errors: list[SerialpackError] = []
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
    most = min(max(int(budget * FILES_A_SECOND), LEAST_FILES), MOST_FILES)
    chosen = list(_chosen(known, most))
    total = sum(size for _, size in known)
    subjects: list[Subject] = []
    for path, stands_for in chosen:
        try:
            held = int(budget * BYTES_A_SECOND * stands_for / total)
            # A file is held whole up to four times what is held of a larger one.
            most_held = min(4 * max(held, LEAST_HELD), MOST_HELD)
            subject = file_subject(path, format, most_held=most_held)
        except SerialpackError as error:
            error.path = path
            errors.append(error)
        else:
            subjects.append(subject._replace(stands_for=stands_for))
    if not subjects:
        why = f": {errors[0]}" if errors else " with anything in it"
        raise FileError(f"no file to measure{why}", path=called)
    sampled = SampledFiles(
        total=len(known) + empty,
        size=total,
        empty=empty,
        measured=[subject.path for subject in subjects],
    )
    formats = sorted({subject.format for subject in subjects})
    subject = Subject(path=called, format=", ".join(formats), files=tuple(subjects))
    return Several(subject, sampled, words, errors)


def _chosen(files: Sequence[tuple[str, int]], most: int) -> Iterator[tuple[str, float]]:
    """Those to measure, and how many bytes each stands for."""
    if len(files) <= most:
        yield from files
        return
    by_ending: dict[str, int] = {}
    for path, size in files:
        ending = Path(path).suffix
        by_ending[ending] = by_ending.get(ending, 0) + size + A_FILE
    # The endings of most bytes; what there is beside so many is of one kind here.
    endings = set(sorted(by_ending, key=lambda e: (-by_ending[e], e))[: most - 1])

    def kind(file: tuple[str, int]) -> str:
        ending = Path(file[0]).suffix
        return ending if ending in endings else ""

    total = sum(by_ending.values())
    ordered = sorted(files, key=lambda file: (kind(file), file[1], file[0]))
    for _, group in groupby(ordered, key=kind):
        alike = list(group)
        weight = sum(size + A_FILE for _, size in alike)
        yield from _stepped(alike, weight, max(int(most * weight / total), 1))


def _stepped(
    files: Sequence[tuple[str, int]], weight: int, steps: int
) -> Iterator[tuple[str, float]]:
    """The files at ``steps`` points spread evenly over their ``weight``; one may be at several."""
    step, end, done = weight / steps, 0, 0
    like: dict[str, float] = {}  # how many bytes there are in files like it
    for path, size in files:
        end += size + A_FILE
        points = 0
        while done + points < steps and (done + points + 0.5) * step < end:
            points += 1
        if points:
            like[path] = points * step / (size + A_FILE) * size
            done += points
    scale = sum(size for _, size in files) / sum(like.values())
    for path, stands_for in like.items():
        yield path, stands_for * scale


def weighed(found: Sequence[Figures], sizes: Sequence[int], stand_for: Sequence[float]) -> Figures:
    """What was found of several files of these ``sizes``, or of a part of each, for all of them.

    What is around the data of a file is there once however much of it was measured. Sizes and
    seconds are then scaled to ``source``, the bytes that were measured; memory is the most.
    """
    source = sum(each.source for each in found)
    scale = source / sum(stand_for)
    weights = [stands / each.source * scale for each, stands in zip(found, stand_for, strict=True)]
    files = [stands / size * scale for size, stands in zip(sizes, stand_for, strict=True)]

    def total(values: Iterable[float], by: Sequence[float] = weights) -> float:
        return sum(value * weight for value, weight in zip(values, by, strict=True))

    overhead = total((each.overhead for each in found), by=files)
    records = [each.records for each in found if each.records is not None]
    spreads = [each.spread for each in found if each.spread is not None]
    wall = sum(each.pack + each.unpack for each in found)
    return Figures(
        source=source,
        records=sum(records) if len(records) == len(found) else None,
        size=round(total(each.size - each.overhead for each in found) + overhead),
        overhead=round(overhead),
        pack=total(each.pack for each in found),
        unpack=total(each.unpack for each in found),
        pack_mean=total(each.pack_mean for each in found),
        unpack_mean=total(each.unpack_mean for each in found),
        steps={step: total(each.steps[step] for each in found) for step in found[0].steps},
        runs=min(each.runs for each in found),
        spread=None
        if len(spreads) < len(found) or not wall
        else sum((each.pack + each.unpack) * (each.spread or 0.0) for each in found) / wall,
        memory=max((each.memory for each in found if each.memory is not None), default=None),
        kept="exact" if all(each.kept == "exact" for each in found) else "faithful",
        means={step: total((each.means or {})[step] for each in found) for step in found[0].steps},
    )
