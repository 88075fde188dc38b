"""Small files, each of one small block: packed to the same bytes as any file, in less time.

Of many small files most differ in name, time and bytes only. What is alike is made once, and kept
by the thread for the next one.
"""

from collections.abc import Callable, Iterator
from threading import local
from time import perf_counter
from typing import NamedTuple

from serialpack.container.block import Block
from serialpack.container.frames import frame_check
from serialpack.container.index import IndexRow
from serialpack.container.short import ShortWriter
from serialpack.container.writer import cannot_be_stored
from serialpack.errors import InputError
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, Style
from serialpack.pipeline.blocks import BlockPacker
from serialpack.pipeline.line import SMALL, Line
from serialpack.pipeline.packing import PackedMember, Packing, prepare, splitter_of
from serialpack.pipeline.timing import Timer, add_seconds, is_recording, record
from serialpack.pipeline.writing import keeps
from serialpack.serializers import SERIALIZERS
from serialpack.stages.stage import Write
from serialpack.watch import watching


class ShortPacker(NamedTuple):
    """Packs small sources of which only name, time and bytes differ, in one thread.

    ``split``: see ``splitter_of``.
    """

    packing: Packing
    style: Style
    start: bytes
    split: Callable[[Callable[[int], bytes]], Iterator[SourceBlock]]
    packer: BlockPacker
    form: ShortWriter

    def member(
        self, source: SourceBlock, name: str | None, mtime: int | None, seconds: dict[str, float]
    ) -> tuple[bytes, Block, bytes] | None:
        """The bytes of a short member of ``source``, which is all in one block; that block; and the
        frame that describes it. None where the member has to be a long one.

        ``seconds``: gets the time of each stage added.
        """
        since = perf_counter()
        if self.packer.passes and not source.extents:
            timer = Timer()
            block, payload = self.packer.alone(source, timer)
            spent = timer.seconds
        else:
            block, (payload, *_), _, spent, _ = self.packer(source)
        made = perf_counter()
        try:
            frame = self.form.frame(block, payload, name, mtime)
        except InputError as error:
            raise cannot_be_stored(error) from None
        if frame is None:
            return None
        data = b"".join((self.start, frame, payload))
        end = perf_counter()
        times = {"wait": made - since, "write": end - made}
        if is_recording():
            record(since, made, spent)
            record(since, end, times)
        add_seconds(seconds, {**spent, **times})
        return data, block, frame


def short_packer(packing: Packing, style: Style, first: SourceBlock) -> ShortPacker:
    """What packs ``first``, whose style this is, and others like it, as ``packing`` says of them
    all. Errors of ``prepare``."""
    header, plan = prepare(packing, first)
    split = splitter_of(packing)
    return ShortPacker(packing, style, header.start, split, BlockPacker(plan), ShortWriter(header))


class _LastAlike(local):
    """The packers that a thread keeps for its next small source, for they take long to make."""

    #: The last used one first; two, as a source may be tried in two ways (``ways_of``).
    alike: tuple[ShortPacker, ...] = ()


_last = _LastAlike()


def last_alike() -> ShortPacker | None:
    """The packer of the last small source of this thread; None where it has had none."""
    return _last.alike[0] if _last.alike else None


def forget_alike() -> None:
    """Drop the packers that this thread keeps."""
    _last.alike = ()


def pack_short(line: Line, write: Write, packing: Packing) -> PackedMember | None:
    """Pack a source of one small block, which is kept as it is, into the same bytes in less time;
    None, and nothing is written, for any other source, and where somebody looks on."""
    first = line.first
    if not first.last or first.index or len(first.data) > SMALL or watching() is not None:
        return None
    serializer, fmt = SERIALIZERS.cls(packing.chain.serializer.name), FORMATS.get(packing.format)
    if packing.entry is not None or not keeps(serializer, fmt):
        return None
    asked = packing._replace(name=None, mtime=None, size=None, split=None)
    style = fmt.outline(first)
    known = (each for each in _last.alike if (each.packing, each.style) == (asked, style))
    if (alike := next(known, None)) is None:
        alike = short_packer(asked, style, first)
    _last.alike = (alike, *(each for each in _last.alike if each is not alike))[:2]
    made = alike.member(first, packing.name, packing.mtime, line.seconds)
    if made is None:
        return None
    data, block, frame = made
    since = perf_counter()
    write(data)
    add_seconds(line.seconds, {"write": perf_counter() - since})
    return PackedMember(
        (IndexRow.of(block, len(frame), frame_check(frame)),),
        block.records,
        block.size,
        block.exact,
        len(data),
        block.payload,
        int(block.stored),
        line.seconds,
    )
