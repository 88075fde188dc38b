"""The rough shape of a file: format, records, fields with their types; what is in a compressed one.

It is told from the first bytes; only the keys of one large object are looked for behind these.
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
from serialpack.detection.detect import AsFound, looks_like, told
from serialpack.detection.encoded import other_encoding
from serialpack.errors import DamagedError, MissingLibraryError, SerialpackError, UnsupportedError
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.formats.base import Unheld, ValueFormat
from serialpack.formats.csv.found import front_in_utf8, in_lines
from serialpack.formats.json.text import JsonText
from serialpack.formats.shared.document import Malformed
from serialpack.formats.shared.elements import MessageFormat
from serialpack.inspection.listed import ListedArray, Listing
from serialpack.inspection.listing import listing_of
from serialpack.stages.stage import Buffer
from serialpack.units import format_size
from serialpack.values.nanoseconds import DURATION, LOCAL_TIME, UTC_TIME, fine_kind
from serialpack.values.structure import Structure

if TYPE_CHECKING:
    from serialpack.formats.arrays.extremes import Extreme

#: Bytes of a file that are looked at for its format and its first records.
SAMPLE = 256 << 10

#: Bytes that are looked at for a record larger than that. Of an array more are, and of JSON, as its
#: text is gone through without making values.
LARGER = 4 << 20
FAR = 64 << 20


#: What a volume is called whose header and numbers are two files.
_PAIR = "a pair of files"

#: Bytes of a file that tell whether it is one whose entries are listed.
_HEAD = 128 << 10


class ArrayLook(NamedTuple):
    """An array: the type of its items as NumPy spells it, or for records a list of name and type.

    ``order``: C (neighbours differ in the last index) or F (in the first). ``minimum``,
    ``maximum``: of the numbers as they are stored; ``nan``: how many are none (NaN or NaT), and are
    left out. None where there is no number; or ``why`` they were not looked for. Infinities and
    times (ISO 8601) are text. ``scale``: the slope and intercept that turn the numbers into what
    was measured, where the header of a volume says so.
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
    """What was seen.

    ``fields``: name -> types seen in the first ``records_seen`` records, in the first ``looked_at``
    bytes; ``whole``: that is the whole file or, where the records are one object, all of its keys.
    ``record_types``: what the records are. ``damage``: what is wrong with an array.
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
    """What is in a compressed file, or in a pair of files: ``look``, or ``why`` it cannot be looked
    at. ``damage``: what ends it early, where it is damaged."""

    compression: str
    look: Look | None
    why: str = ""
    damage: DamagedError | None = None


def look_inside(
    source: Source, format: str | None, table: AsFound
) -> tuple[Inside | None, Listing | None]:
    """What is in ``source``, where it is compressed; and its entries, where it is a tar or a zip,
    compressed or not. ``source`` is read for that.

    ``format``, ``table``: how the file that is compressed is written.
    """
    compression = compression_of(source)
    if compression is None:
        try:
            pair = paired(source)
        except SerialpackError as error:
            return Inside(_PAIR, None, error.said), None
        if pair is source:
            return None, listing_of(source, source.peek(_HEAD))
        return Inside(_PAIR, look_at(pair, pair.peek(LARGER))), None
    try:
        inner = decompressed(source)
        block, damage = front_of(inner, LARGER)
    except (MissingLibraryError, UnsupportedError) as error:
        return Inside(compression, None, error.said), None
    if damage is not None and not block:
        return Inside(compression, None, damage.said, damage), None
    # A zip is read from its end: it is listed only where all of it is here.
    everything = damage is not None or len(block) < LARGER
    readable = Source(io.BytesIO(block), inner.path) if everything else inner
    listing = listing_of(readable, block[:_HEAD])
    look = look_at(inner, block, format, table, far=False)
    return Inside(compression, look, "" if damage is None else damage.said, damage), listing


def look_at(
    source: Source,
    block: bytes,
    format: str | None = None,
    table: AsFound = AsFound(),  # noqa: B008  (never changed)
    *,
    far: bool = True,
) -> Look:
    """The shape of ``source``, which begins with ``block`` (``LARGER`` bytes, or all of it).

    ``far``: more of a file is read where that takes no longer than a moment.
    """
    name = source.name if source.stat is not None else None
    if (other := other_encoding(block[:SAMPLE], format, name, table)) is not None:
        format, encoding = other
        block, table, far = front_in_utf8(block, encoding), AsFound(), False
    head = block[:SAMPLE]
    format = told(format, name, head, table)
    records, size = _first_records(format, head)
    everything = len(head) == len(block)
    found = Look(
        format,
        looks_like(head),
        _fields(records),
        len(records),
        looked_at=size,
        whole=everything and size == len(head),
        record_types=_types(records),
    )
    if FORMATS.declaration(format).is_array:
        pieces = _pieces(source) if far and source.stat is not None else iter((block,))
        length = source.size if far else None
        all_of = len(block) if len(block) < LARGER else length
        array, wrong = array_in(pieces, length or len(block), all_of)
        damage = DamagedError(f"a damaged {format}: {wrong}", path=source.path) if wrong else None
        found = found._replace(array=array, damage=damage)
    if everything:
        return found
    fmt = FORMATS.get(format)
    if isinstance(fmt, JsonText):
        pieces = _pieces(source) if far and source.stat is not None else iter((block,))
        return _with_keys(found, head, pieces) or found
    if fmt.quick and (not records or _are_members(format, head)):
        records, size = _first_records(format, block)
        return found._replace(
            fields=_fields(records),
            records_seen=min(len(records), 1),
            looked_at=size,
            whole=size == len(block) < LARGER,
            record_types=_types(records),
        )
    return found


def array_in(
    pieces: Iterable[Buffer], size: int, all_of: int | None
) -> tuple[ArrayLook | None, str]:
    """The array in a file that comes in ``pieces``, None where there is none; and what is wrong
    with it, or "".

    Its numbers are looked at where the first ``size`` bytes hold them, and these are no more than
    ``FAR``. ``all_of``: how many bytes the file has, where that is known.
    """
    from serialpack.formats.arrays.extremes import NumberRange, RangeFinder, Unordered
    from serialpack.formats.arrays.kinds import MOST_HEADER, sound_header_in
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
        finder = RangeFinder(header)
        needed = header.size + finder.size
        if all_of is not None and needed > all_of:
            wrong = f"{needed - all_of:,} bytes of the numbers are missing"
            raise Unordered(wrong)
        if needed > min(size, FAR):
            raise Unordered(
                f"the numbers take {format_size(finder.size)}, of which the first"
                f" {format_size(min(size, FAR))} are looked at"
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
    """``found``, with the keys of the one large object that the file is; None where it is none."""
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
    left = FAR
    while left and (piece := source.read(min(left, 1 << 20))):
        left -= len(piece)
        yield piece


def _are_members(format: str, head: bytes) -> bool:
    """Whether the records that were split off ``head`` are the members of one map."""
    fmt = FORMATS.get(format)
    assert isinstance(fmt, ValueFormat)
    with suppress(SerialpackError, Unheld):
        for block in _split(fmt, head):
            return fmt.structure(block, 0) == Structure.MAP
    return False


def _split(fmt: ValueFormat, head: bytes) -> Iterator[Any]:
    read = in_lines(fmt.declared, io.BytesIO(head).read, head)
    # Where the file goes on, the first block is a part of the sample: it ends where a record does.
    size = SAMPLE // 4 if len(head) == SAMPLE else len(head)
    return fmt.split(read, max(size, 1))


def _first_records(format: str, head: bytes) -> tuple[list[Any], int]:
    """The records that ``head`` holds to their ends, and how many bytes of it they take; none where
    it holds none or is not valid."""
    fmt = FORMATS.get(format)
    # Looking at a file must never run what is in it; datasets are listed.
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
    """As ``_first_records``, of an array of MessagePack or CBOR that goes on behind ``head``; None
    for any other.

    As a message that is cut, it would be gone through value by value to say what is wrong.
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
