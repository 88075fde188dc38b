"""What each kind of key-value store must do: keep bytes under keys of bytes, in transactions.

A store is opened by the path of its file and a mode:

- ``r``: to read, ``w``: to read and change it. The file exists, and is a store of this kind; the
  caller checks whether serialpack has written it (by its header record)
- ``n``: to make a new one of an empty file, of which nobody else knows yet. Nothing need survive a
  crash before ``close``

Errors of the libraries become ours: FileError for what the system or another process denies,
InputError for a file that is no store of this kind, or is damaged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from typing import ClassVar, Literal

from serialpack.errors import FileError, InputError
from serialpack.files.source import file_error

Mode = Literal["r", "w", "n"]

#: A key and its new value; None: the key is to be deleted.
Change = tuple[bytes, bytes | None]


class DuplicateKey(Exception):
    """A key that was to be new exists. ``at``: its place among the changes that were given."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


class StoreChanged(Exception):
    """The condition of a write does not hold: another process has changed that value."""


class KeyValueStore(ABC):
    """An open store. Only one thread may use it at a time."""

    #: Its name in messages.
    title: ClassVar[str]
    #: One line on what it is good for.
    about: ClassVar[str]
    #: The extensions that its files must have, one of these; empty: any.
    endings: ClassVar[tuple[str, ...]] = ()
    #: The endings of the names of files that the library keeps beside a store.
    beside: ClassVar[tuple[str, ...]] = ()
    #: The most bytes of a key; None: any number.
    most_key: ClassVar[int | None] = None
    #: Whether ``items`` come in an order, that in which they were written or that of keys.
    has_order: bool = True

    @classmethod
    def missing(cls) -> str | None:
        """How to install the library that it needs; None where that is here."""
        return None

    @classmethod
    def in_memory(cls, path: str) -> bool:  # noqa: ARG003
        """Whether ``path`` names no file, but a store in memory."""
        return False

    @abstractmethod
    def __init__(self, path: str, mode: Mode, timeout: float, ending: str = "") -> None:
        """Open the store at ``path``. ``timeout``: seconds to wait for another process that is
        writing to it; ``ending``: for a new store, whose file has a hidden name yet, the extension
        that it will have.
        """

    @abstractmethod
    def __len__(self) -> int:
        """How many keys there are."""

    @abstractmethod
    def get(self, key: bytes) -> bytes | None:
        """The value of a key; None where that is not there."""

    @abstractmethod
    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """All keys and values. It must not be changed meanwhile."""

    def keys(self) -> Iterator[bytes]:
        """All keys, in the order of ``items``."""
        return (key for key, _ in self.items())

    @abstractmethod
    def write(
        self, changes: Sequence[Change], *, new: bool = False, where: Change | None = None
    ) -> None:
        """Make all ``changes``, in their order, or none of them, in one transaction.

        ``new``: each of them adds a key; DuplicateKey where one exists. ``where``: StoreChanged
        unless that key has that value (None: does not exist).
        """

    @abstractmethod
    def close(self) -> None:
        """Close the store; called once. In mode ``n``, all of it must be in the file then."""

    def _check(self, where: Change | None) -> None:
        """StoreChanged where the condition ``where`` does not hold. Called while no other process
        can write."""
        if where is not None and self.get(where[0]) != where[1]:
            raise StoreChanged

    def _duplicate(self, changes: Sequence[Change]) -> DuplicateKey:
        """The error for the first key of ``changes`` that is not new. Called when none of them was
        made."""
        seen: set[bytes] = set()
        for at, (key, _) in enumerate(changes):
            if key in seen or self.get(key) is not None:
                return DuplicateKey(at)
            seen.add(key)
        raise AssertionError("each of the keys is new")


def locked() -> FileError:
    """The error for a store that another process is writing to."""
    return FileError("is locked by another process", hint="try again when that is done")


def foreign(title: str, hint: str | None = None) -> InputError:
    """The error for a file that is no store of this kind."""
    return InputError(f"is no {title} store of serialpack", hint=hint)


def check_first_bytes(path: str, wanted: Collection[bytes], at: int, title: str) -> None:
    """InputError where none of ``wanted``, which all have the same length, stands at byte ``at`` of
    the file ``path``; ``title``: of the kind of store, for the error."""
    try:
        with open(path, "rb") as file:
            file.seek(at)
            found = file.read(len(next(iter(wanted))))
    except OSError as error:
        raise file_error(error, path, "read") from error
    if found not in wanted:
        raise foreign(title)
