"""Codecs that leave less than zstd of what has neither records nor numbers, where only size counts.

LZMA tells contexts of bytes apart, bzip2 sorts them: of tiles of maps the one, of prose the other
leaves a tenth less than zstd at its highest level, which takes as long to pack. Both are read at a
tenth of its speed, and by other tools: only the last step of the dial takes them (``Effort.slow``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from serialpack.codecs import CODECS
from serialpack.stages.chain import StageSpec, parse_stage
from serialpack.stages.stage import Buffer

#: So many bytes are a sample, from the middle: files often begin with what is unlike the rest.
_SAMPLE = 2 << 20

#: What another codec must save beside zstd, which any zstd tool unpacks: of all that there is, and
#: of a sample.
_LEAST_GAIN, _BY_SAMPLE = 0.01, 0.02


class Smallest(NamedTuple):
    """The codec that leaves least; ``why``, where that is not zstd; and what it makes of what was
    shown, where all of that was tried."""

    codec: StageSpec
    why: str = ""
    payload: Buffer | None = None


def smallest(zstd: StageSpec, slow: Sequence[str], head: Buffer) -> Smallest:
    """``zstd``, or that of the ``slow`` codecs which leaves clearly less of a source that begins
    with ``head``: a block of it, or all that there is."""
    start = max(0, (len(head) - _SAMPLE) // 2)
    sample = memoryview(head)[start : start + _SAMPLE]
    made = _Compressed(sample)
    specs = [parse_stage(CODECS, spelled) for spelled in slow]
    if len(sample) == len(head):
        return made.least(zstd, specs, _LEAST_GAIN)
    far = [spec for spec in specs if CODECS.cls(spec.name).looks_far(spec.values)]
    best = made.least(zstd, far, _BY_SAMPLE)
    # Codecs that look far find more in all of it than in a sample, the others do not.
    near = made.least(best.codec, [spec for spec in specs if spec not in far], _LEAST_GAIN)
    if near.codec == best.codec:
        return best._replace(payload=None)
    return _Compressed(head).least(best.codec, [near.codec], _LEAST_GAIN)


class _Compressed:
    """What codecs make of ``data``."""

    def __init__(self, data: Buffer) -> None:
        self._data = data
        self._by: dict[StageSpec, Buffer] = {}

    def least(self, usual: StageSpec, others: Sequence[StageSpec], gain: float) -> Smallest:
        """Which of ``others`` leaves least, or ``usual``, beside which that must save ``gain``."""
        best = min((usual, *others), key=lambda spec: len(self._of(spec)))
        saved = 1 - len(self._of(best)) / len(self._of(usual))
        if saved < gain:
            return Smallest(usual, payload=self._of(usual))
        why = f"{best.name} leaves {saved:.0%} less of it than {usual.name}"
        return Smallest(best, why, self._of(best))

    def _of(self, spec: StageSpec) -> Buffer:
        if spec not in self._by:
            self._by[spec] = CODECS.create(*spec).compress(self._data)
        return self._by[spec]
