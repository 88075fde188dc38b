"""What ``--dry-run`` finds out: what is wrong is said without anything being done."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from serialpack import api
from serialpack.cli.naming import STDIO
from serialpack.container.reader import SNIFF, is_container
from serialpack.detection.detect import looks_like
from serialpack.errors import ExistingFileError, NotContainerError
from serialpack.far import is_far
from serialpack.files.paths import check_folder
from serialpack.files.source import file_error
from serialpack.files.targets import is_device
from serialpack.text import number_of, printable


def check_place(target: str | None) -> None:
    """FileError where there can be no file or folder ``target``, as far as the system tells before
    it is made: a name that is too long, a folder that is not to be written to."""
    if target in (None, STDIO) or is_far(target) or is_device(target):
        return
    there, names = os.path.abspath(target), []
    while not os.path.isdir(there):
        there, name = os.path.split(there)
        names.append(name)
    try:
        for name in names:
            with suppress(FileNotFoundError):
                os.lstat(os.path.join(there, name))
        if not os.access(there, os.W_OK | os.X_OK):
            read_only = hasattr(os, "statvfs") and os.statvfs(there).f_flag & os.ST_RDONLY
            number = errno.EROFS if read_only else errno.EACCES
            raise OSError(number, os.strerror(number))
    except OSError as error:
        raise file_error(error, target, "write") from None


def check_packed(path: str, *, salvage: bool) -> None:
    """NotContainerError where there is nothing in the file ``path`` to unpack."""
    if salvage:
        return
    with api.opened_source(path) as source:
        if not is_container(head := source.peek(SNIFF)):
            raise NotContainerError(looks_like(head))


def check_entries(path: str, folder: str, *, replaces: bool, chosen: dict[str, Any]) -> None:
    """Raise what unpacking the archive ``path`` below ``folder`` would, as far as its index tells.

    ``chosen``: the globs that choose entries. ``replaces``: what is there is no error by itself.
    """
    from serialpack.archive.extract import none_fits
    from serialpack.files.globs import chosen_by

    check_folder(folder)
    takes = chosen_by(chosen.get("include", ()), chosen.get("exclude", ()))
    fits, there = takes is None, list[str]()
    for entry in (entry for member in api.inspect(path).members for entry in member.entries or ()):
        if takes is None or takes(entry.path):
            fits = True
            if entry.type != "folder" and os.path.lexists(os.path.join(folder, entry.path)):
                there.append(entry.path)
    if not fits:
        raise none_fits()
    if there and not replaces:
        raise _there_already(folder, there)


def _there_already(folder: str, there: Sequence[str]) -> ExistingFileError:
    first = printable(os.path.join(folder, there[0]))
    more = f", and {number_of(len(there) - 1, 'more output')}" if len(there) > 1 else ""
    return ExistingFileError(
        f"{first} exists already{more}",
        hint="--skip-existing leaves what is the same, -f overwrites it",
    )
