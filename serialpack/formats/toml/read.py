"""TOML text to values, by the standard library's tomllib; what it drops silently is an error.

tomllib drops the digits of a second beyond microseconds, takes integers of any size (TOML
promises 64 bits), and takes the square of a key's length in time.
"""

from __future__ import annotations

import re
import tomllib
from codecs import BOM_UTF8
from typing import TYPE_CHECKING, Any, NoReturn

from serialpack.depth import MAX_DEPTH
from serialpack.formats.base import Difference
from serialpack.formats.losses.exact import Inexact, exact_float, not_read
from serialpack.formats.losses.utf8 import ENCODING_HINT, NO_UTF8
from serialpack.formats.shared.comments import blanked
from serialpack.formats.shared.document import Malformed
from serialpack.formats.shared.recursion import in_a_thread
from serialpack.literal import number as literal_number
from serialpack.values.equality import difference
from serialpack.values.kind_of import kind_of
from serialpack.values.kinds import DIGITS, ROOT, Loss, Path, Spelled, path_text, shown

if TYPE_CHECKING:
    from serialpack.formats.losses.marks import Marks

#: The calls within each other that tomllib makes for an array and for an inline table; and the most
#: of them: a thread of its own has Python's 1000, less a few.
ARRAY, TABLE = 2, 3
MAX_CALLS = 900

_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")

_PART = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?:^|[\[{{,\n])[ \t]*{_PART}(?:[ \t]*\.[ \t]*{_PART}){{{MAX_DEPTH}}}")

#: Digits of a second that Python's times have no room for, or text that looks like them.
_FINE = re.compile(r"(?<=:[0-9]{2}\.[0-9]{6})[0-9]*[1-9][0-9]*")
#: A date and time, or a time of day, up to its last digit.
_BEFORE = re.compile(r"(?:[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ])?[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]+\Z")
_LETTERS = str.maketrans("0123456789", "abcdefghij")

#: With so many brackets a text may be too deep for the caller's stack.
_DEEP = 100


def read(data: bytes, marks: Marks | None = None, *, literals: bool = False) -> dict[str, Any]:
    """The document in ``data``; Malformed, Unheld or RefusedError.

    ``marks``: what may be lost, and is noted there. ``literals``: as ``ValueFormat.literals``.
    """
    behind = len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0
    try:
        text = data[behind:].decode()
    except UnicodeDecodeError as error:
        raise Malformed(NO_UTF8, behind + error.start, ENCODING_HINT) from None
    # A key is on one line, and each of its parts takes a letter and a dot.
    if max(map(len, text.split("\n"))) > 2 * MAX_DEPTH and _LONG_KEY.search(text):
        _refuse("depth", f"a key of more than {MAX_DEPTH} parts")
    try:
        document = _loads(text, marks, literals=literals)
        _check_seconds(text, document, marks, literals=literals)
    except Malformed as bad:
        raise Malformed(bad.message, behind + len(text[: bad.at].encode())) from None
    _check(document)
    return document


def _refuse(kind: str, was: str, path: str = "$") -> NoReturn:
    raise not_read("TOML", Difference(0, path, was, "", kind)) from None


def _loads(text: str, marks: Marks | None, *, literals: bool) -> dict[str, Any]:
    """The document that tomllib reads from ``text``. Errors have their places in characters, not
    bytes."""

    def number(text: str) -> Any:
        if literals and text.lstrip("+-") not in ("nan", "inf"):
            return literal_number(text)
        try:
            return _float(text)
        except Inexact as lost:
            if marks is None or not marks.allows(lost):
                raise
            nearest: float = marks.lost_number(lost)
            return nearest

    try:
        if text.count("[") + text.count("{") > _DEEP:
            return in_a_thread(lambda: tomllib.loads(text, parse_float=number))
        return tomllib.loads(text, parse_float=number)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        match = _PLACE.search(message)
        at = len(text)
        if match is not None:
            message = message[: match.start()]
            if match[1]:
                at = _place(text, int(match[1]), int(match[2]))
        raise Malformed(message[0].lower() + message[1:], at) from None
    except Inexact as lost:
        _refuse(lost.kind, shown(lost.text))
    except RecursionError:
        _refuse("depth", "deeper than tomllib reads")
    except ValueError:  # from int()
        _refuse("huge-integer", "an integer in it")


def _place(text: str, line: int, column: int) -> int:
    start = 0
    for _ in range(line - 1):
        start = text.index("\n", start) + 1
    return start + column - 1


def _float(text: str) -> float:
    # The sign of a NaN means nothing in TOML.
    word = text.lstrip("+-")
    if word == "nan":
        return float(word)
    return float(text) if word == "inf" else exact_float(text)


def _check_seconds(
    text: str, document: dict[str, Any], marks: Marks | None, *, literals: bool
) -> None:
    """Unheld where tomllib has dropped digits of a time of ``document``; with ``marks`` a loss is
    noted.

    Such digits are replaced by letters, and the text is read again: texts and comments may hold
    those, a time may not.
    """
    if ":" not in text or _FINE.search(text) is None:
        return
    try:
        letters = _FINE.sub(lambda match: match[0].translate(_LETTERS), text)
        _loads(letters, marks, literals=literals)
    except Malformed:
        if marks is None or DIGITS not in marks.allowed:
            _refuse("digits", "a time with more digits than microseconds")
        _note_seconds(text, document, marks, literals=literals)


def _note_seconds(text: str, document: dict[str, Any], marks: Marks, *, literals: bool) -> None:
    """Note in ``marks`` the times that were cut to microseconds, as TOML says."""
    fine = list(_FINE.finditer(blanked(text)))
    # With another microsecond in the first of them, the time that differs is that one.
    last = fine[0].start() - 1
    other = text[:last] + ("1" if text[last] == "0" else "0") + text[last + 1 :]
    first = difference(document, _loads(other, marks, literals=literals))
    assert first is not None
    spelled = _BEFORE.search(text, 0, fine[0].end())
    assert spelled is not None
    was, became = (Spelled(text[spelled.start() : end]) for end in (spelled.end(), last + 1))
    marks.placed.append(Loss(DIGITS, len(fine), 0, first.value_path, shown(was), shown(became)))


def _check(document: dict[str, Any]) -> None:
    """Unheld for integers of more than 64 bits, and for what is nested too deeply to be read."""
    stack: list[tuple[Path, Any, int]] = [(ROOT, document, TABLE)]
    while stack:
        path, value, calls = stack.pop()
        if calls > MAX_CALLS:
            _refuse("depth", "deeper than tomllib reads")
        is_map = type(value) is dict
        for step, part in value.items() if is_map else enumerate(value):
            kind = type(part)
            if kind is int:
                if not -(1 << 63) <= part < 1 << 63:
                    _refuse(kind_of(part), shown(part), path_text((path, step)))
            elif kind is dict or kind is list:
                cost = TABLE if kind is dict else ARRAY
                stack.append(((path, step), part, calls + cost))
