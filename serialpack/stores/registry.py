"""The kinds of stores by the name that a URL begins with; a module is imported when it is used."""

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

#: The name of a kind of stores in a URL -> its class; one line for each.
STORES = {
    "sqlite-kv": "serialpack.stores.sqlite_kv:SqliteStore",
    "lmdb": "serialpack.stores.lmdb:LmdbStore",
    "tokyocabinet": "serialpack.stores.tokyocabinet:TokyoCabinetStore",
}

#: Bytes of a file by which a database is known.
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
    """The class of a kind of stores, by its name in a URL."""
    module, _, attribute = STORES[name].partition(":")
    return cast("type[KeyValueStore]", getattr(importlib.import_module(module), attribute))


def store_named(url: str) -> StoreName:
    """The store that ``url`` names; UsageError, MissingLibraryError."""
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
    """The URL of the store in the file at ``path``, which begins with ``begins``; None where that
    is no store of ours in a database."""
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
    """Make errors that name no file yet name the store at ``url``."""
    try:
        yield
    except SerialpackError as error:
        error.path = error.path or url
        raise
