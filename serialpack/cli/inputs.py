"""Which inputs there are: those named, those in lists of names, those in folders."""

import os
import shlex
import sys
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from serialpack.cli.naming import STDIO
from serialpack.cli.requests import Sources
from serialpack.errors import FolderError, SerialpackError, UsageError
from serialpack.far import is_far
from serialpack.files import Source, shown
from serialpack.text import number_of

if TYPE_CHECKING:
    from serialpack.folders import Walk


class Takes(NamedTuple):
    """What a verb takes of the files in folders: ``test`` says which by name, ``words`` what the
    others are called. ``whole``: folders and links too, see ``Walk``; else ``keeps_empty`` says
    what does keep the empty ones, where that is worth a word."""

    test: Callable[[str], bool] = lambda _: True
    words: str = ""
    whole: bool = False
    keeps_empty: str = ""


class Inputs(NamedTuple):
    """The inputs of one call.

    ``below``: of those found in a folder, the folder below it that they are in, which is kept
    under ``-o``. ``errors``: the folders that could not be looked into. ``notes``: what was left
    out, a line each.
    """

    paths: Sequence[str]
    below: dict[str, str]
    errors: list[SerialpackError]
    notes: list[str]
    recursive: bool = False


#: No inputs at all.
NONE = Inputs((), {}, [], [])


def input_files(
    files: Sequence[str], sources: Sources, takes: Takes, outputs: Collection[str] = ()
) -> Inputs:
    """The inputs: those named and those of ``sources``; standard input where there are none.

    Names are bytes to the system, and stay what they are. ``outputs``: what is written to, as it
    is called from the root, and is no input where it is in a folder that is.
    """
    names = [shown(name) for name in _names(files, sources)]
    if not sources.recursive:
        if sources.include or sources.exclude or sources.gitignore:
            raise UsageError("--include, --exclude and --gitignore choose in folders, with -r")
        return Inputs(names or (STDIO,), {}, [], [])
    if not names and sources.files_from is None:
        raise UsageError("-r takes the files in folders: name one")
    found = Inputs([], {}, [], [], recursive=True)
    paths: list[str] = []
    for name in names:
        far = is_far(name)
        if name == STDIO or "\0" in name or not (far or os.path.isdir(name)):
            paths.append(name)
            continue
        if far and sources.gitignore:
            raise UsageError(
                f"--gitignore is for folders of this machine, not for {name}",
                hint="--exclude leaves out what a glob means",
            )
        from serialpack.folders import FarWalk, Walk

        walk = (FarWalk if far else Walk)(
            name,
            include=sources.include,
            exclude=sources.exclude,
            takes=takes.test,
            without=outputs,
            whole=takes.whole,
            gitignore=sources.gitignore,
        )
        empty = True
        for path, below in walk:
            empty = False
            if path not in found.below:
                found.below[path] = below
                paths.append(path)
        found.errors.extend(walk.errors)
        found.notes.extend(_notes(walk, takes, empty=empty))
    return found._replace(paths=paths)


def _names(files: Sequence[str], sources: Sources) -> Sequence[str]:
    """The names that were typed, and those in a list of them."""
    if sources.files_from is None:
        if sources.nul:
            raise UsageError("-0 goes with --files-from")
        return files
    with Source(sys.stdin.buffer if sources.files_from == STDIO else sources.files_from) as source:
        listed = b"".join(iter(lambda: source.read(1 << 16), b""))
    names = [os.fsdecode(n) for n in listed.split(b"\0" if sources.nul else b"\n") if n]
    if not sources.nul:
        names = [n.removesuffix("\r") for n in names]
    if sources.files_from == STDIO and STDIO in (*files, *names):
        raise UsageError("standard input cannot give both the names and the data")
    return (*files, *names)


def _notes(walk: "Walk", takes: Takes, *, empty: bool) -> list[str]:
    """What of a folder is left out, and is not what was asked for."""
    notes = [f"{path}: is written to, and left out" for path in walk.passed_over]
    left = [
        (walk.not_taken, takes.words, takes.words),
        (walk.ignored, "that .gitignore names", "that .gitignore names"),
        (walk.links, "link to a folder", "links to folders"),
        (walk.others, "that is no file", "that are no files"),
    ]
    words = [number_of(count, one, many) for count, one, many in left if count]
    if walk.empty and takes.keeps_empty:
        words.append(f"{number_of(walk.empty, 'empty folder')} ({takes.keeps_empty})")
    if empty and not walk.errors:
        out = f", {', '.join(words)} left out" if words else ""
        notes.append(f"{walk.folder}: no files to take{out}")
    elif words:
        notes.append(f"{walk.folder}: left out: {', '.join(words)}")
    return notes


def add_folder_hint(error: SerialpackError, path: str) -> None:
    """Say of a folder that was named as a file how the files in it are taken."""
    if isinstance(error, FolderError) and error.path == path and os.path.isdir(path):
        import click  # not above: worker processes need none of it

        verb = click.get_current_context().command
        if any(param.name == "recursive" for param in verb.params):
            error.hint = f"serialpack {verb.name} -r {shlex.quote(path)}"
