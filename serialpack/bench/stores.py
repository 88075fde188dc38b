"""``--store``: measures what serializers and codecs cost in a key-value store.

Records are all written under their numbers in one transaction, proof included, and then read one by
one. A sample that is one object is written and read as that one value, for each of several N (as in
comparisons of serializers in Tokyo Cabinet). The size is that of the stored values, with the
dictionary that they share.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from itertools import product
from time import perf_counter
from typing import Any, NamedTuple

from serialpack.bench.machine import this_machine
from serialpack.bench.measuring.trials import Figures
from serialpack.bench.measuring.workbench import Held
from serialpack.bench.results import Results, Row
from serialpack.bench.samples import Sample, parse_sample
from serialpack.bench.schedules.combination import Combination
from serialpack.bench.schedules.rows import failed_row, measured_row, skipped_row
from serialpack.bench.schedules.schedule import NO_TIME
from serialpack.conversion.files import convert
from serialpack.errors import SerialpackError, UsageError
from serialpack.formats.msgpack.values import unpack
from serialpack.hidden import temporary_folder
from serialpack.stages.chain import parse_chain
from serialpack.stages.stage import MAX_BLOCK
from serialpack.stores.facts import facts_of
from serialpack.stores.header import new_header
from serialpack.stores.mapping import store
from serialpack.stores.registry import store_kind

#: What is measured where the user names nothing: msgpack, and what people keep in such stores
#: today.
_SERIALIZERS = ("msgpack", "json", "pickle", "protobuf")
_CODECS = ("zstd:3", "none")

#: Each row is run at most so many times.
_MOST_RUNS = 10


class StoreQuestion(NamedTuple):
    """What is to be found out. ``kind``: of store, by its name; all else as in ``run.Question``."""

    kind: str
    source: str
    is_sample: bool
    format: str | None
    serializers: Sequence[str]
    codecs: Sequence[str]
    budget: float
    sweep: Sequence[int]


class _Point(NamedTuple):
    """The values to store, by their keys, and how many bytes they have as bare JSON (``size``).
    ``n``: the N of a sweep; None without one."""

    n: int | None
    values: dict[Any, Any]
    size: int


def measure_stores(asked: StoreQuestion, progress: Callable[[float, str], object]) -> Results:
    """Measure all that there is time for: a row for each chain and each N.

    ``progress(share, chain)``: the share of the budget that is used. UsageError,
    MissingLibraryError, and what reading the source raises.
    """
    begin = perf_counter()
    points = [*_points(asked)]
    if not points[-1].values:
        raise UsageError(f"there are no values in {asked.source} to store")
    chains = list(product(asked.serializers or _SERIALIZERS, asked.codecs or _CODECS))
    rows: list[Row] = []
    start, total = perf_counter(), len(points) * len(chains)
    for done, (point, (serializer, codec)) in enumerate(product(points, chains)):
        spent = perf_counter() - start
        rows.append(_measured(asked, point, f"{serializer}+{codec}", spent, total - done))
        progress(min(spent / asked.budget, 1.0), rows[-1].chain)
    rows.sort(key=lambda row: (row.n or 0, row.size is None, row.size, row.chain))
    return Results(
        source=asked.source,
        mode="file",
        format=asked.format or "values",
        size=points[-1].size,
        records=len(points[-1].values),
        sampled=points[-1].size,
        budget=asked.budget,
        elapsed=perf_counter() - begin,
        date=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        machine=this_machine(),
        limit=None,
        rows=rows,
        anchors=[],
        recommendations=[],
        notes=[
            f"values in {store_kind(asked.kind).title}; pack is writing all in one transaction,"
            " with the proof, unpack is reading each by its key; the ratio is to bare JSON"
        ],
        through="memory",
    )


def _points(asked: StoreQuestion) -> Iterator[_Point]:
    """The values to store, for each N; of a file once."""
    if not asked.is_sample:
        values = BytesIO()
        convert(asked.source, values, to="msgpack", format=asked.format)
        records = unpack(values.getvalue())
        if len(records) == 1 and type(records[0]) is list:  # an array of records
            (records,) = records
        yield _point(None, records)
        return
    sample, n = parse_sample(asked.source)
    sweep = sorted({*asked.sweep}) or ([*sample.table.sweep] if ":" not in asked.source else [])
    for each in sweep or [n]:
        yield _point(each if sweep else None, _values(sample, each))


def _values(sample: Sample, n: int) -> list[Any]:
    """The records of a sample; where the sample is one object, a list of that."""
    value = sample.make_value(n)
    return value if type(value) is list and sample.unit == "records" else [value]


def _point(n: int | None, values: Sequence[Any]) -> _Point:
    size = sum(len(json.dumps(value, separators=(",", ":"), default=str)) for value in values)
    return _Point(n, dict(enumerate(values)), size)


def _measured(asked: StoreQuestion, point: _Point, spelled: str, spent: float, left: int) -> Row:
    """The row of the chain ``spelled``, measured for its share of what is left of the budget:
    ``spent`` seconds of it are gone, and ``left`` rows are to come, this one included."""
    chain = parse_chain(str(new_header(spelled, 3, {}, trust=True).chain))
    combination = Combination(chain, 1, MAX_BLOCK, point.n)
    share = (asked.budget - spent) / left
    if share <= 0:
        return skipped_row(combination, NO_TIME)
    held = Held(point.size, point.size)
    runs: list[_Run] = []
    try:
        until = perf_counter() + share
        while not runs or (perf_counter() < until and len(runs) < _MOST_RUNS):
            runs.append(_run(asked.kind, spelled, point.values))
    except SerialpackError as error:
        return failed_row(combination, error)
    writes, reads = [run.writing for run in runs], [run.reading for run in runs]
    figures = Figures(
        source=point.size,
        records=len(point.values),
        size=runs[-1].size,
        overhead=runs[-1].dictionary,
        pack=min(writes),
        unpack=min(reads),
        pack_mean=sum(writes) / len(writes),
        unpack_mean=sum(reads) / len(reads),
        steps={},
        runs=len(writes),
        spread=sorted(writes)[len(writes) // 2] / min(writes) - 1,
        memory=None,
        kept="faithful",
    )
    return measured_row(combination, figures, held)


class _Run(NamedTuple):
    """Seconds of writing and of reading all values; bytes of the store, and of its dictionary."""

    writing: float
    reading: float
    size: int
    dictionary: int


def _run(kind: str, spelled: str, values: Mapping[Any, Any]) -> _Run:
    """Write ``values`` into a new store, and read each of them."""
    with temporary_folder() as folder:
        ending = (*store_kind(kind).endings, "")[0]
        url = f"{kind}://{folder}/store{ending}"
        with store(url, "n", spelled, trust=True) as kept:
            begin = perf_counter()
            kept.update(values)
            writing = perf_counter() - begin
            begin = perf_counter()
            for key in values:
                kept[key]
            reading = perf_counter() - begin
        facts = facts_of(url)
    return _Run(writing, reading, facts.stored + facts.dictionary, facts.dictionary)
