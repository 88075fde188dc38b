"""Estimates the figures of many files from the few that were measured, and how far off they may be.

A ratio estimator: sizes are taken as proportional to what is known of all files, which is their
bytes and what they take behind the quick codec of ``several.survey`` (see there).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import sqrt
from typing import NamedTuple

from serialpack.bench.material import Crowd, Standing
from serialpack.bench.measuring.trials import Figures
from serialpack.bench.several.worth import Worth
from serialpack.container.header import DEFAULT_BLOCK_SIZE

#: How far a size may be off, in standard errors: in nineteen of twenty draws it is off by less.
ERRORS = 2.0

#: The standard error, as a share, of what a file takes that was measured in part; and the share
#: that all such files may take less than their parts tell, where these fill no block. Both are
#: guesses.
OF_A_PART, OF_PIECES = 0.05, 0.1


class Measured(NamedTuple):
    """What was measured of a file, or of a part of it.

    ``size``: bytes of the file; ``worth``: what the measured part counts for; ``stands``: what the
    file stands for; ``workers``: how many such files ``pack`` works on at a time.
    """

    figures: Figures
    size: int
    worth: Worth
    stands: Standing
    workers: int

    @property
    def payload(self) -> int:
        """Bytes of the container that hold data."""
        return self.figures.size - self.figures.overhead

    @property
    def is_whole(self) -> bool:
        """Whether all of the file was measured."""
        return self.figures.source == self.size


#: A way to count a file: how much was measured of it, and how much it stands for. Payload is taken
#: as proportional to that.
Count = Callable[[Measured], tuple[float, float]]


def in_survey(file: Measured) -> tuple[float, float]:
    """Count by what files take in the survey: in that, files that shrink vary less."""
    return file.worth.squeezed, file.stands.squeezed


def in_bytes(file: Measured) -> tuple[float, float]:
    """Count by bytes: in these, files that are stored as they are, or nearly so, vary less."""
    return file.worth.bytes, file.stands.bytes


def weighed(found: Sequence[Measured], crowd: Crowd) -> Figures:
    """The figures of all files, estimated from those of some (``found``).

    Payload is taken as proportional to what files take in the survey, or to their bytes, whichever
    fits better; what is around the payload, to the number of files; seconds, to bytes and to files.
    Sizes and seconds are then scaled down to the bytes that were measured (``source``), as in the
    figures of a part of one file. Memory is the most that any file took.
    """
    figures = [each.figures for each in found]
    source = sum(each.source for each in figures)
    scale = source / sum(each.stands.bytes for each in found)

    def total(values: Iterable[float], by: Callable[[Measured], float]) -> float:
        return sum(value * by(each) for value, each in zip(values, found, strict=True)) * scale

    files = sum(each.stands.files / each.workers for each in found) * scale

    def work(values: Iterable[float]) -> float:
        # The seconds of the quickest one are taken as what any file takes, however small; only what
        # is beyond these grows with the bytes.
        seconds = list(values)
        least = min(seconds)
        more = [each - least for each in seconds]
        return total(more, partial(_times, found)) + least * files

    count = min((in_survey, in_bytes), key=lambda count: _spread(found, count))
    payload = sum(_stands_for(each, count) for each in found) * scale
    overhead = total((each.overhead for each in figures), lambda m: m.stands.files)
    records = [each.records for each in figures if each.records is not None]
    steps = figures[0].steps
    return Figures(
        source=source,
        records=sum(records) if len(records) == len(found) else None,
        size=round(payload + overhead),
        overhead=round(overhead),
        pack=work(each.pack for each in figures) + files * crowd.pack,
        unpack=work(each.unpack for each in figures) + files * crowd.unpack,
        pack_mean=work(each.pack_mean for each in figures) + files * crowd.pack,
        unpack_mean=work(each.unpack_mean for each in figures) + files * crowd.unpack,
        steps={step: work(each.steps[step] for each in figures) for step in steps},
        runs=min(each.runs for each in figures),
        spread=_mean_spread(figures),
        memory=max((each.memory for each in figures if each.memory is not None), default=None),
        kept="exact" if all(each.kept == "exact" for each in figures) else "faithful",
        means={step: work((each.means or {})[step] for each in figures) for step in steps},
        error=_error(found, count) * scale / max(payload + overhead, 1.0),
    )


def _mean_spread(figures: Sequence[Figures]) -> float | None:
    """The mean of the spreads, by the seconds of each; None where one is not known."""
    wall = sum(each.pack + each.unpack for each in figures)
    if not wall or any(each.spread is None for each in figures):
        return None
    return sum((each.pack + each.unpack) * (each.spread or 0.0) for each in figures) / wall


def _times(found: Sequence[Measured], file: Measured) -> float:
    """How many times the work on the measured bytes of a file is done, one after another, for all
    that it stands for. Files that were measured in part are counted together, for a tiny part alone
    would tell little."""
    alike = [file] if file.is_whole else [each for each in found if not each.is_whole]
    measured = sum(each.figures.source for each in alike)
    return sum(each.stands.bytes / each.workers for each in alike) / measured


def _stands_for(file: Measured, count: Count) -> float:
    """The bytes of payload of all that a file stands for."""
    measured, stands = count(file)
    return file.payload * stands / measured


def _error(found: Sequence[Measured], count: Count) -> float:
    """By how many bytes the size of all files may be off, because other files, or other parts of
    these, could have been drawn."""
    groups: dict[str, list[Measured]] = {}
    for each in found:
        if each.stands.group is not None:
            groups.setdefault(each.stands.group, []).append(each)
    usual = _spread(found, count)
    variance = 0.0
    for group in groups.values():
        # Of a group of which a single file was measured, files are taken to vary as all files do.
        spread = _spread(group, count) if len(group) > 1 else usual
        left = 1 - len(group) / max(sum(each.stands.files for each in group), len(group))
        size = sum(_stands_for(each, count) for each in group)
        variance += size**2 * spread / len(group) * left
    # Where files do not vary, as where they are only stored, neither do their parts.
    sure = min(sqrt(usual) / OF_A_PART, 1.0) if len(found) > 1 else 1.0
    pieces = 0.0
    for each in found:
        size, source = _stands_for(each, count), each.figures.source
        variance += (OF_A_PART * sure * (1 - source / each.size) * size) ** 2
        pieces += (
            OF_PIECES * sure * max(1 - source / min(each.size, DEFAULT_BLOCK_SIZE), 0.0) * size
        )
    variance += pieces**2
    return ERRORS * sqrt(variance)


def _spread(files: Sequence[Measured], count: Count) -> float:
    """The relative variance among files of their payload over ``count``; 0 for a single file."""
    if len(files) < 2:
        return 0.0
    counted = [count(each) for each in files]
    weights = [stands for _, stands in counted]
    ratios = [each.payload / part for each, (part, _) in zip(files, counted, strict=True)]
    total = sum(weights)
    mean = sum(w * r for w, r in zip(weights, ratios, strict=True)) / total
    spread = sum(w * (r - mean) ** 2 for w, r in zip(weights, ratios, strict=True)) / total
    return spread * len(files) / (len(files) - 1) / mean**2 if mean else 0.0
