"""What docs/benchmarks.md says of each sample: sentences and tables made from the results.

No figure stands here: each is taken from the rows, and so is what is said to be fastest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from serialpack.bench.reports.row_columns import duration, is_known, significant
from serialpack.bench.reports.sweeps import series
from serialpack.bench.results import Results, Row, cost
from serialpack.bench.samples import parse_sample
from serialpack.units import format_size
from tools._bench_words import (
    Setting,
    Text,
    absent,
    both,
    capital,
    code,
    codec_time,
    effect,
    known,
    rate,
    read,
    setting_of,
    size,
    size_of,
    speed,
    table_of,
    times,
    write,
)

#: So many rows of a long table are shown, the smallest first.
_SHOWN = 24


def blosc(results: Results) -> Text:
    """Serializers without a codec; sizes behind blosc; what its settings do."""
    rows = known(results)
    plain = [row for row in rows if row.codec == "none"]
    packed = [row for row in rows if row.codec != "none"]
    if plain:
        yield _of_plain(plain)
        yield _plain_table(plain)
    if packed:
        smallest = packed[0]
        over = f", {times(smallest.over_limit)} the limit" if smallest.over_limit else ""
        yield (
            f"Behind blosc {code(smallest.chain)} is smallest: {size_of(smallest)} bytes{over}."
            f"{_of_filters(packed)}\n"
        )
        yield _sizes_behind(packed)
        yield _of_settings(packed)
    yield from absent(results)


def _of_plain(plain: Sequence[Row]) -> str:
    """Who is quickest and smallest without a codec."""
    ranked = sorted(plain, key=both)
    fastest, slowest = ranked[0], ranked[-1]
    smallest = plain[0]
    text = (
        f"Without a codec {code(fastest.serializer)} takes the least time to write and read,"
        f" {duration(both(fastest))}"
    )
    if slowest is not fastest:
        text += f"; {code(slowest.serializer)} takes {times(both(slowest) / both(fastest))} that"
    text += f". {code(smallest.serializer)} is smallest: {size_of(smallest)} bytes"
    if smallest.over_limit:
        text += f", {times(smallest.over_limit)} the limit"
    return f"{text}.\n"


def _plain_table(plain: Sequence[Row]) -> str:
    return table_of(
        ("serializer", "size", "over the limit", "write", "read", "both", "dump, proved"),
        (
            (
                code(row.serializer),
                size_of(row),
                significant(row.over_limit) if row.over_limit else "",
                duration(write(row)),
                duration(read(row)),
                duration(both(row)),
                duration(row.pack_seconds or 0),
            )
            for row in plain
        ),
    )


def _of_filters(rows: Sequence[Row]) -> str:
    """What byte and bit shuffle do to sizes."""
    filters = sorted({tuple(row.filters) for row in rows} - {()})
    found = []
    for each in filters:
        ratio = effect(rows, size, lambda s: s.filters, (), each, lambda s: s._replace(filters=()))
        if ratio is not None:
            found.append(f"{significant(ratio)} with {code('+'.join(each))}")
    if not found:
        return ""
    return f" Held against no filter the size is {' and '.join(found)} (medians)."


def _sizes_behind(rows: Sequence[Row]) -> str:
    """The smallest size of each serializer behind each codec and filter, whatever its settings."""
    best: dict[tuple[str, str], Row] = {}
    heads: list[str] = []
    for row in rows:
        setting = setting_of(row)
        head = "+".join([*setting.filters, f"{setting.codec}:{setting.level}"])
        if head not in heads:
            heads.append(head)
        key = (row.serializer, head)
        if key not in best or (row.size or 0) < (best[key].size or 0):
            best[key] = row
    heads.sort(key=lambda head: (head.rpartition("+")[2], head.count("+"), head))
    names = list(dict.fromkeys(row.serializer for row in rows))
    return table_of(
        ("size behind", *map(code, heads)),
        (
            (code(name), *(size_of(best[name, h]) if (name, h) in best else "" for h in heads))
            for name in names
        ),
    )


def _of_settings(rows: Sequence[Row]) -> str:
    """What block sizes and blosc's own threads do."""
    blocks, threads = _found(rows, lambda s: s.block), _found(rows, lambda s: s.threads)
    sizes, seconds = [], []
    for block in blocks[1:]:
        ratio = effect(
            rows, size, lambda s: s.block, blocks[0], block, lambda s: s._replace(block=0)
        )
        if ratio is not None:
            sizes.append(f"{significant(ratio)} with {format_size(block, exact=True)}")
    for count in threads[1:]:
        ratio = effect(
            rows,
            codec_time,
            lambda s: s.threads,
            threads[0],
            count,
            lambda s: s._replace(threads=0),
        )
        if ratio is not None:
            seconds.append(f"{significant(ratio)} with {count}")
    text = []
    if sizes:
        first = format_size(blocks[0], exact=True)
        text.append(f"Held against blocks of {first} the size is {' and '.join(sizes)}.")
    if seconds:
        text.append(
            "Held against one thread of blosc's own, the time to compress and decompress is"
            f" {' and '.join(seconds)}."
        )
    return f"{' '.join(text)} (Medians over rows that differ in nothing else.)\n" if text else ""


def _found(rows: Sequence[Row], of: Callable[[Setting], int]) -> list[int]:
    return sorted({of(setting_of(row)) for row in rows})


def documents(results: Results) -> Text:
    """One row a serializer."""
    rows = sorted(known(results), key=both)
    if rows:
        yield _of_plain(sorted(rows, key=lambda row: row.size or 0))
    body: list[tuple[str, ...]] = [
        (
            code(row.serializer),
            duration(write(row)),
            duration(row.means["serialize"]) if row.means else "",
            duration(read(row)),
            duration(row.means["deserialize"]) if row.means else "",
            duration(both(row)),
            size_of(row),
            str(row.runs),
        )
        for row in rows
    ]
    body += [
        (code(row.serializer), f"{row.status}: {row.why}", *[""] * 6)
        for row in results.rows
        if not is_known(row)
    ]
    yield table_of(
        ("serializer", "write", "mean", "read", "mean", "both", "size", "runs"),
        body,
    )
    yield from (f"{capital(note)}.\n" for note in results.notes)


def letters(results: Results) -> Text:
    """Codecs against the bits that a letter must have."""
    _, n = parse_sample(results.source)
    rows = known(results)
    limit = results.limit
    if rows and limit is not None:
        best = rows[0]
        yield (
            f"A letter needs {significant(8 * limit.size / n)} bits. {code(best.chain)} comes"
            f" nearest, with {significant(8 * (best.size or 0) / n)} bits a letter;"
            f" {_of_auto(rows, lambda row: f'{significant(8 * (row.size or 0) / n)} bits')}\n"
        )
    yield _file_table(rows, ("bits a letter", lambda row: significant(8 * (row.size or 0) / n)))
    yield from absent(results)


def _of_auto(rows: Sequence[Row], said: Callable[[Row], str]) -> str:
    auto = next((row for row in rows if row.auto), None)
    return "." if auto is None else f"what `auto` takes, {code(auto.chain)}, {said(auto)}."


def _file_table(rows: Sequence[Row], more: tuple[str, Callable[[Row], str]] | None = None) -> str:
    shown = [row for number, row in enumerate(rows) if number < _SHOWN or row.front or row.auto]
    extra = [more] if more is not None else []
    return table_of(
        (
            "chain",
            "size",
            *(head for head, _ in extra),
            "over the limit",
            "pack MB/s",
            "unpack MB/s",
        ),
        (
            (
                f"**{code(row.chain)}**" if row.front else code(row.chain),
                size_of(row),
                *(text(row) for _, text in extra),
                significant(row.over_limit) if row.over_limit else "",
                speed(row.pack_speed),
                speed(row.unpack_speed),
            )
            for row in shown
        ),
    )


def incompressible(results: Results) -> Text:
    """The cost of trying."""
    rows = known(results)
    if rows:
        largest = rows[-1]
        slowest = max(rows, key=cost)
        fastest = min(rows, key=cost)
        assert largest.size is not None
        yield (
            f"Nothing makes these bytes fewer: the largest container, that of"
            f" {code(largest.chain)}, has {largest.size - results.size:,} bytes more than they."
            f" Trying takes {duration(cost(slowest))} to pack and unpack with"
            f" {code(slowest.chain)}, {duration(cost(fastest))} with {code(fastest.chain)};"
            f" {_of_auto(rows, lambda row: duration(cost(row)))}\n"
        )
    yield _file_table(rows)
    yield from absent(results)


def field(results: Results) -> Text:
    """Codecs and filters on a cube of numbers."""
    rows = known(results)
    if rows:
        best = rows[0]
        over = f", {times(best.over_limit)} the limit" if best.over_limit else ""
        yield (
            f"Smallest is {code(best.chain)}: {size_of(best)} bytes{over}.{_of_filters(rows)}"
            f" On the front are {', '.join(code(row.chain) for row in rows if row.front)}.\n"
        )
    yield _file_table(rows)
    yield from absent(results)


def curves(results: Results) -> Text:
    """How sizes and times grow, each over those of Python's own serializer."""
    lines = series(results)
    counts = Counter(row.n or 0 for rows in lines.values() for row in rows)
    # Those at which all were measured.
    ns = sorted(n for n, count in counts.items() if count == max(counts.values()))
    if ns:
        yield _of_curves(results, ns[-1])
    shown = [ns[0], ns[len(ns) // 2], ns[-1]] if len(ns) > 3 else ns
    for n in shown:
        here = known(results._replace(rows=[row for row in results.rows if row.n == n]))
        native = next((row for row in here if row.serializer.startswith("pickle")), None)
        yield table_of(
            (
                f"n = {n:,}",
                "size",
                "over the original",
                "write",
                "read",
                "over pickle",
                "read over write",
            ),
            (
                (
                    code(row.serializer),
                    size_of(row),
                    significant(1 / row.ratio) if row.ratio else "",
                    duration(write(row)),
                    duration(read(row)),
                    significant(both(row) / both(native)) if native else "",
                    significant(read(row) / write(row)),
                )
                for row in here
            ),
        )
    yield from absent(results)


def _of_curves(results: Results, n: int) -> str:
    rows = [row for row in known(results) if row.n == n]
    smallest, fastest, slowest = rows[0], min(rows, key=both), max(rows, key=both)
    return (
        f"With n = {n:,} {code(smallest.serializer)} is smallest, {size_of(smallest)} bytes;"
        f" {code(fastest.serializer)} takes the least time to write and read,"
        f" {duration(both(fastest))}, and {code(slowest.serializer)} the most,"
        f" {duration(both(slowest))}.\n"
    )


def messages(results: Results) -> Text:
    """What a message costs: the serializer, and all of dumps and loads."""
    rows = [row for row in known(results) if row.n is not None]
    ns = sorted({row.n or 0 for row in rows})
    if ns:
        yield _of_messages([row for row in rows if row.n == ns[0]], ns[0])
        yield _of_messages([row for row in rows if row.n == ns[-1]], ns[-1])
    yield (
        "*Serializer* is its own write and read; *dumps* and *loads* are serialpack's, with the"
        " proof, checksums and the container. *Copies*: the most memory that a call takes beside"
        " its argument and, of `dumps`, its result, over the size of the message; of a small"
        " message that cannot be told.\n"
    )
    yield table_of(
        ("message", "chain", "size", "serializer", "dumps", "loads", "dumped", "copies"),
        (
            (
                f"{row.n:,}",
                code(row.chain),
                size_of(row),
                duration(both(row)),
                duration(row.pack_seconds or 0),
                duration(row.unpack_seconds or 0),
                rate(row.n or 0, row.pack_seconds or 1),
                "" if row.memory is None else significant(row.memory / (row.n or 1)),
            )
            for row in sorted(rows, key=lambda row: (row.n or 0, cost(row)))
        ),
    )
    yield from absent(results)


def _of_messages(rows: Sequence[Row], n: int) -> str:
    fastest = min(rows, key=cost)
    assert fastest.pack_seconds is not None
    assert fastest.unpack_seconds is not None
    text = (
        f"A message of {n:,} bytes takes {duration(fastest.pack_seconds)} to dump and"
        f" {duration(fastest.unpack_seconds)} to load with {code(fastest.chain)}, the fastest:"
        f" {rate(n, fastest.pack_seconds)} and {rate(n, fastest.unpack_seconds)}"
    )
    if fastest.memory is not None:
        text += f", with {significant(fastest.memory / n)} copies of it in memory at most"
    return f"{text}.\n"


def cold(results: Results) -> Text:
    """A file larger than the disk's cache, read from the disk."""
    whole = [row for row in known(results) if row.status == "measured"]
    if whole:
        fastest = min(whole, key=cost)
        yield (
            f"Of {format_size(results.size)}, through files, {code(fastest.chain)} is fastest:"
            f" it packs {speed(fastest.pack_speed)} MB/s and unpacks"
            f" {speed(fastest.unpack_speed)} MB/s, both of the source.\n"
        )
    yield _file_table(whole)
    yield from absent(results)
