"""Tokyo Cabinet, a hash table or a B+ tree, through its C library, where that is installed.

``NAME.tch`` is a hash table, ``NAME.tcb`` a B+ tree; ``*`` is a hash table in memory, ``+`` a tree.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from ctypes import (
    CDLL,
    byref,
    c_bool,
    c_char_p,
    c_int,
    c_int8,
    c_int64,
    c_uint8,
    c_uint64,
    c_void_p,
    string_at,
)
from ctypes.util import find_library
from functools import cache
from math import inf
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple

from serialpack.errors import FileError
from serialpack.files.source import file_error
from serialpack.stores.base import (
    Change,
    DuplicateKey,
    KeyValueStore,
    Mode,
    check_first_bytes,
    foreign,
    locked,
)

#: The flags with which a file is opened (``tchdb.h``; ``tcbdb.h`` has the same numbers).
_READ, _WRITE, _CREATE, _TRUNCATE, _NO_LOCK, _LOCK_AT_ONCE, _SYNC = (1 << n for n in range(7))
#: The option for 64-bit offsets: a file may be larger than 2 GiB.
_LARGE = 1
#: The library's error codes (``tcutil.h``) -> the system's; the codes for a file that is no
#: database, or damaged; and that for a file that another process has locked.
_ERRNO = {3: errno.ENOENT, 4: errno.EACCES}
_FOREIGN = {5, 6}
_LOCK = 16

_MAGIC = b"ToKyO CaBiNeT\n"

#: The length of a file's header in bytes; where in it are its flags, of which one says that a
#: writer has the file open, and the file's length. The log holds that length, and then for each
#: piece of the file its offset, its length and its bytes as they were (``tchdb.c``). Numbers are
#: in the order of bytes that the library was built for.
_HEADER, _FLAGS, _OPEN, _LENGTH = 256, 33, 1, slice(56, 64)

#: The end of a path -> the prefix of the library's functions for that kind.
_KINDS = {".tch": "tchdb", ".tcb": "tcbdb", "*": "tcmdb", "+": "tcndb"}

#: How many bytes must be free on the disk beyond what is written. The library writes to mapped
#: memory: there a full disk raises no error, but kills the process by a signal. So room is checked
#: before.
_SPARE = 4 << 20


class TokyoCabinetStore(KeyValueStore):
    """A hash table, whose items come in no order, or a B+ tree, whose items come in the order of
    keys."""

    title = "Tokyo Cabinet"
    about = "a hash table or a B+ tree, on disk or in memory; through its C library"
    endings = (".tch", ".tcb")
    beside = (".wal",)

    @classmethod
    def missing(cls) -> str | None:
        return None if find_library("tokyocabinet") else "apt-get install libtokyocabinet9"

    @classmethod
    def in_memory(cls, path: str) -> bool:
        return path in ("*", "+")

    def __init__(self, path: str, mode: Mode, timeout: float, ending: str = "") -> None:
        """As of ``KeyValueStore``; the ``ending`` says whether a new store is a hash table or a
        tree."""
        self._path = path
        self._on_disk = not self.in_memory(path)
        self._has_transactions = self._on_disk and mode != "n"
        self._has_log = False
        self._file: int | None = None
        if self._on_disk and mode != "n":
            check_first_bytes(path, [_MAGIC], 0, self.title)
        self._calls = _calls(_KINDS[ending or (path[-4:] if self._on_disk else path)])
        self.has_order = self._calls.cursor is not None
        self._store = self._calls.new()
        if self._on_disk:
            try:
                self._open(mode, timeout)
            except BaseException:
                self._let_go()
                raise

    def _open(self, mode: Mode, timeout: float) -> None:
        """Open the file, and wait for whoever has locked it as long as ``timeout`` (seconds)
        says."""
        how = {
            "r": _READ | _LOCK_AT_ONCE,
            "w": _WRITE | _LOCK_AT_ONCE | _SYNC,
            "n": _WRITE | _CREATE | _TRUNCATE | _NO_LOCK,
        }[mode]
        if self.has_order and mode == "w":
            # Whoever closes a file gives up what locks the process has on it: not before the end.
            self._file = os.open(self._path, os.O_RDONLY)
        self._calls.tune(self._store)
        until = monotonic() + timeout
        while not self._calls.open(self._store, os.fsencode(self._path), how):
            if self._calls.ecode(self._store) != _LOCK or monotonic() > until:
                raise self._error()
            sleep(0.01)

    def __len__(self) -> int:
        return int(self._calls.rnum(self._store))

    def get(self, key: bytes) -> bytes | None:
        size = c_int()
        return _taken(self._calls.get(self._store, key, len(key), byref(size)), size)

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        for key in self.keys():
            value = self.get(key)
            if value is not None:
                yield key, value

    def keys(self) -> Iterator[bytes]:
        size = c_int()
        if self._calls.cursor is not None:
            yield from self._in_order(self._calls.cursor)
            return
        self._calls.iterinit(self._store)
        while (key := _taken(self._calls.iternext(self._store, byref(size)), size)) is not None:
            yield key

    def _in_order(self, calls: _CursorCalls) -> Iterator[bytes]:
        """The keys in their order, for kinds of stores that have one."""
        size, cursor = c_int(), calls.new(self._store)
        try:
            there = calls.first(cursor)
            while there and (key := _taken(calls.key(cursor, byref(size)), size)) is not None:
                yield key
                there = calls.next(cursor)
        finally:
            calls.delete(cursor)

    def write(
        self, changes: Sequence[Change], *, new: bool = False, where: Change | None = None
    ) -> None:
        self._check(where)  # a writer has locked the file, so nobody else can write
        if self._on_disk:
            self._check_room(changes)
        if self._has_transactions:
            self._log_header()
            if not self._calls.tranbegin(self._store):
                raise self._error()
            self._has_log = True
        try:
            self._change(changes, new=new)
            if self._has_transactions and not self._calls.trancommit(self._store):
                raise self._error()
        except BaseException:
            if self._has_transactions:
                self._calls.tranabort(self._store)
            raise

    def _change(self, changes: Sequence[Change], *, new: bool) -> None:
        """Make the changes, in a transaction or not. DuplicateKey where a ``new`` key is there."""
        put = self._calls.putkeep if new else self._calls.put
        store, out = self._store, self._calls.out
        for at, (key, value) in enumerate(changes):
            if value is None:
                out(store, key, len(key))
            elif not put(store, key, len(key), value, len(value)):
                if new and self.get(key) is not None:
                    raise DuplicateKey(at)
                raise self._error()

    def _check_room(self, changes: Sequence[Change]) -> None:
        """FileError where the disk may have no room for ``changes`` and their log."""
        size = sum(len(key) + len(value or b"") + 64 for key, value in changes)
        if _room(self._path) < 3 * size + _SPARE:
            raise _system_error(errno.ENOSPC, "write")

    def _log_header(self) -> None:
        """Write the log as it is where a transaction has changed nothing yet: the file's header.

        A tree clears what its header says of it, and writes it anew, before each transaction and
        when it is closed, while the library's own log is empty: a process killed in between would
        leave a tree without a root. The log that is here then is played back by the next one.
        """
        if self._file is None:
            return
        header = bytearray(os.pread(self._file, _HEADER, 0))
        header[_FLAGS] &= ~_OPEN
        length = bytes(header[_LENGTH])
        is_little = int.from_bytes(length, "little") <= os.fstat(self._file).st_size
        log = length + bytes(8) + _HEADER.to_bytes(4, "little" if is_little else "big") + header
        with suppress(OSError):  # the library says it, as its own log has the same name
            Path(self._path + self.beside[0]).write_bytes(log)

    def close(self) -> None:
        error = None
        if self._has_log:  # closing removes it, while the file is locked
            self._log_header()
        if self._on_disk and not self._calls.close(self._store):
            error = self._error()
        self._let_go()
        if error is not None:
            raise error

    def _let_go(self) -> None:
        """Free what the library and the system hold of the store."""
        self._calls.delete(self._store)
        if self._file is not None:
            os.close(self._file)

    def _error(self) -> Exception:
        """The error that the library has noted last, as one of ours."""
        code = self._calls.ecode(self._store)
        if code == _LOCK:
            return locked()
        if code in _FOREIGN:
            return foreign(self.title)
        if code in _ERRNO:
            return _system_error(_ERRNO[code], "open")
        return FileError(f"Tokyo Cabinet: {self._calls.errmsg(code).decode()}")


def _system_error(number: int, doing: str) -> FileError:
    return file_error(OSError(number, os.strerror(number)), "", doing)


def _room(path: str) -> float:
    """How many bytes a file at ``path`` may grow by, as far as the system tells."""
    if not hasattr(os, "statvfs"):
        return inf
    import resource

    disk = os.statvfs(path)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    allowed = inf if limit == resource.RLIM_INFINITY else limit - os.path.getsize(path)
    return min(disk.f_bavail * disk.f_frsize, allowed)


class _CursorCalls(NamedTuple):
    """The functions of the library for a cursor of a B+ tree."""

    new: Any
    first: Any
    key: Any
    next: Any
    delete: Any


class _Calls(NamedTuple):
    """The functions of the library for one kind of database, named as ``tchdb.h`` names those for
    hash tables. Databases in memory have no functions to open, for errors and for transactions.
    """

    new: Any
    delete: Any
    put: Any
    putkeep: Any
    out: Any
    get: Any
    rnum: Any
    iterinit: Any
    iternext: Any
    tune: Any = None
    open: Any = None
    close: Any = None
    ecode: Any = None
    errmsg: Any = None
    tranbegin: Any = None
    trancommit: Any = None
    tranabort: Any = None
    cursor: _CursorCalls | None = None


@cache
def _library() -> CDLL:
    return CDLL(find_library("tokyocabinet"))


def _declared(name: str, result: Any, *arguments: Any) -> Any:
    """The function ``name`` of the library, with the types of its result and its arguments."""
    function = _library()[name]
    function.restype, function.argtypes = result, arguments
    return function


@cache
def _calls(kind: str) -> _Calls:
    """The functions of the library for a ``kind`` of store, by which theirs begin: ``tchdb``,
    say."""
    record = (c_void_p, c_char_p, c_int)
    value, size = (c_char_p, c_int), c_void_p
    is_tree, on_disk = kind == "tcbdb", kind in ("tchdb", "tcbdb")

    def of(name: str, result: Any, *arguments: Any) -> Any:
        return _declared(kind + name, result, *arguments)

    put = of("put", c_bool if on_disk else None, *record, *value)
    calls = _Calls(
        new=of("new", c_void_p),
        delete=of("del", None, c_void_p),
        put=put if on_disk else lambda *given: put(*given) is None,
        putkeep=of("putkeep", c_bool, *record, *value),
        out=of("out", c_bool, *record),
        get=of("get", c_void_p, *record, size),
        rnum=of("rnum", c_uint64, c_void_p),
        iterinit=None if is_tree else of("iterinit", None, c_void_p),
        iternext=None if is_tree else of("iternext", c_void_p, c_void_p, size),
    )
    if not on_disk:
        return calls
    numbers = (c_int64, c_int8, c_int8, c_uint8)
    tune = of("tune", c_bool, c_void_p, *((c_int, c_int) if is_tree else ()), *numbers)
    usual = (0, 0) if is_tree else ()
    calls = calls._replace(
        tune=lambda store: tune(store, *usual, 0, -1, -1, _LARGE),
        open=of("open", c_bool, c_void_p, c_char_p, c_int),
        close=of("close", c_bool, c_void_p),
        ecode=of("ecode", c_int, c_void_p),
        errmsg=of("errmsg", c_char_p, c_int),
        tranbegin=of("tranbegin", c_bool, c_void_p),
        trancommit=of("trancommit", c_bool, c_void_p),
        tranabort=of("tranabort", c_bool, c_void_p),
    )
    if not is_tree:
        return calls
    cursor = _CursorCalls(
        new=of("curnew", c_void_p, c_void_p),
        first=of("curfirst", c_bool, c_void_p),
        key=of("curkey", c_void_p, c_void_p, size),
        next=of("curnext", c_bool, c_void_p),
        delete=of("curdel", None, c_void_p),
    )
    return calls._replace(cursor=cursor)


@cache
def _free() -> Any:
    return _declared("tcfree", None, c_void_p)


def _taken(found: int | None, size: c_int) -> bytes | None:
    """A copy of the ``size`` bytes at the address ``found``, whose memory, the library's, is freed.
    None where nothing was found."""
    if not found:
        return None
    data = string_at(found, size.value)
    _free()(found)
    return data
