"""``Joiner`` writes one file of the pieces that blocks of records became, in their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO

from serialpack.errors import ValueRefusedError
from serialpack.formats.pieces.join import Around, Join, Piece
from serialpack.stages.stage import MAX_BLOCK, Buffer, Write
from serialpack.values.structure import Structure

#: Writes bytes over those at an offset of what was written.
Patch = Callable[[int, bytes], object]

_NOTHING = Around()


class Joiner:
    """Writes one file of the pieces that blocks became, in their order.

    ``patch`` writes over what was written; without it a file whose length must be said first
    goes through a temporary one.
    """

    def __init__(self, join: Join, write: Write, patch: Patch | None = None) -> None:
        self._join = join
        self._write = write
        self._patch = patch
        self._spool: IO[bytes] | None = None
        self._structure = Structure.SEQUENCE
        self._head = b""
        self._room = False
        #: The records so far.
        self.count = 0

    def add(self, piece: Piece, structure: Structure, *, first_record: int, last: bool) -> None:
        """Write a piece; ValueRefusedError where it does not go with those before."""
        if not self.count:
            self._head = piece.head
        if not piece.records:
            return
        join, around = self._join, self._join.around.get(structure, _NOTHING)
        if self.count:
            if piece.head != self._head:
                message, hint = join.other_head
                raise ValueRefusedError(message, record=first_record, kind="mixed", hint=hint)
            self._put(around.between)
        else:
            self._structure = structure
            if last:
                self._put(join.counted(structure, piece.records))
            elif room := join.room(structure):
                self._room = True
                if self._patch is None:
                    from serialpack.spool import Spool

                    self._spool = Spool(MAX_BLOCK)
                self._put(room)
            self._put(around.before)
            self._put(piece.head)
        self._put(join.body(piece, structure))
        self.count += piece.records

    def __enter__(self) -> Joiner:
        return self

    def __exit__(self, *_: object) -> None:
        self._join.close()
        if self._spool is not None:
            self._spool.close()

    def finish(self, structure: Structure) -> None:
        """Write what stands behind the last record; ``structure``: of a file without any."""
        join = self._join
        if not self.count:
            empty = join.around.get(structure, _NOTHING).empty
            self._put(empty or join.counted(structure, 0) or self._head)
            self._put_end()
            return
        self._put(join.around.get(self._structure, _NOTHING).after)
        self._put_end()
        if not self._room:
            return
        filled = join.filled(self._structure, self.count)
        if self._spool is None:
            assert self._patch is not None
            self._patch(0, filled)
            return
        self._spool.seek(0)
        self._spool.write(filled)
        self._spool.seek(0)
        while data := self._spool.read(1 << 20):
            self._write(data)

    def _put_end(self) -> None:
        for data in self._join.end():
            self._put(data)

    def _put(self, data: Buffer) -> None:
        if not data:
            return
        if self._spool is not None:
            self._spool.write(data)
        else:
            self._write(data)
