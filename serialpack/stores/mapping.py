"""``store``: a key-value store as a mapping, whose values are Python objects."""

from __future__ import annotations

import os
from collections.abc import (
    ItemsView,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
    ValuesView,
)
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Literal, get_args

from serialpack.checked import checked
from serialpack.collector import gc_paused
from serialpack.errors import (
    DamagedError,
    RefusedError,
    UsageError,
)
from serialpack.files.source import Path
from serialpack.serializers.base import FAILURES
from serialpack.serializers.one_object import NotTaken, dumped, proved
from serialpack.stages.effort import DEFAULT_EFFORT
from serialpack.stages.stage import Buffer
from serialpack.stores.base import Change, KeyValueStore, StoreChanged
from serialpack.stores.header import StoreHeader, header_record, new_header
from serialpack.stores.keys import HEADER_KEY, Key, decoded_key, encoded_key, shown_key
from serialpack.stores.new import NewStore, check_new
from serialpack.stores.registry import StoreName, named_after, opened_store, store_named
from serialpack.stores.values import ValueCoder, cut_records, trained
from serialpack.values.quick_equality import quickly_same

#: As ``dbm`` has them: read; write; write, and make it where it is not there; make it anew.
Flag = Literal["r", "w", "c", "n"]

#: The most values that are serialized, proved and written together.
_TOGETHER = 1000


class Store(MutableMapping[Key, Any]):
    """A store as a mapping: keys are text or integers of 64 bits, values are Python objects. Made
    by ``store``.

    A value is read each time when it is asked for. To change a value in place changes nothing in
    the store: assign it again. Keys come in the store's own order; it must not be changed during
    that. Only one thread may use it at a time.
    """

    def __init__(
        self, name: StoreName, store: KeyValueStore, *, writable: bool, trust: bool, verify: bool
    ) -> None:
        self._name = name
        self._writable = writable
        self._store: KeyValueStore | None = store
        self._trust = trust
        self._verify = verify
        self._changes: dict[bytes, bytes | None] | None = None
        try:
            self._know()
        except BaseException:
            store.close()
            raise

    @property
    def header(self) -> StoreHeader:
        """What the store says of itself: its chain, its dictionary, whose its keys are."""
        return self._header

    def __getitem__(self, key: Key) -> Any:
        """The value of ``key``; KeyError, DamagedError."""
        data = self._key(key)
        with self._named():
            stored = self._stored(data)
            if stored is None:
                raise KeyError(key)
            return self._load(data, stored)

    def __setitem__(self, key: Key, value: Any) -> None:
        """Serialize, prove and write a value; ValueRefusedError, FileError, RefusedError."""
        self.update({key: value})

    def __delitem__(self, key: Key) -> None:
        data = self._key(key)
        with self._named():
            if self._stored(data) is None:
                raise KeyError(key)
            self._write([(data, None)])

    def __contains__(self, key: object) -> bool:
        with self._named():
            try:
                return self._stored(self._key(key)) is not None
            except RefusedError:  # not a key of any store
                return False

    def __iter__(self) -> Iterator[Key]:
        return (key for key, _ in self._pairs(values=False))

    def __len__(self) -> int:
        with self._named():
            count = len(self._open) - 1
            for key, value in (self._changes or {}).items():
                count += (value is not None) - (self._open.get(key) is not None)
            return count

    def __repr__(self) -> str:
        return f"<serialpack store {self._name.url}, {self._header.chain}>"

    def values(self) -> ValuesView[Any]:
        return _Values(self)

    def items(self) -> ItemsView[Key, Any]:
        return _Items(self)

    def update(self, *others: Any, **more: Any) -> None:
        """As ``dict.update``, in one transaction."""
        pairs: dict[Key, Any] = {}
        MutableMapping.update(pairs, *others, **more)
        with self._named():
            try:
                self._put(pairs)
            except StoreChanged:
                self._know()
                self._put(pairs)

    def clear(self) -> None:
        """Delete all values, in one transaction."""
        with self._named():
            self._write([(self._key(key), None) for key in self])

    @contextmanager
    def transaction(self) -> Iterator[Store]:
        """``with store.transaction():`` all changes within the block are written together at its
        end.

        If an error, or the end of the process, comes before that, none of them is written. Until
        the end they are kept in memory; reading within the block sees them.
        """
        if self._changes is not None:
            raise UsageError("a transaction within a transaction")
        self._changes = {}
        try:
            yield self
            changes, self._changes = self._changes, None
            with self._named():
                self._write(list(changes.items()))
        finally:
            self._changes = None

    def close(self) -> None:
        """Close the store; nothing can be read any more. Closing it again does nothing."""
        store, self._store = self._store, None
        if store is not None:
            store.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _open(self) -> KeyValueStore:
        if self._store is None:
            raise ValueError("the store is closed")
        return self._store

    def _key(self, key: object) -> bytes:
        return encoded_key(key, self._name.kind.most_key)

    def _stored(self, key: bytes) -> bytes | None:
        if self._changes is not None and key in self._changes:
            return self._changes[key]
        return self._open.get(key)

    def _pairs(self, *, values: bool) -> Iterator[tuple[Key, Any]]:
        """The keys, with their values where these are asked for."""
        changes = self._changes or {}
        found: Iterable[Change] = (
            self._open.items()
            if values
            else (
                (key, b"")
                for key in self._open.keys()  # noqa: SIM118  (it is no mapping)
            )
        )
        with self._named():
            for key, stored in found:
                if key != HEADER_KEY and key not in changes:
                    yield self._pair(key, stored, values=values)
            for key, stored in changes.items():
                if stored is not None:
                    yield self._pair(key, stored, values=values)

    def _pair(self, key: bytes, stored: bytes | None, *, values: bool) -> tuple[Key, Any]:
        try:
            decoded = decoded_key(key)
        except ValueError:
            raise DamagedError(f"a key is damaged: {key!r}") from None
        return decoded, self._load(key, stored or b"") if values else None

    def _put(self, pairs: Mapping[Key, Any]) -> None:
        """Serialize, prove, compress and write ``pairs``; StoreChanged where another process has
        given the store a shared dictionary meanwhile."""
        keys = [self._key(key) for key in pairs]
        values = [*pairs.values()]
        coder, header = self._coder, None
        found: list[Change] = []
        for at in range(0, len(keys), _TOGETHER):
            some = keys[at : at + _TOGETHER]
            data = serialized_all(coder, some, values[at : at + _TOGETHER], self._verify)
            if not at and (header := self._trained(data, len(keys))) is not None:
                coder = ValueCoder(header, trust=True)
            found += zip(some, coder.pack(some, data, verify=self._verify), strict=True)
        if header is None:
            self._write(found)
        else:  # in one transaction: without the dictionary in the header, the values cannot be read
            self._write([(HEADER_KEY, header.encode()), *found], where=(HEADER_KEY, self._record))
            self._know()

    def _trained(self, data: list[Buffer], count: int) -> StoreHeader | None:
        """The header with a new shared dictionary, trained on ``data``, the first of ``count``
        values that are written together; None where the store is not empty, or a dictionary does
        not pay."""
        header = self._header
        if header.chain.codec.name != "zstd" or header.chain.filters or header.dictionary:
            return None
        if self._changes is not None or len(self):
            return None
        total = sum(map(len, data)) * count // max(len(data), 1)
        dictionary = trained(data, total, header.chain.codec.values[0])
        return header._replace(dictionary=dictionary) if dictionary else None

    def _know(self) -> None:
        """Read the header of the store, which another process may have changed."""
        self._record, self._header = header_record(self._open)
        self._coder = ValueCoder(self._header, trust=self._trust)

    def _load(self, key: bytes, stored: bytes) -> Any:
        try:
            return self._coder.load(key, stored)
        except DamagedError:
            if self._open.get(HEADER_KEY) == self._record:
                raise
        self._know()  # the header changed: another process gave the store a dictionary
        return self._coder.load(key, stored)

    def _write(self, changes: list[Change], where: Change | None = None) -> None:
        if self._changes is not None:
            self._changes.update(changes)
        elif changes and not self._writable:
            raise UsageError("the store is opened to be read", hint='flag "w" or "c" writes')
        elif changes:
            self._open.write(changes, where=where)

    def _named(self) -> AbstractContextManager[None]:
        return named_after(self._name.url)


class _Items(ItemsView[Key, Any]):
    """Keys and values, read once each."""

    _mapping: Store

    def __iter__(self) -> Iterator[tuple[Key, Any]]:
        return self._mapping._pairs(values=True)


class _Values(ValuesView[Any]):
    _mapping: Store

    def __iter__(self) -> Iterator[Any]:
        return (value for _, value in self._mapping._pairs(values=True))


def serialized_all(
    coder: ValueCoder, keys: Sequence[bytes], values: list[Any], verify: bool
) -> list[Buffer]:
    """Each of ``values`` serialized, and with ``verify`` proved.

    All are serialized and compared together, which is quick; only if that does not find all of them
    the same, each is by itself. ValueRefusedError, which names the key.
    """
    serializer = coder.serializer
    try:
        with gc_paused():
            data = serializer.dump(values)
            cut = cut_records(serializer, data)
            if len(cut) == len(values) and (
                not verify
                or quickly_same(values, serializer.load(data), identity=serializer.identity)
            ):
                return [*cut]
    except (*FAILURES, UsageError):
        pass
    found: list[Buffer] = []
    for key, value in zip(keys, values, strict=True):
        try:
            alone = dumped(serializer, value)
            if verify:
                alone = proved(serializer, value, value, alone, None)
        except NotTaken as failed:
            raise _of_key(failed.refusal(), key) from None
        except RefusedError as error:
            raise _of_key(error, key) from None
        found.append(alone[0] if len(alone) == 1 else b"".join(alone))
    return found


def _of_key(error: RefusedError, key: bytes) -> RefusedError:
    error.message = f"the value of the key {shown_key(key)}: {error.message}"
    return error


#: The serializer of a new store, if none is named: it holds Python's own types, and is safe to
#: read.
DEFAULT_CHAIN = "objects"


@checked
def store(
    url: Path,
    flag: Flag = "c",
    chain: str = DEFAULT_CHAIN,
    *,
    effort: int = DEFAULT_EFFORT,
    options: Mapping[str, Any] | None = None,
    trust: bool = False,
    verify: bool = True,
    timeout: float = 5.0,
    force: bool = False,
) -> Store:
    """The store at ``url`` as a mapping: text and integers to Python objects.

    ``url``: ``sqlite-kv://PATH``, ``lmdb://PATH``, ``tokyocabinet://PATH.tch`` or ``.tcb``, or in
    memory ``tokyocabinet://*`` and ``tokyocabinet://+``.
    ``flag``: ``"r"`` to read, ``"w"`` to read and write, ``"c"`` the same, and made where it is
    not there, ``"n"`` made anew; with ``force`` over what is there.
    ``chain`` and ``effort`` are for a new one: as for ``dump``, a serializer (``"msgpack"``) or a
    whole chain (``"json+lz4"``); what is there has its own. ``options``: what the serializer asks
    for by name (``schema`` and ``message``).
    ``trust``: also one whose values can run code that is in them (pickle). Each value is read back
    and compared, strictly, before it is written; ``verify=False`` skips that. ``timeout``: seconds
    to wait for another process that has it locked.

    Raises FileError (also a FileNotFoundError, FileExistsError), InputError for a file of another
    program, DamagedError, RefusedError, UsageError, MissingLibraryError.

    >>> import serialpack
    >>> with serialpack.store("sqlite-kv://people.db") as people:
    ...     people["ada"] = {"born": 1815, "met": ("Babbage",)}
    ...     people["ada"]
    {'born': 1815, 'met': ('Babbage',)}
    """
    name = store_named(os.fspath(url))
    if flag not in get_args(Flag):
        raise UsageError(f"flag {flag!r} is none", hint=", ".join(map(repr, get_args(Flag))))
    with named_after(name.url):
        there = os.path.exists(name.path) and not name.in_memory
        if flag == "n" or (flag == "c" and not there):
            header = new_header(chain, effort, options or {}, trust=trust)
            if name.in_memory:
                opened = name.kind(name.path, "n", timeout)
                opened.write([(HEADER_KEY, header.encode())])
                return Store(name, opened, writable=True, trust=trust, verify=verify)
            check_new(name, force=force)
            with NewStore(name, header, force=force):
                pass
        opened = opened_store(name, "r" if flag == "r" else "w", timeout)
        return Store(name, opened, writable=flag != "r", trust=trust, verify=verify)
