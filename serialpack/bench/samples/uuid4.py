"""One map of UUID4 keys to small integers: high entropy, and none of it in the values."""

from __future__ import annotations

from collections.abc import Iterator

from serialpack.bench.results import Entropy
from serialpack.bench.samples._draw import UUID_BITS, Draw, uuid_text
from serialpack.bench.samples.base import BLOSC_TABLE, Sample, json_document

#: The values are 0 to 7.
_VALUE_BITS = 3


def _value(n: int) -> dict[str, int]:
    draw = Draw()
    digits = b"".join(draw.bytes(16 * n)).hex()
    keys = (uuid_text(digits[at : at + 32]) for at in range(0, len(digits), 32))
    mask = (1 << _VALUE_BITS) - 1
    values = (byte & mask for piece in draw.bytes(n) for byte in piece)
    return dict(zip(keys, values, strict=True))


def _chunks(n: int) -> Iterator[bytes]:
    return json_document(_value(n))


def _limit(n: int) -> Entropy:
    return Entropy(
        n * (UUID_BITS + _VALUE_BITS) / 8,
        f"{UUID_BITS} random bits a key and {_VALUE_BITS} a value",
    )


SAMPLE = Sample(
    name="uuid4",
    about="one map of UUID4 keys, as text, to integers from 0 to 7",
    default=262_144,
    unit="keys",
    mode="object",
    format="json",
    make_value=_value,
    chunks=_chunks,
    limit=_limit,
    table=BLOSC_TABLE,
)
