"""Cells of text as arrays of values, all at once, by pyarrow: each value is written again as text,
and compared with its cell.

``spelling.values_of`` says the same of values of Python's, one by one, for each spelling that there
is. What is not known here, or not told, is left to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from serialpack.conversion.types.conventions import EXACT
from serialpack.conversion.types.spelling import BOOLEANS, Spelling
from serialpack.formats.tables.library import arrow_if_there, scalar

#: Of fewer cells Python makes values in less time than pyarrow is imported in.
_LEAST = 1 << 10

#: The digits of a decimal that each double tells from all others with as many.
_DIGITS = 15

#: The most that an array of decimals has here.
_MOST_DIGITS = 38

#: The units of times with so many digits of seconds.
_UNITS = {"0": "s", "3": "ms", "6": "us", "p": "us"}

_FIRST_DAY, _LAST_DAY = "0001-01-01", "9999-12-31"


def is_array(cells: Any) -> bool:
    """Whether cells are an array of pyarrow's, and no sequence of Python's."""
    return not isinstance(cells, (list, tuple))


def array_of_cells(cells: Any, *, empty_is_null: bool) -> Any:
    """Cells, an array or a sequence, as an array of text; None for a sequence of few, or where
    pyarrow is not there. ``empty_is_null``: with null in the place of each empty one."""
    if is_array(cells):
        array, has_empty = cells, empty_is_null
    elif len(cells) < _LEAST or arrow_if_there() is None:
        return None
    else:
        array = arrow_if_there().array(cells, arrow_if_there().string())
        has_empty = empty_is_null and "" in cells
    if not has_empty:
        return array
    pa = arrow_if_there()
    empty = pa.compute.equal(array, scalar(""))
    if not pa.compute.any(empty).as_py():
        return array
    return pa.compute.if_else(empty, scalar(None), array)


def has_empty(cells: Any) -> bool:
    """Whether one of the cells, an array or a sequence, is empty."""
    if not is_array(cells):
        return "" in cells
    compute = arrow_if_there().compute
    return compute.any(compute.equal(cells, scalar(""))).as_py() is True


def has_text(cells: Any, text: str) -> bool:
    """Whether one of the cells, an array or a sequence, has this text in it."""
    if not is_array(cells):
        return text in "\n".join(cells)
    compute = arrow_if_there().compute
    return compute.any(compute.match_substring(cells, text)).as_py() is True


def has_match(cells: Any, pattern: str) -> bool:
    """Whether one of the cells, an array, matches a regular expression."""
    compute = arrow_if_there().compute
    return compute.any(compute.match_substring_regex(cells, pattern)).as_py() is True


def all_match(cells: Any, pattern: str) -> bool:
    """Whether each of the cells, an array, matches a regular expression, or is null."""
    compute = arrow_if_there().compute
    return compute.all(compute.match_substring_regex(cells, pattern)).as_py() is not False


def first_filled(cells: Any, most: int) -> list[str]:
    """Up to ``most`` of the first cells that are not empty."""
    if is_array(cells):
        compute = arrow_if_there().compute
        for start in range(0, len(cells), _LEAST):
            some = cells.slice(start, _LEAST)
            if found := some.filter(compute.not_equal(some, scalar(""))).slice(0, most).to_pylist():
                return list(found)
        return []
    return list(islice(filter(None, cells), most))


def is_text_of(array: Any, cells: Sequence[str]) -> bool:
    """Whether an array of text has these cells."""
    pa, joined = arrow_if_there(), "\n".join(cells)
    if joined.count("\n") != len(cells) - 1:  # a line's end within one, which tells nothing
        return bool(array.to_pylist() == list(cells))
    rows = pa.ListArray.from_arrays(pa.array([0, len(array)], pa.int32()), array)
    return bool(pa.compute.binary_join(rows, scalar("\n"))[0].as_py() == joined)


def values_in(cells: Any, spelling: Spelling) -> Any:
    """The values of an array of cells that all are in a spelling, or null; None where one is not,
    or that is not known here.

    What is spelled from them again is the cells.
    """
    read = _READ.get(spelling.type)
    if read is None:
        return None
    pa = arrow_if_there()
    try:
        return read(pa, cells, spelling.style)
    except pa.ArrowException:
        return None


def bounds(values: Any) -> tuple[int, int]:
    """The least and the greatest of integers, or 0 where there are none."""
    found = arrow_if_there().compute.min_max(values)
    return found["min"].as_py() or 0, found["max"].as_py() or 0


def sizes(values: Any) -> tuple[float, float]:
    """How far from 0 the nearest and the farthest number are that are not 0; 1 where there are
    none."""
    compute = arrow_if_there().compute
    found = compute.abs(values)
    found = compute.min_max(found.filter(compute.greater(found, scalar(0.0))))
    return found["min"].as_py() or 1.0, found["max"].as_py() or 1.0


def has_negative_zero(values: Any) -> bool:
    """Whether one of the doubles is -0.0."""
    pa = arrow_if_there()
    lowest = pa.compute.equal(values.view(pa.int64()), scalar(-(1 << 63)))
    return pa.compute.any(lowest).as_py() is True


def are_short(values: Any) -> bool:
    """Whether all doubles are multiples of 1/64 and so small that no digit of theirs is left out
    where 16 are written."""
    compute = arrow_if_there().compute
    far = compute.greater(compute.abs(values), scalar(1e9))
    parts = compute.multiply(values, scalar(64.0))
    odd = compute.not_equal(compute.floor(parts), parts)
    return compute.any(compute.or_(far, odd)).as_py() is not True


def _same(cells: Any, again: Any) -> bool:
    return bool(cells.equals(again))


def _all(pa: Any, told: Any) -> bool:
    """Whether all are true, or null."""
    return pa.compute.all(told, min_count=0).as_py() is True


def _integers(pa: Any, cells: Any, _style: str) -> Any:
    values = cells.cast(pa.int64())
    return values if _same(cells, values.cast(pa.string())) else None


def _numbers(pa: Any, cells: Any, style: str) -> Any:
    values = cells.cast(pa.float64())
    if not _all(pa, pa.compute.is_finite(values)):
        return None
    if style[:1] == "f":
        return values if _has_decimals(pa, cells, values, int(style[1:])) else None
    if style not in ("", ".0"):
        return None
    again = values.cast(pa.string())
    if style:
        bare = pa.compute.invert(pa.compute.match_substring(again, "."))
        with_point = pa.compute.binary_join_element_wise(again, scalar(".0"), scalar(""))
        again = pa.compute.if_else(bare, with_point, again)
    # Python writes -0.0 where pyarrow writes -0.
    elif pa.compute.any(pa.compute.equal(again, scalar("-0"))).as_py():
        return None
    return values if _same(cells, again) and _is_usual(pa, values) else None


def _is_usual(pa: Any, values: Any) -> bool:
    """Whether Python writes no exponent in any of the values, as pyarrow does not."""
    found = pa.compute.abs(values)
    far = pa.compute.greater(found, scalar(float(EXACT)))
    near = pa.compute.less(found, scalar(1e-4))
    near = pa.compute.and_(near, pa.compute.not_equal(found, scalar(0.0)))
    return not pa.compute.any(pa.compute.or_(far, near)).as_py()


def _has_decimals(pa: Any, cells: Any, values: Any, places: int) -> bool:
    """Whether all cells have so many decimals, and so few digits that they are those which are
    written again."""
    shape = rf"^-?(0|[1-9][0-9]*)\.[0-9]{{{places}}}$"
    longest = pa.compute.max(pa.compute.binary_length(cells)).as_py() or 0
    if longest > _DIGITS + 1 or not 0 < places <= _DIGITS:
        return False
    if not _all(pa, pa.compute.match_substring_regex(cells, shape)):
        return False
    digits = pa.compute.replace_substring(cells, ".", "").cast(pa.int64()).cast(pa.float64())
    whole = pa.compute.round(pa.compute.multiply(values, scalar(10.0**places)))
    minus = pa.compute.less(values.view(pa.int64()), scalar(0))  # also -0.0
    same = pa.compute.and_(
        pa.compute.equal(whole, digits),
        pa.compute.equal(minus, pa.compute.starts_with(cells, "-")),
    )
    return _all(pa, same)


def digits_and_places(cells: Any) -> tuple[int, int] | None:
    """How many digits decimals in an array of cells have at most, and how many of these behind the
    point; None where not all have as many, are spelled in another way, or one is -0."""
    compute = arrow_if_there().compute
    first = cells.drop_null().slice(0, 1).to_pylist()
    if not first:
        return None
    places = len(first[0].partition(".")[2])
    fraction = rf"\.[0-9]{{{places}}}" if places else ""
    shape = rf"^-?(0|[1-9][0-9]*){fraction}$"
    if not all_match(cells, shape) or has_match(cells, "^-[0.]*$"):
        return None
    bare = compute.utf8_ltrim(cells, "-")
    whole = compute.max(compute.binary_length(bare)).as_py() - (places and places + 1)
    if whole == 1 and not has_match(bare, "^[1-9]"):
        whole = 0
    digits = max(1, whole + places)
    return (digits, places) if digits <= _MOST_DIGITS else None


def _decimals(pa: Any, cells: Any, _style: str) -> Any:
    if (found := digits_and_places(cells)) is None:
        return None
    values = cells.cast(pa.decimal128(*found))
    return values if _same(cells, values.cast(pa.string())) else None


def _booleans(pa: Any, cells: Any, style: str) -> Any:
    yes, no = (pa.compute.equal(cells, scalar(word)) for word in BOOLEANS[style])
    return yes if _all(pa, pa.compute.or_(yes, no)) else None


def _dates(pa: Any, cells: Any, style: str) -> Any:
    if style:
        return None
    values = cells.cast(pa.date32())
    return values if _same(cells, values.cast(pa.string())) and _in_years(pa, cells) else None


def _in_years(pa: Any, cells: Any) -> bool:
    """Whether all dates, which are spelled in their order, are such as Python has."""
    found = pa.compute.min_max(cells)
    first, last = found["min"].as_py(), found["max"].as_py()
    return first is None or (first >= _FIRST_DAY and last[: len(_LAST_DAY)] <= _LAST_DAY)


def _timestamps(pa: Any, cells: Any, style: str) -> Any:
    between, unit, zone = style[:1], _UNITS.get(style[1:2]), style[2:]
    if unit is None or zone not in ("", "Z"):
        return None
    values = cells.cast(pa.timestamp(unit, "UTC" if zone else None))
    again = values.cast(pa.string())
    if between == "T":
        again = pa.compute.replace_substring(again, " ", "T", max_replacements=1)
    if not (_same(cells, again) and _in_years(pa, cells)):
        return None
    if style[1:2] == "p":  # as Python writes them: six digits, or none of those of a whole second
        whole = pa.compute.ends_with(cells, f".000000{zone}")
        if pa.compute.any(whole).as_py():
            return None
    return values.cast(pa.timestamp("us", values.type.tz))


_READ: dict[str, Callable[[Any, Any, str], Any]] = {
    "integer": _integers,
    "number": _numbers,
    "decimal": _decimals,
    "boolean": _booleans,
    "date": _dates,
    "timestamp": _timestamps,
}
