"""Rows of a table of text that have other numbers of fields than there are names."""

from __future__ import annotations

from collections.abc import Set

from serialpack.errors import ValueRefusedError, Ways
from serialpack.formats.base import SourceBlock
from serialpack.formats.csv.tokens import line_of_row
from serialpack.text import number_of, unique_names
from serialpack.values.kinds import BLANK_LINES, LONG_ROWS, SHORT_ROWS

_LEFT_OUT = "--to takes --skip-bad, which leaves it out"
_CARRIED = "unpack --to FORMAT carries it (without --strict), and --skip-bad leaves it out"
_A_ROW = "--to takes --no-header, by which the names are a row"
_TITLED = "tail -n +{} <FILE >NEW.csv leaves out what seems to stand above the table: {}"
_NAMED = (
    "sed '1s/\\r*$/{0}more&/' <FILE >NEW.csv names the one field more that all rows have, the last"
    "; sed '1s/^/row{0}/' <FILE >NEW.csv where it is the first"
)

#: A row may have so many fields more than there are names: each of them gets one, for all rows.
MOST_BEYOND = 1000


def names_beyond(names: list[str], width: int) -> list[str]:
    """``names``, and of fields behind them up to ``width`` that of their place."""
    more = [f"column{place}" for place in range(len(names) + 1, width + 1)]
    return names + unique_names([*dict.fromkeys(names), *more])[-len(more) :] if more else names


def are_odd(rows: list[list[str]], width: int, text: str | None, delimiter: str) -> bool:
    """Whether rows of more than ``width`` fields stand below the names of a table, and not below a
    title; it is sure where others have no more, or where all that is behind is empty, as by a last
    delimiter. ``text``: that of the first block, from the names on, between whose fields
    ``delimiter`` stands; None for the rows of a later one, or where no names are in it."""
    behind = any(any(row[width:]) for row in rows)
    if width < 2 or text is None:
        return width > 1 or not behind
    fit = not behind or any(0 < len(row) <= width for row in rows)
    return fit and not lines_above(text, delimiter)


def told_of(count: int, width: int) -> tuple[str, str, str]:
    """Of a row of ``count`` fields in place of ``width`` what it was, what it becomes, and by which
    rule."""
    if not count:
        return "a blank line", "an empty field", BLANK_LINES
    fields = number_of(count, "field")
    return f"{fields}, not {width:,}", fields, SHORT_ROWS if count < width else LONG_ROWS


def ragged(
    block: SourceBlock,
    text: str,
    begin: int,
    row: int,
    record: int,
    was: str,
    *,
    title: str,
    delimiter: str,
    headed: bool,
    more: Set[int],
    carried: bool,
) -> ValueRefusedError:
    """The error for a row of a block, behind the header, which may be a title; ``headed``: whether
    the first block has one. ``more``: how many fields more than there are names the rows
    below those have. ``carried``: others take it as a record."""
    above = 0
    if block.index == 0 and headed:
        above = lines_above(text[begin:], delimiter)
        # Nothing but blank lines is told from the names of a table of one column.
        blank = len(text) - begin - len(text[begin:].lstrip("\r\n"))
        above = above or text.count("\n", begin, begin + blank)
        above += text.count("\n", 0, begin) if above else 0
    where = ""
    if block.line >= 0 or block.index == 0:
        before = text.count("\n", 0, begin)
        before += line_of_row(text[begin:], delimiter, row + (block.index == 0 and headed))
        where = f"line {max(block.line, 0) + before + 1}: "
    way = _CARRIED if carried else _LEFT_OUT
    if above:
        way = _TITLED.format(above + 1, number_of(above, "line"))
    elif more and min(more) > 0:
        way = _A_ROW
    if more == {1}:
        way = _NAMED.format("\\t" if delimiter == "\t" else delimiter)
    return ValueRefusedError(
        f"a {title} source with rows of different lengths is not read as values: {where}{was}",
        record=record,
        value_path="$",
        kind="mixed",
        hint=Ways(
            others=(f"{way}; pack -s raw keeps the bytes",), skip_bad=way in (_CARRIED, _LEFT_OUT)
        ),
    )


def lines_above(text: str, delimiter: str) -> int:
    """How many lines seem to stand above a table."""
    from serialpack.formats import FORMATS
    from serialpack.formats.csv.dialects import first_line_of_table

    return first_line_of_table(text, (delimiter, *FORMATS.dialects("csv")))
