"""``--profile FILE.html``: where the time went, drawn as one page that needs nothing else."""

from __future__ import annotations

import os
from html import escape

from serialpack.errors import FileError
from serialpack.targets import output_at
from serialpack.text import printable
from serialpack.units import format_size

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 50rem;
       padding: 0 1rem; color-scheme: light dark; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: right; padding: .2rem .6rem; white-space: nowrap; }
td:first-child, th:first-child, td:last-child { text-align: left; }
td:last-child { width: 50%; }
.bar { display: block; height: .9rem; background: #4a7fb5; border-radius: 2px; }
"""


def write_profile(
    path: str,
    files: list[tuple[str, dict[str, float], dict[str, int]]],
    *,
    force: bool,
    taken: set[str],
) -> None:
    """Write the page to ``path``; over what stands there only with ``force``.

    ``files``: the name of each, seconds per stage (added up over threads), bytes where known.
    ``taken``: files that must not be written over in any case.
    """
    inputs = {os.path.realpath(name) for name, _, _ in files}
    if os.path.realpath(path) in taken | inputs:
        raise FileError("is an input or an output itself", path=path, hint="name another --profile")
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        '<meta name=viewport content="width=device-width">',
        f"<title>serialpack profile</title><style>{_STYLE}</style>",
        "<h1>Where the time went</h1>",
        "<p>Seconds add up over threads; waiting is the writer's, for the stages before it.</p>",
    ]
    for name, seconds, sizes in files:
        parts += [f"<h2>{escape(printable(name))}</h2>", *_table(seconds, sizes)]
    with output_at(path, force=force) as out:
        out.write("\n".join(parts).encode())


def _table(stages: dict[str, float], sizes: dict[str, int]) -> list[str]:
    longest = max(stages.values(), default=0.0) or 1.0
    rows = ["<table><tr><th>stage<th>seconds<th>bytes<th>MB/s<th>"]
    for stage, seconds in stages.items():
        size = sizes.get(stage)
        speed = f"{size / seconds / 1e6:.0f}" if size and seconds > 1e-6 else ""
        rows.append(
            f"<tr><td>{escape(stage)}<td>{seconds:.3f}<td>{format_size(size) if size else ''}"
            f'<td>{speed}<td><span class=bar style="width:{100 * seconds / longest:.1f}%"></span>'
        )
    return [*rows, "</table>"]
