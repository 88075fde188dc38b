"""CSV whose lines end in carriage returns alone, as old Macs wrote it, with line feeds."""

import re
from collections.abc import Callable
from typing import NamedTuple

from serialpack.errors import SyntaxInputError
from serialpack.formats.base import Read
from serialpack.values.kinds import Loss

_MARKS = re.compile(rb'["\r\n]')
_TWO_ENDS = "a line feed behind lines that end in carriage returns"


class ReturnLines(NamedTuple):
    """How such a table is read."""

    dropped: tuple[Loss, ...] = ()

    @property
    def words(self) -> str:
        """What it is read as."""
        return "lines that end in carriage returns"


def by_lines(read: Read, head: bytes) -> tuple[Read, ReturnLines | None]:
    """What reads a table in UTF-8 that begins with ``head`` so that its lines end in line feeds,
    and how it is read then. It raises SyntaxInputError where a line ends in another way."""
    return (_Lines(read).read, ReturnLines()) if _ends_in_returns(head) else (read, None)


def _ends_in_returns(head: bytes) -> bool:
    """Whether the lines of a text that begins so end in carriage returns, and in nothing else but
    for the last, whose line feed some editors put there."""
    if b"\r" not in head:
        return False
    outside = b"".join(head.split(b'"')[::2])
    last = head.endswith(b"\n") and not head.endswith(b"\r\n")
    return b"\r" in outside and outside.count(b"\n") <= last


class _Lines:
    """Reads such a text; what stands in quotes stays. What fails once fails again."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._at = 0
        self._inside = False
        self._failing = self._ahead = self._behind = b""

    def read(self, size: int) -> bytes:
        """The next bytes, with line feeds; as many as the text has."""
        piece = self._failing or self._ahead or self._read(size)
        if not self._failing:
            self._ahead = self._read(size) if piece.endswith(b"\n") else b""
        self._failing = piece
        body = piece.removesuffix(b"\n") if not self._ahead else piece
        end = piece[len(body) :]
        if (body or self._behind).endswith(b"\r"):
            body, end = piece, b""
        made, self._inside = _made(body, self._inside, self._at)
        self._behind, self._failing = piece[-1:], b""
        self._at += len(piece)
        return made + end


def _made(piece: bytes, inside: bool, at: int) -> tuple[bytes, bool]:
    if not inside and b'"' not in piece and b"\n" not in piece:
        return piece.replace(b"\r", b"\n"), False
    within = [inside]
    made = _MARKS.sub(_put(within, at), piece)
    return made, within[0]


def _put(within: list[bool], at: int) -> Callable[[re.Match[bytes]], bytes]:
    def put(match: re.Match[bytes]) -> bytes:
        mark = match[0]
        if mark == b'"':
            within[0] = not within[0]
        elif mark == b"\n" and not within[0]:
            raise SyntaxInputError(f"not valid CSV: {_TWO_ENDS}", offset=at + match.start())
        elif not within[0]:
            return b"\n"
        return mark

    return put
