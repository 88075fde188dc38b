"""What a file is by its content, read as each format that it may be in.

Asked only after ``detect``: where name and first bytes do not tell, or the content cannot be what
the name says. Only what is sure is taken: one format reads it, and no other that it might be in.
"""

import re
from codecs import BOM_UTF8
from io import BytesIO
from typing import NamedTuple

from serialpack.detection.detect import (
    ADDRESS,
    HEAD,
    AsFound,
    detect,
    is_binary,
    may_be_utf8,
    not_converted,
    told,
)
from serialpack.errors import MissingLibraryError, SerialpackError, SyntaxInputError
from serialpack.formats import FORMATS, Declaration
from serialpack.formats.base import Unheld, ValueFormat
from serialpack.formats.bson.found import may_be_bson
from serialpack.formats.csv.dialects import below_comments
from serialpack.formats.csv.tokens import rows_of
from serialpack.formats.foreign import known_text
from serialpack.formats.json.found import json_kind, json_state
from serialpack.formats.json.loose import loose_in
from serialpack.formats.shared.document import Malformed
from serialpack.values.structure import Structure

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

#: A line of YAML that is not indented: a key of plain characters or in quotes, an element, a mark.
_KEY = r"(?:[A-Za-z_][\w.-]*|\"[^\"]*\"|'[^']*')[ ]*:(?:[ ].*)?"
#: An element: a value that begins with a sign, a key of a few words, or text without ": ". Lines of
#: a log begin with a dash, too, and have a colon behind anything.
_ELEMENT = r"(?:[\"'\[{&*!|>#?-].*|[^\s:()\[\]]+(?: [^\s:()\[\]]+){0,3}:(?: .*)?|(?!.*: ).*)"
_YAML_LINE = re.compile(rf"{_KEY}|-(?: +{_ELEMENT})?|---(?: .*)?|\.\.\.|%YAML .*")
_KEY_LINE = re.compile(rf"^{_KEY}$", re.MULTILINE)
#: How JSON begins, or JSON5, whatever is wrong with it then.
_LIKE_JSON = re.compile(
    r"\s*+(?:(?://.*+|/\*(?s:.*?)\*/)\s*+)*+(?:[\[{]\s*[\[{\"']|\{\s*[\w$]+\s*:)"
)
#: A key and its value, of which Miller's lines are, without a line of names.
_PAIR = re.compile(r"[^\W\d]\w*=")
_NUMBER = re.compile(r"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?")


class Recognised(NamedTuple):
    """``format``: what it surely is; None where that is not sure. ``possible``: what it may be."""

    format: str | None
    possible: tuple[str, ...]


def read_as(format: str | None, name: str | None, head: bytes, table: AsFound) -> str:
    """As ``detect.told``, and by the content where the user said nothing."""
    if format is None:
        by_name = told(None, name, head)
        if by_name == "bytes" and (table.encoding is not None or table.no_header):
            format = "csv"
        elif table == AsFound():
            by_content = told_again(by_name, head, whole=len(head) < HEAD)
            format = by_content if by_content != by_name else None
    return told(format, name, head, table)


def told_again(named: str, head: bytes, *, whole: bool) -> str:
    """The format of a file that begins with ``head``, where name and first bytes say ``named``.

    Another one only where the content surely is that, and "bytes" for what is known to be no data.
    """
    if not head:
        return named
    if named == "bytes":
        by_magic = detect(None, head)
        return recognised(head, whole=whole).format or named if by_magic == named else by_magic
    declared = FORMATS.declaration(named)
    if not _may_be_misnamed(declared, head, whole=whole):
        return named
    if not_converted(head) is not None:
        return "bytes"
    magic = FORMATS.by_magic(head) if declared.magic else None
    found = json_kind(head) or (magic and magic.name) or recognised(head, whole=whole).format
    if found is None or (declared.delimiter and FORMATS.declaration(found).delimiter):
        return named
    return found


def _may_be_misnamed(named: Declaration, head: bytes, *, whole: bool) -> bool:
    """Whether text begins as none does in the format that the file's name says, or hardly any.

    Any text reads as YAML, so that is never misnamed. Any text reads as a table, too; but lines of
    JSON, or tags, are hardly meant as one.
    """
    if named.magic and not named.is_text:
        # Of bytes that are no sign of another, the format says best what is wrong with them.
        begun = any(head.startswith(named.magic, at) for at in named.magic_at)
        is_other = not_converted(head) is not None or FORMATS.by_magic(head) is not None
        return not begun and (is_other or (not is_binary(head) and may_be_utf8(head)))
    text = head.removeprefix(BOM_UTF8).lstrip()
    begins = text[:1]
    if named.delimiter and not named.variants:
        known = known_text(text, is_table=True)
        other = known or (begins == b"%" and not_converted(text))  # PDF, PostScript
        return (
            bool(other)
            or begins == b"<"
            or (
                begins in (b"{", b"[")
                and (kind := json_kind(head)) is not None
                and (kind == "ndjson" or not whole or json_state(text.rstrip()) == "whole")
            )
        )
    if named.is_json:
        return (
            begins not in (b"{", b"[")
            and json_state(text.partition(b"\n")[0].rstrip()) == "no"
            and loose_in(head, lines=named.has_lines, whole=whole) is None
        )
    if named.name == "toml":
        return begins in (b"{", b"<")
    return named.name == "xml" and begins != b"<"


def recognised(head: bytes, *, whole: bool) -> Recognised:
    """What a file that begins with ``head`` is; ``whole``: ``head`` is all of it."""
    if head.startswith(_UTF16_MARKS):
        is_xml = _is_xml(head, whole=whole)
        return Recognised("xml", ("xml",)) if is_xml else Recognised(None, ("csv",))
    return (
        _binary(head, whole=whole)
        if is_binary(head) or not may_be_utf8(head)
        else _text(head, whole)
    )


def is_one_column(head: bytes, *, whole: bool) -> bool:
    """Whether text that begins with ``head`` is rows of one field each, as CSV has them.

    That does not tell what it is: most prose is so.
    """
    try:
        rows = rows_of(_lines(head, whole=whole), ",")
    except ValueError:
        return False
    return len(rows) > 1 and {1}.issuperset(map(len, rows))


def _lines(head: bytes, *, whole: bool) -> str:
    """The lines of ``head`` that are there to their ends."""
    text = head.removeprefix(BOM_UTF8).decode("utf-8", "ignore")
    return text if whole else text[: text.rfind("\n") + 1]


def _text(head: bytes, whole: bool) -> Recognised:
    text = _lines(head, whole=whole)
    below = below_comments(text)
    tables = {d.name: _table(below, d.delimiter) for d in FORMATS if d.delimiter and not d.variants}
    found = [name for name, sure in tables.items() if sure]
    possible = [name for name, sure in tables.items() if sure is not None]
    if _is_yaml(text):
        found.append("yaml")
        possible.append("yaml")
    if _is_toml(text if whole else text[: text.rfind("\n[") + 1]):  # its last table may be cut
        found.append("toml")
        possible.append("toml")
    if not found and _LIKE_JSON.match(text):
        possible.append("json")
        loose = loose_in(head, lines=False, whole=whole)
        found += ["json"] if loose is not None and loose.sound else []
    front = head.removeprefix(BOM_UTF8).lstrip()
    if front.startswith(b"<") and not ADDRESS.match(front):
        name = FORMATS.told(FORMATS.declaration("xml"), head)
        possible.append(name)
        found += [name] if _is_xml(head, whole=whole) else []
    return Recognised(found[0] if len(found) == 1 == len(possible) else None, tuple(possible))


def _table(text: str, delimiter: bytes) -> bool | None:
    """Whether text is surely a table below a line of names; None: it is none at all."""
    try:
        rows = [row for row in rows_of(text, delimiter.decode()) if row not in ([], [""])]
    except (Malformed, ValueError):
        return None
    widths = set(map(len, rows))
    if len(rows) < 2 or len(widths) != 1 or widths == {1}:
        return None
    names = rows[0]
    return (
        all(name and name == name.strip() for name in names)
        and len(set(names)) == len(names)
        and not all(map(_NUMBER.fullmatch, names))
        and not all(map(_PAIR.match, names))
    )


def _is_yaml(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    outer = [line.rstrip("\r") for line in lines if not line.startswith(" ")]
    if not outer or not all(map(_YAML_LINE.fullmatch, outer)):
        return False
    if outer[0] != "---":
        return True
    # What stands above the text of a page begins so, too; that text has no keys.
    documents = "\n".join(outer).removesuffix("\n---").split("\n---")
    return all(map(_KEY_LINE.search, documents))


def _is_toml(text: str) -> bool:
    import tomllib

    try:
        return bool(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError):
        return False


def _is_xml(head: bytes, *, whole: bool) -> bool:
    """Whether ``head`` is well-formed as far as it goes, and no page of HTML."""
    from xml.parsers import expat

    names: list[str] = []
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, _: names.append(name)
    parser.EntityDeclHandler = lambda *_: names.insert(0, "html")  # nor are its entities read
    try:
        parser.Parse(head.removeprefix(BOM_UTF8).lstrip(), whole)
    except expat.ExpatError:
        return False
    return bool(names) and names[0].lower() != "html"


def _binary(head: bytes, *, whole: bool) -> Recognised:
    found = {d.name: _reads(d, head, whole=whole) for d in FORMATS if d.containers}
    possible = tuple(name for name, reads in found.items() if reads is not False)
    sure = len(possible) == 1 and found[possible[0]]
    if may_be_bson(head, whole=whole):
        possible, sure = (*possible, "bson"), False
    return Recognised(possible[0] if sure else None, possible)


def _reads(declared: Declaration, head: bytes, *, whole: bool) -> bool | None:
    """Whether the format reads ``head`` (``whole``: all of the file) to its end, as maps and lists
    only; None where its library is missing."""
    if not head or head[0] not in declared.containers:
        return False
    fmt = FORMATS.get(declared.name)
    assert isinstance(fmt, ValueFormat)
    size = len(head) if whole else len(head) // 4
    try:
        for block in fmt.split(BytesIO(head).read, max(size, 1), for_values=True):
            records = fmt.parse(block)
            inner = fmt.structure(block, 0) in (Structure.ARRAY, Structure.MAP)
            if not (_is_container(records) if inner else all(map(_is_container, records))):
                return False
            if not whole:
                break
    except MissingLibraryError:
        return None
    except SyntaxInputError as error:
        # A record that is cut off where ``head`` ends is no error; one broken long before that is.
        return not whole and error.offset >= len(head) // 2
    except (SerialpackError, Unheld, ValueError, RecursionError):
        return False
    return True


def _is_container(value: object) -> bool:
    """Whether ``value`` is a list of values of one type, or a map whose keys are text."""
    if isinstance(value, dict):
        return all(isinstance(key, str) for key in value)
    return isinstance(value, list) and len({_KIND.get(type(v), type(v)) for v in value}) < 2


#: Types that count as another one among the values of a list: integers among floats.
_KIND: dict[type, type] = {int: float}
