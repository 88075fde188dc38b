"""The proof: what was encoded is decoded again, and must be the same.

First the bytes are compared. Where they differ, the spelling is adjusted for this block and
they are compared again. Only where they still differ, the values are compared, strictly, on the
text that unpacking will write.
"""

from __future__ import annotations

from typing import NamedTuple

from serialpack.formats.base import Format, SourceBlock, Spelling, Unheld, ValueFormat
from serialpack.serializers._collector import collector_held
from serialpack.serializers.base import FAILURES, Serializer, ValueSerializer
from serialpack.stage import Buffer


class Proof(NamedTuple):
    """``exact``: the very bytes come back, else the same values.

    ``spelling``: what of the source's spelling is different for this block; usually nothing.
    """

    exact: bool
    spelling: Spelling


def prove(
    serializer: Serializer, fmt: Format, block: SourceBlock, data: Buffer, spelling: Spelling
) -> Proof:
    """Prove that ``data``, the encoded ``block``, gives it back; ValueRefusedError where not."""
    if serializer.keeps(fmt):
        return Proof(True, {})
    assert isinstance(serializer, ValueSerializer)
    assert isinstance(fmt, ValueFormat)
    source = bytes(block.data)
    changed = fmt.respell(block, spelling)
    restored = _decode(serializer, fmt, block, data, {**spelling, **changed})
    if restored == source:
        return Proof(True, changed)
    for guess in fmt.respellings(block, spelling):
        if _decode(serializer, fmt, block, data, {**spelling, **guess}) == source:
            return Proof(True, guess)
    with collector_held():
        lost = fmt.difference(block, restored)
    if lost is not None:
        raise serializer.refuse(lost, block.first_record)
    return Proof(False, changed)


def _decode(
    serializer: ValueSerializer,
    fmt: ValueFormat,
    block: SourceBlock,
    data: Buffer,
    spelling: Spelling,
) -> Buffer:
    try:
        return serializer.decode(data, fmt, spelling, first=block.index == 0)
    except FAILURES as error:
        try:
            lost = serializer.blame(fmt.parse(block), error)
        except Unheld as unheld:
            lost = unheld.difference
        raise serializer.refuse(lost, block.first_record) from None
