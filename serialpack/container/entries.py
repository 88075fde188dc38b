"""The path of an entry of an archive: which ones there can be. Rules: ``man/spk.5``."""

from __future__ import annotations

#: The feature that a member names in ``needs`` where it is an entry.
ENTRY = "entry"


def fault_of(path: str) -> str | None:
    """Why no entry can have ``path``, in words; None where one can."""
    parts = path.split("/")
    if not path:
        return "is empty"
    if any(char < " " or char == "\x7f" for char in path):
        return "holds control characters"
    if not parts[0]:
        return "is absolute"
    if ".." in parts:
        return "leads upwards"
    if not {"", "."}.isdisjoint(parts):
        return "holds an empty part or '.'"
    return None
