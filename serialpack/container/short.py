"""The short member: one block, with all that is said of it in one frame (``man/spk.5``, SHORT).

It says what a header, a block header and an index would, and is read as if these stood there:
whoever reads members need not know of it.
"""

import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

from serialpack.container.entries import ENTRY
from serialpack.container.frames import (
    FRAME_EXTRA,
    HEADER,
    MAX_BODY,
    PREFIX_LENGTH,
    SHORT,
    START_OWN,
    START_ZSTD,
    FrameSource,
    checksum,
    frame_checksum,
    frame_rest,
    has_mark,
    open_frame,
    pack_values,
    read_back,
    unpack_body,
    write_frame,
)
from serialpack.container.index import Index, IndexRow
from serialpack.container.names import DICTIONARY, count_of, encode_name
from serialpack.container.records import (
    ENTRIES,
    EXACT,
    STORED,
    VERSION,
    Block,
    Header,
    Part,
    StoredBlock,
    bytes_of,
)
from serialpack.errors import DamagedError, InputError, SerialpackError, UnsupportedError, newer
from serialpack.stages.stage import Buffer

#: The most bytes of payload that a writer puts into a short member, for it holds them until it
#: knows that no other block follows; and that a reader takes.
MOST_WRITTEN = 1 << 20
MOST_READ = 16 << 20

#: The most bytes of payload of a short member that is kept, decoded, until another one is read.
LITTLE = 64 << 10

#: Flags beside those of a block: nothing was proved; the name is the path of an entry; a dictionary
#: is named among the values that have no place of their own.
UNPROVED = 8
NAMES_ENTRY = 16
NAMES_DICTIONARY = 32
_KNOWN_FLAGS = STORED | EXACT | UNPROVED | NAMES_ENTRY | NAMES_DICTIONARY

#: What stands first in the body, in any version of the format: bytes of the payload, version. So a
#: later version's member can be verified and passed over.
_FIRST = struct.Struct("<IB")

#: Keys of a header's map that have a place of their own here; and the block size, ``b``, which is
#: the size of the one block.
_PLACED = ("c", "f", "n", "e", "t", "w", "u", "b")

#: The features in ``needs`` that a flag says.
_BY_FLAG = {ENTRY: NAMES_ENTRY, DICTIONARY: NAMES_DICTIONARY}


#: The types that ``ShortForms`` takes of names and of times.
_NAMES, _TIMES = (str, type(None)), (int, type(None))

#: The longest body that ``ShortForms`` takes: as a header it is surely not too long either.
_PLAIN = 16 << 10

#: How many different headers ``ShortForms`` keeps.
_KEPT = 16

Form = TypeVar("Form")


class ShortMember(NamedTuple):
    """A short member as it stands in the file; ``index``: what its index would say.

    ``damage``: the error where its checksum does not match. Nothing that it says can be relied on
    then; the header is empty where it says nothing.
    """

    header: Header
    index: Index  # type: ignore[assignment]  # hides tuple.index, which nobody wants here
    block: StoredBlock
    damage: DamagedError | None = None

    @property
    def id(self) -> int:
        """The checksum that its header would have."""
        return checksum(HEADER + self.index.header)


class ShortForm:
    """Writes short members whose headers differ in name and time only, each with its own block.

    What they have in common is encoded once, and read back once, with the first.
    """

    def __init__(self, header: Header) -> None:
        self._header = header
        values = header.values()
        rest = {key: value for key, value in values.items() if key not in _PLACED}
        needs = rest.pop("needs", ())
        if others := [need for need in needs if need not in _BY_FLAG]:
            rest["needs"] = others
        self._start = [values["c"], header.format]
        self._entry = values.get("e")
        self._writer = values.get("w", 0)
        self._flags = UNPROVED * header.unproved
        self._flags |= sum(flag for need, flag in _BY_FLAG.items() if need in needs)
        self._rest = rest
        self._read_back = False

    def frame(
        self, block: Block, payload: Buffer, name: str | None, mtime: int | None
    ) -> bytes | None:
        """The frame that says all of a member; None where the member cannot be a short one.

        ``name``: of the source; None for an entry, whose path the header has. InputError where
        readers would refuse the frame, or read something else in it.
        """
        fields = self._fields(block, payload, name, mtime)
        if fields is None:
            return None
        # An array is packed and read back in one call; its head, one byte, is left out of the body.
        array = pack_values(fields)
        body = _FIRST.pack(len(payload), VERSION) + array[1:]
        if len(body) > MAX_BODY[SHORT]:
            return None
        frame = write_frame(SHORT, body, payload)
        if self._read_back and type(mtime) in (int, type(None)):
            block.check_sizes(0)
            same = read_back(array) == fields
        else:
            header, read = self._read(frame, payload)
            # Only the digits of the writer's version are stored, and no block size.
            given = self._header._replace(
                mtime=mtime, block_size=header.block_size, writer=header.writer
            )
            given = given._replace(name=name) if given.entry is None else given
            same = (header, read) == (given, block)
            self._read_back = same
        if not same:
            raise InputError("it would be read as something else")
        return frame

    def _fields(
        self, block: Block, payload: Buffer, name: str | None, mtime: int | None
    ) -> list[Any] | None:
        alone = block.seq == 0 and len(block.parts) == 1 and block.parts[0].chain is None
        if (
            not alone
            or block.extras.keys() - {ENTRIES}
            or block.flags & ~_KNOWN_FLAGS
            or len(payload) > MOST_WRITTEN
        ):
            return None
        # Damaged, a member with a container in its payload could be taken for that container.
        if has_mark(payload):
            return None
        serialized = block.parts[0].restored
        fields = [
            *self._start,
            self._entry if name is None else encode_name(name),
            mtime,
            self._writer,
            self._flags | block.flags,
            block.records,
            block.size,
            None if serialized == block.size else serialized,
            block.check,
            block.source_check,
            self._rest,
            block.entries,
        ]
        while fields[-1] in (None, {}):
            fields.pop()
        return fields

    def _read(self, frame: bytes, payload: Buffer) -> tuple[Header, Block]:
        """The header and the block that a reader finds in a frame and the payload behind it."""
        prefix, rest = frame[:PREFIX_LENGTH], frame[PREFIX_LENGTH:]
        _, body, check = open_frame(prefix, rest, 0)
        sizes = frame_rest(prefix, 0), payload_size(body, 0)
        if sizes != (len(rest), len(payload)) or check != frame_checksum(SHORT, body, payload):
            raise DamagedError("a short member does not hold together", start=0)
        return _decode(body, bytes(payload), 0, zstd_envelope=self._header.zstd_envelope)


def read_short(
    source: FrameSource, frame: tuple[bytes, int, int], *, zstd_envelope: bool
) -> ShortMember:
    """The short member whose frame was just read from ``source``, with the payload behind it.

    ``frame``: its body, checksum and start. DamagedError where it is not whole. A wrong checksum is
    not raised but its ``damage``: the next member still begins behind it.
    """
    body, check, start = frame
    payload = source.exactly(payload_size(body, start), "a short member")
    damage: DamagedError | None = None
    if frame_checksum(SHORT, body, payload) != check:
        damage = DamagedError(
            "the checksum of the short member does not match",
            block=0,
            start=start,
            end=source.offset,
        )
    try:
        said = _said_last if len(payload) <= LITTLE else _said
        header, block, index = said(body, payload, check, start, zstd_envelope)
    except (SerialpackError, OverflowError) as error:
        if damage is not None:
            none = StoredBlock(Block(0, 0, None, 0, 0, None, ()), start, source.offset, ())
            return ShortMember(Header(()), Index.of(b"", [], b""), none, damage)
        if isinstance(error, DamagedError | UnsupportedError):
            raise
        raise DamagedError(f"the short member is malformed ({error})", start=start) from None
    return ShortMember(header, index, StoredBlock(block, start, source.offset, (payload,)), damage)


def _said(
    body: bytes, payload: bytes, check: int, start: int, zstd_envelope: bool
) -> tuple[Header, Block, Index]:
    """The header and the block of a short member, and the index that it would have."""
    header, block = _decode(body, payload, start, zstd_envelope=zstd_envelope)
    row = IndexRow.of(block, FRAME_EXTRA + len(body), check)
    return header, block, short_index(header, block, row)


def short_index(header: Header, block: Block, row: IndexRow) -> Index:
    """The index that a short member would have."""
    whole = block.check if block.source_check is None else block.source_check
    return Index.of(header.encode(), [row], whole.to_bytes(8, "big"))


#: Of a small file this is asked several times in a row: what it is, whether it is of an archive.
_said_last = lru_cache(1)(_said)


def payload_size(body: bytes, start: int) -> int:
    """Bytes of the payload behind the frame with this body; DamagedError, with ``start``."""
    if len(body) < _FIRST.size:
        raise DamagedError("a short member is malformed (it breaks off)", start=start)
    size = int(_FIRST.unpack_from(body)[0])
    if size > MOST_READ:
        raise DamagedError(f"a short member says it has {size} bytes of payload", start=start)
    return size


class _Framed(NamedTuple):
    """A short member that begins a file: where its frame starts, and where the member stops."""

    start: int
    stop: int
    body: bytes
    payload: bytes


def _whole_at_start(data: bytes) -> _Framed | None:
    """The short member that ``data`` begins with, where all of it is there and has its checksum;
    else None. What it says is not looked at."""
    start = len(START_ZSTD if data.startswith(START_ZSTD) else START_OWN)
    prefix = data[start : start + PREFIX_LENGTH]
    begun = data.startswith((START_ZSTD, START_OWN))
    if not begun or len(prefix) < PREFIX_LENGTH or prefix[8:] != SHORT:
        return None
    try:
        end = start + PREFIX_LENGTH + frame_rest(prefix, start)
        body, check = data[start + PREFIX_LENGTH : end - 8], data[end - 8 : end]
        stop = end + payload_size(body, start)
    except DamagedError:
        return None
    payload = data[end:stop]
    right = int.from_bytes(check, "little") == frame_checksum(SHORT, body, payload)
    return _Framed(start, stop, body, payload) if right and stop <= len(data) else None


def short_source(data: bytes) -> tuple[int, int | None] | None:
    """The size of the source in bytes, and its modification time, as a file of one short member
    says. None where ``data`` is not one whose checksum is right; nothing else in it is looked at.
    """
    found = _whole_at_start(data)
    if found is None or found.stop != len(data) or found.body[_FIRST.size - 1] != VERSION:
        return None
    try:
        fields = unpack_body(found.body[_FIRST.size :], 0, "short member")
        return count_of(fields[7]), None if fields[3] is None else int(fields[3])
    except (DamagedError, IndexError, TypeError, ValueError):
        return None


def _decode(
    body: bytes, payload: bytes, start: int, *, zstd_envelope: bool
) -> tuple[Header, Block]:
    """The header and the block that a verified short member says."""
    version = body[_FIRST.size - 1]
    if version != VERSION:
        raise newer(f"version {version} of a short member", "")
    fields = unpack_body(body[_FIRST.size :], start, "short member")
    try:
        values = _header_values(fields)
        block = _block(fields, payload)
    except (TypeError, ValueError) as error:
        raise DamagedError(f"a short member is malformed ({error})", start=start) from None
    block.check_sizes(start)
    return Header.of_values(values, start, zstd_envelope=zstd_envelope), block


def _header_values(fields: list[Any]) -> dict[str, Any]:
    """What a header would say, by the keys of its map; TypeError, ValueError where malformed."""
    chain, format, name, mtime, writer, flags, _, size, _, _, *more = fields
    rest = dict(more[1]) if len(more) > 1 else {}
    if len(more) > 3 or not rest.keys().isdisjoint(_PLACED):
        raise ValueError("its last fields")
    if count_of(flags) & ~_KNOWN_FLAGS:
        raise newer(f"the flag {flags & ~_KNOWN_FLAGS} of a short member", "")
    values = {**rest, "c": chain, "f": format, "t": mtime, "w": writer}
    values["b"] = max(size, 1)
    values["u"] = bool(flags & UNPROVED)
    values["e" if flags & NAMES_ENTRY else "n"] = name
    if by_flag := [need for need, flag in _BY_FLAG.items() if flags & flag]:
        values["needs"] = [*rest.get("needs", []), *by_flag]
    return values


def _block(fields: list[Any], payload: bytes) -> Block:
    """The block as a block header would say it; TypeError, ValueError where malformed."""
    flags, records, size, serialized, check, *more = fields[5:]
    source_check, _, entries = [*more, None, None, None][:3]
    restored = size if serialized is None else serialized
    return Block(
        seq=0,
        flags=flags & (STORED | EXACT),
        records=None if records is None else count_of(records),
        size=count_of(size),
        check=count_of(check),
        source_check=None if source_check is None else count_of(source_check),
        parts=(Part(len(payload), count_of(restored), checksum(payload)),),
        extras={ENTRIES: bytes_of(entries)} if len(more) > 2 else {},
    )


class ShortForms(Generic[Form]):
    """Reads many files of one short member each, whose headers are mostly alike.

    What they say beside name, time and block is decoded once. ``make`` makes of that header what is
    kept, and given out with each block.
    """

    def __init__(self, make: Callable[[Header], Form]) -> None:
        self._make = make
        self._known: dict[str, Form] = {}

    def read(self, data: bytes) -> tuple[Form, StoredBlock] | None:
        """What ``make`` made of a header like that of ``data`` (name and time may be those of
        another file), and the block of ``data``.

        None where ``data`` is no such file, is of an archive, or unusual: ``read_members`` is for
        those. DamagedError, UnsupportedError, and what ``make`` raises.
        """
        found = _whole_at_start(data)
        if found is None or found.stop != len(data) or found.body[_FIRST.size - 1] != VERSION:
            return None
        fields = unpack_body(found.body[_FIRST.size :], 0, "short member")
        if not 10 <= len(fields) <= 12 or len(found.body) > _PLAIN:
            return None
        chain, format, name, mtime, writer, flags = fields[:6]
        plain = type(flags) is int and not flags & NAMES_ENTRY
        if not plain or type(name) not in _NAMES or type(mtime) not in _TIMES:
            return None
        # As text: True and 1, which are equal keys, differ there.
        alike = repr((found.start, chain, format, writer, flags & ~(STORED | EXACT), fields[11:]))
        if alike not in self._known:
            if len(self._known) >= _KEPT:
                self._known.clear()
            zstd = data.startswith(START_ZSTD)
            header, _ = _decode(found.body, found.payload, 0, zstd_envelope=zstd)
            self._known[alike] = self._make(header)
        try:
            block = _block(fields, found.payload)
        except (TypeError, ValueError):
            return None
        block.check_sizes(0)
        return self._known[alike], StoredBlock(block, 0, found.stop, (found.payload,))
