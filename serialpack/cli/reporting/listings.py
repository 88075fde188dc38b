"""How ``inspect`` lists what is in a file: entries of an archive, datasets, tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from serialpack.cli.words import print_long_table, print_table, ratio
from serialpack.text import number_of

if TYPE_CHECKING:
    from serialpack.inspection.archived import ArchivedEntry
    from serialpack.inspection.info import MemberInfo
    from serialpack.inspection.listed import ListedDataset, ListedEntry, Listing
    from serialpack.inspection.look import ArrayLook


def listing_rows(listing: Listing) -> list[tuple[str, str]]:
    """The line that stands for the entries where there are none, or none are known."""
    return [] if listing.entries else [("entries", listing.why or "none")]


def listing_line(listing: Listing) -> dict[str, Any]:
    """What ``--json`` says of a listing."""
    entries = [
        {
            **entry._asdict(),
            "array": entry.array and entry.array._asdict(),
            "dataset": entry.dataset and entry.dataset._asdict(),
        }
        for entry in listing.entries
    ]
    return {
        "kind": listing.kind,
        "entries": entries,
        "count": listing.count,
        "whole": listing.whole,
        "why": listing.why,
    }


def show_listing(listing: Listing) -> None:
    """A line for each entry of a tar or zip, or dataset, and one of all together."""
    if not listing.entries:
        return
    told, sized = listing.packed is not None, listing.size > 0
    dated = any(entry.modified for entry in listing.entries)

    def row(name: str, size: int, packed: int | None, modified: str, about: str) -> list[str]:
        numbers = [
            *([f"{size:,}"] if sized else []),
            *([f"{packed:,}", _share(packed, size)] if told else []),
        ]
        # Whichever may be long, a path or the words about a dataset, is the last: nothing is
        # padded to its length.
        return [*numbers, modified, about, name] if dated else [name, *numbers, about]

    total = _entries(len(listing.entries))
    if not listing.whole:
        total += ", and more"
    rows = [
        row(entry.name, entry.size, entry.packed, _time(entry.modified), _about(entry))
        for entry in listing.entries
    ]
    why = listing.why
    if dated and why:
        total, why = f"{total}: {why}", ""
    rows.append(row(total, listing.size, listing.packed, "", why))
    numbers = [*(["size"] if sized else []), *(["packed", "ratio"] if told else [])]
    first = 0 if dated else 1
    print()
    print_table(
        rows,
        headers=[*numbers, "modified", "", "entry"] if dated else ["entry", *numbers, ""],
        right=range(first, first + len(numbers)),
    )


def _about(entry: ListedEntry) -> str:
    """What an entry is, in words; of a plain file none, of an attribute its value."""
    if entry.type == "attribute":
        return entry.about
    words = [entry.array.words] if entry.array else [] if entry.type == "file" else [entry.type]
    if (dataset := entry.dataset) is not None:
        if dataset.chunks:
            words.append("chunks " + " x ".join(map(str, dataset.chunks)))
        words += dataset.filters
        if entry.array and dataset.minimum is not None:
            words.append(range_words(dataset, entry.array.dtype))
        if dataset.attributes:
            words.append(number_of(dataset.attributes, "attribute"))
    return ", ".join([*words, *([entry.about] if entry.about else [])])


def show_entries(members: Sequence[MemberInfo], *, whole: bool) -> None:
    """A line for each entry of an archive, and one of all together; ``whole``: of all there are,
    with what is around them."""
    count = sum(len(member.entries or ()) for member in members)

    def rows() -> Iterator[Sequence[str]]:
        size = packed = 0
        for member in members:
            chain = str(member.chain)
            for entry in member.entries or ():
                size, packed = size + entry.size, packed + (entry.packed or 0)
                yield _entry_row(entry, chain)
        if whole:
            size, packed = sum(m.size for m in members), sum(m.packed for m in members)
        yield f"{size:,}", f"{packed:,}", _share(packed, size), "", "", "", _entries(count)

    # The path is the last, as in lists of ls and tar: nothing is padded to the longest.
    heads = ("size", "packed", "ratio", "format", "stages", "modified", "entry")
    print_long_table(rows, count, heads, right=(0, 1, 2))


def _entry_row(entry: ArchivedEntry, chain: str) -> Sequence[str]:
    """The cells that tell of an entry; ``chain``: of its member."""
    return (
        f"{entry.size:,}" if entry.type == "file" else "",
        "" if entry.packed is None else f"{entry.packed:,}",
        _share(entry.packed, entry.size),
        entry.format or entry.type,
        chain if entry.type == "file" else "",
        _time(entry.modified),
        f"{entry.path} -> {entry.target}" if entry.target else entry.path,
    )


def _entries(count: int) -> str:
    return number_of(count, "entry", "entries")


def _time(modified: str | None) -> str:
    """A time to the second, as people read it."""
    return (modified or "").partition(".")[0].rstrip("Z").replace("T", " ")


def _share(packed: int | None, size: int) -> str:
    """The ratio for a column, where it says anything."""
    return ratio(packed, size) if packed is not None and size and packed <= 2 * size else "-"


def range_words(array: ArrayLook | ListedDataset, dtype: object) -> str:
    """The least and the greatest of numbers or times, for people, and how many are none."""
    none = "NaT" if str(dtype)[1:2] in ("m", "M") else "NaN"
    words = "none" if array.minimum is None else f"{array.minimum} to {array.maximum}"
    return words + (f", {array.nan:,} {none}" if array.nan else "")
