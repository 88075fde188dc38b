"""The header record of a store: what is needed to read every value in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import msgpack

from serialpack._version import __version__
from serialpack.auto.choice import choose
from serialpack.container.fields import decode_chain
from serialpack.container.frames import checksum
from serialpack.errors import DamagedError, UsageError, newer
from serialpack.pipeline.unpack import check_trust
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import RecordSerializer
from serialpack.stages.chain import Chain, chain_of_numbers
from serialpack.stores.base import KeyValueStore, foreign
from serialpack.stores.keys import HEADER_KEY

#: The version of the layout of header, keys and values.
VERSION = 1

#: What keys are: the mapping's own, which are in no value; the numbers of records; the values of a
#: field.
Keys = Literal["own", "number", "field"]

_CHECK = 8


class StoreHeader(NamedTuple):
    """What a store says of itself.

    ``settings``: of the serializer, as a schema; ``dictionary``: of zstd, for all values; empty
    where there is none. ``field``: where ``keys`` is "field", its name. ``format``: the format that
    the records came in; empty for a mapping. ``writer``: the version of serialpack.
    """

    chain: Chain
    settings: dict[str, Any] = {}  # noqa: RUF012 (never written to)
    dictionary: bytes = b""
    keys: Keys = "own"
    field: str = ""
    format: str = ""
    writer: str = ""

    def encode(self) -> bytes:
        """The header record: a map in MessagePack, with its checksum (XXH3-64) behind it."""
        fields = {"version": VERSION, **self._asdict(), "chain": self.chain.numbers}
        data: bytes = msgpack.packb(fields)
        return data + checksum(data).to_bytes(8, "little")

    @classmethod
    def decode(cls, data: bytes) -> StoreHeader:
        """The header in ``data``, a header record; DamagedError, UnsupportedError."""
        body = data[:-_CHECK]
        if checksum(body) != int.from_bytes(data[-_CHECK:], "little"):
            raise DamagedError("the header record of the store is damaged")
        try:
            fields = msgpack.unpackb(body)
            version, writer = fields.pop("version"), fields["writer"]
            if version != VERSION:
                raise newer(f"version {version} of stores", writer)
            chain = chain_of_numbers(decode_chain(fields.pop("chain"), 0), writer)
            return cls(chain, **fields)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise DamagedError(f"the header record of the store is malformed ({error})") from None


def header_of(store: KeyValueStore) -> StoreHeader:
    """The header of an open store; InputError where another program wrote it."""
    return header_record(store)[1]


def header_record(store: KeyValueStore) -> tuple[bytes, StoreHeader]:
    """The header record of an open store, as bytes, and the header; errors as of ``header_of``."""
    data = store.get(HEADER_KEY)
    if data is None:
        raise foreign(store.title)
    return data, StoreHeader.decode(data)


def new_header(chain: str, effort: int, options: Mapping[str, Any], *, trust: bool) -> StoreHeader:
    """The header of a new store; UsageError, RefusedError, MissingLibraryError.

    ``chain``: a serializer (``msgpack``) or a whole chain; what it leaves open, ``effort`` says.
    ``auto`` stands for msgpack and zstd, which suit small values. ``options``: what the serializer
    is told by name; ``trust``: see ``pipeline.unpack.check_trust``.
    """
    serializer, *filters = chain.split("+")
    codec = filters.pop() if filters else "auto"
    chosen = choose(
        "msgpack" if serializer == "auto" else serializer,
        tuple(filters),
        "zstd" if codec == "auto" else codec,
        effort=effort,
    ).chain
    cls = SERIALIZERS.cls(chosen.serializer.name)
    if not issubclass(cls, RecordSerializer) or cls.tabular:
        raise UsageError(
            f"{chosen.serializer.name} does not hold a value by itself",
            hint="msgpack, json or objects does",
        )
    check_trust(chosen, trust=trust)
    return StoreHeader(chosen, cls.settings(options), writer=__version__)
