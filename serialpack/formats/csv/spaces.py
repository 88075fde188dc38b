"""CSV with spaces behind its delimiters and quotes behind these, without the spaces.

By RFC 4180 such a quote is a character as any other, and what it holds falls apart at delimiters;
``skipinitialspace`` of Python's csv module reads it as here.
"""

import io
import re
from codecs import BOM_UTF8
from functools import cache
from typing import NamedTuple

from serialpack.formats.base import MAX_BLOCK, Read
from serialpack.formats.csv.returns import ReturnLines, by_lines
from serialpack.formats.csv.widths import fits
from serialpack.values.kinds import Loss

_PIECE = 1 << 20


class SpacedCells(NamedTuple):
    """How such a table is read."""

    dropped: tuple[Loss, ...] = ()

    @property
    def words(self) -> str:
        """What it is read as."""
        return "cells behind spaces, which are no part of them"


def by_rows(
    read: Read, head: bytes, delimiter: str
) -> tuple[Read, ReturnLines | SpacedCells | None]:
    """What reads a table in UTF-8 that begins with ``head`` so that ``split`` finds its records and
    cells, where its lines end otherwise, or cells have spaces before them and quotes behind these;
    and how it is read then."""
    by_line, lines = by_lines(read, head)
    if lines is None and delimiter and has_spaces(head, delimiter):
        return _Spaceless(read, delimiter).read, SpacedCells()
    return by_line, lines


def has_spaces(head: bytes, delimiter: str) -> bool:
    """Whether cells of a text that begins so are in quotes behind spaces: its first rows fit each
    other without these, and all cells have spaces before them, or rows do not fit with them."""
    mark = delimiter.encode()
    if re.search(re.escape(mark) + b' +"', head) is None:
        return False
    lines = head[: head.rfind(b"\n") + 1] or head
    text = _Spaceless(io.BytesIO(lines).read, delimiter).read(len(lines))
    if not _fits(text, delimiter):
        return False
    ends = (b"", b"\r", b"\n", mark)
    return not _fits(lines, delimiter) or all(
        found[1] == b"\n" or found[2] or lines[found.end(2) : found.end(2) + 1] in ends
        for found in _cells(delimiter).finditer(lines)
    )


def _fits(lines: bytes, delimiter: str) -> bool:
    """Whether the first rows have as many fields each, and no quote is out of place in them."""
    return fits(lines.decode("utf-8", "replace").removeprefix("\ufeff"), delimiter) > 1


@cache
def _cells(delimiter: str) -> re.Pattern[bytes]:
    """Where a cell begins: what is before it, spaces, and it itself where it is in quotes."""
    mark = re.escape(delimiter.encode())
    return re.compile(rb'(%b|\n)(\x20*+)((?:"(?:[^"]++|"")*+")?+)' % mark)


class _Spaceless:
    """Reads the text without the spaces before its cells; but for those at the begin of a line,
    where no quote is behind them."""

    def __init__(self, read: Read, delimiter: str) -> None:
        self._read = read
        self._cells = _cells(delimiter)
        #: What was read and is not looked through, and what was; the first cell begins a line, too.
        self._text = b"\n"
        self._made = bytearray()
        self._begun = self._ended = False

    def read(self, size: int) -> bytes:
        """The next bytes; fewer than ``size`` only at the end."""
        while len(self._made) < size and not self._ended:
            # Of a long cell each byte is seen twice, on average.
            data = self._read(max(_PIECE, len(self._text)))
            self._ended = not data
            if not self._begun and data:
                mark = BOM_UTF8 if data.startswith(BOM_UTF8) else b""
                self._made += mark
                data = data[len(mark) :]
            self._text += data
            made = self._unspaced()
            self._made += made if self._begun else made[1:]
            self._begun = self._begun or bool(made)
        data = bytes(self._made[:size])
        del self._made[:size]
        return data

    def _unspaced(self) -> bytes:
        """The text as far as it is known where its cells end, which is taken."""
        text, made, at, end = self._text, list[bytes](), 0, len(self._text)
        for found in self._cells.finditer(text):
            before, spaces, cell = found.group(1, 2, 3)
            behind = text[found.end() : found.end() + 1]
            is_open = not behind or (not cell and behind == b'"')
            if is_open and not self._ended and end - found.start() < MAX_BLOCK:
                end = found.start()
                break
            is_kept = before == b"\n" and not cell and behind != b'"'
            made += text[at : found.start()], before, spaces if is_kept else cell
            at = found.end()
        self._text = text[end:]
        return b"".join([*made, text[at:end]])
