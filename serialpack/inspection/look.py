"""The rough shape of a file that is no container: its format, its records, their fields and types.

It is told from the first bytes. Only two things are looked for further on: the range of an array's
numbers, and the keys of a file that is one large JSON object.
"""

import io
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from serialpack.compressed.source import compression_of, decompressed, front_of, paired
from serialpack.detection.by_content import told_again
from serialpack.detection.detect import HEAD, AsFound, looks_like, told
from serialpack.detection.encoded import other_encoding
from serialpack.errors import DamagedError, MissingLibraryError, SerialpackError, UnsupportedError
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.formats.base import Unheld, ValueFormat
from serialpack.formats.csv.above import in_lines
from serialpack.formats.csv.found import front_in_utf8
from serialpack.formats.json.text import JsonText
from serialpack.formats.messages.format import MessageFormat
from serialpack.formats.shared.document import Malformed
from serialpack.inspection.listed import ListedArray, Listing
from serialpack.inspection.tar_zip import listing_of
from serialpack.stages.stage import Buffer
from serialpack.units import format_size
from serialpack.values.nanoseconds import DURATION, LOCAL_TIME, UTC_TIME, fine_kind
from serialpack.values.structure import Structure

if TYPE_CHECKING:
    from serialpack.formats.arrays.extremes import Extreme

#: How many bytes at the front of a file are looked at for its format and its first records.
SAMPLE = 256 << 10

#: How many bytes at the front are looked at where the first record is larger than ``SAMPLE``.
LARGE_SAMPLE = 4 << 20

#: How many bytes at the front are read of an array (for the range of its numbers) and of JSON (for
#: the keys of one object): to go through these makes no values, and takes only a moment.
MOST_READ = 64 << 20

#: The words for a volume that lies in two files, in place of a compression.
_PAIR = "a pair of files"

#: How many bytes at the front tell whether a file is one whose entries are listed.
_HEAD = 128 << 10


class ArrayLook(NamedTuple):
    """An array, and the range of its numbers.

    ``dtype``: the type of an item as NumPy spells it, for records a list of names and types.
    ``order``: ``C`` (neighbours in the file differ in the last index) or ``F`` (in the first).
    ``minimum``, ``maximum``: of the numbers as they are stored; infinities and times (ISO 8601) are
    given as text. Both are None where there is no number, or where they were not looked for, and
    ``why`` says the reason. ``nan``: how many are NaN or NaT, which count for neither. ``scale``:
    the slope and the intercept that turn the numbers into what was measured, where the header of a
    volume has them.
    """

    dtype: object
    shape: tuple[int, ...]
    order: str
    minimum: "Extreme | None"
    maximum: "Extreme | None"
    nan: int
    why: str = ""
    scale: tuple[float, float] | None = None

    @property
    def words(self) -> str:
        """Type, shape and order for people: ``<f8, 100 x 3, C order``."""
        return ListedArray(self.dtype, self.shape, self.order).words


class Look(NamedTuple):
    """What was seen of a file.

    ``format``: the one that pack would take it for; ``looks_like``: what its first bytes seem to
    be, in words; None where they say nothing. ``fields``: of each field its types, the most
    frequent first, in the ``records_seen`` records of the first ``looked_at`` bytes. ``whole``:
    whether these are all records, or where the file is one object all of its keys.
    ``record_types``: the types of the records themselves. ``array``: the array that the file is;
    ``damage``: what is wrong with it.
    """

    format: str
    looks_like: str | None
    fields: dict[str, tuple[str, ...]]
    records_seen: int
    looked_at: int
    whole: bool
    record_types: tuple[str, ...]
    array: ArrayLook | None = None
    damage: DamagedError | None = None


class Inside(NamedTuple):
    """What is in a compressed file, or in a pair of files: its ``look``, or None and ``why`` it
    cannot be looked at. ``damage``: where the file is damaged, what ends it early."""

    compression: str
    look: Look | None
    why: str = ""
    damage: DamagedError | None = None


def look_inside(
    source: Source, format: str | None, table: AsFound
) -> tuple[Inside | None, Listing | None]:
    """What is in ``source``, or None where it is neither compressed nor one of a pair; and its
    listing, or None where it has none. Of a compressed file, the listing is of the file in it.

    ``source`` may be read for that, no longer only peeked at. ``format``, ``table``: what the user
    says of the file inside.
    """
    compression = compression_of(source)
    if compression is None:
        try:
            pair = paired(source)
        except SerialpackError as error:
            return Inside(_PAIR, None, error.said), None
        if pair is source:
            return None, listing_of(source, source.peek(_HEAD))
        return Inside(_PAIR, look_at(pair, pair.peek(LARGE_SAMPLE))), None
    try:
        inner = decompressed(source)
        block, damage = front_of(inner, LARGE_SAMPLE)
    except (MissingLibraryError, UnsupportedError) as error:
        return Inside(compression, None, error.said), None
    if damage is not None and not block:
        return Inside(compression, None, damage.said, damage), None
    # A zip is read from its end: one that is compressed is listed only where all of it is in
    # ``block``.
    everything = damage is not None or len(block) < LARGE_SAMPLE
    readable = Source(io.BytesIO(block), inner.path) if everything else inner
    listing = listing_of(readable, block[:_HEAD])
    look = look_at(inner, block, format, table, read_on=False)
    return Inside(compression, look, "" if damage is None else damage.said, damage), listing


def look_at(
    source: Source,
    block: bytes,
    format: str | None = None,
    table: AsFound = AsFound(),  # noqa: B008  (never changed)
    *,
    read_on: bool = True,
) -> Look:
    """The shape of ``source``, which begins with ``block`` (``LARGE_SAMPLE`` bytes, or all of it).

    ``format``, ``table``: what the user says of it. ``read_on``: ``source`` may be read behind
    ``block``, up to ``MOST_READ``.
    """
    name = source.name if source.stat is not None else None
    if (other := other_encoding(block[:SAMPLE], format, name, table)) is not None:
        format, encoding = other
        block, table, read_on = front_in_utf8(block, encoding), AsFound(), False
    head = block[:SAMPLE]
    format = told(format, name, head, table)
    records, size = _first_records(format, head)
    everything = len(head) == len(block)
    found = Look(
        format,
        _seen_in(block) if format == "bytes" else looks_like(head),
        _fields(records),
        len(records),
        looked_at=size,
        whole=everything and size == len(head),
        record_types=_types(records),
    )
    pieces = _pieces(source) if read_on and source.stat is not None else iter((block,))
    if FORMATS.declaration(format).is_array:
        length = source.size if read_on else None
        found = _with_array(found, pieces, len(block), length, source.path)
    if everything:
        return found
    fmt = FORMATS.get(format)
    if isinstance(fmt, JsonText):
        return _with_keys(found, head, pieces) or found
    if fmt.quick and (not records or _are_members(format, head)):
        records, size = _first_records(format, block)
        return found._replace(
            fields=_fields(records),
            records_seen=min(len(records), 1),
            looked_at=size,
            whole=size == len(block) < LARGE_SAMPLE,
            record_types=_types(records),
        )
    return found


def _with_array(
    found: Look, pieces: Iterable[Buffer], front: int, length: int | None, path: str | None
) -> Look:
    """``found``, with the array that the file is, and with what is wrong with it.

    ``front``: the bytes at its beginning that were read; ``length``: those of all of it, None where
    that is not known. ``pieces``: its bytes, of which at least those at the front can be had.
    """
    all_of = front if front < LARGE_SAMPLE else length
    array, wrong = array_in(pieces, length or front, all_of)
    return found._replace(array=array, damage=damaged_array(found.format, wrong, path))


def damaged_array(format: str, wrong: str, path: str | None = None) -> DamagedError | None:
    """The error for an array in which something is ``wrong``; None where nothing is."""
    return DamagedError(f"a damaged {format}: {wrong}", path=path) if wrong else None


def _seen_in(block: bytes) -> str | None:
    """What a file of no format seems to be that begins with ``block``, in words; None where its
    bytes say nothing. Where they surely are a format, a conversion reads the file as that."""
    found = told_again("bytes", block[:HEAD], whole=len(block) < HEAD)
    words = looks_like(block[:SAMPLE])
    return words if found == "bytes" else f"{words or 'bytes'} ({found} by its content)"


def array_in(
    pieces: Iterable[Buffer], size: int, all_of: int | None
) -> tuple[ArrayLook | None, str]:
    """The array that a file is, or None where it is none; and what is wrong with it, or "".

    ``pieces``: the bytes of the file, of which ``size`` can be had; ``all_of``: how many the file
    has, None where that is not known. The range of the numbers is looked for where they all lie in
    the first ``size`` bytes and in the first ``MOST_READ``.
    """
    from serialpack.formats.arrays.extremes import NumberRange, RangeFinder, Unordered
    from serialpack.formats.arrays.header import MOST_HEADER, missing_bytes
    from serialpack.formats.arrays.kinds import sound_header_in
    from serialpack.formats.arrays.types import spelled

    pieces, head = iter(pieces), b""
    for piece in pieces:
        head += bytes(piece)
        if len(head) >= MOST_HEADER:
            break
    try:
        header = sound_header_in(head)
    except Malformed as bad:
        return None, bad.message
    if header is None:
        return None, ""
    found, why, wrong = NumberRange(), "", ""
    try:
        needed = header.size + header.bytes_of_items
        if all_of is not None and needed > all_of:
            wrong = missing_bytes(needed - all_of)
            raise Unordered(wrong)
        finder = RangeFinder(header)
        if needed > min(size, MOST_READ):
            raise Unordered(
                f"the numbers take {format_size(finder.size)}, of which the first"
                f" {format_size(min(size, MOST_READ))} are looked at"
            )
        for piece in chain((memoryview(head)[header.size :],), pieces):
            finder.add(piece)
        found = finder.range()
    except Unordered as error:
        why = str(error)
    order = "F" if header.is_fortran else "C"
    look = ArrayLook(spelled(header.descr), header.shape, order, *found, why, header.scale)
    return look, wrong


def _with_keys(found: Look, head: bytes, pieces: Iterator[bytes]) -> Look | None:
    """``found`` with the keys of the file, where it is one large JSON object (or begins with one
    that ``head`` does not hold to its end); None where it is not."""
    from serialpack.formats.json.keys import keys_of, object_start

    start = object_start(head)
    if start is None or (
        found.records_seen and (start.element or FORMATS.declaration(found.format).has_lines)
    ):
        return None
    keys = keys_of(pieces, start.offset)
    if keys.ended and keys.looked_at <= SAMPLE and found.records_seen:
        return None  # more objects follow
    fields: dict[str, tuple[str, ...]] = {key: (type,) for key, type in keys.types.items()}
    return found._replace(
        fields=fields,
        records_seen=1,
        record_types=("object",),
        looked_at=keys.looked_at,
        whole=keys.alone,
    )


def _pieces(source: Source) -> Iterator[bytes]:
    """The first ``MOST_READ`` bytes of ``source``, 1 MiB at a time."""
    left = MOST_READ
    while left and (piece := source.read(min(left, 1 << 20))):
        left -= len(piece)
        yield piece


def _are_members(format: str, head: bytes) -> bool:
    """Whether the file that begins with ``head`` is one map, whose members are taken as records."""
    fmt = FORMATS.get(format)
    assert isinstance(fmt, ValueFormat)
    with suppress(SerialpackError, Unheld):
        for block in _split(fmt, head):
            return fmt.structure(block, 0) == Structure.MAP
    return False


def _split(fmt: ValueFormat, head: bytes) -> Iterator[Any]:
    """The blocks of records in ``head``, of which only the first is sure to be whole."""
    read = in_lines(fmt.declared, io.BytesIO(head).read, head)
    # Where the file goes on behind ``head``, blocks are smaller than that: so the first one ends
    # where a record does, and not where ``head`` is cut off.
    size = SAMPLE // 4 if len(head) == SAMPLE else len(head)
    return fmt.split(read, max(size, 1))


def _first_records(format: str, head: bytes) -> tuple[list[Any], int]:
    """The records that lie whole at the front of ``head``, and how many bytes they take; no records
    where there is none, or the text is not valid."""
    fmt = FORMATS.get(format)
    # A format that is not safe could run code that is in the file; HDF5 has a listing instead.
    if not isinstance(fmt, ValueFormat) or not fmt.safe or fmt.declared.has_datasets:
        return [], len(head)
    try:
        if (found := _elements(fmt, head)) is not None:
            return found
        for block in _split(fmt, head):
            return fmt.parse(block), len(block.data)
    except (SerialpackError, Unheld):
        pass
    return [], len(head)


def _elements(fmt: ValueFormat, head: bytes) -> tuple[list[Any], int] | None:
    """As ``_first_records``, for one array of MessagePack or CBOR that goes on behind ``head``;
    None for anything else.

    Read as any message, the array that is cut off would be gone through once more, value by value,
    to find words for the error.
    """
    if len(head) < SAMPLE or not isinstance(fmt, MessageFormat):
        return None
    opening = fmt.opening(head)
    if opening is None or opening.kind != Structure.ARRAY or fmt.scan(memoryview(head), 1, 1).end:
        return None
    some = fmt.elements(head[: SAMPLE // 4], {"k": opening.kind.value}, first=True)
    return fmt.read_parts(bytes(some)), opening.size + len(some)


def _types(values: Iterable[Any]) -> tuple[str, ...]:
    """The types of ``values``, the most frequent one first."""
    return tuple(t for t, _ in Counter(map(_type, values)).most_common())


def _type(value: Any) -> str:
    """The word for the type of ``value``; ``other`` where there is none."""
    kind = type(value)
    return _TYPES.get(kind) or _FINE_TYPES.get(fine_kind(kind) or "", "other")


def _fields(records: list[Any]) -> dict[str, tuple[str, ...]]:
    seen: dict[str, Counter[str]] = {}
    for record in records:
        if isinstance(record, dict):
            for key, value in record.items():
                seen.setdefault(str(key), Counter())[_type(value)] += 1
    return {key: tuple(t for t, _ in types.most_common()) for key, types in seen.items()}


_TYPES = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
    list: "array",
    dict: "object",
    bytes: "bytes",
    bytearray: "bytes",
    complex: "complex",
    datetime: "timestamp",
    date: "date",
    time: "time",
    timedelta: "duration",
}
_FINE_TYPES = {UTC_TIME: "timestamp", LOCAL_TIME: "timestamp", DURATION: "duration"}


def entropy(data: bytes) -> float:
    """Shannon's entropy of the bytes one by one, in bits a byte: 8 is random, 0 is constant."""
    total = len(data)
    # Subtracted from 0, so that a constant gives 0.0 and not -0.0.
    return 0.0 - sum(n / total * math.log2(n / total) for n in Counter(data).values())
