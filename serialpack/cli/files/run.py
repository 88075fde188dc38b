"""What the verbs share: files one after another, reports, progress, exit codes."""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import IO, TYPE_CHECKING, Any, cast

from serialpack.cli.files.inputs import Inputs, add_input_hint
from serialpack.cli.lines import pieces_of
from serialpack.cli.naming import STDIO, stat_of
from serialpack.cli.options.requests import Manner
from serialpack.cli.signals import stop_if_asked
from serialpack.cli.words import (
    LESS_MEMORY,
    StandardOutputError,
    complain,
    note,
    screen,
)
from serialpack.errors import (
    WORST_FIRST,
    ArchiveError,
    DamagedError,
    FileError,
    RefusedError,
    SerialpackError,
)
from serialpack.stages.stage import Buffer

if TYPE_CHECKING:
    from serialpack.cli.reporting.progress import FilesBar, ProgressBar


def each_file(
    files: Sequence[str],
    manner: Manner,
    work: Callable[[str], dict[str, Any]],
    parts: Sequence[str] = (),
    *,
    hint: bool = True,
    keep: Callable[[dict[str, Any]], object] = len,
    counted: Callable[[SerialpackError], bool] = lambda _: False,
) -> int:
    """Do ``work`` for each file; failures are named, the rest go on. The worst exit code.

    ``work`` gives the line for ``--json``; an exit code other than 0 is in it. ``parts``: what
    each file is made of, where that is the source to be named for an error. ``hint``: whether
    an error says how what is left of a damaged file is had. ``keep`` gets each line too.
    ``counted``: whether an error is only counted, and told at the end with those like it.
    """
    codes = []
    for path in files:
        try:
            check_name(path)
            line = work(path)
            print_line(manner, line)
            keep(line)
            codes.append(line.get("exit", 0))
        except (SerialpackError, OSError, MemoryError) as caught:
            stop_if_asked()
            error = ours(caught)
            add_input_hint(error, path)
            if hint:
                from serialpack.cli.reporting.salvage import add_hint

                add_hint(error, path)
            if not counted(error):
                complain(error.said, named(error.path or path))
            source = error.path if error.path in parts else path
            line = {"source": source, **error_line(error)}
            print_line(manner, line)
            keep(line)
            codes.append(error.exit_code)
    return min(codes, key=WORST_FIRST.index, default=0)


def check_name(path: str) -> None:
    """FileError for what the system takes for no name at all."""
    if "\0" in path:
        raise FileError(
            "is no name of a file: it holds a NUL", hint="-0 ends names with it", path=path
        )


def named(path: str) -> str:
    """``path`` as people call it."""
    return "standard input" if path in (STDIO, "<stdin>") else path


def error_line(error: SerialpackError) -> dict[str, Any]:
    """What a line of ``--json`` says of ``error``."""
    line: dict[str, Any] = {"error": error.said, "exit": error.exit_code}
    if isinstance(error, DamagedError) and error.damage:
        line["damage"] = [each._asdict() for each in error.damage]
    if isinstance(error, ArchiveError):
        line["entries"] = len(error.failures)
    return line


def print_line(manner: Manner, line: dict[str, Any]) -> None:
    """A line of ``--json``, where it is asked for and there is something to say."""
    if manner.as_json and line:
        with screen.free():
            sys.stdout.writelines(pieces_of(line))
            print(flush=True)


def ours(error: Exception) -> SerialpackError:
    """``error`` as one of ours, so that the other files of a batch go on."""
    if isinstance(error, StandardOutputError):
        raise error
    if isinstance(error, SerialpackError):
        return error
    if isinstance(error, BrokenPipeError):
        raise error
    if isinstance(error, OSError):
        return FileError((error.strerror or str(error)).lower())
    return FileError("out of memory", hint=LESS_MEMORY)


def data_of(path: str) -> str | IO[bytes]:
    """What to read the input ``path`` from."""
    return sys.stdin.buffer if path == STDIO else path


def stdout(*, force: bool, binary: bool = False) -> IO[bytes]:
    """Standard output for data; RefusedError where that is a terminal and the data ``binary``.

    Data that may be text is looked at when it comes.
    """
    sys.stdout.flush()
    raw = cast("IO[bytes]", getattr(sys.stdout.buffer, "raw", sys.stdout.buffer))
    if force or not sys.stdout.isatty():
        return cast("IO[bytes]", _Stdout(raw))
    if binary:
        raise _terminal()
    return cast("IO[bytes]", _TextOnly(raw))


class _Stdout:
    """Standard output without a buffer; waits also where the pipe, shared by others, does not."""

    name = "standard output"

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw

    def write(self, data: Buffer) -> int:
        while (count := self._raw.write(data)) is None:
            import select

            select.select([], [self._raw], [])
        return count


class _TextOnly(_Stdout):
    """A terminal that takes text and refuses what begins like binary data."""

    def __init__(self, raw: IO[bytes]) -> None:
        super().__init__(raw)
        self._looked = False

    def write(self, data: Buffer) -> int:
        if not self._looked:
            self._looked = True
            if any(b < 32 and b not in b"\t\n\r" for b in bytes(data[:4096])):
                raise _terminal()
        return super().write(data)


def _terminal() -> RefusedError:
    return RefusedError(
        "binary output to a terminal", hint="-o FILE, or > FILE; -f writes it all the same"
    )


def tell_found(
    inputs: Inputs, manner: Manner, keep: Callable[[dict[str, Any]], object] = len
) -> int:
    """Say what was not found in folders, and why; the worst exit code. ``keep`` gets each line."""
    for note_line in inputs.notes:
        say(manner, note_line)
    for error in inputs.errors:
        complain(error.said, error.path)
        print_line(manner, line := {"source": error.path, **error_line(error)})
        keep(line)
    return min((error.exit_code for error in inputs.errors), key=WORST_FIRST.index, default=0)


def shows_progress(manner: Manner) -> bool:
    """Whether there is someone to look at a bar, and who wants one."""
    return not (manner.quiet or manner.no_progress) and sys.stderr.isatty()


def progress_bar(
    path: str, manner: Manner, *, counts_written: bool = False
) -> AbstractContextManager["ProgressBar | None"]:
    """A bar where there is someone to look at it."""
    if not shows_progress(manner):
        return nullcontext()
    from serialpack.cli.reporting.progress import ProgressBar

    return ProgressBar(os.path.basename(named(path)), counts_written=counts_written)


def files_bar(files: Sequence[str], manner: Manner) -> AbstractContextManager["FilesBar | None"]:
    """A bar over several files, where there is someone to look at it."""
    if len(files) < 2 or not shows_progress(manner):
        return nullcontext()
    from serialpack.cli.reporting.progress import FilesBar

    return FilesBar([0 if found is None else found.st_size for found in map(stat_of, files)])


def say(manner: Manner, line: str, *, verbose_only: bool = False) -> None:
    """A closing line, unless quiet."""
    if not manner.quiet and (manner.verbose or not verbose_only):
        note(line)


def rounded(seconds: dict[str, float]) -> dict[str, float]:
    return {stage: round(spent, 6) for stage, spent in seconds.items()}
