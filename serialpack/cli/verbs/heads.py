"""``inspect --head``: the first records, of a file and of a store."""

from __future__ import annotations

import io
import sys
from itertools import islice
from typing import IO, TYPE_CHECKING

from serialpack import api
from serialpack.cli.files.standard_streams import stdout
from serialpack.cli.words import colourful
from serialpack.text import printable

if TYPE_CHECKING:
    from serialpack.cli.options.requests import InspectRequest
    from serialpack.files.source import Source


def show_head(source: str | IO[bytes] | Source, asked: InspectRequest) -> None:
    """The first records of a file, colourful on a terminal."""
    assert asked.head is not None
    count = asked.head
    text = stdout(force=True) if not sys.stdout.isatty() else io.BytesIO()
    api.first_records(
        source, text, count, format=asked.format, table=asked.table, max_size=asked.max_size
    )
    if not isinstance(text, io.BytesIO):
        return
    lines = text.getvalue().decode("utf-8", "backslashreplace").split("\n")
    shown = "\n".join(map(printable, lines))
    if not colourful(sys.stdout):
        print(shown)
        return
    from rich.console import Console
    from rich.highlighter import JSONHighlighter
    from rich.text import Text

    # The terminal's own colours, readable on a light and on a dark one.
    Console().print(JSONHighlighter()(Text(shown)))


def show_store_head(url: str, count: int, most: int | None) -> None:
    """The first records as lines of JSON, to look at: what JSON does not have is changed."""
    from serialpack.conversion.files import convert
    from serialpack.stores.export import StoreStream

    stream = StoreStream(url)
    try:
        front = b"".join(bytes(record) for record in islice(stream.records(), count))
    finally:
        stream.close()
    convert(
        io.BytesIO(front),
        stdout(force=True),
        to="ndjson",
        format=stream.format,
        lossy=["all"],
        max_size=most,
    )
