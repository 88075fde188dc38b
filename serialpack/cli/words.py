"""Words for people: errors, names, tables. Nothing here decides anything."""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any, cast

from serialpack.errors import NO_NAME, FileError
from serialpack.formats import FORMATS
from serialpack.text import aligned, each_aligned, number_of, printable
from serialpack.units import format_size

#: What each exit code says: what to do next. Manual pages are made from it.
EXIT_CODES = {
    "0": "All done.",
    "1": "The environment: a missing file, no space, an output that exists already, a library"
    " that is not installed.",
    "2": "The call is wrong: an unknown option or stage, a value out of range, options that"
    " exclude each other.",
    "3": "The input is damaged, or not what it says it is.",
    "4": "Refused: safety, a limit, or a value that the chosen stage cannot hold.",
    "128+N": "Ended by signal N: 130 by Ctrl-C, 141 by a closed pipe.",
}


def other_delimiter(path: str, format: str) -> str:
    """``, delimiter ;, CP1252, no header``: of CSV what its name does not say; else nothing."""
    declared = FORMATS.declaration(format)
    if not declared.dialect_of or path.lower().endswith(declared.extensions or ("\0",)):
        return ""
    from serialpack.formats.csv.found import dialect_of

    dialect = dialect_of(declared)
    mark, words = dialect.delimiter, dialect.in_words
    named = FORMATS.by_extension(path)
    usual = (named.delimiter if named is not None else b"").decode() or ","
    if mark != usual:
        words.insert(0, f"delimiter {'tab' if mark == chr(9) else mark}")
    return "".join(f", {word}" for word in words)


#: The most rows of a table that are made before the first is printed.
_MOST_DRAWN = 10_000

#: What is said of the one file of several inputs where one of them failed.
NOT_ALL = "not written, as it would not have all inputs"

#: What takes less memory.
LESS_MEMORY = "pack and unpack take less with -j 1, and by smaller blocks (pack --block-size 1M)"


class Screen:
    """The terminal: a bar stands on its last line, and gives way to a line that is printed."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        #: Takes away the bar that stands there; it comes again by itself.
        self.clear: Callable[[], object] = lambda: None
        #: Whether a line could not be written: only the exit code tells of it.
        self.lacks_lines = False

    @contextmanager
    def free(self) -> Iterator[None]:
        """No bar stands there meanwhile, and none is drawn."""
        with self.lock:
            self.clear()
            yield

    def write(self, line: str) -> None:
        """Write a line to standard error. Where that takes no more, as a log on a full disk, the
        work goes on; where its reader is gone, BrokenPipeError."""
        with self.free():
            try:
                print(printable(line), file=sys.stderr, flush=True)
            except BrokenPipeError:
                raise
            except OSError:
                self.lacks_lines = True


screen = Screen()


class StandardOutputError(FileError):
    """Standard output takes no more: no fault of any input, and the end of all."""


class _StandardOutput(io.FileIO):
    """Standard output, whose errors name it."""

    def write(self, data: Any, /) -> int:
        try:
            # None where it is full and does not wait: typeshed does not know.
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise StandardOutputError(f"cannot write: {why}", path="standard output") from error


def name_standard_output() -> None:
    """From now on, what cannot be written to standard output is said to be so."""
    old = sys.stdout
    buffer: Any = getattr(old, "buffer", None)
    raw = getattr(buffer, "raw", buffer)  # it has no buffer where PYTHONUNBUFFERED says so
    if type(raw) is not io.FileIO:  # it is a stand-in, or has one behind it
        return
    with suppress(OSError):  # what could not be written will be written again
        old.flush()
    file = _StandardOutput(raw.fileno(), "wb", closefd=False)
    sys.stdout = io.TextIOWrapper(
        cast("IO[bytes]", file) if raw is buffer else io.BufferedWriter(file),
        encoding=old.encoding,
        errors=old.errors,
        line_buffering=old.isatty(),
        write_through=raw is buffer,
    )


def complain(message: str, path: str | None = None) -> None:
    """One line on standard error."""
    message = message if path is None else f"{path or NO_NAME}: {message}"
    if "://" in message:
        from serialpack.far.urls import shown

        message = shown(message)  # a word that was typed, and taken for no URL
    screen.write(f"serialpack: {message}")


def note(message: str) -> None:
    """A line about what was done, on standard error."""
    screen.write(message)


def colourful(stream: Any) -> bool:
    """Whether ``stream`` is a terminal that may be written to in colour."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def print_table(
    rows: Sequence[Sequence[str]], headers: Sequence[str] = (), right: Sequence[int] = ()
) -> None:
    """A table on standard output: drawn by rich on a terminal, else plain aligned columns.

    ``right``: numbers of the columns that are aligned to the right.
    """
    rows = [[printable(cell) for cell in row] for row in rows]
    if colourful(sys.stdout):
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, show_header=bool(headers), header_style="bold")
        for number in range(len(headers) or (len(rows[0]) if rows else 0)):
            header = headers[number] if headers else ""
            style = "bold" if number == 0 and not headers else None
            table.add_column(
                header,
                style=style,
                justify="right" if number in right else "left",
                overflow="fold",
            )
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        Console().print(table)
        return
    lines = aligned([list(headers), *rows] if headers else rows, right)
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def print_long_table(
    rows: Callable[[], Iterable[Sequence[str]]],
    count: int,
    headers: Sequence[str],
    right: Sequence[int],
) -> None:
    """As ``print_table``, of ``count`` rows; of very many none are kept: ``rows`` makes them
    twice."""
    if count <= _MOST_DRAWN:
        print_table([*rows()], headers, right)
        return

    def lines() -> Iterator[Sequence[str]]:
        yield headers
        yield from ([printable(cell) for cell in row] for row in rows())

    for line in each_aligned(lines, right):
        sys.stdout.write(f"{line}\n")


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"


def counted(size: int) -> str:
    """``size`` for a person, and to the byte: ``1.5 KiB (1,536 bytes)``."""
    if size < 1024:
        return number_of(size, "byte")
    return f"{format_size(size)} ({size:,} bytes)"


def ratio(packed: int, size: int, more: str = " bytes more, around the data") -> str:
    """What ``packed`` bytes are of ``size``; of a few bytes, how many ``more`` they are."""
    if packed <= 2 * size:
        return percent(packed, size)
    return f"{packed - size:,}{more}"
