"""The style of a JSON text: detected in it, stored in few bytes.

A style is a map; what is left out has its default, so that compact JSON is the empty map.
"d", "a", "m", "n" below stand for one document, an array, a map split at its members, NDJSON.

| key | meaning | default |
| --- | --- | --- |
| k | what the records are: "a" or "m" (JSON only) | one document |
| h | the text before the first record | "[" or "{" (indented: and the base), else "" |
| j | the text between two records | the item separator (indented: and the base); n: newline |
| t | the text behind the last record of a block | the bracket that closes h; n: newline; d: "" |
| s | within records, [item, key] separators; 1: [", ", ": "] | [",", ":"]; indented [",", ": "] |
| n | indent: number of spaces, or the text of one level | not indented |
| b | base: the text that lines of a record begin with | a, m: one level; else "" |
| x | escapes, added: 1 all but ASCII, 2 hex in capitals, 4 "/", 8 "<", ">" and "&" | 0 |
| f | 1: numbers as Python writes them (1e-05, 1e+16), else 0.00001, 1e16 | 0 |
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from dataclasses import dataclass, replace

from serialpack.formats.base import Style
from serialpack.formats.json.parse import CLOSING, OPENING, WHITE, frame
from serialpack.stages.stage import Buffer
from serialpack.values.structure import Structure

_SAMPLE = 64 << 10
#: Strings, and what begins with the quote of one that does not end.
_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+"|(".*+)', re.DOTALL)
_INNER = re.compile(rb"[\[{](?:\r?\n)([ \t]*)[^ \t\r\n]")
_KEY = re.compile(rb'""[ \t]*:[ \t]*')
_COLON = re.compile(rb'""([ \t]*:[ \t]*)[^ \t\r\n]')
# White space is looked through from where it begins, not from each of its characters.
_COMMA = re.compile(rb"((?:(?<![ \t])[ \t]*+)?,[ \t]*)(?=([^ \t\r\n])|\r?\n)")
_MARK = re.compile(rb"[\[{]|[\]}]|(?:(?<![ \t\r\n])[ \t\r\n]*+)?,[ \t\r\n]*")
_UNICODE = re.compile(rb"\\u")  # found in half the time that ``in`` takes
_NOT_ASCII = re.compile(rb"\\u(?:00[89a-fA-F]|0[1-9a-fA-F]|[1-9a-fA-F])")
_LETTER = re.compile(rb"\\u[0-9]{0,3}([a-fA-F])")
_PYTHON_FLOAT = re.compile(rb"e(?:-0|\+)[0-9]")
#: Numbers that the two ways of writing them spell differently, or what looks like one within text.
#: Behind a number is no letter or hyphen: else each UUID in hexadecimal with 2e3 in it was one.
#: Three patterns, each of which begins with plain characters: as one they take ten times as long.
_FLOATS_DIFFER = (
    re.compile(rb"e(?<=[0-9]e)[-+]?[0-9]++(?![^,\s\]}])"),
    re.compile(rb"0\.0000(?<![0-9]0\.0000)[0-9]"),
    re.compile(rb"\.0(?<=[0-9]{17}\.0)(?![0-9])"),
)
_HTML = re.compile(rb"\\u00(?:3[cCeE]|26)")

ASCII, CAPITALS, SLASH, HTML = 1, 2, 4, 8
INDENTED = (",", ": ")
COMPACT = (",", ":")
SPACED = (", ", ": ")


@dataclass(frozen=True)
class JsonStyle:
    """A style with nothing left out."""

    kind: Structure
    separators: tuple[str, str] = COMPACT
    indent: str = ""
    base: str = ""
    escapes: int = 0
    python_floats: bool = False
    head: str = ""
    joint: str = ""
    tail: str = ""

    @property
    def own_joint(self) -> str:
        """What an engine writes between the elements of an array of this style."""
        if self.kind == Structure.SEQUENCE:
            return "\n"
        if self.indent:
            return self.separators[0] + "\n" + self.base
        return self.separators[0]

    def defaults(self) -> JsonStyle:
        """This style with the default text around its records."""
        if self.kind in "nd":
            end = "\n" if self.kind == Structure.SEQUENCE else ""
            return replace(self, head="", joint=self.own_joint, tail=end)
        line = "\n" if self.indent else ""
        return replace(
            self,
            head=OPENING[self.kind] + (line + self.base if line else ""),
            joint=self.own_joint,
            tail=line + CLOSING[self.kind],
        )

    def stored(self) -> Style:
        """The map that is stored."""
        found: Style = {}
        if self.kind in "am":
            found["k"] = self.kind.value
        default = self.defaults()
        for key, mine, usual in (
            ("h", self.head, default.head),
            ("j", self.joint, default.joint),
            ("t", self.tail, default.tail),
            ("b", self.base, _base(self.kind, self.indent)),
            ("x", self.escapes, 0),
            ("f", int(self.python_floats), 0),
        ):
            if mine != usual:
                found[key] = mine
        if self.separators != (INDENTED if self.indent else COMPACT):
            found["s"] = 1 if self.separators == SPACED else list(self.separators)
        if self.indent:
            spaces = len(self.indent)
            found["n"] = spaces if self.indent == " " * spaces else self.indent
        return found


def changes(style: Style, parsed: JsonStyle) -> Style:
    """What is to be put over ``style`` so that it means ``parsed``."""
    stored = parsed.stored()
    full: Style = {
        "k": parsed.kind.value,
        "h": parsed.head,
        "j": parsed.joint,
        "t": parsed.tail,
        "s": list(parsed.separators),
        "n": parsed.indent,
        "b": parsed.base,
        "x": parsed.escapes,
        "f": int(parsed.python_floats),
    }
    found = {key: value for key, value in stored.items() if style.get(key) != value}
    return found | {key: full[key] for key in style if key not in stored and key in full}


def floats_differ(data: Buffer) -> bool:
    """Whether there may be a number in ``data`` that the two ways of writing them spell
    differently; False is sure."""
    return any(pattern.search(data) for pattern in _FLOATS_DIFFER)


def _base(kind: Structure, indent: str) -> str:
    return indent if kind in "am" else ""


_STRUCTURES: dict[str, Structure] = {each.value: each for each in Structure}


def style_of(style: Style, kind: Structure) -> JsonStyle:
    """The style that a stored map means; ValueError where it is none."""
    try:
        kind = _STRUCTURES.get(style.get("k", kind), Structure.DOCUMENT)
        indent = style.get("n", "")
        indent = " " * min(indent, 64) if isinstance(indent, int) else str(indent)
        separators = style.get("s", INDENTED if indent else COMPACT)
        item, key = SPACED if separators == 1 else separators
        parsed = JsonStyle(
            kind,
            separators=(str(item), str(key)),
            indent=indent,
            base=str(style.get("b", _base(kind, indent))),
            escapes=int(style.get("x", 0)),
            python_floats=bool(style.get("f", 0)),
        ).defaults()
        parsed = replace(
            parsed,
            head=str(style.get("h", parsed.head)),
            joint=str(style.get("j", parsed.joint)),
            tail=str(style.get("t", parsed.tail)),
        )
        if _too_long(parsed):
            raise ValueError("not a JSON style: too long")
        return parsed
    except (TypeError, AttributeError) as error:
        raise ValueError(f"not a JSON style: {error}") from None


def detect_style(data: bytes, kind: Structure, *, first: bool, last: bool) -> JsonStyle:
    """The style of a block's text, guessed mostly from its first bytes; never fails.

    ``kind``: "n" for NDJSON; for JSON any other, it is found out.
    """
    if kind == Structure.SEQUENCE:
        start = len(BOM_UTF8) if first and data.startswith(BOM_UTF8) else 0
        end = len(data.rstrip(b" \t\r\n"))
    else:
        kind, start, end = frame(data, first=first, last=last)
    head = data[:start] if first else b""
    size = _SAMPLE if kind in "am" else _SAMPLE // 4  # two records must be in it, or a part of one
    sample = _emptied(data[start : min(end, start + size)])
    base, indent = "", ""
    value = _KEY.match(sample) if kind == Structure.MAP else None
    if inner := _INNER.match(sample, value.end() if value else 0):
        outer = _last_line(head) if kind in "am" else b""
        if inner[1].startswith(outer) and len(inner[1]) > len(outer):
            base, indent = outer.decode(), inner[1][len(outer) :].decode()
    elif kind in "am" and not sample.startswith((b"{", b"["), value.end() if value else 0):
        base = indent = _last_line(head).decode()  # a first record that has no lines of its own
    style = JsonStyle(
        kind,
        separators=_separators(sample, indented=bool(indent)),
        indent=indent,
        base=base,
        escapes=_escapes(data),
        python_floats=_PYTHON_FLOAT.search(sample) is not None,
        head=head.decode("utf-8", "replace"),
        tail=data[end:].decode("utf-8", "replace"),
    )
    joint = _joint(data, sample, style, start)
    return _clipped(replace(style, joint=style.own_joint if joint is None else joint))


#: The longest text within records (a separator, an indent, a base), and around them, that a
#: style may hold, in characters: a few stored bytes must not ask for gigabytes of text.
MOST_WITHIN, MOST_AROUND = 64, 1024


def _too_long(style: JsonStyle) -> bool:
    within = (*style.separators, style.indent, style.base)
    around = (style.head, style.joint, style.tail)
    return max(map(len, within)) > MOST_WITHIN or max(map(len, around)) > MOST_AROUND


def _clipped(style: JsonStyle) -> JsonStyle:
    """``style``, or a plain one of its kind where it is too long to be stored."""
    return JsonStyle(style.kind).defaults() if _too_long(style) else style


def tail_of(data: Buffer, kind: Structure) -> str:
    """What stands behind the last record of a block; in short, where that is too long to store."""
    near = bytes(data[-4096:])
    if not near.strip(WHITE):
        near = bytes(data)
    bare = near.rstrip(WHITE)
    if kind in "am":
        if len(bare) > 1 and bare[-1] in b",]}":
            bare = bare[:-1].rstrip(WHITE)
        if len(near) == len(data):  # a block that has no record: its bracket is the head
            bare = bare or near[: len(near) - len(near.lstrip(WHITE)) + 1]
    tail = near[len(bare) :]
    if len(tail) > MOST_AROUND:
        tail = b"\n" if kind == Structure.SEQUENCE else tail.strip(WHITE)
    return tail.decode("utf-8", "replace")


def _emptied(sample: bytes) -> bytes:
    """Text with nothing in its strings; one that is not whole stays."""
    *parts, rest = _STRINGS.split(sample)
    if parts and parts[-1]:
        return b'""'.join(parts[::2]) + parts[-1]
    return b'""'.join([*parts[::2], rest])


def _last_line(head: bytes) -> bytes:
    _, newline, line = head.rpartition(b"\n")
    return line if newline and not line.strip(b" \t") else b""


def _separators(sample: bytes, *, indented: bool) -> tuple[str, str]:
    colon = _COLON.search(sample)
    comma = next((m for m in _COMMA.finditer(sample) if indented or m[2]), None)
    key = colon[1].decode() if colon else ": " if indented or (comma and comma[1] == b", ") else ":"
    if comma is None:
        return ("," if indented or key != ": " else ", "), key
    return comma[1].decode(), key


def _escapes(data: bytes) -> int:
    """All or none of a kind are escaped in a text that has a style: the first one tells."""
    begin = data.find(b"\\")
    if begin < 0:
        return 0
    end = data.rfind(b"\\") + 6
    escapes = 0
    slash = data.find(b"/")
    before = data[max(slash - 1024, 0) : max(slash, 0)]
    if (len(before) - len(before.rstrip(b"\\"))) % 2:
        escapes |= SLASH
    if _UNICODE.search(data, begin, end):
        if data.isascii() and _NOT_ASCII.search(data, begin, end):
            escapes |= ASCII
        letter = _LETTER.search(data, begin, end)
        if letter and letter[1].isupper():
            escapes |= CAPITALS
        if not any(mark in data for mark in (b"<", b">", b"&")) and _HTML.search(data, begin, end):
            escapes |= HTML
    return escapes


def _joint(data: bytes, sample: bytes, style: JsonStyle, start: int) -> str | None:
    """What stands between the first two records; None where there are no two in the sample."""
    if style.kind == Structure.SEQUENCE:
        newline = data.find(b"\n", start)
        return None if newline < 0 else "\r\n" if data[newline - 1 : newline] == b"\r" else "\n"
    if style.kind == Structure.DOCUMENT:
        return None
    depth = 0
    for mark in _MARK.finditer(sample):
        if mark[0] in b"[{":
            depth += 1
        elif mark[0] in b"]}":
            depth -= 1
        elif depth == 0:
            return mark[0].decode()
    return None
