"""The first pass over columns of text, for ``--infer``: in which spellings all cells of a column
can be read, and how they are quoted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from serialpack.conversion.types.arrow_cells import (
    array_of_cells,
    bounds,
    first_filled,
    has_empty,
    has_negative_zero,
    has_text,
    is_array,
    values_in,
)
from serialpack.conversion.types.spelling import (
    EXACT,
    NON_FINITE,
    Spelling,
    are_with_comma,
    as_well,
    has_commas,
    possible,
    rank,
    values_of,
)
from serialpack.csv_front import before_header
from serialpack.formats.csv.by_columns import TextColumns
from serialpack.formats.csv.quoting import EVERY, quotes_of, quotes_of_columns
from serialpack.formats.csv.style import NEEDED
from serialpack.formats.csv.tokens import raw_columns, rows_of
from serialpack.formats.declaration import Declaration
from serialpack.text import unique_names
from serialpack.values.missing import MISSING, Missing, each_column

_INTEGER, _NUMBER = Spelling("integer"), Spelling("number")
#: So many cells are tried first.
_FEW = 64

_NOTHING: frozenset[Any] = frozenset({type(None), Missing})


class CellsSeen:
    """One column, as far as it was looked at.

    ``spellings``: those that fit; None: all, there was no cell with text. ``low`` and ``high``: of
    integers; ``negative_zero``: whether one of the numbers may be -0.0. ``nothing``: whether a cell
    was empty, null or missing; ``non_finite``: or a NaN or an infinity, which says of no spelling
    of numbers that it is another. ``quotes``: how they may have been quoted. ``commas``: of cells
    without a spelling, as ``spelling.has_commas``; None, too, where there are none.
    """

    __slots__ = (
        *("commas", "high", "low", "negative_zero", "non_finite", "nothing", "quotes"),
        "spellings",
    )

    def __init__(self) -> None:
        self.spellings: frozenset[Spelling] | None = None
        self.low = self.high = 0
        self.nothing = self.non_finite = self.negative_zero = False
        self.quotes: frozenset[str] = EVERY
        self.commas: bool | None = None

    def __getstate__(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        for name, value in zip(self.__slots__, state, strict=True):
            setattr(self, name, value)

    def look(self, values: Sequence[Any], *, empty_is_null: bool) -> None:
        """Take ``values`` in; what is neither text nor null has no spelling."""
        types = set(map(type, values))
        self.nothing = self.nothing or not types.isdisjoint(_NOTHING)
        if not types <= _NOTHING | {str}:
            self.spellings, self.commas = frozenset(), False
            return
        if empty_is_null and "" in values:
            self.nothing = True
        if self.spellings == frozenset() and self.commas is False:  # there is no more to know
            return
        cells = dict.fromkeys(values)  # each of them once: many columns have few
        for none in (None, MISSING, *("",) * empty_is_null):
            cells.pop(none, None)
        if not NON_FINITE.isdisjoint(cells):
            self.non_finite = True
        if some := [cell for cell in cells if cell not in NON_FINITE]:
            self._narrow(some)
            if not self.spellings:
                self._look_for_commas(some)

    def look_at_cells(self, cells: Any) -> None:
        """Take in the text of cells of a table of text, of which an empty one is null: a sequence,
        or an array of pyarrow's."""
        if not self._looked_at_once(cells):
            texts = cells.to_pylist() if is_array(cells) else cells
            self.look(texts, empty_is_null=True)

    def _look_for_commas(self, cells: Collection[str]) -> None:
        """Take in cells without a spelling, none of them empty."""
        if self.commas is not False:
            found = has_commas(cells)
            self.commas = self.commas if found is None else found

    def _looked_at_once(self, cells: Any) -> bool:
        """As ``look_at_cells``, by arrays; False where these do not tell, and nothing is known."""
        few = first_filled(cells, _FEW)
        if not few or few[0] in NON_FINITE:
            return False
        found = frozenset(possible(few[0]))
        if self.spellings is not None:
            found &= self.spellings
        fit = {spelling for spelling in found if values_of(few, spelling) is not None}
        if not fit:
            numbers = are_with_comma(cell for cell in few if cell not in NON_FINITE)
            if self.commas is not False and numbers and has_text(cells, ","):
                return False
            self.spellings, self.commas = frozenset(), False
            self.nothing = self.nothing or has_empty(cells)
            return True
        array = array_of_cells(cells, empty_is_null=True)
        if array is None:
            return False
        held: set[Spelling] = set()
        for spelling in sorted(fit, key=rank):
            if spelling in held:
                continue
            if (values := values_in(array, spelling)) is None:
                return False
            held |= {spelling, *as_well(spelling)} & fit
            if spelling == _INTEGER:
                low, high = bounds(values)
                self.low, self.high = min(self.low, low), max(self.high, high)
                if max(-low, high) <= EXACT:
                    held |= {_NUMBER} & fit
                    break
            if spelling.type == "number":
                self.negative_zero = self.negative_zero or has_negative_zero(values)
        self.spellings = frozenset(held)
        self.nothing = self.nothing or array.null_count > 0
        return True

    def _narrow(self, cells: Sequence[str]) -> None:
        found = frozenset(possible(cells[0]))
        if self.spellings is not None:
            found &= self.spellings
        fit = {spelling for spelling in found if values_of(cells[:_FEW], spelling) is not None}
        if _INTEGER in fit:
            values = values_of(cells, _INTEGER)
            if values is None:
                fit.discard(_INTEGER)
            else:
                low, high = min(values), max(values)
                self.low, self.high = min(self.low, low), max(self.high, high)
                if max(-low, high) <= EXACT:  # then they are the shortest digits of doubles, too
                    self.spellings = frozenset({_INTEGER, _NUMBER} & fit)
                    return
        held = {_INTEGER} & fit
        if any(spelling.type == "number" for spelling in fit):
            zero = any(cell[:2] == "-0" and float(cell) == 0 for cell in cells)
            self.negative_zero = self.negative_zero or zero
        for spelling in sorted(fit, key=rank):
            if spelling not in held and values_of(cells, spelling):
                held |= {spelling, *as_well(spelling)} & fit
        self.spellings = frozenset(held)

    def merge(self, other: CellsSeen) -> None:
        """Take in what another has seen."""
        if self.spellings is None:
            self.spellings = other.spellings
        elif other.spellings is not None:
            self.spellings &= other.spellings
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.nothing = self.nothing or other.nothing
        self.non_finite = self.non_finite or other.non_finite
        self.negative_zero = self.negative_zero or other.negative_zero
        self.quotes &= other.quotes
        if self.commas is None or other.commas is False:
            self.commas = other.commas


class TypesSeen:
    """The columns of all records, by name, as far as they were looked at.

    ``misfits``: the columns whose values are no longer as a table's kept spelling has them.
    ``end``: whether the last line of a table of text has an end. ``named``: the columns that the
    user named, and that were there; ``by_hand``: these. ``head``: the first line, as it stands.
    """

    def __init__(self) -> None:
        self.columns: dict[str, CellsSeen] = {}
        self.misfits: set[str] = set()
        self.named: set[str] = set()
        self.by_hand: dict[str, CellsSeen] = {}
        self.head = b""
        self.end = True

    def look(self, records: list[Any], *, empty_is_null: bool) -> None:
        """Take in records that are maps; others have no columns."""
        if not {dict}.issuperset(map(type, records)):
            return
        for name, values in each_column(records):
            if type(name) is str:
                seen = self.columns.setdefault(name, CellsSeen())
                seen.look(values, empty_is_null=empty_is_null)

    def look_at_columns(self, names: Sequence[str], columns: Sequence[Any]) -> None:
        """Take in the text of the columns of a table of text."""
        for name, cells in zip(names, columns, strict=True):
            self.columns.setdefault(name, CellsSeen()).look_at_cells(cells)

    def look_at_text(
        self,
        data: bytes,
        head: bytes,
        fmt: Declaration,
        found: TextColumns | None = None,
    ) -> None:
        """Take in how the cells of a block of a table of text are quoted, and its last end.

        ``found``: its columns, where they are known.
        """
        mark = fmt.delimiter.decode()
        self.head, self.end = head, (data or head).endswith(b"\n")
        try:
            body = data.decode()
            names = unique_names(rows_of(head[before_header(head) :].decode(), mark)[0])
        except UnicodeDecodeError:  # what was put in the place of bytes does not come back
            return
        alone = len(names) == 1
        filled = [frozenset({NEEDED})] * len(names)
        known = found and found.quotes
        if known is None and found is not None and '"' in body:
            known = quotes_of_columns(body, found.cells, mark)
        if known is not None:
            filled = known
        elif '"' in body or alone:
            try:
                columns = raw_columns(body, mark, len(names), padded=alone)
            except ValueError:  # rows of other lengths, which do not come back as they were
                return
            filled = [quotes_of(cells, mark, alone=alone) for cells in columns]
        for name, quotes in zip(names, filled, strict=True):
            self.columns.setdefault(name, CellsSeen()).quotes &= quotes

    def merge(self, other: TypesSeen) -> None:
        """Take in what comes behind."""
        for mine, others in (self.columns, other.columns), (self.by_hand, other.by_hand):
            for name, seen in others.items():
                if name in mine:
                    mine[name].merge(seen)
                else:
                    mine[name] = seen
        self.misfits |= other.misfits
        self.named |= other.named
        self.head = self.head or other.head
        self.end = other.end
