"""CBOR (RFC 8949) as a source: a sequence of items (RFC 8742), each of them a record.

Tags whose content a Python value holds to the last digit become that value: dates and times,
bignums, decimals, fractions, UUIDs, IP addresses, sets, complex numbers. All other tags stay
whole, as cbor2's CBORTag: unknown ones, and those with a content that Python's type would round
or does not have (a time with nanoseconds, the year 10000, a regular expression of another
language, a bigfloat).
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from serialpack.depth import MAX_DEPTH
from serialpack.depth.values import CONTAINERS, levels
from serialpack.errors import RefusedError
from serialpack.formats.base import Difference, Unheld, depth_loss
from serialpack.formats.cbor import scan as cbor_scan
from serialpack.formats.cbor.pairs import PAIRS, Paired, last_wins
from serialpack.formats.cbor.tags import Refers, Tags, Twice, decoders
from serialpack.formats.losses.utf8 import ESCAPED
from serialpack.formats.messages.format import MessageFormat
from serialpack.formats.shared.document import Malformed
from serialpack.formats.shared.expansion import check_unfolded
from serialpack.stages.stage import Buffer, import_library
from serialpack.values.kinds import DUPLICATES, UTF8, shown
from serialpack.values.structure import Structure

if TYPE_CHECKING:
    from serialpack.formats.cbor.join import CborJoin
    from serialpack.formats.losses.marks import Marks

#: More containers within each other than these, and the library's encoder, which recurses
#: without a limit, is not trusted with the stack of a thread (it takes about 1 KiB for each).
_SHALLOW = 100

_SETS = frozenset({set, frozenset})

#: What the library may keep open: all items, containers within each other, and a tag.
_FRAMES = MAX_DEPTH + 2

#: The head of the tag of a reference to a value, 29, in each of its lengths.
_REFERENCE = re.compile(rb"\xd8\x1d|\xd9\0\x1d|\xda\0{3}\x1d|\xdb\0{7}\x1d")


class CborFormat(MessageFormat):
    """A sequence of CBOR items."""

    about = "CBOR items, one after another"
    title = "CBOR"
    heeds = frozenset({DUPLICATES, UTF8})
    heads = cbor_scan.HEADS
    _pair = b"\xa1"
    _long: ClassVar[dict[str, int]] = {Structure.ARRAY: 0x9A, Structure.MAP: 0xBA}
    scan = staticmethod(cbor_scan.scan)
    opening = staticmethod(cbor_scan.opening)

    @property
    def join(self) -> CborJoin:
        from serialpack.formats.cbor.join import CborJoin

        return CborJoin()

    def read(self, data: bytes) -> list[Any]:
        return self._items(data, parts=False)

    def read_parts(self, data: bytes) -> list[Any]:
        return self._items(data, parts=True)

    def _items(self, data: bytes, *, parts: bool) -> list[Any]:
        try:
            return read_items(data, parts=parts)
        except (Malformed, Unheld) as error:
            if self.marks is None or not self.marks.allowed & self.heeds:
                raise
            return _read_marked(data, self.marks, error, parts=parts)

    def write(self, records: list[Any]) -> bytes:
        return write_items(records)


def read_items(data: Buffer, *, parts: bool = False) -> list[Any]:
    """The items of a sequence. ``parts``: they are parts of one item.

    Malformed, Unheld for what Python does not hold, RefusedError for references without end, or
    from one part to what may stand in another.
    """
    # Within one array without a length they are read in one call.
    items = b"".join((b"\x9f", data, b"\xff"))
    tags = Tags(decoders(), references=False)
    try:
        records: list[Any] = _read_array(items, tags)
    except Refers:
        if parts:
            raise RefusedError(
                "an array or map larger than a block has references between values",
                hint="pack -s raw keeps the bytes",
            ) from None
        _check_references(bytes(data))
        return _apart(bytes(data))
    if tags.referred:
        check_unfolded(records, len(data), _inside_or_none)
    return records


def _read_array(items: bytes, tags: Tags) -> list[Any]:
    """The values of the array ``items``, which is all that should be there; Refers where ``tags``
    raise it."""
    cbor2 = import_library("cbor2", "cbor")
    file = io.BytesIO(items)
    try:
        values: list[Any] = _decoder(file, len(items), tags, _FRAMES).decode()
    except cbor2.CBORDecodeError as error:
        if isinstance(error.__cause__, Refers):
            raise error.__cause__ from None
        raise _placed(items[1:-1], error) from None
    if file.tell() != len(items):
        raise Malformed("a break code outside of any container", file.tell() - 2)
    return values


def _read_marked(data: bytes, marks: Marks, error: Exception, *, parts: bool) -> list[Any]:
    """As ``read_items``, which has raised ``error``, with what may be lost noted in ``marks``."""
    paired = Paired(data) if DUPLICATES in marks.allowed else None
    read, before = (data, int) if paired is None else (paired.data, paired.before)
    tags = Tags({**decoders(), PAIRS: last_wins(marks, len(data))}, references=True)
    lossy_text = UTF8 in marks.allowed
    if _REFERENCE.search(data):
        _check_references(data)
    text = "surrogateescape" if lossy_text else "strict"
    records: list[Any] = []
    try:
        records.extend(_one_by_one(read, tags, 2 * _FRAMES, text, before))
        if tags.referred:  # first: of what holds itself twice, each level is twice the one before
            check_unfolded(records, len(data), _inside_or_none)
        levels(records, _plain_types(), _inside_or_none)
    except RecursionError:
        raise Unheld(depth_loss(len(records))) from None
    if tags.shared and parts:
        raise error
    marks.base = ESCAPED if lossy_text else 0
    return records


def _decoder(file: io.BytesIO, read_size: int, tags: Tags, depth: int, text: str = "strict") -> Any:
    return import_library("cbor2", "cbor").CBORDecoder(
        file,
        str_errors=text,
        read_size=read_size,
        max_depth=depth,
        allow_duplicate_keys=False,
        semantic_decoders=tags,
    )


def _check_references(data: bytes) -> None:
    """RefusedError where the values of the items, in which some refer to others, would be far
    larger than ``data``, or hold themselves; Malformed where it is broken.

    It is asked before they are keys of maps or elements of sets: hashing these goes over all that
    is in them, however often it stands there. So maps and sets are read as arrays here.
    """
    paired = Paired(data)
    plain = dict.fromkeys((PAIRS, 258), lambda content, _immutable: content)
    tags = Tags({**decoders(), **plain}, references=True)
    items = _one_by_one(paired.data, tags, 2 * _FRAMES, "surrogateescape", paired.before)
    check_unfolded([*items], len(data), _inside_or_none)


def _one_by_one(
    data: bytes,
    tags: Tags,
    depth: int,
    text: str = "strict",
    before: Callable[[int], int] = int,
) -> Iterator[Any]:
    """The items of a sequence, read byte by byte, so that it is known where one is broken.

    Malformed, Unheld with the number of the item, or RefusedError of a decoder in ``tags``.
    ``before``: where a byte of ``data`` comes from.
    """
    cbor2 = import_library("cbor2", "cbor")
    file = io.BytesIO(data)
    decoder = _decoder(file, 1, tags, depth, text)
    for record in count():
        if file.tell() == len(data):
            return
        try:
            item = decoder.decode()
        except cbor2.CBORDecodeEOF:
            raise Malformed("it ends too early", before(len(data))) from None
        except cbor2.CBORDecodeError as error:
            if isinstance(error.__cause__, RefusedError):
                raise error.__cause__ from None
            raise _explained(error, record, before(file.tell())) from None
        yield item


def _apart(data: bytes) -> list[Any]:
    """The items, read one by one, so that a reference in one finds nothing of another."""
    cbor2 = import_library("cbor2", "cbor")
    file = io.BytesIO(data)
    decoder = _decoder(file, len(data), Tags(decoders(), references=True), _FRAMES - 1)
    records = []
    try:
        while file.tell() < len(data):
            records.append(decoder.decode())
    except cbor2.CBORDecodeError as error:
        raise _placed(data, error) from None
    return records


def _placed(data: bytes, error: Exception) -> Exception:
    """What is wrong and where, for the ``error`` of the library."""
    record = 0
    try:
        for _ in _one_by_one(data, Tags(decoders(), references=True), _FRAMES - 1):
            record += 1
    except (Malformed, Unheld) as found:
        return found
    return _explained(error, record, len(data))


#: What the library says of a key that is there twice, and of values in too many others.
_TWICE = re.compile("Duplicate map key: (.*)", re.DOTALL)
_TOO_DEEP = "maximum container nesting depth"


def _explained(error: Exception, record: int, at: int) -> Exception:
    """What the library's ``error`` in a record, at a byte, means."""
    message = str(error)
    if isinstance(error.__cause__, Twice):
        was = f"the element {shown(error.__cause__.args[0])} of a set"
        return Unheld(Difference(record, "$", was, "", "duplicate-keys"))
    said = str(error.__cause__ or error)
    if (twice := _TWICE.search(said)) is not None:
        return Unheld(Difference(record, "$", f"the key {twice[1][:40]}", "", "duplicate-keys"))
    if error.__cause__ is not None:
        message += f" ({error.__cause__})"
    if _TOO_DEEP in message:
        return Unheld(depth_loss(record))
    return Malformed(" ".join(message.split()), at)


def write_items(records: list[Any], *, canonical: bool = False) -> bytes:
    """The items of ``records``, one after another.

    TypeError for a type that would not come back, RecursionError for values nested too deeply.
    """
    cbor2 = import_library("cbor2", "cbor")
    sets = 0

    def inside(value: Any) -> list[Any]:
        nonlocal sets
        if type(value) not in _SETS:
            return _inside(value)
        sets += 1
        return [*value]

    # The library writes the elements of a set in another order each time.
    if levels(records, _plain_types(), inside, CONTAINERS - _SETS) > _SHALLOW or sets:
        return _write_deep(records, canonical)
    try:
        data: bytes = cbor2.dumps(records, canonical=canonical)
    except cbor2.CBOREncodeError as error:
        raise ValueError(str(error)) from None
    return data[len(_head(4, len(records))) :]


def _write_deep(records: list[Any], canonical: bool) -> bytes:
    """As ``write_items``, without recursion: the library writes only what holds no other values."""
    cbor2 = import_library("cbor2", "cbor")
    written = bytearray()
    stack = records[::-1]
    while stack:
        value = stack.pop()
        if isinstance(value, list | tuple):
            written += _head(4, len(value))
            stack.extend(reversed(value))
        elif isinstance(value, set | frozenset):
            parts = sorted(_write_deep([part], canonical) for part in value)
            parts.sort(key=len)
            written += _head(6, 258) + _head(4, len(parts)) + b"".join(parts)
        elif isinstance(value, cbor2.CBORTag):
            written += _head(6, value.tag)
            stack.append(value.value)
        elif hasattr(value, "items"):
            items = list(value.items())
            if canonical:
                keys = [_write_deep([key], canonical) for key in value]
                order = sorted(range(len(keys)), key=lambda i: (len(keys[i]), keys[i]))
                items = [items[i] for i in order]
            written += _head(5, len(items))
            stack.extend(part for item in reversed(items) for part in reversed(item))
        else:
            try:
                written += cbor2.dumps(value, canonical=canonical)
            except cbor2.CBOREncodeError as error:
                raise ValueError(str(error)) from None
    return bytes(written)


def _head(major: int, number: int) -> bytes:
    """The head of an item: its major type, and a number in the fewest bytes."""
    if number < 24:
        return bytes([major << 5 | number])
    size = next(i for i in range(4) if number < 1 << (8 << i))
    return bytes([major << 5 | 24 + size]) + number.to_bytes(1 << size, "big")


@cache
def _plain_types() -> frozenset[type]:
    """The types that hold no others, and come back as what they were."""
    import ipaddress

    cbor2 = import_library("cbor2", "cbor")
    addresses = [
        getattr(ipaddress, f"IPv{version}{what}")
        for version in (4, 6)
        for what in ("Address", "Network", "Interface")
    ]
    return frozenset(
        {
            *(type(None), bool, int, float, str, bytes, complex),
            *(datetime, date, Decimal, Fraction, UUID, *addresses),
            *(type(cbor2.undefined), cbor2.CBORSimpleValue),
        }
    )


def _inside(value: Any) -> list[Any]:
    """The values in one of the library's own containers; TypeError for other types."""
    kind = type(value)
    if kind.__module__ == "cbor2" or kind.__name__ == "frozendict":
        if kind.__name__ == "CBORTag":
            return [value.value]
        return [dict(value)]
    raise TypeError(f"cannot write {kind.__name__}")


def _inside_or_none(value: Any) -> list[Any]:
    return [] if type(value) in _plain_types() else _inside(value)
