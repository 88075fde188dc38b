"""What the verbs share: files one after another, reports, progress, exit codes."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from serialpack.cli.naming import STDIO, check_removal, stat_of
from serialpack.cli.outputs import Targets
from serialpack.cli.requests import Manner, Outputs
from serialpack.cli.words import (
    LESS_MEMORY,
    StandardOutputError,
    complain,
    in_options,
    note,
    screen,
)
from serialpack.errors import (
    WORST_FIRST,
    DamagedError,
    FileError,
    RefusedError,
    SerialpackError,
    UsageError,
)
from serialpack.files import Source, check_output, remove_source
from serialpack.reports import ReportT
from serialpack.stages.stage import Buffer
from serialpack.targets import is_device
from serialpack.units import format_size

if TYPE_CHECKING:
    from serialpack.cli.progress import ProgressBar


def each_file(
    files: Sequence[str],
    manner: Manner,
    work: Callable[[str], dict[str, Any]],
    parts: Sequence[str] = (),
    *,
    hint: bool = True,
) -> int:
    """Do ``work`` for each file; failures are named, the rest go on. The worst exit code.

    ``work`` gives the line for ``--json``; an exit code other than 0 is in it. ``parts``: what
    each file is made of, where that is the source to be named for an error. ``hint``: whether
    an error says how what is left of a damaged file is had.
    """
    codes = []
    for path in files:
        try:
            check_name(path)
            line = work(path)
            print_line(manner, line)
            codes.append(line.get("exit", 0))
        except (SerialpackError, OSError, MemoryError) as caught:
            error = _ours(caught)
            if hint:
                from serialpack.cli.salvage import add_hint

                add_hint(error, path)
            complain(error.said, named(error.path or path))
            source = error.path if error.path in parts else path
            print_line(manner, {"source": source, **error_line(error)})
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
    line: dict[str, Any] = {"error": in_options(error.said), "exit": error.exit_code}
    if isinstance(error, DamagedError) and error.damage:
        line["damage"] = [each._asdict() for each in error.damage]
    return line


def print_line(manner: Manner, line: dict[str, Any]) -> None:
    """A line of ``--json``, where it is asked for and there is something to say."""
    if manner.as_json and line:
        with screen.free():
            print(json.dumps(line), flush=True)


def _ours(error: Exception) -> SerialpackError:
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


def input_files(files: Sequence[str], files_from: str | None, null: bool) -> Sequence[str]:
    """The inputs: those named, and those in ``files_from``; standard input where there are none.

    Names are bytes to the system, and stay what they are.
    """
    if files_from is None:
        if null:
            raise UsageError("-0 goes with --files-from")
        return files or (STDIO,)
    with Source(sys.stdin.buffer if files_from == STDIO else files_from) as source:
        listed = b"".join(iter(lambda: source.read(1 << 16), b""))
    names = [os.fsdecode(n) for n in listed.split(b"\0" if null else b"\n") if n]
    if not null:
        names = [n.removesuffix("\r") for n in names]
    if files_from == STDIO and STDIO in (*files, *names):
        raise UsageError("standard input cannot give both the names and the data")
    return (*files, *names)


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


class Input(NamedTuple):
    """An input, with its status from before it was opened: what --rm removes must be that."""

    path: str
    before: os.stat_result | None

    @classmethod
    def of(cls, path: str) -> "Input":
        """The input as it is now."""
        return cls(path, None if path == STDIO else stat_of(path))


class Mover:
    """What the verbs that write files do around each file, whatever they do with it."""

    def __init__(
        self,
        inputs: Sequence[str],
        targets: Targets,
        outputs: Outputs,
        manner: Manner,
    ) -> None:
        if outputs.dry_run and manner.as_json:
            raise UsageError("--dry-run and --json exclude each other")
        if outputs.profile is not None:
            check_output(outputs.profile, force=outputs.force)
        self.inputs = inputs
        self.targets = targets
        #: What a profile must not be written over either, as it is called from the root.
        self.taken: set[str] = set()
        self._manner = manner
        self._outputs = outputs
        self.dry_run = outputs.dry_run
        self._profiled: list[tuple[str, dict[str, float], dict[str, int]]] = []

    def each(
        self,
        files: Sequence[str],
        work: Callable[[str], dict[str, Any]],
        parts: Sequence[str] = (),
        *,
        hint: bool = True,
    ) -> int:
        """Do ``work`` for each file, then draw the profile; the worst exit code."""
        if not self.dry_run:
            self.targets.make_folder()
        code = each_file(files, self._manner, work, parts, hint=hint)
        if self._outputs.profile is not None:
            from serialpack.cli.profile import write_profile

            write_profile(
                self._outputs.profile,
                self._profiled,
                force=self._outputs.force,
                taken=self.targets.used | self.taken,
            )
        return code

    def move(
        self,
        inputs: Sequence[Input],
        target: str | None,
        work: Callable[[Any, "ProgressBar | None"], ReportT],
        *,
        check: Callable[[], object],
        plan: Iterable[str],
        closing: Callable[[ReportT], Iterable[str]],
        binary: bool = False,
        counts_written: bool = False,
    ) -> ReportT | None:
        """Do ``work`` from ``inputs`` to ``target``, and say so; None where it is only a plan.

        ``work`` gets a target and what to call with its progress. A plan raises what ``check``
        does. ``plan`` says what would be done, ``closing`` what was, a line each. ``binary``:
        what is written is certainly no text. ``counts_written``: progress is told by the bytes
        written, of a total that the work knows.
        """
        paths = [path for path, _ in inputs]
        if self._manner.as_json and target == STDIO:
            raise UsageError(
                "--json and the data cannot both go to standard output", hint="-o FILE"
            )
        if not self._outputs.keep and (STDIO in (*paths, target) or is_device(target)):
            raise UsageError("--rm needs a file on both sides")
        for path in paths:
            check_removal(path, keep=self._outputs.keep)
        if self.dry_run:
            if STDIO not in paths:
                check()
            for line in plan:
                say(self._manner, line)
            return None
        label = paths[0] if len(paths) == 1 else target or ""
        self.taken.update(map(os.path.realpath, [*paths, target or label]))
        to = stdout(binary=binary, force=self._outputs.force) if target == STDIO else target
        with progress_bar(label, self._manner, counts_written=counts_written) as bar:
            report = work(to, bar)
        for line in closing(report):
            say(self._manner, line, verbose_only=target == STDIO)
        if self._outputs.stats:
            print_stats(report.seconds, report.sizes)
        self._profiled.append((label, report.seconds, report.sizes))
        if not self._outputs.keep:
            for path, before in inputs:
                remove_source(path, before)
        return report


def mover_of(
    files: Sequence[str],
    output: str | None,
    outputs: Outputs,
    manner: Manner,
    *,
    each: bool = True,
    joins: bool = False,
) -> Mover:
    """What moves the inputs that were named.

    ``output``: where to; ``each``: a target for each; ``joins``: which can be standard output.
    """
    inputs = input_files(files, outputs.files_from, outputs.nul)
    targets = Targets(inputs if each else (), output, joins=joins)
    return Mover(inputs, targets, outputs, manner)


def shows_progress(manner: Manner) -> bool:
    """Whether there is someone to look at a bar, and who wants one."""
    return not (manner.quiet or manner.no_progress) and sys.stderr.isatty()


def progress_bar(
    path: str, manner: Manner, *, counts_written: bool = False
) -> AbstractContextManager["ProgressBar | None"]:
    """A bar where there is someone to look at it."""
    if not shows_progress(manner):
        return nullcontext()
    from serialpack.cli.progress import ProgressBar

    return ProgressBar(os.path.basename(named(path)), counts_written=counts_written)


def say(manner: Manner, line: str, *, verbose_only: bool = False) -> None:
    """A closing line, unless quiet."""
    if not manner.quiet and (manner.verbose or not verbose_only):
        note(line)


def print_stats(seconds: dict[str, float], sizes: dict[str, int]) -> None:
    """Seconds and bytes of each stage on standard error; seconds add up over threads."""
    for stage, spent in seconds.items():
        size = sizes.get(stage)
        speed = f"{size / spent / 1e6:8.0f} MB/s" if size and spent > 1e-6 else ""
        shown = format_size(size) if size else ""
        note(f"  {stage:<12} {spent:9.3f} s  {shown:>10} {speed}".rstrip())


def rounded(seconds: dict[str, float]) -> dict[str, float]:
    return {stage: round(spent, 6) for stage, spent in seconds.items()}
