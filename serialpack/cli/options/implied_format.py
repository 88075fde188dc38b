"""What ``unpack`` without ``--to`` is meant to be: the name that ``-o`` gives says the format."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from functools import cache
from typing import IO, cast

from serialpack.api import HEAD, expanded
from serialpack.cli.naming import STDIO, SUFFIX
from serialpack.cli.options.requests import UnpackRequest
from serialpack.compressed.source import (
    compression_named,
    compression_of,
    decompressed,
    uncompressed_name,
)
from serialpack.container.header import Header
from serialpack.container.reader import SNIFF, first_header, is_container
from serialpack.conversion.targets.writers import is_written, named_format
from serialpack.detection.detect import looks_like, not_converted, told
from serialpack.errors import InputError, NotContainerError, SerialpackError
from serialpack.far import is_store
from serialpack.files.source import Source
from serialpack.files.targets import is_device
from serialpack.formats import FORMATS
from serialpack.formats.foreign import KnownFile, known_name, known_words
from serialpack.stages.stage import Buffer
from serialpack.text import command_line, printable


def format_meant(asked: UnpackRequest, *, converts: bool) -> str | None:
    """The format that the inputs are to be converted to, without ``--to``; None where their bytes
    are given back.

    It is the format that the name of the output ends in. Where the input is a container of a file
    of that format, or of a file whose name ends so, ``-o`` only renames it. ``converts``: there are
    options of a conversion.
    """
    output = asked.outputs.output
    single = (
        len(asked.files) < 2 and asked.sources.files_from is None and not asked.sources.recursive
    )
    if not output or not asked.whole or output.endswith("/") or os.path.isdir(output):
        return None
    to = named_format(output)
    if to is None or not is_written(to):
        return None
    if not single:
        return to  # of which two are one file, or it is said what joins them
    path = asked.files[0] if asked.files else STDIO
    if converts or (path == STDIO and asked.outputs.dry_run):  # which leaves it unread
        return to
    if is_store(path):
        return to
    try:
        inside = _inside(path, output)
    except (SerialpackError, OSError, ValueError):
        return None  # which is said where it is read
    return None if inside is not None and (not inside or to in inside) else to


def format_kept(path: str, said: str | None) -> str:
    """The format of an input whose records are to be written in the same format; ``said``: the
    format that the user named.

    Where it cannot be told it is NDJSON, so that reading the input says what is wrong with it.
    """
    found = said or _format_of(path)
    if found == "bytes":
        return "ndjson"
    declared = FORMATS.declaration(found)
    return found if declared.is_target else declared.dialect_of or found.partition(":")[0]


def _format_of(path: str) -> str:
    """The format of the file ``path``, or of what is packed or compressed in it, by its name and
    its first bytes."""
    with _opened(path) as source:
        if (header := header_in(source)) is not None:
            found = packed_format(source)
            inner_name = uncompressed_name(header.name or "")
            named = FORMATS.by_extension(inner_name) if _is_compressed(header) else None
            return found if found != "bytes" or named is None else named.name
        inner = decompressed(source)
        head = inner.peek(HEAD)
        found = told(None, None if path == STDIO else inner.name, head)
    from serialpack.detection.by_content import told_again

    return told_again(found, head, whole=len(head) < HEAD)


def uncompressing(path: str) -> list[str] | None:
    """The words of the command that gives what is in a compressed file; None where nobody here
    reads that, or it is not compressed."""
    with suppress(OSError, SerialpackError), Source(path) as source:
        if compression_of(source) is not None and is_written(format := _format_of(path)):
            inner = uncompressed_name(path)
            return ["unpack", path, "--to", format, "-o", STDIO if os.path.exists(inner) else inner]
    return None


def compression_meant(output: str | None, path: str) -> str | None:
    """What the bytes of the container ``path`` are compressed by, as the name of ``-o`` says.

    None where one of the container's names ends so too: that is what was packed.
    """
    compression = compression_named(output or "")
    if compression is None or (path != STDIO and is_device(path)):
        return compression
    names = [path.removesuffix(SUFFIX)]
    with suppress(SerialpackError, OSError, ValueError):
        header = _header_of(path)
        names.append(header.name or "" if header is not None else "")
    return None if compression in map(compression_named, names) else compression


def _inside(path: str, output: str) -> set[str] | None:
    """The formats that the content of a container may be said to have, by its header and its names.

    None for a file that is no container; empty for an archive, and for bytes of no format. For a
    file that was packed compressed: bytes, and the format of what is compressed where ``output`` is
    to have the same compression.
    """
    if path != STDIO and is_device(path):
        return None  # it can be read once
    header = _header_of(path)
    if header is None:
        return None
    declared = FORMATS.by_number(header.format)
    if header.in_archive or declared is None:
        return set()
    if declared.name == "bytes":
        if not _is_compressed(header):
            return set()
        name = header.name or ""
        inner = FORMATS.by_extension(uncompressed_name(name))
        alike = compression_named(output) == compression_named(name)
        return {"bytes"} | ({inner.name} if inner is not None and alike else set())
    names = (header.name, path.removesuffix(SUFFIX))
    found = {FORMATS.by_extension(name) for name in names if name}
    return {declared.name, declared.name.partition(":")[0], declared.dialect_of} | {
        each.name for each in found if each is not None
    }


def _header_of(path: str) -> Header | None:
    """The first header of a container; None for any other file."""
    with _opened(path) as source:
        return header_in(source)


def header_in(source: Source) -> Header | None:
    """The header of a container, which is still read from its front afterwards; None where
    ``source`` is no container."""
    if not is_container(source.peek(SNIFF)):
        return None
    return first_header(expanded(Source(io.BytesIO(source.peek(HEAD)), source.path)).peek)


def packed_format(source: Source) -> str:
    """The format of what is in a container; ``bytes`` where its number is not known here."""
    header = header_in(source)
    declared = None if header is None else FORMATS.by_number(header.format)
    return "bytes" if declared is None else declared.name


def _is_compressed(header: Header) -> bool:
    """Whether it is of a file that was compressed when it was packed, by its name."""
    return compression_named(header.name or "") is not None


class _Front(io.RawIOBase):
    """A stream of which the front was read already."""

    name = "<stdin>"

    def __init__(self, front: bytes, rest: IO[bytes]) -> None:
        super().__init__()
        self._front = front
        self._rest = rest

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._rest.fileno()

    def readinto(self, into: Buffer) -> int | None:  # type: ignore[override]
        view = memoryview(into)
        if not self._front:
            return cast("int | None", self._rest.readinto(view))  # type: ignore[attr-defined]
        size = min(len(view), len(self._front))
        view[:size] = self._front[:size]
        self._front = self._front[size:]
        return size


@cache
def _front() -> bytes:
    """The front of standard input, which stays to be read. Called before any of it is."""
    stream = sys.stdin.buffer
    front = Source(stream).read(HEAD)
    try:
        stream.seek(-len(front), os.SEEK_CUR)
    except (OSError, ValueError):
        cast("io.TextIOWrapper", sys.stdin).detach()  # else it would be closed with it
        sys.stdin = io.TextIOWrapper(io.BufferedReader(_Front(front, stream)))
    return front


def _opened(path: str) -> Source:
    return Source(io.BytesIO(_front()), "<stdin>") if path == STDIO else Source(path)


def not_unpacked(
    path: str, error: SerialpackError, output: str | None, *, whole: bool
) -> SerialpackError:
    """``error``, of an input that is no container, with what can be done with it.

    ``output``: as ``-o`` names it for this input alone; ``whole``: all of it was asked for, as a
    conversion gives it.
    """
    is_file = path != STDIO and os.path.isfile(path)
    if is_file and (words := uncompressing(path)) is not None:
        with Source(path) as source:
            error = NotContainerError(looks_like(source.peek(HEAD)))
        error.hint = command_line(["serialpack", *words])
        return error
    if is_file and not isinstance(error, NotContainerError):
        with suppress(OSError, SerialpackError), Source(path) as source:
            head = source.peek(HEAD)
            if is_container(head[:SNIFF]):
                return error
            if (known := _known(source)) is not None:
                return InputError(f"{known.words}: {known.cannot}", hint=known.instead)
            error = NotContainerError(looks_like(head))
    if isinstance(error, NotContainerError):
        error.hint = _instead(path, error.looks_like, output, whole=whole)
    return error


def _known(source: Source) -> KnownFile | None:
    """What kind of file it is, where it is one that nothing here converts (a picture, say).

    Of a compressed file it is what is compressed, where the tool for that undoes both.
    """
    with suppress(SerialpackError):
        inside = not_converted(decompressed(source).peek(HEAD))
        if inside is not None and inside.through:
            return inside
    return not_converted(source.peek(HEAD))


def _instead(path: str, looks: str | None, output: str | None, *, whole: bool) -> str | None:
    """What can be done with an input that is no container and ``looks`` so."""
    if (known := known_words(looks)) is not None:
        return known.instead
    if looks in (None, "an empty file", "text") and named_format(path) in (None, "bytes"):
        was_packed = path.endswith(SUFFIX) or os.path.exists(path + SUFFIX)  # so it is called
        if was_packed or path == STDIO or not os.path.isfile(path):
            return None
    elif path == STDIO or (whole and output is None):
        return "--to FORMAT converts it"
    elif whole:
        return _written_instead(path, output or "") or "--to FORMAT converts it"
    return command_line(["serialpack", "pack", path]) + " makes one of it"


def _written_instead(path: str, output: str) -> str | None:
    """The command that writes another file than ``output``, whose name says what nothing here
    writes, or what to say of a name that says no format; None where its content is to be told."""
    base, ending = os.path.splitext(uncompressed_name(output))
    named, known = named_format(output), known_name(ending[1:].lower())
    if known is not None and known.written:
        to, _, why = known.written.removeprefix("--to ").partition(" ")
    elif named is not None and not is_written(named):
        is_array = FORMATS.declaration(_format_of(path)).is_array
        to, why = "npy" if is_array else "json", f"writes that: {named} is only read"
    elif ending == SUFFIX:
        return f"{command_line(['serialpack', 'pack', path, '-o', output])} makes one of it"
    elif named is None and ending and not is_device(output):
        return f"{printable(output)} says no format, --to FORMAT does"
    else:
        return None
    other = f"{base}.{to}"
    words = ["unpack", path, "--to", to, "-o", STDIO if os.path.exists(other) else other]
    return f"{command_line(['serialpack', *words])} {why}"
