"""Names of sources and paths of entries, as headers hold them: which there can be.

Rules: ``man/spk.5``.
"""

import os
import re
from typing import Any

from serialpack.errors import DamagedError, UsageError

#: The feature that a member names in ``needs`` where it is an entry.
ENTRY = "entry"

#: The feature of members that a closing one must follow; without ``ENTRY`` their blocks say which
#: entries they hold.
ARCHIVE = "archive"


_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def fault_of(path: str) -> str | None:
    """Why no entry can have ``path``, in words; None where one can."""
    parts = path.split("/")
    if not path:
        return "is empty"
    if _CONTROL.search(path):
        return "holds control characters"
    if not parts[0]:
        return "is absolute"
    if ".." in parts:
        return "leads upwards"
    if not {"", "."}.isdisjoint(parts):
        return "holds an empty part or '.'"
    return None


def encode_name(name: str) -> str | bytes:
    """A name that is not Unicode is kept as its bytes; UsageError for one that is no name."""
    try:
        name.encode()
        return name
    except UnicodeEncodeError:
        pass
    try:
        return os.fsencode(name)
    except UnicodeEncodeError as error:
        raise UsageError(f"is no name of a file: {name!r} ({error.reason})") from None


def decode_name(value: Any, start: int) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return os.fsdecode(value)
    raise DamagedError("a name in the header is malformed", start=start)
