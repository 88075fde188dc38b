"""The proof: what was encoded is decoded again, and must be the same.

First the bytes are compared. Where they differ, the spelling is adjusted for this block and
they are compared again. Only where they still differ, the values are compared, strictly, on the
text that unpacking will write.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import NamedTuple

from serialpack.formats.base import Format, SourceBlock, Spelling, Unheld, ValueFormat
from serialpack.serializers._collector import collector_held
from serialpack.serializers.base import FAILURES, Serializer, ValueSerializer
from serialpack.stages.stage import Buffer


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
    for guess in chain((changed,), fmt.respellings(block, spelling)):
        with _blamed(serializer, fmt, block):
            restored = serializer.restore(data, fmt, {**spelling, **guess}, first=block.index == 0)
        if restored == source:
            return Proof(True, guess)
    # Not the very bytes: as unpacking will do it then.
    with _blamed(serializer, fmt, block):
        restored = serializer.decode(data, fmt, {**spelling, **changed}, first=block.index == 0)
    with collector_held():
        lost = fmt.difference(block, restored)
    if lost is not None:
        raise serializer.refuse(lost, block.first_record)
    return Proof(False, changed)


def gives_back(serializer: Serializer, fmt: Format, block: SourceBlock, data: Buffer) -> bool:
    """Whether ``data``, the encoded ``block`` of an exact serializer, gives back the very bytes."""
    try:
        return serializer.decode(data, fmt, {}, first=block.index == 0) == block.data
    except ValueError:
        return False


@contextmanager
def _blamed(serializer: ValueSerializer, fmt: ValueFormat, block: SourceBlock) -> Iterator[None]:
    """Where the library does not read what it wrote, the refusal names the value."""
    try:
        yield
    except FAILURES as error:
        try:
            lost = serializer.blame(fmt.parse(block), error)
        except Unheld as unheld:
            lost = unheld.difference
        raise serializer.refuse(lost, block.first_record) from None
