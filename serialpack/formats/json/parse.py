"""JSON text to values: a fast way, and a strict way that knows every place.

The fast way is msgspec: strict in syntax, exact in integers of any size and in doubles. What it
does not take (lone surrogates, an error) goes the strict way, on the standard library's scanner,
which says where the error is and why a value cannot be held.
"""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from serialpack.depth import MAX_DEPTH, json_depth
from serialpack.errors import SyntaxInputError
from serialpack.formats.base import Difference, SourceBlock, depth_loss
from serialpack.formats.losses.utf8 import ENCODING_HINT, NO_UTF8
from serialpack.formats.shared.document import EMPTY, Malformed
from serialpack.stages.stage import Buffer
from serialpack.values.structure import Structure

#: What stands before and behind the records of a block, by what these are.
OPENING = {Structure.ARRAY: "[", Structure.MAP: "{", Structure.DOCUMENT: ""}
CLOSING = {Structure.ARRAY: "]", Structure.MAP: "}", Structure.DOCUMENT: ""}

WHITE = b" \t\n\r"
_WHITE = re.compile(r"[ \t\n\r]*+")
_BLANK = re.compile(rb"[ \t\n\r]*+")
#: A key, and what stands before its value.
MEMBER = re.compile(rb'[ \t\n\r]*+"(?:[^"\\]++|\\.)*+"[ \t\n\r]*+:', re.DOTALL)
_CONSTANT = re.compile(r'"(?:[^"\\]++|\\.)*+"|(NaN|-?Infinity)', re.DOTALL)

#: Turns text at a position into a value and the position behind it.
Scanner = Callable[[str, int], tuple[Any, int]]


class JsonFrame(NamedTuple):
    """A block of a JSON document, taken apart: its records stand in ``data[start:end]``."""

    kind: Structure
    start: int
    end: int


def kind_of(data: bytes, *, first: bool, last: bool) -> Structure:
    """What the records of a block are, told from its brackets; Malformed where these cannot be."""
    if not first:
        return Structure.MAP if MEMBER.match(data) else Structure.ARRAY
    begin = data.removeprefix(BOM_UTF8)[:4096].lstrip(WHITE) or data.lstrip(WHITE)
    if begin.startswith(b"["):
        return Structure.ARRAY
    return Structure.MAP if begin.startswith(b"{") and not last else Structure.DOCUMENT


def frame(data: bytes, *, first: bool, last: bool) -> JsonFrame:
    """Where the records stand between what comes before and behind them."""
    kind = kind_of(data, first=first, last=last)
    start, end = 0, before_white(data, len(data))
    if first:
        start = len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0
        start = behind_white(data, start, len(data))
        if kind != Structure.DOCUMENT:
            start = behind_white(data, start + 1, len(data))
    if kind != Structure.DOCUMENT and end and data[end - 1] in b",]}":
        end = before_white(data, end - 1)
    return JsonFrame(kind, min(start, end), end)


def behind_white(data: Buffer, at: int, end: int) -> int:
    """Where the white space that begins at ``at`` ends, at ``end`` at the latest."""
    match = _BLANK.match(data, at, end)
    assert match
    return match.end()


def before_white(data: bytes | bytearray, at: int) -> int:
    """Where the white space that ends at ``at`` begins."""
    size = 64
    while at:
        start = max(at - size, 0)
        bare = len(data[start:at].rstrip(WHITE))
        if bare:
            return start + bare
        at, size = start, 4 * size
    return 0


def too_deep(data: bytes, record: int = 0, most: int = MAX_DEPTH) -> Difference | None:
    """What is lost of the first record that is nested more deeply than ``most``, None where none
    is. Malformed where one is and its brackets stay open."""
    depth, still_open = json_depth(data)
    if depth <= most:
        return None
    if still_open > 0:
        raise Malformed("the text ends too early", len(data.decode("utf-8", "replace")))
    return depth_loss(record)


class UnheldNumber(Exception):
    """A number that Python turns into another one, or into none."""


def _refuse_constant(name: str) -> Any:
    raise _Constant(f"{name} is not JSON", -1)


class _Constant(Malformed):
    """NaN or an infinity."""


class _Second(Malformed):
    """A value behind the only one."""

    def __init__(self, at: int) -> None:
        super().__init__("a second value where the end was expected", at)


def _finite(text: str) -> float:
    value = float(text)
    if value - value != 0:
        raise UnheldNumber
    return value


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UnheldNumber from None


def scanner_with(**hooks: Any) -> Scanner:
    """The standard library's scanner, which has ``hooks`` make numbers and objects."""
    decoder: Any = json.JSONDecoder(**{"parse_constant": _refuse_constant, **hooks})
    scanner: Scanner = decoder.scan_once
    return scanner


@cache
def values_scanner() -> Scanner:
    """A scanner to Python values, none of them changed in kind; UnheldNumber where Python has
    none."""
    return scanner_with(parse_float=_finite, parse_int=_whole)


@cache
def strict_scanner() -> Scanner:
    """A scanner to a tree that keeps all that the text says.

    An object is ``("o", [(key, value), ...])``, a number ``("i", text)`` or ``("f", text)``, so
    that ``==`` never takes one kind for another.
    """
    return scanner_with(
        parse_float=lambda text: ("f", text),
        parse_int=lambda text: ("i", text),
        object_pairs_hook=lambda pairs: ("o", pairs),
    )


def _scan(scanner: Scanner, text: str, at: int) -> tuple[Any, int]:
    try:
        return scanner(text, at)
    except StopIteration as stop:
        message = "expected a value" if text.strip() else EMPTY
        raise Malformed(message, int(stop.value)) from None
    except json.JSONDecodeError as error:
        raise Malformed(_said(error, text), error.pos) from None
    except _Constant as bad:
        bad.at = next((m.start(1) for m in _CONSTANT.finditer(text, at) if m[1]), at)
        raise


def _said(error: json.JSONDecodeError, text: str) -> str:
    """What the standard library says is wrong, without the words that a place would follow."""
    if error.msg.startswith(_CONTROL):
        is_line_end = text[error.pos] in "\r\n"
        return "a text goes over the end of its line" if is_line_end else _CONTROL_SAID
    return error.msg[0].lower() + error.msg[1:].removesuffix(" starting at")


#: How the standard library begins its words for a control character in a text, and ours.
_CONTROL, _CONTROL_SAID = "Invalid control character", "a control character in a text"

#: What it says of a comma behind the last one, from Python 3.13 on, and at the comma; and of what
#: stands in place of a key.
_TRAILING, _NO_KEY = "trailing comma", "double quotes"


def _skip(text: str, at: int) -> int:
    match = _WHITE.match(text, at)
    assert match
    return match.end()


def scan_document(text: str, at: int, scanner: Scanner) -> Any:
    """The one value in ``text[at:]``; or Malformed."""
    value, behind = _scan(scanner, text, _skip(text, at))
    behind = _skip(text, behind)
    if behind < len(text):
        raise _Second(behind)
    return value


def scan_block(
    text: str, kind: Structure, scanner: Scanner, *, first: bool, last: bool
) -> Iterator[Any]:
    """The records of a block of a JSON document, strictly; Malformed where it breaks the syntax.

    A member of a map is given as an object of one member.
    """
    at = _skip(text, int(first and text.startswith("\ufeff")))
    if kind == Structure.DOCUMENT:
        yield scan_document(text, at, scanner)
        return
    if first:
        at = _skip(text, at + 1)
    pairs = scanner is strict_scanner()
    count, comma = 0, False
    while at < len(text):
        if text[at] == CLOSING[kind] and not comma and (first or count):
            at = _skip(text, at + 1)
            if at < len(text):
                raise _Second(at)
            return
        if count and not comma:
            raise Malformed(f"expected , or {CLOSING[kind]}", at)
        if kind == Structure.ARRAY:
            record, at = _scan(scanner, text, at)
        else:
            key, value, at = _member(text, at, scanner)
            record = ("o", [(key, value)]) if pairs else {key: value}
        yield record
        count += 1
        at = _skip(text, at)
        comma = text.startswith(",", at)
        if comma:
            at = _skip(text, at + 1)
    if (count and not comma) or (last and (first or count)):
        raise Malformed("the text ends too early", len(text))


def _member(text: str, at: int, scanner: Scanner) -> tuple[str, Any, int]:
    if not text.startswith('"', at):
        raise Malformed("expected a key in double quotes", at)
    key, at = _scan(scanner, text, at)
    at = _skip(text, at)
    if not text.startswith(":", at):
        raise Malformed("expected :", at)
    value, at = _scan(scanner, text, _skip(text, at + 1))
    return key, value, at


def text_of(block: SourceBlock, data: bytes) -> str:
    """The characters of a block; SyntaxInputError where it is not UTF-8."""
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError as error:
        raise place_of(block, data[: error.start].decode(), NO_UTF8, ENCODING_HINT) from None


def place_of(
    block: SourceBlock, before: str, message: str, hint: str | None = None
) -> SyntaxInputError:
    """The error behind the text ``before`` of a block, with its place in the whole source."""
    newlines = before.count("\n")
    column = len(before) - before.rfind("\n") if newlines else block.column + len(before) + 1
    known = block.line >= 0 or block.index == 0
    return SyntaxInputError(
        f"not valid JSON: {message}",
        offset=block.offset + len(before.encode()),
        line=max(block.line, 0) + newlines + 1 if known else None,
        column=column if known else None,
        hint=hint,
    )


def failed(block: SourceBlock, text: str, bad: Malformed) -> SyntaxInputError:
    """The error for a block whose ``text`` is no JSON. It names what the text is, where that is
    known."""
    at = len(text) if bad.at is None else bad.at
    message, hint = bad.message, None
    if isinstance(bad, _Constant):
        hint = "--to takes --lossy nan, which reads NaN and infinities as floats"
    elif isinstance(bad, _Second) and _CONTAINER.match(text, at):
        message = "a second value behind the first"
        hint = _MADE_JSON if block.offset + at < LOOKED_AT else _JQ
    elif (what := _json5(text, at, message)) is not None:
        message = f"{what}, which JSON5 has and JSON has not"
        hint = _MADE_JSON if block.offset + at < LOOKED_AT else _PYJSON5
    elif _OF_PYTHON.match(text, at):
        message = "a word of Python, which JSON has not"
        hint = _LITERALS
    return place_of(block, text[:at], message, hint)


#: Bytes of a text in which a conversion looks for what ``loose`` makes JSON of.
LOOKED_AT = 64 << 10

_MADE_JSON = "serialpack unpack -F json FILE -o NEW.json makes JSON of it"
_JQ = "jq -c . FILE writes each on a line (integers beyond 2^53 rounded), --from ndjson reads these"
_PYJSON5 = "pyjson5 --as-json FILE writes JSON (pip install json5)"

_CONTAINER = re.compile(r"[{\[]")

#: What Python's own text of values has, and what makes JSON of that, of one or of several.
_OF_PYTHON = re.compile(r"(?:None|True|False)\b")
_LITERALS = (
    "python3 -c 'import ast,json,sys; [print(json.dumps(ast.literal_eval(e.value)))"
    " for e in ast.parse(sys.stdin.read()).body]' <FILE >NEW.json makes JSON of it"
)


def _json5(text: str, at: int, message: str) -> str | None:
    """Which spelling of JSON5 stands in ``text`` at the error ``message``; None where none is
    known."""
    if text.startswith(("//", "/*"), at):
        return "a comment"
    if message == _CONTROL_SAID:
        return message
    if _TRAILING in message:
        return "a trailing comma"
    here = text[at : at + 1]
    if here in ("]", "}") and text[:at].rstrip().endswith(","):
        before = text[:at].rstrip()[:-1].rstrip()
        return "a trailing comma" if before and before[-1] not in "[{,:" else None
    if here == "'":
        return "a text in single quotes"
    if _NO_KEY in message and (here.isalpha() or here in ("_", "$")):
        return "a key without quotes"
    if here in ("x", "X") and text[at - 1 : at] == "0":
        return "a hexadecimal number"
    return "a number that begins with + or ." if _NUMBER5.match(text, at) else None


_NUMBER5 = re.compile(r"[+.][0-9]")
