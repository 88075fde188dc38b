"""``--profile FILE.html``: where the time went, drawn as one page that needs nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from html import escape

from serialpack.cli.options.requests import Outputs
from serialpack.cli.reporting.stage_times import (
    FileTimes,
    Lane,
    StageTimes,
    lanes_of,
    lines_of,
    waiting_of,
)
from serialpack.errors import FileError
from serialpack.files.targets import output_at
from serialpack.text import printable

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem;
       padding: 0 1rem; color-scheme: light dark; }
pre { overflow-x: auto; }
.lane { display: flex; align-items: center; gap: .6rem; }
.lane > b { flex: 0 0 6rem; font-weight: normal; text-align: right; }
.lane > div, .flame > div { position: relative; flex: 1; height: 1.4rem; overflow: hidden;
                            background: #8883; }
.flame > div { margin-bottom: 1px; }
i { position: absolute; top: 0; bottom: 0; font-style: normal; overflow: hidden;
    white-space: nowrap; text-indent: .3rem; color: #000; outline: .5px solid #fff8; }
i:hover { filter: brightness(1.2); }
.key span { padding: 0 .5rem; margin-right: .5rem; color: #000; }
"""

#: What stages are drawn in, by their names; others take the next that is free (Paul Tol, light).
_COLOURS = {
    "read": "#77aadd", "serialize": "#ee8866", "deserialize": "#ee8866", "convert": "#ee8866",
    "prove": "#eedd88", "undo": "#eedd88", "compress": "#44bb99", "decompress": "#44bb99",
    "checksum": "#aaaa00", "write": "#99ddff", "waiting": "#dddddd", "rest": "#ffaabb",
}  # fmt: skip
_OTHER = "#bbcc33"

_ROLES = {"read": "reads", "work": "works", "write": "writes"}

#: So many pieces a lane has at most; of more than that those that lie together are one.
_PIECES = 1500


def sum_up(times: StageTimes, outputs: Outputs, *, taken: set[str]) -> None:
    """All files are done: say what their times come to, and write the page, where that is asked
    for; not over what is ``taken``."""
    times.sum_up()
    if outputs.profile is not None:
        write_profile(outputs.profile, times.files, force=outputs.force, taken=taken)


def write_profile(path: str, files: list[FileTimes], *, force: bool, taken: set[str]) -> None:
    """Write the page to ``path``; over what stands there only with ``force``.

    ``taken``: files that must not be written over in any case.
    """
    inputs = {os.path.realpath(times.name) for times in files}
    if os.path.realpath(path) in taken | inputs:
        raise FileError("is an input or an output itself", path=path, hint="name another --profile")
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        '<meta name=viewport content="width=device-width">',
        f"<title>serialpack profile</title><style>{_STYLE}</style>",
        "<h1>Where the time went</h1>",
        "<p>Seconds add up over threads. Point at a piece to see what it is.</p>",
    ]
    for times in files:
        parts += _file(times)
    with output_at(path, force=force) as out:
        out.write("\n".join(parts).encode())


def _file(times: FileTimes) -> Iterator[str]:
    """The HTML about one file: its times in words, its blocks over the workers, and its stages."""
    yield f"<h2>{escape(printable(times.name))}</h2>"
    yield f"<pre>{escape(chr(10).join(lines_of(times)))}</pre>"
    if not times.spans:
        yield "<p>Done ahead, beside other files: nobody looked who did what when.</p>"
        return
    lanes = lanes_of(times.spans)
    start = min(span.start for span in times.spans)
    wall = max(max(span.end for span in times.spans) - start, 1e-9)
    yield f"<h3>Blocks over workers, {wall:.3f} s</h3><section class=timeline>"
    for lane in lanes:
        pieces = "".join(
            _piece(stage, (at - start) / wall, spent / wall, f"{stage}, {spent * 1e3:.1f} ms{of}")
            for stage, at, spent, of in _merged(_pieces(lane), wall)
        )
        yield f"<div class=lane><b>{_ROLES[lane.role]}</b><div>{pieces}</div></div>"
    yield "</section><h3>Seconds of all threads, by stage</h3><section class=flame>"
    yield from _flame(times, lanes)
    used = dict.fromkeys(piece[0] for lane in lanes for piece in _pieces(lane))
    keys = (f'<span style="background:{_colour(stage)}">{escape(stage)}</span>' for stage in used)
    yield f"</section><p class=key>{''.join(keys)}</p>"


def _pieces(lane: Lane) -> Iterator[tuple[str, float, float, str]]:
    """Stage, start and seconds of all that a thread did, and which block that was of."""
    for number, span in enumerate(lane.spans):
        at, of = span.start, f", its block {number}"
        for stage, spent in span.stages.items():
            if stage != "wait":
                yield stage, at, spent, of
            at += spent
        if span.end - at > 1e-4:  # a process took it and gave it back, or others were first
            yield "rest", at, span.end - at, of


def _merged(
    pieces: Iterator[tuple[str, float, float, str]], wall: float
) -> Iterator[tuple[str, float, float, str]]:
    """``pieces``, or where these are too many to be seen, what each moment was most spent on."""
    found = list(pieces)
    if len(found) <= _PIECES:
        yield from found
        return
    moments: dict[int, dict[str, float]] = {}
    step, first = wall / _PIECES, found[0][1]
    for stage, at, spent, _ in found:
        moment = moments.setdefault(int((at - first) / step), {})
        moment[stage] = moment.get(stage, 0.0) + spent
    for number, moment in moments.items():
        most = max(moment, key=lambda stage: moment[stage])
        yield most, first + number * step, min(sum(moment.values()), step), " and less of others"


def _flame(times: FileTimes, lanes: list[Lane]) -> Iterator[str]:
    """Rows of the seconds of all threads: together, by what they do, by stages."""
    waited = waiting_of(times)
    roles: dict[str, dict[str, float]] = {}
    for lane in lanes:
        stages = roles.setdefault(lane.role, {})
        for stage, _, spent, _ in _pieces(lane):
            stages[stage] = stages.get(stage, 0.0) + spent
    for role, stages in roles.items():
        stages["waiting"] = max(waited[role], 0.0)
    total = sum(map(sum, (stages.values() for stages in roles.values()))) or 1e-9
    yield f"<div>{_piece('all', 0, 1, f'all threads, {total:.3f} s', 'all threads')}</div>"
    upper, lower, at = [], [], 0.0
    for role, stages in roles.items():
        whole = sum(stages.values())
        says = f"{_ROLES[role]}, {whole:.3f} s"
        upper.append(_piece(role, at / total, whole / total, says, _ROLES[role]))
        for stage, spent in stages.items():
            says = f"{stage}, {spent:.3f} s, {spent / total:.1%}"
            lower.append(_piece(stage, at / total, spent / total, says, stage))
            at += spent
    yield f"<div>{''.join(upper)}</div><div>{''.join(lower)}</div>"


def _piece(stage: str, left: float, width: float, says: str, word: str = "") -> str:
    return (
        f'<i data-stage="{escape(stage)}" title="{escape(says)}" style="left:{left:.4%};'
        f'width:{width:.4%};background:{_colour(stage)}">{escape(word)}</i>'
    )


def _colour(stage: str) -> str:
    return _COLOURS.get(stage, _OTHER)
