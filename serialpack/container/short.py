"""The short member: a member of one small block, of which one frame says everything (man/spk.5,
SHORT).

The frame says what a header, a block header and an index would say, and is read as if these stood
there: those who read members see the same as for a long one.
"""

import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

from serialpack.container.block import ENTRIES, EXACT, STORED, Block, Part, StoredBlock
from serialpack.container.entries import ENTRY
from serialpack.container.fields import bytes_of, count_of
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
from serialpack.container.header import VERSION, Header
from serialpack.container.index import Index, IndexRow
from serialpack.container.names import DICTIONARY, encode_name
from serialpack.errors import DamagedError, InputError, SerialpackError, UnsupportedError, newer
from serialpack.stages.stage import Buffer

#: The most bytes of payload that are written as a short member: the writer holds them in memory
#: until it knows whether another block follows. And the most that a reader takes.
MOST_WRITTEN = 1 << 20
MOST_READ = 16 << 20

#: The last short member that was decoded is remembered if its payload has no more bytes than this.
LITTLE = 64 << 10

#: Flags beside those of a block. UNPROVED: nothing was proved when it was packed. NAMES_ENTRY: the
#: name is the path of an entry of an archive. NAMES_DICTIONARY: the map of further values names a
#: dictionary.
UNPROVED, NAMES_ENTRY, NAMES_DICTIONARY = 8, 16, 32
_KNOWN_FLAGS = STORED | EXACT | UNPROVED | NAMES_ENTRY | NAMES_DICTIONARY

#: The front of the body, the same in all versions: size of the payload in bytes, version. So a
#: member of a later version can be verified and skipped.
_FIRST = struct.Struct("<IB")

#: The keys of a header's map that are not among the further values: they have a place of their own,
#: or (``b``, the block size) follow from the size of the one block.
_PLACED = ("c", "f", "n", "e", "t", "w", "u", "b")

#: Features in ``needs`` -> the flag that stands for them.
_BY_FLAG = {ENTRY: NAMES_ENTRY, DICTIONARY: NAMES_DICTIONARY}

#: The types of names and of times that ``ShortReader`` takes.
_NAMES, _TIMES = (str, type(None)), (int, type(None))

#: Why the chain was chosen is told where it takes one of so many parts of the payload at most.
_TELLING = 1000

#: The most bytes of a body that ``ShortReader`` takes: so a header made of it keeps to its limit.
_PLAIN = 16 << 10

#: How many different headers ``ShortReader`` remembers.
_KEPT = 16

Form = TypeVar("Form")


class ShortMember(NamedTuple):
    """A short member that was read: the header, the index and the block that it stands for.

    ``damage``: the error, where its checksum does not match. Then nothing in it can be relied on,
    and the header may be empty.
    """

    header: Header
    index: Index  # type: ignore[assignment]  # hides tuple.index, which nobody wants here
    block: StoredBlock
    damage: DamagedError | None = None

    @property
    def id(self) -> int:
        """The checksum that its header would have."""
        return checksum(HEADER + self.index.header)


def is_short(block: Block) -> bool:
    """Whether ``block``, as far as its header tells, can be the only one of a short member."""
    alone = block.seq == 0 and len(block.parts) == 1 and block.parts[0].chain is None
    known = not block.extras.keys() - {ENTRIES} and not block.flags & ~_KNOWN_FLAGS
    return alone and known and block.payload <= MOST_WRITTEN


class ShortWriter:
    """Makes the frames of short members whose headers differ only in name and time.

    What their headers have in common is encoded once, and read back once, with the first frame.
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
        self._brief = {key: value for key, value in rest.items() if key != "y"}
        self._read_back = False

    def frame(
        self, block: Block, payload: Buffer, name: str | None, mtime: int | None
    ) -> bytes | None:
        """The frame of a short member of ``block``; None where the member cannot be a short one.

        ``payload``: the stored bytes of the block; ``name``: of the source, None for an entry,
        whose path is in the header; ``mtime``: of the source, in ns since 1970. InputError where a
        reader would refuse the frame, or read something else in it.
        """
        fields = self._fields(block, payload, name, mtime)
        if fields is None:
            return None
        # The fields are packed as one array, which takes one call to pack and one to read back. The
        # head of the array, one byte, is not stored.
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
            # Only the digits of the writer's version are stored, no block size, and why at times.
            given = self._header._replace(
                mtime=mtime, block_size=header.block_size, writer=header.writer, why=header.why
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
        # If this member gets damaged, a container within its payload could be taken for a member.
        if not is_short(block) or has_mark(payload):
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
            self._rest if len(self._header.why) * _TELLING <= len(payload) else self._brief,
            block.entries,
        ]
        while fields[-1] in (None, {}):
            fields.pop()
        return fields

    def _read(self, frame: bytes, payload: Buffer) -> tuple[Header, Block]:
        """The header and the block that a reader finds in ``frame``, with ``payload`` behind it."""
        prefix, rest = frame[:PREFIX_LENGTH], frame[PREFIX_LENGTH:]
        _, body, check = open_frame(prefix, rest, 0)
        sizes = frame_rest(prefix, 0), payload_size(body, 0)
        if sizes != (len(rest), len(payload)) or check != frame_checksum(SHORT, body, payload):
            raise DamagedError("a short member does not hold together", start=0)
        return _decode(body, bytes(payload), 0, zstd_envelope=self._header.zstd_envelope)


def read_short(
    source: FrameSource, frame: tuple[bytes, int, int], *, zstd_envelope: bool
) -> ShortMember:
    """The short member whose frame was just read from ``source``; its payload is read here.

    ``frame``: its body, its checksum and its place in the file. DamagedError, TruncatedError. A
    checksum that does not match is not raised: the member comes with the error as its ``damage``,
    since the next member still begins behind it.
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
    """The header, the block and the index that a short member stands for."""
    header, block = _decode(body, payload, start, zstd_envelope=zstd_envelope)
    row = IndexRow.of(block, FRAME_EXTRA + len(body), check)
    return header, block, short_index(header, block, row)


def short_index(header: Header, block: Block, row: IndexRow) -> Index:
    """The index that a short member stands for; ``row``: of its one ``block``."""
    whole = block.check if block.source_check is None else block.source_check
    return Index.of(header.encode(), [row], whole.to_bytes(8, "big"))


#: ``_said``, which remembers its last result: a small file is read several times in a row (what it
#: is, whether it is of an archive).
_said_last = lru_cache(1)(_said)


def payload_size(body: bytes, start: int) -> int:
    """How many bytes of payload follow the frame with this ``body``; DamagedError where that is
    more than may be. ``start``: the place of the frame, for the error."""
    if len(body) < _FIRST.size:
        raise DamagedError("a short member is malformed (it breaks off)", start=start)
    size = int(_FIRST.unpack_from(body)[0])
    if size > MOST_READ:
        raise DamagedError(f"a short member says it has {size} bytes of payload", start=start)
    return size


class _Framed(NamedTuple):
    """A short member at the front of a file: its frame is at ``start``, its end at ``stop``."""

    start: int
    stop: int
    body: bytes
    payload: bytes


def _whole_at_start(data: bytes) -> _Framed | None:
    """The short member with which ``data`` begins; None where there is none, or it is cut off, or
    its checksum does not match. What it says is not decoded."""
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


def source_of_short(data: bytes) -> tuple[int, int | None] | None:
    """The size of the source in bytes and its modification time (ns since 1970, or None), of a file
    that is one short member; None where ``data`` is no such file, or its checksum does not match.
    Nothing else in it is decoded.
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
    """The header and the block that a short member stands for, whose checksum was verified;
    DamagedError, UnsupportedError."""
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
    """The map that a header would be stored as; TypeError, ValueError where ``fields`` are
    malformed."""
    chain, format, name, mtime, writer, flags, _, size, _, _, *more = fields
    rest = more[1] if len(more) > 1 else {}
    if len(more) > 3 or not isinstance(rest, dict) or not rest.keys().isdisjoint(_PLACED):
        raise ValueError("its last fields")
    if any(type(number) is int and number < 0 for number in (format, writer)):
        raise ValueError("a number below 0")
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
    """The block; TypeError, ValueError where ``fields`` are malformed."""
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


class ShortReader(Generic[Form]):
    """Reads many files of one short member each, whose headers mostly differ only in name and time.

    What the headers have in common is decoded once: ``make`` turns the first such header into
    something that is remembered, and returned with each block that has the same header.
    """

    def __init__(self, make: Callable[[Header], Form]) -> None:
        self._make = make
        self._known: dict[str, Form] = {}

    def read(self, data: bytes) -> tuple[Form, StoredBlock] | None:
        """What ``make`` made of a header like that of ``data`` (its name and time may be those of
        an earlier file), and the block in ``data``, a whole file.

        None where ``data`` is something else, of an archive, or unusual: ``reader.read_members`` is
        to read it then. DamagedError, UnsupportedError, and what ``make`` raises.
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
        # A text is the key, because True and 1 would be equal keys.
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
