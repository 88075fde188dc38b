"""How the files of an archive will be kept, told before it is packed."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress

from serialpack.api import HEAD
from serialpack.archive.copies import near_copies
from serialpack.archive.gather import SHARED_SIZE, ArchiveSource, look, most_shared, shares_blocks
from serialpack.detection.detect import AsFound, told
from serialpack.errors import SerialpackError
from serialpack.far import is_far
from serialpack.files.regular import beginning_of
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import ByteSerializer


def planned(
    entries: Mapping[str, str],
    serializer: str,
    format: str | None,
    table: AsFound,
    block_size: int,
    *,
    sized: bool,
) -> dict[str, str]:
    """How each of ``entries``, paths in the archive and of their sources, will be kept, in words;
    none for a file that has a member of its own.

    ``format``, ``table``: as for ``SmallFiles``. ``block_size``: of blocks of a file with a member
    of its own; ``sized``: whether the user gave it.
    """
    bytes_kept = issubclass(SERIALIZERS.cls(serializer), ByteSerializer)
    said = {
        entry: _planned(path, format, table, block_size, bytes_kept=bytes_kept)
        for entry, path in entries.items()
    }
    if bytes_kept and not sized:
        for entry in _copies({entry: path for entry, path in entries.items() if not said[entry]}):
            said[entry] = "in a block of files that are nearly copies"
    return said


def _planned(
    path: str, format: str | None, table: AsFound, block_size: int, *, bytes_kept: bool
) -> str:
    if os.path.islink(path) or os.path.isdir(path):
        return "as it is"
    is_file = bytes_kept and not is_far(path) and os.path.isfile(path)
    size = os.path.getsize(path) if is_file else sys.maxsize
    if SHARED_SIZE < size <= most_shared(block_size):
        head = beginning_of(path, HEAD)
        found = told(format, path, head, table)
        shares = shares_blocks(found, size, head, lambda: beginning_of(path, size), block_size)
    else:
        shares = size <= SHARED_SIZE
    return "in a block of files of its format" if shares else ""


def _copies(entries: Mapping[str, str]) -> set[str]:
    """Those of ``entries`` that are nearly copies of one another."""
    found: list[ArchiveSource] = []
    for entry, path in entries.items():
        with suppress(SerialpackError):  # it is told where it is packed
            if not is_far(path):
                found.append(look(path, entry, owner=False))
    groups = near_copies([each for each in found if each.entry.is_file])
    return {each.entry.path for group in groups for each in group}
