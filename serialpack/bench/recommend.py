"""Finds which rows to take: the Pareto front, and the best row for each purpose.

The front holds the rows that no other beats: none is smaller and as quick, none quicker and as
small. *Quick* is about the time to pack and unpack. *Balanced* is the least time to pack, send and
unpack, over a line of so many bytes a second: so size and time are weighed in one unit.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from serialpack.bench.results import Recommendation, Row, cost
from serialpack.container.header import DEFAULT_BLOCK_SIZE
from serialpack.stages.chain import parse_chain
from serialpack.units import format_size

Preference = Literal["size", "speed", "portable", "text", "safe"]
PREFERENCES: tuple[Preference, ...] = ("size", "speed", "portable", "text", "safe")
Kind = Literal["smallest", "fastest", "balanced", "portable"]

#: Bytes a second of the line that *balanced* is about, where the user names none: what most lines
#: to other places carry. Whoever prefers size has a slower one, whoever prefers speed a faster one.
LINE = 10e6
_LINES: dict[Preference | None, float] = {"size": 1e6, "speed": 1e9}

#: The least ratio of what is recommended as fastest, if any row has that.
SHRINKS = 1.1
#: The least ratio of what is balanced or portable, if any row has that, whatever the line.
SHRINKS_WELL = 2.0

#: The shares of another row's size and time below which a row is clearly better, beyond noise.
_SIZE_MARGIN, _TIME_MARGIN = 0.99, 0.9


class Weighing(NamedTuple):
    """What the user prefers. ``unsafe``: serializers that may be recommended though they run
    code, because the user named them. ``given``: the speed of the line that the user named."""

    prefer: Preference | None = None
    unsafe: frozenset[str] = frozenset()
    given: float | None = None

    @property
    def line(self) -> float:
        """Bytes a second of the line that a container is sent over."""
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
    """Whether ``one`` is clearly smaller and clearly quicker than ``other``."""
    if one.size is None or other.size is None:
        return False
    return (
        one.size < other.size * _SIZE_MARGIN
        and cost(one) < cost(other) * _TIME_MARGIN
        and one.threads == other.threads
    )


def front(rows: Sequence[Row]) -> list[Row]:
    """The rows, of those with a size and times, that no other beats: the smallest one first."""
    best: list[Row] = []
    known = [row for row in rows if row.size is not None]
    for row in sorted(known, key=lambda row: (row.size, cost(row))):
        if not best or cost(row) < cost(best[-1]):
            best.append(row)
    return best


def roles(rows: Iterable[Row], weighing: Weighing) -> dict[Kind, Row | None]:
    """The row to take for each purpose; None where there is none."""
    may = [row for row in rows if row.size is not None and weighing.allows(row)]
    return {
        "smallest": min(may, key=lambda r: (r.size, cost(r)), default=None),
        "fastest": min(_shrinking(may) or may, key=cost, default=None),
        "balanced": min(_worth_sending(may), key=weighing.journey, default=None),
        "portable": min(_worth_sending(filter(portable, may)), key=weighing.journey, default=None),
    }


def _shrinking(rows: Iterable[Row], least: float = SHRINKS) -> list[Row]:
    return [row for row in rows if row.ratio is not None and row.ratio >= least]


def _worth_sending(rows: Iterable[Row]) -> list[Row]:
    """The rows that are worth sending: none that stores what another one shrinks to a half."""
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
) -> list[Recommendation]:
    """The row for each purpose, with the command that packs so.

    Only rows measured whole, as long as there are any; with ``sampled`` all are as good.
    ``inputs``: the words that name the source; ``objects``: it is a Python object instead.
    ``name_threads``: the command says how many (the size does not depend on that). ``format``: what
    the user said that the source has, and so the command has to say.
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
                )
                + (_beside_auto(row, whole or rows) if kind == "balanced" else "")
                + ("" if row.kept == "exact" else "; gives back the values, not the bytes"),
            )
        )
    return found


_WHY: dict[Kind, str] = {
    "smallest": "the fewest bytes, however long it takes",
    "fastest": "the least time to pack and unpack{shrinks}",
    "balanced": "the least time in all to pack, send at {line} (--line) and unpack",
    "portable": "as balanced, of those that zstd and other languages read without serialpack",
}


def _beside_auto(row: Row, rows: Sequence[Row]) -> str:
    """Words for what auto would choose, with its figures on as many threads; none where unknown."""
    auto = next((r for r in rows if r.auto and r.threads == row.threads and r.size), None)
    if auto is None or auto.size is None:
        return ""
    if auto.chain == row.chain:
        return "; auto, the default, chooses it too"
    figures = f"{auto.size:,} bytes, packed and unpacked in {cost(auto):.3g} s"
    return f"; auto, the default, chooses {auto.chain}: {figures}"


def command(row: Row, inputs: Sequence[str], name_threads: bool, format: str | None = None) -> str:
    """The command line that packs as the row says."""
    words = ["serialpack", "pack", "-s", row.serializer]
    for each in row.filters:
        words += ["--filter", each]
    words += ["-c", row.codec]
    if row.block_size != DEFAULT_BLOCK_SIZE:
        words += ["--block-size", format_size(row.block_size, exact=True)]
    if name_threads:
        words += ["-j", str(row.threads)]
    if format is not None:
        words += ["--from", format]
    return " ".join(map(_quoted, [*words, *inputs]))


def _quoted(word: str) -> str:
    """``word`` for a shell. What no terminal shows is escaped, as POSIX spells it since 2024."""
    if word.isprintable():
        return shlex.quote(word)
    plain = frozenset(range(0x20, 0x7F)) - frozenset(b"'\\")
    return "$'" + "".join(chr(b) if b in plain else f"\\x{b:02x}" for b in os.fsencode(word)) + "'"


def _python(row: Row) -> str:
    return f'serialpack.dump(obj, "file.spk", chain="{row.chain}")'
