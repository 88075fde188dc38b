"""Which inputs there are: those named, those in lists of names, those in folders."""

import errno
import os
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from serialpack.cli.naming import STDIO, SUFFIX, typed_words
from serialpack.cli.options.requests import Sources
from serialpack.errors import FolderError, MissingFileError, SerialpackError, UsageError
from serialpack.far import is_far
from serialpack.files.paths import entry_path
from serialpack.files.regular import as_found
from serialpack.files.source import Source, shown
from serialpack.pipeline.workers import MANY_FILES
from serialpack.text import command_line, number_of, printable, quoted

if TYPE_CHECKING:
    from serialpack.files.folders import Walk


class Takes(NamedTuple):
    """What a verb takes of the files in folders: ``test`` says which by name, ``words`` what one of
    the others is called, and several. ``whole``: folders and links too, see ``Walk``; else
    ``keeps_whole`` says what does keep them, where empty ones and links are worth a word.
    ``links``: links to files, as such."""

    test: Callable[[str], bool] = lambda _: True
    words: tuple[str, str] = ("", "")
    whole: bool = False
    keeps_whole: str = ""
    links: bool = True


class Inputs(NamedTuple):
    """The inputs of one call.

    ``below``: of those found in a folder, the folder below it that they are in, and of those in a
    list the one that they are named with: it is kept under ``-o``. ``errors``: the folders that
    could not be looked into. ``notes``: what was left out, a line each. ``gathered``: they are
    those of folders or of a list, however many there are.
    """

    paths: Sequence[str]
    below: dict[str, str]
    errors: list[SerialpackError]
    notes: list[str]
    gathered: bool = False


#: What makes a glob.
_GLOB = re.compile(r"[*?[]")

#: Characters of a command that is shown as a whole.
_LONGEST = 100

#: No inputs at all.
NONE = Inputs((), {}, [], [])


def input_files(
    files: Sequence[str],
    sources: Sources,
    takes: Takes,
    outputs: Collection[str] = (),
    *,
    many: Callable[[], None] | None = None,
) -> Inputs:
    """The inputs: those named and those of ``sources``; standard input where there are none.

    Names are bytes to the system, and stay what they are. ``outputs``: what is written to, as it
    is called from the root, and is no input where it is in a folder that is. ``many`` is
    called as soon as folders are known to have many files.
    """
    typed, listed = [as_found(shown(name)) for name in files], _listed(files, sources)
    if not sources.recursive:
        if sources.include or sources.exclude or sources.gitignore:
            raise UsageError("--include, --exclude and --gitignore choose in folders, with -r")
        if listed is None:
            if not typed and sys.stdin.isatty():
                raise UsageError("name a FILE, or - for standard input")
            return Inputs(typed or (STDIO,), {}, [], [])
    if not typed and listed is None:
        raise UsageError("-r takes the files in folders: name one")
    _check_chosen([*typed, *(listed or ())], sources)
    gathered = _Gathered(sources, takes, outputs, many)
    for name in typed:
        gathered.add(name)
    for name in listed or ():
        # As a list says where each file is, none of them is to be where another one goes.
        gathered.add(name, entry_path(name)[0])
    notes = gathered.inputs.notes
    if again := gathered.again:
        more = number_of(len(again), "input is", "inputs are")
        notes.append(f"{more} named again, and taken once (first {printable(again[0])})")
    if not (typed or listed):
        said = "standard input" if sources.files_from == STDIO else sources.files_from
        notes.append(f"{said}: the list names nothing")
    return gathered.inputs


class _Gathered:
    """The inputs of folders and lists, as they are found: ``inputs``, and those that were named
    ``again``. Arguments as of ``input_files``."""

    def __init__(
        self,
        sources: Sources,
        takes: Takes,
        outputs: Collection[str],
        many: Callable[[], None] | None,
    ) -> None:
        self._sources = sources
        self._takes = takes
        self._outputs = outputs
        self._many = many
        self._paths: list[str] = []
        self._spelled: set[str] = set()
        self.inputs = Inputs(self._paths, {}, [], [], gathered=True)
        self.again: list[str] = []

    def add(self, name: str, named: str = "") -> None:
        """Take ``name``, or the files in the folder that it is. ``named``: where a list says that
        it is."""
        far = is_far(name)
        if self._sources.recursive and (far or _is_folder(name)):
            self._walk(name, named, far)
        elif name != STDIO and not self._is_new(name):
            self.again.append(name)
        else:
            self._paths.append(name)
            self.inputs.below[name] = os.path.dirname(named)

    def _is_new(self, path: str) -> bool:
        """Whether ``path`` was not taken yet, in whatever spelling; it is from now on."""
        count = len(self._spelled)
        self._spelled.add(_one_spelling(path))
        return len(self._spelled) > count

    def _walk(self, folder: str, named: str, far: bool) -> None:
        if far and self._sources.gitignore:
            raise UsageError(
                f"--gitignore is for folders of this machine, not for {folder}",
                hint="--exclude leaves out what a glob means",
            )
        from serialpack.files.folders import FarWalk, Walk

        takes = self._takes
        walk = (FarWalk if far else Walk)(
            folder,
            include=self._sources.include,
            exclude=self._sources.exclude,
            takes=takes.test,
            links=takes.links,
            without=self._outputs,
            whole=takes.whole,
            gitignore=self._sources.gitignore,
        )
        empty = True
        for path, below in walk:
            # Of an archive folders are entries, too, and are no files to take.
            empty = empty and takes.whole and os.path.isdir(path) and not os.path.islink(path)
            if self._is_new(path.rstrip("/")):  # the folder itself, as it was typed
                self.inputs.below[path] = os.path.join(named, below)
                self._paths.append(path)
                if len(self._paths) == MANY_FILES and self._many is not None:
                    self._many()
        # A folder that is named beside one that it is in is walked twice.
        told = {error.path for error in self.inputs.errors}
        self.inputs.errors.extend(error for error in walk.errors if error.path not in told)
        self.inputs.notes.extend(_notes(walk, takes, self._sources, empty=empty))


def _one_spelling(path: str) -> str:
    """``path`` without ``./`` and doubled slashes; as it is where ``..`` may go up from a link."""
    plain = "./" not in path and "//" not in path
    return path if plain or ".." in path or "://" in path else os.path.normpath(path)


def check_no_archive(files: Sequence[str]) -> None:
    """MissingFileError, before any is packed, where the first of ``files`` is named as tar, zip and
    7z name the archive that all others go into."""
    first, *others = files or ("",)
    if (
        first.endswith(SUFFIX)
        and not is_far(first)
        and not os.path.lexists(first)
        and any(map(os.path.exists, others))
    ):
        raise MissingFileError(
            "cannot read: no such file; nothing was packed",
            path=first,
            hint=f"--archive -o {quoted(first)} makes it",
        )


def _check_chosen(names: Sequence[str], sources: Sources) -> None:
    """UsageError for globs where there is no folder to choose in, but files that are there."""
    globs = sources.include or sources.exclude or sources.gitignore
    if sources.recursive and globs and names and all(map(os.path.isfile, names)):
        archives = any(name.endswith(SUFFIX) for name in names)
        raise UsageError(
            "--include, --exclude and --gitignore choose in folders with -r: no input is one",
            hint="unpack without -r chooses in an archive" if archives else None,
        )


def _is_folder(name: str) -> bool:
    return name != STDIO and "\0" not in name and os.path.isdir(name)


def _listed(files: Sequence[str], sources: Sources) -> list[str] | None:
    """The names in the list of them, where there is one."""
    if sources.files_from is None:
        if sources.nul:
            raise UsageError("-0 goes with --files-from")
        return None
    try:
        with Source(sys.stdin.buffer if sources.files_from == STDIO else sources.files_from) as of:
            listed = b"".join(iter(lambda: of.read(1 << 16), b""))
    except FolderError as error:
        error.hint = "--files-from reads a file of names; -r takes the files in a folder"
        raise
    _check_ends(listed, sources)
    if not sources.nul:
        listed = listed.removeprefix(BOM_UTF8)  # as editors of Windows begin it
    names = [os.fsdecode(n) for n in listed.split(b"\0" if sources.nul else b"\n") if n]
    if not sources.nul:
        names = [n.removesuffix("\r") for n in names]
    if sources.files_from == STDIO and STDIO in (*files, *names):
        raise UsageError("standard input cannot give both the names and the data")
    return [as_found(shown(name)) for name in names if name]


def _check_ends(listed: bytes, sources: Sources) -> None:
    """UsageError where all of a list would be one name, since its names end in the other way."""
    said = f"--files-from {sources.files_from}"
    if sources.nul and b"\0" not in listed and b"\n" in listed and not os.path.lexists(listed):
        raise UsageError(f"{said}: its names are lines", hint="without -0 it is read so")
    if not sources.nul and b"\0" in listed and b"\n" not in listed:
        raise UsageError(f"{said}: its names end with NULs", hint="with -0 it is read so")


def _notes(walk: "Walk", takes: Takes, sources: Sources, *, empty: bool) -> list[str]:
    """What of a folder is left out, and is not what was asked for."""
    notes = [f"{path}: is written to, and left out" for path in walk.passed_over]
    left = [
        (walk.not_taken, *takes.words),
        (walk.ignored, "that .gitignore names", "that .gitignore names"),
        (walk.links, "link to a folder", "links to folders"),
        (walk.left_links, "link (--rm removes none)", "links (--rm removes none)"),
        (
            walk.others,
            "that is no file (a pipe, a socket, a device)",
            "that are no files (pipes, sockets, devices)",
        ),
    ]
    words = [number_of(count, one, many) for count, one, many in left if count]
    if walk.empty and takes.keeps_whole:
        words.append(f"{number_of(walk.empty, 'empty folder')} ({takes.keeps_whole})")
    if empty and not walk.errors:
        out = f", {', '.join(words)} left out" if words else ""
        fits = " that fit --include, which is about paths below it" if sources.include else ""
        notes.append(f"{walk.folder}: no files to take{fits}{out}")
    elif words:
        notes.append(f"{walk.folder}: left out: {', '.join(words)}")
    if walk.followed and takes.keeps_whole:
        links = number_of(walk.followed, "link becomes a file", "links become files")
        notes.append(f"{walk.folder}: {links} ({takes.keeps_whole})")
    return notes


def add_input_hint(error: SerialpackError, path: str) -> None:
    """Say of a folder that was named as a file how the files in it are taken, of a glob that no
    shell has expanded what it is called here, and what takes a name that is too long with the
    ending of a container."""
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG and error.hint:
        error.hint += _of_long_names()
    if error.path != path or (error.hint is not None and not isinstance(error, FolderError)):
        return
    if isinstance(error, FolderError) and os.path.isdir(path):
        error.hint = recursive_command(path) or error.hint
    elif os.path.islink(path) and not os.path.exists(path) and (words := _of_dead_links()):
        error.hint = words
    elif isinstance(error, MissingFileError):
        folder, name = os.path.split(path)
        if _GLOB.search(name) and os.path.isdir(folder or os.curdir):
            error.hint = recursive_command(folder or os.curdir, "--include", name)
        else:
            error.hint = _as_tar_has_it(path) or _as_others_have_it(path)


def _of_dead_links() -> str:
    """What there is to do about a link to nothing; "" where it was not found in a folder."""
    import click

    context = click.get_current_context()
    if not context.params.get("recursive"):
        return ""
    keeps = ", and --archive keeps it" if context.command.name == "pack" else ""
    return f"--exclude leaves it out{keeps}"


def _of_long_names() -> str:
    """What else there is to do about an output whose name is too long, in a list."""
    import click

    packs = click.get_current_context().command.name == "pack"
    return ", and --archive takes such names as they are" if packs else ""


def _as_tar_has_it(path: str) -> str | None:
    """What is to be said of ``path``, which is not there, where it is named as tar, zip and 7z name
    an entry of an archive."""
    import click

    context = click.get_current_context()
    packed = [each for each in typed_words() if each.endswith(SUFFIX) and os.path.isfile(each)]
    if context.command.name in ("unpack", "inspect") and packed:
        from serialpack.cli.options.chosen_entries import option_of

        return option_of(packed, path)
    return None


def _as_others_have_it(path: str) -> str | None:
    """What is to be said of ``path``, which is not there, where it is named as others name an
    output, behind the input, or a format, behind ``-f``."""
    import click

    from serialpack.cli.options.foreign_words import is_target
    from serialpack.formats import FORMATS

    context = click.get_current_context()
    verb, typed = str(context.command.name), typed_words()
    if path not in typed:  # it stands in a list
        return None
    others, at = [file for file in context.params["files"] if file != path], typed.index(path)
    if verb == "unpack" and typed[at - 1] == "-f" and path.lower() in FORMATS:
        return command_line(["serialpack", *typed[: at - 1], "-F", *typed[at:]])
    named = is_target(path) if verb == "unpack" else path.endswith(SUFFIX)
    is_second = len(others) == 1 and others[0] in typed[:at] and os.path.isfile(others[0])
    if verb in ("pack", "unpack") and named and is_second and "-o" not in typed:
        return command_line(["serialpack", *typed[:at], "-o", *typed[at:]])
    return None


def recursive_command(folder: str, *more: str) -> str | None:
    """The command that takes the files in ``folder``, with all else that was typed, where that is
    one line to read; None where the verb takes none, or was to take them."""
    import click  # not above: worker processes need none of it

    context = click.get_current_context()
    verb = context.command
    recursive = context.params.get("recursive")
    if recursive is None or (recursive and not more):  # it became a folder meanwhile
        return None
    typed = typed_words()
    start = ["serialpack", str(verb.name), "-r"]
    if typed.count(folder) < 2 and not more:  # it is in a list where it was not typed
        line = command_line([*start, *typed[typed.index(str(verb.name)) + 1 :]])
        if len(line) <= _LONGEST:
            return line
    return command_line([*start, folder, *more])


def listed_command() -> str | None:
    """The command that takes from a list what was typed, with all else that was, where that is one
    line to read and there is no list yet."""
    import click

    context = click.get_current_context()
    typed = typed_words()
    files, verb = context.params["files"], str(context.command.name)
    others = [word for word in typed[typed.index(verb) + 1 :] if word not in files]
    once = sum(map(typed.count, files)) == len(files)  # none is a word of an option, too
    if context.params["files_from"] is not None or not once or any("\n" in n for n in files):
        return None
    start = command_line(["printf", r"%s\n", *files])
    line = f"{start} | {command_line(['serialpack', verb, '--files-from', STDIO, *others])}"
    return line if len(line) <= _LONGEST else None
