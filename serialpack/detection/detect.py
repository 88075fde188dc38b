"""What a file is by its name, its first bytes and what the user says; and words for messages.

Nothing is parsed here: where this does not tell, ``by_content`` tries the formats.
``formats.foreign`` lists the kinds of files that are no format.
"""

import re
from codecs import BOM_UTF8
from typing import NamedTuple

from serialpack.errors import UsageError
from serialpack.formats import FORMATS, Declaration
from serialpack.formats.foreign import KnownFile, is_beyond_text, known_file, known_text
from serialpack.formats.json.found import json_kind

#: How much of a source is looked at to tell its format.
HEAD = 64 << 10

#: What delimiters are called, beside themselves.
DELIMITERS = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}

#: An address in brackets, with which lines of N-Triples begin, and no element does.
ADDRESS = re.compile(rb"<[A-Za-z][\w+.-]*://")
_SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
_BINARY = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))


def detect(name: str | None, head: bytes) -> str:
    """The name of the format: by extension, unless the content clearly says another.

    ``head``: the first bytes of the file, some kilobytes of them if there are as many.
    """
    declared = FORMATS.by_extension(name) if name else None
    if declared is None and (found := json_kind(head)) is not None:
        declared = FORMATS.declaration(found)
    if declared is None:
        declared = FORMATS.by_magic(head.removeprefix(BOM_UTF8))
    if declared is None or (head and _is_other(declared, head)):
        return "bytes"
    return FORMATS.told(declared, head)


def _is_other(declared: Declaration, head: bytes) -> bool:
    """Whether a file that begins with ``head`` is not in the format that its name says."""
    if declared.has_magic and not head.startswith(declared.magic):
        return True
    return declared.is_text and is_binary(head) and not (declared.delimiter and _is_odd_text(head))


def _is_odd_text(head: bytes) -> bool:
    """Whether ``head`` is text but for control characters, which a cell of a table may have. NUL is
    none of these: where it stands, the text may be in UTF-16."""
    return b"\0" not in head and not is_binary(head.translate(None, _BINARY)) and may_be_utf8(head)


def may_be_utf8(head: bytes) -> bool:
    """Whether ``head`` is UTF-8; its last character may be cut off."""
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return True


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
    is_table = bool(FORMATS.declaration(known).delimiter) if known else table.encoding is not None
    if not is_table or (table == AsFound() and not _is_odd(head)):
        found = _told(format, name, head, table.delimiter)
        if table.encoding is not None or table.no_header:
            raise UsageError(f"--encoding and --no-header are for CSV, not for {found}")
        return found
    return _found_table(format, name, head, table)


def check_table(table: AsFound) -> None:
    """UsageError for a delimiter or an encoding that there is not."""
    if table.delimiter is not None:
        dialect_named(table.delimiter)
    if table.encoding is not None:
        encoding_of(b"", table.encoding)


def _told(format: str | None, name: str | None, head: bytes, delimiter: str | None) -> str:
    if delimiter is not None:
        found = dialect_named(delimiter)
        if format is None:
            # Anything is one table or another between the delimiters that one names.
            plain = FORMATS.declaration(detect(name, head))
            if not plain.delimiter and plain.name != "bytes":
                raise UsageError(
                    f"--delimiter is for what is read as CSV, not for {plain.name}",
                    hint="--from csv where it is; unpack --out-delimiter says what is written",
                )
        elif FORMATS.spelled(format) not in ("csv", found):
            raise UsageError(f"--delimiter is for CSV, not for {format}")
        return found
    if format is None:
        return detect(name, head)
    said = FORMATS.declaration(FORMATS.spelled(format))
    # Of what was said only the dialect is looked for.
    return FORMATS.told(said, head) if len(FORMATS.dialects(said.name)) > 1 else said.name


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
    escaped = are_escaped(text, tuple(FORMATS.dialects("csv")))
    if escaped:
        text = doubling()(text, False)
    plain = _told(format, name, text, table.delimiter)
    mark = FORMATS.declaration(plain).delimiter.decode()
    if not mark:
        if table.encoding is not None or table.no_header:
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
    """The format of tables with that delimiter, also by its name; UsageError for no such."""
    mark = DELIMITERS.get(delimiter, delimiter)
    for declared in FORMATS:
        if declared.delimiter and declared.delimiter.decode() == mark:
            return declared.name
    raise UsageError(f"the delimiter {delimiter!r} is not read", hint="one of , ; | and tab")


def looks_like(head: bytes) -> str | None:
    """What a file that begins with ``head`` seems to be, in words for a message; None: no idea."""
    if not head:
        return "an empty file"
    declared = FORMATS.by_magic(head)
    if declared is not None and declared.is_array:
        return _array(declared.name, head)
    if (known := known_file(head)) is not None:
        signed = _signed(head) if known.cannot else None
        return known.words if signed is None else FORMATS.get(signed.name).about
    if _SKIPPABLE.match(head):
        return "zstd or lz4"
    if is_binary(head):
        from serialpack.formats.python.found import may_be_pickle

        return "a Python pickle" if may_be_pickle(head) else None
    text = head.removeprefix(BOM_UTF8).lstrip()
    if json_kind(head):
        return "JSON"
    if (known := known_text(text)) is not None:
        return known.words
    if text.startswith((b"<?xml", b"<!DOCTYPE")) or (
        re.match(rb"<[A-Za-z][^<>]*>", text) and not ADDRESS.match(text)
    ):
        return "XML"
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
    """The kind of file that ``head`` begins, where that is no format that is converted; else
    None."""
    text = head.removeprefix(BOM_UTF8).lstrip()
    known = known_text(text) or known_file(head)
    return known if known is not None and known.cannot and _signed(head) is None else None


def _signed(head: bytes) -> Declaration | None:
    """The format that a file is by a sign of its own, behind a magic that others have, too: an
    .npz is a zip besides."""
    declared = FORMATS.by_magic(head)
    return declared if declared is not None and declared.sign else None


def _array(format: str, head: bytes) -> str:
    """The array at the front of a file in ``format``, in words."""
    from serialpack.formats.arrays.kinds import header_in

    about, header = FORMATS.get(format).about, header_in(head)
    return about if header is None else f"{about}: {header.words}"


def is_binary(head: bytes) -> bool:
    """Whether no text begins with ``head``: it has control characters, or a magic that is no
    text."""
    if len(head.translate(None, _BINARY)) < len(head):
        return True
    declared = FORMATS.by_magic(head)
    return (declared is not None and not declared.is_text) or is_beyond_text(head)
