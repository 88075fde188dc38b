"""The digest of a member's whole content."""

from __future__ import annotations

from xxhash import xxh3_128

from serialpack.stages.stage import Buffer


class WholeDigest:
    """XXH3-128 over all blocks of a member: over the source's bytes where every block is exact,
    else over the serialized bytes. Of a block in place, ``Block.part_checks`` is added instead."""

    def __init__(self) -> None:
        self._serialized = xxh3_128()
        self._source: xxh3_128 | None = None
        self._exact = True

    def add(self, serialized: Buffer, source: Buffer | None, *, exact: bool) -> None:
        """Add the next block. ``source``: None where its bytes are the serialized ones."""
        if source is not None and self._source is None:
            self._source = self._serialized.copy()
        if self._source is not None:
            self._source.update(serialized if source is None else source)
        self._serialized.update(serialized)
        self._exact = self._exact and exact

    def digest(self) -> bytes:
        """The digest of all blocks so far, 16 bytes."""
        whole = self._source if self._exact and self._source is not None else self._serialized
        return whole.digest()
