"""Finds the rows to take: those on the Pareto front, and the best one for each purpose.

A row is on the front if no other is smaller and as quick, or quicker and as small. The time is that
to pack and to unpack. *Balanced* means the least time to pack, to send over a line of so many bytes
a second, and to unpack: so size and time are weighed in one unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from serialpack.bench.results import Recommendation, Row, cost
from serialpack.container.header import DEFAULT_BLOCK_SIZE
from serialpack.stages.chain import parse_chain
from serialpack.text import command_line
from serialpack.units import format_size

Preference = Literal["size", "speed", "portable", "text", "safe"]
PREFERENCES: tuple[Preference, ...] = ("size", "speed", "portable", "text", "safe")
Kind = Literal["smallest", "fastest", "balanced", "portable"]

#: Bytes a second of the line where the user names none: what most lines to other places carry. For
#: those who prefer size a slower one is taken, for those who prefer speed a faster one.
LINE = 10e6
_LINES: dict[Preference | None, float] = {"size": 1e6, "speed": 1e9}

#: Only rows of at least this ratio are recommended as fastest, if there are such.
SHRINKS = 1.1
#: If any row has this ratio, only those of at least ``SHRINKS`` are balanced or portable, whatever
#: the line.
SHRINKS_WELL = 2.0

#: A row is clearly better than another, beyond noise, below these shares of its size and of its
#: time.
_SIZE_MARGIN, _TIME_MARGIN = 0.99, 0.9


class Weighing(NamedTuple):
    """What the user prefers.

    ``unsafe``: serializers whose data can run code when it is read, and which may be recommended
    all the same because the user named them. ``given``: the line that the user named, in bytes a
    second.
    """

    prefer: Preference | None = None
    unsafe: frozenset[str] = frozenset()
    given: float | None = None

    @property
    def line(self) -> float:
        """The line that a container is sent over, in bytes a second."""
        return self.given or _LINES.get(self.prefer, LINE)

    def allows(self, row: Row) -> bool:
        """Whether the row may be recommended."""
        if "safe" not in row.traits and row.serializer not in self.unsafe:
            return False
        if self.prefer == "portable":
            return portable(row)
        return self.prefer not in ("text", "safe") or self.prefer in row.traits

    def journey(self, row: Row) -> float:
        """Seconds to pack, send and unpack."""
        assert row.size is not None
        return cost(row) + row.size / self.line


def portable(row: Row) -> bool:
    """Whether programs in other languages can read the row's container: by their own zstd, or where
    the serialized bytes are stored as they are."""
    chain = parse_chain(row.chain)
    return "portable" in row.traits and (chain.zstd_envelope or chain.plain)


def better(one: Row, other: Row) -> bool:
    """Whether ``one`` is clearly smaller and clearly quicker than ``other``, on as many threads."""
    if one.size is None or other.size is None:
        return False
    return (
        one.size < other.size * _SIZE_MARGIN
        and cost(one) < cost(other) * _TIME_MARGIN
        and one.threads == other.threads
    )


def front(rows: Sequence[Row]) -> list[Row]:
    """The rows on the front, the smallest one first. Those without figures are passed over."""
    best: list[Row] = []
    known = [row for row in rows if row.size is not None]
    for row in sorted(known, key=lambda row: (row.size, cost(row))):
        if not best or cost(row) < cost(best[-1]):
            best.append(row)
    return best


def roles(rows: Iterable[Row], weighing: Weighing) -> dict[Kind, Row | None]:
    """The row to take for each purpose; None where no row may be recommended."""
    may = [row for row in rows if row.size is not None and weighing.allows(row)]
    return {
        "smallest": min(may, key=lambda r: (r.size, cost(r)), default=None),
        "fastest": min(_shrinking(may) or may, key=cost, default=None),
        "balanced": min(_worth_sending(may), key=weighing.journey, default=None),
        "portable": min(_worth_sending(filter(portable, may)), key=weighing.journey, default=None),
    }


def _shrinking(rows: Iterable[Row], least: float = SHRINKS) -> list[Row]:
    """The rows of at least this ratio."""
    return [row for row in rows if row.ratio is not None and row.ratio >= least]


def _worth_sending(rows: Iterable[Row]) -> list[Row]:
    """The rows that are worth sending: if any shrinks the source
    to a half, none that hardly does."""
    found = list(rows)
    return _shrinking(found) if _shrinking(found, SHRINKS_WELL) else found


def recommendations(
    rows: Sequence[Row],
    weighing: Weighing,
    *,
    inputs: Sequence[str],
    objects: bool,
    name_threads: bool,
    format: str | None = None,
    sampled: bool = False,
    beside: str = "",
) -> list[Recommendation]:
    """The row to take for each purpose, with the command that packs so.

    Only rows measured whole are taken, as long as there are any; with ``sampled`` the others are as
    good. ``inputs``: the words that name the source in a command; ``objects``: it is a Python
    object instead. ``name_threads``: the command says how many threads. ``format``: what the user
    said that the source is, so that the command must say it too. ``beside``: what was not measured
    and may be smaller than all, in words.
    """
    whole = [] if sampled else [row for row in rows if row.status == "measured"]
    found = []
    shrinks = any(row.ratio is not None and row.ratio >= SHRINKS for row in whole or rows)
    for kind, row in roles(whole or rows, weighing).items():
        if row is None or row.size is None:
            continue
        found.append(
            Recommendation(
                kind=kind,
                chain=row.chain,
                threads=row.threads,
                whole=row.status == "measured",
                size=row.size,
                command=_python(row) if objects else command(row, inputs, name_threads, format),
                why=_WHY[kind].format(
                    line=f"{weighing.line / 1e6:g} MB/s",
                    shrinks=", of those that make it smaller" if shrinks else "",
                    however=f" of those measured; {beside}"
                    if beside
                    else ", however long it takes",
                )
                + (_beside_auto(row, whole or rows) if kind == "balanced" else "")
                + ("" if row.kept == "exact" else "; gives back the values, not the bytes"),
            )
        )
    return found


#: The words for why a row is recommended.
_WHY: dict[Kind, str] = {
    "smallest": "the fewest bytes{however}",
    "fastest": "the least time to pack and unpack{shrinks}",
    "balanced": "the least time in all to pack, send at {line} (--line) and unpack",
    "portable": "as balanced, of those that zstd and other languages read without serialpack",
}


def _beside_auto(row: Row, rows: Sequence[Row]) -> str:
    """The words for how ``auto`` compares: what it chooses, and the figures of that on as many
    threads; empty where these are not known."""
    auto = next((r for r in rows if r.auto and r.threads == row.threads and r.size), None)
    if auto is None or auto.size is None:
        return ""
    if auto.chain == row.chain:
        return "; auto, the default, chooses it too"
    figures = f"{auto.size:,} bytes, packed and unpacked in {cost(auto):.3g} s"
    return f"; auto, the default, chooses {auto.chain}: {figures}"


def command(row: Row, inputs: Sequence[str], name_threads: bool, format: str | None = None) -> str:
    """The command that packs ``inputs`` as the row says;
    other arguments as of ``recommendations``."""
    words = ["serialpack", "pack"]
    if row.effort is not None:
        words.append(f"-{row.effort}")
    else:
        words += ["-s", row.serializer]
        for each in row.filters:
            words += ["--filter", each]
        words += ["-c", row.codec]
        if row.block_size != DEFAULT_BLOCK_SIZE:
            words += ["--block-size", format_size(row.block_size, exact=True)]
    if name_threads:
        words += ["-j", str(row.threads)]
    if format is not None:
        words += ["--from", format]
    return command_line([*words, *inputs])


def _python(row: Row) -> str:
    return f'serialpack.dump(obj, "file.spk", chain="{row.chain}")'
