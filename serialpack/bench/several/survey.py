"""Surveys how well many files shrink behind a quick codec, and draws the few that are measured.

The ratio of what a file takes behind a slow codec to what it takes behind a quick one varies from
file to file much less than its ratio to the bytes of the file. So the quick codec is tried on all
files, or on many, and the others on few (double sampling with a ratio estimator; Cochran, Sampling
Techniques, ch. 12).

These few are drawn so: the files of each ending are sorted by size and gone through in equal steps,
where a file is as long as it weighs, by what it takes and what it costs to measure (systematic
sampling; ch. 9A). A file that is longer than a step is taken for certain.
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

#: So many files, and so many bytes, are tried for each second of the budget, which takes about a
#: twentieth of it; and at least so many.
FILES_A_SECOND, BYTES_A_SECOND = 200, 8 << 20
LEAST_FILES, LEAST_BYTES = 2000, 32 << 20

#: Where reading is slow, no more files are tried after this share of the budget, once there are so
#: many: what the others take is estimated from these.
MOST_TIME, AT_LEAST = 0.25, 64

#: A factor that puts numbers of files into an order without a meaning.
_SPREAD = 2_654_435_761

#: Each file weighs so much more: in the first draw, by bytes, and in later ones, by what it takes.
#: Of small files the container and the calls count too.
A_FILE, A_CONTAINER = 512, 128

#: The weight of a byte of source, for the work on it, where a byte that it takes weighs 1.
A_BYTE = 0.125


class Surveyed(NamedTuple):
    """A file that was surveyed. ``squeezed``: bytes that it takes behind the quick codec;
    ``alike``: how many files it stands for."""

    path: str
    size: int
    squeezed: float
    alike: float


class Quick:
    """Tells how many bytes data takes behind the quick codec,
    or another one, in the blocks of ``pack``."""

    def __init__(self, codec: str = QUICK) -> None:
        self._codec = CODECS.create(*parse_stage(CODECS, codec))

    def __call__(self, data: bytes) -> int:
        """The bytes that ``data`` takes; a block that does not shrink is stored as it is."""
        view = memoryview(data)
        blocks = (view[i : i + DEFAULT_BLOCK_SIZE] for i in range(0, len(data), DEFAULT_BLOCK_SIZE))
        return sum(min(len(self._codec.compress(block)), len(block)) for block in blocks)


def survey(files: Sequence[tuple[str, int]], budget: float) -> list[Surveyed]:
    """Survey ``files``, which come with their sizes, none of them 0.

    Where there are too many, only some that stand for all are surveyed; where reading takes long,
    the rest is estimated from those that were tried. A file that cannot be read counts as one that
    does not shrink: whoever measures it will say why.
    """
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
    # In an order without a meaning: when time is up, those that were tried are like the others.
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
    """What share of their bytes the files of each ending take behind the quick codec;
    under "" that of all files."""
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
    """Draw up to ``most`` of ``files`` by their ``weights``, and tell what each stands for. Each
    ending has its share of them."""
    by_ending: dict[str, float] = {}
    for file, weight in zip(files, weights, strict=True):
        ending = Path(file.path).suffix
        by_ending[ending] = by_ending.get(ending, 0.0) + weight * file.alike
    # Each of the endings that weigh the most is a kind; all other endings together are one more.
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
    """Draw about ``steps`` of ``files`` (each with its weight), which are one group: those that
    weigh more than a step, and of the others those at points spread evenly over their weight. A
    file that stands for several may be at several points."""
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
        # At least one file is to stand for what is left.
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
    # What they stand for is scaled, so that it adds up to all files: in bytes, number, and what
    # they take.
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
