"""``--plot FILE.png|svg``: a picture of size against speed,
or of the curves of a sweep, by matplotlib."""

from __future__ import annotations

import io
import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from serialpack.bench.reports import sentences
from serialpack.bench.reports._drawing import Axis, Dot, Scatter, axes_of, placed, scatter
from serialpack.bench.reports.sweeps import Curves, curves, is_sweep
from serialpack.bench.results import Results, shown_source
from serialpack.errors import MissingLibraryError, UsageError
from serialpack.files.output import Output
from serialpack.stages.stage import is_installed
from serialpack.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: What the name of the file may end in, and the format that it has then.
ENDINGS = {".png": "png", ".svg": "svg"}

#: A curve of fewer points than this has a mark at each.
ENOUGH_POINTS = 30

_FRONT = "#c2410c"
_OTHER = "#7a8794"

#: Text stays text, and is no path or formula; the same results give the same bytes.
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "serialpack",
    "text.parse_math": False,
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e3e6e9",
    "axes.axisbelow": True,
}


class Legend(NamedTuple):
    """What the points, and the line, of size against speed are called.
    Others may use other words."""

    front: str = "on the front"
    others: str = "other chains"
    best: str = "smallest at its speed"
    anchors: str = "anchors"


LEGEND = Legend()


def check_plot(path: str) -> None:
    """UsageError where ``path`` does not end as a picture does; MissingLibraryError without
    matplotlib.

    It is called before anything is measured, so that no time is lost.
    """
    if _ending(path) not in ENDINGS:
        raise UsageError(f"no picture ends in {_ending(path)!r}", hint="--plot takes .png and .svg")
    if not is_installed("matplotlib"):
        raise MissingLibraryError(
            "plots cannot be drawn here: matplotlib is not installed",
            hint="pip install 'serialpack[plot]'",
        )


def plot(results: Results, path: str, *, force: bool = False, legend: Legend = LEGEND) -> None:
    """Draw ``results`` into the file ``path``; over an existing one only with ``force``.

    What ``check_plot`` raises; FileError where the file cannot be written; UsageError where there
    is nothing to draw.
    """
    check_plot(path)
    with _quiet_matplotlib(), warnings.catch_warnings():
        # A name may hold letters that the font has not.
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
        figure = _sweep(results) if is_sweep(results) else _scatters(results, legend)
        format = ENDINGS[_ending(path)]
        data = io.BytesIO()
        metadata = {"Date": None} if format == "svg" else {"Software": None}
        figure.savefig(data, format=format, dpi=144, metadata=metadata)
    with Output(path, force=force) as out:
        out.write(data.getbuffer())


@contextmanager
def _quiet_matplotlib() -> Iterator[None]:
    """Drawing as said here. What the library has to say of its own files, as of a home that it may
    not write to, is nothing about the plot."""
    logger = logging.getLogger("matplotlib")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        from matplotlib import rc_context

        with rc_context(_SETTINGS):
            yield
    finally:
        logger.setLevel(before)


def _ending(path: str) -> str:
    return os.path.splitext(path)[1].lower()  # noqa: PTH122 (names are text as the system has it)


def _figure(results: Results, rows: int, width: float, height: float) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    title = f"{shown_source(results.source)}: {sentences.headline(results)}"
    figure.suptitle(printable(title), fontsize=11, wrap=True)
    return figure, figure.subplots(rows, 2, squeeze=False)


def _scatters(results: Results, legend: Legend) -> Figure:
    """Two pictures: size against the speed of packing, and against that of unpacking."""
    pack = scatter(results, lambda row: (row.pack_speed or 0) / 1e6)
    unpack = scatter(results, lambda row: (row.unpack_speed or 0) / 1e6)
    if pack is None or unpack is None:
        raise UsageError("nothing was measured that could be drawn")
    figure, ((left, right),) = _figure(results, 1, 12, 5.4)
    _scatter(left, pack, "pack", legend)
    _scatter(right, unpack, "unpack", legend)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    # Labels stand where there is room, which is known once everything else is drawn.
    figure.draw_without_rendering()
    _label(left, pack)
    _label(right, unpack)
    return figure


def _scatter(axis: Axes, drawn: Scatter, which: str, legend: Legend) -> None:
    """Draw sizes against one speed: a point a row, and the line of those that none beats."""
    for front, colour, size in ((False, _OTHER, 18), (True, _FRONT, 30)):
        points = [(dot.x, dot.y) for dot in drawn.dots if dot.row.front == front]
        label = legend.front if front else legend.others
        if points:
            across, up = zip(*points, strict=True)
            axis.scatter(across, up, s=size, c=colour, label=label, zorder=3)
    best: list[tuple[float, float]] = []
    for dot in sorted(drawn.dots, key=lambda each: (-each.x, each.y)):
        if not best or dot.y < best[-1][1]:
            best.append((dot.x, dot.y))
    axis.plot(
        *zip(*best, strict=True), c=_FRONT, lw=1, alpha=0.7, ds="steps-post", label=legend.best
    )
    if drawn.anchors:
        across, up = zip(*((dot.x, dot.y) for dot in drawn.anchors), strict=True)
        axis.scatter(across, up, marker="x", c="#30363d", label=legend.anchors, zorder=3)
    _log(axis, "x", drawn.across)
    _log(axis, "y", drawn.up)
    axis.set_xlabel(f"{which}: MB of the source a second")
    axis.set_ylabel("size of the container")


def _log(axis: Axes, which: str, found: Axis) -> None:
    """A logarithmic axis with round numbers on it."""
    ticks, labels = zip(*found.ticks(), strict=True) if found.ticks() else ((), ())
    side = axis.xaxis if which == "x" else axis.yaxis
    (axis.set_xscale if which == "x" else axis.set_yscale)("log")
    (axis.set_xlim if which == "x" else axis.set_ylim)(*found.ends)
    side.set_ticks(ticks, labels)
    side.set_ticks([], minor=True)


def _label(axis: Axes, drawn: Scatter) -> None:
    """The names of the front and of anchors beside their points, where they cover nothing."""
    from matplotlib.text import Text

    box = axis.get_window_extent()

    def pixels(dot: Dot) -> tuple[float, float]:
        right, up = axis.transData.transform((dot.x, dot.y))
        return right - box.x0, box.height - (up - box.y0)

    named = [*(dot for dot in drawn.dots if dot.row.front), *drawn.anchors]
    points = [*map(pixels, named)]
    texts = [axis.text(dot.x, dot.y, printable(dot.name), fontsize=7) for dot in named]
    sizes = [(extent.width, extent.height) for extent in map(Text.get_window_extent, texts)]
    obstacles = [*points, *(pixels(dot) for dot in drawn.dots if not dot.row.front)]
    boxes = placed(points, sizes, (box.width, box.height), obstacles, gap=7)
    for text, place in zip(texts, boxes, strict=True):
        if place is None:
            text.remove()
            continue
        corner = (box.x0 + place.x, box.y0 + box.height - place.y - place.height)
        across, up = axis.transData.inverted().transform(corner)
        text.set_position((across, up))


def _sweep(results: Results) -> Figure:
    """A picture for each measure of a sweep."""
    found = curves(results)
    if not found:
        raise UsageError("nothing was measured that could be drawn")
    tall = -(-len(found) // 2)
    figure, axes = _figure(results, tall, 11, 3.1 * tall + 1)
    for place, each in zip(axes.flat, found, strict=False):
        _curves(place, each)
    for place in axes.flat[len(found) :]:
        place.set_axis_off()
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 5))
    return figure


def _curves(axis: Axes, found: Curves) -> None:
    """Draw a measure of a sweep: a curve a chain."""
    styles = ("-", "--", ":", "-.")
    for number, (name, line) in enumerate(found.lines.items()):
        # Ten colours, then the same with another line.
        axis.plot(
            *zip(*line, strict=True),
            c=f"C{number % 10}",
            ls=styles[number // 10 % len(styles)],
            lw=1.4,
            marker="." if len(line) < ENOUGH_POINTS else None,
            label=printable(name),
        )
    across, up = axes_of(found)
    _log(axis, "x", across)
    _log(axis, "y", up)
    axis.set_title(found.title, fontsize=10)
    axis.set_xlabel("n")
