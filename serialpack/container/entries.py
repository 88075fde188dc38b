"""What headers say of entries of archives, and which paths those can have: ``man/spk.5``."""

import re
from typing import Any

from serialpack.container.names import decode_name, typed_value
from serialpack.errors import DamagedError

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


def entry_in(values: dict[str, Any], needs: tuple[str, ...], start: int) -> str | None:
    """The path of the one entry that the header ``values`` is of; DamagedError where it is none."""
    if ("e" in values) != (ENTRY in needs):
        raise DamagedError("the header's 'e' and 'needs' disagree", start=start)
    if "e" not in values:
        return None
    entry = decode_name(values["e"], start) or ""
    if fault := fault_of(entry):
        raise DamagedError(f"the path of an entry {fault}: {entry[:100]!r}", start=start)
    return entry


def before_in(values: dict[str, Any], needs: tuple[str, ...], start: int) -> int | None:
    """How many members there are before the closing one, which this is; DamagedError."""
    before: int | None = typed_value(values, "a", int, None, start)
    if before is not None and (before < 0 or ARCHIVE not in needs or ENTRY in needs):
        raise DamagedError("the header's 'a' is malformed", start=start)
    return before


def access_in(values: dict[str, Any], start: int) -> tuple[int, ...]:
    """Mode and owners of the one entry, as far as they are kept; DamagedError."""
    access = typed_value(values, "p", list, [], start)
    if len(access) not in (0, 1, 3) or any(type(n) is not int or n < 0 for n in access):
        raise DamagedError("the header's 'p' is malformed", start=start)
    return tuple(access)
