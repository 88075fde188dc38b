"""Objects that keep attributes and nothing else, and exceptions: their state, read and restored
without calling a method of the class."""

from __future__ import annotations

import builtins
import copyreg
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from serialpack.values.derived import METACLASSES, attributes_of, keeper_of_attributes
from serialpack.values.instance_dict import hides_attributes
from serialpack.values.models import is_known_of_pydantic
from serialpack.values.parts import solid_base

#: Libraries whose own objects have extensions of their own, or are left to pickle: other objects of
#: theirs take it for granted that what is given to them is one of these. What serialpack has stands
#: for values of a format, which that alone holds.
_LIBRARIES = frozenset(
    {"numpy", "pandas", "polars", "pyarrow", "scipy", "xarray", "pydantic", "msgspec", "attr"}
    | {"serialpack"}
)
#: Methods by which a class says what pickle writes of an object, or makes of that again.
_WORDS = (
    *("__reduce_ex__", "__reduce__", "__getstate__", "__setstate__"),
    *("__getnewargs_ex__", "__getnewargs__", "__getattribute__"),
)
#: Exceptions whose fields C code keeps; None in a field is as good as nothing.
_FIELDS: dict[type, tuple[str, ...]] = {
    StopIteration: ("value",),
    SystemExit: ("code",),
    OSError: ("errno", "strerror", "filename", "filename2", "characters_written"),
    ImportError: ("msg", "name", "path", "name_from"),
    NameError: ("name",),
    AttributeError: ("name", "obj"),
    SyntaxError: (
        *("msg", "filename", "lineno", "offset", "text"),
        *("end_lineno", "end_offset", "print_file_and_line"),
    ),
}
#: Exceptions whose fields must be of certain types, which their C code looks at where one is made.
_CHECKED = (UnicodeEncodeError, UnicodeDecodeError, UnicodeTranslateError)
#: The types of the arguments of these. C code would call methods of others.
_OF_CHECKED = frozenset({str, bytes, bytearray, int})

_ARGS, _TRACEBACK = (vars(BaseException)[name] for name in ("args", "__traceback__"))
_ABOUT = [
    vars(BaseException)[name] for name in ("__cause__", "__context__", "__suppress_context__")
]
_OF_GROUP = [vars(BaseExceptionGroup)[name] for name in ("message", "exceptions")]

#: What an exception keeps: its arguments, its attributes or None, its cause, its context, whether
#: the context is to be left out, and its fields: of a group its message and exceptions.
ExceptionState = tuple[Any, Any, Any, Any, Any, Any]


def _runs(cls: Any, base: type) -> str:
    """What a class derived from ``base`` runs where an object of it is made, kept or dropped, or by
    what it says of one what is written; empty where it does nothing of that."""
    if type(cls) not in METACLASSES:
        return f"has the metaclass {type(cls).__name__}"
    for word in _WORDS:
        if getattr(cls, word, None) is not getattr(base, word, None):
            return f"has its own {word}"
    if hasattr(cls, "__del__"):
        return "has a __del__"
    if hides_attributes(cls):
        return "has its own __dict__"
    own = [word for word in ("__hash__", "__eq__") if getattr(cls, word) is not getattr(base, word)]
    if own and cls.__hash__ is not None and not is_known_of_pydantic(cls):  # as keys they are asked
        return f"has its own {own[0]}"
    return ""


@lru_cache(256)
def keeps_more(cls: Any) -> str:
    """Why objects of ``cls`` may keep more than attributes, as what is said of it; empty where they
    keep nothing else, and it is of none of Python's modules.

    One with a ``__new__`` of its own decides which object there is, such as always the same one.
    """
    base = solid_base(cls)
    if base is not object:
        return "is written in C" if base is cls else f"is derived from {base.__name__}"
    if cls is object:
        return "keeps nothing"
    if cls.__new__ is not object.__new__:
        return "has its own __new__"
    package = _package_of(cls)
    known = package in _LIBRARIES or package in sys.stdlib_module_names
    if known and package != "__main__" and not is_known_of_pydantic(cls):
        return f"is of {package}"
    if cls in copyreg.dispatch_table:
        return "is pickled as copyreg says"
    return _runs(cls, object)


def has_attributes_alone(cls: Any) -> bool:
    """Whether objects of ``cls``, of none of Python's modules, keep nothing but attributes."""
    return not keeps_more(cls)


@lru_cache(256)
def is_of_library(cls: Any) -> bool:
    """Whether ``cls`` is derived from a class of a library whose objects have extensions."""
    return any(_package_of(each) in _LIBRARIES for each in cls.__mro__)


def _package_of(cls: Any) -> str:
    return str(cls.__module__).partition(".")[0]


@lru_cache(256)
def maker_of_attributed(cls: Any) -> Callable[[Any], Any]:
    """Gives the function that makes an object of ``cls`` of its attributes; TypeError for a class
    whose objects keep more."""
    if not has_attributes_alone(cls):
        raise TypeError(f"{cls.__name__} keeps more than attributes")
    new, keep = object.__new__, keeper_of_attributes(cls)

    def make(attributes: Any) -> Any:
        made = new(cls)
        if attributes is not None:
            keep(made, attributes)
        return made

    return make


@lru_cache(256)
def base_of_exception(cls: Any) -> Any:
    """The exception of Python that ``cls`` is, or is derived from; None where there is none, or
    where an object says itself what it is."""
    if not issubclass(cls, BaseException):
        return None
    base: Any = solid_base(cls)
    known = vars(builtins).get(base.__name__) is base
    return base if known and cls.__new__ is base.__new__ and not _runs(cls, base) else None


def _places(base: type) -> dict[str, Any]:
    """What gets and sets the fields of exceptions of ``base``, by name."""
    kind = next((each for each in base.__mro__ if each in _FIELDS), None)
    if kind is None:
        return {}
    # A Python has not the fields of later ones.
    return {name: vars(kind)[name] for name in _FIELDS[kind] if name in vars(kind)}


def _field(place: Any, error: BaseException) -> Any:
    try:
        return place.__get__(error)
    except AttributeError:  # as OSError says of ``characters_written``, unless somebody set it
        return None


def exception_state(error: BaseException) -> ExceptionState:
    """What ``error`` keeps; TypeError where it has a traceback, which belongs to this process, or
    is about encoded text and has fields that are not its arguments."""
    if _TRACEBACK.__get__(error) is not None:
        raise TypeError(f"{type(error).__name__} with a traceback")
    cls: Any = type(error)
    base = base_of_exception(cls)
    if issubclass(base, BaseExceptionGroup):
        fields: Any = [place.__get__(error) for place in _OF_GROUP]
    elif issubclass(base, _CHECKED):
        _check_as_made(error)
        fields = None
    else:
        there = ((name, _field(place, error)) for name, place in _places(base).items())
        fields = {name: field for name, field in there if field is not None}
    about = (place.__get__(error) for place in _ABOUT)
    return [*_ARGS.__get__(error)], attributes_of(error), *about, fields


def _check_as_made(error: Any) -> None:
    """TypeError where somebody changed a field of ``error``, which is about encoded text."""
    args = _ARGS.__get__(error)
    base: Any = solid_base(type(error))
    names = ("encoding",) if base is not UnicodeTranslateError else ()
    places = [vars(base)[name] for name in (*names, "object", "start", "end", "reason")]
    fields = tuple(place.__get__(error) for place in places)
    if not _OF_CHECKED.issuperset(map(type, args)) or fields != args:
        raise TypeError(f"{type(error).__name__} with other fields than its arguments")


@lru_cache(256)
def maker_of_exceptions(cls: Any) -> Callable[..., Any]:
    """Gives the function that makes an exception of ``cls`` of its state, and raises ValueError for
    no such state; TypeError for a class that decides itself what is stored."""
    base = base_of_exception(cls)
    if base is None:
        raise TypeError(f"{cls.__name__} is no exception that keeps what Python's own do")
    keep, make_with_fields = keeper_of_attributes(cls), _maker_of_fields(cls, base)

    def make(args: Any, attributes: Any, cause: Any, context: Any, hidden: Any, fields: Any) -> Any:
        if type(args) is not list or type(hidden) is not bool:
            raise ValueError(f"no arguments of a {cls.__name__}")
        made = make_with_fields(args, fields)
        for place, part in zip(
            (_ARGS, *_ABOUT), (tuple(args), cause, context, hidden), strict=True
        ):
            place.__set__(made, part)
        if attributes is not None:
            keep(made, attributes)
        return made

    return make


def _maker_of_fields(cls: Any, base: Any) -> Callable[[list[Any], Any], Any]:
    """Gives the function that makes an exception of ``cls``, derived from ``base``, of its
    arguments and fields. Both may hold objects of any class, whose methods must not be called."""
    places = _places(base)

    def group(_: list[Any], fields: Any) -> Any:
        if type(fields) is not list or len(fields) != 2 or type(fields[1]) not in (list, tuple):
            raise ValueError(f"no message and exceptions of a {cls.__name__}")
        return BaseExceptionGroup.__new__(cls, *fields)

    def checked(args: list[Any], fields: Any) -> Any:
        if fields is not None or not _OF_CHECKED.issuperset(map(type, args)):
            raise ValueError(f"no arguments of a {cls.__name__}")
        made = base.__new__(cls)
        base.__init__(made, *args)
        return made

    def other(_: list[Any], fields: Any) -> Any:
        if type(fields) is not dict or type(fields.get("characters_written", 0)) is not int:
            raise ValueError(f"no fields of a {cls.__name__}")
        made = base.__new__(cls)
        for name, field in fields.items():
            if name not in places:
                raise ValueError(f"a {cls.__name__} has no {name} in this Python")
            places[name].__set__(made, field)
        return made

    if issubclass(base, BaseExceptionGroup):
        return group
    return checked if issubclass(base, _CHECKED) else other
