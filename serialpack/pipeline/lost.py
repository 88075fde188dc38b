"""Which bytes and records of a source are lost, where some of its blocks are damaged."""

from __future__ import annotations

from collections.abc import Iterator

from serialpack.container.remains import FoundMember, Slot
from serialpack.reports import LostRange

_OPEN = "nothing tells whether there was more"


def lost_ranges(
    number: int, member: FoundMember, slots: list[Slot], why: dict[int, str]
) -> Iterator[LostRange]:
    """The lost ranges of ``member``, in order; blocks that follow each other are one range.

    ``number``: of the member in its file; ``slots``: its blocks, as far as they are known; ``why``:
    the number of each block that is not given back -> the reason.
    """
    sizes, counts = [slot.size for slot in slots], [slot.records for slot in slots]
    places, records = _places(sizes), _places(counts)
    total, total_records = member.size, member.index.records if member.index else None
    open_end = not member.last_known and not (total is not None and places[-1] == total)
    seq = 0
    while seq < len(slots):
        if seq not in why:
            seq += 1
            continue
        end = next((n for n in range(seq, len(slots)) if n not in why), len(slots))
        until_end = end == len(slots) and open_end
        told = list(dict.fromkeys(why[n] for n in range(seq, end)))
        start, stop = places[seq], _end(sizes, end, places, total, until_end=until_end)
        first = records[seq]
        last = _end(counts, end, records, total_records, until_end=until_end)
        yield LostRange(
            member=number,
            block=seq,
            blocks=None if until_end else end - seq,
            start=start,
            end=stop,
            record=first,
            records=None if first is None or last is None else last - first,
            why="; ".join(told),
        )
        open_end = open_end and not until_end
        seq = end
    if open_end:
        yield LostRange(number, len(slots), None, places[-1], total, records[-1], None, _OPEN)


def _places(sizes: list[int | None]) -> list[int | None]:
    """The place at which each block begins, and the one at which the last ends, in bytes or records
    of the source; None for all places behind a block whose size is not known."""
    places: list[int | None] = [0]
    for size in sizes:
        before = places[-1]
        places.append(None if before is None or size is None else before + size)
    return places


def _end(
    sizes: list[int | None],
    end: int,
    places: list[int | None],
    total: int | None,
    *,
    until_end: bool,
) -> int | None:
    """The place at which the blocks before number ``end`` end: counted from the front, or where
    that is not known back from the ``total``. ``until_end``: more blocks may have followed, of
    which nothing is left; then only the total tells.
    """
    if until_end:
        return total
    behind = sizes[end:]
    if places[end] is None and total is not None and None not in behind:
        return total - sum(size or 0 for size in behind)
    return places[end]
