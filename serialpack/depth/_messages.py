"""How deep MessagePack is nested, told by msgpack-python as it skips over the bytes.

It keeps the open containers in an array of a fixed size (1024), and raises ``StackError`` where
that is full. To have it stop at ``MAX_DEPTH``, the messages are put into as many nested arrays as
leave room for just so many levels.
"""

from __future__ import annotations

from functools import cache
from itertools import count

from serialpack.depth._limit import MAX_DEPTH, TooDeep
from serialpack.msgpack_bytes import LISTS, MAPS

#: All bytes that begin no container.
_NO_CONTAINERS = bytes({*range(256)} - MAPS - LISTS)

#: How many bytes at the front tell whether there are many containers.
_FIRST = 256

#: The head of an array of one element; and of one that has more elements than any data.
_ONE, _MANY = b"\x91", b"\xdd\xff\xff\xff\xff"


def check_messages(data: bytes) -> None:
    """TooDeep where one of the messages in ``data``, which follow each other, is too deep.

    Bytes that are no MessagePack end the check: what a reader would make of them is not asked.
    """
    # Each level takes a byte at least. So it is enough to count the bytes that may begin a
    # container, unless these are many, which the first bytes tell: then counting is left out, since
    # going over the messages takes no longer.
    if len(data) <= MAX_DEPTH or (
        _containers(data[:_FIRST]) * len(data) <= MAX_DEPTH * _FIRST
        and _containers(data) <= MAX_DEPTH
    ):
        return
    if not _fits(_around(), data):
        raise TooDeep


def _containers(data: bytes) -> int:
    """An upper bound of the number of containers that begin in ``data``."""
    return len(data.translate(None, _NO_CONTAINERS))


@cache
def _around() -> bytes:
    """The heads of nested arrays within which the library has room for just ``MAX_DEPTH``
    levels."""
    room = next(n for n in count(MAX_DEPTH) if not _fits(_ONE * n, _ONE)) - MAX_DEPTH
    return _ONE * (room - 1) + _MANY


def _fits(around: bytes, data: bytes) -> bool:
    """Whether the library has room for the containers of ``data`` within those of ``around``."""
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
