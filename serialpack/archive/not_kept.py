"""Tells what an archive does not keep of the files that go into it, or does not give back."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress

from serialpack.container.entries import nearest_time
from serialpack.far import is_far
from serialpack.files.not_kept import has_attributes, has_holes
from serialpack.text import number_of


def not_kept(sources: Mapping[str, str]) -> list[str]:
    """What to say of ``sources``, from path in the archive to source: a line for each loss."""
    names: Counter[tuple[int, int]] = Counter()
    attributes = outside = times = holes = 0
    for entry, path in sources.items():
        if is_far(path):
            continue
        with suppress(OSError, ValueError):  # reading it will say what is wrong
            found = os.lstat(path)
            times += nearest_time(found.st_mtime_ns) != found.st_mtime_ns
            if stat.S_ISLNK(found.st_mode):
                outside += leads_out(entry, os.readlink(path))
            elif stat.S_ISREG(found.st_mode):
                if found.st_nlink > 1:
                    names[found.st_dev, found.st_ino] += 1
                holes += has_holes(path, found)
            attributes += has_attributes(path)
    linked = sum(count for count in names.values() if count > 1)
    said = []
    if linked:
        said.append(f"{linked:,} names of the same files (hard links) became files of their own")
    if holes:
        said.append(
            f"{number_of(holes, 'file has', 'files have')} holes (sparse), which come back filled"
            " with zeros"
        )
    if attributes:
        said.append(
            f"{number_of(attributes, 'entry has', 'entries have')} extended attributes or an ACL,"
            " which are not kept"
        )
    if times:
        said.append(
            f"{number_of(times, 'entry has a time', 'entries have times')} before 1677 or after"
            " 2262, of which the nearest in between is kept"
        )
    if outside:
        said.append(
            f"{number_of(outside, 'link leads', 'links lead')} out of what unpack writes to, and"
            " will not be made by it"
        )
    return said


def not_given(entries: int, unowned: int) -> Iterator[str]:
    """What to say where of this number of ``entries`` so many could not be given their owner."""
    if unowned:
        of_all = f"of {number_of(entries, 'entry', 'entries')}"
        are, them = ("is", "it its owner") if unowned == 1 else ("are", "them their owners")
        yield f"{unowned:,} {of_all} {are} yours: the system does not permit to give {them}"


def leads_out(entry: str, target: str) -> bool:
    """Whether the link ``entry`` to ``target`` leads out of the folder that all entries go to."""
    parts = target.split("/")
    up = next((n for n, part in enumerate(parts) if part != ".."), len(parts))
    return os.path.isabs(target) or ".." in parts[up:] or up > entry.count("/")
