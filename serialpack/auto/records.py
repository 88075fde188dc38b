"""Samples of records, and what columns make of them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from serialpack.formats import FORMATS
from serialpack.stages.chain import StageSpec
from serialpack.stages.stage import Buffer

if TYPE_CHECKING:
    from serialpack.serializers.columns import ColumnsSerializer

#: So many samples of so many bytes each.
SAMPLES, SAMPLE = 5, 10_000

#: With so many bytes of long lines there are no more samples.
_ENOUGH = 10 * SAMPLES * SAMPLE

#: A front of so many bytes, a quarter of a block, mostly tells that keys are no data. What is no
#: larger than the first is tried both ways: it takes a moment, and 65 kB of events gained 13 %.
_TANGLED_LEAST, _TANGLED_FRONT = 256 << 10, 1 << 20


def _columns(spec: StageSpec) -> ColumnsSerializer:
    from serialpack.serializers.columns import ColumnsSerializer

    return ColumnsSerializer(*spec)


def apart(columns: StageSpec, format: str, sample: Buffer) -> bytes | None:
    """``sample`` as ``columns`` keep it; None where it has no records."""
    return _columns(columns).apart(bytes(sample), FORMATS.declaration(format).columns)


def is_tangled(columns: StageSpec, format: str, head: Buffer) -> bool:
    """Whether keys are data in ``head``, of which ``columns`` hardly gain anything."""
    if len(head) <= _TANGLED_LEAST:
        return False
    kind, serializer = FORMATS.declaration(format).columns, _columns(columns)
    front = bytes(head[: min(max(_TANGLED_LEAST, len(head) // 4), _TANGLED_FRONT)])
    # In all of it keys may turn out to come again that seldom do in its front.
    return serializer.is_tangled(front, kind) and serializer.is_tangled(bytes(head), kind)


def sample_of(format: str, head: Buffer) -> Buffer:
    """Some of the records that ``head`` begins with; nothing where they are too large for that."""
    return _lines(head) if FORMATS.declaration(format).has_lines else _front(format, head)


def _lines(head: Buffer) -> bytes:
    """Whole lines from places spread over ``head``, none of them twice."""
    data = bytes(head)
    step = len(data) // SAMPLES
    pieces: list[bytes] = []
    stop = 0
    for at in range(0, step * SAMPLES, step):
        start = max(stop, data.rfind(b"\n", 0, at) + 1)
        stop = max(start, data.find(b"\n", start + SAMPLE) + 1)
        pieces.append(data[start:stop])
        if sum(map(len, pieces)) > _ENOUGH:
            break
    return b"".join(pieces)


def _front(format: str, head: Buffer) -> Buffer:
    """The first records; nothing where the first one is too large for a sample."""
    front = io.BytesIO(bytes(head[: 2 * SAMPLES * SAMPLE]))
    block = next(FORMATS.get(format).split(front.read, SAMPLES * SAMPLE))
    return b"" if block.partial or block.last else block.data
