"""Pickles as a source: Python's own format, one pickle after another, each of them a record."""

from __future__ import annotations

from functools import cache
from typing import Any

from serialpack.formats._document import Malformed
from serialpack.formats._frames import frames_for
from serialpack.formats._pickleops import count_pickles
from serialpack.formats._unsafe import UnsafeFormat
from serialpack.formats.base import SourceBlock, Spelling
from serialpack.stage import Buffer

PROTOCOL = 5

#: How often the pickler calls itself for a list or a map.
_CALLS_A_LEVEL = 2

#: What protocol 1 begins with, and protocol 0 does not: neither says its number.
_PROTOCOL_1 = b"]}XKMJGU)"


class Pickle(UnsafeFormat):
    """A sequence of pickles. Loading one can run any code that its writer put in."""

    name = "pickle"
    number = 15
    about = "Python pickles, one after another; reading one can run code that is in it"
    title = "pickle"

    def survey(self, data: bytes) -> int:
        return count_pickles(data)

    def load(self, data: Buffer) -> list[Any]:
        return load_pickles(data)

    def write(self, records: list[Any]) -> bytes:
        return dump_pickles(records, PROTOCOL)

    def learn(self, block: SourceBlock) -> Spelling:
        """The protocol, where it is not the usual one."""
        head = bytes(block.data[:2])
        protocol = head[-1] if head[:1] == b"\x80" else int(head[:1] in _PROTOCOL_1)
        return {"p": protocol} if protocol < PROTOCOL and head else {}

    def spell(self, records: list[Any], spelling: Spelling, *, first: bool) -> bytes:  # noqa: ARG002
        protocol = spelling.get("p", PROTOCOL)
        if type(protocol) is not int or not 0 <= protocol <= PROTOCOL:
            raise ValueError(f"pickle has no protocol {protocol}")
        return dump_pickles(records, protocol)


def dump_pickles(records: list[Any], protocol: int) -> bytes:
    """The pickles of the records; ValueError, TypeError or RecursionError where there is none."""
    return b"".join([dump_pickle(record, protocol) for record in records])


def dump_pickle(value: Any, protocol: int) -> bytes:
    try:
        return _pickled(value, protocol)
    except RecursionError:
        with frames_for(_CALLS_A_LEVEL):
            return _pickled(value, protocol)


def _pickled(value: Any, protocol: int) -> bytes:
    import pickle

    try:
        return pickle.dumps(value, protocol)
    except (ValueError, TypeError, RecursionError, MemoryError):
        raise
    except Exception as error:  # the pickler's, or whatever a class of the user's raises
        raise ValueError(_said(error)) from None


def load_pickles(data: Buffer) -> list[Any]:
    """The objects of all pickles that ``data`` is. Runs what is in them.

    Malformed, with the place where the pickle begins, for all that is raised on the way: classes
    of the user's may be gone or have changed, and raise what they like.
    """
    rest, found = _Rest(data), list[Any]()
    loader_class = _loader_class()
    while rest.at < len(data):
        at, loader = rest.at, loader_class(rest)
        try:
            found.append(loader.load())
        except _Gone as gone:
            raise Malformed(str(gone), at) from None
        except MemoryError:
            count_pickles(bytes(data))  # Malformed where it was a length that lies
            raise
        except UnicodeDecodeError as error:
            old = "it holds text of Python 2 that is not ASCII"
            raise Malformed(old if error.encoding == "ascii" else str(error), at) from None
        except (Exception, SystemExit) as error:
            raise Malformed(_said(error) + loader.classes, at) from None
    return found


class _Gone(Exception):
    """A pickle needs a class or a function that is not where it was."""


class _Rest:
    """Bytes as a file whose whole rest is at hand, so that the unpickler copies nothing of it.

    ``at``: where the last pickle ended.
    """

    def __init__(self, data: Buffer) -> None:
        self._view = memoryview(data)
        self.at = 0

    def peek(self, size: int) -> memoryview:  # noqa: ARG002 (more than that may come)
        return self._view[self.at :]

    def read(self, size: int) -> memoryview:
        start, self.at = self.at, min(self.at + size, len(self._view))
        return self._view[start : self.at]

    def readinto(self, target: memoryview) -> int:
        piece = self.read(len(target))
        target[: len(piece)] = piece
        return len(piece)

    def readline(self) -> bytes:
        line, end, _ = bytes(self.peek(0)).partition(b"\n")
        return bytes(self.read(len(line + end)))


@cache
def _loader_class() -> Any:
    import pickle

    class Loader(pickle.Unpickler):
        """Says which class is not there, and remembers those that are, for messages."""

        def __init__(self, file: Any) -> None:
            super().__init__(file)
            self._named: list[str] = []

        @property
        def classes(self) -> str:
            named = ", ".join(self._named[:3])
            return f" (it needs {named}: has that changed?)" if named else ""

        def find_class(self, module: str, name: str) -> Any:
            self._named.append(f"{module}.{name}")
            what = "the class " if name[:1].isupper() else ""
            try:
                return super().find_class(module, name)
            except ImportError as error:
                why = "" if f"{module}.".startswith(f"{error.name}.") else f" ({error})"
                raise _Gone(f"needs {what}{module}.{name}, which is not here{why}") from None
            except AttributeError:
                raise _Gone(f"needs {what}{module}.{name}, which is not there any more") from None

    return Loader


def _said(error: BaseException) -> str:
    """The words of an error on one line, with its name where that is not pickle's own."""
    import pickle

    text = " ".join(str(error).split())
    ours = isinstance(error, pickle.PickleError | EOFError)
    return text if ours and text else f"{type(error).__name__}: {text}".removesuffix(": ")
