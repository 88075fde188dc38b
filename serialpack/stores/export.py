"""A store read as a file of records: its values, one after another, in one format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, cast

from serialpack.compressed.pieces import Pieces
from serialpack.errors import FileError, RefusedError
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.one_object import of_values, prove, serialized
from serialpack.stages.stage import Buffer
from serialpack.stores.base import KeyValueStore
from serialpack.stores.header import header_of
from serialpack.stores.keys import HEADER_KEY, decoded_key, encoded_key, shown_key
from serialpack.stores.registry import named_after, opened_store, store_named
from serialpack.stores.values import ValueCoder

#: The format in which records are given where what the serializer wrote cannot stand in a file as
#: it is.
_USUAL = "msgpack"


def records_source(url: str, *, trust: bool) -> Source:
    """The records of the store at ``url`` as a source; errors as of ``StoreStream``."""
    with named_after(url):
        return _StoreSource(StoreStream(url, trust=trust))


class _StoreSource(Source):
    """The records of a store as a source, which closes the store."""

    def __init__(self, stream: StoreStream) -> None:
        super().__init__(cast("IO[bytes]", stream), stream.name)
        self.format = stream.format

    def close(self) -> None:
        self.file.close()

    def __exit__(self, *_: object) -> None:
        self.close()


class StoreStream:
    """The records of a store as a binary file, with ``read``, ``name`` and ``format``.

    A record is a value. Where keys are the mapping's own, so that no value contains its key, a
    record is a map of both: ``{"key": ..., "value": ...}``. Where keys are the numbers of records,
    these come in the order of their numbers, else in that of the store.
    """

    def __init__(self, url: str, *, trust: bool = False) -> None:
        """Open the store. FileError, InputError; RefusedError for values that can run code, unless
        ``trust``."""
        self.name = url
        name = store_named(url)
        self._store = opened_store(name, "r")
        try:
            self.header = header_of(self._store)
            self._coder = ValueCoder(self.header, trust=trust)
        except BaseException:
            self._store.close()
            raise
        self._own = self.header.keys == "own"
        stored = self._coder.serializer.stored_format
        #: Whether what the serializer wrote for each value, joined, is a file of records.
        self._as_it_is = FORMATS.declaration(stored).joins == b""
        self.format = stored if self._as_it_is else _USUAL
        self._has_lines = FORMATS.declaration(self.format).has_lines
        self._usual = of_values(SERIALIZERS.create(_USUAL))
        if self._as_it_is:
            self._usual = self._coder.serializer
        self._pieces = Pieces(self.records())

    def read(self, size: int = -1) -> bytes:
        """``size`` bytes, fewer only at the end; DamagedError, which names the key of the value."""
        return self._pieces.read(size if size >= 0 else 1 << 62)

    def value(self, key: str) -> bytes:
        """The value of ``key`` alone, in the same format; FileError where there is none.

        If the store has no such text as a key, the key is the integer that the text spells.
        """
        stored = None
        for each in [key, *([int(key)] if _is_integer(key) else [])]:
            data = encoded_key(each)
            if (stored := self._store.get(data)) is not None:
                return bytes(self._record(data, stored, own=False))
        raise FileError(f"there is no key {key!r}", hint="inspect --head 3 shows records")

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def records(self) -> Iterator[Buffer]:
        """The records one by one; DamagedError or ValueRefusedError, which name the key."""
        for key, stored in in_order(self._store, numbered=self.header.keys == "number"):
            yield self._record(key, stored, own=self._own)

    def _record(self, key: bytes, stored: bytes, *, own: bool) -> Buffer:
        """The bytes of one record in the stream's format. ``own``: it is a map of the key and the
        value; else it is the value alone, which is not even read where it is stored in that
        format."""
        if self._as_it_is and not own:
            written = self._coder.unpack(key, stored)
            # The value may be a line that was stored without its newline.
            ends = not self._has_lines or written.endswith(b"\n")
            return written if ends else written + b"\n"
        value = self._coder.load(key, stored)
        record = {"key": decoded_key(key), "value": value} if own else value
        try:
            data = serialized(self._usual, record)
            prove(self._usual, record, record, data, None)
        except RefusedError as error:
            error.message = f"the value of the key {shown_key(key)}: {error.message}"
            raise
        return data[0] if len(data) == 1 else b"".join(data)


def in_order(store: KeyValueStore, *, numbered: bool) -> Iterator[tuple[bytes, bytes]]:
    """The keys and values of a store, without the header record. ``numbered``: keys are the numbers
    of records, and these come in order also from a store that has none."""
    if store.has_order or not numbered:
        yield from (item for item in store.items() if item[0] != HEADER_KEY)
        return
    for key in sorted(store.keys()):
        stored = store.get(key)
        if key != HEADER_KEY and stored is not None:
            yield key, stored


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and text.isascii() and len(text) <= 20
