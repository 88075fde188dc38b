"""A message as a task scheduler sends it: a few small fields around a payload of bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from serialpack.bench.results import Entropy
from serialpack.bench.samples._draw import Draw
from serialpack.bench.samples.base import Sample, SampleTable

#: What MessagePack takes for all but the payload; 3 bytes less or 4 more, as lengths are spelled.
_ENVELOPE = 82
_KEY_BYTES = 4


def _payload_size(n: int) -> int:
    return max(0, n - _ENVELOPE)


def _value(n: int) -> dict[str, Any]:
    draw = Draw()
    return {
        "op": "task-finished",
        "key": f"sum-{draw.bits(8 * _KEY_BYTES):08x}",
        "header": {"worker": 3, "nbytes": _payload_size(n), "status": "OK"},
        "payload": b"".join(draw.bytes(_payload_size(n))),
    }


def _chunks(n: int) -> Iterator[bytes]:
    import msgpack

    yield msgpack.packb(_value(n))


def _limit(n: int) -> Entropy:
    return Entropy(_payload_size(n) + _KEY_BYTES, "random bytes of the payload and the key")


SAMPLE = Sample(
    name="messages",
    about="a message as a scheduler sends it: a small header and a payload of random bytes",
    default=1_000_000,
    unit="bytes",
    mode="object",
    format="msgpack",
    make_value=_value,
    chunks=_chunks,
    limit=_limit,
    table=SampleTable(
        serializers=("pickle", "msgpack", "ormsgpack", "msgspec-msgpack", "cbor"),
        codecs=("none", "zstd:3"),
        runs=50,
        sweep=tuple(10**power for power in range(2, 9)),
    ),
)
