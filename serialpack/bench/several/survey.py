"""Surveys how well many files shrink behind a quick codec, and draws the few that are measured.

What a file takes behind the slow codecs varies much less from file to file when it is counted in
what it takes behind a quick one than when it is counted in its bytes. So the quick one is tried on
all files, or on many, and the ratio of the two found on few (double sampling with a ratio
estimator; Cochran, Sampling Techniques, ch. 12). In it they are taken in equal steps through the
files of each ending by size, with probability proportional to what they take and cost (systematic
sampling; ch. 9A); one larger than a step is taken for certain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from serialpack.bench.material import Standing, read_windows
from serialpack.codecs import CODECS
from serialpack.container.header import DEFAULT_BLOCK_SIZE
from serialpack.stages.chain import parse_stage

#: The codec that all files are tried with.
QUICK = "zstd:1"

#: How many files, and bytes of them, are tried for each second of the budget, which takes about a
#: twentieth of it; and the least of both.
FILES_A_SECOND, BYTES_A_SECOND = 200, 8 << 20
LEAST_FILES, LEAST_BYTES = 2000, 32 << 20

#: The share of the budget after which, where reading is slow, the rest is estimated from the files
#: that were tried; and the least number of these.
MOST_TIME, AT_LEAST = 0.25, 64

#: A factor for the numbers of files, which puts them into an order without a meaning.
_SPREAD = 2_654_435_761

#: What a file weighs beside its bytes in the first draw, and beside what it takes in later ones:
#: for a small file its container and the calls count too.
A_FILE, A_CONTAINER = 512, 128

#: The weight of a byte of source, for the work on it, beside that of a byte that it takes.
A_BYTE = 0.125


class Surveyed(NamedTuple):
    """A file that was surveyed. ``squeezed``: bytes that it takes behind the quick codec.
    ``alike``: the files that it stands for."""

    path: str
    size: int
    squeezed: float
    alike: float


class Quick:
    """Measures what bytes take behind the quick codec, or another, in the blocks of ``pack``."""

    def __init__(self, codec: str = QUICK) -> None:
        self._codec = CODECS.create(*parse_stage(CODECS, codec))

    def __call__(self, data: bytes) -> int:
        """Bytes that ``data`` takes; what does not shrink is stored as it is."""
        view = memoryview(data)
        blocks = (view[i : i + DEFAULT_BLOCK_SIZE] for i in range(0, len(data), DEFAULT_BLOCK_SIZE))
        return sum(min(len(self._codec.compress(block)), len(block)) for block in blocks)


def survey(files: Sequence[tuple[str, int]], budget: float) -> list[Surveyed]:
    """Try all files, which come with their sizes, none of them 0. Where there are too many, some
    that stand for all are tried; where reading takes long, the rest is estimated. What cannot be
    read counts as not shrinking, and is left to whoever measures it."""
    most = max(int(budget * FILES_A_SECOND), LEAST_FILES)
    chosen = [Surveyed(path, size, size, 1.0) for path, size in files]
    if len(files) > most:
        weights = [size + A_FILE for _, size in files]
        chosen = [
            file._replace(alike=stands.files) for file, stands in drawn(chosen, weights, most)
        ]
    share = max(budget * BYTES_A_SECOND, LEAST_BYTES) / sum(file.size for file in chosen)
    quick = Quick()
    found: dict[int, Surveyed] = {}
    # In an order without a meaning: those that were tried when time is up stand for the others.
    order = sorted(range(len(chosen)), key=lambda number: number * _SPREAD % len(chosen))
    until = perf_counter() + budget * MOST_TIME
    for number in order:
        if len(found) >= AT_LEAST and perf_counter() > until:
            break
        file = chosen[number]
        part = max(int(file.size * share), 256 << 10)
        squeezed = float(file.size)
        with suppress(OSError):
            data = read_windows(Path(file.path), file.size, part)
            squeezed = quick(data) * (file.size / max(len(data), 1))
        found[number] = file._replace(squeezed=squeezed)
    ratios = _ratios(found.values())
    return [
        found[number]
        if number in found
        else file._replace(squeezed=file.size * ratios.get(Path(file.path).suffix, ratios[""]))
        for number, file in enumerate(chosen)
    ]


def _ratios(files: Iterable[Surveyed]) -> dict[str, float]:
    """What files of each ending take behind the quick codec, as a share of their bytes; under ""
    those of all."""
    sums: dict[str, tuple[float, float]] = {}
    for file in files:
        for ending in {Path(file.path).suffix, ""}:
            size, squeezed = sums.get(ending, (0.0, 0.0))
            sums[ending] = size + file.size, squeezed + file.squeezed
    return {ending: squeezed / size for ending, (size, squeezed) in sums.items()}


def sample(files: Sequence[Surveyed], most: int) -> list[tuple[Surveyed, Standing]]:
    """Up to ``most`` of the files, and what each stands for."""
    if len(files) <= most and all(file.alike == 1 for file in files):
        return [(file, Standing(file.size, 1.0, file.squeezed, None)) for file in files]
    weights = [file.squeezed + A_BYTE * file.size + A_CONTAINER for file in files]
    return list(drawn(files, weights, most))


def drawn(
    files: Sequence[Surveyed], weights: Sequence[float], most: int
) -> Iterator[tuple[Surveyed, Standing]]:
    """Up to ``most`` of ``files`` by their ``weights``: each ending has its share of them."""
    by_ending: dict[str, float] = {}
    for file, weight in zip(files, weights, strict=True):
        ending = Path(file.path).suffix
        by_ending[ending] = by_ending.get(ending, 0.0) + weight * file.alike
    # The endings of most weight each are a kind; all the others together are one more.
    endings = set(sorted(by_ending, key=lambda e: (-by_ending[e], e))[: most - 1])

    def kind(each: tuple[Surveyed, float]) -> str:
        ending = Path(each[0].path).suffix
        return ending if ending in endings else ""

    total = sum(by_ending.values())
    ordered = sorted(
        zip(files, weights, strict=True), key=lambda each: (kind(each), each[0].size, each[0].path)
    )
    for name, group in groupby(ordered, key=kind):
        alike = list(group)
        weight = sum(weight * file.alike for file, weight in alike)
        yield from _stepped(alike, max(int(most * weight / total), 1), name)


def _stepped(
    files: list[tuple[Surveyed, float]], steps: int, group: str
) -> Iterator[tuple[Surveyed, Standing]]:
    """Those larger than a step, and the files at points spread evenly over the weight of the
    others; one that stands for several may be at several."""
    while True:
        step = sum(weight * file.alike for file, weight in files) / max(steps, 1)
        large = [each for each in files if each[0].alike == 1 and each[1] >= step]
        if not large or not steps:
            break
        for file, _ in large:
            yield file, Standing(file.size, 1.0, file.squeezed, None)
        files = [each for each in files if each not in large]
        steps -= len(large)
        if not files:
            return
        # At least one file stands for what is left.
        steps = max(steps, 1)
    end, done = 0.0, 0
    alike: dict[Surveyed, float] = {}
    for file, weight in files:
        end += weight * file.alike
        points = 0
        while done + points < steps and (done + points + 0.5) * step < end:
            points += 1
        if points:
            alike[file] = points * step / weight
            done += points
    # Scale what they stand for, so that it adds up to all there is, in each respect.
    bytes_, count, squeezed = (
        sum(value(file) * file.alike for file, _ in files)
        / sum(value(file) * times for file, times in alike.items())
        for value in (_size, _one, _squeezed)
    )
    for file, times in alike.items():
        stands = Standing(
            file.size * times * bytes_, times * count, file.squeezed * times * squeezed, group
        )
        yield file, stands


def _size(file: Surveyed) -> float:
    return file.size


def _one(_: Surveyed) -> float:
    return 1.0


def _squeezed(file: Surveyed) -> float:
    return max(file.squeezed, 1.0)
