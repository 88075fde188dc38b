"""The text of a block of CSV, column by column, where its rows are sound and all of one length."""

from __future__ import annotations

from codecs import BOM_UTF8
from typing import Any, NamedTuple

from serialpack.csv_front import before_header
from serialpack.formats.base import SourceBlock
from serialpack.formats.csv.arrow_quoting import quotes_of_arrays, writes
from serialpack.formats.csv.style import NEEDED
from serialpack.formats.csv.text import CsvText
from serialpack.formats.csv.tokens import rows_of
from serialpack.formats.tables.library import arrow_if_there

#: Of fewer bytes the rows are read in less time than pyarrow is imported in.
_LEAST = 64 << 10


class TextColumns(NamedTuple):
    """The columns of a block: their names, each its own, and the text of the cells below each.

    Where the cells are arrays of pyarrow's, and no sequences, ``newline`` ends each line, and
    ``quotes`` has the ways of quoting each column that make the text of the block.
    """

    names: list[str]
    cells: list[Any]
    rows: int
    newline: str = ""
    quotes: list[frozenset[str]] | None = None

    def only(self, names: list[str]) -> TextColumns:
        """Those called ``names``."""
        at = {name: number for number, name in enumerate(self.names)}
        quotes = None if self.quotes is None else [self.quotes[at[name]] for name in names]
        return self._replace(names=names, cells=[self.cells[at[n]] for n in names], quotes=quotes)


def text_columns(fmt: CsvText, block: SourceBlock, *, verify: bool) -> TextColumns | None:
    """The columns of a block; None where there are fewer than two, or no rows, or where something
    is to be told of them, which ``CsvText.parse`` does.

    ``verify``: what pyarrow reads is written again, and compared, also where nothing is quoted.
    """
    if block.partial:
        return None
    mark, head, body = fmt.declared.delimiter, fmt.header_of(block), fmt.without_header(block)
    try:
        names = rows_of(head[before_header(head) :].decode(), mark.decode())[0]
    except (ValueError, IndexError):
        return None
    if len(names) < 2 or len(set(names)) < len(names):
        return None
    found = _arrays(names, head, body, mark, verify=verify) or _sequences(names, body, mark)
    return None if found is None or block.records not in (None, found.rows) else found


def _sequences(names: list[str], body: bytes, mark: bytes) -> TextColumns | None:
    try:
        rows = rows_of(body.decode(), mark.decode())
    except ValueError:
        return None
    rows = list(filter(None, rows)) if [] in rows else rows
    if set(map(len, rows)) != {len(names)}:
        return None
    return TextColumns(names, list(zip(*rows, strict=True)), len(rows))


def _arrays(
    names: list[str], head: bytes, body: bytes, mark: bytes, *, verify: bool
) -> TextColumns | None:
    """The columns as pyarrow reads them, in a fifth of the time; None where they are not the very
    text."""
    # It takes a mark at the front for none of the first cell.
    if len(body) < _LEAST or body.startswith(BOM_UTF8) or (pa := arrow_if_there()) is None:
        return None
    is_quoted = b'"' in body
    ends = body.endswith(b"\n") or (b"\n" in body and not is_quoted)
    line = body if ends else head  # the last one in the body may be within a cell
    newline = b"\r\n" if line[: line.rfind(b"\n")].endswith(b"\r") else b"\n"
    lines = body.count(newline)
    if not is_quoted and not lines == body.count(b"\n") == body.count(newline[:1]):
        return None
    import pyarrow.csv

    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(body),
            pyarrow.csv.ReadOptions(
                column_names=names, use_threads=False, block_size=len(body) + 1
            ),
            pyarrow.csv.ParseOptions(
                delimiter=mark.decode(),
                quote_char='"' if is_quoted else False,
                newlines_in_values=is_quoted,
                ignore_empty_lines=False,
            ),
            pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowException:
        return None
    rows = table.num_rows
    cells = [column.combine_chunks() for column in table.columns]
    how = cells, mark.decode(), newline.decode(), body
    if is_quoted:
        if (quotes := quotes_of_arrays(*how)) is None:
            return None
        return TextColumns(names, cells, rows, newline.decode(), quotes)
    if rows != lines + (not body.endswith(b"\n")) or body.count(mark) != rows * (len(names) - 1):
        return None
    if verify and not writes(*how):
        return None
    return TextColumns(names, cells, rows, newline.decode(), [frozenset({NEEDED})] * len(names))
