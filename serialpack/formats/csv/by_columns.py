"""The text of a block of CSV, column by column, where its rows are sound and all of one length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from serialpack.csv_front import before_header
from serialpack.formats.base import SourceBlock
from serialpack.formats.csv.text import CsvText
from serialpack.formats.csv.tokens import rows_of


class TextColumns(NamedTuple):
    """The columns of a block: their names, each its own, and the text of the cells below each."""

    names: list[str]
    cells: list[Sequence[str]]
    rows: int


def text_columns(fmt: CsvText, block: SourceBlock) -> TextColumns | None:
    """The columns of a block; None where there are fewer than two, or no rows, or where something
    is to be told of them, which ``CsvText.parse`` does."""
    if block.partial:
        return None
    mark, head = fmt.declared.delimiter.decode(), fmt.header_of(block)
    try:
        names = rows_of(head[before_header(head) :].decode(), mark)[0]
        rows = rows_of(fmt.without_header(block).decode(), mark)
    except (ValueError, IndexError):
        return None
    rows = list(filter(None, rows)) if [] in rows else rows
    width = len(names)
    if width < 2 or len(set(names)) < width or set(map(len, rows)) != {width}:
        return None
    if block.records not in (None, len(rows)):
        return None
    return TextColumns(names, list(zip(*rows, strict=True)), len(rows))
