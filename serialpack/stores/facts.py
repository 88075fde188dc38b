"""What ``inspect`` tells of a store."""

from __future__ import annotations

import os
from typing import NamedTuple

from serialpack.errors import DamagedError
from serialpack.stores.header import header_of
from serialpack.stores.keys import HEADER_KEY, decoded_key, shown_key
from serialpack.stores.registry import named_after, opened_store, store_named
from serialpack.stores.values import restored_size


class StoreFacts(NamedTuple):
    """What ``inspect`` tells of a store; all sizes are in bytes.

    ``kind``: its title; ``values``: how many there are; ``keys``: what they are (``header.Keys``),
    ``field``: the field whose values they are, ``text_keys`` and ``integer_keys``: how many of
    each. ``dictionary``: size of the shared dictionary; ``size``: of all serialized values,
    ``stored``: of what is stored for them, ``largest``: of the largest serialized one; ``file``: of
    the store's file.
    """

    kind: str
    values: int
    keys: str
    field: str
    text_keys: int
    integer_keys: int
    chain: str
    dictionary: int
    size: int
    stored: int
    largest: int
    file: int
    format: str
    writer: str


def facts_of(url: str) -> StoreFacts:
    """The facts of the store at ``url``. All of it is read, but nothing is decompressed."""
    name = store_named(url)
    with named_after(url):
        store = opened_store(name, "r")
        try:
            header = header_of(store)
            count = text = size = stored = largest = 0
            for key, value in store.items():
                if key == HEADER_KEY:
                    continue
                try:
                    text += isinstance(decoded_key(key), str)
                except ValueError:
                    raise DamagedError(f"the key {shown_key(key)} is damaged") from None
                restored = restored_size(value)
                count += 1
                size += restored
                stored += len(value)
                largest = max(largest, restored)
        finally:
            store.close()
    return StoreFacts(
        kind=name.kind.title,
        values=count,
        keys=header.keys,
        field=header.field,
        text_keys=text,
        integer_keys=count - text,
        chain=str(header.chain),
        dictionary=len(header.dictionary),
        size=size,
        stored=stored,
        largest=largest,
        file=os.path.getsize(name.path),
        format=header.format,
        writer=header.writer,
    )
