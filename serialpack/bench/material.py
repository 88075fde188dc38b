"""What is measured: a file in blocks, whole or a part of it, or one Python object.

A ``Subject`` describes it, and is sent to the process that measures; there a ``Material``, or an
``ObjectMaterial``, is made of it and held in memory.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from serialpack.api import HEAD, opened_source
from serialpack.auto.cuts import Split
from serialpack.bench.samples import parse_sample
from serialpack.container.header import DEFAULT_BLOCK_SIZE
from serialpack.container.reader import SNIFF, is_container
from serialpack.detection.detect import told
from serialpack.errors import FileError, RefusedError, UsageError
from serialpack.files.source import file_error
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock
from serialpack.pipeline.ranges import Span, slice_source
from serialpack.stages.stage import Buffer
from serialpack.units import format_size

#: Parts: bytes of the source in a first look, and in the sample by which is decided what is
#: measured whole.
LOOK = 64 << 10
SAMPLE = 1 << 20
#: Stands for the part that is all that is in memory.
WHOLE = 0

#: A file of up to so many bytes is held in memory as a whole; of a larger one a quarter of that is.
MOST_HELD = 256 << 20

#: What is read of a large file, where reading can begin at any line or byte, is spread over it in
#: so many windows; in fewer, down to four, where these would have fewer than so many bytes.
_WINDOWS = 16
_WINDOW = 64 << 10


class Standing(NamedTuple):
    """What a file stands for that is measured in place of others too: ``files`` files, which
    together have ``bytes`` bytes, and take ``squeezed`` bytes behind the quick codec of the survey.

    ``group``: a name for the files out of which it was drawn; None where it stands only for itself.
    """

    bytes: float
    files: float
    squeezed: float
    group: str | None


class Crowd(NamedTuple):
    """How several files are packed.

    ``pack``, ``unpack``: seconds that each file takes beside the work on its bytes: to open it, and
    to write and name the output. ``many``: whether there are so many small ones that several are
    worked on at a time.
    """

    pack: float
    unpack: float
    many: bool


class Subject(NamedTuple):
    """What to measure: a file (``path``), a built-in sample (``sample``, as ``NAME:N``) or several
    files.

    ``format``: that of the file. ``name``, ``mtime``: what its container stores of it, so that
    sizes are those of ``pack``. ``records``: only so many of its first records.

    Of several files, ``files`` are those that are measured, each of which says what it ``stands``
    for; ``larger``: larger and larger samples of them; ``crowd``: how they are packed. ``path`` is
    then what all are called together, and ``format`` names all their formats.
    """

    path: str = ""
    sample: str = ""
    format: str = ""
    name: str | None = None
    mtime: int | None = None
    most_held: int = MOST_HELD
    records: int | None = None
    files: tuple[Subject, ...] = ()
    larger: tuple[tuple[Subject, ...], ...] = ()
    crowd: Crowd | None = None
    stands: Standing | None = None

    @property
    def formats(self) -> set[str]:
        """The format of the file, or the formats of the several ones."""
        return {file.format for files in (self.files, *self.larger) for file in files} or {
            self.format
        }

    def at(self, n: int) -> Subject:
        """The subject with another N: the sample at ``n``, or the first ``n`` records of the file;
        of several files number ``n`` of the larger samples, from 0."""
        if self.files:
            return self._replace(files=self.larger[n], larger=())
        if self.sample:
            return self._replace(sample=f"{parse_sample(self.sample)[0].name}:{n}")
        return self._replace(records=n)


def file_subject(
    path: str, format: str | None, *, named: bool = True, most_held: int = MOST_HELD
) -> Subject:
    """The subject for a file. ``format``: what the user says that it is; None: to be found out.
    ``named``: whether its container stores its name and time.

    FileError where it cannot be read, UsageError where it is packed already or ``format`` is
    unknown.
    """
    with opened_source(path) as opened:
        if opened.stat is None:
            raise FileError("is not a regular file", path=path)
        head = opened.peek(HEAD)
        if is_container(head[:SNIFF]):
            raise UsageError(
                "is a serialpack file already", hint="bench what unpack gives back of it"
            )
        if format is not None:
            FORMATS.source(format)
        return Subject(
            path=path,
            format=told(format, opened.name if named else None, head),
            name=opened.name if named else None,
            mtime=opened.stat.st_mtime_ns if named else None,
            most_held=most_held,
        )


class Material:
    """A file in memory, or a part of it (``data``). ``size``: the bytes of the whole file."""

    def __init__(self, subject: Subject) -> None:
        self.format = subject.format
        self.name, self.mtime = subject.name, subject.mtime
        self._samples: dict[tuple[int, bool], list[SourceBlock]] = {}
        #: Whether ``data`` ends somewhere within the source.
        self.broken_off = False
        if subject.sample:
            sample, n = parse_sample(subject.sample)
            self.data = sample.make_file(n)
            self.size = len(self.data)
            return
        try:
            self._read(subject)
        except OSError as error:
            raise file_error(error, subject.path, "read") from error

    def _read(self, subject: Subject) -> None:
        """Read the whole file; or where that is more than may be held (``most_held``), a quarter of
        that limit."""
        path, most = Path(subject.path), subject.most_held
        has_lines = FORMATS.declaration(self.format).has_lines
        self.size = path.stat().st_size
        if subject.records is not None:
            self.data = _first_records(subject, subject.records)
            self.size = len(self.data)
        elif self.size <= most:
            self.data = path.read_bytes()
            self.size = len(self.data)
        elif has_lines or self.format == "bytes":
            self.data = read_windows(path, self.size, most // 4, lines=has_lines)
        else:
            self.broken_off = True
            with path.open("rb") as file:
                self.data = file.read(most // 4)

    def blocks(
        self,
        part: int,
        block_size: int,
        pieces: int,
        *,
        for_values: bool,
        split: Split | None = None,
    ) -> list[SourceBlock]:
        """The blocks of a part: all that is held (``WHOLE``), or about ``part`` bytes in so many
        ``pieces``, spread evenly over it.

        ``for_values``: cut for a serializer of values and not of bytes. ``split``: what cuts the
        whole file in the place of its format, where all of it is measured. RefusedError where not
        even one value is held whole.
        """
        whole = part == WHOLE or len(self.data) <= 2 * part
        size = block_size if whole else min(block_size, max(part // pieces, 1))
        if whole and split is not None and len(self.data) == self.size:
            return list(split(io.BytesIO(self.data).read, size))
        if self.broken_off and whole:
            return self._unbroken(size, for_values)
        if self.broken_off:
            # Small blocks, so that there are whole ones before the one that is cut off.
            size = min(size, max(len(self.data) // 4, 1))
        if whole:
            return self._split(size, for_values)
        key = (size, for_values)
        if key not in self._samples:
            blocks = self._split(size, for_values)
            if len(blocks) <= pieces and not self.broken_off:
                # One record is most of it. As bytes it can be split anywhere; as a value it is
                # taken whole, in the blocks that ``pack`` makes.
                blocks = self._split(block_size, True) if for_values else self._split_bytes(size)
            step = max(len(blocks) / pieces, 1.0)
            self._samples[key] = [
                blocks[int((i + 0.5) * step)] for i in range(min(pieces, len(blocks)))
            ]
        return self._samples[key]

    def _unbroken(self, size: int, for_values: bool) -> list[SourceBlock]:
        """The blocks, of up to ``size`` bytes,
        of all that is held but a last value that is cut off."""
        held = len(self.data)
        # Large blocks at first: what the whole file takes is estimated from them.
        for most in (held * 7 // 8, held // 4):
            blocks = self._split(min(size, max(most, 1)), for_values)
            if 2 * sum(len(block.data) for block in blocks) >= held:
                return blocks
        # All of it is a single value: as bytes it can be split anywhere.
        return blocks if for_values else self._split_bytes(size)

    def _split(self, size: int, for_values: bool) -> list[SourceBlock]:
        """All blocks as the format cuts them, but for one that is cut off."""
        blocks = FORMATS.get(self.format).split(
            io.BytesIO(self.data).read, size, for_values=for_values
        )
        return list(self._sound(blocks, for_values))

    def _split_bytes(self, size: int) -> list[SourceBlock]:
        """All blocks, cut as bytes."""
        return list(FORMATS.get("bytes").split(io.BytesIO(self.data).read, size))

    def _sound(self, blocks: Iterator[SourceBlock], for_values: bool) -> Iterator[SourceBlock]:
        """``blocks`` without the last one, where that ends only because no more is held. Where it
        is the only one it is kept as bytes; RefusedError as values."""
        for block in blocks:
            if not (self.broken_off and block.last):
                yield block
            elif not block.index:
                if for_values:
                    raise RefusedError("too little of it is held in memory to have a whole value")
                yield block


def _first_records(subject: Subject, count: int) -> bytes:
    """The first ``count`` records of a file, as its format writes a sequence of them.

    UsageError where records cannot be told apart, or these are more bytes than may be held.
    """
    data = io.BytesIO()

    def write(piece: Buffer) -> None:
        data.write(piece)
        if data.tell() > subject.most_held:
            most = format_size(subject.most_held)
            raise UsageError(f"{count:,} records are more than the {most} that are held in memory")

    with opened_source(subject.path) as opened:
        slice_source(opened.read, write, subject.format, Span(0, count))
    return data.getvalue()


def count_records(subject: Subject, most: int) -> int:
    """How many records a file has; counting stops at ``most`` or soon behind it.

    UsageError where records cannot be told apart.
    """
    count = 0
    with opened_source(subject.path) as opened:
        for block in FORMATS.get(subject.format).split(opened.read, DEFAULT_BLOCK_SIZE):
            if block.records is None:
                raise UsageError(
                    f"the records of this source ({subject.format}) cannot be told apart",
                    hint="a sweep goes over records, or over the N of a sample",
                )
            count += block.records
            if count >= most:
                break
    return count


def read_windows(path: Path, size: int, most: int, *, lines: bool = False) -> bytes:
    """About ``most`` bytes of a file of ``size`` bytes, in windows that are spread over it, the
    first at its start, the last at its end; all where it has no more. ``lines``: only whole lines.
    OSError."""
    if size <= most:
        return path.read_bytes()
    count = min(max(most // _WINDOW, 4), _WINDOWS)
    length = most // count
    pieces = []
    with path.open("rb") as file:
        for number in range(count):
            file.seek(number * (size - length) // (count - 1))
            if lines and number:
                file.readline(length)
            piece = file.read(length)
            # A line that is longer than a window is cut, and is no record then.
            end = piece.rfind(b"\n") + 1 if lines else 0
            pieces.append(piece[:end] if end else piece)
    return b"".join(pieces)


class ObjectMaterial:
    """The Python object of a built-in sample, in memory (``value``).
    ``size``: the bytes of the sample's file."""

    def __init__(self, subject: Subject) -> None:
        sample, n = parse_sample(subject.sample)
        self.value: Any = sample.make_value(n)
        self.size = sum(map(len, sample.chunks(n)))
