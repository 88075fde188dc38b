"""JSON as people write it, made JSON: JSON5, comments, and documents one after another, with or
without commas between.

Source: https://spec.json5.org
"""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import NamedTuple

from serialpack.formats.base import Read
from serialpack.formats.json.found import begins_line, json_state
from serialpack.values.kinds import COMMENTS, Loss, Spelled, shown

_PIECE = 1 << 20

#: The tokens of JSON and JSON5. Much that is JSON already is one of them, all else comes alone. A
#: comma is JSON where no list ends behind it.
_TOKEN = re.compile(
    rb"""
    (?P<plain>(?:
        [ \t\r\n]++
        |"[^"\\\x00-\x1f]*+"
        |:
        |,(?=[ \t\r\n]*+["'\[{\w.+-])
        |-?[0-9]++(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?(?=[ \t\r\n,\]}])
        |(?:true|false|null)(?=[ \t\r\n,\]}])
    )++)
    |(?P<text>"[^"\\]*+(?:\\.[^"\\]*+)*+"|'[^'\\]*+(?:\\.[^'\\]*+)*+')
    |(?P<comment>//[^\r\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)
    |(?P<broken>["'].*+|/\*.*+)
    |(?P<wide>[\v\f]|\xc2\xa0|\xef\xbb\xbf|\xe2\x80[\xa8\xa9])
    |(?P<mark>[\[\]{}:,])
    |(?P<word>(?:(?!\xc2\xa0|\xe2\x80[\xa8\xa9])[^\s\[\]{}:,"'/])++)
    |(?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENING, _CLOSING = b"[{", b"]}"

#: What a text has that is several documents.
_SEVERAL = frozenset({"several", "listed"})

#: The most digits of a hexadecimal number that Python still writes as a decimal one, about.
_LONGEST = 3500

_NAME = re.compile(
    rb"(?:[A-Za-z_$]|[\x80-\xff]|\\u[0-9a-fA-F]{4})(?:[\w$]|[\x80-\xff]|\\u[0-9a-fA-F]{4})*+"
)
_NUMBER = re.compile(
    rb"([-+]?)(0[xX][0-9a-fA-F]+|Infinity|NaN|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
)
_BARE_DOT = re.compile(rb"\.(?=[eE]|$)")
_ESCAPE = re.compile(
    rb"""\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|\xe2\x80[\xa8\xa9]|0(?![0-9])|.)|\"|[\x00-\x09\x0b\x0c\x0e-\x1f]""",
    re.DOTALL,
)
#: Characters that JSON5 takes in a text as they are and JSON does not. No text has line ends.
_CONTROLS = frozenset(range(0x20)) - {0x0A, 0x0D}
_LINE_ENDS = (b"\n", b"\r", b"\r\n", b"\xe2\x80\xa8", b"\xe2\x80\xa9")
_NOT_LINES = re.compile(rb"[^\r\n]")


class Loose(NamedTuple):
    """How a text is read that begins as no JSON does.

    ``comments``, ``json5``, ``several``, ``listed``: whether it has comments, spellings of JSON5,
    documents one after another, commas between them. ``sound``: without these its begin is JSON.
    ``dropped``: the comments in that.
    """

    features: frozenset[str]
    sound: bool
    dropped: tuple[Loss, ...]

    @property
    def words(self) -> str:
        """What the text is read as, in words for people."""
        json = "JSON5" if self.features - _SEVERAL else "JSON"
        return f"a list of {json} values one after another" if self.several else json

    @property
    def several(self) -> bool:
        return not _SEVERAL.isdisjoint(self.features)


def loose_in(head: bytes, *, lines: bool, whole: bool) -> Loose | None:
    """How a text that begins with ``head`` and is no JSON is to be read; None for JSON, and for
    what has nothing in it that ``LooseJson`` makes JSON of.

    ``lines``: the text is said to be lines of JSON. ``whole``: ``head`` is all of it.
    """
    text = head.removeprefix(BOM_UTF8)
    if (lines and begins_line(text)) or json_state(text.strip()) != "no":
        return None
    reader = LooseJson(several=False)
    made = reader.made(text, last=whole)
    if not reader.features:
        return None
    if "listed" in reader.features and not _is_list(text, whole=whole):
        return None
    found = frozenset(reader.features)
    sound = not _SEVERAL.isdisjoint(found) or json_state(made.strip()) != "no"
    return Loose(found, sound, tuple(reader.losses))


def _is_list(text: bytes, *, whole: bool) -> bool:
    """Whether a text with commas between its values is a list but for the brackets around it, of
    lists or maps: a table has commas, too."""
    made = b"[" + LooseJson(several=True).made(text, last=whole)
    state = json_state(made + b"]" * whole)
    return text.lstrip().startswith((b"{", b"[")) and state == ("whole" if whole else "part")


class LooseJson:
    """Makes JSON of a text, piece by piece, and tells the comments that it had.

    What is not even JSON5 stays as it is, for its reader to complain of. Lines stay lines.
    """

    def __init__(self, *, several: bool) -> None:
        """``several``: documents one after another are to be the elements of an array."""
        self._several = several
        #: What was found that JSON has not.
        self.features: set[str] = set()
        self._comments = 0
        self._first = ("", "")
        #: How many lines stand before the piece.
        self._lines = 0
        self._open = bytearray()
        #: The last token that is no white space: a bracket, a mark, or "v" for a value.
        self._before = b""
        self._out: list[bytes] = []
        #: Where a comma stands, in what is to be given next, that may be the last one of its list.
        self._comma: int | None = None
        self._left = b""

    def pieces(self, read: Read) -> Iterator[bytes]:
        """JSON of what ``read`` gives."""
        if self._several:
            yield b"["
        while True:
            # What is left over is looked at again, each time with as much that is new: else a long
            # token would take time by the square of its length.
            data = read(max(_PIECE, len(self._left)))
            yield self.made(data, last=not data)
            if not data:
                break
        if self._several:
            yield b"]"

    @property
    def losses(self) -> list[Loss]:
        """The comments so far."""
        if not self._comments:
            return []
        return [Loss(COMMENTS, self._comments, 0, *self._first, "")]

    def made(self, data: bytes, *, last: bool) -> bytes:
        """JSON of the next piece, but for a token at its end that may go on; ``last``: none
        does."""
        data = self._left + data
        self._left = b""
        for found in _TOKEN.finditer(data):
            kind, token = str(found.lastgroup), found[0]
            if not last and found.end() == len(data) and kind not in ("plain", "mark"):
                self._left = data[found.start() :]
                break
            if kind == "comment" and not self._comments:
                line = self._lines + data.count(b"\n", 0, found.start()) + 1
                text = " ".join(token.decode("utf-8", "replace").split())
                self._first = f"line {line}", shown(Spelled(text))
            getattr(self, f"_{kind}")(token)
        self._lines += data.count(b"\n", 0, len(data) - len(self._left))
        if last and self._comma is not None and not self._open:
            self._drop_comma()
        if self._comma is None or last:
            out, self._out = self._out, []
        elif self._comma:
            out, self._out = self._out[: self._comma], self._out[self._comma :]
            self._comma = 0
        else:
            return b""
        return b"".join(out)

    def _plain(self, token: bytes) -> None:
        if token[:1] == b"," and not self._open and self._before == b"v":
            self.features.add("listed")
        if end := token.rstrip(b" \t\r\n")[-1:]:
            self._comma, self._before = None, end if end in b":," else b"v"
        self._out.append(token)

    def _wide(self, token: bytes) -> None:
        self.features.add("json5")
        self._out.append(b" " * len(token))

    def _comment(self, token: bytes) -> None:
        self.features.add("comments")
        self._comments += 1
        self._out.append(_NOT_LINES.sub(b" ", token))

    def _broken(self, token: bytes) -> None:
        self._value(token)

    _other = _broken

    def _word(self, token: bytes) -> None:
        is_key = self._open[-1:] == b"{" and self._before in (b"{", b",")
        made = _as_key(token) if is_key else _as_number(token)
        if made != token:
            self.features.add("json5")
        self._value(made)

    def _text(self, token: bytes) -> None:
        is_plain = token[:1] == b'"' and b"\\" not in token and _CONTROLS.isdisjoint(token)
        made = token if is_plain else _as_text(token)
        if made != token:
            self.features.add("json5")
        self._value(made)

    def _value(self, token: bytes) -> None:
        self._comma, self._before = None, b"v"
        self._out.append(token)

    def _mark(self, token: bytes) -> None:
        if token in _OPENING:
            if not self._open and self._before == b"v":
                self._next_document()
            self._open += token
        elif token in _CLOSING:
            if self._comma is not None:
                self._drop_comma()
            del self._open[-1:]
        is_last = token == b"," and self._before == b"v"
        if is_last and not self._open:
            self.features.add("listed")
        self._comma = len(self._out) if is_last else None
        self._before = b"v" if token in _CLOSING else token
        self._out.append(token)

    def _drop_comma(self) -> None:
        """Take away the comma behind the last of a list, or of all documents."""
        self.features.add("json5")
        if self._comma is not None:
            self._out[self._comma] = b" "

    def _next_document(self) -> None:
        self.features.add("several")
        if not self._several:
            return
        if self._out and self._out[-1].isspace():
            self._out[-1] = b"," + self._out[-1]
        else:
            self._out.append(b",")


def _as_key(word: bytes) -> bytes:
    """A key without quotes in quotes; anything else as it is."""
    return b'"%b"' % word if _NAME.fullmatch(word) else word


def _as_number(word: bytes) -> bytes:
    """A number as JSON spells it; anything else as it is."""
    found = _NUMBER.fullmatch(word)
    if found is None:
        return word
    sign, digits = found[1].removeprefix(b"+"), found[2]
    if digits[:2] in (b"0x", b"0X"):
        if len(digits) > _LONGEST:
            return word
        return sign + str(int(digits, 16)).encode()
    digits = b"0" + digits if digits.startswith(b".") else digits
    return sign + _BARE_DOT.sub(b".0", digits)


def _as_text(token: bytes) -> bytes:
    """A text in double quotes, with the escapes of JSON; behind it the line ends that were in
    it."""
    lines = 0

    def spelled(found: re.Match[bytes]) -> bytes:
        nonlocal lines
        if found[0] == b'"':
            return b'\\"'
        escape = found[0].removeprefix(b"\\")
        if escape in _LINE_ENDS:
            lines += 1
            return b""
        if escape[:1] == b"x" and len(escape) > 1:
            return b"\\u00" + escape[1:]
        if escape in (b"v", b"0"):
            return b"\\u000b" if escape == b"v" else b"\\u0000"
        if escape[:1] in b'"\\/bfnrtux123456789':
            return found[0]
        return b"\\u%04x" % escape[0] if escape[0] in _CONTROLS else escape

    return b'"' + _ESCAPE.sub(spelled, token[1:-1]) + b'"' + b"\n" * lines
