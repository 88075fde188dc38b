"""The first pass over columns of text, for ``--infer``: in which spellings all cells of a column
can be read, and how they are quoted."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import compress, islice
from typing import Any

from serialpack.conversion.types.arrow_cells import (
    all_match,
    are_short,
    array_of_cells,
    bounds,
    first_filled,
    has_empty,
    has_match,
    has_negative_zero,
    has_text,
    is_array,
    sizes,
    values_in,
)
from serialpack.conversion.types.conventions import (
    ALL_PLAIN,
    CONVENTIONS,
    EXACT,
    FULL,
    R_SHORTER,
    texts_of,
    without_exponent,
)
from serialpack.conversion.types.spelling import (
    NON_FINITE,
    Spelling,
    are_with_comma,
    as_well,
    has_commas,
    possible,
    rank,
    spelled,
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

_INTEGER, _NUMBER, _FULL = Spelling("integer"), Spelling("number"), Spelling("number", FULL)
#: So many cells are tried first.
_FEW = 64

_NOTHING: frozenset[Any] = frozenset({type(None), Missing})


#: Numbers with at most so many digits that a column of decimals, which has 76, holds all of them.
_AS_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,37})(?:\.[0-9]{1,38})?", re.ASCII)


class _Texts:
    """Cells of text, none of them empty, and what is told of their values in a spelling."""

    #: Whether they may have values in a spelling where none are found.
    doubts = False

    def __init__(self, cells: Any) -> None:
        self._cells = cells

    def values(self, spelling: Spelling) -> Any:
        """The values in it; None where not all cells are."""
        return values_of(self._cells, spelling)

    def bounds(self, values: Any) -> tuple[int, int]:
        """The least and the greatest of integers."""
        return min(values), max(values)

    def has_negative_zero(self, values: Any) -> bool:
        """Whether one of the numbers is -0.0."""
        pairs = zip(self._cells, values, strict=True)
        return any(cell[0] == "-" and not value for cell, value in pairs)

    def are_in_full(self, values: Any) -> bool:
        """Whether ``%.17g`` writes numbers as the cells, which Python writes so."""
        return spelled(values, _FULL) == list(self._cells)

    def written_by(self, values: Any, names: Collection[str]) -> set[str]:
        """The conventions that write the numbers as the cells, which Python writes so."""
        low, high = ALL_PLAIN
        are_far = [not low <= abs(value) < high for value in values] if names else []
        far, texts = list(compress(values, are_far)), list(compress(self._cells, are_far))
        return {name for name in names if texts_of(far, name) == texts}


class _Array(_Texts):
    """The same, of an array of pyarrow's, which may have nulls."""

    doubts = True

    def values(self, spelling: Spelling) -> Any:
        return values_in(self._cells, spelling)

    def bounds(self, values: Any) -> tuple[int, int]:
        return bounds(values)

    def has_negative_zero(self, values: Any) -> bool:
        return has_negative_zero(values)

    def are_in_full(self, values: Any) -> bool:
        begins = max(len(values) - _FEW, 0), 0  # the last mostly tell
        return are_short(values) or all(
            _Texts(_list(self._cells, begin)).are_in_full(_list(values, begin)) for begin in begins
        )

    def written_by(self, values: Any, names: Collection[str]) -> set[str]:
        # As arrays only those are read that Python writes without an exponent.
        found = without_exponent(*sizes(values)).intersection(names) if names else set()
        is_of_r = "r" in names and not has_match(self._cells, R_SHORTER)
        return found | {"r"} if is_of_r else found


def _list(array: Any, begin: int) -> list[Any]:
    """What is no null in an array from ``begin`` on."""
    return list(array.slice(begin).drop_null().to_pylist())


def _as_written(
    values: Any, spelling: Spelling, left: Collection[Spelling], cells: _Texts
) -> set[Spelling]:
    """Of the conventions in ``left`` those that write what Python writes in ``spelling``, in which
    all ``cells`` are."""
    names = {each.style for each in left if _is_of_point(each, spelling.style)}
    return {Spelling("number", name) for name in cells.written_by(values, names)}


def _is_of_point(spelling: Spelling, point: str) -> bool:
    """Whether it is a convention that writes whole numbers with this behind them."""
    convention = CONVENTIONS.get(spelling.style)
    return convention is not None and convention.whole == point


def _are_decimals(cells: Collection[str]) -> bool:
    """Whether all cells are numbers whose digits a column of decimals keeps."""
    return all(map(_AS_DECIMAL.fullmatch, cells))


def _telling(cells: Sequence[str]) -> list[str]:
    """Few of the cells: the first, and of those with an exponent and of whole numbers, which tell
    conventions apart."""
    found, text = [*cells[:_FEW]], "\n".join([*cells, ""])
    if "e" in text or "E" in text:
        found += islice((cell for cell in cells if "e" in cell or "E" in cell), _FEW)
    if ".0\n" in text:
        found += islice((cell for cell in cells if cell[-2:] == ".0"), _FEW)
    if text.count(".") < len(cells):
        found += islice((cell for cell in cells if "." not in cell), _FEW)
    return found


class CellsSeen:
    """One column, as far as it was looked at.

    ``spellings``: those that fit; None: all, there was no cell with text. ``low`` and ``high``: of
    integers; ``negative_zero``: whether one of the numbers may be -0.0. ``nothing``: whether a cell
    was empty, null or missing; ``non_finite``: or a NaN or an infinity, which says of no spelling
    of numbers that it is another. ``quotes``: how they may have been quoted. ``commas``: of cells
    without a spelling, as ``spelling.has_commas``; None, too, where there are none. ``decimals``:
    as ``_are_decimals``; of cells with a spelling, whether that is one of numbers; None:
    there are none. ``empty``: whether a cell was empty, ``word``: or null, as of a table of text
    only those are in which a word stands for it.
    """

    __slots__ = (
        *("commas", "decimals", "empty", "high", "low", "negative_zero", "non_finite", "nothing"),
        *("quotes", "spellings", "word"),
    )

    def __init__(self) -> None:
        self.spellings: frozenset[Spelling] | None = None
        self.low = self.high = 0
        self.nothing = self.non_finite = self.negative_zero = self.empty = self.word = False
        self.quotes: frozenset[str] = EVERY
        self.commas: bool | None = None
        self.decimals: bool | None = None

    def __getstate__(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        for name, value in zip(self.__slots__, state, strict=True):
            setattr(self, name, value)

    def look(self, values: Sequence[Any], *, empty_is_null: bool) -> None:
        """Take ``values`` in; what is neither text nor null has no spelling."""
        types = set(map(type, values))
        self.nothing = self.nothing or not types.isdisjoint(_NOTHING)
        self.word = self.word or type(None) in types
        if not types <= _NOTHING | {str}:
            self._have_none()
            return
        if empty_is_null and "" in values:
            self.nothing = self.empty = True
        if self.spellings == frozenset() and self.commas is self.decimals is False:
            return  # there is no more to know
        cells = dict.fromkeys(values)  # each of them once: many columns have few
        for none in (None, MISSING, *("",) * empty_is_null):
            cells.pop(none, None)
        if not NON_FINITE.isdisjoint(cells):
            self.non_finite = True
        if some := [cell for cell in cells if cell not in NON_FINITE]:
            self._narrow(some)
            if not self.spellings:
                self._look_for_commas(some)
                self.decimals = self.decimals is not False and _are_decimals(some)

    def _have_none(self) -> None:
        """Take in that cells have no spelling, nor are numbers."""
        self.spellings, self.commas, self.decimals = frozenset(), False, False

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
            some = [cell for cell in few if cell not in NON_FINITE]
            if self.commas is not False and are_with_comma(some) and has_text(cells, ","):
                return False
            decimals = self.decimals is not False and _are_decimals(some)
            array = array_of_cells(cells, empty_is_null=True) if decimals else None
            if decimals and array is None:
                return False
            self._have_none()
            self.decimals = decimals and all_match(array, f"^(?:{_AS_DECIMAL.pattern})$")
            self.nothing = self.nothing or has_empty(cells)
            return True
        array = array_of_cells(cells, empty_is_null=True)
        if array is None:
            return False
        if not self._hold(fit, _Array(array)):
            return False
        self.nothing = self.nothing or array.null_count > 0
        return True

    def _narrow(self, cells: Sequence[str]) -> None:
        found = frozenset(possible(cells[0]))
        if self.spellings is not None:
            found &= self.spellings
        few = _telling(cells) if found else ()
        self._hold({each for each in found if values_of(few, each) is not None}, _Texts(cells))

    def _hold(self, fit: Collection[Spelling], cells: _Texts) -> bool:
        """Take in those of ``fit`` in which all cells are; False where that is not told."""
        held, left = set[Spelling](), sorted(fit, key=rank)
        while left:
            spelling = left.pop(0)
            if (values := cells.values(spelling)) is None:
                if cells.doubts:
                    return False
                continue
            held |= {spelling, *as_well(spelling)}.intersection(fit)
            if spelling == _INTEGER:
                low, high = cells.bounds(values)
                self.low, self.high = min(self.low, low), max(self.high, high)
                if max(-low, high) <= EXACT:  # then they are the shortest digits of doubles, too
                    held |= {_NUMBER, _FULL}.intersection(fit)
                    held |= _as_written(values, _NUMBER, left, cells)
                    break
            if spelling.type == "number":
                self.negative_zero = self.negative_zero or cells.has_negative_zero(values)
                held |= _as_written(values, spelling, left, cells)
                if spelling == _NUMBER and _FULL in left:
                    held |= {_FULL} if cells.are_in_full(values) else set()
                    left.remove(_FULL)
                left = [each for each in left if not _is_of_point(each, spelling.style)]
            left = [each for each in left if each not in held]
        self.spellings = frozenset(held)
        if held:
            numbers = not {"integer", "number"}.isdisjoint(each.type for each in held)
            self.decimals = self.decimals is not False and numbers
        return True

    def merge(self, other: CellsSeen) -> None:
        """Take in what another has seen."""
        if self.spellings is None:
            self.spellings = other.spellings
        elif other.spellings is not None:
            self.spellings &= other.spellings
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.nothing = self.nothing or other.nothing
        self.empty, self.word = self.empty or other.empty, self.word or other.word
        self.non_finite = self.non_finite or other.non_finite
        self.negative_zero = self.negative_zero or other.negative_zero
        self.quotes &= other.quotes
        if self.commas is None or other.commas is False:
            self.commas = other.commas
        if self.decimals is None or other.decimals is False:
            self.decimals = other.decimals


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
        null: str | None = None,
    ) -> None:
        """Take in how the cells of a block of a table of text are quoted, and its last end.

        ``found``: its columns, where they are known. ``null``: the word that, bare, is null.
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
            some = ([cell for cell in cells if cell != null] for cells in columns)
            filled = [quotes_of(cells, mark, alone=alone) for cells in some]
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
