"""How deep MessagePack is nested: told by msgpack-python as it goes over the bytes.

It keeps what is open in an array of a fixed size, and says when that is full: 1024 containers.
"""

from __future__ import annotations

from functools import cache
from itertools import count

from serialpack.depth._limit import MAX_DEPTH, TooDeep
from serialpack.msgpack_bytes import LISTS, MAPS

#: All bytes that begin no container.
_NO_CONTAINERS = bytes({*range(256)} - MAPS - LISTS)

#: Bytes that are looked at first.
_FIRST = 256

#: The head of an array of one element; and that of one with more elements than come.
_ONE, _MANY = b"\x91", b"\xdd\xff\xff\xff\xff"


def check_messages(data: bytes) -> None:
    """TooDeep for messages, one after another, of which one is nested too deeply.

    Of bytes that are none, it looks at the messages before, and at what is there of the next.
    """
    # Each level takes a byte at least. The bytes that may begin a container are counted, unless
    # there are many among the first ones: to go over the messages takes no longer than counting.
    if len(data) <= MAX_DEPTH or (
        _containers(data[:_FIRST]) * len(data) <= MAX_DEPTH * _FIRST
        and _containers(data) <= MAX_DEPTH
    ):
        return
    if not _fits(_around(), data):
        raise TooDeep


def _containers(data: bytes) -> int:
    """How many containers begin in ``data``, at most."""
    return len(data.translate(None, _NO_CONTAINERS))


@cache
def _around() -> bytes:
    """The heads of so many nested arrays that the library has room for MAX_DEPTH containers in
    them."""
    room = next(n for n in count(MAX_DEPTH) if not _fits(_ONE * n, _ONE)) - MAX_DEPTH
    return _ONE * (room - 1) + _MANY


def _fits(around: bytes, data: bytes) -> bool:
    import msgpack

    size = len(around) + len(data)
    unpacker = msgpack.Unpacker(
        max_buffer_size=size,
        max_str_len=size,
        max_bin_len=size,
        max_ext_len=size,
        max_array_len=(1 << 32) - 1,
        max_map_len=size,
    )
    unpacker.feed(around)
    unpacker.feed(data)
    try:
        unpacker.skip()
    except msgpack.StackError:
        return False
    except (msgpack.OutOfData, ValueError):  # cut or broken, which is not asked here
        pass
    return True
