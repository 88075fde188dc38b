"""What bench found, as text to read, as data for programs, as pictures and as a page.

Enter at ``report`` for what is printed, at ``html`` and ``plot`` for files. One file a form; what
a column or a sentence says is in ``_columns`` and ``_words``, once.

- row: one combination and what was measured of it
"""

from __future__ import annotations

from serialpack.bench.results import Results

#: What ``--format`` takes.
FORMATS = ("table", "json", "csv", "markdown")


def report(results: Results, format: str, *, width: int = 100, colour: bool = False) -> str:
    """``results`` in one of ``FORMATS``; ``width`` and ``colour`` are those of the terminal."""
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
