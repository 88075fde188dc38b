"""Files without a name, which get one when they are whole: O_TMPFILE of Linux, open(2).

Nothing is left of them if their writer is killed. Not all file systems have them.
"""

from __future__ import annotations

import os
from contextlib import suppress

from serialpack.hidden import forget, hidden_name, hide

_UNNAMED = getattr(os, "O_TMPFILE", 0)

#: The number of a device -> whether a file without a name can get one there, as tried.
_named_on: dict[int, bool] = {}


def open_unnamed(folder: str) -> int | None:
    """The descriptor of a new file without a name (mode 0600), which can get one in ``folder``.

    None where that is not possible, whatever the reason: the caller makes a file with a name then,
    and gets an error where that fails, too.
    """
    if not _UNNAMED:
        return None
    try:
        fd = os.open(folder, os.O_WRONLY | os.O_CLOEXEC | _UNNAMED, 0o600)
    except OSError:
        return None
    device = os.fstat(fd).st_dev
    if device not in _named_on:
        # It gets one name only, so this one is for that.
        _named_on[device] = _gets_name(fd, folder)
        os.close(fd)
        return open_unnamed(folder)
    if _named_on[device]:
        return fd
    os.close(fd)
    return None


def _gets_name(fd: int, folder: str) -> bool:
    """Whether the file ``fd`` can get a name in ``folder``; it is removed again."""
    path = os.path.join(folder, hidden_name())
    hide(path)
    try:
        name_unnamed(fd, path)
    except OSError:
        return False
    finally:
        with suppress(OSError):
            os.unlink(path)
        forget(path)
    return True


def place_of(fd: int) -> str:
    """The path by which this process can open a file that has no name."""
    return f"/proc/self/fd/{fd}"


def name_unnamed(fd: int, path: str) -> None:
    """Give the file its name; FileExistsError where another has it. OSError."""
    # With a descriptor of a folder, here of none, os.link follows the link that the place is.
    os.link(place_of(fd), path, src_dir_fd=fd, follow_symlinks=True)
