"""What is measured: the blocks of files, whole or a sample of them, or one Python object.

A ``Subject`` says what it is and is sent to the process that measures; there it becomes a
``Material`` in memory.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from serialpack.api import HEAD, opened_source
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

#: Bytes of the source in a first look, and in the sample that decides what is measured whole.
LOOK = 64 << 10
SAMPLE = 1 << 20
#: Stands for a part that is all that is held in memory.
WHOLE = 0

#: The most bytes of a file that is all held in memory; of a larger one a part is.
MOST_HELD = 256 << 20

#: The sample of a file that can be read from any line on is spread over it in so many windows; of a
#: small file in fewer, down to four, which have at least so many bytes.
_WINDOWS = 16
_WINDOW = 64 << 10


class Standing(NamedTuple):
    """What a measured file stands for: ``bytes`` of so many ``files`` like it, which take
    ``squeezed`` bytes behind the codec of the survey. ``group``: those that it was drawn from; None
    where it stands for itself only."""

    bytes: float
    files: float
    squeezed: float
    group: str | None


class Crowd(NamedTuple):
    """How several files are packed. ``pack``, ``unpack``: seconds that each file takes beside the
    work on its bytes, to open it, and to write and name the output. ``many``: there are so many
    small ones that several are worked on at a time."""

    pack: float
    unpack: float
    many: bool


class Subject(NamedTuple):
    """What to measure. ``sample``: ``NAME:N``, in place of a file. ``format``: of the file.

    ``name`` and ``mtime`` are what a container of it stores, so that sizes are those of ``pack``.
    ``records``: only so many first records of a file. ``files``: where there are several, those
    that are measured, each of which says what it ``stands`` for; then ``path`` is what they are
    called together, ``format`` names all their formats, ``larger`` has larger and larger samples of
    them, and ``crowd`` says how they are packed.
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
        """The format of the file, or those of the files."""
        return {file.format for files in (self.files, *self.larger) for file in files} or {
            self.format
        }

    def at(self, n: int) -> Subject:
        """The subject with ``n`` of what the sample counts, or of the file's records; for several
        files, with the ``n``-th of the larger samples."""
        if self.files:
            return self._replace(files=self.larger[n], larger=())
        if self.sample:
            return self._replace(sample=f"{parse_sample(self.sample)[0].name}:{n}")
        return self._replace(records=n)


def file_subject(
    path: str, format: str | None, *, named: bool = True, most_held: int = MOST_HELD
) -> Subject:
    """A file as a subject. ``format``: what the user says that it is; ``named``: its container
    stores its name and time. FileError where it cannot be read, UsageError where it is packed
    already, or is not what the user says.
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
    """A file, or a part of it, in memory. ``size``: bytes of the whole file."""

    def __init__(self, subject: Subject) -> None:
        self.format = subject.format
        self.name, self.mtime = subject.name, subject.mtime
        self._samples: dict[tuple[int, bool], list[SourceBlock]] = {}
        #: Whether the end of ``data`` is not the end of the source.
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
        """Read all of the file, or of a large one a quarter of the most that may be held."""
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
        self, part: int, block_size: int, pieces: int, *, for_values: bool
    ) -> list[SourceBlock]:
        """The blocks of ``part``: of all that is held (``WHOLE``), or of about so many bytes in
        ``pieces`` that are spread evenly.
        """
        whole = part == WHOLE or len(self.data) <= 2 * part
        size = block_size if whole else min(block_size, max(part // pieces, 1))
        if self.broken_off and whole:
            return self._unbroken(size, for_values)
        if self.broken_off:
            # So small that there are whole blocks before the one that is cut off.
            size = min(size, max(len(self.data) // 4, 1))
        if whole:
            return self._split(size, for_values)
        key = (size, for_values)
        if key not in self._samples:
            blocks = self._split(size, for_values)
            if len(blocks) <= pieces and not self.broken_off:
                # One record takes most of it. Bytes can be split anywhere; values are taken whole,
                # in the blocks of ``pack``.
                blocks = self._split(block_size, True) if for_values else self._split_bytes(size)
            step = max(len(blocks) / pieces, 1.0)
            self._samples[key] = [
                blocks[int((i + 0.5) * step)] for i in range(min(pieces, len(blocks)))
            ]
        return self._samples[key]

    def _unbroken(self, size: int, for_values: bool) -> list[SourceBlock]:
        """Blocks of up to ``size`` bytes of what is held, without a last value that is cut off."""
        held = len(self.data)
        # One large block, not many: what the file takes is estimated from it.
        for most in (held * 7 // 8, held // 4):
            blocks = self._split(min(size, max(most, 1)), for_values)
            if 2 * sum(len(block.data) for block in blocks) >= held:
                return blocks
        # All of it is a single value: as bytes it can be split anywhere.
        return blocks if for_values else self._split_bytes(size)

    def _split(self, size: int, for_values: bool) -> list[SourceBlock]:
        blocks = FORMATS.get(self.format).split(
            io.BytesIO(self.data).read, size, for_values=for_values
        )
        return list(self._sound(blocks, for_values))

    def _split_bytes(self, size: int) -> list[SourceBlock]:
        return list(FORMATS.get("bytes").split(io.BytesIO(self.data).read, size))

    def _sound(self, blocks: Iterator[SourceBlock], for_values: bool) -> Iterator[SourceBlock]:
        """``blocks`` without the last one where that ends only because no more is held."""
        for block in blocks:
            if not (self.broken_off and block.last):
                yield block
            elif not block.index:
                if for_values:
                    raise RefusedError("too little of it is held in memory to have a whole value")
                yield block


def _first_records(subject: Subject, count: int) -> bytes:
    """``count`` records of a file from its start, as its format spells a sequence of them.

    UsageError where they cannot be told apart, or are more than may be held.
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
    """How many records a file has, counted up to ``most``.

    UsageError where they cannot be told apart.
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
    """``most`` bytes of a file in windows spread over it, the first at its start; or all, where
    it has no more. ``lines``: only whole lines."""
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
            # Only whole lines; one that is longer than a window is cut, and is no record then.
            end = piece.rfind(b"\n") + 1 if lines else 0
            pieces.append(piece[:end] if end else piece)
    return b"".join(pieces)


class ObjectMaterial:
    """One Python object of a sample. ``size``: bytes of it as JSON, or as the sample's file."""

    def __init__(self, subject: Subject) -> None:
        sample, n = parse_sample(subject.sample)
        self.value: Any = sample.make_value(n)
        self.size = sum(map(len, sample.chunks(n)))
