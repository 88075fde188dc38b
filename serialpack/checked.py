"""Whether what a public function is given is what its annotations say: told before it begins.

Text where a list of texts is meant would be read letter by letter, and any text is true. Only the
words of ``_KINDS`` are looked at; an annotation with another word takes everything here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Mapping
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from serialpack.errors import UsageError
from serialpack.imported import imported

P = ParamSpec("P")
R = TypeVar("R")


#: A kind of argument: what an error calls it, and whether a value is of it.
_Kind = tuple[str, Callable[[Any], bool]]


def _texts(value: Any) -> bool:
    # The texts of an iterator can be looked at only once: that is left to the function.
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return False
    return iter(value) is value or all(isinstance(each, str) for each in value)


def _is_range(value: Any) -> bool:
    return (
        isinstance(value, tuple | list)
        and len(value) == 2
        and hasattr(value[0], "__index__")
        and (value[1] is None or hasattr(value[1], "__index__"))
    )


_KINDS: dict[str, _Kind] = {
    "a range": ("(start, stop)", _is_range),
    "None": ("None", lambda value: value is None),
    "str": ("text", lambda value: isinstance(value, str)),
    # NumPy's too.
    "int": ("an integer", lambda value: hasattr(value, "__index__") and value is not True),
    "bool": (
        "True or False",
        lambda value: isinstance(value, int) or type(value).__name__ in ("bool", "bool_"),
    ),
    "Sequence[str]": ("a list of texts", _texts),
    "Collection[str]": ("a list of texts", _texts),
    "Mapping[str, Any]": ("a mapping", lambda value: isinstance(value, Mapping)),
    "Mapping[str, str]": ("a mapping", lambda value: isinstance(value, Mapping)),
    "Callable": ("a function", callable),
}

#: Words of annotations -> types of which every value is taken.
_PLAIN: dict[str, type] = {"None": type(None), "str": str, "int": int, "bool": bool}

#: What an argument may be: types of which every value is taken, and kinds that are asked.
_Takes = tuple[frozenset[type | None], list[_Kind]]
_ANY: _Takes = frozenset(), []


#: Arguments that are paths, or files, or several of them.
_PATHS = frozenset({"source", "sources", "target", "folder", "path", "url", "shared_dict"})


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """``function``, which raises TypeError for an argument by name that its annotation excludes,
    and takes paths of bytes, as ``os`` does. UsageError for a path with a NUL in it."""
    code = function.__code__
    paths = [n for n, name in enumerate(code.co_varnames[: code.co_argcount]) if name in _PATHS]

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        check_arguments(function, kwargs)
        given: list[Any] = [*args]
        for n in paths:
            if n < len(given):
                given[n] = _as_text(given[n])
        for name in _PATHS & kwargs.keys():
            kwargs[name] = _as_text(kwargs[name])
        return function(*given, **kwargs)

    return call


def _as_text(path: Any) -> Any:
    """A path as text, also each of several; all else, and bytes that are data and no name, as it
    is."""
    pathlib = imported("pathlib")  # which takes as long to import as all the rest here
    if isinstance(path, str) or (pathlib is not None and isinstance(path, pathlib.PurePath)):
        if "\0" in (text := str(path)):  # Python says no more than "embedded null byte"
            raise UsageError("no path has a NUL in it", path=text.replace("\0", "\\0"))
        return path if isinstance(path, str) else text  # a RegularPath stays one
    if isinstance(path, Mapping):
        return {_as_text(name): _as_text(each) for name, each in path.items()}
    if isinstance(path, list | tuple | set | Generator):
        return [_as_text(each) for each in path]
    found = os.fspath(path) if hasattr(path, "__fspath__") else path
    is_name = isinstance(found, bytes) and all(byte >= ord(" ") for byte in found)
    return os.fsdecode(found) if is_name else path


def check_arguments(function: Callable[..., Any] | type, given: Mapping[str, Any]) -> None:
    """TypeError for one of the arguments ``given`` that is not as ``function`` is annotated."""
    kinds = _kinds(function)
    for name, value in given.items():
        plain, some = kinds.get(name, _ANY)
        # By its type a value is told in a tenth of the time, which a small message notices.
        if some and type(value) not in plain and not any(holds(value) for _, holds in some):
            takes = " or ".join(said for said, _ in some)
            raise TypeError(f"{name} must be {takes}, not {value!r:.60} ({type(value).__name__})")


@cache
def _kinds(function: Callable[..., Any] | type) -> dict[str, _Takes]:
    """Name of an argument -> what it may be; without those that may be anything."""
    words = {name: _words(each) for name, each in function.__annotations__.items()}
    return {
        name: (frozenset(map(_PLAIN.get, each)), [_KINDS[word] for word in each])
        for name, each in words.items()
        if _KINDS.keys() >= set(each)
    }


def _words(annotation: Any) -> list[str]:
    """The words of an annotation, one for each type of a union; of text its own."""
    text = annotation.__name__ if type(annotation) is type else str(annotation)
    text = text.replace("collections.abc.", "").replace("typing.", "")
    words = text.replace("tuple[int, int | None]", "a range").split(" | ")
    return ["Callable" if word.startswith("Callable[") else word for word in words]
