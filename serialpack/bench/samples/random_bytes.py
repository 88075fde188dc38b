"""Bytes that nothing makes smaller: what trying costs."""

from __future__ import annotations

from collections.abc import Iterator

from serialpack.bench.results import Entropy
from serialpack.bench.samples._draw import Draw
from serialpack.bench.samples.base import Sample, SampleTable


def _chunks(n: int) -> Iterator[bytes]:
    return Draw().bytes(n)


def _value(n: int) -> bytes:
    return b"".join(_chunks(n))


def _limit(n: int) -> Entropy:
    return Entropy(n, "8 random bits a byte")


SAMPLE = Sample(
    name="random",
    about="random bytes",
    default=1_000_000,
    unit="bytes",
    mode="file",
    format="bytes",
    make_value=_value,
    chunks=_chunks,
    limit=_limit,
    table=SampleTable(serializers=("raw",), codecs=()),
)
