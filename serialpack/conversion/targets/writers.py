"""What writes each format: ``writers`` gives it, in the order of trial.

A ``TargetWriter`` writes records as a file of the format, or as a piece of one, and reads them
again. The other functions say which formats can be written, and which one a file's name means.
"""

from __future__ import annotations

import os
from typing import Any, cast

from serialpack.compressed.source import uncompressed_name
from serialpack.conversion.losses.rules import ARRAYS, TABLES, UNIONS
from serialpack.detection.detect import DELIMITERS
from serialpack.errors import MissingLibraryError, UsageError
from serialpack.files.targets import Target
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, Style, ValueFormat
from serialpack.formats.shared.document import DocumentFormat
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import RecordSerializer, Serializer
from serialpack.serializers.of_format import read_stored, record_serializer
from serialpack.values.kinds import KINDS


class TargetWriter:
    """Writes records as one file of a format, or a piece of it, and reads them again.

    Its serializer says what is refused, and why.
    """

    def __init__(self, serializer: RecordSerializer, fmt: ValueFormat) -> None:
        self.serializer = serializer
        self.format = fmt

    def dump(self, records: list[Any]) -> bytes:
        """The records; one of ``serializers.base.FAILURES`` for what cannot be written."""
        return self.serializer.dump(records)

    def load(self, data: bytes, count: int) -> list[Any]:
        """The ``count`` records of ``dump``; ValueError where there are none."""
        if (one := self.format.as_list(data, count)) is not None:
            try:
                (records,) = self.serializer.load(one)
                return cast("list[Any]", records)
            except ValueError:  # as a list they may be nested one level too deeply
                pass
        return self.serializer.load(data)

    def load_literals(self, data: bytes, count: int) -> list[Any]:
        """As ``load``, numbers with their text where Python writes another."""
        fmt = FORMATS.get(self.serializer.stored_format)
        assert isinstance(fmt, ValueFormat)
        block = SourceBlock(data, index=0, offset=0, records=count, last=True)
        return read_stored(lambda _: fmt.reading_literals().parse(block), data)


class _LineWriter(TargetWriter):
    """JSON: the same text of the same values, whichever library writes them.

    What a block holds beside, and how large it is, chooses the library. msgspec's text is the
    measure; the standard library's own would have other exponents, and escapes.
    """

    def dump(self, records: list[Any]) -> bytes:
        from serialpack.formats.json.write import compact_lines

        return compact_lines(records)


class _DocumentWriter(TargetWriter):
    """By the format itself: a file of it is more than its records one after another."""

    format: DocumentFormat

    def dump(self, records: list[Any]) -> bytes:
        return self.format.write(records)

    def load(self, data: bytes, count: int) -> list[Any]:  # noqa: ARG002
        return read_stored(self.format.read_written, data)


class AsciiWriter(TargetWriter):
    """JSON with an escape for each character that is not ASCII."""

    def __init__(self, writer: TargetWriter) -> None:
        super().__init__(writer.serializer, writer.format)
        self._writer = writer

    def dump(self, records: list[Any]) -> bytes:
        from serialpack.formats.json.write import in_ascii

        return in_ascii(self._writer.dump(records))

    def load(self, data: bytes, count: int) -> list[Any]:
        return self._writer.load(data, count)


def is_sequence(format: str) -> bool:
    """Whether a file in ``format`` is a sequence of records and nothing else.

    An array becomes its elements there.
    """
    fmt = FORMATS.get(format)
    return isinstance(fmt, ValueFormat) and fmt.declared.sequence


def named_format(path: str) -> str | None:
    """The format that a file's name says, also behind the ending of a compression."""
    found = FORMATS.by_extension(uncompressed_name(path))
    return None if found is None else found.name


def format_of(target: Target) -> str:
    """The format that the path of ``target`` says; UsageError where it says none."""
    path = os.fspath(target) if isinstance(target, str | os.PathLike) else ""
    found = named_format(path)
    if found is None:
        packs = path.endswith(".spk")
        hint = "pack(source, target) makes a container" if packs else "to='json' does, for one"
        raise UsageError("the target's name says no format", hint=hint)
    return found


def holds_tables(to: str) -> bool:
    """Whether one file in the format ``to`` is a map, of lists of records for one."""
    return not (to in TABLES | UNIONS | ARRAYS or FORMATS.declaration(to).has_lines)


def is_written(format: str) -> bool:
    """Whether records can be written in ``format``."""
    return _writer_of(format) is not None


def _writer_of(format: str) -> type[RecordSerializer] | None:
    """The last resort among those who write a format, which says what it holds."""
    declared = FORMATS.declaration(format)
    told = declared.is_target or declared.dialect_of
    cls = record_serializer(declared.written_by[-1]) if told else None
    return cls if cls is not None and cls.cannot < frozenset(KINDS) else None


def written() -> list[str]:
    """The formats that records can be written in."""
    return [e.name for e in FORMATS.sources() if e.is_target and is_written(e.name)]


def others(but: str) -> list[str]:
    """The formats that can be written here beside ``but``.

    Those that need nothing installed and are safe to read come first.
    """
    found = []
    for name in written():
        cls = _writer_of(name)
        if cls is not None and name != but and cls.missing(name) is None:
            found.append((not cls.safe, cls.extra is not None, name))
    return [name for *_, name in sorted(found, key=lambda rank: rank[:2])]


def writers(format: str, settings: Style) -> list[TargetWriter]:
    """Who writes ``format``, in the order of trial; UsageError where nobody does.

    MissingLibraryError where what writes it is not installed.
    """
    fmt = FORMATS.get(format)
    names = fmt.declared.written_by
    if not is_written(format):
        raise UsageError(
            f"--to {format}: nothing here writes it", hint="known: " + ", ".join(written())
        )
    assert isinstance(fmt, ValueFormat)
    found: list[TargetWriter] = []
    for name in names:
        known = name in SERIALIZERS and not fmt.declared.own_writer
        serializer = _of_stage(name, format) if known else _generic(name)
        assert isinstance(serializer, RecordSerializer)
        serializer.configure(settings or serializer.settings({}))
        serializer.dialect = format if fmt.declared.dialect_of else ""
        kind = TargetWriter
        if isinstance(fmt, DocumentFormat) and len(names) == 1 and not settings:
            kind = _DocumentWriter
        elif fmt.declared.is_json and name == names[-1]:
            kind = _LineWriter
        found.append(kind(serializer, fmt))
    return found


def _of_stage(name: str, format: str) -> Serializer:
    """The serializer ``name``, which writes ``format``; MissingLibraryError, which says so."""
    cls = SERIALIZERS.cls(name)
    if (install := cls.missing(name)) is not None:
        raise MissingLibraryError(
            f"{cls.library} is not installed, which writes {format}", hint=install
        )
    return SERIALIZERS.create(name)


def _generic(name: str) -> RecordSerializer:
    cls = record_serializer(name)
    assert cls is not None
    return cls(name)


def delimiters_of(to: str) -> list[str]:
    """What may stand between the fields of a table of text that is written as ``to``: its own
    delimiter, and those of the dialects that have no name as targets."""
    names = FORMATS.dialects(to)
    return [m for m, name in names.items() if name == to or not FORMATS.declaration(name).is_target]


def check_delimiter(delimiter: str | None, to: str) -> None:
    """UsageError where ``to`` is not written with that between its fields."""
    marks = delimiters_of(to)
    if delimiter is not None and len(marks) < 2:
        raise UsageError(f"--out-delimiter is for csv, not {to}")
    mark = None if delimiter is None else DELIMITERS.get(delimiter, delimiter)
    if mark is None or mark in marks:
        return
    other = FORMATS.dialects(to).get(mark)
    way = f"one of {' '.join(marks[:-1])} and {marks[-1]}"
    hint = way if other is None else f"--to {other} writes it"
    raise UsageError(f"--out-delimiter {delimiter!r} is not written", hint=hint)
