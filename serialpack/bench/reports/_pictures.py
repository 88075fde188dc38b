"""The pictures on the page: SVG, in which letters keep their size however wide the page is.

Points stand at percents of the picture, so that it fills the room that there is. Lines cannot be
given in percent: each is drawn in a box of its own, which is stretched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from serialpack.bench.reports import sentences
from serialpack.bench.reports._drawing import Axis, Dot, Scatter, axes_of, placed, scatter
from serialpack.bench.reports.row_columns import duration, seconds, significant
from serialpack.bench.reports.sweeps import Curves, curves, is_sweep
from serialpack.bench.results import Results, Row
from serialpack.text import printable

#: Where the points stand, in percent of the picture: within the letters of the axes.
LEFT, RIGHT, TOP, BOTTOM = 12.0, 97.0, 4.0, 91.0

#: Pixels of the narrowest picture that has names of chains on it, and of one on a telephone.
WIDE = (640.0, 430.0)
NARROW = (328.0, 336.0)

#: Pixels of a letter, and of a line of letters.
LETTER, LINE = 6.6, 15.0

#: How many colours page.css has.
COLOURS = 8


def pictures(results: Results) -> Iterator[str]:
    """Size against speed, or the curves of a sweep; nothing where nothing was measured."""
    if is_sweep(results):
        found = curves(results)
        if found:
            yield from _sweep(found)
        return
    drawn = scatter(results, lambda row: _speed(results, row))
    if drawn is not None:
        yield from _scatter(results, drawn)


def _speed(results: Results, row: Row) -> float | None:
    """MB/s of the source packed and unpacked again."""
    return results.size / seconds(row) / 1e6 if seconds(row) else None


def _scatter(results: Results, found: Scatter) -> Iterator[str]:
    """The figure of size against speed: a point a chain, and the line of the front through the
    best."""
    across, up = found.across, found.up

    def placed_in_percent(dots: Sequence[Dot]) -> list[Dot]:
        return [dot._replace(x=_x(across.at(dot.x)), y=_y(up.at(dot.y))) for dot in dots]

    drawn, crosses = placed_in_percent(found.dots), placed_in_percent(found.anchors)
    drawn.sort(key=lambda point: point.x)
    yield '<section><h2>Size against speed</h2><figure><svg class="chart" role="group"'
    yield ' aria-label="Size against speed, a point a chain">'
    yield from _axes(across, up)
    yield _staircase([point for point in drawn if point.row.front])
    first = drawn[0]
    # The front lies above the others.
    for point in sorted(drawn, key=lambda point: point.row.front):
        front = " front" if point.row.front else ""
        yield (
            f'<circle class="point{front}" cx="{point.x:.2f}%" cy="{point.y:.2f}%"'
            f' r="{6 if front else 5}" tabindex="{0 if point is first else -1}" role="img"'
            f' aria-label="{_told(results, point.row)}"/>'
        )
    for cross in crosses:
        yield (
            f'<svg x="{cross.x:.2f}%" y="{cross.y:.2f}%" overflow="visible">'
            f'<path class="anchor" d="M-4-4 4 4M-4 4 4-4" role="img"'
            f' aria-label="{_told(results, cross.row)}"/></svg>'
        )
    yield from _names(results, drawn, crosses)
    yield "</svg>"
    yield (
        "<figcaption>Across: millions of bytes of the source packed and unpacked again a second;"
        " up: bytes of the container. Both axes are logarithmic; the best is at the lower right."
        f" In colour, with the line: {sentences.FRONT}."
        f"{' Crosses: to hold them against.' if crosses else ''}</figcaption></figure></section>"
    )


def _x(share: float) -> float:
    return LEFT + share * (RIGHT - LEFT)


def _y(share: float) -> float:
    return BOTTOM - share * (BOTTOM - TOP)


def _text(text: str) -> str:
    return escape(printable(text))


def _told(results: Results, row: Row) -> str:
    """What is said of a row where its point is asked."""
    sampled = "~" if row.status == "sampled" else ""
    lines = [row.chain + (f", {row.threads} threads" if row.threads > 1 else "")]
    ratio = f", ratio {significant(row.ratio)}" if row.ratio else ""
    lines.append(f"{sampled}{row.size or 0:,} bytes{ratio}")
    lines.append(", ".join(sentences.speeds(results, row)))
    return "&#10;".join(map(_text, lines))


def _axes(across: Axis, up: Axis) -> Iterator[str]:
    """The lines of both axes, with their numbers.
    Across, on a telephone, only powers of ten have theirs."""
    for value, text in up.ticks():
        y = _y(up.at(value))
        yield f'<line class="grid" x1="0" x2="100%" y1="{y:.2f}%" y2="{y:.2f}%"/>'
        yield f'<text x="0" y="{y:.2f}%" dy="-3">{text}</text>'
    for value, text in across.ticks():
        x = _x(across.at(value))
        minor = "" if text.lstrip("0.,").startswith("1") else ' class="minor"'
        yield f'<line class="grid" x1="{x:.2f}%" x2="{x:.2f}%" y1="0" y2="{BOTTOM + 2}%"/>'
        yield f'<text{minor} x="{x:.2f}%" y="98%" text-anchor="middle">{text}</text>'


def _line(path: str, kind: str) -> str:
    """A line along ``path``, whose numbers are tenths of a percent of the picture.
    ``kind``: its class in page.css."""
    return (
        '<svg width="100%" height="100%" viewBox="0 0 1000 1000" preserveAspectRatio="none">'
        f'<path class="{kind}" d="{path}" vector-effect="non-scaling-stroke"/></svg>'
    )


def _staircase(front: Sequence[Dot]) -> str:
    """The line through the front: what size is to be had at what speed."""
    if not front:
        return ""
    first, *others = sorted(front, key=lambda point: point.x)
    steps = "".join(f"V{10 * point.y:.1f}H{10 * point.x:.1f}" for point in others)
    return _line(f"M{10 * first.x:.1f} {10 * first.y:.1f}{steps}", "staircase")


def _names(results: Results, drawn: Sequence[Dot], crosses: Sequence[Dot]) -> Iterator[str]:
    """The names of chains and anchors beside their points;
    on a narrow picture, what they are best at."""
    kinds: dict[tuple[str, int], list[str]] = {}
    for choice in results.recommendations:
        kinds.setdefault((choice.chain, choice.threads), []).append(choice.kind)
    best = {id(p): kinds.get((p.row.chain, p.row.threads), []) for p in drawn}
    front = sorted((p for p in drawn if p.row.front or best[id(p)]), key=lambda p: not best[id(p)])
    full = [(point, point.row.chain) for point in [*front, *crosses]]
    brief = [(point, ", ".join(best[id(point)])) for point in front if best[id(point)]]
    everywhere = [*drawn, *crosses]
    yield from _labels(full, everywhere, WIDE, "full")
    yield from _labels(brief, everywhere, NARROW, "brief")


def _labels(
    named: Sequence[tuple[Dot, str]],
    everywhere: Sequence[Dot],
    picture: tuple[float, float],
    kind: str,
) -> Iterator[str]:
    """Each name beside its point, where it covers nothing in a picture of so many pixels; else
    nowhere. ``everywhere``: all points; ``kind``: the class of the names in page.css."""

    def pixels(point: Dot) -> tuple[float, float]:
        return point.x / 100 * picture[0], point.y / 100 * picture[1]

    places = [pixels(point) for point, _ in named]
    sizes = [(LETTER * len(printable(name)), LINE) for _, name in named]
    boxes = placed(places, sizes, picture, [*map(pixels, everywhere)], gap=10)
    for (point, name), (x, y), box in zip(named, places, boxes, strict=True):
        if box is None:
            continue
        # How wide letters are is a guess: so it is the side towards the point that is fixed.
        side, edge = ("end", box.x + box.width) if box.x + box.width <= x else ("start", box.x)
        if box.x < x < box.x + box.width:
            side, edge = "middle", x
        yield (
            f'<text class="name {kind}" x="{point.x:.2f}%" y="{point.y:.2f}%"'
            f' dx="{edge - x:.1f}" dy="{box.y + 0.78 * LINE - y:.1f}" text-anchor="{side}"'
            f' aria-hidden="true">{_text(name)}</text>'
        )


def _sweep(found: Sequence[Curves]) -> Iterator[str]:
    """A picture for each measure; a chain has the same colour in all of them."""
    names = list(dict.fromkeys(name for each in found for name in each.lines))
    colours = {name: f"c{number % COLOURS}" for number, name in enumerate(names)}
    yield '<section><h2>Over n</h2><ul class="key">'
    for name in names:
        yield (
            f'<li><svg viewBox="0 0 24 12" aria-hidden="true"><path class="curve {colours[name]}"'
            f' d="M0 6H24"/></svg>{_text(name)}</li>'
        )
    yield '</ul><div class="small">'
    for each in found:
        yield f'<figure><h3>{each.title}</h3><svg class="chart" role="group"'
        yield f' aria-label="{each.title} over n">'
        yield from _curves(each, colours)
        yield "</svg></figure>"
    yield '</div><p class="quiet">Across: n. All axes are logarithmic.</p></section>'


def _curves(found: Curves, colours: dict[str, str]) -> Iterator[str]:
    """A measure of a sweep as SVG: a curve a chain, with a point at each n."""
    across, up = axes_of(found)
    yield from _axes(across, up)
    stop = 0
    for name, line in found.lines.items():
        points = [(_x(across.at(n)), _y(up.at(value))) for n, value in line]
        path = "L".join(f"{10 * x:.1f} {10 * y:.1f}" for x, y in points)
        yield _line(f"M{path}", f"curve {colours[name]}")
        for (n, value), (x, y) in zip(line, points, strict=True):
            told = _text(f"{name}, n = {n:,}: {_value(value, found)}")
            yield (
                f'<circle class="dot {colours[name]}" cx="{x:.2f}%" cy="{y:.2f}%" r="2.5"'
                f' tabindex="{stop}" role="img" aria-label="{told}"/>'
            )
            stop = -1


def _value(value: float, found: Curves) -> str:
    if found.unit == "seconds":
        return duration(value)
    return f"{value:,} bytes" if found.unit == "bytes" else f"×{significant(value)}"
