"""Where YAML documents begin: at lines that start with ``---``, which stands nowhere inside one.

YAML 1.1, sections 4.2 and 9.2: three dashes or dots that begin a line, with white space behind
them, are a marker in every context, also where a text in quotes or a block goes on. Directives
before a marker belong to its document, and stand behind dots or at the source's start.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8

from serialpack.formats.shared.split import Boundary, Finder

#: Three dashes that begin a line, behind any line end that YAML 1.1 has.
_MARKER = re.compile(
    rb"---(?=[ \t\r\n]|\xc2\x85|\xe2\x80[\xa8\xa9]|\Z)"
    rb"(?:(?<=[\r\n]---)|(?<=\xc2\x85---)|(?<=\xe2\x80[\xa8\xa9]---))"
)
#: How such a line begins in most files, which is looked for.
_BEGIN = b"\n---"
_DIRECTIVE, _END, _WHITE = b"%", b"...", b" \t\r\n"
#: Lines before the first marker that make no document.
_NOTHING = re.compile(rb"\A(?:(?:[ \t]*+(?:#[^\r\n]*+)?|%[^\r\n]*+)[\r\n])*+")


class YamlFinder(Finder):
    """Finds where documents end behind which others stand."""

    def __init__(self) -> None:
        self._first = True

    def last(self, buf: bytearray, start: int, limit: int) -> Boundary | None:
        ahead = len(_BEGIN) - 1
        at = limit
        while (at := buf.rfind(_BEGIN, start, at + ahead)) >= 0:
            if (end := _boundary(buf, start, at + 1)) is not None:
                return self._split(buf, start, end)
        return None

    def first(self, buf: bytearray, start: int, limit: int) -> Boundary | None:
        ahead = len(_BEGIN) - 1
        at = start
        while (at := buf.find(_BEGIN, at, limit + ahead)) >= 0:
            if (end := _boundary(buf, start, at + 1)) is not None:
                return self._split(buf, start, end)
            at += 1
        return None

    def rest(self, buf: bytearray, start: int) -> int | None:
        return None if self._first else _count(bytes(buf[start:]))

    def _split(self, buf: bytearray, start: int, end: int) -> Boundary:
        text = bytes(buf[start:end])
        found = _count(text)
        if self._first:
            # Only the first document may begin without a marker.
            content = _NOTHING.sub(b"", text.removeprefix(BOM_UTF8), 1)
            found += bool(content) and not _MARKER.match(b"\n" + content, 1)
            self._first = False
        return Boundary(end, found)


def _count(text: bytes) -> int:
    """The markers in ``text``, which begins a line."""
    return len(_MARKER.findall(b"\n" + text.removeprefix(BOM_UTF8)))


def _boundary(buf: bytearray, start: int, marker: int) -> int | None:
    """Where the document whose marker is at ``marker`` begins, with its directives: there the one
    before it ends.

    None where that is not certain, or is ``start``.
    """
    behind = marker + len(_BEGIN) - 1
    if behind == len(buf) or buf[behind] not in _WHITE:
        return None
    top, directives = marker, False
    while top > start:
        line_at = max(buf.rfind(b"\n", start, top - 1) + 1, start)
        line = bytes(buf[line_at : top - 1]).removesuffix(b"\r")
        if b"\r" in line:  # another line, perhaps of directives
            return None
        if line.startswith(_DIRECTIVE):
            directives = True
        elif line.strip(b" \t") and not line.strip(b" \t").startswith(b"#"):
            if directives:
                return top if line == _END or line[:4] in (b"... ", b"...\t") else None
            return marker
        top = line_at
    return None
