"""Writes the blocks that are left of a damaged source so that they are a valid file again: an
array, a map, lines or a table."""

from __future__ import annotations

from contextlib import suppress

from serialpack.container.remains import Slot
from serialpack.errors import UsageError
from serialpack.formats.base import Format, Style
from serialpack.pipeline.blocks import Restored
from serialpack.pipeline.plan import SETTINGS, Plan
from serialpack.pipeline.unpack import LimitedWrite
from serialpack.pipeline.writing import Writing, keeps
from serialpack.serializers import reader
from serialpack.serializers.base import RecordSerializer
from serialpack.stages.stage import Buffer

#: The white space of JSON.
_WHITE = b" \t\r\n"


class Plain:
    """Writes blocks one after another, as they are."""

    def __init__(self, out: LimitedWrite) -> None:
        self._out = out

    def add(self, slot: Slot, restored: Restored) -> None:  # noqa: ARG002
        self._out(restored.source_data)

    def finish(self) -> None:
        pass


class Headed(Plain):
    """Writes the elements of an array, or the members of a map, in a format that says their number
    first (MessagePack, CBOR): the number is that of those which are left."""

    def __init__(self, out: LimitedWrite, fmt: Format, style: Style, left: list[Slot]) -> None:
        super().__init__(out)
        self._format = fmt
        self._style = style
        if left:
            count = sum(slot.records or 0 for slot in left)
            out(fmt.head_of(style, count) or b"")

    def add(self, slot: Slot, restored: Restored) -> None:
        text = restored.source_data
        self._out(self._format.elements(text, self._style, first=slot.seq == 0))


class Rejoined(Plain):
    """Writes records one after another, as their format spells a sequence of them.

    ``last``: the number of the last block that the source had, where it is known.
    """

    def __init__(self, out: LimitedWrite, plan: Plan, fmt: Format, last: int | None) -> None:
        super().__init__(out)
        self._plan = plan
        self._format = fmt
        self._last = last
        self._begun = False
        #: The last block so far, which is held back: if no other block follows, what stands behind
        #: its records may have to be replaced. ``_white``: blocks of white space behind it.
        self._held: Buffer = b""
        self._white: list[Buffer] = []
        self._slot: Slot | None = None

    def add(self, slot: Slot, restored: Restored) -> None:
        """Write the block before this one, and hold this one back."""
        text = restored.source_data
        if not self._begun:
            self._begun = True
            if slot.seq:
                text = self._with_head(slot, restored)
        if self._format.slice_between is None:
            self._out(text)
            return
        self._slot = slot
        if self._held and not bytes(text[:1]).strip(_WHITE) and not bytes(text).strip(_WHITE):
            self._white.append(text)
            return
        self._flush()
        self._held = text

    def _flush(self) -> None:
        for text in (self._held, *self._white):
            if text:
                self._out(text)
        self._held, self._white = b"", []

    def _with_head(self, slot: Slot, restored: Restored) -> Buffer:
        """The text of the first block that is left, where the first block of the source is lost.
        What a source begins with (``[``, a line of names) is in this text, or was written."""
        plan, fmt = self._plan, self._format
        serializer = reader(*plan.chain.serializer)
        if isinstance(serializer, RecordSerializer) and not keeps(type(serializer), fmt):
            serializer.configure(plan.style.get(SETTINGS, {}))
            assert slot.found is not None
            style = {**plan.style, **slot.found.block.extras.get("s", {})}
            return Writing(serializer, fmt).decode(restored.data, style, first=True, exact=False)
        if not fmt.slice_needs_head:
            with suppress(UsageError):  # the format has nothing there
                self._out(fmt.slice_ends(b"", plan.style)[0])
        return restored.source_data

    def finish(self) -> None:
        """Write the block that was held back, and what closes the sequence, where that is lost."""
        if self._slot is None:
            return
        bare = bytes(self._held).rstrip(_WHITE)
        # A block that ends in a comma, or before any record, is not the last one.
        open_end = bare.endswith(b",") or (not self._slot.records and bare in (b"[", b"{"))
        if self._slot.seq == self._last or (self._last is None and not open_end):
            self._flush()
            return
        self._out(bare.removesuffix(b",").rstrip(_WHITE))
        self._out(self._format.slice_ends(b"", self._plan.style)[1])
