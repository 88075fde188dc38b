"""One object with two arrays whose elements are all the same: what serializers add to an element.

Nothing in it is random: its limit is a few bytes for any N, and none is stated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from serialpack.bench.samples.base import Sample, SampleTable, json_document


def _value(n: int) -> dict[str, Any]:
    return {"integers": [0] * n, "strings": ["Dummy text"] * n}


def _chunks(n: int) -> Iterator[bytes]:
    return json_document(_value(n))


SAMPLE = Sample(
    name="target-object",
    about='one object with an array of integers, all 0, and one of texts, all "Dummy text"',
    default=1000,
    unit="elements of each array",
    mode="object",
    format="json",
    make_value=_value,
    chunks=_chunks,
    table=SampleTable(
        serializers=("pickle", "protobuf", "xml", "msgpack", "json"),
        runs=50,
        sweep=tuple(range(100, 10_001, 100)),
    ),
)
