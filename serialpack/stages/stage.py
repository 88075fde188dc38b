"""What serializers, filters and codecs have in common: a name, parameters, a library.

A stage is one class in one file and one line in its package's registry. The registry knows
names, numbers and modules only; a class's module is imported when a chain asks for the stage,
and the class imports its library when it is used. So nothing is imported before it is needed.
"""

import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, ClassVar, Generic, NamedTuple, NoReturn, TypeVar, cast

from serialpack.broken import broken_library
from serialpack.errors import CodecError, MissingLibraryError, SerialpackError, UsageError
from serialpack.stages.effort import DEFAULT_EFFORT, EFFORTS
from serialpack.units import format_size, parse_size

Buffer = bytes | bytearray | memoryview
#: Takes bytes, and writes all of them.
Write = Callable[[Buffer], object]

#: No block restores to more (man/spk.5); a longer record is cut and flagged ``continued``.
MAX_BLOCK = 64 << 20

#: The least bytes of a record, or of a value in one, that is read and written part by part.
WIDE = 1 << 20

#: Bytes of memory that a command may take beside three times the block; and the most that a value
#: takes as Python objects, both as it was read and as it is read again for the proof. So one in
#: eight bytes of a block of 4 MiB may be a value.
ROOM, BYTES_OF_VALUE = 64 << 20, 160


def most_values(block_size: int, bytes_of_value: int = BYTES_OF_VALUE) -> int:
    """How many values a block may have, each of which takes so many bytes of memory."""
    return (ROOM + 3 * block_size) // bytes_of_value


#: What the container has for a stage: its number and parameters; and for a chain, in packing order.
StageNumbers = tuple[int, ...]
ChainNumbers = tuple[StageNumbers, ...]


class Param(NamedTuple):
    """One integer parameter of a stage, as a chain spells it: ``name:LEVEL@BLOCK/THREADS``.

    ``default`` is what an unspelled parameter means. A parameter with another mark than ``:``
    is optional: 0 means "not set", and it is spelled only where it is set.
    """

    name: str
    low: int
    high: int
    default: int
    mark: str = ":"
    is_size: bool = False
    #: The only allowed values; empty where all from ``low`` to ``high`` are.
    only: tuple[int, ...] = ()
    #: What it is at each step of the dial, where it is not spelled; empty where the dial does not
    #: set it.
    efforts: tuple[int, ...] = ()
    #: How the values from ``low`` on are spelled, where not as numbers.
    words: tuple[str, ...] = ()

    def at(self, effort: int) -> int:
        """The value at ``effort`` where none is spelled."""
        return self.efforts[effort - min(EFFORTS)] if self.efforts else self.default

    def allows(self, value: int) -> bool:
        return value in self.only if self.only else self.low <= value <= self.high

    def parse(self, text: str) -> int:
        """The value of ``text``; raises ValueError where it is not one within the range."""
        if self.words:
            return self.low + self.words.index(text)
        value = parse_size(text) if self.is_size else int(text)
        if not self.allows(value):
            raise ValueError(text)
        return value

    def spell(self, value: int) -> str:
        if self.words:
            return self.mark + self.words[value - self.low]
        return self.mark + (format_size(value, exact=True) if self.is_size else str(value))

    @property
    def range(self) -> str:
        """The allowed values in words, for help and messages: ``1..9``."""
        if self.words:
            return "|".join(self.words)
        if self.only:
            return "|".join(map(str, self.only))
        if self.is_size:
            return f"{format_size(self.low, exact=True)}..{format_size(self.high, exact=True)}"
        return f"{self.low}..{self.high}"


def dialled(name: str, low: int, high: int, efforts: tuple[int, ...]) -> Param:
    """A parameter that the dial sets: ``efforts`` are its values from the fastest step on.

    None is smaller than the one before. Its default is that of the default step.
    """
    return Param(name, low, high, efforts[DEFAULT_EFFORT - min(EFFORTS)], efforts=efforts)


class Stage:
    """Base of every serializer, filter and codec.

    An instance belongs to one thread: it may keep contexts and buffers between calls.
    """

    #: Importable name of the library that does the work; None for the standard library's own.
    library: ClassVar[str | None] = None
    #: What pip installs to bring that library.
    distribution: ClassVar[str | None] = None
    #: The optional extra of serialpack that brings it; None for a runtime dependency.
    extra: ClassVar[str | None] = None
    #: The parameters, in the order in which the container stores them.
    params: ClassVar[tuple[Param, ...]] = ()
    #: One line for `inspect --stages`.
    about: ClassVar[str] = ""
    #: Names of the attributes, each true or false, that people choose such a stage by.
    traits: ClassVar[tuple[str, ...]] = ()
    #: Kinds of values (keys of ``values.kinds.KINDS``) that it cannot hold, with its parameters as
    #: they are by default: refused.
    cannot: ClassVar[frozenset[str]] = frozenset()
    #: Kinds of which it holds some values and refuses others.
    partly: ClassVar[frozenset[str]] = frozenset()
    #: Those of ``partly`` of which it takes so few that no hint sends anybody to it.
    seldom: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, name: str, values: tuple[int, ...] = ()) -> None:
        self.name = name
        self.values = values + tuple(p.default for p in self.params[len(values) :])

    @classmethod
    def missing(cls, name: str) -> str | None:  # noqa: ARG003 (one class may have many names)
        """None where the stage can be used here, else one line that says what to install."""
        if cls.library is None or is_installed(cls.library):
            return None
        if cls.extra is not None:
            return f"pip install 'serialpack[{cls.extra}]'"
        return f"pip install {cls.distribution or cls.library}"

    @classmethod
    def parse_params(cls, name: str, text: str, effort: int = DEFAULT_EFFORT) -> tuple[int, ...]:
        """The parameters spelled in ``text``, all of them, or UsageError.

        ``text`` is what follows the name in a chain: ``":3"``, ``":1@256K/2"`` or nothing.
        ``effort`` sets what it does not spell.
        """
        values = {p.mark: p.at(effort) for p in cls.params}
        by_mark = {p.mark: p for p in cls.params}
        rest = text
        while rest:
            match = re.match(r"([:@/=])([^:@/=]*)", rest)
            param = by_mark.pop(match[1], None) if match else None
            if match is None or param is None:
                raise UsageError(f"{name}{text}: {name} takes no {rest!r}", hint=cls._takes(name))
            try:
                values[param.mark] = param.parse(match[2])
            except ValueError:
                raise UsageError(
                    f"{name}{text}: {param.name} must be {param.range}", hint=cls._takes(name)
                ) from None
            rest = rest[match.end() :]
        return tuple(values[p.mark] for p in cls.params)

    @classmethod
    def check_params(cls, values: tuple[int, ...]) -> bool:
        """Whether ``values``, as read from a container, are parameters of this stage."""
        if len(values) > len(cls.params):
            return False
        return all(
            p.allows(v) or (p.mark != ":" and v == 0)
            for p, v in zip(cls.params, values, strict=False)
        )

    @classmethod
    def spell_params(cls, values: tuple[int, ...]) -> str:
        return "".join(
            p.spell(v) for p, v in zip(cls.params, values, strict=False) if p.mark == ":" or v
        )

    @classmethod
    def _takes(cls, name: str) -> str:
        if not cls.params:
            return f"write {name} alone"
        form = "".join(
            f":{p.name.upper()}" if p.mark == ":" else f"[{p.mark}{p.name.upper()}]"
            for p in cls.params
        )
        return f"write {name}{form} with " + ", ".join(f"{p.name} {p.range}" for p in cls.params)


def fail_forward(name: str, doing: str, error: BaseException) -> NoReturn:
    """Raise a SerialpackError for a stage that failed while it packed: with its ``name`` and the
    cause. Refusals are raised as they are, a lack of memory as MemoryError.
    """
    if isinstance(error, SerialpackError) or not is_failure(error):
        raise error
    if (lack := _lack_of_memory(error)) is not None:
        raise lack from error
    if isinstance(error, ImportError):
        raise broken_library(error) from error
    raise SerialpackError(
        f"{name} cannot {doing} this ({_cause(error)})",
        hint="nothing was written; try another chain and report it",
    ) from error


def fail_backward(name: str, doing: str, error: BaseException) -> NoReturn:
    """As ``fail_forward``, for a stage that failed to undo what is stored: CodecError."""
    if isinstance(error, SerialpackError | CodecError) or not is_failure(error):
        raise error
    if (lack := _lack_of_memory(error)) is not None:
        raise lack from error
    if isinstance(error, ImportError):  # which says nothing of what is stored
        raise broken_library(error) from error
    raise CodecError(f"{name} cannot {doing} it: {_cause(error)}") from error


def is_failure(error: BaseException) -> bool:
    """Whether a library failed, and nobody interrupted it. A panic in Rust is no Exception."""
    if isinstance(error, Exception):
        return not isinstance(error, MemoryError)
    return type(error).__name__ == "PanicException"


def _lack_of_memory(error: BaseException) -> MemoryError | None:
    """The MemoryError for what zstd raises where it gets none: the data is as it should be."""
    return MemoryError(str(error)) if "not enough memory" in str(error) else None


def _cause(error: BaseException) -> str:
    return str(error) or type(error).__name__


def is_installed(module: str) -> bool:
    """Whether ``module`` can be imported, found without importing it."""
    if sys.modules.get(module) is not None or module in _installed:
        return True
    try:
        found = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package that it is in
        return False
    if found:
        _installed.add(module)
    return found


#: Modules that were found; to look again would take a tenth of the time of a small file.
_installed: set[str] = set()


def import_library(module: str, extra: str) -> Any:
    """The library that reads or writes a format; MissingLibraryError where it is not there.

    ``extra``: the optional extra of serialpack that brings it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if not f"{module}.".startswith(f"{error.name}."):
            raise
        raise MissingLibraryError(
            f"{error.name} is not installed, which it needs",
            hint=f"pip install 'serialpack[{extra}]'",
        ) from None


StageT = TypeVar("StageT", bound=Stage)


class Entry(NamedTuple):
    """One registry line. ``number`` is the stage's number in the container, for ever."""

    name: str
    number: int
    where: str

    def load(self) -> type[Stage]:
        """The stage's class, imported now (not its library)."""
        return _loaded(self.where)


@cache
def _loaded(where: str) -> type[Stage]:
    module, _, attribute = where.partition(":")
    return cast(type[Stage], getattr(importlib.import_module(module), attribute))


#: What others call a stage, where that is not similar enough to its name here to be suggested.
_ALSO_CALLED = {"gzip": "zlib", "gz": "zlib", "deflate": "zlib", "lzma": "xz"}


class Registry(Generic[StageT]):
    """The stages of one kind, by name and by number, in the order people read them."""

    def __init__(self, kind: str, *entries: Entry) -> None:
        self.kind = kind
        #: The stages of every kind, by the option that names one.
        self.options: Mapping[str, Registry[Any]] = {}
        self._by_name = {e.name: e for e in entries}
        self._by_number = {e.number: e for e in entries}
        if not len(entries) == len(self._by_name) == len(self._by_number):
            raise ValueError(f"two {kind}s share a name or a number")

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._by_name.values())

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def names(self) -> list[str]:
        return list(self._by_name)

    def entry(self, name: str) -> Entry:
        """The line of ``name``, or UsageError with the nearest names."""
        if name not in self._by_name:
            raise UsageError(f"unknown {self.kind} {name!r}", hint=self._suggest(name))
        return self._by_name[name]

    def by_number(self, number: int) -> Entry | None:
        return self._by_number.get(number)

    def cls(self, name: str) -> type[StageT]:
        return cast(type[StageT], self.entry(name).load())

    def create(self, name: str, values: tuple[int, ...] = ()) -> StageT:
        """A new stage for one thread; MissingLibraryError where its library is absent."""
        cls = self.cls(name)
        install = cls.missing(name)
        if install is not None:
            raise MissingLibraryError(f"{self.kind} {name} is not installed", hint=install)
        return cls(name, values)

    def _suggest(self, name: str) -> str:
        import difflib

        for option, other in self.options.items():
            if name in other:
                return f"{name} is a {other.kind}: {option} {name}"
        if (spelled := self._with_level(name)) is not None:
            return f"did you mean {spelled}?"
        near = difflib.get_close_matches(_ALSO_CALLED.get(name, name), self._by_name, n=3)
        if near:
            return "did you mean " + " or ".join(near) + "?"
        return "see: serialpack inspect --stages"

    def _with_level(self, name: str) -> str | None:
        """The stage that is meant by a level alone, as in ``zstd -19``, or right behind a name."""
        word = name.rstrip("0123456789")
        level, word = name[len(word) :], word.rstrip("-") or "zstd"
        if not 0 < len(level) < 3 or word not in self:
            return None
        params = self.cls(word).params
        return f"{word}:{int(level)}" if params and params[0].allows(int(level)) else None
