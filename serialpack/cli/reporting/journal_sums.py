"""A journal summed up, as ``inspect`` shows it."""

from __future__ import annotations

import json
from collections import Counter
from heapq import nlargest
from typing import Any, NamedTuple

from serialpack.cli.reporting.journal import MARK
from serialpack.cli.words import percent, print_table
from serialpack.errors import InputError
from serialpack.units import format_size

#: So many of the slowest files are shown, and of those that failed.
_MOST = 5


class FileSums(NamedTuple):
    """Sums over some files; sizes in bytes, ``before`` and ``after`` what was done."""

    files: int = 0
    before: int = 0
    after: int = 0

    def plus(self, before: int, after: int) -> FileSums:
        return FileSums(self.files + 1, self.before + before, self.after + after)


class JournalSums:
    """What the lines of a journal come to: of each file what was last said of it."""

    def __init__(self) -> None:
        self.runs: Counter[str] = Counter()
        self.all = FileSums()
        #: Files that the last run left as they were.
        self.left = 0
        self.kinds: dict[str, FileSums] = {}
        self.chains: dict[str, FileSums] = {}
        self.slowest: list[tuple[float, int, str]] = []
        #: The files that failed and were not done since, and why.
        self.failed: dict[str, str] = {}
        self.cut = False
        #: What the last run did: ``pack`` or ``unpack``.
        self._verb = ""

    def add(self, line: dict[str, Any]) -> None:
        """Count a line of the journal. KeyError, OverflowError, TypeError or ValueError where it is
        not one."""
        if MARK in line:
            self._verb = str(line["verb"])
            self.runs[self._verb] += 1
            self.left = 0
            return
        source = name = str(line["source"])
        if self._verb == "unpack" and "entry" in line:
            name = f"{source}: {line['entry']}"
        if "error" in line and "entries" not in line:
            self.failed[name] = str(line["error"])
            return
        self.failed.pop(name, None)
        self.failed.pop(source, None)  # an archive that was opened
        if "error" in line:  # of which entries failed, each with a line of its own
            return
        if line.get("left"):
            self.left += 1
            return
        if "entry" in line and line.get("blocks") == 0:  # a folder or a link of an archive
            return
        before = _size(line["size"] if "packed" in line else line["read"])
        after = _size(line.get("packed", line["size"]))
        self.all = self.all.plus(before, after)
        kind = line["format"] + (f" -> {line['to']}" if "to" in line else "")
        self.kinds[kind] = self.kinds.get(kind, FileSums()).plus(before, after)
        if "chain" in line:
            chain = str(line["chain"])
            self.chains[chain] = self.chains.get(chain, FileSums()).plus(before, after)
        spent = sum(s for stage, s in line["seconds"].items() if stage != "wait")
        self.slowest = nlargest(_MOST, [*self.slowest, (float(spent), before, name)])


def _size(value: Any) -> int:
    """``value``, which is to be a number of bytes; TypeError, ValueError."""
    if not 0 <= value < 1 << 63:
        raise ValueError("is no number of bytes")
    return int(value)


def summed(path: str) -> JournalSums:
    """The journal at ``path``, summed up. InputError for a line that is not of a journal, unless it
    is the last one, which a crash may have cut."""
    sums = JournalSums()
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                sums.add(json.loads(line))
            except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
                if not line.endswith(b"\n"):
                    sums.cut = True
                    break
                if not line.lstrip().startswith(b"{"):
                    raise InputError(f"line {number} is none of a journal", path=path) from None
                sums.cut = True  # by a crash, before the next run
    return sums


def sums_line(path: str, sums: JournalSums) -> dict[str, Any]:
    """The line for ``--json``."""
    return {
        "source": path,
        "journal": True,
        "runs": dict(sums.runs),
        **sums.all._asdict(),
        "left": sums.left,
        "failed": sums.failed,
        "formats": {name: part._asdict() for name, part in sums.kinds.items()},
        "chains": {name: part._asdict() for name, part in sums.chains.items()},
        "slowest": [
            {"source": name, "seconds": round(spent, 6), "size": size}
            for spent, size, name in sums.slowest
        ],
        "cut": sums.cut,
    }


def show_sums(path: str, sums: JournalSums, *, several: bool) -> None:
    """What they say, as tables; of which file, where there are several."""
    runs = [f"{n} run{'s' * (n > 1)} of {verb}" for verb, n in sums.runs.items()]
    files = f"{sums.all.files:,}"
    if sums.left:
        files += f", {sums.left:,} left as they were" + " by the last" * (sums.runs.total() > 1)
    if sums.failed:
        files += f", {len(sums.failed):,} failed"
    rows = [("file", path)] if several else []
    rows += [("journal of", ", ".join(runs)), ("files", files)]
    if sums.all.files:
        rows.append(("size", _sizes(sums.all)))
    if sums.cut:
        rows.append(("cut", "a line breaks off, as a crash leaves it"))
    print_table(rows)
    for head, parts in (("format", sums.kinds), ("chain", sums.chains)):
        if parts:
            print()
            _show_parts(head, parts)
    if sums.slowest:
        print()
        print_table(
            [(f"{s:.3f}", format_size(size), name) for s, size, name in sums.slowest],
            headers=("seconds", "size", "slowest"),
            right=(0, 1),
        )
    if sums.failed:
        print()
        failed = list(sums.failed.items())
        more = [(f"and {len(failed) - _MOST:,} more", "")] if len(failed) > _MOST else []
        print_table([*failed[:_MOST], *more], headers=("failed", "why"))


def _sizes(sums: FileSums) -> str:
    saved = sums.before - sums.after
    change = f"{format_size(abs(saved))} {'saved' if saved >= 0 else 'more'}"
    ratio = percent(sums.after, sums.before)
    return f"{format_size(sums.before)} -> {format_size(sums.after)} ({ratio}), {change}"


def _show_parts(head: str, parts: dict[str, FileSums]) -> None:
    """A table with a line for each part of the files, that which saved most bytes first. ``head``:
    what the parts are."""

    def saved(item: tuple[str, FileSums]) -> int:
        return item[1].before - item[1].after

    rows = [
        (
            name,
            f"{part.files:,}",
            format_size(part.before),
            format_size(part.after),
            percent(part.after, part.before),
            format_size(part.before - part.after),
        )
        for name, part in sorted(parts.items(), key=saved, reverse=True)
    ]
    heads = (head, "files", "before", "after", "ratio", "saved")
    print_table(rows, headers=heads, right=(1, 2, 3, 4, 5))
