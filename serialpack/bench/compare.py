"""Compares two runs of bench: what changed beyond noise. Also saves results to a file, and loads
them.

The rule: a speed has changed where one run is faster than the other by more than 5 %, and by more
than twice the larger spread of the two. A row that was run once, or on a sample, has no spread that
can be trusted: it is taken as 5 %, so that up to 10 % are noise. Of sizes any change counts, but
only one of more than 5 % where a size was estimated from a sample.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, cast

from serialpack.api import opened_source
from serialpack.bench.measuring.disk import HOW, Through
from serialpack.bench.results import Results, Row, at_effort, from_json, shown_source
from serialpack.errors import InputError
from serialpack.files.output import Output
from serialpack.files.source import Path
from serialpack.text import aligned, number_of, printable
from serialpack.units import format_size

#: The least share by which a speed, or a sampled size, must change; and the spread of a row without
#: one that can be trusted.
LEAST = 0.05
UNKNOWN_SPREAD = 0.05
#: A speed must change by so many times its spread.
SPREADS = 2.0

#: The most bytes of a file of results: a larger file is something else.
_MOST = 64 << 20

#: What changed. The size, or where the sources differ the ratio; pack, unpack: the speed, in bytes
#: of source a second; appeared, vanished: the row is in one run only; status, kept: of the row.
What = Literal["appeared", "vanished", "status", "kept", "size", "ratio", "pack", "unpack"]


class Change(NamedTuple):
    """One thing that changed in a row. ``old``, ``new``: a status, what is kept, a size in bytes, a
    ratio or a speed; None where the row is not in that run."""

    chain: str
    threads: int
    n: int | None
    block_size: int
    #: As of its row.
    effort: int | None
    what: What
    old: str | float | None
    new: str | float | None
    #: By what share the two may differ by chance (0.05: 5 %). None where nothing is left to chance.
    noise: float | None
    #: Whether the change is for the better; None where that cannot be said.
    better: bool | None

    @property
    def times(self) -> float | None:
        """``new`` over ``old``; None where these are no numbers."""
        if isinstance(self.old, str) or isinstance(self.new, str) or not self.old:
            return None
        return None if self.new is None else self.new / self.old


class Changes(NamedTuple):
    """The comparison of two runs of bench: what ``compare`` gives."""

    source: str
    #: Dates of the runs.
    old: str
    new: str
    #: Differences between the runs themselves (machine, version, source), a line each. To be read
    #: first.
    differs: list[str]
    changes: list[Change]
    #: How many rows have figures in both runs, and how many of these did not change.
    rows: int
    same: int

    def to_json(self) -> dict[str, Any]:
        """Everything, as values of JSON."""
        found = [{**change._asdict(), "times": change.times} for change in self.changes]
        return {**self._asdict(), "changes": found}


def compare(old: Results, new: Results) -> Changes:
    """What changed from ``old`` to ``new``.
    Rows are compared that have the same chain, threads, n, size of blocks and effort."""
    before, after = _by_key(old), _by_key(new)
    same_source = _content(old) == _content(new)
    changes: list[Change] = []
    rows = same = 0
    for key, row in after.items():
        was = before.get(key)
        if was is None:
            changes.append(_change(row, "appeared", None, row.status))
            continue
        found = list(_changes(was, row, same_source=same_source))
        changes += found
        if row.size is not None and was.size is not None:
            rows += 1
            same += not found
    for key, was in before.items():
        if key not in after:
            changes.append(_change(was, "vanished", was.status, None))
    return Changes(new.source, old.date, new.date, _differences(old, new), changes, rows, same)


def noise(old: Row, new: Row) -> float:
    """By what share the speeds of two rows may differ by chance (0.1: 10 %)."""
    spreads = [
        UNKNOWN_SPREAD if row.spread is None or row.status == "sampled" else row.spread
        for row in (old, new)
    ]
    return max(LEAST, SPREADS * max(spreads))


def _changes(old: Row, new: Row, *, same_source: bool) -> Iterator[Change]:
    """What changed in a row that is in both runs. ``same_source``: sizes may be compared."""
    if old.size is None or new.size is None:
        if old.status != new.status:
            yield _change(new, "status", old.status, new.status, better=new.size is not None)
        return
    sampled = "sampled" in (old.status, new.status)
    if same_source:
        allowed = LEAST if sampled else 0.0
        if _excess(old.size, new.size) > allowed:
            smaller = new.size < old.size
            yield _change(new, "size", old.size, new.size, allowed or None, better=smaller)
    elif old.ratio and new.ratio and _excess(old.ratio, new.ratio) > LEAST:
        larger = new.ratio > old.ratio
        yield _change(new, "ratio", old.ratio, new.ratio, LEAST, better=larger)
    if old.kept != new.kept:
        yield _change(new, "kept", old.kept, new.kept, better=new.kept == "exact")
    chance = noise(old, new)
    speeds: tuple[tuple[What, float | None, float | None], ...] = (
        ("pack", old.pack_speed, new.pack_speed),
        ("unpack", old.unpack_speed, new.unpack_speed),
    )
    for what, was, now in speeds:
        if was and now and _excess(was, now) > chance:
            yield _change(new, what, was, now, chance, better=now > was)


def _change(
    row: Row,
    what: What,
    old: str | float | None,
    new: str | float | None,
    noise: float | None = None,
    *,
    better: bool | None = None,
) -> Change:
    """The change of one thing about the chain of ``row``."""
    of_row = (row.chain, row.threads, row.n, row.block_size, row.effort)
    return Change(*of_row, what, old, new, noise, better)


def _excess(one: float, other: float) -> float:
    """By what share the larger of the two exceeds the other: 1.0 where it is twice as large."""
    least = min(one, other)
    return max(one, other) / least - 1 if least > 0 else float(one != other)


def _by_key(results: Results) -> dict[tuple[Any, ...], Row]:
    return {
        (row.chain, row.threads, row.n, row.block_size, row.effort): row for row in results.rows
    }


def _content(results: Results) -> tuple[Any, ...]:
    """What is known of the source: where that is the same in two runs,
    the source may be the same."""
    return results.mode, results.format, results.size


def _differences(old: Results, new: Results) -> list[str]:
    """What makes the figures of the two runs hard to compare, a line each."""
    pairs: list[tuple[str, str, str]] = [
        ("source", old.source, new.source),
        ("size of the source", f"{old.size:,} bytes", f"{new.size:,} bytes"),
        ("format", f"{old.format} ({old.mode})", f"{new.format} ({new.mode})"),
        ("measured", _how(old), _how(new)),
        *(
            (
                name,
                _machine_fact(name, old.machine._asdict()[name]),
                _machine_fact(name, new.machine._asdict()[name]),
            )
            for name in new.machine._fields
        ),
        ("budget", f"{old.budget:g} s", f"{new.budget:g} s"),
        ("ended", _ended(old), _ended(new)),
    ]
    return [f"{name}: {was}, now {now}" for name, was, now in pairs if was != now]


def _machine_fact(name: str, fact: Any) -> str:
    # Rounded: the kernel keeps a little more or less of the memory for itself each time it starts.
    return format_size(round(fact, -8)) if name == "memory" else str(fact)


def _how(results: Results) -> str:
    return HOW.get(cast(Through, results.through), "in memory")


def _ended(results: Results) -> str:
    return "before its end" if results.interrupted else "as planned"


_RULE = (
    "Noise: twice the larger spread of the two runs, at least 5 %; 10 % where a row was run once"
    " or sampled."
)


def changes_text(changes: Changes) -> str:
    """``changes`` as lines to read, the largest change first."""
    lines = [f"{shown_source(changes.source)}: {changes.new}, compared with {changes.old}"]
    lines += [f"differs: {line}" for line in changes.differs]
    measured = [change for change in changes.changes if change.times is not None]
    measured.sort(key=lambda change: -_excess(change.times or 1.0, 1.0))
    for title, better in (("Better:", True), ("Worse:", False)):
        found = [change for change in measured if change.better is better]
        if found:
            cells = [_cells(change) for change in found]
            lines += ["", title, *(f"  {line}" for line in aligned(cells, right=(2, 3, 4, 5)))]
    others = [
        (title, [_name(change) for change in changes.changes if _words(change) == title])
        for title in dict.fromkeys(map(_words, changes.changes))
        if title
    ]
    if others:
        lines.append("")
        lines += [f"{title}: {', '.join(names)}" for title, names in others]
    lines += ["", f"{changes.same:,} of {number_of(changes.rows, 'row')} did not change. {_RULE}"]
    return "\n".join(map(printable, lines))


def _cells(change: Change) -> list[str]:
    assert change.times is not None
    chance = "" if change.noise is None else f"(noise {change.noise:.0%})"
    was, now = (_amount(change.what, amount) for amount in (change.old, change.new))
    apart = f"×{change.times:.4g}"
    if change.what == "size":
        apart = f"{cast(int, change.new) - cast(int, change.old):+,}"
    return [_name(change), change.what, was, now, apart, chance]


def _amount(what: What, amount: str | float | None) -> str:
    assert isinstance(amount, int | float)
    if what == "size":
        return number_of(int(amount), "byte")
    return f"{amount:.4g}" if what == "ratio" else f"{amount / 1e6:.4g} MB/s"


def _words(change: Change) -> str:
    """The words for a change that has no numbers."""
    if change.times is not None:
        return ""
    if change.what == "appeared":
        return f"only in the new run ({change.new})"
    if change.what == "vanished":
        return f"only in the old run ({change.old})"
    return f"was {change.old}, now {change.new}"


def _name(change: Change) -> str:
    threads = f" -j {change.threads}" if change.threads > 1 else ""
    at = "" if change.effort is None else f" ({at_effort(change.effort)})"
    return change.chain + at + threads + ("" if change.n is None else f" n={change.n:,}")


def save_results(results: Results, path: Path, *, force: bool = False) -> None:
    """Write ``results`` to a file, whole or not at all;
    over an existing one only with ``force``. FileError."""
    with Output(path, force=force) as output:
        output.write(json.dumps(results.to_json()).encode() + b"\n")


def load_results(path: Path) -> Results:
    """The results that ``save_results`` wrote.
    FileError; InputError for a file of anything else."""
    with opened_source(path) as opened:
        data = opened.read(_MOST + 1)
        try:
            if len(data) > _MOST:
                raise ValueError(f"larger than {format_size(_MOST)}")
            return _checked(from_json(json.loads(data)))
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"cannot read these results: {error}", hint="--save writes them"
            ) from None


def _checked(results: Results) -> Results:
    """``results``, if each field has the type that it is declared with. ValueError."""
    import msgspec

    def as_list(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [as_list(item) for item in value]
        return value

    return msgspec.convert(as_list(results), Results)
