"""One tree of errors. Each class owns its exit code; each instance carries its facts.

The library raises them; only the command line prints them. Messages and hints name options
(``-f``). ``error.said`` is what the command line prints, behind the file's name (escaped).
``str(error)`` is the whole line for who calls the library, with arguments (``force=True``).

Exit codes say what to do next: 1 the environment, 2 the call, 3 the input is damaged or not
what it says, 4 refused (safety, a limit, a value that the chosen stage cannot hold).
"""

import errno
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

#: What a file is called whose name is empty.
NO_NAME = "''"

#: Exit codes of which the worst of several files wins, the worst first; 130 is that of Ctrl-C.
WORST_FIRST = (130, 3, 4, 1, 2, 0)


class SerialpackError(Exception):
    """Root of every error that serialpack raises on purpose.

    ``message`` says what is wrong, ``hint`` what to do, ``path`` which file (or None while
    only a caller knows it). ``str()`` joins path, place, message and hint. ``report``: where an
    archive was unpacked in part, the ArchiveReport of that part.
    """

    exit_code = 1
    report: Any = None

    def __init__(self, message: str, *, hint: str | None = None, path: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors come back from worker processes; their classes take keywords.
        facts = (
            {**self.__dict__, "errno": self.errno} if isinstance(self, OSError) else self.__dict__
        )
        return _rebuild, (type(self), self.args, facts)

    @property
    def place(self) -> str:
        """Where in the file, in words; empty where the whole file is meant."""
        return ""

    @property
    def said(self) -> str:
        """Place, message and hint."""
        text = f"{self.place}: {self.message}" if self.place else self.message
        return f"{text}; {self.hint}" if self.hint else text

    @property
    def told(self) -> str:
        """As ``said``, with the arguments of functions in place of options."""
        from serialpack.arguments import in_arguments  # not above: a start does without

        return in_arguments(self.said)

    def __str__(self) -> str:
        return self.told if self.path is None else f"{self.path or NO_NAME}: {self.told}"


def _rebuild(
    cls: type[SerialpackError], args: tuple[Any, ...], facts: dict[str, Any]
) -> SerialpackError:
    error = cls.__new__(cls, *args)
    error.args = args
    for name, value in facts.items():
        setattr(error, name, value)
    return error


class FileError(SerialpackError):
    """The environment: a missing file, an output that exists, no space, a read that fails."""


class SystemFileError(FileError, OSError):
    """The system fails at a file: no space, a read that fails, too many are open."""

    #: The number of the error (errno(3)) where it is found out before the system is asked.
    usual_number: ClassVar[int | None] = None

    def __init__(
        self,
        message: str,
        number: int | None = None,
        *,
        hint: str | None = None,
        path: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint, path=path)
        self.errno = self.usual_number if number is None else number

    @property
    def filename(self) -> str | None:  # as OSError has it
        return self.path


class MissingFileError(SystemFileError, FileNotFoundError):
    """A file, or the folder that one is to be in, is not there."""

    usual_number = errno.ENOENT


class MissingDictionaryError(MissingFileError):
    """The dictionary that a container needs was not found."""


class ExistingFileError(SystemFileError, FileExistsError):
    """An output is there already, and nobody said that it may be overwritten."""

    usual_number = errno.EEXIST


class ForbiddenFileError(SystemFileError, PermissionError):
    """The system forbids to read or write a file."""

    usual_number = errno.EACCES


class FolderError(SystemFileError, IsADirectoryError):
    """A folder stands where a file was named."""

    usual_number = errno.EISDIR


class LostEntries(str):
    """Words for a place of a damaged archive in which there may be any number of entries; they
    stand in place of the path of one."""

    __slots__ = ()


class ArchiveError(SerialpackError):
    """Entries of an archive that were not unpacked, or packed; the other ones of ``count`` were.

    ``failures``: the path and the error of each, in order. Its exit code is the worst of theirs.
    ``others``: how many of the entries that were are folders and links.
    """

    def __init__(
        self,
        failures: Sequence[tuple[str, SerialpackError]],
        count: int,
        *,
        done: str = "unpacked",
        others: int = 0,
        hint: str | None = None,
        path: str | None = None,
    ) -> None:
        from serialpack.text import number_of  # not above: a start does without

        if any(isinstance(entry, LostEntries) for entry, _ in failures):
            some = f"at least {number_of(len(failures), 'entry', 'entries')}, of a number unknown,"
        else:
            some = f"{len(failures):,} of {number_of(count, 'entry', 'entries')}"
            some += " (files, folders and links)" if others else ""
        super().__init__(f"{some} could not be {done}", hint=hint, path=path)
        self.failures = tuple(failures)
        self.exit_code = min((e.exit_code for _, e in failures), key=WORST_FIRST.index)
        for entry, error in failures:
            self.add_note(f"{entry}: {error.told}")


class MissingLibraryError(SerialpackError):
    """A stage whose library is not installed; the hint says what to install."""


class UsageError(SerialpackError, ValueError):
    """The call itself is wrong: an unknown stage, a level out of range, clashing options."""

    # A ValueError too, as callers of Python catch it: who catches those of data lets it through.
    exit_code = 2


class SeveralTablesError(UsageError):
    """One table is to be read of a source that has several. ``tables``: their names; ``above``:
    where they are lists in a map, the path of that map with a dot behind it, and None where they
    are those of a database; ``unread``: views that SQLite cannot read, and why."""

    tables: tuple[str, ...] = ()
    above: str | None = None
    unread: Mapping[str, str] = MappingProxyType({})


class InputError(SerialpackError):
    """The input is damaged or not what it says. ``start`` and ``end`` are byte offsets in it."""

    exit_code = 3

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        path: str | None = None,
        block: int | None = None,
        start: int | None = None,
        end: int | None = None,
    ) -> None:
        super().__init__(message, hint=hint, path=path)
        self.block = block
        self.start = start
        self.end = end

    @property
    def place(self) -> str:
        parts = []
        if self.block is not None:
            parts.append(f"block {self.block}")
        if self.start is not None and self.end is not None:
            parts.append(f"bytes {self.start}-{self.end}")
        elif self.start is not None:
            parts.append(f"byte {self.start}")
        return ", ".join(parts)


class UnreadableTableError(InputError):
    """A table or view of a database cannot be read; the message names it."""


class NotContainerError(InputError):
    """Not a serialpack file; ``looks_like`` names what it seems to be, if anything."""

    def __init__(self, looks_like: str | None = None, *, path: str | None = None) -> None:
        like = f" (looks like {looks_like})" if looks_like else ""
        super().__init__(f"not a serialpack file{like}", path=path)
        self.looks_like = looks_like


class EmptyError(NotContainerError, EOFError):
    """There is nothing to load: the end of the file, or an empty one."""


class Damage(NamedTuple):
    """A place in a container that is not as it was written.

    ``member`` and ``block`` count from 0, ``start`` and ``end`` are bytes of the file. None where
    it is in no member, in no single block.
    """

    member: int | None
    block: int | None
    start: int
    end: int
    message: str

    def __str__(self) -> str:
        parts = [f"member {self.member}"] if self.member else []
        parts += [] if self.block is None else [f"block {self.block}"]
        parts.append(
            f"byte {self.start}" if self.end == self.start else f"bytes {self.start}-{self.end}"
        )
        return f"{', '.join(parts)}: {self.message}"


class DamagedError(InputError):
    """A checksum or a rule of the container is broken.

    ``damage``: all places that are damaged, where all of it was looked at.
    """

    damage: tuple[Damage, ...] = ()


class TruncatedError(DamagedError):
    """The container ends before its end."""


class UnsupportedError(InputError):
    """A whole container that asks for something this version does not know."""


class SyntaxInputError(InputError):
    """The source is not valid in its format. ``line`` and ``column`` count from 1, bytes from 0."""

    def __init__(
        self,
        message: str,
        *,
        offset: int,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
        path: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint, path=path, start=offset)
        self.offset = offset
        self.line = line
        self.column = column

    @property
    def place(self) -> str:
        at = f"byte {self.offset}"
        return f"line {self.line}, column {self.column} ({at})" if self.line else at


class CodecError(Exception):
    """A stage found its stored bytes wrong. Internal: the pipeline says where, as DamagedError."""


class RefusedError(SerialpackError):
    """Refused: safety, a limit, or a value that the chosen stage cannot hold."""

    exit_code = 4


#: What a loss does, where it is not told otherwise; and that of a NaN.
LETS_GO, WRITES_NULL = "lets it go", "writes null"


class Ways(NamedTuple):
    """The ways to get on with a value that is refused; as text they are a hint.

    ``rules``: the losses that let it go, where ``--lossy`` names them; empty: none does.
    ``effect``: what that does. ``keeps``: ways without a loss that are told before it;
    ``others``: those behind it. ``counted``: what would be lost in all, where that was counted.
    ``skip_bad``: one of them is ``--skip-bad``, so that there is nothing more to say of a record
    that is left out by it.
    """

    rules: tuple[str, ...] = ()
    effect: str = LETS_GO
    keeps: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    counted: str = ""
    skip_bad: bool = False

    def __str__(self) -> str:
        lossy = f"--lossy {','.join(self.rules)} {self.effect}" if self.rules else ""
        if self.counted:
            return "; ".join(filter(None, (", ".join(self.keeps), f"{self.counted}: {lossy}")))
        return ", ".join(filter(None, (*self.keeps, lossy, *self.others)))


class ValueRefusedError(RefusedError):
    """A value that the chosen serializer cannot hold.

    ``record`` counts from 0 in the whole file; ``value_path`` is the place in it (``$.price``);
    ``kind`` is what the value is, in the words of ``serialpack.values.kinds``. ``ways``: what the
    hint says, where it was made of these.
    """

    #: Whether the hint was tried with the value, and what it stands in, and not with the record.
    on_path = False

    def __init__(
        self,
        message: str,
        *,
        record: int | None = None,
        value_path: str = "$",
        kind: str = "value",
        hint: str | Ways | None = None,
        path: str | None = None,
    ) -> None:
        self.ways = hint if isinstance(hint, Ways) else None
        super().__init__(message, hint=None if hint is None else str(hint), path=path)
        self.record = record
        self.value_path = value_path
        self.kind = kind

    @property
    def place(self) -> str:
        return (
            self.value_path if self.record is None else f"record {self.record}, {self.value_path}"
        )


class PickleWarning(UserWarning):
    """``dump`` took pickle, since nothing safe holds the object, for a value that it names and a
    reason: ``load`` needs ``trust=True``."""


class DroppedWarning(UserWarning):
    """The class of an object leaves something out where it is pickled, or gives something else in
    its place: ``load`` gives the object without that, or with what the class makes anew."""


class ScaleWarning(UserWarning):
    """The header of a volume says by what its numbers are to be multiplied, and ``load`` gives them
    as they are stored: ``scaled`` says that they are wanted so, or scaled."""


def changed(path: str) -> FileError:
    """The error for a file that is another one than when it was opened."""
    return FileError("changed while it was read", path=path, hint="try again when it is quiet")


def newer(what: str, writer: str) -> UnsupportedError:
    """The error for a container that needs ``what``, which this version lacks."""
    by = f"serialpack {writer}" if writer else "another version"
    return UnsupportedError(f"needs {what}, written by {by}", hint="update serialpack")
