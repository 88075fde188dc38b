"""Pickles as a source: Python's own format, one pickle after another, each of them a record."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from io import BytesIO
from os import urandom
from typing import Any, ClassVar

from serialpack.formats.base import SourceBlock, Style, StyleTypes
from serialpack.formats.python.buffers import MARK, Beside, framed, is_framed, take_frame
from serialpack.formats.python.opcodes import count_pickles
from serialpack.formats.python.untrusted import UnsafeFormat
from serialpack.formats.shared.document import Malformed
from serialpack.formats.shared.recursion import frames_for
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import LATIN1, Loss

PROTOCOL = 5

#: The most calls within each other that the pickler makes for a level: those for an object of a
#: class.
_CALLS_A_LEVEL = 6

#: What protocol 1 begins with, and protocol 0 does not: neither says its number.
_PROTOCOL_1 = b"]}XKMJGU)"


class PickleFormat(UnsafeFormat):
    """A sequence of pickles. Loading one can run any code that its writer put in."""

    tells = True
    style_types: ClassVar[StyleTypes] = {"p": (int,)}
    about = "Python pickles, one after another; reading one can run code that is in it"
    title = "pickle"

    def survey(self, data: bytes) -> int:
        return count_pickles(data)

    def load(self, data: Buffer) -> list[Any]:
        if self.marks is None or LATIN1 not in self.marks.allowed:
            return load_pickles(data)
        records, old = load_converted(data)
        if old is not None:
            self.marks.placed.append(old)
        return records

    def write(self, records: list[Any]) -> bytes:
        return dump_pickles(records, PROTOCOL)

    def detect_style(self, block: SourceBlock) -> Style:
        """The protocol, where it is not the usual one."""
        head = bytes(block.data[:2])
        protocol = head[-1] if head[:1] == b"\x80" else int(head[:1] in _PROTOCOL_1)
        return {"p": protocol} if protocol < PROTOCOL and head else {}

    def write_text(self, records: list[Any], style: Style, *, first: bool) -> bytes:  # noqa: ARG002
        protocol = style.get("p", PROTOCOL)
        if type(protocol) is not int or not 0 <= protocol <= PROTOCOL:
            raise ValueError(f"pickle has no protocol {protocol}")
        return dump_pickles(records, protocol)


def dump_pickles(records: list[Any], protocol: int) -> bytes:
    """The pickles of the records; ValueError, TypeError or RecursionError where there is none."""
    return b"".join([dump_pickle(record, protocol) for record in records])


def dump_pickle(value: Any, protocol: int, dumps: Callable[..., bytes] = pickle.dumps) -> bytes:
    """A value as ``dumps`` pickles it, which is called as ``pickle.dumps`` is.

    ValueError, TypeError or RecursionError, or MemoryError, where it does not.
    """
    try:
        return dumps(value, protocol)
    except Exception as error:
        return _with_room(error, dumps, value, protocol)


def dump_beside(value: Any, dumps: Callable[..., bytes] = pickle.dumps) -> Buffer:
    """As ``dump_pickle``, but a frame where there are large buffers. Bytes where the value has no
    buffer, else a bytearray that nobody else has."""
    beside = Beside()
    try:
        data = dumps(value, PROTOCOL, buffer_callback=beside)
    except Exception as error:
        beside = Beside()
        data = _with_room(error, dumps, value, PROTOCOL, buffer_callback=beside)
    if beside:
        return framed(data, beside)
    return bytearray(data) if beside.met else data


def _with_room(
    error: Exception, dumps: Callable[..., bytes], value: Any, protocol: int, **options: Any
) -> bytes:
    """``value`` as ``dumps``, which raised ``error``, pickles it with room for as many levels as
    may be.

    C code of Python 3.12 calls itself as often as it was built for, and no limit raises that; the
    pickler in Python does it more slowly, at any depth.
    """
    if not isinstance(error, RecursionError):
        raise _told(error) from None
    with frames_for(_CALLS_A_LEVEL):
        if dumps is pickle.dumps:
            dumps = pickle._dumps  # type: ignore[attr-defined]
        try:
            return dumps(value, protocol, **options)
        except Exception as again:
            raise _told(again) from None


def _told(error: Exception) -> Exception:
    """``error``, of the pickler or of any class of the user's, as an error that callers expect."""
    known = isinstance(error, ValueError | TypeError | RecursionError | MemoryError)
    return error if known else ValueError(_said(error))


def load_alone(data: bytes) -> list[Any] | None:
    """The object of the one pickle that ``data`` is, in a list. None where that fails, or more
    stands behind it: ``load_pickles`` says what is wrong. Runs what is in it, as far as it comes.

    From memory it is read in half the time that files take, but nobody hears where it stopped: so,
    unless it can stop nowhere else, something is written behind the object, which comes out only
    where that was at the end.
    """
    try:
        stop = data.find(_STOP)
        if stop == len(data) - 1:
            return [pickle.loads(data)]
        if stop < 0 or not data.endswith(_STOP):
            return None
        found, mark = pickle.loads(data[:-1] + _BEHIND)
    except (Exception, SystemExit):  # a class's
        return None
    return [found] if type(mark) is bytes and mark == _MARK else None


def load_converted(data: Buffer) -> tuple[list[Any], Loss | None]:
    """As ``load_pickles``, and None. Where it holds text of Python 2 that is not ASCII, all such
    text is read as Latin-1, and the second is that loss.

    NumPy's arrays of Python 2 are read so only, and any bytes are such text (pickle.load).
    """
    try:
        return load_pickles(data), None
    except OldText:
        return load_pickles(data, encoding="latin-1"), OLD_TEXT


class OldText(Malformed):
    """A pickle holds text of Python 2 that is not ASCII."""


#: The loss that is told where such text is read all the same.
OLD_TEXT = Loss(LATIN1, 1, 0, "$", "text of Python 2", "text by Latin-1")


def load_pickles(data: Buffer, *, in_place: bool = False, encoding: str = "ascii") -> list[Any]:
    """The objects of all pickles that ``data`` is. Runs what is in them.

    ``encoding``: of text of Python 2.

    ``in_place``: ``data`` is a bytearray that nobody else has; buffers in frames stay in it.

    Malformed, with the place where the pickle begins, for all that is raised on the way: classes
    of the user's may be gone or have changed, and raise what they like.
    """
    view, found, at = memoryview(data), list[Any](), 0
    while at < len(view):
        if not is_framed(view[at : at + len(MARK)]):
            # A file in C copies what there is, and takes half as long for little.
            little = len(view) - at <= _LITTLE
            rest = BytesIO(view[at:]) if little else _Rest(view[at:])
            found.append(_load_one(rest, view, at, encoding=encoding))
            at += rest.tell()
            continue
        frame = take_frame(view, at)
        buffers = [each if in_place else bytearray(each) for each in frame.buffers]
        found += load_beside(frame.pickle, buffers, at)
        at = frame.end
    return found


def load_beside(data: Buffer, buffers: Sequence[Buffer], at: int = 0) -> list[Any]:
    """The object of a pickle and its buffers, in whose memory it stays; Malformed, placed at
    ``at``."""
    rest, unread = _Rest(memoryview(data)), iter(buffers)
    found = [_load_one(rest, data, at, unread)]
    if rest.tell() < len(data) or next(unread, None) is not None:
        raise Malformed("a frame with more than its pickle reads", at)
    return found


def _load_one(
    rest: _Rest | BytesIO,
    whole: Buffer,
    at: int,
    buffers: Iterable[Buffer] | None = None,
    encoding: str = "ascii",
) -> Any:
    """The object of the first pickle in ``rest``, a part of ``whole``; Malformed, placed at
    ``at``."""
    loader = _loader_class()(rest, buffers=buffers, encoding=encoding)
    try:
        return loader.load()
    except _Gone as gone:
        raise Malformed(str(gone), at) from None
    except MemoryError:
        count_pickles(bytes(whole))  # Malformed where it was a length that lies
        raise
    except UnicodeDecodeError as error:
        if error.encoding == "ascii":
            raise OldText("it holds text of Python 2 that is not ASCII", at) from None
        raise Malformed(str(error), at) from None
    except (Exception, SystemExit) as error:
        raise Malformed(_said(error) + loader.classes, at) from None


#: Bytes that no pickle has; and opcodes that put them into a pair with the object before.
_MARK, _STOP = urandom(16), pickle.STOP
_BEHIND = pickle.SHORT_BINBYTES + bytes([len(_MARK)]) + _MARK + pickle.TUPLE2 + _STOP

#: The most bytes that are little.
_LITTLE = 64 << 10


class _Gone(Exception):
    """A pickle needs a class or a function that is not where it was."""


class _Rest:
    """Bytes as a file whose whole rest is at hand, so that the unpickler copies nothing of it."""

    def __init__(self, view: memoryview) -> None:
        self._view = view
        self._at = 0

    def tell(self) -> int:
        return self._at

    def peek(self, size: int) -> memoryview:  # noqa: ARG002 (more than that may come)
        return self._view[self._at :]

    def read(self, size: int) -> memoryview:
        start, self._at = self._at, min(self._at + size, len(self._view))
        return self._view[start : self._at]

    def readinto(self, target: memoryview) -> int:
        piece = self.read(len(target))
        target[: len(piece)] = piece
        return len(piece)

    def readline(self) -> bytes:
        line, end, _ = bytes(self.peek(0)).partition(b"\n")
        return bytes(self.read(len(line + end)))


@cache
def _loader_class() -> Any:
    class Loader(pickle.Unpickler):
        """Says which class is not there, and remembers those that are, for messages."""

        _named: tuple[str, ...] = ()

        @property
        def classes(self) -> str:
            named = ", ".join(self._named[:3])
            return f" (it needs {named}: has that changed?)" if named else ""

        def find_class(self, module: str, name: str) -> Any:
            self._named += (f"{module}.{name}",)
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
    text = " ".join(str(error).split())
    ours = isinstance(error, pickle.PickleError | EOFError)
    return text if ours and text else f"{type(error).__name__}: {text}".removesuffix(": ")
