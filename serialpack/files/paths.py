"""Names and paths in containers: made from those of files, and back into files below a folder."""

from __future__ import annotations

import os

from serialpack.errors import FileError, RefusedError, SerialpackError
from serialpack.far import is_far
from serialpack.files.source import Path, file_error
from serialpack.text import named_here, printable


def entry_path(path: str) -> tuple[str, str]:
    """The path in an archive for the file at ``path``, and what was taken off its front.

    As with tar, that is all up to the last ``..``, or the ``/`` (on Windows the drive, too); of
    a URL scheme and host, or bucket.
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
    """FileError where ``folder`` is something else."""
    if is_far(folder):
        hint = "name a folder of this machine"
        raise FileError("an archive does not unpack into a far folder", path=folder, hint=hint)
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise FileError("is no folder", path=os.fspath(folder), hint="name another one")


#: Folders that were made, or were there, when this process was to make them.
_made: set[str] = set()


def made_again(folder: str) -> bool:
    """Whether ``folder`` was made once more, which this process was to make, and which is gone:
    another run removes it where nothing has come into it."""
    path = os.path.abspath(folder)
    return path in _made and not os.path.lexists(path) and bool(make_folder(path))


def make_folder(folder: Path) -> list[str]:
    """Make ``folder``, and those it is in, where they are not there, however many they are.

    The folders that something was made in.
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
    """Have ``error`` say which ``folder`` cannot be made, and leave its path to the file that it
    was for, which the caller knows."""
    error.message = f"{printable(folder)}: {error.message}"
    error.path = error.hint = None


def _is_there(path: str) -> bool:
    """Whether there is anything at ``path``; OSError where there cannot be: it is too long."""
    try:
        os.stat(path)
    except FileNotFoundError:
        return os.path.lexists(path)
    return True


def place_below(folder: Path, entry: str, *, windows: bool = os.name == "nt") -> str:
    """Where the ``entry`` of an archive goes below ``folder``. The folders it is in are made.

    RefusedError where that would be elsewhere: over a symbolic link, or because a part of the
    path means something else to Windows (a drive, a device, a folder).
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
    """The base name in a stored name, or None where it holds no safe one.

    A name comes from a file that anyone may have made: folders, ``..``, control characters,
    NUL and names that mean devices on Windows never reach the file system.
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
