"""Records of eight fields, as benchmarks of document databases store them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from serialpack.bench.results import Entropy
from serialpack.bench.samples._draw import Draw, entropy
from serialpack.bench.samples.base import Sample, SampleTable, json_array

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_STATES = ("draft", "open", "review", "blocked", "approved", "done", "archived", "deleted")


def _records(d: Draw) -> Iterator[dict[str, Any]]:
    """Per type one field that is hard to make smaller, and one that is not."""
    index = 0
    while True:
        yield {
            "f0": index,
            "f1": d.bits(32) - (1 << 31),
            "f2": d.fraction(),
            "f3": d.below(100_000) / 100,
            "f4": "".join(d.some_of(_LETTERS, 8)),
            "f5": d.one_of(_STATES),
            "f6": bool(d.bits(1)),
            "f7": d.below(100),
        }
        index += 1


def _value(n: int) -> list[dict[str, Any]]:
    return list(islice(_records(Draw()), n))


def _chunks(n: int) -> Iterator[bytes]:
    return json_array(islice(_records(Draw()), n))


def _limit(n: int) -> Entropy:
    return Entropy(entropy(_records, n), "entropy of what was drawn for f1 to f7")


SAMPLE = Sample(
    name="documents",
    about="records with fields f0 to f7: integers, floats, short texts, a boolean",
    default=100_000,
    unit="records",
    mode="object",
    format="json",
    make_value=_value,
    chunks=_chunks,
    limit=_limit,
    table=SampleTable(
        serializers=(
            *("pickle", "marshal", "json", "simplejson", "ujson", "umsgpack", "msgpack", "yaml"),
        ),
        runs=10,
    ),
)
