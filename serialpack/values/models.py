"""Models of pydantic: what an object of one keeps, asked without running what its class defines."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

from serialpack.imported import imported
from serialpack.values.parts import WITH_CONTENTS, is_hidden, slots

#: What a model keeps: its fields; what it was given beside them, or None; the names of those that
#: it was given at all; its private attributes, or None. False for what was never set, as in a model
#: that is but a list.
ModelState = tuple[Any, Any, Any, Any]

#: Where the class of all models has these.
_PLACES = ("__dict__", "__pydantic_extra__", "__pydantic_fields_set__", "__pydantic_private__")


@lru_cache(1)
def _places(base: type) -> tuple[Any, ...]:
    """The descriptors that get and set the four parts of a model's state; none for pydantic 1."""
    found = tuple(vars(base).get(name) for name in _PLACES)
    known = GetSetDescriptorType | MemberDescriptorType
    return found if all(isinstance(each, known) for each in found) else ()


def base_of_models() -> Any:
    """The class of all models; None where there are none."""
    main = imported("pydantic.main")
    return main.BaseModel if main is not None and _places(main.BaseModel) else None


def is_model(cls: type) -> bool:
    """Whether it is a class of models."""
    base = base_of_models()
    return base is not None and base in cls.__mro__[1:]


def model_state(model: Any) -> ModelState:
    """The state of ``model``, which the caller must not change; TypeError where it is not made of
    maps and names."""
    found = []
    for place in _places(base_of_models()):
        try:
            found.append(place.__get__(model))
        except AttributeError:
            found.append(False)
    fields, extra, given, private = found
    check_state((fields, extra, given, private))
    return fields, extra, given, private


#: The bases of what pydantic has for one text each, secrets and URLs, in its modules. Objects of
#: their classes keep it in one attribute.
_OF_TEXT = {
    "pydantic.types": ("_SecretField",),
    "pydantic.networks": ("_BaseUrl", "_BaseMultiHostUrl"),
}


@lru_cache(256)
def is_text_of_pydantic(cls: Any) -> bool:
    """Whether it is a class of pydantic's secrets of text or bytes, or of its URLs, or one derived
    from these that says nothing else of which are equal."""
    modules = ((imported(module), names) for module, names in _OF_TEXT.items())
    bases = {getattr(module, name, None) for module, names in modules for name in names}
    return not bases.isdisjoint(cls.__mro__[1:]) and _equals_as_pydantic_says(cls)


@lru_cache(256)
def is_known_of_pydantic(cls: Any) -> bool:
    """As ``is_text_of_pydantic``, of its secrets of any type (``Secret[list[int]]``), too."""
    secret = getattr(imported("pydantic.types"), "Secret", None)
    return is_text_of_pydantic(cls) or (secret in cls.__mro__ and _equals_as_pydantic_says(cls))


def _equals_as_pydantic_says(cls: Any) -> bool:
    homes = (getattr(word, "__module__", "") for word in (cls.__eq__, cls.__hash__))
    return all(str(home).startswith("pydantic.") for home in homes)


#: What C code of pydantic keeps, and tells pickle whole: time zones and URLs.
_OF_CORE = "TzInfo", "Url", "MultiHostUrl"


@lru_cache(256)
def is_of_core(cls: Any) -> bool:
    """Whether it is one of those classes."""
    core = imported("pydantic_core")
    return core is not None and any(cls is getattr(core, name, None) for name in _OF_CORE)


@lru_cache(256)
def told_of_models(cls: Any) -> Callable[[Any], Any] | None:
    """Gives the function that tells all that a model of ``cls`` keeps; None where models of ``cls``
    may keep more than that."""
    first = cls.__mro__[: cls.__mro__.index(base_of_models())]
    plain = cls.__getattribute__ is object.__getattribute__
    if any(map(slots, first)) or not plain or issubclass(cls, WITH_CONTENTS) or is_hidden(cls):
        return None
    return _told


def _told(model: Any) -> Any:
    fields, extra, given, private = model_state(model)
    return type(model), fields, extra, sorted(given), private


def check_state(state: ModelState) -> None:
    """TypeError where ``state`` cannot be that of a model."""
    fields, extra, given, private = state
    names = type(given) is set and all(type(name) is str for name in given)
    if not (names and type(fields) is dict):
        raise TypeError("a model without a map of its fields, or without their names")
    for more in (extra, private):
        if type(more) is not dict and more is not None and more is not False:
            raise TypeError("a model that keeps other things than maps")


def model_of(cls: Any, state: ModelState) -> Any:
    """The model of class ``cls`` that keeps ``state``."""
    made = object.__new__(cls)
    for place, part in zip(_places(base_of_models()), state, strict=True):
        if part is not False:
            place.__set__(made, part)
    return made
