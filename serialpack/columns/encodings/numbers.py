"""Arrays of integers and doubles, as encodings store them: as small as minimum, differences, a
table, the smallest width and the best coder make them.

In a description (``v``: LEB128, ``z``: zigzag LEB128; additions are modulo 2^64):

    array      1 byte, kind * 8 + layout; a stream of elements of this kind (``stored.streams``)
    codes      nothing if there is one entry at most, or no code; else an array
    floats     nothing if there are none; else an array
    numbers    nothing if there are none; else 1 byte and
      0        z: all are this
      1        z, z: the first one and the step to the next
      2        z, array: the least one and how much each is above it
      3        z, numbers: the first one and the steps to the next
      4        v, numbers, codes: a table of so many, and for each its place in it
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.stored.coding import Coded
from serialpack.columns.stored.source import ColumnSource
from serialpack.columns.stored.streams import BITS4, F64, U8, U64, array_kind, array_stream, narrow
from serialpack.columns.stored.wire import varint, zigzag
from serialpack.columns.texts import Broken
from serialpack.stages.effort import ColumnEffort

#: The forms of ``numbers``, as in the layout above; stored, and so the same for ever.
CONSTANT, STEPS, OFFSET, DELTA, TABLE = range(5)

#: So often differences may be taken of differences: twice pays for times of regular events.
_DELTAS = 2

#: Forms nest at most so deep: differences, a table of these, and its entries as differences.
_NESTED = _DELTAS + 3

#: Whether differences pay is told from so many numbers; they must save so many bits of each.
_LOOK = 512
_BETTER = 1.0

#: Among the first so many numbers all steps must be equal before the others are compared.
_FIRST = 9

#: The most entries of a table; whether there are few is told from so many numbers.
_TABLE_MOST = 1 << 16
_TABLE_LOOK = 512


def _array_node(array: NDArray[Any], use: ColumnEffort, top: int | None) -> Coded:
    """``array`` behind a byte that says its kind and layout."""
    layout, stream = array_stream(array, use, top)
    return Coded(bytes([array_kind(array) << 3 | layout]), (stream,))


def _read_array(source: ColumnSource, number: int, kinds: range) -> NDArray[Any]:
    """``number`` elements that ``_array_node`` wrote; Broken where they are not of these kinds."""
    form = source.byte()
    kind, layout = form >> 3, form & 7
    if kind not in kinds or layout > BITS4:
        raise Broken("an array of numbers of an unknown kind")
    return source.array(layout, kind, number)


def write_codes(codes: NDArray[np.integer[Any]], count: int, use: ColumnEffort) -> Coded:
    """Codes, which are numbers from 0 to ``count`` - 1, for ``read_codes``."""
    if count <= 1 or not len(codes):
        return Coded(b"")
    return _array_node(narrow(codes, count - 1), use, count - 1)


def read_codes(source: ColumnSource, count: int, number: int) -> NDArray[Any]:
    """``number`` codes below ``count``, as unsigned integers of any width; the array may be
    read-only. Broken where one is not below ``count``."""
    if count <= 1 or not number:
        if number and not count:
            raise Broken("codes without entries")
        return np.zeros(number, np.uint8)
    codes = _read_array(source, number, range(U8, U64 + 1))
    if int(codes.max()) >= count:
        raise Broken("a code beyond the last entry")
    return codes


def write_floats(values: NDArray[np.float64], use: ColumnEffort) -> Coded:
    """Doubles, bit for bit."""
    if not len(values):
        return Coded(b"")
    return _array_node(values.astype("<f8"), use, None)


def read_floats(source: ColumnSource, number: int) -> NDArray[np.float64]:
    """``number`` doubles."""
    if not number:
        return np.zeros(0)
    array = _read_array(source, number, range(F64, F64 + 1))
    return array.astype(np.float64)


def _bits(numbers: NDArray[Any]) -> float:
    """About how many bits each of the numbers takes, on average: the mean of log2(number + 1). The
    same on every machine, for the choice depends on it."""
    part, exponent = np.frexp(numbers.astype(np.float64) + 1)
    # No logarithm, which libraries round in their own ways: between powers of two a straight line.
    whole = int(exponent.sum(dtype=np.int64)) + int((part * 512).astype(np.int64).sum()) / 256
    return whole / len(numbers) - 2


def deltas_pay(numbers: NDArray[np.int64]) -> bool:
    """Whether the numbers take fewer bits as differences of neighbours,
    told from the middle of them."""
    start = max((len(numbers) - _LOOK) // 2, 0)
    part = numbers[start : start + _LOOK]
    steps = part[1:] - part[:-1]
    if not len(steps):
        return False
    spread = part.view(np.uint64) - np.uint64(int(part.min()) & (2**64 - 1))
    moved = steps.view(np.uint64) - np.uint64(int(steps.min()) & (2**64 - 1))
    # Where steps have both signs, what counts is how far they are from the usual step.
    room = _bits(spread) - _BETTER
    if _bits(moved) < room:
        return True
    sizes = steps.astype(np.float64)
    return _bits(np.abs(sizes - _median(sizes))) + 1 < room


def _median(values: NDArray[np.float64]) -> float:
    """As ``np.median``, which would take as long as everything else that is asked of a sample."""
    ranked = np.sort(values)
    half = len(ranked) // 2
    return float(ranked[half] if len(ranked) % 2 else (ranked[half - 1] + ranked[half]) / 2)


def write_numbers(
    numbers: NDArray[np.int64], use: ColumnEffort, deltas: int = _DELTAS, *, tables: bool = True
) -> Coded:
    """Any int64, for ``read_numbers``, in the form that takes the fewest bytes.

    ``deltas``: how often differences may still be taken; ``tables``: whether a table may be tried,
    as is not done within a table.
    """
    if not len(numbers):
        return Coded(b"")
    least, most = int(numbers.min()), int(numbers.max())
    if least == most:
        return Coded(bytes([CONSTANT]) + zigzag(least))
    if len(set(np.diff(numbers[:_FIRST]).tolist())) == 1:
        steps = numbers[1:] - numbers[:-1]
        if (steps == steps[0]).all():
            return Coded(bytes([STEPS]) + zigzag(int(numbers[0])) + zigzag(int(steps[0])))
    if deltas and deltas_pay(numbers):
        steps = numbers[1:] - numbers[:-1]
        inner = write_numbers(steps, use, deltas - 1, tables=tables)
        head = bytes([DELTA]) + zigzag(int(numbers[0]))
        return Coded(head + inner.description, inner.streams)
    offset = write_offset(numbers, least, most, use)
    table = _write_table(numbers, most - least, use) if tables else None
    return offset if table is None or offset.size <= table.size else table


def write_offset(numbers: NDArray[np.int64], least: int, most: int, use: ColumnEffort) -> Coded:
    """``numbers``, which go from ``least`` to ``most``, each as its distance from ``least``."""
    above = numbers.view(np.uint64) - np.uint64(least & (2**64 - 1))
    array = _array_node(narrow(above, most - least), use, most - least)
    return Coded(bytes([OFFSET]) + zigzag(least) + array.description, array.streams)


def _write_table(numbers: NDArray[np.int64], spread: int, use: ColumnEffort) -> Coded | None:
    """``numbers`` by a table of the different ones; None where that does not pay. ``spread``: the
    largest of them less the smallest."""
    if spread < 256:
        return None
    look = numbers[:: max(len(numbers) // _TABLE_LOOK, 1)].tolist()
    few = len(set(look))
    if few * 4 > len(look) or few * 8 > spread:
        return None
    table, codes = np.unique(numbers, return_inverse=True)
    if len(table) > min(_TABLE_MOST, len(numbers) // 2):
        return None
    entries = write_numbers(table, use, 1, tables=False)
    inner = write_codes(codes, len(table), use)
    head = bytes([TABLE]) + varint(len(table))
    return Coded(head + entries.description + inner.description, (*entries.streams, *inner.streams))


def read_numbers(source: ColumnSource, number: int, depth: int = 0) -> NDArray[np.int64]:
    """``number`` int64, which ``write_numbers`` wrote; Broken.
    ``depth``: that of the form in others."""
    if not number:
        return np.zeros(0, np.int64)
    if depth > _NESTED:
        raise Broken("numbers are nested too deep")
    source.spend(8 * number)
    mode = source.byte()
    if mode == CONSTANT:
        return np.full(number, _signed(source.zigzag()), np.int64)
    if mode == STEPS:
        first, step = np.int64(_signed(source.zigzag())), np.int64(_signed(source.zigzag()))
        with np.errstate(over="ignore"):
            return np.asarray(first + step * np.arange(number, dtype=np.int64))
    if mode == OFFSET:
        least = np.uint64(_signed(source.zigzag()) & (2**64 - 1))
        above = _read_array(source, number, range(U8, U64 + 1))
        numbers = above.astype(np.uint64)
        numbers += least
        return numbers.view(np.int64)
    if mode == DELTA:
        steps = np.empty(number, np.int64)
        steps[0] = _signed(source.zigzag())
        steps[1:] = read_numbers(source, number - 1, depth + 1)
        return np.cumsum(steps, out=steps)
    if mode == TABLE:
        count = source.varint(number)
        table = read_numbers(source, count, depth + 1)
        return np.asarray(table[read_codes(source, count, number)])
    raise Broken(f"numbers written in an unknown way: {mode}")


def _signed(number: int) -> int:
    """``number``, which must fit an int64; Broken otherwise."""
    if not -(2**63) <= number < 2**63:
        raise Broken("a number beyond 64 bits")
    return number
