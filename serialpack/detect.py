"""What a file is: its format by name and by content, and words for what it looks like."""

import re
from codecs import BOM_UTF8
from typing import NamedTuple

from serialpack.errors import UsageError
from serialpack.formats import FORMATS, Declaration
from serialpack.formats.json.found import json_kind
from serialpack.known import HTML, KnownFile, is_beyond_text, known_file

_PICKLE = re.compile(rb"\x80[\x02-\x05][\x95\]}\(ccKMJX\x8cN\x88\x89GB]", re.DOTALL)
#: A protocol from 4 on, and a first frame of less than 4 GiB: nothing else begins so.
_FRAMED_PICKLE = re.compile(rb"\x80[\x04\x05]\x95.{4}\x00{4}", re.DOTALL)
_SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
_HTML = re.compile(rb"(?i)<!doctype html|<html")
#: What is looked at has fewer bytes only where the file has.
_HEAD = 4 << 10
_BINARY = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))


def detect(name: str | None, head: bytes) -> str:
    """The name of the format: by extension, unless the content clearly says another.

    ``head``: the first bytes of the file, some kilobytes of them if there are as many.
    """
    entry = FORMATS.by_extension(name) if name else None
    found = entry.name if entry else None
    if found in ("json", "ndjson") or found is None:
        found = json_kind(head, found)
    if found is None and _FRAMED_PICKLE.match(head):
        return "pickle"
    if found is None:
        declared = FORMATS.by_magic(head.removeprefix(BOM_UTF8))
        found = declared.name if declared else "npz" if _is_npz(head) else None
    if found == "pickle" and (
        head.startswith(FORMATS.declaration("npy").magic) or known_file(head) is not None
    ):
        return "bytes"
    if found is None or (head and _is_other(FORMATS.declaration(found), head)):
        return "bytes"
    if found == "xml":
        from serialpack.formats.xml.root import is_typed

        return "typed-xml" if is_typed(head) else found
    return _dialect(head) if found == "csv" else found


def _is_other(declared: Declaration, head: bytes) -> bool:
    """Whether a file that begins so is not in the format that its name says."""
    if declared.has_magic and not head.startswith(declared.magic):
        return True
    return declared.is_text and is_binary(head)


class AsFound(NamedTuple):
    """What the user says of a table: see ``conversion.files.convert``."""

    delimiter: str | None = None
    encoding: str | None = None
    no_header: bool = False


def told(
    format: str | None,
    name: str | None,
    head: bytes,
    table: AsFound = AsFound(),  # noqa: B008  (never changed)
) -> str:
    """As ``detect``, where the user said what the file is (``format``), or how it is a table.

    Of a table also by its byte-order mark, and by quotes that are escaped. UsageError where what
    was said does not go together, or is not so.
    """
    said = FORMATS.declaration(format) if format else FORMATS.by_extension(name or "")
    known = said.name if said else "csv" if table.delimiter else None
    is_table = bool(FORMATS.declaration(known).delimiter) if known else bool(table.encoding)
    if not is_table or (table == AsFound() and not _is_odd(head)):
        found = _told(format, name, head, table.delimiter)
        if table.encoding or table.no_header:
            raise UsageError(f"--encoding and --no-header are for CSV, not for {found}")
        return found
    return _found_table(format, name, head, table)


def _told(format: str | None, name: str | None, head: bytes, delimiter: str | None) -> str:
    if delimiter is not None:
        found = dialect_named(delimiter)
        if format is not None and FORMATS.spelled(format) not in ("csv", found):
            raise UsageError(f"--delimiter is for CSV, not for {format}")
        return found
    if format is None:
        return detect(name, head)
    format = FORMATS.spelled(format)
    return _dialect(head) if format == "csv" else format


def _is_odd(head: bytes) -> bool:
    """Whether a table may be in UTF-16 or UTF-32, or have escaped quotes."""
    return head.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")) or b'\\"' in head


def _found_table(format: str | None, name: str | None, head: bytes, table: AsFound) -> str:
    from serialpack.formats.csv.dialects import are_escaped
    from serialpack.formats.csv.found import Dialect, dialect_of, doubling, front_in_utf8

    known = FORMATS.declaration(format) if format else None
    if known is not None and known.variants:
        found = dialect_of(known)
        if table.delimiter is not None:
            mark = FORMATS.declaration(dialect_named(table.delimiter)).delimiter.decode()
            found = found._replace(delimiter=mark)
        if table.encoding is not None:
            found = found._replace(encoding=encoding_of(b"", table.encoding))
        return found._replace(headless=found.headless or table.no_header).name
    encoding = encoding_of(head, table.encoding)
    text = front_in_utf8(head, encoding)
    escaped = are_escaped(text, tuple(_tables()))
    if escaped:
        text = doubling()(text, False)
    plain = _told(format, name, text, table.delimiter)
    mark = FORMATS.declaration(plain).delimiter.decode()
    if not mark:
        if table.encoding or table.no_header:
            raise UsageError(f"--encoding and --no-header are for CSV, not for {plain}")
        return _told(format, name, head, table.delimiter)
    return Dialect(mark, encoding, escaped, table.no_header).name


def encoding_of(head: bytes, said: str | None) -> str:
    """The encoding of a text that begins with ``head``: its byte-order mark's, else ``said``, what
    the user says; empty: UTF-8. UsageError where that is none, or clearly another."""
    from serialpack.formats.csv.found import encoding_named, is_utf8, marked_encoding

    mark = marked_encoding(head)
    if said is None:
        return mark or ""
    name = encoding_named(said)
    if name is None:
        message = f"the encoding {said!r} is not known"
        raise UsageError(message, hint="cp1252, utf-16, ...") from None
    if mark is None and is_utf8(head):
        mark = ""
    if mark is not None and name != mark and not (mark and mark.startswith(said.lower())):
        other = (mark or "utf-8").removesuffix("-le").removesuffix("-be")
        raise UsageError(f"it is {other.upper()}, and not {said}", hint="leave out --encoding")
    return name if mark is None else mark


def dialect_named(delimiter: str) -> str:
    """The format of tables with that delimiter (``\\t`` or ``tab`` too); UsageError for no such."""
    mark = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    for declared in FORMATS:
        if declared.delimiter and declared.delimiter.decode() == mark:
            return declared.name
    raise UsageError(f"the delimiter {delimiter!r} is not read", hint="one of , ; | and tab")


def _dialect(head: bytes) -> str:
    """The dialect of CSV that a text is in: its delimiter is the one that fits its first rows."""
    from serialpack.formats.csv.dialects import delimiter_of

    names = _tables()
    return names[delimiter_of(head, tuple(names), whole=len(head) < _HEAD)]


def _tables() -> dict[str, str]:
    """What stands between fields -> the dialect of CSV."""
    return {d.delimiter.decode(): d.name for d in FORMATS if "csv" in (d.name, d.dialect_of)}


def looks_like(head: bytes) -> str | None:
    """What a file that begins so seems to be, in words for a message; None: no idea."""
    if not head:
        return "an empty file"
    declared = FORMATS.by_magic(head)
    if declared is not None and declared.is_array:
        return _array(declared.name, head)
    if (known := known_file(head)) is not None:
        return known.words
    if _SKIPPABLE.match(head):
        return "zstd or lz4"
    if _PICKLE.match(head):
        return "a Python pickle"
    if is_binary(head):
        return None
    text = head.removeprefix(BOM_UTF8).lstrip()
    if json_kind(head):
        return "JSON"
    if text.startswith((b"<?xml", b"<!DOCTYPE")) or re.match(rb"<[A-Za-z][^<>]*>", text):
        return HTML.words if _HTML.match(text) else "XML"
    first, newline, second = text.partition(b"\n")
    for mark, words in ((b",", "CSV"), (b"\t", "TSV")):
        if (
            newline
            and first.count(mark)
            and first.count(mark) == second.split(b"\n")[0].count(mark)
        ):
            return words
    return "text"


def not_converted(head: bytes) -> KnownFile | None:
    """What a file that begins so is, where that is known to be no format that is converted."""
    text = head.removeprefix(BOM_UTF8).lstrip()
    known = HTML if _HTML.match(text) else known_file(head)
    return known if known is not None and known.cannot else None


def _is_npz(head: bytes) -> bool:
    """Whether a zip begins with an array: NumPy's archives have nothing else."""
    length = int.from_bytes(head[26:28], "little")
    return head.startswith(b"PK\x03\x04") and head[30 : 30 + length].endswith(b".npy")


def _array(format: str, head: bytes) -> str:
    """What the array is that a file in ``format`` begins with, in words."""
    from serialpack.formats.arrays.kinds import header_in

    about, header = FORMATS.get(format).about, header_in(head)
    return about if header is None else f"{about}: {header.words}"


def is_binary(head: bytes) -> bool:
    """Whether no text would hold such bytes: control characters, or a magic that is no text."""
    if len(head.translate(None, _BINARY)) < len(head):
        return True
    return head.startswith(FORMATS.declaration("npy").magic) or is_beyond_text(head)
