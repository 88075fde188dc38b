"""What a key-value store promises: bytes under keys of bytes, changed in transactions.

``open`` is given the path of a file and how it is opened:

- ``r``: to be read, ``w``: to be changed as well. It is there, and one of this kind; whether it is
  one of serialpack, who opens it asks.
- ``n``: an empty file, which nobody else knows of yet, becomes one. Nothing need survive a crash
  before ``close``.

Libraries' errors are translated: FileError for what the system or another process denies,
InputError for a file that is none of this kind, or is damaged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from typing import ClassVar, Literal

from serialpack.errors import FileError, InputError
from serialpack.files.source import file_error

Mode = Literal["r", "w", "n"]

#: A key, and the value that it is to have; None: the key is to be gone.
Change = tuple[bytes, bytes | None]


class DuplicateKey(Exception):
    """A key that was to be new is there. ``at``: its place among those that were given."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


class StoreChanged(Exception):
    """Another process has changed a value that was to be as before."""


class KeyValueStore(ABC):
    """An open store. Not for several threads at a time."""

    #: What a person calls it.
    title: ClassVar[str]
    #: One line on what it is good for.
    about: ClassVar[str]
    #: What the names of its files end in; empty: in anything.
    endings: ClassVar[tuple[str, ...]] = ()
    #: What the library adds to a store's name for the files that it keeps beside it.
    beside: ClassVar[tuple[str, ...]] = ()
    #: The most bytes that a key may have; None: any number.
    most_key: ClassVar[int | None] = None
    #: Whether ``items`` come in an order: that of writing, or that of keys.
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
        """Open it; ``timeout``: seconds to wait for another process that writes to it.

        ``ending``: for a new file that is hidden yet, which of ``endings`` its name will have.
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
        """Make all ``changes``, in their order, or none of them: one transaction.

        ``new``: all of them add a key, and DuplicateKey where one is there. ``where``: they are
        made only while that key has that value (None: is not there), else StoreChanged.
        """

    @abstractmethod
    def close(self) -> None:
        """Close it, once; in mode ``n`` all of it is in the file then."""

    def _check(self, where: Change | None) -> None:
        """StoreChanged where ``where`` does not hold; called where nobody else can write."""
        if where is not None and self.get(where[0]) != where[1]:
            raise StoreChanged

    def _duplicate(self, changes: Sequence[Change]) -> DuplicateKey:
        """The error for the first key of ``changes`` that is not new, after none of them was
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
    """InputError where none of ``wanted``, all as long, stands at ``at`` in the file ``path``."""
    try:
        with open(path, "rb") as file:
            file.seek(at)
            found = file.read(len(next(iter(wanted))))
    except OSError as error:
        raise file_error(error, path, "read") from error
    if found not in wanted:
        raise foreign(title)
