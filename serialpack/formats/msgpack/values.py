"""MessagePack messages to values and back, by msgpack-python, with nothing dropped on the way.

Arrays are lists and maps dicts; an array as a map's key is a tuple, which no other value is. A
timestamp is a datetime in UTC where that holds it to the last digit, else msgpack.Timestamp; all
other extension types are msgpack.ExtType.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from itertools import count
from threading import local
from typing import TYPE_CHECKING, Any

from serialpack.depth import MAX_DEPTH, TooDeep, check_messages, says_depth
from serialpack.depth.values import check_values
from serialpack.formats.losses.utf8 import ESCAPED
from serialpack.formats.msgpack.heads import head
from serialpack.msgpack_bytes import FIX_LIST
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import DUPLICATES, UTF8

if TYPE_CHECKING:
    from serialpack.formats.losses.marks import Marks

#: The code of the extension type for timestamps.
TIMESTAMP = -1

#: How timestamps with nanoseconds begin, which other bytes may, too.
_FINE = b"\xd7\xff", b"\xc7\x0c\xff"
#: Such a begin, and the four bytes behind it that hold the nanoseconds.
_NANOSECONDS = re.compile(rb"(\xd7|\xc7\x0c)\xff(?=(....))", re.DOTALL)

#: A byte that is in both begins; to look for it takes a fifth of the time.
_IN_FINE = 0xFF

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Repeated(Exception):
    """A map with a key twice, or with one that no dict takes."""


class _KeyOfParts(TypeError):
    """A tuple where no key stands: it is taken as a key only."""


def pack(records: Iterable[Any]) -> bytes:
    """The messages, one after another.

    TypeError for a type that would come back as another, bar bytearray and memoryview; ValueError,
    OverflowError or RecursionError for what MessagePack does not hold.
    """
    packer = _packer()
    try:
        for record in records:
            packer.pack(record)
    except _KeyOfParts:
        packer = _packer()
        for record in records:
            _pack(packer, record)
    except ValueError as error:
        if says_depth(error):
            raise TooDeep from None
        raise
    return bytes(packer.bytes())


def pack_checked(records: list[Any]) -> bytes:
    """As ``pack``; TooDeep for a record of more than ``MAX_DEPTH`` levels.

    The library counts levels as it goes, so nobody looks at the values before: they are written
    in as many lists as leave room for that many levels. These take longer than a small message, of
    which the bytes are looked at.
    """
    if len(records) == 1:
        return pack_one(records[0])
    around = _around()
    around.innermost.append(records)
    packer = _packer()
    try:
        packer.pack(around.outermost)
    except (ValueError, TypeError, OverflowError, RecursionError):
        # The innermost values were a level too much for it, or it does not take others.
        check_values(records)
        return pack(records)
    finally:
        around.innermost.clear()
    return bytes(packer.getbuffer()[around.depth + len(head(FIX_LIST, len(records))) :])


def pack_one(record: Any) -> bytes:
    """As ``pack_checked``, of one record."""
    # Taken out while it is used: the library may call Python code that comes here again.
    packer, _kept.packer = _kept.packer or _packer(autoreset=True), None
    try:
        data: bytes = packer.pack(record)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        if type(error) is TypeError:  # a type that it does not take: no depth is to blame
            raise
        check_values([record])
        return pack([record])
    if len(data) <= _KEPT:
        _kept.packer = packer
    if len(data) > MAX_DEPTH:
        check_messages(data)
    return data


class _KeptPacker(local):
    """A packer for each thread: to take memory for one takes as long as packing a small message."""

    def __init__(self) -> None:
        self.packer: Any = None


#: Bytes that a packer has at first, and more as it needs them. By default the library takes 256
#: KiB, which go back to the system with each packer.
FIRST_ROOM = 4 << 10

#: A packer that has grown to more bytes is not kept.
_KEPT = 1 << 20

_kept = _KeptPacker()


class _Around(local):
    """Lists in one another, ``depth`` of them, around a list of records.

    Each thread keeps its own: making them takes longer than packing a small message.
    """

    def __init__(self) -> None:
        # The list of records is a level too.
        self.depth = max(_levels() - MAX_DEPTH - 1, 1)
        self.innermost: list[Any] = []
        self.outermost = self.innermost
        for _ in range(self.depth - 1):
            self.outermost = [self.outermost]


@cache
def _levels() -> int:
    """How many lists in one another the library takes, by its own count."""
    import msgpack

    levels = count()

    def deeper(_: object) -> list[object]:
        next(levels)
        return [...]

    with suppress(ValueError):
        msgpack.Packer(default=deeper).pack(...)
    return next(levels)


@cache
def _around() -> _Around:
    return _Around()


def _packer(*, autoreset: bool = False) -> Any:
    """A packer of the library. ``autoreset``: it gives the bytes of each value, and keeps none."""
    import msgpack

    return msgpack.Packer(
        use_bin_type=True,
        strict_types=True,
        autoreset=autoreset,
        default=_lowered,
        buf_size=FIRST_ROOM,
    )


def _lowered(value: Any) -> Any:
    if type(value) is tuple:
        raise _KeyOfParts("a tuple is held as a map's key only")
    return timestamp(value)


def timestamp(value: Any) -> Any:
    """The msgpack.Timestamp of a datetime in UTC; TypeError for all else.

    One with another offset, or another name for none, would come back in UTC.
    """
    import msgpack

    if type(value) is not datetime or value.tzinfo is not UTC:
        raise TypeError(f"cannot hold {type(value).__name__}")
    since = value - _EPOCH
    return msgpack.Timestamp(since.days * 86400 + since.seconds, since.microseconds * 1000)


def _pack(packer: Any, value: Any) -> None:
    """As ``pack``, of one value that has tuples for keys somewhere."""
    if type(value) is dict:
        packer.pack_map_header(len(value))
        for key, part in value.items():
            _pack_key(packer, key)
            _pack(packer, part)
    elif type(value) is list:
        packer.pack_array_header(len(value))
        for part in value:
            _pack(packer, part)
    else:
        packer.pack(value)


def _pack_key(packer: Any, key: Any) -> None:
    if type(key) is tuple:
        packer.pack_array_header(len(key))
        for part in key:
            _pack_key(packer, part)
    else:
        packer.pack(key)


def unpack(data: Buffer) -> list[Any]:
    """The messages of well-formed bytes, quickly; ValueError for others.

    Of a key twice, it keeps the last one.
    """
    try:
        if not _is_fine(data):
            return messages(data, timestamp=3)
        return [moment_of(m) for m in messages(data, object_pairs_hook=_last, list_hook=_list)]
    except (TypeError, OverflowError):  # an array as a key; a time that no datetime holds
        pass
    try:
        return unpack_exactly(data)
    except Repeated as error:
        raise ValueError(str(error)) from None


def unpack_one(data: Buffer) -> list[Any]:
    """As ``unpack``, of bytes that are likely one message.

    By msgspec, in two thirds of the time: what it takes it reads alike, and it believes no length
    beyond the bytes at hand.
    """
    try:
        if (type(data) is bytes and _IN_FINE not in data) or not _is_fine(data):
            return [_one()(data)]
    except (ValueError, TypeError, OverflowError):  # which of them, ``unpack`` says
        pass
    return unpack(data)


@cache
def _one() -> Callable[[Buffer], Any]:
    import msgspec

    def hook(code: int, data: memoryview) -> Any:
        return extension(code, bytes(data))

    decode: Callable[[Buffer], Any] = msgspec.msgpack.Decoder(ext_hook=hook).decode
    return decode


def _is_fine(data: Buffer) -> bool:
    """Whether there may be timestamps in ``data`` that are no whole microseconds: the library's
    datetimes would cut them."""
    text = bytes(data)
    if _FINE[0] not in text and _FINE[1] not in text:
        return False
    return any(
        (int.from_bytes(found[2]) >> (2 if found[1] == b"\xd7" else 0)) % 1000
        for found in _NANOSECONDS.finditer(text)
    )


def unpack_exactly(data: Buffer) -> list[Any]:
    """The messages; ValueError, or Repeated, where there are none that Python holds."""
    return [moment_of(m) for m in messages(data, object_pairs_hook=_map, list_hook=_list)]


def unpack_marked(data: bytes, marks: Marks) -> list[Any]:
    """The messages, with what may be lost noted in ``marks``.

    ValueError, RecursionError or Repeated where more is lost.
    """

    def last_wins(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for spelled, value in pairs:
            try:
                key = key_of(spelled)
                twice = key in found
            except TypeError:
                raise Repeated("a map or what holds one as a key") from None
            if twice and not marks.again(found, key):
                raise Repeated("a map has a key twice")
            found[key] = moment_of(value)
        return found

    options: dict[str, Any] = {"object_pairs_hook": _map, "list_hook": _list}
    if DUPLICATES in marks.allowed:
        options["object_pairs_hook"] = last_wins
    if UTF8 in marks.allowed:
        options["unicode_errors"] = "surrogateescape"
        marks.base = ESCAPED
    return [moment_of(message) for message in messages(data, **options)]


def messages(data: Buffer, **options: Any) -> list[Any]:
    """All messages by the library, as ``options`` ask for; ValueError where the last is not whole.

    No length is believed beyond the bytes at hand. The reader is made for these bytes: one that
    has failed must not be used again.
    """
    import msgpack

    size = len(data)
    unpacker = msgpack.Unpacker(
        raw=False,
        **{
            "strict_map_key": False,
            "ext_hook": extension,
            "max_buffer_size": max(size, 1),
            "max_str_len": size,
            "max_bin_len": size,
            "max_ext_len": size,
            "max_array_len": size,
            "max_map_len": size // 2,
            **options,
        },
    )
    unpacker.feed(data)
    records = []
    end = 0
    for record in unpacker:
        records.append(record)
        end = unpacker.tell()
    if end != size:
        raise ValueError("the last message is not whole")
    return records


def extension(code: int, data: bytes) -> Any:
    """The value of an extension type; ValueError for a timestamp that is none."""
    import msgpack

    if code == TIMESTAMP:
        return moment_of(msgpack.Timestamp.from_bytes(data))
    # Its constructor refuses codes below 0, which the specification keeps for types to come.
    return msgpack.ExtType._make((code, data))


def moment_of(value: Any) -> Any:
    """The datetime of a msgpack.Timestamp where one holds it to the last digit; else ``value``."""
    import msgpack

    if type(value) is not msgpack.Timestamp or value.nanoseconds % 1000:
        return value
    try:
        return value.to_datetime()
    except OverflowError:
        return value


def _list(values: list[Any]) -> list[Any]:
    return [moment_of(value) for value in values]


def _map(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    try:
        found = {key_of(key): moment_of(value) for key, value in pairs}
    except TypeError:
        raise Repeated("a map or what holds one as a key") from None
    if len(found) != len(pairs):
        raise Repeated("a map has a key twice")
    return found


def _last(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    return {key_of(key): moment_of(value) for key, value in pairs}


def key_of(key: Any) -> Any:
    """``key``, or what stands for it in a dict: a tuple for a list. TypeError for what no dict
    takes."""
    return tuple(map(key_of, key)) if type(key) is list else moment_of(key)
