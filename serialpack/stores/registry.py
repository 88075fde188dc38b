"""The kinds of stores, by the scheme of their URLs. The module of a kind is imported when it is
used."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, cast

from serialpack.errors import MissingFileError, MissingLibraryError, SerialpackError, UsageError
from serialpack.far import is_store
from serialpack.formats import FORMATS
from serialpack.stores.base import KeyValueStore, Mode

#: The scheme of a URL -> the class of that kind of store; one line for each.
STORES = {
    "sqlite-kv": "serialpack.stores.sqlite_kv:SqliteStore",
    "lmdb": "serialpack.stores.lmdb:LmdbStore",
    "tokyocabinet": "serialpack.stores.tokyocabinet:TokyoCabinetStore",
}

#: How many bytes at the front of a file tell whether it is a database.
_MAGIC = 16


class StoreName(NamedTuple):
    """What the URL of a store says: its kind, and the path of its file."""

    url: str
    kind: type[KeyValueStore]
    path: str

    @property
    def in_memory(self) -> bool:
        return self.kind.in_memory(self.path)


def store_kind(name: str) -> type[KeyValueStore]:
    """The class for the scheme ``name``."""
    module, _, attribute = STORES[name].partition(":")
    return cast("type[KeyValueStore]", getattr(importlib.import_module(module), attribute))


def store_named(url: str) -> StoreName:
    """What ``url`` says; UsageError where it is no URL of a store, MissingLibraryError."""
    if not is_store(url):
        raise UsageError(f"{url!r} names no store", hint=f"{', '.join(STORES)}, each with ://PATH")
    name, _, path = url.partition("://")
    kind = store_kind(name)
    if not path:
        raise UsageError(f"{url} has no path", hint=f"{name}://PATH{(*kind.endings, '')[0]}")
    if kind.endings and not (path.endswith(kind.endings) or kind.in_memory(path)):
        raise UsageError(
            f"{url}: the name of its file says of which kind it is",
            hint=" or ".join(f"{name}://NAME{ending}" for ending in kind.endings),
        )
    if (install := kind.missing()) is not None:
        raise MissingLibraryError(f"{kind.title} is not installed", hint=install, path=url)
    return StoreName(url, kind, path)


def store_in(path: str, begins: bytes) -> str | None:
    """The URL of the store that the file at ``path`` is, if it is a database that serialpack has
    written as a store; else None. ``begins``: its first bytes."""
    found = FORMATS.by_magic(begins[:_MAGIC])
    if found is None or not found.is_database:
        return None
    from serialpack.stores.sqlite_kv import is_store_file

    return f"sqlite-kv://{path}" if is_store_file(path) else None


def opened_store(name: StoreName, mode: Mode, timeout: float = 5.0) -> KeyValueStore:
    """The store called ``name``, opened; FileError, InputError where there is none."""
    if name.in_memory:
        raise UsageError("a store in memory is only in the process that made it", path=name.url)
    if not os.path.exists(name.path):
        raise MissingFileError("there is no such store", path=name.url)
    return name.kind(name.path, mode, timeout)


@contextmanager
def named_after(url: str) -> Iterator[None]:
    """Within this block, errors that name no file are made to name ``url``."""
    try:
        yield
    except SerialpackError as error:
        error.path = error.path or url
        raise
