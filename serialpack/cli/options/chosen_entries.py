"""Which entries of an archive are meant, where ``--include`` and ``--exclude`` choose in that."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from serialpack import api
from serialpack.cli.naming import STDIO, SUFFIX, typed_words
from serialpack.cli.options.requests import Sources, UnpackRequest
from serialpack.errors import SerialpackError, UsageError
from serialpack.files.globs import glob_of
from serialpack.files.paths import entry_path
from serialpack.text import command_line, printable, quoted

if TYPE_CHECKING:
    from serialpack.inspection.info import Inspection

#: What is said of a file that is no archive.
NO_ARCHIVE = "--include and --exclude choose in archives, and with -r in folders; it is none"


def in_archives(sources: Sources) -> tuple[Sources, dict[str, Any]]:
    """What is asked for without its globs, and these as ``unpack_archive`` takes them.

    Without ``-r`` they choose in archives, not in folders.
    """
    if sources.recursive or not (sources.include or sources.exclude):
        return sources, {}
    chosen = {"include": sources.include, "exclude": sources.exclude}
    return sources._replace(include=(), exclude=()), chosen


def chosen_entries(asked: UnpackRequest) -> tuple[UnpackRequest, dict[str, Any]]:
    """What is asked of ``unpack`` without its globs, and these as ``unpack_archive`` takes them.

    UsageError where ``--rm`` would remove an archive of which not all is unpacked.
    """
    sources, chosen = in_archives(asked.sources)
    if chosen and not asked.outputs.keep:
        raise UsageError(
            "--rm needs the whole archive to be unpacked",
            hint="leave out --include and --exclude",
        )
    return asked._replace(sources=sources), chosen


def entry_words(asked: UnpackRequest) -> list[str]:
    """What is asked for of one entry, and where it goes, as that is typed."""
    ranges = {"--records": asked.records, "--bytes": asked.byte_range}
    words = [
        word
        for option, span in ranges.items()
        if span is not None
        for word in (option, f"{span[0]}:{'' if span[1] is None else span[1]}")
    ]
    fields = ",".join(asked.conversion.fields)
    for option, said in (("--fields", fields), ("--to", asked.to), ("-o", asked.outputs.output)):
        words += [option, said] if said else []
    return words


def check_no_entries(paths: Sequence[str]) -> None:
    """UsageError where the names of entries are typed behind the name of an archive, as tar and
    unzip take them: the whole archive would be unpacked before it is said that these are no
    containers."""
    archive, *names = paths
    if not names or any(name == STDIO or _is_packed(name) for name in names):
        return
    held = _entries_of(archive)
    globs = {name: _glob_in(held, name) for name in names}
    others = [name for name, glob in globs.items() if not glob]
    if not held or any(name.endswith(SUFFIX) or os.path.lexists(name) for name in others):
        return
    for name, glob in globs.items():
        if not glob:
            said = f"{printable(archive)} has no entry {printable(name)}; nothing was written"
            raise UsageError(said, hint=command_line(["serialpack", "inspect", archive]))
    typed = typed_words()[1:]
    words = [word for each in typed for word in _chosen_by_word(each, globs) if word != "--rm"]
    raise UsageError(
        f"--include takes entries of {printable(archive)}; nothing was written",
        hint=command_line(["serialpack", "unpack", *words]),
    )


def option_of(archives: Sequence[str], name: str) -> str | None:
    """What is to be said of ``name`` where it is an entry of one of ``archives``."""
    for archive in archives:
        if glob := _glob_in(_entries_of(archive), name):
            return f"of {archive} --include {quoted(glob)} takes that entry"
    return None


def _is_packed(name: str) -> bool:
    """Whether ``name`` is that of a container which is there."""
    return name.endswith(SUFFIX) and os.path.lexists(name)


@cache
def _entries_of(archive: str) -> set[str]:
    """The paths of the entries in an archive; an empty set for any other file."""
    try:
        listed = api.inspect(archive).members if os.path.isfile(archive) else ()
    except (SerialpackError, OSError, ValueError):
        return set()  # reading it says why
    return {entry.path for member in listed for entry in member.entries or ()}


def _glob_in(held: Collection[str], name: str) -> str:
    """What chooses ``name``, a path, a folder or a glob, of the entries ``held``; "" if nothing."""
    from serialpack.files.globs import chosen_by

    path = entry_path(name)[0]
    if path in held or any(each.startswith(f"{path}/") for each in held):
        return glob_of(path)
    takes = chosen_by([name], ())
    return name if takes is not None and any(map(takes, held)) else ""


def _chosen_by_word(word: str, globs: Mapping[str, str]) -> list[str]:
    return ["--include", globs[word]] if word in globs else [word]


def only_chosen(found: Inspection, chosen: dict[str, Any]) -> Inspection:
    """``found`` with the entries that are ``chosen``, and the members that these are in."""
    from serialpack.archive.extract import none_fits
    from serialpack.files.globs import chosen_by
    from serialpack.inspection.archived import chosen_of

    takes = chosen_by(**chosen)
    if takes is None:
        return found
    listed = [each for each in found.members if each.entries is not None]
    if not listed:
        raise UsageError(NO_ARCHIVE)
    members = [
        member._replace(entries=entries)
        for member in listed
        if (entries := chosen_of(member.entries or (), takes))
    ]
    if not members:
        raise none_fits()
    return found._replace(members=tuple(members))
