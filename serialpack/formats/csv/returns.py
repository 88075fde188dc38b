"""CSV whose lines end in carriage returns alone, as old Macs wrote it, with line feeds."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from serialpack.errors import SyntaxInputError
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


def ends_in_returns(head: bytes) -> bool:
    """Whether the lines of a text that begins so end in carriage returns, and in nothing else."""
    if b"\r" not in head:
        return False
    outside = b"".join(head.split(b'"')[::2])
    return b"\r" in outside and b"\n" not in outside


def with_newlines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """A text in UTF-8 whose lines end so, with line feeds; SyntaxInputError where a line ends
    in another way. What stands in quotes stays."""
    at, inside = 0, False
    for piece in pieces:
        made, inside = _made(piece, inside, at)
        at += len(piece)
        yield made


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
