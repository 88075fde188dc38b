"""Flat records of some 400 bytes with little prose."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from serialpack.bench.results import Entropy
from serialpack.bench.samples._draw import Draw, entropy
from serialpack.bench.samples.base import BLOSC_TABLE, Sample, ndjson

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_STREETS = ("Street", "Road", "Avenue", "Lane")


def records() -> Iterator[dict[str, Any]]:
    """Contacts without end."""
    return _records(Draw())


def _records(d: Draw) -> Iterator[dict[str, Any]]:
    names = ["".join(d.some_of(_LETTERS, d.between(3, 9))).title() for _ in range(800)]
    streets = [f"{name} {d.one_of(_STREETS)}" for name in names[:400]]
    index = 0
    while True:
        yield {
            "id": d.uuid4(),
            "index": index,
            "name": {"first": d.one_of(names), "last": d.one_of(names)},
            "age": d.between(18, 90),
            "balance": round(d.fraction(1_000_000) * 10000, 2),
            "phone": f"+1 ({d.between(200, 999)}) {d.between(200, 999)}-{d.below(10_000):04d}",
            "email": f"{d.one_of(names).lower()}@{d.one_of(names).lower()}.example",
            "address": f"{d.between(1, 999)} {d.one_of(streets)}, {d.one_of(names)}ville, "
            f"{d.between(10000, 99999)}",
            "registered": f"20{d.between(10, 25)}-{d.between(1, 12):02d}-{d.between(1, 28):02d}"
            f"T{d.below(24):02d}:{d.below(60):02d}:{d.below(60):02d}",
            "active": d.fraction(2) < 0.5,
            "tags": [name.lower() for name in d.some_of(names, d.between(1, 5))],
            "latitude": round(d.fraction(180_000_000) * 180 - 90, 6),
            "longitude": round(d.fraction(360_000_000) * 360 - 180, 6),
            "note": None,
        }
        index += 1


def _value(n: int) -> list[dict[str, Any]]:
    return list(islice(records(), n))


def _chunks(n: int) -> Iterator[bytes]:
    return ndjson(islice(records(), n))


def _limit(n: int) -> Entropy:
    return Entropy(entropy(_records, n), "entropy of the ids, names, numbers and tags drawn")


SAMPLE = Sample(
    name="contacts",
    about="flat records of about 400 bytes: ids, names, numbers, dates, little prose",
    default=60_000,
    unit="records",
    mode="object",
    format="ndjson",
    make_value=_value,
    chunks=_chunks,
    limit=_limit,
    table=BLOSC_TABLE,
)
