"""Columns of cells as arrays of pyarrow's, written as the text of a block of CSV again: which shows
that they are its cells, and how each column is quoted."""

from __future__ import annotations

from typing import Any

from serialpack.formats.csv.quoting import as_well_quoted, ways_of_first
from serialpack.formats.csv.style import ALL, NEEDED
from serialpack.formats.tables.library import arrow_if_there, scalar

#: Characters of a block whose first rows tell how it is quoted.
_FRONT = 64 << 10


def writes(cells: list[Any], mark: str, newline: str, body: bytes) -> bool:
    """Whether rows of these raw cells are the text; its last line may have no end."""
    pa = arrow_if_there()
    lines = pa.compute.binary_join_element_wise(*cells, scalar(mark))
    whole = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
    text = pa.compute.binary_join(whole, scalar(newline))[0].as_buffer()
    return bool(text.equals(pa.py_buffer(body.removesuffix(newline.encode()))))


def quotes_of_arrays(
    cells: list[Any], mark: str, newline: str, body: bytes
) -> list[frozenset[str]] | None:
    """The ways in which each column may be quoted so that rows of the cells are the text; None
    where they are not, whichever way the first rows have."""
    front = body[:_FRONT].decode("utf-8", "ignore")
    if len(body) > _FRONT:
        front = front[: front.rfind(newline) + 1]
    ways = ways_of_first(front, mark, len(cells))
    if ways is None:
        return None
    need = [_needs_quotes(array, mark) for array in cells]
    raw = [_quoted(*each) for each in zip(cells, ways, need, strict=True)]
    if not writes(raw, mark, newline, body):
        return None
    return [_as_well(*each) for each in zip(cells, ways, need, strict=True)]


def _needs_quotes(cells: Any, mark: str) -> Any:
    """Which of the cells stand only in quotes; None where none does."""
    text = cells.buffers()[2]  # of them all, in which to look takes a tenth of the time
    found = text.to_pybytes() if text is not None else b""
    if not any(sign in found for sign in (b'"', b"\n", b"\r", mark.encode())):
        return None
    compute = arrow_if_there().compute
    return compute.match_substring_regex(cells, f'["\r\n{mark}]')


def _quoted(cells: Any, way: str, needs: Any) -> Any:
    """The raw cells."""
    if way == NEEDED and needs is None:
        return cells
    compute = arrow_if_there().compute
    texts = cells if needs is None else compute.replace_substring(cells, '"', '""')
    quote = scalar('"')
    within = compute.binary_join_element_wise(quote, texts, quote, scalar(""))
    if way == ALL:
        return within
    return compute.if_else(
        needs if way == NEEDED else compute.not_equal(cells, scalar("")), within, cells
    )


def _as_well(cells: Any, way: str, needs: Any) -> frozenset[str]:
    compute = arrow_if_there().compute
    is_empty = compute.equal(cells, scalar(""))
    need_or_empty = is_empty if needs is None else compute.or_(is_empty, needs)
    empty, all_need = (compute.any(is_empty).as_py(), compute.all(need_or_empty).as_py())
    return as_well_quoted(way, empty=empty, all_need=all_need)
