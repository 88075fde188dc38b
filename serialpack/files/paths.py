"""Paths of entries and names in containers: made from paths of files, and turned into files
again."""

from __future__ import annotations

import os

from serialpack.errors import FileError, RefusedError, SerialpackError
from serialpack.far import is_far
from serialpack.files.source import Path, file_error
from serialpack.text import named_here, printable


def entry_path(path: str) -> tuple[str, str]:
    """The path that the file at ``path`` has in an archive, and what was taken off its front for
    that.

    As with tar, everything up to the last ``..`` is taken off, or the first ``/`` (on Windows the
    drive, too); of a URL the scheme and the host, or bucket.
    """
    drive, rest = os.path.splitdrive(path)
    if is_far(path):
        from serialpack.far.urls import root_of

        drive = root_of(path)
        rest = path[len(drive) :]
    parts = rest.replace(os.sep, "/").split("/")
    upwards = [number for number, part in enumerate(parts) if part == ".."]
    if upwards:
        removed = "/".join(parts[: upwards[-1] + 1]) + "/"
        parts = parts[upwards[-1] + 1 :]
    else:
        removed = "/" if rest and not parts[0] else ""
    return "/".join(part for part in parts if part not in ("", ".")), drive + removed


def check_folder(folder: Path) -> None:
    """FileError where ``folder`` is a URL, or something else than a folder is there."""
    if is_far(folder):
        hint = "name a folder of this machine"
        raise FileError("an archive does not unpack into a far folder", path=folder, hint=hint)
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise FileError("is no folder", path=os.fspath(folder), hint="name another one")


#: The folders for which ``make_folder`` was called in this process.
_made: set[str] = set()


def made_again(folder: str) -> bool:
    """If ``folder`` was made by this process and is gone, make it again, and return True. Another
    run may remove a folder in which nothing is."""
    path = os.path.abspath(folder)
    return path in _made and not os.path.lexists(path) and bool(make_folder(path))


def make_folder(folder: Path) -> list[str]:
    """Make ``folder`` and all folders above it that do not exist. Returns the folders in which one
    was made; FileError.
    """
    check_folder(folder)
    path = os.path.abspath(folder)
    _made.add(path)
    missing: list[str] = []
    made_in: list[str] = []
    try:
        while not _is_there(path):
            missing.append(path)
            path = os.path.dirname(path)
        while missing:
            path = missing.pop()
            made_in.append(os.path.dirname(path))
            try:
                os.mkdir(path)
            except FileExistsError:  # another made it meanwhile
                if not os.path.isdir(path):
                    raise
    except OSError as error:
        raise file_error(error, os.fspath(folder), "make the folder") from error
    return made_in


def make_folder_of_one(folder: Path, named: Path | None = None) -> list[str]:
    """``make_folder`` for one file of several, whose error it is: see ``as_of_one``."""
    try:
        return make_folder(folder)
    except FileError as error:
        as_of_one(error, os.fspath(named or folder))
        raise


def as_of_one(error: SerialpackError, folder: str) -> None:
    """Make ``error`` say that ``folder`` cannot be made, and drop its path and hint: the caller
    sets the path to that of the file for which the folder was to be made."""
    error.message = f"{printable(folder)}: {error.message}"
    error.path = error.hint = None


def _is_there(path: str) -> bool:
    """Whether anything is at ``path``; OSError where nothing can be, as the path is too long."""
    try:
        os.stat(path)
    except FileNotFoundError:
        return os.path.lexists(path)
    return True


def place_below(folder: Path, entry: str, *, windows: bool = os.name == "nt") -> str:
    """The path of the file that the ``entry`` of an archive becomes below ``folder``; the folders
    that it is in are made.

    RefusedError where the file would lie outside of ``folder``: behind a symbolic link, or because
    Windows takes a part of the path for a drive, a device or a folder.
    """
    parts = named_here(entry).split("/")
    path = os.path.join(folder, *parts)
    if windows and any(":" in part or safe_name(part) != part for part in parts):
        raise RefusedError("is no path of a file on Windows", path=path)
    # What is not there yet is no link: only what is can lead elsewhere.
    root, parent = (os.path.realpath(p) for p in (folder, os.path.dirname(path)))
    if not os.path.join(parent, "").startswith(os.path.join(root, "")):
        raise RefusedError("a symbolic link leads out of the folder", path=path)
    make_folder_of_one(parent, os.path.dirname(path))
    return path


def safe_name(name: str | None) -> str | None:
    """The base name in ``name``, as a container has it, without what is not safe; None where
    nothing is left.

    Anyone may have made the container: folders, ``..``, control characters, NUL, and names of
    devices on Windows must not reach the file system.
    """
    if not name:
        return None
    base = name.replace("\\", "/").rsplit("/", 1)[-1]
    base = "".join(c for c in base if c.isprintable() or 0xDC80 <= ord(c) <= 0xDCFF)
    base = named_here(base.strip(" "))
    device = base.split(".", 1)[0].rstrip(" ").upper()
    if base in ("", ".", "..") or device in _DEVICES or len(os.fsencode(base)) > 255:
        return None
    return base


_DEVICES = {"CON", "PRN", "AUX", "NUL", *(f"{d}{n}" for d in ("COM", "LPT") for n in range(1, 10))}
