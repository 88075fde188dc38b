"""The cells of a column with the quotes that its table of text has around them."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from typing import Any

from serialpack.formats.csv.style import ALL, FILLED, NEEDED
from serialpack.formats.csv.tokens import fields
from serialpack.formats.shared.document import Malformed

#: The ways in which the cells of a column may be quoted.
EVERY = frozenset({NEEDED, ALL, FILLED})

_QUOTE, _TWO = '"', '""'

#: Rows that tell in which way all are quoted.
_SAMPLE = 64


@cache
def needs_quotes(delimiter: str) -> Callable[[str], Any]:
    """What finds in the text of a cell, or of several, a character that stands only in quotes."""
    return re.compile(f'["\r\n{re.escape(delimiter)}]').search


def quoted(texts: Sequence[str], quotes: str, delimiter: str, *, alone: bool) -> list[str]:
    """The text of cells as it stands in the table. ``quotes``: which of them are quoted, as
    ``formats.csv.style`` has it; ``alone``: they are the only column, where an empty one would be a
    blank line."""
    if quotes == ALL:
        return [f'"{text.replace(_QUOTE, _TWO)}"' for text in texts]
    if quotes == FILLED:
        return [f'"{text.replace(_QUOTE, _TWO)}"' if text or alone else "" for text in texts]
    cells = list(texts)
    for number in _that_need_quotes(texts, delimiter):
        cells[number] = f'"{cells[number].replace(_QUOTE, _TWO)}"'
    return [cell or _TWO for cell in cells] if alone else cells


def _that_need_quotes(texts: Sequence[str], delimiter: str) -> Iterable[int]:
    """The numbers of those that need quotes; looked for in all at once, as most have few."""
    joined = "\n".join(texts)
    if joined.count("\n") >= len(texts):
        needs = needs_quotes(delimiter)
        return [number for number, text in enumerate(texts) if needs(text)]
    found: dict[int, None] = {}
    number = start = 0
    for match in _marks(delimiter).finditer(joined):
        at = match.start()
        number += joined.count("\n", start, at)
        start = at
        found[number] = None
    return found


@cache
def _marks(delimiter: str) -> re.Pattern[str]:
    return re.compile(f'["\r{re.escape(delimiter)}]')


def quotes_of(cells: Iterable[str], delimiter: str, *, alone: bool) -> frozenset[str]:
    """How raw cells are quoted; ``alone``: they are their table's only column."""
    needs = needs_quotes(delimiter)
    found, different = set(EVERY), set(cells)
    together = "".join(different)
    if different and not needs(together):  # then none is quoted, nor needs to be
        alone_empty = alone and "" in different
        return frozenset([NEEDED] * (not alone_empty) + [FILLED] * (not (together or alone)))
    for cell in different:
        quoted = cell[:1] == '"'
        text = cell[1:-1] if quoted else cell
        if quoted != (bool(needs(text)) or (alone and not text)):
            found.discard(NEEDED)
        if not quoted:
            found.discard(ALL)
        if quoted != (bool(text) or alone):
            found.discard(FILLED)
        if not found:
            break
    return frozenset(found)


def quotes_of_columns(
    body: str, columns: Sequence[Sequence[str]], delimiter: str
) -> list[frozenset[str]] | None:
    """As ``quotes_of``, of the text of several columns, which ``body`` has; None where its rows are
    not written in one way from the first of them on."""
    ways = ways_of_first(body, delimiter, len(columns))
    if ways is None:
        return None
    cells = [quoted(*pair, delimiter, alone=False) for pair in zip(columns, ways, strict=True)]
    newline = "\r\n" if body[: body.find("\n") + 1].endswith("\r\n") else "\n"
    written = newline.join(map(delimiter.join, zip(*cells, strict=True)))
    if body not in (written, written + newline):
        return None
    needs = needs_quotes(delimiter)
    return [
        as_well_quoted(way, empty="" in texts, all_need=all(map(needs, filter(None, texts))))
        for texts, way in zip(columns, ways, strict=True)
    ]


def ways_of_first(text: str, delimiter: str, width: int) -> list[str] | None:
    """In which way each of several columns is quoted, by the first rows of ``text``, which may be
    cut off; None where one is in none."""
    each: list[list[str]] = [[] for _ in range(width)]
    with suppress(Malformed):
        for number, field in enumerate(islice(fields(text, delimiter), _SAMPLE * width)):
            each[number % width].append(field.raw)
    found = [quotes_of(cells, delimiter, alone=False) for cells in each]
    if not all(found):
        return None
    return [next(way for way in (NEEDED, FILLED, ALL) if way in some) for some in found]


def as_well_quoted(way: str, *, empty: bool, all_need: bool) -> frozenset[str]:
    """The ways that quote each cell of a column as ``way`` does. ``empty``: one of them is empty;
    ``all_need``: all others need quotes."""
    found = {way}
    for one, other, alike in (
        (NEEDED, FILLED, all_need),
        (NEEDED, ALL, all_need and not empty),
        (FILLED, ALL, not empty),
    ):
        if alike and way in (one, other):
            found |= {one, other}
    return frozenset(found)
