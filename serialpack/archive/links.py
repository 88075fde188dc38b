"""Makes the symbolic links of an archive: none that leads out of the folder they go to."""

from __future__ import annotations

import os

from serialpack.container.entries import EntryRow
from serialpack.errors import FolderError, RefusedError
from serialpack.files.globs import exclude
from serialpack.files.not_kept import given
from serialpack.files.source import Path, exists, file_error
from serialpack.text import named_here, printable

#: The hint where an entry cannot be written.
ELSEWHERE = "-o names another folder"


def make_link(path: str, entry: EntryRow, folder: Path, *, force: bool, skip: bool) -> bool:
    """Make the link ``entry`` at ``path``, below ``folder``; whether it has the entry's time then,
    or none nearer can be had. ``force``: what is there is replaced; ``skip``: or left, where it is
    the same link. RefusedError, FileError.
    """
    target = named_here(entry.target or "")
    root, parent = (os.path.realpath(p) for p in (folder, os.path.dirname(path)))
    parts = target.split("/")
    up = next((n for n, part in enumerate(parts) if part != ".."), len(parts))
    real = os.path.realpath(os.path.join(parent, target))
    within = os.path.join(real, "").startswith(os.path.join(root, ""))
    # ".." behind a name leads out of whatever that name is a link to, now or later.
    if os.path.isabs(target) or ".." in parts[up:] or not within:
        said = f"is a link out of the folder, to '{printable(target)}'"
        raise RefusedError(said, path=path, hint=f"{exclude(entry.path)} leaves it out")
    try:
        if skip and os.path.islink(path) and os.readlink(path) == target:
            return False
        if os.path.lexists(path):
            if os.path.isdir(path) and not os.path.islink(path):
                raise FolderError("is a folder", path=path, hint=ELSEWHERE)
            if not force:
                raise exists(path)
            os.unlink(path)
        os.symlink(target, path)
        if os.utime not in os.supports_follow_symlinks:
            return False
        given(os.utime, path, ns=(entry.mtime, entry.mtime), follow_symlinks=False)
    except (OSError, OverflowError, NotImplementedError) as error:
        if not isinstance(error, OSError):
            raise RefusedError(f"the link cannot be made: {error}", path=path) from None
        raise file_error(error, path, "make the link") from error
    return True
