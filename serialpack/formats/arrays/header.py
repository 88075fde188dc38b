"""What stands before the items of an array, and of an .npy file (numpy.lib.format).

Read without NumPy, but for types that it reads and does not write.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from serialpack.formats.arrays.types import as_written, dtype_of
from serialpack.formats.shared.document import EMPTY, Malformed
from serialpack.text import number_of

MAGIC = b"\x93NUMPY"

#: Magic, version, and the longest length field.
LEAD = 12
#: The longest header that is read, in bytes: of some 30,000 fields. NumPy itself reads 10,000.
MOST_HEADER = 1 << 20
#: The header as NumPy writes it where items have no fields: read by a pattern, it takes a tenth of
#: the time.
_LENGTH = "(?:0|[1-9][0-9]*)"
_USUAL = re.compile(
    r"\{'descr': '([ -&(-\[\]-~]*)', 'fortran_order': (False|True), "
    rf"'shape': \((|{_LENGTH},|{_LENGTH}(?:, {_LENGTH})+)\), \}}"
)
#: A shape as Python 2 wrote it, whose long integers end so.
_SHAPE_OF_PYTHON_2 = re.compile(r"'shape': \(([0-9L, ]+)\)")
#: NumPy has no more (from version 2 on).
MOST_DIMENSIONS = 64


class ArrayHeader(NamedTuple):
    """What stands before the items of an array.

    ``descr``: the type of an item, as NumPy writes it; ``size``: the bytes before the items;
    ``scale``: the slope and intercept that turn the items into what was measured, None where they
    are that.
    """

    descr: object
    fortran: bool
    shape: tuple[int, ...]
    size: int
    scale: tuple[float, float] | None = None

    @property
    def rows(self) -> int:
        return self.shape[0] if self.shape else 1

    @property
    def items_a_row(self) -> int:
        return math.prod(self.shape[1:])

    @property
    def bytes_of_items(self) -> int:
        """Bytes of all the items; 0 where these are of no type that is read, as are objects."""
        try:
            return math.prod(self.shape) * int(dtype_of(self.descr).itemsize)
        except ValueError:
            return 0

    @property
    def is_fortran(self) -> bool:
        """Whether there are several indexes, and neighbours in the file differ in the first one."""
        return self.fortran and len(self.shape) > 1

    @property
    def has_objects(self) -> bool:
        """Whether items, or parts of them, are objects of Python, which only a pickle has."""
        return "|O" in repr(self.descr)

    @property
    def words(self) -> str:
        """For people: ``<f8, 100 x 3, C order``."""
        return words_of(self.descr, self.shape, fortran=self.is_fortran)


def missing_bytes(count: int) -> str:
    """Says that an array lacks ``count`` bytes at its end."""
    return number_of(count, "byte of the array is missing", "bytes of the array are missing")


def scale_words(scale: tuple[float, float]) -> str:
    """For people, what an item x is to become: ``2 x + 10``; with all digits, so that they can
    compute it."""
    slope, intercept = (repr(number).removesuffix(".0") for number in scale)
    sign = "-" if intercept.startswith("-") else "+"
    return f"{slope} x {sign} {intercept.removeprefix('-')}"


def words_of(descr: object, shape: tuple[int, ...], *, fortran: bool) -> str:
    """As ``ArrayHeader.words``."""
    if isinstance(descr, dict) and "metadata" in descr:  # of ``objects``, with words of its own
        descr = descr["type"]
    items = descr if isinstance(descr, str) else "records"
    dimensions = " x ".join(map(str, shape)) or "one item"
    return f"{items}, {dimensions}, {'Fortran' if fortran else 'C'} order"


#: So long a header NumPy reads without being told.
MOST_UNTOLD = 10_000


def npy_header(descr: object, shape: tuple[int, ...], *, fortran: bool) -> bytes:
    """What stands before the items in an .npy file, a multiple of 64 bytes.

    Malformed where it is longer than is read.
    """
    said = f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {shape!r}, }}"
    version = 1 if said.isascii() and len(said) < 1 << 15 else 3
    lead = MAGIC + bytes([version, 0])
    width = 2 if version == 1 else 4
    text = said.encode()
    text += b" " * (-(len(lead) + width + len(text) + 1) % 64) + b"\n"
    if len(lead) + width + len(text) > MOST_HEADER:
        raise Malformed("its fields need a header that is too long")
    return lead + len(text).to_bytes(width, "little") + text


def header_size(lead: bytes) -> int:
    """How many bytes stand before the items, by the first ``LEAD``; Malformed."""
    if not lead.startswith(MAGIC):
        raise Malformed("it does not begin as an .npy file" if lead else EMPTY, 0)
    width = {1: 2, 2: 4, 3: 4}.get(lead[6] if len(lead) > 6 else 0)
    if width is None:
        raise Malformed("a version that is none of 1, 2 and 3", 6)
    if len(lead) < 8 + width:
        raise Malformed("it ends within its header", len(lead))
    size = 8 + width + int.from_bytes(lead[8 : 8 + width], "little")
    if size > MOST_HEADER:
        raise Malformed(f"a header of {size} bytes is announced", 8)
    return size


def read_head(read: Callable[[int], bytes]) -> bytes:
    """The bytes before the items of an .npy file that ``read`` gives, and no more than ``LEAD`` of
    one that is none."""
    lead = read(LEAD)
    with suppress(Malformed):
        lead += read(max(header_size(lead) - LEAD, 0))
    return lead


def _said(text: str) -> tuple[object, object, Any]:
    """Type, order and shape in the text of a header; SyntaxError, ValueError and the like of
    ``ast.literal_eval``, or KeyError."""
    if (usual := _USUAL.fullmatch(text)) is not None:
        descr, fortran, lengths = usual.groups()
        return descr, fortran == "True", tuple(map(int, filter(None, lengths.split(","))))
    try:
        found = ast.literal_eval(text)
    except SyntaxError:
        found = ast.literal_eval(_SHAPE_OF_PYTHON_2.sub(_of_python_3, text))
    return found["descr"], found["fortran_order"], found["shape"]


def _of_python_3(shape: re.Match[str]) -> str:
    return shape[0].replace("L", "")


def read_header(data: bytes) -> ArrayHeader:
    """The header that ``data`` begins with; Malformed where it is not whole or lies."""
    size = header_size(data[:LEAD])
    if len(data) < size:
        raise Malformed("it ends within its header", len(data))
    start = 10 if data[6] == 1 else 12
    try:
        text = data[start:size].decode("utf-8" if data[6] == 3 else "latin-1")
        descr, fortran, shape = _said(text.strip())
    except (ValueError, SyntaxError, TypeError, KeyError, MemoryError, RecursionError):
        raise Malformed("its header does not say type, order and shape", start) from None
    lengths = shape if isinstance(shape, tuple) else (None,)
    if type(fortran) is not bool or any(type(n) is not int or n < 0 for n in lengths):
        raise Malformed("its header has an order or a shape that is none", start)
    if len(shape) > MOST_DIMENSIONS:
        raise Malformed(f"its shape has {len(shape)} dimensions, more than any array", start)
    if math.prod(n for n in shape if n) >= 1 << 63:
        raise Malformed("its shape has more items than any memory", start)
    return ArrayHeader(as_written(descr), fortran, shape, size)
