"""``convert_to_store``: the records of any file become values in a new key-value store.

The conversion to the format of the chosen serializer is that of ``files.convert``, with all that it
carries, tells and refuses. What it writes goes through a temporary file, since it may be refused at
its end, and a store is sized by how much there is. Then it is cut into records, each a value; what
each becomes is undone and compared, before it is written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import IO, Any, Literal, NamedTuple, cast

from serialpack.collector import gc_paused
from serialpack.conversion.files import convert
from serialpack.conversion.options import ConvertOptions
from serialpack.errors import RefusedError, ValueRefusedError
from serialpack.files.source import Path
from serialpack.formats import FORMATS
from serialpack.formats.base import Style, ValueFormat, too_large
from serialpack.pipeline.line import Progress
from serialpack.reports import ConvertReport
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.one_object import of_values
from serialpack.spool import Spool
from serialpack.stages.effort import DEFAULT_EFFORT
from serialpack.stages.stage import Buffer
from serialpack.stores.base import Change, DuplicateKey
from serialpack.stores.header import StoreHeader, new_header
from serialpack.stores.keys import encoded_key, shown_key
from serialpack.stores.mapping import serialized_all
from serialpack.stores.new import NewStore, check_new
from serialpack.stores.registry import StoreName, store_named
from serialpack.stores.values import ValueCoder, trained
from serialpack.values.structure import Structure

#: Which record is kept of those with one key.
Duplicates = Literal["first", "last"]

#: What is tried under ``auto``, whoever holds the values first.
_AUTO = ("msgpack", "json")

#: Formats of which a piece is a value, as any serializer of the format writes it.
_CUT = frozenset({"ndjson", "msgpack", "cbor", "bson"})

#: What another serializer gets its values through.
_BETWEEN = "msgpack"

#: Of so many values at most a dictionary is made.
_SAMPLES = 2000

#: So much of what is converted is kept in memory.
_IN_MEMORY = 64 << 20

#: Bytes of records that are cut apart, and written, together.
_BLOCK = 1 << 20


class StoreReport(NamedTuple):
    """What came of it. ``size``: bytes of the serialized values; ``stored``: of what was written
    for them, keys not counted. ``left_out``: records that another with the same key replaced.
    """

    converted: ConvertReport
    chain: str
    dictionary: int
    records: int
    size: int
    stored: int
    left_out: int


def convert_to_store(
    source: Path | IO[bytes],
    url: str,
    *,
    chain: str,
    key: str | None,
    duplicates: Duplicates | None,
    progress: Progress | None,
    how: ConvertOptions,
) -> StoreReport:
    """Write the records of ``source`` into a new store at ``url``, each a value.

    ``chain`` as of ``stores.mapping.store``; ``auto`` is msgpack, else json. ``key``: the field
    that is a record's key (``"id"``, ``"name.first"``), text or an integer; by default its number
    is. ``duplicates``: which is kept of the records with one key, which are refused otherwise.

    Errors as of ``convert``; the store appears whole, or not at all.
    """
    name = store_named(url)
    check_new(name, force=how["force"])
    serializer, plus, rest = chain.partition("+")
    with _rereadable(source) as again:
        for each in _AUTO if serializer == "auto" else (serializer,):
            # A schema is the serializer's, where it takes one, else the source's.
            own = SERIALIZERS.cls(each).takes_options
            settings = how["options"] if own else {}
            header = new_header(each + plus + rest, DEFAULT_EFFORT, settings, trust=how["trust"])
            header = header._replace(keys="field" if key else "number", field=key or "")
            options: ConvertOptions = {
                **how,
                "force": True,
                "options": {} if own else how["options"],
            }
            filler = _Filler(name, header, duplicates, verify=how["verify"])
            try:
                with Spool(_IN_MEMORY) as spool:
                    to = cast("IO[bytes]", spool)
                    done = convert(again(), to, to=filler.between, progress=progress, **options)
                    size = spool.tell()
                    spool.seek(0)
                    return filler.fill(to, size, done, force=how["force"])
            except ValueRefusedError as error:
                refused = error
    raise refused


@contextmanager
def _rereadable(source: Path | IO[bytes]) -> Iterator[Callable[[], Path | IO[bytes]]]:
    """What gives the source at its front, again and again; of a pipe a copy."""
    if isinstance(source, str | os.PathLike):
        yield lambda: source
        return
    with Spool(_IN_MEMORY) as copy:
        while data := source.read(_BLOCK):
            copy.write(data)

        def again() -> IO[bytes]:
            copy.seek(0)
            return cast("IO[bytes]", copy)

        yield again


class _Filler:
    """Fills a new store with the records of what was converted."""

    def __init__(
        self, name: StoreName, header: StoreHeader, duplicates: Duplicates | None, *, verify: bool
    ) -> None:
        self._name = name
        self._header = header
        self._duplicates = duplicates
        self._verify = verify
        self._coder = ValueCoder(header, trust=True)
        stored = self._coder.serializer.stored_format
        #: Whether what is converted is cut into values as it stands.
        self._as_it_is = stored in _CUT
        #: The format that the source is converted to.
        self.between = stored if self._as_it_is else _BETWEEN
        self._reader = self._coder.serializer
        self._between_records = b"\n" if FORMATS.declaration(self.between).has_lines else b""
        if not self._as_it_is:
            self._reader = of_values(SERIALIZERS.create(_BETWEEN))
        self._path = tuple(header.field.split(".")) if header.field else ()
        self._quick = _quickly(self.between, self._path)
        self._records = self._size = self._stored = 0

    def fill(self, file: IO[bytes], size: int, done: ConvertReport, *, force: bool) -> StoreReport:
        """Write what ``file`` has, ``size`` bytes, into the store, which appears then."""
        blocks = self._blocks(file)
        records = next(blocks, [])
        codec = self._coder.chain.codec
        dictionary = b""
        if codec.name == "zstd" and not self._coder.chain.filters:
            some: Sequence[Buffer] = records[:_SAMPLES]
            if not self._as_it_is:
                some = self._values(self._keys(records[:_SAMPLES]), records[:_SAMPLES])
            dictionary = trained(some, size, codec.values[0])
        self._header = self._header._replace(dictionary=dictionary, format=done.format)
        self._coder = ValueCoder(self._header, trust=True)
        with NewStore(self._name, self._header, force=force) as new:
            while records:
                self._write(new, records)
                records = next(blocks, [])
            count = len(new.store) - 1
        return StoreReport(
            done,
            str(self._coder.chain),
            len(dictionary),
            count,
            self._size,
            self._stored,
            self._records - count,
        )

    def _blocks(self, file: IO[bytes]) -> Iterator[list[bytes]]:
        """The records, some at a time."""
        fmt = FORMATS.get(self.between)
        assert isinstance(fmt, ValueFormat)
        style: Style = {}
        for block in fmt.split(file.read, _BLOCK, for_values=True):
            if block.partial:
                raise too_large(block)
            if block.inside == Structure.MAP:
                raise RefusedError(
                    "it is one map, larger than can be one value",
                    hint="--at names a list in it, whose elements become the values",
                )
            first = block.index == 0
            if first:
                style = fmt.outline(block)
            data = bytes(block.data)
            yield [data[a:b] for a, b in fmt.record_spans(data, style, first=first)]

    def _write(self, new: NewStore, records: list[bytes]) -> None:
        """Write the next records; RefusedError for a key that was there before."""
        keys = self._keys(records)
        values = self._values(keys, records)
        stored = self._coder.pack(keys, values, verify=self._verify)
        changes: list[Change] = [*zip(keys, stored, strict=True)]
        if self._duplicates == "first":
            changes = [*dict(reversed(changes)).items()]
            changes = [each for each in reversed(changes) if new.store.get(each[0]) is None]
        try:
            new.write(changes, new=self._duplicates is None)
        except DuplicateKey as twice:
            raise RefusedError(
                f"record {self._records + twice.at}: the key {shown_key(keys[twice.at])}"
                " is that of a record before",
                hint="--duplicates first or last says which is kept",
            ) from None
        self._records += len(records)
        self._size += sum(map(len, values))
        self._stored += sum(map(len, stored))

    def _values(self, keys: Sequence[bytes], records: list[bytes]) -> Sequence[Buffer]:
        """What the serializer writes for records."""
        if self._as_it_is:
            return records
        values = self._reader.load(self._between_records.join(records))
        return serialized_all(self._coder, keys, values, self._verify)

    def _keys(self, records: list[bytes]) -> list[bytes]:
        """The keys of the next records, as they are stored; RefusedError."""
        numbers = range(self._records, self._records + len(records))
        if not self._path:
            return [*map(encoded_key, numbers)]
        most = self._name.kind.most_key
        keys = []
        for number, found in zip(numbers, self._fields(records), strict=True):
            try:
                keys.append(encoded_key(found, most))
            except RefusedError as error:
                error.message = f"record {number}: {error.message}"
                raise
        return keys

    def _fields(self, records: list[bytes]) -> list[Any]:
        """The field that is the key, of each record; RefusedError where one has none."""
        if self._quick is not None:
            try:
                return [*map(self._quick, records)]
            except ValueError:  # who says which it is looks at all of it
                pass
        with gc_paused():
            values = self._reader.load(self._between_records.join(records))
        found = []
        for number, value in enumerate(values, self._records):
            try:
                for step in self._path:
                    value = value[step]
            except (KeyError, TypeError, IndexError):
                raise RefusedError(
                    f"record {number} has no field {self._header.field}, which is to be its key",
                    hint="it is a list: unpack --to ndjson makes a record of each in it"
                    if type(value) is list
                    else "leave out --key, and its number is its key",
                ) from None
            found.append(value)
        return found


def _quickly(format: str, path: Sequence[str]) -> Callable[[bytes], Any] | None:
    """What reads the field at ``path`` out of one record, and goes over the rest of it.

    ValueError where there is none. None where the format has no such reader.
    """
    import msgspec

    decoders = {"msgpack": msgspec.msgpack.Decoder, "ndjson": msgspec.json.Decoder}
    if format not in decoders or not path:
        return None
    inner: Any = Any
    for step in reversed(path):
        inner = msgspec.defstruct("Keyed", [("field", inner)], rename={"field": step})
    decode = decoders[format](inner).decode
    get = attrgetter(".".join("field" for _ in path))
    return lambda record: get(decode(record))
