"""Finds text that libyaml, or PyYAML's own parser, reads otherwise than YAML's specification says.

They were written for YAML 1.1, and follow it loosely. What they would take for something else is
refused; what the specification calls an error, and they take, is one here. Left to them is where a
text has only one sense, though it breaks a rule: lines of lists in brackets, and of texts in
quotes, that are not indented as they should be, or by tabs.

Whoever reads the events shows each of them to ``MisreadWatch.look``, in their order. Rules and
numbers are those of YAML 1.2.2.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from serialpack.formats.shared.document import Malformed

#: Line ends of YAML 1.1 that YAML 1.2 takes for text (5.4), and a byte-order mark that begins a
#: line, which the parsers drop (5.2).
_OTHER_LINES = re.compile("[\x85\u2028\u2029]|(?<=[\r\n])\ufeff")
#: An anchor, with the tag that may stand before it.
_ANCHOR = re.compile(r"(?:![^\s]*(?:\s+|#.*)*)?&[0-9A-Za-z_-]+")
#: The styles of scalars whose first line says how they are written.
_BLOCKS = frozenset("|>")
_WHITE = frozenset(" \t\r\n\x85\u2028\u2029") | {""}
#: What ends a name within brackets.
_CLOSE = frozenset(",]}")
_TIGHT = re.compile(r"#(?<=\S#)")
_COMMENT = re.compile(r"#[^\r\n]*")
#: The head of a block scalar, behind which white space must stand before a comment.
_HEADER = re.compile(r"[|>][-+0-9]*")
_NEXT = re.compile(r"[ \t\r\n]*(.?)")
_VERSION = re.compile(r"^%YAML[ \t]+[0-9]+\.[0-9]+(?![0-9\s]|\Z)", re.MULTILINE)


class Misread(Exception):
    """Text at ``at`` that is read otherwise than it should be; ``hint``: what to write instead."""

    def __init__(self, at: int, message: str, hint: str) -> None:
        super().__init__(message)
        self.at = at
        self.message = message
        self.hint = hint


class _Collection(NamedTuple):
    flow: bool
    #: The column in which its lines begin; of one in brackets, that of the one around it.
    column: int


class MisreadWatch:
    """Looks at the events of one text. ``look`` raises Misread or Malformed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._looks = _looks()
        self._inside = [_Collection(flow=False, column=-1)]
        self._flow = False
        #: Where the last event ended.
        self._end = 0
        self._ended_openly = True
        self._marks_keys = "?" in text
        #: Where the hashes are that have no white space before them; and the next of these.
        self._tight = (found.start() for found in _TIGHT.finditer(text))
        self._next_tight = next(self._tight, len(text))
        self._has_open_line = _has_open_line(text)
        self._has_percent = "%" in text
        # Once for all documents: to look in each anew would take time by the square of their count.
        self._other_line = None if text.isascii() else _OTHER_LINES.search(text)

    def check_lines(self) -> None:
        """Misread where a line end, or a byte-order mark, means one thing to YAML 1.1 and another
        to 1.2."""
        found = self._other_line
        if found is None:
            return
        what = f"U+{ord(found[0]):04X}"
        if found[0] == "\ufeff":
            raise Misread(
                found.start(), f"{what} within the text is dropped by libyaml", "take it out"
            )
        raise Misread(
            found.start(),
            f"{what} ends a line in YAML 1.1 and is text in YAML 1.2, but not for libyaml",
            'write it as an escape in "quotes", or say -F yaml:1.1',
        )

    def look(self, event: Any) -> None:
        end = event.end_mark.index
        look = self._looks.get(type(event))
        if self._next_tight < end:
            self._check_gap(event.start_mark.index, end)
        elif (
            look is MisreadWatch._look_at_scalar
            and event.style not in _BLOCKS
            and event.value != "-"
            and event.anchor is None
            and not (self._flow and self._marks_keys)
        ):
            look = None  # nearly always: there is nothing to find
        if look is not None:
            look(self, event, event.start_mark.index, end)
        if end > self._end:
            self._end = end

    def _look_at_scalar(self, event: Any, start: int, end: int) -> None:
        if event.anchor is not None:
            self._check_anchor(start)
        if self._flow and self._marks_keys:
            self._check_key(start, end)
        style = event.style
        if style in _BLOCKS:
            self._look_at_block(event, start, end)
        elif not style and event.value == "-" and self._text[end : end + 1] in _CLOSE:
            raise Malformed("a dash that is no text: it needs quotes", start)

    def _look_at_start(self, event: Any, start: int, end: int) -> None:
        if event.anchor is not None:
            self._check_anchor(start)
        if self._flow and self._marks_keys:
            self._check_key(start, end)
        self._flow = bool(event.flow_style)
        column = self._inside[-1].column if self._flow else event.start_mark.column
        self._inside.append(_Collection(self._flow, column))

    def _look_at_end(self, *_: Any) -> None:
        self._inside.pop()
        self._flow = self._inside[-1].flow

    def _look_at_alias(self, _: Any, start: int, end: int) -> None:
        if self._flow and self._marks_keys:
            self._check_key(start, end)
        self._check_name(end)

    def _look_at_document_end(self, event: Any, *_: int) -> None:
        self._ended_openly = bool(event.explicit)

    def _check_anchor(self, start: int) -> None:
        anchor = _ANCHOR.match(self._text, start)
        if anchor is not None:
            self._check_name(anchor.end())

    def _check_name(self, end: int) -> None:
        """7.1, 6.9.2: a name goes on up to white space, or a bracket or comma."""
        behind = self._text[end : end + 1]
        if behind in _WHITE or (behind in _CLOSE and self._flow):
            return
        if behind in _CLOSE or behind in "[{":
            raise Malformed("white space is missing behind the name of an anchor", end)
        raise Misread(
            end,
            f"libyaml ends the name of an anchor at {behind!r}, which is a part of it",
            "give it a name of letters and digits, or a space behind it",
        )

    def _check_key(self, start: int, end: int) -> None:
        """7.3.3: a question mark begins text, unless white space stands behind it."""
        if self._text[start - 1 : start] == "?" and (start > self._end or end > start):
            raise Misread(
                start - 1,
                "libyaml takes the question mark for the mark of a key, and it is text",
                "put the text in quotes",
            )

    def _check_gap(self, start: int, end: int) -> None:
        """6.6: white space stands before a comment."""
        while self._next_tight < self._end:  # in what was read
            self._next_tight = next(self._tight, len(self._text))
        if self._next_tight >= start:
            return
        for found in _COMMENT.finditer(self._text, self._end, start):
            at = found.start()
            if at and self._text[at - 1] not in _WHITE and self._text[at - 1] != "\ufeff":
                raise Malformed("a comment that no white space stands before", at)
        while self._next_tight < end:
            self._next_tight = next(self._tight, len(self._text))

    def _look_at_block(self, event: Any, start: int, end: int) -> None:
        header = _HEADER.search(self._text, start)
        said = header[0] if header is not None else ""
        if header is not None and self._text[header.end() : header.end() + 1] == "#":
            raise Malformed("a comment that no white space stands before", header.end())
        behind = _NEXT.match(self._text, end)
        following = behind[1] if behind is not None else ""
        # 8.1.1.2, 9.2: that line is one of the text, or its end counts.
        counts = "+" in said or event.value[-1:] in (" ", "\t")
        if self._has_open_line and not following and counts:
            raise Misread(
                len(self._text),
                "libyaml drops the end of a text whose last line is white space",
                "end the last line, or take it out",
            )
        if following == "#" and behind is not None and not event.value.strip(" \n"):
            # 8.1.1.1: the first line that is not blank says how far a text is indented.
            at = behind.start(1)
            line = max(self._text.rfind(mark, 0, at) for mark in "\r\n")
            if at - line - 1 > self._inside[-1].column and not any(map(str.isdigit, said)):
                raise Misread(
                    at,
                    "libyaml takes for a comment what is the first line of a text",
                    "say how far it is indented, as in |1, or give it a first line",
                )

    def _check_directives(self, event: Any, start: int, end: int) -> None:
        """9.2: directives stand behind the mark that ends a document."""
        if not self._has_percent or not (event.version or event.tags):
            return
        if not self._ended_openly:
            raise Malformed('directives need a line "..." before them', start)
        found = _VERSION.search(self._text, start, end)
        if found is not None:
            raise Malformed("a version needs white space behind it", found.end())


def _has_open_line(text: str) -> bool:
    """Whether ``text`` ends with white space behind its last line end."""
    before = text.rstrip(" \t")
    return len(before) < len(text) and before[-1:] in ("", "\r", "\n")


@cache
def _looks() -> dict[type, Callable[[MisreadWatch, Any, int, int], None]]:
    """Event -> the method that looks at it. Not those of one watch, which would hold itself then,
    and its text."""
    from yaml import events

    return {
        events.ScalarEvent: MisreadWatch._look_at_scalar,
        events.SequenceStartEvent: MisreadWatch._look_at_start,
        events.MappingStartEvent: MisreadWatch._look_at_start,
        events.SequenceEndEvent: MisreadWatch._look_at_end,
        events.MappingEndEvent: MisreadWatch._look_at_end,
        events.AliasEvent: MisreadWatch._look_at_alias,
        events.DocumentStartEvent: MisreadWatch._check_directives,
        events.DocumentEndEvent: MisreadWatch._look_at_document_end,
    }
