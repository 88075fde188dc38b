"""Restores blocks that several entries of an archive share, and verifies the checksum of each
entry."""

from typing import NamedTuple

from serialpack.container.block import StoredBlock
from serialpack.container.entries import Covered, EntryRow, entry_spans
from serialpack.container.frames import checksum
from serialpack.container.rows import decode_rows
from serialpack.errors import DamagedError, LostEntries
from serialpack.pipeline.blocks import BlockUnpacker, damaged
from serialpack.pipeline.plan import Plan
from serialpack.stages.stage import Buffer


class SharedBlock(NamedTuple):
    """A restored block that entries share: the ``entries``, and the bytes of all of them, one after
    another (``data``).

    ``serialized``, ``source``: as in ``blocks.Restored``. ``damage``: the error, where the block
    could not be restored; ``covered``: what the index says of its entries, where the list in the
    block is damaged, too. ``read``: how many bytes of the file were read for it.
    """

    entries: list[EntryRow]
    data: Buffer
    serialized: Buffer
    source: Buffer | None
    seconds: dict[str, float]
    damage: DamagedError | None = None
    covered: Covered | None = None
    read: int = 0

    @classmethod
    def lost(
        cls, entries: list[EntryRow], damage: DamagedError, covered: Covered | None = None
    ) -> "SharedBlock":
        """A damaged block, of which only the list of its entries is left."""
        return cls(entries, b"", b"", None, {}, damage, covered)

    @property
    def what(self) -> LostEntries:
        """The words for it in messages about its damage."""
        block = self.damage and self.damage.block
        return LostEntries(f"block {block}, and {self.covered or 'its entries'}")


class SharedUnpacker:
    """Restores the blocks of one member that entries share. A damaged block raises no error: its
    result has the error as ``damage``."""

    def __init__(self, plan: Plan) -> None:
        self._unpack = BlockUnpacker(plan)

    def __call__(self, stored: StoredBlock) -> SharedBlock:
        entries: list[EntryRow] = []
        try:
            entries = entries_of(stored)
            if stored.damage is not None:
                raise stored.damage
            restored = self._unpack(stored)
            check_entries(stored, entries, restored.source_data)
        except DamagedError as error:
            if error.block is None:  # an error in what the block's header says
                error.block = stored.block.seq
            return SharedBlock.lost(entries, error)
        data, other = restored.data, restored.source
        found = SharedBlock(entries, restored.source_data, data, other, restored.seconds)
        return found._replace(read=stored.end - stored.start)


def entries_of(stored: StoredBlock) -> list[EntryRow]:
    """The entries that a block says it holds; DamagedError where it says nothing, or wrongly."""
    if stored.block.entries is None:
        raise stored.damage or damaged(stored, "does not say which entries it holds")
    try:
        entries = decode_rows(stored.block.entries)
    except DamagedError as error:
        raise damaged(stored, error.message) from None
    if sum(entry.size for entry in entries) != stored.block.size:
        raise damaged(stored, "its entries are not as large as it is")
    return entries


def check_faults(stored: StoredBlock, entries: list[EntryRow]) -> None:
    """DamagedError where one of ``entries`` cannot be in an archive."""
    for entry in entries:
        if fault := entry.fault:
            raise damaged(stored, f"the path of an entry {fault}: {entry.path[:100]!r}")


def check_entries(stored: StoredBlock, entries: list[EntryRow], data: Buffer) -> None:
    """DamagedError where ``data``, the restored block, does not hold the bytes of ``entries``."""
    if len(data) != stored.block.size:
        raise damaged(stored, "its entries are not as large as it is")
    view = memoryview(data)
    for entry, begin, end in entry_spans(entries):
        if entry.check is None or not entry.is_file:
            continue  # it has no check of its own: those of the block cover it
        if checksum(view[begin:end]) != entry.check:
            raise damaged(stored, f"the checksum of {entry.path} does not match")
