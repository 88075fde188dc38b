"""Files one after another: each done, its line printed, its error told; and the worst exit code."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from serialpack.cli.files.inputs import Inputs, add_input_hint
from serialpack.cli.guard import of_limit
from serialpack.cli.options.requests import Manner
from serialpack.cli.reporting.say import error_line, named, print_line, say
from serialpack.cli.signals import stop_if_asked
from serialpack.cli.words import StandardOutputError, complain
from serialpack.errors import WORST_FIRST, FileError, SerialpackError


def each_file(
    files: Sequence[str],
    manner: Manner,
    work: Callable[[str], dict[str, Any]],
    parts: Sequence[str] = (),
    *,
    hint: bool = True,
    keep: Callable[[dict[str, Any]], object] = len,
    counted: Callable[[SerialpackError], bool] = lambda _: False,
    then: Callable[[], Iterable[tuple[str, SerialpackError]]] = tuple,
) -> int:
    """Do ``work`` for each file; failures are named, the rest go on. The worst exit code.

    ``work`` gives the line for ``--json``; an exit code other than 0 is in it. ``parts``: what
    each file is made of, where that is the source to be named for an error. ``hint``: whether
    an error says how what is left of a damaged file is had. ``keep`` gets each line too.
    ``counted``: whether an error is only counted, and told at the end with those like it.
    ``then``: what is done behind the line of a file, for this and those before it; gives those of
    which it failed, and why.
    """
    codes = []

    def fail(path: str, error: SerialpackError) -> None:
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

    for path in files:
        try:
            check_name(path)
            line = work(path)
            print_line(manner, line)
            keep(line)
            codes.append(line.get("exit", 0))
        except Exception as caught:
            stop_if_asked()
            fail(path, ours(caught))
        for source, error in then():
            stop_if_asked()
            fail(source, error)
    return min(codes, key=WORST_FIRST.index, default=0)


def check_name(path: str) -> None:
    """FileError for what the system takes for no name at all."""
    if "\0" in path:
        raise FileError(
            "is no name of a file: it holds a NUL", hint="-0 ends names with it", path=path
        )


def ours(error: Exception) -> SerialpackError:
    """``error`` as one of ours, so that the other files of a batch go on; raised where it is about
    no file."""
    if isinstance(error, StandardOutputError):
        raise error
    if isinstance(error, SerialpackError):
        return error
    if isinstance(error, BrokenPipeError):
        raise error
    if isinstance(error, OSError):
        return FileError((error.strerror or str(error)).lower())
    if (limit := of_limit(error)) is not None:
        return limit
    raise error


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
