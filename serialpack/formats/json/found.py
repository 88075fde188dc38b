"""Tells by its beginning whether a text is JSON, lines of JSON (NDJSON), or neither."""

import json
import re
from codecs import BOM_UTF8
from functools import cache

#: The white space of JSON; and what values begin and end with, by which they are told.
_WHITE = b" \t\r\n"
_BEGINS, _ENDS = (b"{", b"["), (b"}", b"]")
_SCALARS = tuple(bytes([each]) for each in b'"-0123456789tfn')


def json_kind(head: bytes, named: str | None = None) -> str | None:
    """The format of a text that begins so, where it is JSON as far as it is there, and begins a
    container.

    ``named``: the one of the two that the file's name says, unless the text is clearly in the
    other.
    """
    if named == "json":
        text = head.removeprefix(BOM_UTF8).strip(_WHITE)
        return "ndjson" if _are_lines(text, scalars=True) else "json"
    found = _kind(head)
    if named == "ndjson" and found == "json" and not begins_line(head):
        return "json"
    return named or found


def _kind(head: bytes) -> str | None:
    text = head.removeprefix(BOM_UTF8).strip(_WHITE)
    if not text.startswith(_BEGINS):
        return None
    if json_state(text) != "no":
        return "json"
    return "ndjson" if _are_lines(text) else None


def _are_lines(text: bytes, *, scalars: bool = False) -> bool:
    """Whether ``text`` begins with two lines of JSON, or with one and what may be the next: then it
    is no JSON itself. ``scalars``: the first line need not be a list or a map."""
    first = text[: text.find(b"\n") + 1].rstrip(_WHITE)  # empty where no line ends
    container = first.startswith(_BEGINS) and first.endswith(_ENDS)
    if not (container or (scalars and first.startswith(_SCALARS))):
        return False
    lines = [line for each in text.split(b"\n", 16)[:16] if (line := each.strip(_WHITE))]
    return len(lines) > 1 and json_state(lines[0]) == "whole" and json_state(lines[1]) != "no"


def begins_line(head: bytes) -> bool:
    """Whether the first line of ``head`` is a value, or may go on to be one behind ``head``."""
    line, newline, _ = head.removeprefix(BOM_UTF8).lstrip().partition(b"\n")
    return not newline or json_state(line.strip()) == "whole"


#: What a literal, a number or an escape may look like where the text breaks off within it.
_UNFINISHED = re.compile(r"[a-z]{0,4}|-?[0-9]*[.eE]?[-+]?|\\?u?[0-9a-fA-F]{0,4}")


@cache
def _decoder() -> json.JSONDecoder:
    """A decoder that keeps integers as text: Python turns no more than 4300 digits into one."""
    return json.JSONDecoder(parse_int=str)


def json_state(text: bytes) -> str:
    """Whether text is a "whole" JSON value, the beginning of one ("part") or neither ("no")."""
    # The standard library's: msgspec would do it faster than it is imported, for a small file.
    decoded = text.decode("utf-8", "replace")
    try:
        _, end = _decoder().raw_decode(decoded)
    except RecursionError:
        return "part"
    except json.JSONDecodeError as error:
        unfinished = _UNFINISHED.fullmatch(decoded, error.pos) or "Unterminated" in error.msg
        return "part" if unfinished else "no"
    return "whole" if end == len(decoded) else "no"
