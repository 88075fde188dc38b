"""Documents of YAML in which nothing stands, beside others, are no records.

Tools that put documents together, such as Helm, leave a marker with nothing behind it, which
others skip: by the specification it is a null, beside which no others are rows of a table.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator

from serialpack.formats.base import Read
from serialpack.values.kinds import EMPTY, Loss

_PIECE = 1 << 20

#: A line that begins a document, and has nothing else but a comment.
_BARE = re.compile(rb"(?m)^---(?=[ \t]*(?:#[^\n]*)?\r?\n)")
#: Lines of nothing but comments.
_NOTHING = re.compile(rb"(?:[ \t]*(?:#[^\n]*)?\r?\n)*+")
_MARKER = re.compile(rb"---[ \t\r\n]")


class NoEmptyDocuments:
    """Puts the mark of a document's end, or spaces, in place of that of one that is empty."""

    def __init__(self) -> None:
        self._left = b""
        self._begun = False
        self._line = self._count = 0
        self._first = ""

    @property
    def losses(self) -> list[Loss]:
        """The empty documents so far."""
        return [Loss(EMPTY, self._count, 0, self._first, "---", "")] if self._count else []

    def pieces(self, read: Read) -> Iterator[bytes]:
        """What ``read`` gives, without empty documents; nulls that are spelled stay."""
        while True:
            # What is left over is looked at again, each time with as much that is new.
            data = read(max(_PIECE, len(self._left)))
            yield self.made(data, last=not data)
            if not data:
                return

    def made(self, data: bytes, *, last: bool) -> bytes:
        """The next piece, but for what may be an empty document at its end."""
        data = self._left + data + (b"\n" if last else b"")
        end = len(data) if last else data.rfind(b"\n") + 1
        made, at = [], 0
        for found in _BARE.finditer(data, 0, end):
            begin = found.start()
            behind = _NOTHING.match(data, data.index(b"\n", begin) + 1, end)
            assert behind
            if behind.end() == end and not last:
                end = begin
                break
            made.append(self._between(data, at, begin))
            is_next = _MARKER.match(data, behind.end())
            mark = b"---"
            if (is_next or (behind.end() == end and self._begun)) and not _has_directive(made[-1]):
                mark = b"..." if self._begun else b"   "
                self._first = self._first or f"line {self._line + 1}"
                self._count += 1
            else:
                self._begun = True
            made.append(mark)
            at = found.end()
        made.append(self._between(data, at, end))
        self._left = data[end:]
        text = b"".join(made)
        return text[:-1] if last else text

    def _between(self, data: bytes, at: int, end: int) -> bytes:
        """Text between markers, of which it is kept whether there was any."""
        text = data[at:end]
        self._line += text.count(b"\n")
        if not self._begun:
            self._begun = bool(_NOTHING.sub(b"", text.removeprefix(BOM_UTF8), 1))
        return text


def _has_directive(text: bytes) -> bool:
    """Whether the last line of ``text`` is about the document that begins behind it."""
    return text[text.rstrip(b"\n").rfind(b"\n") + 1 :].startswith(b"%")


def without_empty(head: bytes, *, whole: bool) -> NoEmptyDocuments | None:
    """What reads documents of YAML that begins so without empty ones; None where none is empty.
    ``whole``: they all are in ``head``."""
    if b"---" not in head or (not whole and b"\n---" not in head):
        return None
    if whole:
        tried = NoEmptyDocuments()
        tried.made(head, last=True)
        if not tried.losses:
            return None
    return NoEmptyDocuments()
