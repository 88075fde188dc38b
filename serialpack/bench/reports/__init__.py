"""What bench found, as text to read, as data for programs, as pictures and as a page.

Enter at ``report`` for what is printed, at ``html.html`` for a page and at ``plot.plot`` for a
picture. Each form has a module; what several of them say is said once:

- ``row_columns``: the columns of tables, and how figures are written
- ``sentences``: whole sentences
- ``sweeps``: a sweep as curves and as tables
- ``_drawing``: points, axes and labels, for ``plot`` (matplotlib) and ``_pictures`` (SVG on the
  page)
"""

from __future__ import annotations

from serialpack.bench.results import Results

#: What ``--format`` takes.
FORMATS = ("table", "json", "csv", "markdown")


def report(results: Results, format: str, *, width: int = 100, colour: bool = False) -> str:
    """``results`` in one of ``FORMATS``. ``width``: the most characters of a line, ``colour``:
    whether there are colours; only for "table"."""
    if format == "json":
        import json

        return json.dumps(results.to_json()) + "\n"
    if format == "csv":
        from serialpack.bench.reports.csv import csv

        return csv(results)
    if format == "markdown":
        from serialpack.bench.reports.markdown import markdown

        return markdown(results)
    from serialpack.bench.reports.table import table

    return table(results, width=width, colour=colour)
