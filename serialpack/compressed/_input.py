"""What a compression is, and the compressed bytes that its decompressor reads."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from serialpack.errors import TruncatedError
from serialpack.files.source import Source

#: The most compressed bytes that are read at a time.
READ_SIZE = 128 << 10

_ZEROS = re.compile(rb"\0*+")


class Kind(NamedTuple):
    """A compression: how it is recognized, and how it is decompressed.

    ``begins(head)``: whether a member may begin with the bytes ``head``; also true where ``head``
    is too short to rule it out. ``pieces(input, kind)``: the decompressed bytes of all members.
    ``is_marked(head)``: whether nothing but this compression begins with ``head``. Where it is
    False, the file must also have one of ``extensions``. ``by_name``: the extension alone decides,
    because the compressed data may begin with any bytes.
    """

    name: str
    extensions: tuple[str, ...]
    begins: Callable[[bytes], bool]
    pieces: "Callable[[CompressedInput, Kind], Iterator[bytes]]"
    is_marked: Callable[[bytes], bool] = lambda _: True
    by_name: bool = False


class CompressedInput:
    """Reads the compressed bytes of a source. ``offset``: how many of them were read so far."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._chunk = b""
        self._at = 0
        self.path = source.path
        self.offset = 0

    def read(self, size: int) -> bytes:
        """At least one and at most ``size`` bytes; none at the end."""
        if self._at == len(self._chunk):
            self._chunk, self._at = self._source.read(READ_SIZE), 0
        data = self._chunk[self._at : self._at + size]
        self._at += len(data)
        self.offset += len(data)
        return data

    def peek(self, size: int) -> bytes:
        """The next ``size`` bytes, fewer only at the end; they stay to be read."""
        if self._at + size <= len(self._chunk):
            return self._chunk[self._at : self._at + size]
        head = self.read(size)
        while len(head) < size and (data := self.read(size - len(head))):
            head += data
        self.put_back(head)
        return head

    def exactly(self, size: int, kind: Kind) -> bytes:
        """The next ``size`` bytes; TruncatedError where there are fewer."""
        end = self._at + size
        if end <= len(self._chunk):
            data = self._chunk[self._at : end]
            self._at = end
            self.offset += size
            return data
        data = self.read(size)
        while len(data) < size:
            more = self.read(size - len(data))
            if not more:
                raise truncated(kind, self.offset, self.path)
            data += more
        return data

    def skip_zeros(self) -> int:
        """Read past all zero bytes that come next, and return how many there were."""
        start = self.offset
        while self.peek(1) == b"\0":
            zeros = _ZEROS.match(self._chunk, self._at)
            assert zeros
            self.offset += zeros.end() - self._at
            self._at = zeros.end()
        return self.offset - start

    def put_back(self, data: bytes) -> None:
        """Take back ``data``, the last bytes that were read: the next call of ``read`` gives them
        again."""
        self.offset -= len(data)
        if self._at >= len(data):
            self._at -= len(data)
        else:
            self._chunk, self._at = data + self._chunk[self._at :], 0


def truncated(kind: Kind, at: int, path: str) -> TruncatedError:
    """The error for compressed data that end at byte ``at`` of the file, before their own end."""
    return TruncatedError(
        f"{kind.name} data that ends too early", start=at, path=path, hint="get the file again"
    )
